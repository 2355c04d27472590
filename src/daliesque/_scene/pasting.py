# SPDX-License-Identifier: Apache-2.0
"""Scenes over which the objects of other ones are pasted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import contiguous, to_numpy
from .._engine.dtype import uint8
from .._engine.samples import HostSamples
from .._ops.mixing import partner_numbers
from .._shapes.rows import rows_of
from .._shapes.windows import Integers
from .call import Call
from .formats import Rules
from .gather import merged
from .geometry import Still
from .moves import Kept, Mover, Parts, Role, has_stacks, move_all

Plane = NDArray[np.bool_]


class Pasted(NamedTuple):
    """What becomes of parts if the objects of another sample are pasted over each sample."""

    # Whose objects each sample gets.
    partners: Integers
    # Where the objects of each sample are, (height, width).
    covers: HostSamples

    def move(
        self, sizes: Integers, rules: tuple[Rules, Rules], roles: Sequence[Role], parts: Parts
    ) -> Parts:
        """The parts of the results: what is left of the own ones, then those of the partner."""
        source, target = rules
        pixels = target._replace(box_format="ltrb", relative=False)
        whole = np.broadcast_to(sizes, (len(self.partners), 2))
        clean = move_all(Mover(Still(whole), whole, source, pixels), roles, parts)
        covers = [to_numpy(self.covers, partner) != 0 for partner in self.partners.tolist()]
        others = {name: part.select(self.partners.tolist()) for name, part in clean.items()}
        own = self._behind(clean, covers, roles, target.min_visibility)
        if "keypoints" in own and own["keypoints"].ndim == 2:
            others["visible"] = _seen(others, covers, inside=True)
        both = {name: _interleaved(part, others[name]) for name, part in own.items()}
        if "masks" in own and not has_stacks(own["masks"]):
            both["masks"] = _overlaid(own["masks"], others["masks"], covers)
        return move_all(Mover(Still(whole), whole, pixels, target), roles, both)

    def _behind(
        self, parts: Parts, covers: list[Plane], roles: Sequence[Role], least: float
    ) -> Parts:
        """What is left of parts behind objects."""
        found = dict(parts)
        if "keypoints" in parts:
            found["visible"] = _seen(parts, covers, inside=False)
        if not has_stacks(parts["masks"]):
            return found
        masks = contiguous(parts["masks"]).copy()
        kept, boxes = [], []
        for number, cover in enumerate(covers):
            planes = to_numpy(masks, number)
            old = np.count_nonzero(planes, axis=(1, 2))
            planes[:, cover] = 0
            new = np.count_nonzero(planes, axis=(1, 2))
            kept.append((old == 0) | ((new > 0) & (new >= least * old)))
            boxes += [
                _outline(plane) if was > left > 0 else None
                for plane, was, left in zip(planes, old, new, strict=True)
            ]
        found["masks"] = masks
        if "boxes" not in parts:
            return found
        found["boxes"] = _cut(parts["boxes"], boxes)
        chosen = np.concatenate([np.zeros(0, np.bool_), *kept])
        before = parts["boxes"].shape_array()[:, 0]
        after = np.array([np.count_nonzero(flags) for flags in kept], np.int64)
        rest = Kept(before, np.flatnonzero(chosen), after)
        names = ["boxes", "masks", *(role.name for role in roles if role.per_box)]
        if "keypoints" in parts and parts["keypoints"].ndim == 3:
            names += ["keypoints", "visible"]
        return found | {name: rest.rows(found[name], name) for name in names}


def _outline(plane: NDArray[Any]) -> list[int]:
    """The box around what is not 0."""
    rows, columns = np.flatnonzero(plane.any(axis=1)), np.flatnonzero(plane.any(axis=0))
    return [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]


def _cut(samples: HostSamples, outlines: list[list[int] | None]) -> HostSamples:
    """Boxes within the outlines of what is left of their objects."""
    made = samples.copy()
    rows = rows_of(made, 4)
    for row, outline in zip(rows, outlines, strict=True):
        if outline is not None:
            row[:2] = np.maximum(row[:2], outline[:2])
            row[2:] = np.minimum(row[2:], outline[2:])
    return made


def _seen(parts: Parts, covers: list[Plane], *, inside: bool) -> HostSamples:
    """Which points are visible and inside of covers, or outside of them."""
    made = parts["visible"].copy()
    for number, cover in enumerate(covers):
        points = to_numpy(contiguous(parts["keypoints"]), number)[..., :2]
        last = np.array(cover.shape)[::-1] - 1
        x, y = np.moveaxis(np.clip(np.nan_to_num(np.floor(points)), 0, last).astype(int), -1, 0)
        flags = to_numpy(made, number)
        flags &= cover[y, x] == inside
    return made


def _interleaved(own: HostSamples, others: HostSamples) -> HostSamples:
    """The rows of each sample and after them those of its partner."""
    count = len(own)
    order = [
        number
        for pair in zip(range(count), range(count, 2 * count), strict=True)
        for number in pair
    ]
    return merged(_kernels.join([own, others]).select(order), 2)


def _overlaid(own: HostSamples, others: HostSamples, covers: list[Plane]) -> HostSamples:
    """Masks of pixels, those of partners where their objects are."""
    made = contiguous(own).copy()
    for number, cover in enumerate(covers):
        where = (slice(None), cover) if own.layout == "CHW" else (cover,)
        to_numpy(made, number)[where] = to_numpy(contiguous(others), number)[where]
    return made


def copy_paste(call: Call) -> Pasted:
    """The objects of another image of the batch."""
    covers = call.others[0]
    assert covers is not None
    return Pasted(partner_numbers(call["partners"], len(call.image)), covers)


def covers_of(masks: HostSamples) -> HostSamples:
    """Where the objects of samples are, by masks of any kind."""
    layout = masks.layout or {2: "HW", 3: "NHW"}.get(masks.ndim, "")
    axes = [layout.find("H"), layout.find("W")]
    if -1 in axes or masks.ndim not in (2, 3):
        msg = f"masks must have 2 or 3 axes, with a height and a width; got {masks.ndim}."
        raise ValueError(msg)
    shapes = np.ascontiguousarray(masks.shape_array()[:, axes])
    made = _kernels.empty(uint8.code, shapes, "HW", len(masks))
    for number in range(len(masks)):
        values = to_numpy(masks, number) != 0
        other = 0 if axes[0] else 2
        to_numpy(made, number)[...] = values if masks.ndim == 2 else values.any(axis=other)
    return made
