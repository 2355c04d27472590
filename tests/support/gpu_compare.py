# SPDX-License-Identifier: Apache-2.0
"""What the tests of equality with the CPU share."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import daliesque as ndd
from support.case_inputs import Case
from support.compare import assert_alike, assert_close, assert_near
from support.contract import call

SHAPES = [(9, 12), (16, 7), (9, 12), (5, 5), (9, 12)]
TYPES = [
    *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]
TOLERANCES_OF = {"audio_resample": "resampled audio"}
# Positions are computed in single precision, relative to the size of an image.
WARPED = {
    *(
        "elastic_transform",
        "experimental.remap",
        "experimental.warp_perspective",
        "grid_distortion",
    ),
    *("perspective", "rotate", "shear_x", "shear_y", "translate_x", "translate_y", "warp_affine"),
}
RNG = np.random.default_rng(11)


def call_on_gpu(case: Case, batches: list[Any], **changes: Any) -> tuple[Any, ...]:
    """Call an operator there, and make sure that its results are."""
    results = call(case, [batch.gpu() for batch in batches], device="gpu", **changes)
    assert all(part.device == ndd.Device("gpu", 0) for part in results)
    return results


def pixels(shape: tuple[int, ...], kind: str) -> Any:
    """Random numbers that fill the range of a type, as far as that is reasonable."""
    if kind.startswith("float"):
        return (RNG.normal(size=shape) * 50).astype(kind)
    limits = np.iinfo(kind)
    return RNG.integers(max(limits.min, -(2**40)), min(limits.max, 2**40), shape, kind)


def ragged(kind: str = "uint8", channels: int = 3) -> ndd.Batch:
    """Images of which some are equally large."""
    return ndd.batch([pixels((*size, channels), kind) for size in SHAPES], layout="HWC")


def dense(kind: str = "uint8", channels: int = 3) -> ndd.Batch:
    """Images that are all equally large."""
    return ndd.batch(pixels((4, 11, 8, channels), kind), layout="HWC")


def assert_near_cpu(actual: Any, expected: Any, name: str) -> None:
    """A result of an operator on the gpu is that of the CPU, up to rounding."""
    if name in TOLERANCES_OF:
        assert actual.dtype == expected.dtype
        assert_close(actual, expected, TOLERANCES_OF[name], name, magnitude=1)
    elif name in WARPED:
        assert_alike(actual, expected, name, "resampling")
    else:
        assert_near(actual, expected, name)


def compare(check: Any, name: str, *inputs: Any, **arguments: Any) -> None:
    """Call an operator on both devices; `check` compares samples."""
    function = operator.attrgetter(name)(ndd)
    here = function(*inputs, **arguments)
    values = ndd.Batch | ndd.Tensor
    moved = [value.gpu() if isinstance(value, values) else value for value in inputs]
    there = function(*moved, **arguments)
    if not isinstance(here, tuple):
        here, there = (here,), (there,)
    for x, y in zip(there, here, strict=True):
        assert x.device.device_type == "gpu"
        assert (x.dtype, x.layout, x.shape) == (y.dtype, y.layout, y.shape), (name, arguments)
        for a, b in zip(x.cpu(), y, strict=True):
            check(np.asarray(a), np.asarray(b), (name, arguments))
