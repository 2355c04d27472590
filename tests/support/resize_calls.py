# SPDX-License-Identifier: Apache-2.0
"""Calls of the resize operators, for either library; see `recorded.py`."""

from __future__ import annotations

from support.libraries import Each, Generator, Type
from support.recorded import Call

FILTERS = range(6)
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
    Call("resize", *HWC, {"size": [9, 4], "dtype": Type("float32")}),
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
    Call("random_resized_crop", *HWC, {"size": [7, 6], "rng": Generator(3)}),
    Call("random_resized_crop", *FCHW, {"size": 5, "random_area": [0.3, 0.5], "rng": Generator(9)}),
]
