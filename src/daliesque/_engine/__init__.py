# SPDX-License-Identifier: Apache-2.0
"""The engine: values, operators, and when and where calls run. See README.md here."""

from .. import _kernels

if not _kernels.is_main_interpreter():
    # NumPy and the native core keep state for the whole process.
    msg = "daliesque cannot be imported in a subinterpreter. Import it in the main interpreter."
    raise ImportError(msg)
