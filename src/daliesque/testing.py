# SPDX-License-Identifier: Apache-2.0
"""Checks for tests of programs that use the library."""

from ._loops.resuming import assert_resumes
from ._public import publish as _publish

__all__ = ["assert_resumes"]

_publish(globals())
