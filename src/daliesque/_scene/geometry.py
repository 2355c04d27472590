# SPDX-License-Identifier: Apache-2.0
"""What operators do to coordinates.

A `Geometry` says for a batch of images where points move, and takes the pixels of masks along.
Points are (x, y) in pixels, where (0, 0) is the corner of the first pixel and (width, height) that
of the last one. Arrays have a row for each sample, or a single row that serves all; `owner` holds
the number of the sample that a point, box or mask belongs to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.dtype import uint8, uint16
from .._engine.enums import DALIInterpType
from .._engine.samples import HostSamples
from .._shapes.resampling import Geometry as Resampling
from .._shapes.windows import Border, Floats, Integers, Windows
from .formats import Coordinates

# In homogeneous coordinates, what is not at least so far in front of the eye is not seen.
_NEAREST_DEPTH = 1e-6
_NEAREST = np.array([DALIInterpType.INTERP_NN], np.int32)
# Corners of boxes (left, top, right, bottom): columns of x and of y, around the box.
_CORNER_X, _CORNER_Y = [0, 2, 2, 0], [1, 1, 3, 3]


def pick(rows: NDArray[Any], owner: Integers) -> NDArray[Any]:
    """The row of each owner; a single row serves all."""
    return rows if len(rows) == 1 else np.ascontiguousarray(rows[owner])


class Geometry(ABC):
    """What an operator does to the coordinates of a batch of images."""

    # Height and width of the results, (1 or N, 2).
    sizes: Integers

    @abstractmethod
    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        """Where points of the input are in the result; NaN for those that are nowhere."""

    @abstractmethod
    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        """The masks (HWC) of the results, each pixel from the nearest one of the input."""

    def bound(self, boxes: Coordinates, owner: Integers) -> Coordinates:
        """The boxes (left, top, right, bottom) around what becomes of boxes."""
        corners = np.stack([boxes[:, _CORNER_X], boxes[:, _CORNER_Y]], axis=2)
        moved = self.move(corners.reshape(-1, 2), np.repeat(owner, 4)).reshape(-1, 4, 2)
        return np.concatenate([moved.min(axis=1), moved.max(axis=1)], axis=1)


class Still(Geometry):
    """Nothing moves."""

    def __init__(self, sizes: Integers) -> None:
        self.sizes = sizes

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        del owner
        return points

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        del owner, fill
        return masks

    def bound(self, boxes: Coordinates, owner: Integers) -> Coordinates:
        del owner
        return boxes


class AlongAxes(Geometry):
    """Moves x and y independently of each other: `point * scale + offset`."""

    # (1 or N, 2), in the order x, y.
    scale: Coordinates
    offset: Coordinates

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        moved: Coordinates = points * pick(self.scale, owner) + pick(self.offset, owner)
        return moved

    def bound(self, boxes: Coordinates, owner: Integers) -> Coordinates:
        first, second = self.move(boxes[:, :2], owner), self.move(boxes[:, 2:], owner)
        return np.concatenate([np.minimum(first, second), np.maximum(first, second)], axis=1)


class Flipped(AlongAxes):
    """Mirrored left to right, top to bottom."""

    def __init__(
        self, sizes: Integers, horizontal: NDArray[np.int32], vertical: NDArray[np.int32]
    ) -> None:
        self.sizes = sizes
        self.flags = np.stack(np.broadcast_arrays(horizontal, vertical), axis=1)
        mirrored = self.flags != 0
        self.scale = np.where(mirrored, -1.0, 1.0)
        self.offset = np.where(mirrored, sizes[:, ::-1], 0).astype(np.float64)

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        del fill
        flags = pick(self.flags, owner)
        none = np.zeros(1, np.int32)
        horizontal, vertical = (np.ascontiguousarray(flags[:, column]) for column in (0, 1))
        return _kernels.flip(masks, horizontal, vertical, none)


class Windowed(AlongAxes):
    """A window, which may be larger than the image."""

    def __init__(self, windows: Windows, axes: list[int], border: Border) -> None:
        self.anchors = windows.anchors[:, axes]
        self.sizes = windows.extents[:, axes]
        self.border = border
        self.scale = np.ones((1, 2))
        self.offset = -self.anchors[:, ::-1].astype(np.float64)

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        channels = masks.shape_array()[:, 2:]
        anchors, extents = pick(self.anchors, owner), pick(self.sizes, owner)
        count = len(masks)
        return _kernels.slice(
            masks,
            type_id=masks.type_id,
            anchors=_with_column(anchors, np.zeros((count, 1), np.int64)),
            shapes=_with_column(extents, channels),
            border=self.border,
            fill=np.full((1, 1), fill, np.float32),
            channel_axis=-1,
        )


def _with_column(rows: Integers, column: Integers) -> Integers:
    spread = np.broadcast_to(rows, (len(column), rows.shape[1]))
    return np.ascontiguousarray(np.concatenate([spread, column], axis=1), np.int64)


class Resampled(AlongAxes):
    """A region of each image, resampled to a size."""

    def __init__(self, region: Resampling, axes: slice = np.s_[:]) -> None:
        self.sizes = region.sizes[:, axes]
        self.starts, self.ends = region.starts[:, axes], region.ends[:, axes]
        begin = self.starts[:, ::-1].astype(np.float64)
        length = self.ends[:, ::-1] - begin
        # An empty region has nothing that could move.
        length[length == 0] = np.nan
        self.scale = self.sizes[:, ::-1] / length
        self.offset = -begin * self.scale

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        del fill
        rows = (pick(values, owner) for values in (self.sizes, self.starts, self.ends))
        sizes, starts, ends = (np.ascontiguousarray(values) for values in rows)
        result = _kernels.resize(
            _as_bytes_or_words(masks),
            type_id=uint8.code if masks.itemsize == 1 else uint16.code,
            first_axis=0,
            geometry=_kernels.ResizeGeometry.of(sizes, starts, ends),
            min_filters=_NEAREST,
            mag_filters=_NEAREST,
            antialias=False,
        )
        shapes = result.shape_array()
        shapes[:, 2] = masks.shape_array()[:, 2]
        return result.reshape(masks.type_id, shapes, masks.layout)


def _as_bytes_or_words(masks: HostSamples) -> HostSamples:
    """The same bits as elements of 1 or 2 bytes, which resampling takes, in more channels."""
    shapes = masks.shape_array()
    if masks.itemsize == 1:
        return masks.reshape(uint8.code, shapes, masks.layout)
    shapes[:, 2] *= masks.itemsize // 2
    return masks.reshape(uint16.code, shapes, masks.layout)


class Projected(Geometry):
    """Moved by a 3x3 matrix and a division.

    `centers` are matrices from the centers of the result's pixels to those of the input's.
    """

    def __init__(self, centers: Coordinates, sizes: Integers, border: Border) -> None:
        self.sizes = sizes
        self.border = border
        self.centers = np.ascontiguousarray(centers)
        full = _between_corners(centers)
        # Where nothing comes from a surface, there is nowhere to go to.
        singular = ~(np.abs(np.linalg.det(full)) > 0)
        self.forward = np.linalg.inv(np.where(singular[:, None, None], np.eye(3), full))
        self.forward[singular] = np.nan

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        return _divided(self._homogeneous(points, owner))

    def _homogeneous(self, points: Coordinates, owner: Integers) -> Coordinates:
        forward = pick(self.forward, owner)
        moved: Coordinates = forward[:, :, 2] + forward[:, :, 0] * points[:, :1]
        moved += forward[:, :, 1] * points[:, 1:]
        return moved

    def bound(self, boxes: Coordinates, owner: Integers) -> Coordinates:
        corners = np.stack([boxes[:, _CORNER_X], boxes[:, _CORNER_Y]], axis=2)
        ends = self._homogeneous(corners.reshape(-1, 2), np.repeat(owner, 4)).reshape(-1, 4, 3)
        found = _divided(ends)
        behind = ~(ends[:, :, 2] > _NEAREST_DEPTH)
        if behind.any():
            # Where an edge goes behind the eye, it is cut.
            following = np.roll(ends, -1, axis=1)
            depth, next_depth = ends[:, :, 2:], following[:, :, 2:]
            cut = behind != np.roll(behind, -1, axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                share = (_NEAREST_DEPTH - depth) / (next_depth - depth)
                crossing = ends + share * (following - ends)
            crossing[:, :, 2] = np.where(cut, 2 * _NEAREST_DEPTH, np.nan)
            found = np.concatenate([found, _divided(crossing)], axis=1)
        low = np.where(np.isnan(found), np.inf, found).min(axis=1)
        high = np.where(np.isnan(found), -np.inf, found).max(axis=1)
        gone = low > high
        return np.concatenate([np.where(gone, np.nan, low), np.where(gone, np.nan, high)], axis=1)

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        sizes = np.broadcast_to(pick(self.sizes, owner), (len(masks), 2))
        centers = pick(self.centers, owner)
        nearest = _kernels.WarpInterp.nearest
        return _kernels.warp_perspective(
            masks, np.ascontiguousarray(sizes), centers, nearest, self.border, [fill]
        )


def _divided(points: Coordinates) -> Coordinates:
    """From homogeneous to plain coordinates; NaN for what is behind the eye."""
    depth = points[..., 2:]
    seen = depth > _NEAREST_DEPTH
    found: Coordinates = np.where(seen, points[..., :2] / np.where(seen, depth, 1), np.nan)
    return found


def _between_corners(matrices: Coordinates) -> Coordinates:
    """Matrices between centers of pixels as matrices between their corners."""
    full = matrices.reshape(-1, 3, 3).copy()
    full[:, :, 2] -= (full[:, :, 0] + full[:, :, 1]) * 0.5
    full[:, :2] += full[:, 2:] * 0.5
    return full


class Warped(Geometry):
    """Moved by a 2x3 matrix; `matrices` lead from the result to the input."""

    def __init__(self, matrices: Floats, sizes: Integers, border: Border) -> None:
        self.sizes = sizes
        self.border = border
        self.rows = matrices
        full = matrices.reshape(-1, 2, 3).astype(np.float64)
        linear = full[:, :, :2]
        # Where nothing comes from a surface, there is nowhere to go to.
        singular = ~(np.abs(np.linalg.det(linear)) > 0)
        self.forward = np.linalg.inv(np.where(singular[:, None, None], np.eye(2), linear))
        self.forward[singular] = np.nan
        self.shift = -(self.forward @ full[:, :, 2:])[:, :, 0]

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        forward = pick(self.forward, owner)
        moved: Coordinates = forward[:, :, 0] * points[:, :1] + forward[:, :, 1] * points[:, 1:]
        moved += pick(self.shift, owner)
        return moved

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        sizes = np.broadcast_to(pick(self.sizes, owner), (len(masks), 2))
        return _kernels.warp_affine(
            masks,
            type_id=masks.type_id,
            sizes=np.ascontiguousarray(sizes),
            matrices=pick(self.rows, owner),
            interp=_kernels.WarpInterp.nearest,
            border=self.border,
            fill=[fill],
        )


class Chain(Geometry):
    """Geometries that keep straight lines straight, one after the other."""

    def __init__(self, *steps: Geometry) -> None:
        self.steps = steps
        self.sizes = steps[-1].sizes

    def move(self, points: Coordinates, owner: Integers) -> Coordinates:
        for step in self.steps:
            points = step.move(points, owner)
        return points

    def take(self, masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        for step in self.steps:
            masks = step.take(masks, owner, fill)
        return masks
