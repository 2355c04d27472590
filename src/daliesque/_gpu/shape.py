# SPDX-License-Identifier: Apache-2.0
"""Axes of samples on accelerators in another order."""

from __future__ import annotations

from .samples import DeviceSamples


def transpose(samples: DeviceSamples, permutation: list[int], layout: str) -> DeviceSamples:
    """Axes in another order."""
    order = (0, *(axis + 1 for axis in permutation))
    return samples.mapped(lambda data, _: data.permute(order).contiguous(), layout=layout)
