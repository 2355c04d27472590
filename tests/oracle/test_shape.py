# SPDX-License-Identifier: Apache-2.0
"""reshape, reinterpret, squeeze, expand_dims and transpose give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each, Passed, Single, Type
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle


def numbers(shape: tuple[int, ...], dtype: str = "u1") -> Array:
    return (np.arange(np.prod(shape)) % 100).astype(dtype).reshape(shape)


RAGGED = [numbers((4, 3, 2)), numbers((2, 6, 1)), numbers((1, 3, 4))]


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": [-1, 3]},
        {"shape": [3, -5]},
        {"shape": Each([np.array(s) for s in ([24, 1], [3, 4], [6, 2])])},
        {"shape": Each([np.array(s, np.uint8) for s in ([24, 1], [3, 4], [6, 2])])},
        {"shape": [1, -1, 3]},
        {"shape": [1, -1, 3], "layout": Passed("ABC")},
        {"shape": [1, -1, 3], "layout": Passed("")},
        {"layout": Passed("XYZ")},
        {"rel_shape": [1, -1]},
        {"rel_shape": [1, 1, 1, -1]},
        {"rel_shape": [-1, 1]},
        {"rel_shape": Each([np.array(s, "f4") for s in ([0.5, 2, 1], [2, 0.5, 1], [1, -1, 1])])},
    ],
    ids=str,
)
def test_reshape(arguments: dict[str, Any]) -> None:
    assert_agree("reshape", RAGGED, **arguments)
    if "layout" not in arguments:
        assert_agree("reshape", RAGGED, layout="HWC", **arguments)
    for sample in RAGGED[:1]:
        single = {name: value for name, value in arguments.items() if not isinstance(value, Each)}
        if single:
            assert_agree("reshape", Single(sample, "HWC"), **single)


def test_shapes_as_inputs_and_zero_extents() -> None:
    assert_agree("reshape", RAGGED, [np.array(s, np.int16) for s in ([8, 3], [-1, 2], [12, 1])])
    assert_agree("reshape", Single(numbers((4, 3))), Single(np.array([2, -1])))
    empty = Single(np.zeros((0, 3), "f4"))
    assert_agree("reshape", empty, shape=[0, 5])
    assert_agree("reshape", empty, shape=[3, -1])
    assert_agree("reshape", Single(np.array([7])), shape=[])
    assert_agree("reshape", Single(np.array(7)), shape=[1, 1])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": [5, 3]},
        {"shape": [-1, -1]},
        {"shape": [5, -1]},
        {"shape": [12], "rel_shape": [1.0]},
        {"rel_shape": [1, 1, 1, 1]},
        {"rel_shape": [2, 0.5]},
        {"layout": Passed("AB")},
    ],
)
def test_what_both_refuse_to_reshape(arguments: dict[str, Any]) -> None:
    assert_both_refuse("reshape", Single(numbers((2, 2, 3))), **arguments)


@pytest.mark.parametrize("target", ["int8", "uint16", "float16", "uint32", "float64", "bool"])
def test_reinterpret(target: str) -> None:
    samples = [numbers((2, 3, 16)), numbers((1, 2, 8))]
    for arguments in ({}, {"shape": [-1, 1]}, {"rel_shape": [1, -1]}):
        assert_agree("reinterpret", samples, dtype=Type(target), layout="HWC", **arguments)
    assert_agree("reinterpret", samples, shape=[-1])
    if target != "int8" and target != "bool":
        assert_both_refuse("reinterpret", Single(numbers((2, 3))), dtype=Type(target))


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("squeeze", {"axis_names": "C"}),
        ("squeeze", {"axis_names": "CD"}),
        ("squeeze", {"axis_names": ""}),
        ("expand_dims", {"axes": [0]}),
        ("expand_dims", {"axes": [0], "new_axis_names": "F"}),
        ("expand_dims", {"axes": [5, 0], "new_axis_names": "XY"}),
        ("expand_dims", {"axes": [2, 1], "new_axis_names": "XY"}),
        ("expand_dims", {"axes": []}),
        ("expand_dims", {"axes": 4}),
    ],
)
def test_axes_of_extent_one(operator: str, arguments: dict[str, Any]) -> None:
    samples = [numbers((1, 2, 3, 1)), numbers((1, 4, 2, 1))]
    assert_agree(operator, samples, layout="DHWC", **arguments)


@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("squeeze", {}),
        ("squeeze", {"axis_names": "X"}),
        ("squeeze", {"axis_names": "H"}),
        ("squeeze", {"axis_names": "CC"}),
        ("expand_dims", {}),
        ("expand_dims", {"axes": [7]}),
        ("expand_dims", {"axes": [-1]}),
        ("expand_dims", {"axes": [1, 1]}),
        ("expand_dims", {"axes": [1], "new_axis_names": "XY"}),
    ],
)
def test_axes_both_refuse(operator: str, arguments: dict[str, Any]) -> None:
    assert_both_refuse(operator, Single(numbers((1, 2, 3, 1)), "DHWC"), **arguments)


TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4")


def random_samples(rng: np.random.Generator, ndim: int, dtype: str, count: int = 3) -> list[Array]:
    shapes = rng.integers(1, 9, (count, ndim))
    return [(rng.normal(size=tuple(shape)) * 100).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("seed", range(60))
def test_transpose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    samples = random_samples(rng, ndim, TYPES[seed % len(TYPES)])
    order = [int(axis) for axis in rng.permutation(ndim)]
    arguments: dict[str, Any] = {"layout": "ABCDE"[:ndim]}
    choice = int(rng.integers(4))
    if choice > 0:
        arguments["perm"] = order
    if choice == 2:
        arguments["transpose_layout"] = False
    if choice == 3:
        arguments["output_layout"] = "VWXYZ"[:ndim]
    assert_agree("transpose", samples, **arguments)


@pytest.mark.parametrize("shape", [(64, 48, 3), (17, 33, 4), (40, 70, 1), (30, 50, 2), (20, 90, 7)])
@pytest.mark.parametrize("dtype", TYPES)
def test_transpose_images(dtype: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    samples = [(rng.normal(size=shape) * 100).astype(dtype)]
    for order in ([2, 0, 1], [1, 2, 0], [2, 1, 0], [1, 0, 2], [0, 2, 1]):
        assert_agree("transpose", samples, layout="HWC", perm=order)
