# SPDX-License-Identifier: Apache-2.0
"""Normalized samples on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .groups import Group
from .numbers import double, from_float, to_float
from .placement import on_device
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
    statistics = _Statistics(samples, axes, ddof, epsilon, scale)
    common_mean = common_factor = None
    if batch and means is None and samples.groups:
        common_mean = statistics.common_mean()
    if batch and factors is None and samples.groups:
        center = common_mean
        if center is None:
            center = _parameter(means, samples.groups[0])
        common_factor = statistics.common_factor(center, means)
    groups = []
    for group in samples.groups:
        values = to_float(group.data, samples.type_id)
        if means is not None:
            mean = _parameter(means, group)
        else:
            mean = common_mean if common_mean is not None else statistics.mean(values)
        if factors is not None:
            factor = _parameter(factors, group)
        elif common_factor is not None:
            factor = common_factor
        else:
            factor = statistics.factor(values, mean)
        out = (values - mean.to(values.dtype)) * factor.to(values.dtype) + shift
        groups.append(Group(group.indices, from_float(out, type_id)))
    return samples.made(groups, type_id=type_id)


def _parameter(given: Any, group: Group) -> torch.Tensor:
    """Means or factors for the samples of a group."""
    moved: DeviceSamples = on_device(given)
    return (moved if len(moved) == 1 else moved.select(group.indices.tolist())).dense()


class _Statistics:
    """Means and scaling factors along axes, of each sample or of all together."""

    def __init__(
        self,
        samples: DeviceSamples,
        axes: tuple[int, ...],
        ddof: int,
        epsilon: float,
        scale: float,
    ) -> None:
        self.samples = samples
        self.axes = axes
        self.ddof = ddof
        self.epsilon = epsilon
        self.scale = scale

    def _count(self, data: torch.Tensor) -> int:
        return int(np.prod([data.shape[axis] for axis in self.axes])) if self.axes else 1

    def _sum(self, values: torch.Tensor) -> torch.Tensor:
        return values.sum(self.axes, keepdim=True) if self.axes else values

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """The means of each sample."""
        total = self._sum(values.to(double()))
        return (total / self._count(values)).to(torch.float32)

    def factor(self, values: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        """What the samples are multiplied with."""
        deviations = values.to(double()) - mean
        return self._scaled(self._sum(deviations * deviations), self._count(values))

    def _scaled(self, squares: torch.Tensor, count: int) -> torch.Tensor:
        if count <= self.ddof:
            variance = torch.zeros_like(squares)
        else:
            variance = squares / (count - self.ddof)
        root = (variance + self.epsilon).sqrt()
        factor = torch.where(root > 0, self.scale / root, torch.zeros_like(root))
        return factor.to(torch.float32)

    def _values(self) -> list[tuple[Group, torch.Tensor]]:
        found = []
        for group in self.samples.groups:
            precise = double()
            found.append((group, to_float(group.data, self.samples.type_id, precise)))
        return found

    def common_mean(self) -> torch.Tensor:
        """The means of all samples together."""
        parts = [self._sum(values).sum(0, keepdim=True) for _, values in self._values()]
        count = sum(self._count(data) * len(data) for _, data in self.samples.groups)
        return (torch.stack(parts).sum(0) / count).to(torch.float32)

    def common_factor(self, center: torch.Tensor, means: Any) -> torch.Tensor:
        """What all samples are multiplied with."""
        parts = []
        for group, values in self._values():
            mean = center if means is None else _parameter(means, group)
            deviations = values - mean
            parts.append(self._sum(deviations * deviations).sum(0, keepdim=True))
        count = sum(self._count(data) * len(data) for _, data in self.samples.groups)
        return self._scaled(torch.stack(parts).sum(0), count)
