# SPDX-License-Identifier: Apache-2.0
"""Contrast about the mean luminance, on accelerators."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .numbers import column, constant, from_float, to_float
from .samples import DeviceSamples

_LUMINANCE = np.array([0.299, 0.587, 0.114], np.float32)


def mean_contrast(samples: DeviceSamples, factor: NDArray[np.float32]) -> DeviceSamples:
    """center + (value - center) * factor, where center is the mean luminance of an image."""

    def adjusted(data: torch.Tensor, indices: Any) -> torch.Tensor:
        if data.numel() == 0:
            return data
        values = to_float(data, samples.type_id)
        means = values.sum((1, 2)).reshape(len(data), -1) / (data.shape[1] * data.shape[2])
        if means.shape[1] == 3:
            parts = means * constant(_LUMINANCE, data)
            center = (parts[:, 0] + parts[:, 1]) + parts[:, 2]
        else:
            center = means.sum(1) / means.shape[1]
        middle = center.reshape(-1, *(1,) * (data.ndim - 1))
        return from_float(
            middle + (values - middle) * column(factor, indices, data), samples.type_id
        )

    return samples.mapped(adjusted)
