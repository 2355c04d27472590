# SPDX-License-Identifier: Apache-2.0
"""Files."""

from .._ops.files import read

__all__ = ["read"]
