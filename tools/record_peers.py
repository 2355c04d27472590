# SPDX-License-Identifier: Apache-2.0
"""Record what other libraries make of the calls in the tables of docs/coming-from.

Run in an environment with torchvision and Albumentations:

    python tools/record_peers.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from record_scenes import import_torchvision

from support.peer_calls import RECORD, STEP, picture, rows

os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"


def torchvision_names() -> dict[str, Any]:
    """What calls of torchvision may use: functions on tensors, channels first."""
    import_torchvision()
    from torchvision.transforms import InterpolationMode, v2
    from torchvision.transforms.v2 import functional

    image = torch.from_numpy(picture().transpose(2, 0, 1).copy())
    return {"F": functional, "v2": v2, "torch": torch, "mode": InterpolationMode, "image": image}


def albumentations_names() -> dict[str, Any]:
    """What calls of Albumentations may use; an object is called with an image."""
    import albumentations
    import cv2

    return {"A": albumentations, "cv2": cv2, "image": picture()}


def as_pixels(result: Any, names: dict[str, Any]) -> Any:
    """The result of a call, height by width by channels."""
    if isinstance(result, torch.Tensor):
        return result.numpy().transpose(1, 2, 0)
    if callable(result):
        return result(image=names["image"])["image"]
    return result


def main() -> None:
    """Record all rows that state a difference."""
    recorded = {}
    for page, make in (
        ("torchvision", torchvision_names),
        ("albumentations", albumentations_names),
    ):
        names = make()
        for row in rows(page):
            if row.difference is not None:
                pixels = as_pixels(eval(row.theirs, names), names)
                recorded[row.key] = pixels[::STEP, ::STEP]
    np.savez_compressed(RECORD, **recorded)
    print(f"{len(recorded)} results, {RECORD.stat().st_size / 1e3:.0f} KB")


if __name__ == "__main__":
    main()
