# SPDX-License-Identifier: Apache-2.0
"""Lets the interpreter and notebooks print errors of this package in their short form.

What does it is imported when there is an error.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


def install() -> None:
    """Take part in the printing of errors; what others have installed still prints."""
    _install_for_scripts()
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None:
        _install_for_notebooks(shell)


def _install_for_scripts() -> None:
    previous = sys.excepthook

    def excepthook(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        try:
            from ._show.tracebacks import print_by

            if print_by(previous, kind, error):
                return
        except Exception:
            # Never in the way of an error: it is printed as always.
            pass
        previous(kind, error, traceback)

    sys.excepthook = excepthook


def _install_for_notebooks(shell: Any) -> None:
    if getattr(shell, "custom_exceptions", ()):
        # Somebody else prints errors, in a way of its own.
        return

    def show(
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        traceback: TracebackType | None,
        tb_offset: int | None = None,
    ) -> None:
        from ._show.tracebacks import has_engine_frames, shortened

        if not has_engine_frames(error):
            shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
            return
        with shortened(error) as short:
            if short is not None and traceback is not None:
                # Without the shell's own frame, the first one is the user's.
                is_shell = short.tb_frame is traceback.tb_frame
                tb_offset = tb_offset if is_shell else 0
            shell.showtraceback((kind, error, short), tb_offset=tb_offset)

    shell.set_custom_exc((Exception,), show)
