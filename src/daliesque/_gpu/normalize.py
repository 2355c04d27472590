# SPDX-License-Identifier: Apache-2.0
"""Normalized samples on accelerators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .gather import Window, in_order, ragged_axes, windows_of
from .groups import Group, index_tensor
from .numbers import constants, double, from_float, to_float
from .placement import on_device
from .ragged import Rows, elementwise
from .samples import DeviceSamples


def normalize(
    samples: DeviceSamples,
    type_id: int,
    means: Any,
    factors: Any,
    reduced: list[bool],
    batch: bool,
    ddof: int,
    epsilon: float,
    scale: float,
    shift: float,
) -> DeviceSamples:
    """(samples - mean) * factor + shift; what is None is computed."""
    axes = tuple(axis for axis, gone in enumerate(reduced, 1) if gone)
    given = [None if part is None else on_device(part) for part in (means, factors)]
    if samples.volume == 0:
        return samples.empty_like(type_id)
    if not _goes_together(samples, axes, given):
        options = (reduced, batch, ddof, epsilon, scale, shift)

        def run(part: DeviceSamples, means: Any, factors: Any) -> DeviceSamples:
            return normalize(part, type_id, means, factors, *options)

        made = _shape_by_shape(samples, given, run)
        made.type_id = type_id
        return made
    statistics = _Statistics(samples, axes, batch, ddof, epsilon, scale)
    mean = statistics.mean() if given[0] is None else _table(given[0])
    factor = statistics.factor(mean) if given[1] is None else _table(given[1])
    # How many of the last axes means and factors have.
    inner = max((_inner_axes(table) for table in (mean, factor)), default=0)

    def normalized(rows: Rows) -> torch.Tensor:
        own = [
            rows.spread_tensor(table.reshape(len(table), *table.shape[table.ndim - inner :]))
            for table in (mean, factor)
        ]
        values = to_float(rows.data, samples.type_id)
        return from_float((values - own[0]) * own[1] + shift, type_id)

    return elementwise(samples, normalized, inner, type_id=type_id)


def _shape_by_shape(
    samples: DeviceSamples, given: list[DeviceSamples | None], run: Callable[..., DeviceSamples]
) -> DeviceSamples:
    """What a function makes of each group of samples, with the means and factors given for them."""
    groups = []
    for indices, _ in samples.groups:
        chosen = indices.tolist()
        parts = [part if part is None or len(part) == 1 else part.select(chosen) for part in given]
        groups.append(Group(indices, run(samples.select(chosen), *parts).dense()))
    return samples.made(groups)


def _goes_together(samples: DeviceSamples, axes: tuple[int, ...], given: list[Any]) -> bool:
    """Whether means and factors have one shape, so that all samples are processed at once."""
    if samples.uniform:
        return True
    first, last = ragged_axes(samples)
    computed = all(axis + 1 in axes for axis in range(first, last))
    return all(computed if part is None else part.uniform for part in given)


def _table(given: DeviceSamples) -> torch.Tensor:
    """Means or factors, a row for each sample or one for all."""
    return given.dense().to(torch.float32)


def _inner_axes(table: torch.Tensor) -> int:
    """How many axes are left without those of extent 1 in front."""
    wide = [axis for axis, extent in enumerate(table.shape) if axis and extent != 1]
    return table.ndim - wide[0] if wide else 0


class _Statistics:
    """Means and scaling factors along axes, of each sample or of all together."""

    def __init__(
        self,
        samples: DeviceSamples,
        axes: tuple[int, ...],
        batch: bool,
        ddof: int,
        epsilon: float,
        scale: float,
    ) -> None:
        self.samples = samples
        self.axes = axes
        self.batch = batch
        self.ddof = ddof
        self.epsilon = epsilon
        self.scale = scale
        shapes = samples.shape_array()
        counts = np.prod([shapes[:, axis - 1] for axis in axes], axis=0, dtype=np.int64)
        self.counts = np.broadcast_to(counts, (len(shapes),))
        self._windows: list[Window] | None = None

    def _summed(self, center: torch.Tensor | None) -> torch.Tensor:
        """Sums of values, or of squared distances from a center, along the axes."""
        if self._windows is None:
            kind = double()
            self._windows = [
                part._replace(data=to_float(part.data, self.samples.type_id, kind))
                for part in windows_of(self.samples)
            ]
        parts = []
        for indices, values, inside in self._windows:
            if center is not None:
                own = center
                if len(center) > 1 and not np.array_equal(indices, np.arange(len(center))):
                    own = center.index_select(0, index_tensor(indices, center.device))
                deviations = values - own
                values = deviations * deviations
            if inside is not None:
                values = torch.where(inside, values, torch.zeros_like(values[:1, :1]))
            parts.append((indices, values.sum(self.axes, keepdim=True) if self.axes else values))
        total = in_order(self.samples, parts)
        return total.sum(0, keepdim=True) if self.batch else total

    def _divided(self, total: torch.Tensor, less: int) -> torch.Tensor:
        """Sums divided by the numbers of values, less degrees of freedom; 0 where none are left."""
        counts = (self.counts.sum(keepdims=True) if self.batch else self.counts) - less
        if (counts == counts[0]).all():
            return total / int(counts[0]) if counts[0] > 0 else torch.zeros_like(total)
        (moved,) = constants(total, counts.astype(np.float64))
        divisor = moved.reshape(-1, *(1,) * (total.ndim - 1))
        if (counts > 0).all():
            return total / divisor
        return torch.where(divisor > 0, total / divisor, torch.zeros_like(total))

    def mean(self) -> torch.Tensor:
        """The means."""
        return self._divided(self._summed(None), 0).to(torch.float32)

    def factor(self, mean: torch.Tensor) -> torch.Tensor:
        """What the samples are multiplied with."""
        variance = self._divided(self._summed(mean), self.ddof)
        root = (variance + self.epsilon).sqrt()
        factor = torch.where(root > 0, self.scale / root, torch.zeros_like(root))
        return factor.to(torch.float32)
