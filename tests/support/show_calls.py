# SPDX-License-Identifier: Apache-2.0
"""Pictures of data of every kind; `tools/show_pictures.py` stores them in tests/goldens/show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd

FOLDER = Path(__file__).parents[1] / "goldens" / "show"


def scenery(height: int = 96, width: int = 128, phase: float = 0.0) -> NDArray[np.uint8]:
    """A picture whose left, right, top and bottom differ."""
    y, x = np.mgrid[:height, :width] / max(height, width)
    disk = ((x - 0.3 - phase) ** 2 + (y - 0.35) ** 2) < 0.03
    planes = [255 * x, 255 * y, 128 + 100 * np.sin(12 * (x + y))]
    image = np.stack(planes, axis=-1)
    image[disk] = (250, 240, 90)
    return image.clip(0, 255).astype(np.uint8)


def batch_of(*images: Any, layout: str = "HWC") -> ndd.Batch:
    return ndd.batch(list(images), layout=layout)


def grid(save: Path) -> None:
    sizes = [(96, 128), (128, 96), (64, 64), (40, 200), (200, 120)]
    images = [scenery(*size) for size in sizes]
    batch_of(*images).show(labels=["cat", "dog", "a name that is cut", "7", "x"], save=save)


def overlays(save: Path) -> None:
    mask = np.zeros((96, 128), np.int32)
    mask[50:80, 10:60], mask[60:90, 80:120] = 1, 2
    ndd.tensor(scenery(), layout="HWC").show(
        boxes=[[20, 10, 60, 50], [70, 30, 120, 90]],
        labels=["sun", "sea"],
        masks=mask,
        keypoints=[[40, 30, 1], [100, 20, 0]],
        save=save,
    )


def normalized(save: Path) -> None:
    """Channels first, and values from about -2 to 2."""
    image = (scenery().transpose(2, 0, 1) / 58.0 - 2.1).astype(np.float32)
    batch_of(image, image[:, ::-1].copy(), layout="CHW").show(save=save)


def types(save: Path) -> None:
    """The same in two columns, whatever the type."""
    gray = scenery()[..., :1]
    images = (gray.astype(np.uint16) * 257, gray / 255.0, gray.astype(np.float32))
    wide = [ndd.cast(ndd.tensor(np.asarray(i)), dtype=ndd.float32).numpy() for i in images]
    batch_of(*wide, gray.astype(np.float32) - 128).show(columns=2, save=save)


def transparent(save: Path) -> None:
    alpha = np.linspace(0, 255, 128).astype(np.uint8)[None, :, None].repeat(96, axis=0)
    ndd.tensor(np.concatenate([scenery(), alpha], axis=2), layout="HWC").show(save=save)


def classes(save: Path) -> None:
    y, x = np.mgrid[:64, :96]
    ndd.tensor(((x // 16 + y // 16) % 7).astype(np.uint8), layout="HW").show(save=save)


def video(save: Path) -> None:
    frames = np.stack([scenery(48, 64, k / 40) for k in range(15)])
    ndd.tensor(frames, layout="FHWC").show(save=save)


def volume(save: Path) -> None:
    z, y, x = np.indices((20, 48, 48))
    distance = np.sqrt((z * 2.4 - 24) ** 2 + (y - 24) ** 2 + (x - 24) ** 2)
    ndd.tensor(distance.astype(np.float32) * 40 - 900, layout="DHW").show(save=save)


def waveform(save: Path) -> None:
    time = np.linspace(0, 1, 8000)
    left, right = np.sin(60 * time) * time, 0.4 * np.sin(25 * time) * (1 - time)
    ndd.tensor(np.stack([left, right], axis=1).astype(np.float32), layout="tc").show(save=save)


def spectrum(save: Path) -> None:
    """A tone that rises, with a constant one."""
    bins, frames = np.mgrid[:80, :120]
    power = np.exp(-(((bins - 10 - frames / 2) / 3) ** 2)) + np.exp(-(((bins - 5) / 2) ** 2))
    decibels = 10 * np.log10(power + 1e-8)
    ndd.tensor(decibels.astype(np.float32), layout="ft").show(save=save)


def numbers(save: Path) -> None:
    arrays = [np.arange(6.0).reshape(2, 3), np.full((2, 3), 0.5), np.zeros((1, 2))]
    ndd.batch(arrays).show(save=save)


def scene(save: Path) -> None:
    made = ndd.Scene(
        image=batch_of(scenery(), scenery(96, 96)),
        boxes=[[[20, 10, 40, 40]], [[5, 5, 30, 60], [50, 20, 40, 40]]],
        labels=[[3], [1, 2]],
        keypoints=[[[30.0, 30.0]], [[20.0, 70.0]]],
        box_format="ltwh",
    )
    ndd.flip(made, horizontal=1).show(save=save)


CALLS: dict[str, Callable[[Path], None]] = {
    function.__name__: function
    for function in (
        *(grid, overlays, normalized, types, transparent, classes, video, volume),
        *(waveform, spectrum, numbers, scene),
    )
}
