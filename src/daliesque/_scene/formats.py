# SPDX-License-Identifier: Apache-2.0
"""What the numbers of boxes and points mean, and which boxes are kept."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._engine.errors import join_names

Coordinates: TypeAlias = NDArray[np.float64]

BOX_FORMATS = ("ltrb", "ltwh", "cxcywh")


class Rules(NamedTuple):
    """How the parts of a scene are to be understood, and what becomes of them at the border."""

    box_format: str = "ltrb"
    relative: bool = False
    clip: bool = True
    min_visibility: float = 0.0
    min_size: float = 0.0
    mask_fill: float = 0.0

    @classmethod
    def of(cls, given: dict[str, Any]) -> Rules:
        """Rules from the arguments of a Scene."""
        rules = cls(**given)
        name = rules.box_format
        lower = name.lower() if isinstance(name, str) else name
        if lower not in BOX_FORMATS:
            msg = f"Scene: 'box_format' must be {join_names(BOX_FORMATS)}; got {name!r}."
            raise ValueError(msg)
        shares = float(rules.min_visibility)
        if not 0 <= shares <= 1:
            msg = f"Scene: 'min_visibility' must lie in [0, 1]; got {shares:g}."
            raise ValueError(msg)
        least, fill = float(rules.min_size), float(rules.mask_fill)
        if not 0 <= least < np.inf:
            msg = f"Scene: 'min_size' must be a number of pixels; got {least:g}."
            raise ValueError(msg)
        return cls(lower, bool(rules.relative), bool(rules.clip), shares, least, fill)


def to_corners(boxes: NDArray[Any], rules: Rules, sizes: Coordinates) -> Coordinates:
    """Boxes as (left, top, right, bottom) in pixels; `sizes` are (width, height) for each."""
    rows = boxes.astype(np.float64)
    if rules.relative:
        rows[:, :2] *= sizes
        rows[:, 2:] *= sizes
    if rules.box_format == "ltwh":
        rows[:, 2:] += rows[:, :2]
    elif rules.box_format == "cxcywh":
        half = rows[:, 2:] / 2
        rows[:, 2:] = rows[:, :2] + half
        rows[:, :2] -= half
    return rows


def from_corners(corners: Coordinates, rules: Rules, sizes: Coordinates) -> Coordinates:
    """The inverse of `to_corners`; may change `corners`."""
    if rules.box_format == "ltwh":
        corners[:, 2:] -= corners[:, :2]
    elif rules.box_format == "cxcywh":
        extents = corners[:, 2:] - corners[:, :2]
        corners[:, :2] += extents / 2
        corners[:, 2:] = extents
    if rules.relative:
        # Nothing lies in an image without pixels.
        whole = np.maximum(sizes, 1)
        corners[:, :2] /= whole
        corners[:, 2:] /= whole
    return corners
