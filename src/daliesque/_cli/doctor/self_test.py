# SPDX-License-Identifier: Apache-2.0
"""Five seconds of the usual work, against libraries that do the same on this processor.

What a processor should give follows from what another library achieves on it, and from how many
times as fast ours is where nothing is wrong: that depends on the instructions that there are.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from ... import EvalContext, _kernels, batch, crop_mirror_normalize, decoders, resize
from ..._engine.threads import get_num_threads

_SECONDS = 0.6
_BATCH = 32
_MEAN, _STD = [124.0, 116.0, 104.0], [58.0, 57.0, 57.0]
# A machine that is shared gives less than expected, by up to this factor.
_LEAST_SHARE = 0.5
# Threads are to add this share of a core each: two of them may share one core.
_LEAST_SCALING = 0.4


class Expected(NamedTuple):
    """How many times as fast as a yardstick work is on one thread: with AVX2, and without it."""

    yardstick: str
    vector: float
    portable: float


EXPECTED = {
    "decode": Expected("Pillow", 3.0, 1.2),
    "resize": Expected("Pillow", 8.0, 1.7),
    "normalize": Expected("copying the result", 0.7, 0.45),
}


def run_self_test() -> dict[str, Any]:
    """Images per second on one and several threads, against what is expected, and advice."""
    files = [_photo(seed) for seed in range(_BATCH)]
    encoded = batch([np.frombuffer(file, np.uint8) for file in files])
    rates: dict[str, float] = {}
    compared = {}
    with EvalContext(num_threads=1):
        for name, (ours, yardstick) in _work(files, encoded).items():
            rates[f"{name}, 1 thread"] = _rate(ours)
            compared[name] = _compared(name, rates[f"{name}, 1 thread"], _rate(yardstick))
    threads = get_num_threads()
    with EvalContext(num_threads=threads):
        several = rates[f"decode, {threads} threads"] = _rate(
            lambda: decoders.image(encoded).evaluate()
        )
        rates[f"decode, resize, normalize, {threads} threads"] = _rate(
            lambda: _standard(encoded).evaluate()
        )
    scaling = several / rates["decode, 1 thread"]
    return {
        "images_per_second": {name: round(rate) for name, rate in rates.items()},
        "against_expected": compared,
        "scaling": round(scaling, 2),
        "advice": [*_slow(compared), *_badly_scaling(scaling, threads)],
    }


def _work(files: list[bytes], encoded: Any) -> dict[str, tuple[Any, Any]]:
    """What is measured: ours, and the yardstick."""
    pixels = np.random.default_rng(0).integers(0, 256, (_BATCH, 224, 224, 3), np.uint8)
    images = batch(pixels, layout="HWC").evaluate()
    source, target = np.zeros((2, _BATCH, 3, 224, 224), np.float32)
    bilinear = Image.Resampling.BILINEAR
    return {
        "decode": (
            lambda: decoders.image(encoded).evaluate(),
            lambda: [Image.open(io.BytesIO(file)).convert("RGB").load() for file in files],
        ),
        "resize": (
            lambda: resize(images, size=[112, 112]).evaluate(),
            lambda: [Image.fromarray(image).resize((112, 112), bilinear) for image in pixels],
        ),
        "normalize": (
            lambda: crop_mirror_normalize(images, mean=_MEAN, std=_STD).evaluate(),
            lambda: np.copyto(target, source),
        ),
    }


def _compared(name: str, ours: float, yardstick: float) -> dict[str, Any]:
    expected = EXPECTED[name]
    vector = "AVX2" in _kernels.instruction_sets()
    return {
        "yardstick": expected.yardstick,
        "ratio": round(ours / yardstick, 2),
        "expected": expected.vector if vector else expected.portable,
    }


def _slow(compared: dict[str, dict[str, Any]]) -> list[str]:
    return [
        f"{name} runs at {found['ratio']} times the speed of {found['yardstick']}; about "
        f"{found['expected']} is expected on this processor. Is the machine busy, or was the "
        "extension built without optimization?"
        for name, found in compared.items()
        if found["ratio"] < _LEAST_SHARE * found["expected"]
    ]


def _badly_scaling(scaling: float, threads: int) -> list[str]:
    expected = 1 + _LEAST_SCALING * (min(threads, _BATCH) - 1)
    if scaling >= expected:
        return []
    return [
        f"{threads} threads are {scaling:.2f} times as fast as one; at least {expected:.1f} is "
        "expected. Are other programs running, or is the number of cores limited in another way "
        "than by affinity and cgroups?"
    ]


def _standard(encoded: Any) -> Any:
    images = resize(decoders.image(encoded), size=[224, 224])
    return crop_mirror_normalize(images, mean=_MEAN, std=_STD)


def _photo(seed: int) -> bytes:
    """A file of 500x375 pixels with about the detail of a photograph."""
    rng = np.random.default_rng(seed)
    layers = np.zeros((375, 500, 3))
    for cells in (4, 16, 64):
        grid = rng.integers(0, 256, (cells, cells, 3)).astype(np.uint8)
        layers += np.asarray(Image.fromarray(grid).resize((500, 375), Image.Resampling.BICUBIC))
    out = io.BytesIO()
    Image.fromarray((layers / 3).astype(np.uint8)).save(out, "JPEG", quality=90)
    return out.getvalue()


def _rate(work: Callable[[], object]) -> float:
    """Images per second: the best of the rounds, since others may use the machine as well."""
    work()
    best, end = 0.0, time.perf_counter() + _SECONDS
    while True:
        start = time.perf_counter()
        work()
        now = time.perf_counter()
        best = max(best, _BATCH / (now - start))
        if now > end:
            return best
