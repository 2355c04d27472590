# SPDX-License-Identifier: Apache-2.0
"""Axes of samples on accelerators in another order."""

from __future__ import annotations

from .gather import windows_of
from .ragged import compacted
from .samples import DeviceSamples


def transpose(samples: DeviceSamples, permutation: list[int], layout: str) -> DeviceSamples:
    """Axes in another order."""
    order = (0, *(axis + 1 for axis in permutation))
    if samples.uniform or samples.volume == 0:
        return samples.mapped(lambda data, _: data.permute(order).contiguous(), layout=layout)
    parts = [(indices, data.permute(order)) for indices, data, _ in windows_of(samples)]
    made = compacted(samples, parts, samples.shape_array()[:, permutation], 0)
    made.layout = layout
    return made
