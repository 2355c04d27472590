# SPDX-License-Identifier: Apache-2.0
"""Five seconds of the usual work, against a library that does the same on this processor."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from ... import EvalContext, batch, crop_mirror_normalize, decoders, resize
from ..._engine.threads import get_num_threads

_SECONDS = 1.0
_BATCH = 32
# On one thread, decoding is expected to be faster than Pillow's by this factor, and threads to add
# this share of a core each: two of them may share one core, and the machine may be busy.
_LEAST_DECODING = 1.1
_LEAST_SCALING = 0.4


def run_self_test() -> dict[str, Any]:
    """Images per second for decoding and for the standard chain, and what is odd about them."""
    files = [_photo(seed) for seed in range(_BATCH)]
    encoded = batch([np.frombuffer(file, np.uint8) for file in files])
    pillow = _rate(lambda: [Image.open(io.BytesIO(file)).convert("RGB").load() for file in files])
    with EvalContext(num_threads=1):
        one = _rate(lambda: decoders.image(encoded).evaluate())
    threads = get_num_threads()
    with EvalContext(num_threads=threads):
        several = _rate(lambda: decoders.image(encoded).evaluate())
        chain = _rate(lambda: _standard(encoded).evaluate())
    advice = []
    if one < _LEAST_DECODING * pillow:
        advice.append(
            f"decoding runs at {one / pillow:.2f} times the speed of Pillow on one thread; "
            f"{_LEAST_DECODING} and more is expected. Is the machine busy, or was the extension "
            "built without optimization?"
        )
    expected = 1 + _LEAST_SCALING * (min(threads, _BATCH) - 1)
    if several < expected * one:
        advice.append(
            f"{threads} threads are {several / one:.2f} times as fast as one; at least "
            f"{expected:.1f} is expected. Are other programs running, or is the number of cores "
            "limited in another way than by affinity and cgroups?"
        )
    return {
        "images_per_second": {
            "decode, 1 thread": round(one),
            f"decode, {threads} threads": round(several),
            f"decode, resize, normalize, {threads} threads": round(chain),
            "decode, Pillow, 1 thread": round(pillow),
        },
        "against_pillow": round(one / pillow, 2),
        "scaling": round(several / one, 2),
        "advice": advice,
    }


def _standard(encoded: Any) -> Any:
    images = resize(decoders.image(encoded), size=[224, 224])
    return crop_mirror_normalize(images, mean=[124.0, 116.0, 104.0], std=[58.0, 57.0, 57.0])


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
