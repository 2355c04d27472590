# SPDX-License-Identifier: Apache-2.0
"""How long transfers and operators take on an accelerator."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd

from .checks import accelerator

_SIZE = (64, 224, 224, 3)
# Enough to see that it runs, where the CPU stands in.
_SMALL_SIZE = (4, 64, 64, 3)
# Times each, of which the best counts.
_TRIES = 5


def measure_overlap() -> list[str]:
    """Whether the next batch is copied while the device works on the one before."""
    images = _images()
    resident = ndd.batch(images, layout="HWC", device="gpu").evaluate()

    def upload() -> Any:
        return ndd.batch(images, layout="HWC", device="gpu").evaluate()

    def work() -> Any:
        blurred = resident
        for _ in range(4):
            blurred = ndd.gaussian_blur(blurred, sigma=3.0)
        return blurred.evaluate()

    alone = _best(upload), _best(work)
    both = _best(lambda: (work(), upload()))
    hidden = max(0.0, sum(alone) - both) / max(min(alone), 1e-9)
    return [
        f"- upload of {images.nbytes / 1e6:.1f} MB: {alone[0] * 1e3:.2f} ms",
        f"- work on the device: {alone[1] * 1e3:.2f} ms",
        f"- both: {both * 1e3:.2f} ms; {min(hidden, 1):.0%} of the shorter is hidden",
    ]


def compare_speed() -> list[str]:
    """Some operators against the same of torchvision and kornia, on the same data."""
    import torch

    images = _images()
    batch = ndd.batch(images, layout="HWC", device="gpu").evaluate()
    tensor = batch.torch().permute(0, 3, 1, 2).contiguous()
    floats = tensor.to(torch.float32) / 255
    ours: dict[str, Callable[[], Any]] = {
        "resize": lambda: ndd.resize(batch, size=(112, 112)).evaluate(),
        "normalize": lambda: ndd.crop_mirror_normalize(
            batch, mean=[120.0], std=[60.0], output_layout="CHW"
        ).evaluate(),
        "color_twist": lambda: ndd.color_twist(batch, hue=30.0, saturation=1.3).evaluate(),
        "rotate": lambda: ndd.rotate(batch, angle=20.0, keep_size=True).evaluate(),
        "gaussian_blur": lambda: ndd.gaussian_blur(batch, sigma=1.5).evaluate(),
    }
    peers = {library: dict(make(tensor, floats)) for library, make in _PEERS.items()}
    lines = [
        "| operator | daliesque | " + " | ".join(peers) + " |",
        "|---" * (2 + len(peers)) + "|",
    ]
    for name, function in ours.items():
        times = [f"{_best(function) * 1e3:.2f} ms"]
        for calls in peers.values():
            times.append(f"{_best(calls[name]) * 1e3:.2f} ms" if name in calls else "-")
        lines.append(f"| {name} | " + " | ".join(times) + " |")
    return lines


def _images() -> NDArray[np.uint8]:
    size = _SMALL_SIZE if accelerator().kind == "cpu" else _SIZE
    return np.random.default_rng(1).integers(0, 256, size, np.uint8)


def _best(function: Callable[[], Any]) -> float:
    """Seconds that a call takes, with what it asks of the device."""
    _synchronize()
    times = []
    for _ in range(_TRIES):
        begin = time.perf_counter()
        function()
        _synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def _synchronize() -> None:
    getattr(importlib.import_module("torch"), accelerator().kind).synchronize()


def _of_torchvision(tensor: Any, floats: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    try:
        v2 = importlib.import_module("torchvision.transforms.v2.functional")
    except ImportError:
        return
    yield "resize", lambda: v2.resize(tensor, [112, 112], antialias=True)
    yield "normalize", lambda: v2.normalize(floats, [0.5] * 3, [0.2] * 3)
    yield "color_twist", lambda: v2.adjust_saturation(v2.adjust_hue(tensor, 0.08), 1.3)
    yield "rotate", lambda: v2.rotate(tensor, 20.0, v2.InterpolationMode.BILINEAR)
    yield "gaussian_blur", lambda: v2.gaussian_blur(tensor, [11, 11], [1.5, 1.5])


def _of_kornia(tensor: Any, floats: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    del tensor
    try:
        kornia = importlib.import_module("kornia")
    except ImportError:
        return
    torch = importlib.import_module("torch")
    angle = torch.full((len(floats),), 20.0, device=floats.device)
    yield "resize", lambda: kornia.geometry.resize(floats, (112, 112), antialias=True)
    yield (
        "color_twist",
        lambda: kornia.enhance.adjust_saturation(kornia.enhance.adjust_hue(floats, 0.5), 1.3),
    )
    yield "rotate", lambda: kornia.geometry.rotate(floats, angle)
    yield "gaussian_blur", lambda: kornia.filters.gaussian_blur2d(floats, (11, 11), (1.5, 1.5))


_PEERS = {"torchvision v2": _of_torchvision, "kornia": _of_kornia}
