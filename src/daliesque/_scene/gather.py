# SPDX-License-Identifier: Apache-2.0
"""Scenes that are put together from several ones of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.samples import HostSamples
from .._ops.mixing import mosaic_plan
from .._shapes.windows import Border, Integers, Windows
from .call import Call
from .formats import Rules
from .geometry import Geometry, Windowed
from .moves import Mover, Parts, Role, has_stacks, move_all


class Gathered(NamedTuple):
    """What becomes of the parts of N results, each of which is made of `group` samples."""

    # Of N * group samples, those of the first result first, on the canvas of their result.
    geometry: Geometry
    # Their numbers in the batch.
    members: Integers
    # Which part of the canvas shows each, (N, group, 4): top, left, height and width.
    regions: Integers

    def move(
        self,
        sizes: Integers,
        rules: tuple[Rules, Rules],
        roles: Sequence[Role],
        parts: Parts,
    ) -> Parts:
        """The parts of the results."""
        numbers = self.members.tolist()
        chosen = {name: part.select(numbers) for name, part in parts.items()}
        before = np.broadcast_to(sizes, (len(self.regions), 2))[self.members]
        found = move_all(Mover(self.geometry, before, *rules), roles, chosen)
        for name, part in found.items():
            if name == "masks" and not has_stacks(part):
                found[name] = self._composed(part)
            else:
                found[name] = merged(part, self.regions.shape[1])
        return found

    def _composed(self, masks: HostSamples) -> HostSamples:
        """Masks of pixels, each region from the sample that is shown there."""
        group = self.regions.shape[1]
        made = masks.select(list(range(0, len(masks), group))).copy()
        axis = 1 if masks.layout == "CHW" else 0
        for number, regions in enumerate(self.regions.tolist()):
            target = to_numpy(made, number)
            for member, (top, left, height, width) in enumerate(regions):
                where = np.s_[top : top + height, left : left + width]
                region = (slice(None),) * axis + where
                target[region] = to_numpy(masks, number * group + member)[region]
        return made


def merged(samples: HostSamples, group: int) -> HostSamples:
    """The rows of each `group` of samples as those of one."""
    shapes = samples.shape_array()
    merged = shapes[::group].copy()
    merged[:, 0] = shapes[:, 0].reshape(-1, group).sum(axis=1)
    made = _kernels.empty(samples.type_id, merged, samples.layout, len(merged))
    if made.volume:
        packed = samples if samples.packed else samples.copy()
        to_numpy(made.flat_view())[...] = to_numpy(packed.flat_view())
    return made


def mosaic(call: Call) -> Gathered:
    """Four images around a point."""
    names = ("rng", "size", "centers", "partners")
    plan = mosaic_plan(call.all_sizes, *(call[name] for name in names))
    begin, extent, target = (plan.patches[..., column : column + 2] for column in (1, 3, 5))
    windows = Windows((begin - target).reshape(-1, 2), np.repeat(plan.canvas, 4, axis=0))
    regions = np.concatenate([target, extent], axis=2)
    return Gathered(Windowed(windows, [0, 1], Border.constant), plan.members.reshape(-1), regions)
