# SPDX-License-Identifier: Apache-2.0
"""Operators that the reference keeps under this name; here they are the same as the others."""

from .._ops.remap import remap, warp_perspective
from .._ops.resize import resize

__all__ = ["remap", "resize", "warp_perspective"]
