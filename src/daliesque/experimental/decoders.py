# SPDX-License-Identifier: Apache-2.0
"""Old names of the image decoders."""

from .._ops.image_decoders import image, image_crop, image_random_crop, image_slice
from .._public import publish as _publish

__all__ = ["image", "image_crop", "image_random_crop", "image_slice"]

_publish(globals())
