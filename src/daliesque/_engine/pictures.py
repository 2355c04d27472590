# SPDX-License-Identifier: Apache-2.0
"""The seam between the engine and what draws tensors and batches.

The public layer registers how to load it; that happens when somebody wants to see something.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from .value import Value


class Pictures(Protocol):
    """What draws."""

    def show(self, value: Value, save: str | PathLike[str] | None, **options: Any) -> None:
        """Draw a value, and show or save the picture."""

    def html(self, value: Value, **parts: Any) -> str:
        """What a notebook shows for a value, with boxes, labels and other parts over it."""


class _Registered:
    load: Callable[[], Pictures] | None = None


def register_pictures(load: Callable[[], Pictures]) -> None:
    """Say how to load what draws."""
    _Registered.load = load


def pictures() -> Pictures:
    """What draws, loaded on first use."""
    assert _Registered.load is not None
    return _Registered.load()
