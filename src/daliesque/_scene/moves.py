# SPDX-License-Identifier: Apache-2.0
"""Boxes, labels, masks and points as an operator leaves them.

All boxes of a batch are one array, as are all points; masks are processed by the kernels that
process images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import cast_samples, contiguous
from .._engine.dtype import bool_, float32, float64
from .._engine.errors import SampleError
from .._engine.samples import HostSamples
from .._shapes.rows import empty_rows, row_counts, rows_of, take_rows
from .._shapes.windows import Integers
from .formats import Coordinates, Rules, from_corners, to_corners
from .geometry import Geometry, pick

# Parts of scenes by name.
Parts: TypeAlias = dict[str, HostSamples]


class Role(NamedTuple):
    """A part of a scene, and whether it has a row for each box."""

    name: str
    per_box: bool = False


class Kept(NamedTuple):
    """Which boxes remain: their numbers through all samples, and how many each sample has."""

    before: Integers
    numbers: Integers
    after: Integers

    @property
    def all(self) -> bool:
        return len(self.numbers) == int(self.before.sum())

    def rows(self, samples: HostSamples, name: str) -> HostSamples:
        """What remains of samples that have a row for each box."""
        check_counts(samples, self.before, name)
        return samples if self.all else take_rows(contiguous(samples), self.numbers, self.after)


def check_counts(samples: HostSamples, counts: Integers, name: str) -> None:
    """Refuse samples that do not have a row for each box."""
    shapes = samples.shape_array()
    found = shapes[:, 0] if samples.ndim else np.zeros(len(samples), np.int64)
    if samples.ndim == 0 or not np.array_equal(found, counts):
        sample = int(np.argmax(found != counts)) if samples.ndim else 0
        reason = (
            f"needs a row of '{name}' for each of its {counts[sample]} boxes; "
            f"got the shape {samples.shape(sample)}"
        )
        raise SampleError(sample, reason)


def _owners(counts: Integers) -> Integers:
    return np.repeat(np.arange(len(counts)), counts)


def _sample_of(counts: Integers, row: int) -> int:
    return int(np.searchsorted(np.cumsum(counts), row, side="right"))


class Mover:
    """Applies a geometry to the parts of the scenes of a batch."""

    def __init__(self, geometry: Geometry, sizes: Integers, source: Rules, target: Rules) -> None:
        # (width, height) before and after, (1 or N, 2).
        self.inside = sizes[:, ::-1].astype(np.float64)
        self.outside = geometry.sizes[:, ::-1].astype(np.float64)
        self.image_sizes = sizes
        self.geometry = geometry
        self.source = source
        self.target = target

    def boxes(self, samples: HostSamples, chosen: HostSamples | None) -> tuple[HostSamples, Kept]:
        """The boxes that remain, by visibility or because their numbers are `chosen`."""
        counts = _check_boxes(samples)
        rows = rows_of(cast_samples(samples, float32), 4)
        owner = _owners(counts)
        corners = to_corners(rows, self.source, pick(self.inside, owner))
        _check_corners(corners, rows, counts)
        if chosen is not None:
            after = row_counts(chosen, 1)
            first = np.cumsum(counts) - counts
            kept = Kept(counts, rows_of(chosen, 1)[:, 0] + np.repeat(first, after), after)
            corners, owner = corners[kept.numbers], owner[kept.numbers]
            moved, _ = self._moved(corners, owner)
        else:
            moved, visible = self._moved(corners, owner)
            if not visible.all():
                moved, owner = moved[visible], owner[visible]
            after = np.bincount(owner, minlength=len(counts)).astype(np.int64)
            kept = Kept(counts, np.flatnonzero(visible), after)
        out = empty_rows(float32.code, kept.after, (4,))
        if len(moved):
            rows_of(out, 4)[...] = from_corners(moved, self.target, pick(self.outside, owner))
        return out, kept

    def _moved(self, corners: Coordinates, owner: Integers) -> tuple[Coordinates, NDArray[Any]]:
        """Where boxes are, and which of them can be seen."""
        moved = self.geometry.bound(corners, owner)
        limits = pick(self.outside, owner)
        limits = np.concatenate([limits, limits], axis=1)
        inside = np.clip(moved, 0, limits)
        with np.errstate(invalid="ignore", divide="ignore"):
            extents = inside[:, 2:] - inside[:, :2]
            whole = (moved[:, 2:] - moved[:, :2]).prod(axis=1)
            share = extents.prod(axis=1) / whole
            visible = (extents > 0).all(axis=1) & (share >= self.target.min_visibility)
            visible &= (extents >= self.target.min_size).all(axis=1)
        return (inside if self.target.clip else moved), visible

    def masks(self, samples: HostSamples, kept: Kept | None) -> HostSamples:
        """Masks: (height, width), also with channels, or a stack of one for each box."""
        samples = contiguous(samples)
        layout = samples.layout or {2: "HW", 3: "NHW"}.get(samples.ndim, "")
        if layout not in ("HW", "HWC") and (len(layout) != 3 or layout[1:] != "HW"):
            msg = (
                "masks must be (height, width), (height, width, channels) with the layout 'HWC', "
                f"or (boxes, height, width); got {samples.ndim} axes and the layout "
                f"{samples.layout!r}."
            )
            raise ValueError(msg)
        self._check_masks(samples, layout)
        count = len(samples)
        if layout[:2] == "HW":
            pixels = _as_pixels(samples)
            result = self.geometry.take(pixels, np.arange(count), self.target.mask_fill)
            if layout == "HWC":
                return result.with_layout(samples.layout)
            return result.reshape(np.ascontiguousarray(result.shape_array()[:, :2]), samples.layout)
        planes = np.ascontiguousarray(samples.shape_array()[:, 0])
        if layout != "CHW" and kept is not None:
            check_counts(samples, kept.before, "masks")
            return self._planes(samples, kept)
        return self._planes(samples, Kept(planes, np.arange(planes.sum()), planes))

    def _check_masks(self, samples: HostSamples, layout: str) -> None:
        shapes = samples.shape_array()[:, [layout.index("H"), layout.index("W")]]
        wrong = (shapes != self.image_sizes).any(axis=1)
        if layout not in ("HW", "HWC"):
            # Without boxes there are no masks, whatever their size.
            wrong &= samples.shape_array()[:, 0] > 0
        if wrong.any():
            sample = int(np.argmax(wrong))
            height, width = np.broadcast_to(self.image_sizes, shapes.shape)[sample].tolist()
            reason = (
                f"has an image of {height}x{width} pixels, but masks of the shape "
                f"{samples.shape(sample)}. Masks with channels need the layout 'HWC'"
            )
            raise SampleError(sample, reason)

    def _planes(self, samples: HostSamples, kept: Kept) -> HostSamples:
        """A plane (height, width) for each number that is kept."""
        sizes = np.broadcast_to(self.geometry.sizes, (len(samples), 2))
        shapes = np.ascontiguousarray(np.column_stack([kept.after, sizes]))
        out = _kernels.empty(samples.type_id, shapes, samples.layout, len(samples))
        if len(kept.numbers) == 0 or out.volume == 0:
            return out
        planes = samples.unfold()
        if not kept.all:
            planes = planes.select(kept.numbers.tolist())
        pixels = _as_pixels(planes)
        moved = self.geometry.take(pixels, _owners(kept.after), self.target.mask_fill)
        planes = moved if moved.packed else moved.copy()
        planes = planes.reshape(np.ascontiguousarray(planes.shape_array()[:, :2]), "")
        return planes.fold(kept.after.tolist(), samples.layout).reshape(shapes, samples.layout)

    def points(
        self, samples: HostSamples, visible: HostSamples | None, kept: Kept | None
    ) -> tuple[HostSamples, HostSamples]:
        """Points, and which of them are in the image; those of boxes follow these."""
        width = _check_points(samples)
        if samples.ndim == 3 and kept is not None:
            samples = kept.rows(samples, "keypoints")
            visible = None if visible is None else kept.rows(visible, "visible")
        samples = contiguous(samples)
        counts = row_counts(samples, width)
        owner = _owners(counts)
        rows = rows_of(cast_samples(samples, float64), width).copy()
        positions = rows[:, :2]
        if self.source.relative:
            positions = positions * pick(self.inside, owner)
        moved = self.geometry.move(positions, owner)
        limits = pick(self.outside, owner)
        with np.errstate(invalid="ignore"):
            inside = ((moved >= 0) & (moved <= limits)).all(axis=1)
        if visible is not None:
            inside &= rows_of(contiguous(visible), 1)[:, 0]
        if width == 3:
            inside &= rows[:, 2] > 0
            rows[~inside, 2] = 0
        if self.target.relative:
            moved = moved / np.maximum(limits, 1)
        rows[:, :2] = moved
        out = samples.empty_like(float32.code)
        shapes = np.ascontiguousarray(samples.shape_array()[:, :-1])
        flags = _kernels.empty(bool_.code, shapes, "", len(samples))
        if len(rows):
            rows_of(out, width)[...] = rows
            rows_of(flags, 1)[:, 0] = inside
        return out, flags


def _check_boxes(samples: HostSamples) -> Integers:
    shapes = samples.shape_array()
    good = (shapes[:, -1] == 4) if samples.ndim == 2 else np.zeros(len(shapes), np.bool_)
    good |= shapes.prod(axis=1) == 0
    if not good.all():
        sample = int(np.argmin(good))
        reason = f"needs boxes of the shape (boxes, 4); got {samples.shape(sample)}"
        raise SampleError(sample, reason)
    counts: Integers = shapes.prod(axis=1) // 4
    return counts


def _check_corners(corners: Coordinates, rows: NDArray[Any], counts: Integers) -> None:
    """Refuse boxes that are none."""
    good = np.isfinite(corners).all(axis=1)
    with np.errstate(invalid="ignore"):
        good &= (corners[:, 2:] >= corners[:, :2]).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        sample = _sample_of(counts, row)
        reason = (
            f"has a box that is not finite or ends before it begins: {rows[row].tolist()}. Say "
            "what its numbers are with 'box_format'"
        )
        raise SampleError(sample, reason)


def _check_points(samples: HostSamples) -> int:
    """The numbers of a point."""
    shapes = samples.shape_array()
    filled = shapes[shapes.prod(axis=1) > 0]
    width = int((filled if len(filled) else shapes)[0, -1]) if len(shapes) and samples.ndim else 2
    if samples.ndim not in (2, 3) or width not in (2, 3) or (filled[:, -1] != width).any():
        msg = (
            "keypoints must have the shape (points, 2), (points, 3) or (boxes, points, 2 or 3); "
            f"got {samples.shapes}."
        )
        raise ValueError(msg)
    return width


def _as_pixels(samples: HostSamples) -> HostSamples:
    """(height, width) with an axis of channels."""
    shapes = samples.shape_array()
    if samples.ndim == 2:
        shapes = np.concatenate([shapes, np.ones((len(shapes), 1), np.int64)], axis=1)
    return samples.reshape(np.ascontiguousarray(shapes), "HWC")


def has_stacks(masks: HostSamples) -> bool:
    """Whether there is a mask for each box."""
    return masks.ndim == 3 and masks.layout not in ("HWC", "CHW")


def move_all(mover: Mover, roles: Sequence[Role], parts: Parts) -> Parts:
    """All parts that geometry concerns, as a mover leaves them."""
    found: Parts = {}
    kept: Kept | None = None
    if "boxes" in parts:
        found["boxes"], kept = mover.boxes(parts["boxes"], parts.get("chosen"))
    for role in roles:
        if role.per_box and kept is not None:
            found[role.name] = kept.rows(parts[role.name], role.name)
    if "masks" in parts:
        found["masks"] = mover.masks(parts["masks"], kept)
    if "keypoints" in parts:
        points = mover.points(parts["keypoints"], parts.get("visible"), kept)
        found["keypoints"], found["visible"] = points
    return found
