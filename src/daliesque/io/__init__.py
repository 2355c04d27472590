# SPDX-License-Identifier: Apache-2.0
"""Input and output."""

from . import file

__all__ = ["file"]
