# SPDX-License-Identifier: Apache-2.0
"""Files."""

from .._ops.files import read
from .._public import publish as _publish

__all__ = ["read"]

_publish(globals())
