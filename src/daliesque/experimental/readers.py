# SPDX-License-Identifier: Apache-2.0
"""Readers that the reference keeps under this name."""

from .._public import publish as _publish
from .._readers.experimental_video import Video
from .._readers.fits import Fits

__all__ = ["Fits", "Video"]

_publish(globals())
