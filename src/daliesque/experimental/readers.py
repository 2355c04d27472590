# SPDX-License-Identifier: Apache-2.0
"""Readers that the reference keeps under this name."""

from .._readers.experimental_video import Video

__all__ = ["Video"]
