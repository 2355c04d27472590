# SPDX-License-Identifier: Apache-2.0
"""Matrices of affine transformations, for warp_affine and coord_transform."""

from ._ops.transforms import combine, crop, rotation, scale, shear, translation
from ._public import publish as _publish

__all__ = ["combine", "crop", "rotation", "scale", "shear", "translation"]

_publish(globals())
