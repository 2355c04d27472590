# SPDX-License-Identifier: Apache-2.0
"""Segmentation masks: random pixels and objects, selection of polygons."""

from ._ops.masks import random_mask_pixel, random_object_bbox, select_masks

__all__ = ["random_mask_pixel", "random_object_bbox", "select_masks"]
