# SPDX-License-Identifier: Apache-2.0
"""normalize gives what the reference gives, up to the rounding of sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Each, Type
from support.oracle import assert_nearly_agree

pytestmark = pytest.mark.oracle

INPUTS = ("i1", "u1", "i2", "u2", "i4", "u4", "f4")
OUTPUTS = ("float32", "float32", "int8", "uint8", "int16", "uint16", "int32", "uint32")


@pytest.mark.parametrize("seed", range(150))
def test_normalize(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 5))
    layout = "ABCD"[:ndim]
    axes = sorted(int(axis) for axis in rng.permutation(ndim)[: int(rng.integers(1, ndim + 1))])
    base = rng.integers(1, 9, ndim)
    # Samples differ along the reduced axes only, so that they can be normalized together.
    shapes = [
        [int(rng.integers(2, 9)) if axis in axes else int(base[axis]) for axis in range(ndim)]
        for _ in range(3)
    ]
    dtype = np.dtype(INPUTS[seed % len(INPUTS)])
    samples = [(rng.uniform(0, 100, shape)).astype(dtype) for shape in shapes]
    arguments: dict[str, Any] = {"layout": layout}
    form = int(rng.integers(3))
    if form == 0:
        arguments["axes"] = axes
    elif form == 1:
        arguments["axis_names"] = "".join(layout[axis] for axis in axes)
    elif rng.random() < 0.5:
        reduced = [[1 if k in axes else n for k, n in enumerate(shape)] for shape in shapes]
        for name, low in (("mean", 0.0), ("stddev", 5.0)):
            if rng.random() < 0.7:
                values = [rng.uniform(low, 60, shape).astype(np.float32) for shape in reduced]
                arguments[name] = Each(values)
    if form == 2 and len(arguments) > 1 and rng.random() < 0.3:
        arguments["axes"] = axes
    if "mean" not in arguments and "stddev" not in arguments:
        arguments["batch"] = bool(rng.random() < 0.4) and form < 2
    if rng.random() < 0.3:
        arguments["epsilon"] = float(rng.uniform(0.1, 50))
    if rng.random() < 0.3:
        arguments["ddof"] = 1
    output = OUTPUTS[int(rng.integers(len(OUTPUTS)))]
    arguments["dtype"] = Type(output)
    if output != "float32" or rng.random() < 0.3:
        arguments.update(scale=25.0, shift=60.0)
    assert_nearly_agree("normalize", samples, **arguments)


def test_large_images() -> None:
    rng = np.random.default_rng(2)
    samples = [rng.integers(0, 256, (h, w, 3), np.uint8) for h, w in ((300, 400), (500, 120))]
    for axes in ([0, 1], [0, 1, 2], [0], [1]):
        assert_nearly_agree("normalize", samples, axes=axes, layout="HWC")
    assert_nearly_agree(
        "normalize", samples, axes=[2], layout="HWC", tolerance="agreement on few values"
    )
    assert_nearly_agree("normalize", samples, axes=[0, 1], batch=True, layout="HWC")


@pytest.mark.parametrize("axes", [[1], [0], [0, 1]])
def test_normalized_spectra(axes: list[int]) -> None:
    rng = np.random.default_rng(8)
    spectra = [rng.normal(-40, 15, (80, n)).astype(np.float32) for n in (1, 37, 1400)]
    assert_nearly_agree("normalize", spectra, axes=axes, epsilon=1e-4, layout="ft")
    assert_nearly_agree("normalize", spectra[1:], axis_names="t", ddof=1, layout="ft")
    assert_nearly_agree("normalize", spectra, axes=axes, layout="ft", batch=0 not in axes)
