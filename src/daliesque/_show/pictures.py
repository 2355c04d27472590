# SPDX-License-Identifier: Apache-2.0
"""Pictures of tensors and batches: for a file, a notebook, a terminal or a viewer."""

from __future__ import annotations

from os import PathLike
from typing import Any

from .._engine.batch import Batch
from .._engine.value import Value
from .display import display
from .grid import draw_grid
from .overlays import Overlays
from .summary import html_of

__all__ = ["html", "show"]


def show(value: Value, save: str | PathLike[str] | None = None, **options: Any) -> None:
    """Draw a value, and save the picture or show it where the program runs."""
    picture = picture_of(value, **options)
    if save is None:
        display(picture)
    else:
        picture.save(save)


def picture_of(value: Value, *, columns: int | None = None, size: int = 224, **parts: Any) -> Any:
    """The picture that `show` shows, as a PIL image."""
    if size < 16:
        msg = f"show: 'size' must be at least 16 pixels; got {size}."
        raise ValueError(msg)
    if columns is not None and columns < 1:
        msg = f"show: 'columns' must be positive; got {columns}."
        raise ValueError(msg)
    count = value._count if isinstance(value, Batch) else None
    return draw_grid(value, Overlays.of(count, **parts), columns, size)


def html(value: Value, **parts: Any) -> str:
    """What a notebook shows for a value: facts, and a picture if the data is at hand."""
    return html_of(value, parts)
