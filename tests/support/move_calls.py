# SPDX-License-Identifier: Apache-2.0
"""Calls of operators that crop, move and normalize, for either library; see `recorded.py`."""

from __future__ import annotations

from support.libraries import Each, Type
from support.recorded import Call

HWC = ("HWC", (6, 7, 3), "u1")
CHW = ("CHW", (3, 6, 7), "i2")
FHWC = ("FHWC", (2, 5, 4, 3), "u1")
CDHW = ("CDHW", (2, 3, 4, 5), "f4")
PAD = {"out_of_bounds_policy": "pad"}
NORM = {"mean": [100.0, 110.0, 120.0], "std": [50.0, 55.0, 60.0]}

CALLS = [
    Call("crop", *HWC, {"crop": (3, 4)}),
    Call("crop", *HWC, {"crop": (4, 4), "crop_pos_x": 0.3, "rounding": "truncate"}),
    Call("crop", *CHW, {"crop_h": 2, "crop_w": Each([3.0, 6.0])}),
    Call("crop", *FHWC, {"crop_d": 1, "crop_h": 3, "crop_w": 2, "crop_pos_z": 1.0}),
    Call("crop", *CDHW, {"crop": (2, 3), "dtype": Type("uint8")}),
    Call("crop", *HWC, {"crop": (8, 9), "fill_values": [7.0, 8.0, -1.0], **PAD}),
    *(
        Call("crop", *CHW, {"crop": (15, 4), "out_of_bounds_policy": policy})
        for policy in ("edge", "reflect", "reflect_101", "wrap", "trim_to_shape")
    ),
    Call("slice", *HWC, {"start": [1, 2], "end": [4, 5]}),
    Call("slice", *HWC, {"rel_start": [0.1, 0.25], "rel_shape": [0.5, 0.45]}),
    Call("slice", *CHW, {"rel_start": [0.15], "shape": [2], "axes": [-1]}),
    Call("slice", *FHWC, {"start": [-1, 1], "shape": [5, 2], "axis_names": "WC", **PAD}),
    Call("slice", *CDHW, {"rel_end": Each([[0.5, 0.7], [1.0, 0.2]]), "dtype": Type("float16")}),
    Call("crop_mirror_normalize", *HWC, NORM),
    Call("crop_mirror_normalize", *HWC, {"mirror": Each([1, 0]), "dtype": Type("float16"), **NORM}),
    Call("crop_mirror_normalize", *HWC, {"output_layout": "HWC", "pad_output": True, **NORM}),
    Call("crop_mirror_normalize", *CHW, {"output_layout": "HWC", "crop": (3, 3), "mirror": 1}),
    Call(
        "crop_mirror_normalize",
        *FHWC,
        {"output_layout": "FCHW", "scale": 9.0, "dtype": Type("int8")},
    ),
    Call("crop_mirror_normalize", *HWC, {"crop": (9, 9), "fill_values": [5.0], **PAD, **NORM}),
    Call("flip", *HWC, {}),
    Call("flip", *FHWC, {"horizontal": Each([0, 1]), "vertical": 1}),
    Call("flip", *CDHW, {"depthwise": 1}),
    Call("normalize", *HWC, {}),
    Call("normalize", *HWC, {"axes": [0, 1], "ddof": 1, "epsilon": 2.0}),
    Call("normalize", *CHW, {"axis_names": "HW", "batch": True}),
    Call("normalize", *HWC, {"scale": 40.0, "shift": 128.0, "dtype": Type("uint8")}),
    Call("transpose", *HWC, {"perm": [2, 0, 1]}),
    Call("transpose", *CDHW, {}),
    Call("transpose", *CHW, {"perm": [1, 2, 0], "transpose_layout": False}),
    Call("pad", *HWC, {"align": [4, 5], "axes": [0, 1], "fill_value": Each([1.0, 2.0])}),
    Call("pad", *CHW, {"shape": [-1, 9], "axis_names": "CW", "fill_value": -3}),
]
