# SPDX-License-Identifier: Apache-2.0
"""What operators do to coordinates that bend images.

They say for each position of the result where in the input it comes from. The way back, which
boxes and points go, is found by Newton's method.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._engine.samples import HostSamples
from .._shapes.rows import rows_of
from .._shapes.windows import Integers
from .formats import Coordinates
from .geometry import Geometry, pick

# Takes masks along: the masks, the samples they belong to, and the value where there was no image.
Taker: TypeAlias = Callable[[HostSamples, Integers, float], HostSamples]

_MOST_STEPS = 16
# In pixels: how near is near enough, and from where on a point is not found at all.
_NEAR, _LOST = 1e-3, 0.5
# How many points of each edge of a box are followed.
_POINTS_OF_EDGE = 16


class Bent(Geometry):
    """Bent images, of the same size or another."""

    def __init__(self, sizes: Integers, take: Taker) -> None:
        self.sizes = sizes
        self._take = take

    @abstractmethod
    def source(self, points: Coordinates, owner: Integers) -> Coordinates:
        """Where in the input positions of the result come from."""

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        return self._take(masks, owner, fill)

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        found = points.copy()
        longest = pick(self.sizes, owner).max(axis=1, keepdims=True) / 4
        error = points - self.source(found, owner)
        for _ in range(_MOST_STEPS):
            if not (np.abs(error) > _NEAR).any():
                break
            step = self._newton_step(found, error, owner)
            length = np.linalg.norm(step, axis=1, keepdims=True)
            found += step * np.minimum(1, longest / np.maximum(length, 1e-9))
            error = points - self.source(found, owner)
        found[~(np.abs(error) < _LOST).all(axis=1)] = np.nan
        return found

    def _newton_step(self, points: Coordinates, error: Coordinates, owner: Integers) -> Coordinates:
        """By how much to move points, from how the source changes within a pixel."""
        columns = []
        for axis in (0, 1):
            half = np.zeros(2)
            half[axis] = 0.5
            columns.append(self.source(points + half, owner) - self.source(points - half, owner))
        (a, c), (b, d) = (column.T for column in columns)
        determinant = a * d - b * c
        flat = np.abs(determinant) < 1e-6
        determinant = np.where(flat, 1, determinant)
        x, y = error.T
        steps = np.stack([d * x - b * y, a * y - c * x], axis=1) / determinant[:, None]
        return np.where(flat[:, None], error, steps)

    def bound(self, boxes: Coordinates, owner: Integers) -> Coordinates:
        share = np.linspace(0, 1, _POINTS_OF_EDGE, endpoint=False)
        x = np.concatenate([share, np.ones_like(share), 1 - share, np.zeros_like(share)])
        y = np.roll(x, _POINTS_OF_EDGE)
        low, extent = boxes[:, None, :2], (boxes[:, 2:] - boxes[:, :2])[:, None]
        outline = low + extent * np.stack([x, y], axis=1)
        count = outline.shape[1]
        moved = self.move(outline.reshape(-1, 2), np.repeat(owner, count)).reshape(-1, count, 2)
        lost = np.isnan(moved)
        low = np.where(lost, np.inf, moved).min(axis=1)
        high = np.where(lost, -np.inf, moved).max(axis=1)
        gone = low > high
        return np.concatenate([np.where(gone, np.nan, low), np.where(gone, np.nan, high)], axis=1)


class Wave(NamedTuple):
    """A displacement along one axis that swings with the other coordinate."""

    height: float
    frequency: float
    phase: float


class Waves(Bent):
    """Positions that swing with the other coordinate, in the samples whose flags are set."""

    def __init__(
        self,
        sizes: Integers,
        flags: NDArray[np.int32],
        waves: tuple[Wave, Wave],
        take: Taker,
    ) -> None:
        super().__init__(sizes, take)
        self.flags = flags[:, None] != 0
        self.waves = waves

    def source(self, points: Coordinates, owner: Integers) -> Coordinates:
        # Waves count from the first pixel's center.
        x, y = points[:, 0] - 0.5, points[:, 1] - 0.5
        first, second = self.waves
        across = first.height * np.sin(first.frequency * y + first.phase)
        down = second.height * np.cos(second.frequency * x + second.phase)
        return points + np.where(pick(self.flags, owner), np.stack([across, down], axis=1), 0)


class GlassBall(Bent):
    """Seen through a ball, in the samples whose flags are set."""

    def __init__(self, sizes: Integers, flags: NDArray[np.int32], take: Taker) -> None:
        super().__init__(sizes, take)
        self.flags = flags[:, None] != 0
        self.middle = sizes[:, ::-1] / 2
        self.radius = np.maximum(np.trunc(self.middle.max(axis=1, keepdims=True)), 1)

    def source(self, points: Coordinates, owner: Integers) -> Coordinates:
        middle = pick(self.middle, owner)
        from_middle = points - middle
        distance = np.linalg.norm(from_middle, axis=1, keepdims=True) / pick(self.radius, owner)
        return np.where(pick(self.flags, owner), middle + distance * from_middle, points)

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        # Distances from the middle are squared, so there is a way back in one step.
        middle = pick(self.middle, owner)
        from_middle = points - middle
        distance = np.linalg.norm(from_middle, axis=1, keepdims=True) / pick(self.radius, owner)
        moved = middle + from_middle / np.sqrt(np.maximum(distance, 1e-12))
        return np.where(pick(self.flags, owner), moved, points)


class Table:
    """Pairs (x, y) in arrays (rows, columns, 2), one for each sample."""

    def __init__(self, samples: HostSamples) -> None:
        self.values: NDArray[Any] = rows_of(samples, 2)
        # Columns and rows.
        self.extents = samples.shape_array()[:, 1::-1]
        counts = self.extents.prod(axis=1)
        self.starts = np.cumsum(counts) - counts

    def at(self, positions: Coordinates, owner: Integers) -> Coordinates:
        """The pairs at positions (column, row), linear in between and constant outside."""
        extents, start = pick(self.extents, owner), pick(self.starts, owner)
        inside = np.clip(np.nan_to_num(positions), 0, extents - 1)
        first = np.floor(inside).astype(np.int64)
        second = np.minimum(first + 1, extents - 1)
        across, down = np.split(inside - first, 2, axis=1)
        width = extents[:, 0]
        rows = []
        for row in (first[:, 1], second[:, 1]):
            ends = (self.values[start + row * width + x[:, 0]] for x in (first, second))
            left, right = ends
            rows.append(left * (1 - across) + right * across)
        found: Coordinates = rows[0] * (1 - down) + rows[1] * down
        return found


class Flow(Bent):
    """Displacements (x, y) that arrays hold for the centers of the result's pixels.

    `flow` has the shape (height, width, 2) for each sample; it is linear between pixels, and goes
    on as at the border outside.
    """

    def __init__(
        self, flow: HostSamples, scale: NDArray[np.float32], sizes: Integers, take: Taker
    ) -> None:
        super().__init__(sizes, take)
        self.scale = scale[:, None].astype(np.float64)
        self.table = Table(flow)

    def source(self, points: Coordinates, owner: Integers) -> Coordinates:
        if len(self.table.values) == 0:
            return points
        moved: Coordinates = self.table.at(points - 0.5, owner) * pick(self.scale, owner)
        return points + moved


class Grid(Bent):
    """Nodes that lie evenly over the result and say where in the input they come from."""

    def __init__(self, nodes: HostSamples, sizes: Integers, take: Taker) -> None:
        super().__init__(sizes, take)
        self.table = Table(nodes)

    def source(self, points: Coordinates, owner: Integers) -> Coordinates:
        size = pick(self.sizes, owner)[:, ::-1]
        inside = np.clip(points, 0, size)
        cells = pick(self.table.extents, owner) - 1
        found = self.table.at(inside * (cells / np.maximum(size, 1)), owner)
        return found + (points - inside)
