# SPDX-License-Identifier: Apache-2.0
"""Composing operators give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Type
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle


def images(dtype: str, shapes: list[tuple[int, ...]], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 127, shape).astype(dtype) for shape in shapes]


def floats(*values: Any) -> Each:
    return Each([np.array(value, np.float32) for value in values])


def integers(*values: Any) -> Each:
    return Each([np.array(value, np.int32) for value in values])


@pytest.mark.parametrize("seed", range(6))
def test_paste(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples = images("u1", [(30, 41, 3), (7, 90, 3)])
    for fill in ([7], [1, 2, 3]):
        assert_agree(
            "paste", samples, layout="HWC", fill_value=fill,
            ratio=floats(*rng.uniform(1, 3, 2)), paste_x=floats(*rng.uniform(0, 1, 2)),
            paste_y=floats(*rng.uniform(0, 1, 2)), min_canvas_size=floats(0, 100.7),
        )  # fmt: skip
        assert_agree("paste", samples, layout="HWC", fill_value=fill, ratio=1.0)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4"])
def test_erase(dtype: str) -> None:
    samples = images(dtype, [(30, 41, 3), (7, 90, 3)])
    variants: list[dict[str, Any]] = [
        {"anchor": (3, 4), "shape": (5, 6)},
        {"anchor": (3, 4, 10, 30), "shape": (5, 6, 100, 100), "fill_value": (1, 2, 3)},
        {"anchor": (0.3, 0.2), "shape": (0.5, 0.4), "normalized": True, "axis_names": "HW"},
        {"anchor": (0.3, 0.2), "shape": (9, 4), "normalized_anchor": True},
        {"anchor": (3, 2), "shape": (0.7, 0.4), "normalized_shape": True, "axes": (1, 0)},
        {"anchor": (3, 2), "shape": (7, 3), "centered_anchor": True, "fill_value": 9},
        {"anchor": (3,), "shape": (7,), "axis_names": "W"},
        {"anchor": floats([3, 4], [5, 6, 1, 1]), "shape": floats([5, 6], [7, 8, 2, 9])},
        {"anchor": (-3, 20), "shape": (5, 100), "fill_value": floats([1, 2, 3], [4, 5, 6])},
        {"anchor": (1,), "shape": (1,), "axis_names": "C", "fill_value": (4, 5, 6)},
    ]
    for arguments in variants:
        assert_agree("erase", samples, layout="HWC", **arguments)


@pytest.mark.parametrize("layout", ["HW", "CHW", "FHWC", "DHWC", "FCHW"])
def test_erase_layouts(layout: str) -> None:
    shape = {"H": 9, "W": 11, "C": 3, "F": 4, "D": 5}
    samples = images("u1", [tuple(shape[letter] for letter in layout)])
    fills: list[Any] = [5] + ([(1, 2, 3)] if "C" in layout else [])
    for fill in fills:
        assert_agree("erase", samples, layout=layout, fill_value=fill, axis_names="HW",
                    anchor=(2, 3), shape=(4, 5))  # fmt: skip


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4"])
def test_grid_mask(dtype: str) -> None:
    samples = images(dtype, [(130, 141, 3), (70, 290, 1)])
    for arguments in (
        {},
        {"tile": 17, "ratio": 0.3},
        {"tile": integers(9, 30), "angle": floats(0.4, -2.0), "ratio": floats(0.2, 0.9)},
        {"shift_x": 11.5, "shift_y": floats(-3.0, 8.25), "angle": 0.1},
    ):
        assert_agree("grid_mask", samples, layout="HWC", **arguments)


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4"])
def test_multi_paste(dtype: str) -> None:
    samples = images(dtype, [(30, 40, 3)] * 3)
    others = images(dtype, [(30, 40, 3)] * 3, 1)
    ids = integers([0, 1], [2], [1, 1, 0])
    starts = integers([[0, 0], [3, 5]], [[7, 9]], [[1, 1], [2, 2], [20, 30]])
    shares = floats([[0, 0.2], [0.5, 0.3]], [[0.7, 0.9]], [[0.1, 0.1], [0, 0], [0.25, 0.5]])
    sizes = integers([[9, 8], [20, 20]], [[3, 9]], [[10, 10], [7, 2], [5, 5]])
    assert_agree("multi_paste", samples, layout="HWC", in_ids=ids)
    assert_agree("multi_paste", samples, layout="HWC", in_ids=ids, in_anchors=starts)
    assert_agree("multi_paste", samples, layout="HWC", in_ids=ids, in_anchors_rel=shares,
                out_anchors_rel=shares, output_size=(33, 44))  # fmt: skip
    assert_agree("multi_paste", samples, layout="HWC", in_ids=ids, shapes=sizes,
                out_anchors=starts, output_size=(60, 70))  # fmt: skip
    halves = floats([[0.5, 0.5]] * 2, [[0.3, 0.2]], [[0.1, 0.7]] * 3)
    assert_agree("multi_paste", samples, layout="HWC", in_ids=ids, shapes_rel=halves)
    assert_agree("multi_paste", samples, others, layout="HWC", dtype=Type("float32"),
                shapes=integers(*[[[9, 8], [20, 20]]] * 3))  # fmt: skip
