# SPDX-License-Identifier: Apache-2.0
"""Segmentation masks: random pixels and objects, selection of polygons."""

from ._ops.masks import random_mask_pixel, random_object_bbox, select_masks
from ._public import publish as _publish

__all__ = ["random_mask_pixel", "random_object_bbox", "select_masks"]

_publish(globals())
