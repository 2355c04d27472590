# SPDX-License-Identifier: Apache-2.0
"""Sums, means, extremes and deviations along axes."""

from ._ops.reduce import max, mean, mean_square, min, rms, std_dev, sum, variance
from ._public import publish as _publish

__all__ = ["max", "mean", "mean_square", "min", "rms", "std_dev", "sum", "variance"]

_publish(globals())
