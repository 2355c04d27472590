# SPDX-License-Identifier: Apache-2.0
"""States that a program may put torch into, which must not change what the library computes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch

State: TypeAlias = Callable[[], contextlib.AbstractContextManager[Any]]


@contextlib.contextmanager
def default_dtype(kind: torch.dtype) -> Iterator[None]:
    """Floats of another type by default."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


@contextlib.contextmanager
def deterministic() -> Iterator[None]:
    """Operations that are not reproducible are refused, and memory is filled."""
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextlib.contextmanager
def all_at_once() -> Iterator[None]:
    """All states that do not exclude each other."""
    with contextlib.ExitStack() as states:
        for name in ALL_AT_ONCE:
            states.enter_context(STATES[name]())
        yield


STATES: dict[str, State] = {
    "autocast-bfloat16": lambda: torch.autocast("cpu", torch.bfloat16),
    "autocast-float16": lambda: torch.autocast("cpu", torch.float16),
    "inference": torch.inference_mode,
    "no-grad": torch.no_grad,
    "float64": lambda: default_dtype(torch.float64),
    "bfloat16": lambda: default_dtype(torch.bfloat16),
    "another-device": lambda: torch.device("meta"),
    "deterministic": deterministic,
}
ALL_AT_ONCE = [
    *("autocast-float16", "inference", "no-grad", "bfloat16", "another-device", "deterministic")
]
