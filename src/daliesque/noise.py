# SPDX-License-Identifier: Apache-2.0
"""Operators that put noise on images."""

from ._ops.noise import gaussian, salt_and_pepper, shot
from ._public import publish as _publish

__all__ = ["gaussian", "salt_and_pepper", "shot"]

_publish(globals())
