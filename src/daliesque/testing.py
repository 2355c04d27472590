# SPDX-License-Identifier: Apache-2.0
"""Checks for tests of programs that use the library."""

from ._loops.resuming import assert_resumes

__all__ = ["assert_resumes"]
