# SPDX-License-Identifier: Apache-2.0
"""The number of results of a call: what `outputs` announces is what comes out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._engine.outputs import Outputs


def number_of(results: Any) -> int:
    return len(results) if isinstance(results, tuple) else 1


def test_a_flag_adds_a_result() -> None:
    image = np.zeros((4, 6, 3), np.uint8)
    assert number_of(ndd.resize(image, size=[2, 3])) == 1
    assert number_of(ndd.resize(image, size=[2, 3], save_attrs=False)) == 1
    resized, original = ndd.resize(image, size=[2, 3], save_attrs=True)
    assert resized.shape == (2, 3, 3)
    assert np.asarray(original).tolist() == [4, 6, 3][: original.size]


def test_an_input_adds_a_result() -> None:
    boxes = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
    labels = np.array([7], np.int32)
    arguments = {"angle": 0.0, "input_shape": [8, 8]}
    assert number_of(ndd.bbox_rotate(boxes, **arguments)) == 1  # type: ignore[arg-type]
    _, kept = ndd.bbox_rotate(boxes, labels, **arguments)  # type: ignore[arg-type]
    assert np.asarray(kept).tolist() == [7]


@pytest.mark.parametrize("indices", [False, True])
@pytest.mark.parametrize("labels", [None, np.array([7], np.int32)])
def test_inputs_and_flags_add_up(labels: Any, indices: bool) -> None:
    boxes = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)
    results = ndd.random_bbox_crop(boxes, labels, output_bbox_indices=indices)
    assert number_of(results) == 3 + (labels is not None) + indices


@pytest.mark.parametrize(
    ("form", "with_class", "expected"),
    [
        ("box", False, 1),
        ("box", True, 2),
        ("anchor_shape", False, 2),
        ("start_end", False, 2),
        ("start_end", True, 3),
    ],
)
def test_a_word_adds_a_result(form: str, with_class: bool, expected: int) -> None:
    mask = np.eye(4, dtype=np.int32)
    results = ndd.segmentation.random_object_bbox(mask, format=form, output_class=with_class)
    assert number_of(results) == expected


def test_one_result_for_each_item() -> None:
    frames = ndd.tensor([[1, 2], [3, 4], [5, 6]], layout="FX")
    assert number_of(ndd.element_extract(frames, element_map=1)) == 1
    assert number_of(ndd.element_extract(frames, element_map=[1])) == 1
    last, first = ndd.element_extract(frames, element_map=(2, 0))
    assert (np.asarray(last).tolist(), np.asarray(first).tolist()) == ([5, 6], [1, 2])
    with pytest.raises(ValueError, match=r"element_extract: 'element_map' must have at least one"):
        ndd.element_extract(frames, element_map=[])


def test_rules_name_parameters_of_their_operators() -> None:
    varying = {name: spec for name, spec in registry.items() if isinstance(spec.outputs, Outputs)}
    assert {"resize", "bbox_rotate", "random_bbox_crop"} <= set(varying)
    for name, spec in varying.items():
        assert isinstance(spec.outputs, Outputs)
        counts = [count for count, _ in spec.outputs.variants()]
        assert min(counts) == spec.outputs.least
        assert max(counts) == spec.outputs.least + len(spec.outputs.extras)
        for extra in spec.outputs.extras:
            if hasattr(extra, "position"):
                assert spec.inputs[extra.position].optional, name
            else:
                values = set(itertools.chain(extra.present, extra.absent))
                assert spec.defaults[extra.argument] in values, name
