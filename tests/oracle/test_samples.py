# SPDX-License-Identifier: Apache-2.0
"""Frames, the order of samples, properties and NumPy files: as with the reference."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.libraries import Each, Generator, Single, Type, call
from support.oracle import assert_agree, assert_both_refuse, ours, reference

pytestmark = pytest.mark.oracle

CLIPS = [np.arange(n * 6, dtype=np.int16).reshape(n, 2, 3) for n in (3, 5)]


@pytest.mark.parametrize("layout", ["FHW", None])
def test_frames(layout: str | None) -> None:
    for chosen in ([1], [2, 0], [1, 1, 1]):
        assert_agree("element_extract", CLIPS, element_map=chosen, layout=layout)
    for order in ([0], [2, 1, 0, 0], Each([np.array([0, 0]), np.array([4, 3, 2, 1])])):
        assert_agree("sequence_rearrange", CLIPS, new_order=order, layout=layout)
    assert_agree("per_frame", CLIPS, layout=layout)


def test_marking_frames() -> None:
    assert_agree("per_frame", CLIPS, layout="HWC", replace=True)
    assert_agree("per_frame", Single([1, 2]))
    assert_agree("per_frame", Single([[1], [2]]), replace=True)


@pytest.mark.parametrize(
    ("operator", "value", "arguments"),
    [
        ("element_extract", Single(CLIPS[0], "HWC"), {"element_map": [0]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": [3]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": [-1]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": []}),
        ("element_extract", Single([1, 2]), {"element_map": [0]}),
        ("sequence_rearrange", Single(CLIPS[0], "HWC"), {"new_order": [0]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": [3]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": [-1]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": []}),
        ("sequence_rearrange", Single([1, 2]), {"new_order": [0]}),
        ("per_frame", Single(CLIPS[0], "HWC"), {}),
        ("per_frame", Single(5), {}),
        ("get_property", Single(5), {"key": "color"}),
        ("batch_permutation", None, {}),
    ],
)
def test_what_both_refuse(operator: str, value: Any, arguments: dict[str, Any]) -> None:
    assert_both_refuse(operator, *([] if value is None else [value]), **arguments)


def test_permute_batch() -> None:
    samples = [np.arange(n, dtype=np.float32) for n in (1, 2, 3)]
    for indices in ([2, 1, 0], [0, 0, 2]):
        each = Each([np.int32(index) for index in indices])
        assert_agree("permute_batch", samples, indices=each, layout="X")
    assert_agree("permute_batch", samples, indices=1)
    assert_both_refuse("permute_batch", samples, indices=Each([np.int32(3)] * 3))
    assert_both_refuse("permute_batch", samples, indices=Each([np.int32(-1)] * 3))


@pytest.mark.parametrize("size", [1, 2, 3, 10, 33, 100])
def test_batch_permutation(size: int) -> None:
    for seed in range(4):
        for repetitions in (False, True):
            for no_fixed_points in (False, True):
                assert_agree(
                    "batch_permutation",
                    batch_size=size,
                    allow_repetitions=repetitions,
                    no_fixed_points=no_fixed_points,
                    rng=Generator(1000 * seed + size),
                )


def test_properties() -> None:
    for layout in ("FHW", None):
        assert_agree("get_property", CLIPS, key="layout", layout=layout)
        assert_agree("get_property", CLIPS, key="source_info", layout=layout)


def test_dump_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    images = [rng.integers(0, 256, shape, np.uint8) for shape in ((5, 7, 3), (2, 3, 3))]
    gray = [rng.integers(0, 256, shape, np.uint8) for shape in ((5, 7, 1), (2, 3, 1))]
    written = []
    for library in (reference, ours):
        folder = tmp_path / library.__name__
        folder.mkdir()
        monkeypatch.chdir(folder)
        call(library, "dump_image", [images], suffix="color")
        call(library, "dump_image", [gray], layout="HWC")
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert written[0] == written[1]
    assert len(written[0]) == 4


def as_file(array: Any) -> Any:
    file = io.BytesIO()
    np.save(file, array)
    return np.frombuffer(file.getvalue(), np.uint8)


def assert_same_in_a_new_context(*inputs: Any, **arguments: Any) -> None:
    """With the reference, the first call in a context decides about types and axes of all others.

    Arrays in Fortran order it can only decode where there is a GPU.
    """
    with reference.EvalContext():
        assert_agree("decoders.numpy", *inputs, **arguments)


KINDS = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


@pytest.mark.parametrize("kind", KINDS)
def test_numpy_files(kind: str) -> None:
    rng = np.random.default_rng(2)
    arrays = [(rng.normal(size=shape) * 100).astype(kind) for shape in ((3, 4, 2), (5, 2, 1))]
    files = [as_file(array) for array in arrays]
    assert_same_in_a_new_context(files)
    for target in ("uint8", "int16", "float32", "float64"):
        assert_same_in_a_new_context(files, dtype=Type(target))
    assert_same_in_a_new_context(Single(as_file(arrays[0][0, 0, 0])))
    assert_same_in_a_new_context(Single(as_file(np.zeros((0, 2), kind))))


@pytest.mark.parametrize(
    "content",
    [
        b"x",
        b"\x93NUMPY\1\0",
        as_file(np.zeros(3))[:-1].tobytes(),
        as_file(np.zeros(3, "c8")).tobytes(),
        as_file(np.zeros(3)).tobytes() + b"x",
    ],
)
def test_damaged_numpy_files(content: bytes) -> None:
    assert_both_refuse("decoders.numpy", Single(np.frombuffer(content, np.uint8)))
