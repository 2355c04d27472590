# SPDX-License-Identifier: Apache-2.0
"""The environment variables that daliesque reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Variable(NamedTuple):
    """An environment variable."""

    name: str
    meaning: str


VARIABLES = (
    Variable("DALIESQUE_NUM_THREADS", "how many threads kernels use; all usable cores by default"),
    Variable("DALI_NUM_THREADS", "the same, if DALIESQUE_NUM_THREADS is not set"),
    Variable(
        "DALIESQUE_GPU", "cpu or cpu:N: N stand-in accelerators, computed by torch's CPU device"
    ),
    Variable(
        "DALIESQUE_GPU_DECODER",
        "what decodes JPEG files on the gpu: nvimgcodec, torchvision, or cpu for none",
    ),
    Variable("DALIESQUE_TRACEBACK", "full: tracebacks show the frames of the library as well"),
    Variable("DALIESQUE_GRAPHICS", "how show() draws in terminals: kitty, iterm2, sixel or blocks"),
)


def described(environment: Mapping[str, str] = os.environ) -> list[dict[str, str | None]]:
    """Every variable with its value and meaning."""
    return [
        {"name": name, "value": environment.get(name), "meaning": meaning}
        for name, meaning in VARIABLES
    ]
