# SPDX-License-Identifier: Apache-2.0
"""Where pictures are shown: a notebook, the terminal, a viewer."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from PIL import Image

from .terminal import Protocol, encode, find_protocol


def notebook_display() -> Any:
    """The module that writes below the cells of notebooks; it has no types."""
    return importlib.import_module("IPython.display")


def display(picture: Image.Image) -> None:
    """Show a picture where the program runs.

    Raises
    ------
    RuntimeError
        If there is nothing to show it on.
    """
    if in_notebook():
        notebook_display().display(picture)
        return
    if sys.stdout.isatty():
        protocol = find_protocol(os.environ)
        chosen = protocol is not Protocol.blocks or "DALIESQUE_GRAPHICS" in os.environ
        if chosen or not _has_screen():
            columns = _columns()
            sys.stdout.write(encode(picture, protocol, columns))
            sys.stdout.flush()
            return
    if not _has_screen():
        msg = (
            "show: there is neither a notebook, a terminal nor a screen to show a picture on. Give "
            "'save', the name of a file."
        )
        raise RuntimeError(msg)
    picture.show()


def in_notebook() -> bool:
    """Whether the program runs in a notebook's kernel."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _has_screen() -> bool:
    return sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )


def _columns() -> int:
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 80
