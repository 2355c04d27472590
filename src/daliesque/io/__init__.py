# SPDX-License-Identifier: Apache-2.0
"""Input and output."""

from .._public import publish as _publish
from . import file

__all__ = ["file"]

_publish(globals())
