# SPDX-License-Identifier: Apache-2.0
"""Print the page about a class of errors: what leads to it, an example, and the fix."""

from __future__ import annotations

import argparse
import builtins
import difflib
import sys
from pathlib import Path

from .._engine.errors import DOCUMENTED, documented

# The pages of `docs/errors`, which are part of the wheel.
_PAGES = Path(__file__).parent / "errors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("error", nargs="?", help="a class, such as DecodeError; all without it")


def run(options: argparse.Namespace) -> int:
    """Print the page, or the list of all; the exit code is 2 if there is none."""
    name = "index" if options.error is None else _find(options.error)
    if name is None:
        close = difflib.get_close_matches(options.error, DOCUMENTED, 1)
        known = f"Did you mean {close[0]}?" if close else f"There are {', '.join(DOCUMENTED)}."
        sys.stderr.write(f"explain: there is no page about {options.error!r}. {known}\n")
        return 2
    text = (_PAGES / f"{name}.md").read_text(encoding="utf-8")
    # What follows the text is for the site.
    sys.stdout.write(text.partition("```{toctree}")[0].rstrip() + "\n")
    return 0


def _find(given: str) -> str | None:
    """The class that is meant: with or without its module, in any case, or one made of it."""
    name = given.rpartition(".")[2]
    for known in DOCUMENTED:
        if known.lower() == name.lower():
            return known
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return documented(kind)
    return None
