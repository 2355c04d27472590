# SPDX-License-Identifier: Apache-2.0
"""Conversions, the order of samples and properties: as with the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.arithmetic_calls import operands_for
from support.compare import assert_same
from support.libraries import Each, Generator, Single, call
from support.oracle import assert_agree, assert_both_refuse, ours, reference
from support.reference.arithmetic import (
    BFLOAT16,
    TYPES,
    is_float,
)

pytestmark = pytest.mark.oracle
# The reference takes 16-bit floating-point types in casts only, and bfloat16 nowhere.
CAST_TYPES = [t for t in TYPES if t != BFLOAT16]


@pytest.mark.parametrize("source", CAST_TYPES, ids=str)
def test_cast(source: np.dtype[Any]) -> None:
    (values,) = operands_for("cast", source)
    # Ties, limits and what lies beyond; NaN to integer is undefined in the reference.
    if is_float(source):
        edges = [*np.arange(-4, 4, 0.5), *(s * 2.0**p for p in range(-26, 70) for s in (1, -1))]
        edges += [2049, 2051, 65519, 65520, 127.5, -128.5, 255.5, 1e30]
        with np.errstate(over="ignore"):
            values = np.concatenate([values[~np.isnan(values)], np.array(edges).astype(source)])
    for target in CAST_TYPES:
        ours = ndd.cast(ndd.as_tensor(values), dtype=ndd.dtype(target))
        theirs = reference.cast(reference.as_tensor(values), dtype=reference.dtype(target))
        assert_same(np.asarray(ours), np.asarray(theirs.evaluate()), (source, target))


@pytest.mark.parametrize("target", ["uint8", "int16", "float32"])
def test_cast_like_and_copy(target: str) -> None:
    values = [np.float32([-1.5, 0.5, 2.5, 300.25]), np.float32([7])]
    assert_agree("cast_like", values, Single(np.zeros(2, target)), layout="X")
    assert_agree("cast_like", values, [np.zeros(2, target), np.zeros(3, target)])
    assert_agree("copy", [array.astype(target) for array in values], layout="X")


CLIPS = [np.arange(n * 6, dtype=np.int16).reshape(n, 2, 3) for n in (3, 5)]


@pytest.mark.parametrize(
    ("operator", "value", "arguments"),
    [
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
