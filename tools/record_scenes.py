# SPDX-License-Identifier: Apache-2.0
"""Record what torchvision and Albumentations make of the calls in tests/support/scene_calls.py.

Run in an environment with both of them:

    python tools/record_scenes.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.scene_calls import BOXES, CALLS, LEAST_PART, POINTS, RECORD, SIZE, Array, Call, mask

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
Results = dict[str, Array]


def import_torchvision() -> Any:
    """Torchvision without its native functions, if these do not suit the installed torch."""
    try:
        import torchvision
    except RuntimeError:
        for name in [name for name in sys.modules if name.startswith("torchvision")]:
            del sys.modules[name]
        library: Any = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision
    return torchvision


def by_torchvision(call: Call) -> Results:
    torchvision = import_torchvision()
    from torchvision.transforms.v2 import functional as F

    numbers = call.numbers
    window = [numbers.get(key, 0) for key in ("top", "left", "height", "width")]

    # Of masks, both take the pixel at the upper left of the nearest one if not asked otherwise.
    nearest = torchvision.transforms.InterpolationMode.NEAREST_EXACT

    def change(value: Any) -> Any:
        match call.name:
            case "flip":
                return (F.horizontal_flip if numbers["horizontal"] else F.vertical_flip)(value)
            case "crop":
                return F.crop(value, *window)
            case "resize":
                return F.resize(value, window[2:], nearest)
            case "resized_crop":
                return F.resized_crop(value, *window, numbers["size"], nearest)
            case "pad":
                return F.pad(value, [0, 0, window[3] - SIZE[1], window[2] - SIZE[0]])
            case "rotate":
                return F.rotate(value, numbers["angle"])
        offset, shear = [numbers["x"], numbers["y"]], [numbers["shear"], 0.0]
        return F.affine(value, numbers["angle"], offset, numbers["scale"], shear)

    kinds = torchvision.tv_tensors
    boxes = kinds.BoundingBoxes(
        torch.tensor(BOXES), format="XYXY", canvas_size=SIZE, clamping_mode=None
    )
    points = kinds.KeyPoints(torch.tensor(POINTS), canvas_size=SIZE)
    return {
        "boxes": change(boxes).numpy(),
        "points": change(points).numpy(),
        "mask": change(torch.tensor(mask())[None])[0].numpy(),
    }


def by_albumentations(call: Call) -> Results:
    import albumentations as A
    import cv2

    numbers = call.numbers
    if call.name == "flip":
        step = A.HorizontalFlip(p=1) if numbers["horizontal"] else A.VerticalFlip(p=1)
    elif call.name in ("crop", "resized_crop"):
        left, top = numbers["left"], numbers["top"]
        step = A.Crop(left, top, left + numbers["width"], top + numbers["height"], p=1)
        if call.name == "resized_crop":
            step = A.Sequential(
                [step, A.Resize(*numbers["size"], mask_interpolation=cv2.INTER_NEAREST_EXACT, p=1)],
                p=1,
            )
    elif call.name == "resize":
        height, width = numbers["height"], numbers["width"]
        step = A.Resize(height, width, mask_interpolation=cv2.INTER_NEAREST_EXACT, p=1)
    elif call.name == "pad":
        height, width = numbers["height"], numbers["width"]
        step = A.PadIfNeeded(height, width, position="top_left", border_mode=0, p=1)
    elif call.name == "rotate":
        step = A.Rotate((numbers["angle"],) * 2, border_mode=0, p=1)
    else:
        step = A.Affine(
            scale=numbers["scale"],
            # Counterclockwise, unlike torchvision's.
            rotate=-numbers["angle"],
            translate_px={"x": int(numbers["x"]), "y": int(numbers["y"])},
            shear={"x": numbers["shear"], "y": 0},
            border_mode=0,
            p=1,
        )
    boxes = A.BboxParams("pascal_voc", label_fields=["labels"], min_visibility=LEAST_PART)
    points = A.KeypointParams("xy", remove_invisible=False)
    whole = A.Compose([step], bbox_params=boxes, keypoint_params=points)
    given = {"image": np.zeros((*SIZE, 3), np.uint8), "mask": mask(), "bboxes": BOXES}
    made = whole(**given, labels=list(range(len(BOXES))), keypoints=POINTS)
    return {
        "boxes": np.asarray(made["bboxes"], np.float32).reshape(-1, 4),
        "labels": np.asarray(made["labels"], np.int32),
        "points": np.asarray(made["keypoints"], np.float32),
        "mask": made["mask"],
    }


if __name__ == "__main__":
    import albumentations

    stored: dict[str, Any] = {}
    for number, call in enumerate(CALLS):
        for library, record in (
            ("torchvision", by_torchvision),
            ("albumentations", by_albumentations),
        ):
            for part, values in record(call).items():
                stored[f"{number}.{library}.{part}"] = values
    versions = f"torchvision {import_torchvision().__version__}"
    stored["producers"] = np.array(f"{versions}, albumentations {albumentations.__version__}")
    stored["calls"] = np.array([repr(call) for call in CALLS])
    np.savez_compressed(RECORD, **stored)
    print(f"{len(CALLS)} calls, {RECORD.stat().st_size} bytes")
