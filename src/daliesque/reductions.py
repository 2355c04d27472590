# SPDX-License-Identifier: Apache-2.0
"""Sums, means, extremes and deviations along axes."""

from ._ops.reduce import max, mean, mean_square, min, rms, std_dev, sum, variance

__all__ = ["max", "mean", "mean_square", "min", "rms", "std_dev", "sum", "variance"]
