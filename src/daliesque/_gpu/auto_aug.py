# SPDX-License-Identifier: Apache-2.0
"""Contrast about the mean luminance, on accelerators."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from .gather import in_order, windows_of
from .numbers import constant, constants, from_float, to_float
from .ragged import Rows, elementwise
from .samples import DeviceSamples

_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


def mean_contrast(samples: DeviceSamples, factor: NDArray[np.float32]) -> DeviceSamples:
    """center + (value - center) * factor, where center is the mean luminance of an image."""

    if samples.volume == 0:
        return samples.copy()
    center = _mean_luminance(samples)

    def adjusted(rows: Rows) -> torch.Tensor:
        (share,) = rows.spread(factor)
        middle = rows.spread_tensor(center)
        values = to_float(rows.data, samples.type_id)
        return from_float(torch.addcmul(middle, values - middle, share), samples.type_id)

    return elementwise(samples, adjusted)


def _mean_luminance(samples: DeviceSamples) -> torch.Tensor:
    """A number for each image."""
    parts = []
    sizes = samples.shape_array()[:, :2].prod(axis=1).astype(np.float32)
    for indices, data, inside in windows_of(samples):
        values = to_float(data, samples.type_id)
        if inside is not None:
            values = torch.where(inside, values, torch.zeros_like(values[:1, :1]))
        (count,) = constants(data, sizes[indices])
        means = values.sum((1, 2)).reshape(len(data), -1) / count[:, None]
        if means.shape[1] == 3:
            weighted = means * constant(_LUMINANCE, data)
            center = (weighted[:, 0] + weighted[:, 1]) + weighted[:, 2]
        else:
            center = means.sum(1) / means.shape[1]
        parts.append((indices, center))
    return in_order(samples, parts)
