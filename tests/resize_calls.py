# SPDX-License-Identifier: Apache-2.0
"""Calls of the resize operators, to be made with either library.

tools/record_resize.py writes down what the reference makes of them;
tests/ops/test_recorded_resize.py compares.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
RECORD = Path(__file__).parent / "goldens" / "resize.npz"
FILTERS = range(6)


class Each(NamedTuple):
    """A Batch: one value for each sample."""

    values: list[Any]


class Call(NamedTuple):
    """An operator, the layout, shape and type of its two samples, and arguments."""

    operator: str
    layout: str
    shape: tuple[int, ...]
    dtype: str
    arguments: dict[str, Any]


HWC = ("HWC", (13, 17, 3), "u1")
FLOAT = ("HWC", (12, 18, 3), "f4")
CHW = ("CHW", (2, 13, 17), "i2")
FCHW = ("FCHW", (2, 2, 9, 8), "u2")
DHWC = ("DHWC", (5, 9, 8, 2), "u1")
CDHW = ("CDHW", (2, 5, 9, 8), "f4")
REGION = {"roi_start": [2.3, 14.1], "roi_end": [10.9, 1.7]}

CALLS = [
    *(Call("resize", *HWC, {"size": [7, 8], "interp_type": k}) for k in FILTERS),
    *(Call("resize", *FLOAT, {"size": [5, 31], "interp_type": k}) for k in FILTERS),
    *(
        Call("resize", *FLOAT, {"size": [6, 9], "interp_type": k, "antialias": False})
        for k in FILTERS
    ),
    *(Call("resize", *HWC, {"size": [20, 6], "interp_type": k, **REGION}) for k in (0, 1, 3)),
    Call("resize", *CHW, {"size": [-6, 9.4], "interp_type": 2}),
    Call("resize", *FCHW, {"size": [5, 11]}),
    Call("resize", *DHWC, {"size": [7, 4, 5], "interp_type": 3}),
    Call("resize", *CDHW, {"size": [2, 11, 5]}),
    Call("resize", *CDHW, {"size": [2, 11, 5], "interp_type": 0}),
    Call("resize", *HWC, {"size": [9, 4], "dtype": "float32"}),
    Call("resize", *HWC, {"resize_x": 9}),
    Call("resize", *HWC, {"resize_y": Each([9.3, 22.0]), "subpixel_scale": False}),
    Call("resize", *HWC, {"resize_shorter": 21.5, "max_size": 25}),
    Call("resize", *HWC, {"resize_longer": Each([9.0, 24.0])}),
    Call("resize", *HWC, {"size": [0, 9], "mode": "stretch"}),
    Call("resize", *HWC, {"size": [9, 9], "mode": "not_larger"}),
    Call("resize", *HWC, {"size": [9, 9], "mode": "not_smaller", "min_filter": 2}),
    Call(
        "resize",
        *HWC,
        {"size": 8, "roi_start": [0.1, -0.2], "roi_end": [0.6, 1.3], "roi_relative": True},
    ),
    Call("resize", *HWC, {"size": Each([[5.0, 6.0], [30.0, 3.0]]), "interp_type": Each([1, 2])}),
    Call("tensor_resize", *CHW, {"sizes": [3, 8, 9.5], "alignment": [0.0, 0.25, 1.0]}),
    Call("tensor_resize", *CDHW, {"scales": [0.6, 1.4], "axes": [1, -1]}),
    Call("tensor_resize", *HWC, {"scales": 0.37, "axis_names": "WH", "size_rounding": "ceil"}),
    Call("resize_crop_mirror", *HWC, {"size": [20, 22], "crop": [9, 25], "mirror": Each([1, 2])}),
    Call(
        "resize_crop_mirror",
        *DHWC,
        {"resize_shorter": 4, "crop": [3, 3, 4], "crop_pos_z": 1.0, "mirror": 5, "interp_type": 2},
    ),
    Call("random_resized_crop", *HWC, {"size": [7, 6], "rng": 3}),
    Call("random_resized_crop", *FCHW, {"size": 5, "random_area": [0.3, 0.5], "rng": 9}),
]


def samples_of(call: Call) -> list[Array]:
    """Two samples; the second is smaller along axes of space."""
    made = []
    for k in range(2):
        shape = tuple(
            n - k if a in "HW" else n for a, n in zip(call.layout, call.shape, strict=True)
        )
        values = (np.arange(np.prod(shape)) * (37 + k) + 11) ** 2 % 256
        made.append(values.reshape(shape).astype(call.dtype))
    return made


def run_call(ndd: ModuleType, call: Call) -> list[Array]:
    """The samples that the call produces with the library `ndd`."""
    arguments = {name: _decode(ndd, name, value) for name, value in call.arguments.items()}
    batch = ndd.as_batch(samples_of(call), layout=call.layout)
    result = getattr(ndd, call.operator)(batch, **arguments)
    return [np.asarray(tensor) for tensor in result.tensors]


def _decode(ndd: ModuleType, name: str, value: Any) -> Any:
    if name == "dtype":
        return getattr(ndd, value)
    if name == "rng":
        return ndd.random.RNG(seed=value)
    return ndd.batch(value.values) if isinstance(value, Each) else value
