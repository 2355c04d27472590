# SPDX-License-Identifier: Apache-2.0
"""Operators on points give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Each, Passed, Single, Type
from support.oracle import assert_agree, assert_both_refuse, reference

pytestmark = pytest.mark.oracle


def each(values: Any, kind: Any = np.float32) -> Each:
    return Each([np.asarray(value, kind) for value in values])


def test_coord_flip() -> None:
    rng = np.random.default_rng(7)
    for ndim in (1, 2, 3):
        points = [rng.normal(size=(count, ndim)).astype(np.float32) for count in (4, 1, 0)]
        for layout in ("", "xyz"[:ndim], "xyz"[:ndim][::-1]):
            for arguments in (
                {},
                {"flip_x": 0, "flip_y": 1, "flip_z": 1},
                {"center_x": each([0, 1, 2]), "flip_y": each([1, 0, 1], np.int32)},
            ):
                # Calls in one context remember the layout of the first.
                with reference.EvalContext():
                    assert_agree("coord_flip", points, layout=Passed(layout), **arguments)


@pytest.mark.parametrize("kind", ["u1", "i2", "u2", "i4", "f4"])
def test_coord_transform(kind: str) -> None:
    rng = np.random.default_rng(8)
    for columns in range(1, 7):
        points = [rng.integers(0, 200, (n, columns)).astype(kind) for n in (5, 1, 700)]
        for rows in (1, 2, 3, 6):
            matrix = rng.normal(size=(rows, columns)).astype(np.float32)
            offset = rng.normal(size=rows).astype(np.float32) * 20
            combined = np.concatenate([matrix, offset[:, None]], axis=1)
            for arguments in (
                {"M": matrix},
                {"M": matrix, "T": offset},
                {"MT": combined},
                {"M": Each([matrix, matrix * 2, matrix - 1]), "T": each([1.5, -2, 7])},
            ):
                assert_agree("coord_transform", points, **arguments)
        assert_agree("coord_transform", points)
        assert_agree("coord_transform", points, M=2.5, T=-3.25, layout="XY")
        name = {"u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "f4": "float32"}[kind]
        assert_agree("coord_transform", points, M=1.3, T=-30.5, dtype=Type(name))


def test_frames_of_points() -> None:
    rng = np.random.default_rng(9)
    clips = [rng.normal(size=(n, 4, 2)).astype(np.float32) for n in (2, 3)]
    matrix = rng.normal(size=(3, 2)).astype(np.float32)
    assert_agree("coord_transform", clips, M=matrix, layout="FXY")
    assert_agree("coord_transform", clips, T=each([1, 2]), layout="FXY")


@pytest.mark.parametrize(
    ("operator", "inputs", "arguments"),
    [
        ("coord_flip", (Single(np.zeros((1, 4), "f4")),), {}),
        ("coord_flip", (Single([[1, 2]]),), {}),
        ("coord_transform", (Single(np.zeros(2, "f4")),), {}),
        ("coord_transform", (Single(np.zeros((1, 2), "f4")),), {"T": [1.0, 2.0, 3.0]}),
        ("coord_transform", (Single(np.zeros((1, 2), "f8")),), {}),
        ("coord_transform", (Single(np.zeros((1, 2), "f4")),), {"dtype": Type("int32")}),
    ],
)
def test_what_both_refuse(
    operator: str, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> None:
    assert_both_refuse(operator, *inputs, **arguments)
