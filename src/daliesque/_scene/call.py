# SPDX-License-Identifier: Apache-2.0
"""Calls of operators, as the functions that find geometry see them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._engine.samples import HostSamples, Samples
from .._ops.slice import implied_layout
from .._shapes.windows import Integers, shape_rows
from .geometry import Geometry


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an operator, as its body sees it."""

    image: Samples
    # Inputs besides the image; None for those that are not given.
    others: tuple[HostSamples | None, ...]
    arguments: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    @property
    def layout(self) -> str:
        return implied_layout(self.image)

    @property
    def axes(self) -> list[int]:
        """Where height and width are."""
        return [self.layout.index("H"), self.layout.index("W")]

    @property
    def shapes(self) -> Integers:
        return shape_rows(self.image)

    @property
    def sizes(self) -> Integers:
        """Height and width."""
        return self.shapes[:, self.axes]

    @property
    def all_sizes(self) -> Integers:
        """The same, with a row for each image."""
        return np.broadcast_to(self.sizes, (len(self.image), 2))


Finder: TypeAlias = Callable[[Call], Geometry]
