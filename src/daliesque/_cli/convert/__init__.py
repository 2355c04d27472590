# SPDX-License-Identifier: Apache-2.0
"""Convert scripts and notebooks of DALI's pipeline mode to plain loops with daliesque.

What cannot be converted stays as it is, below a comment that begins with "# daliesque:" and says
what to do. The exit code is 0 if nothing is left to do, 1 if something is, 2 if a file cannot be
read.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("files", nargs="+", type=Path, help="scripts (.py) or notebooks (.ipynb)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="the file to write, or a folder for several; by default NAME_ndd.py beside the script",
    )
    parser.add_argument("--diff", action="store_true", help="show the changes and write nothing")
    parser.add_argument("--check", action="store_true", help="only report what would be left to do")
    parser.add_argument("-q", "--quiet", action="store_true", help="leave out the summary")


def run(options: argparse.Namespace) -> int:
    """Convert the files and return the exit code."""
    try:
        import libcst  # noqa: F401
    except ImportError:
        msg = "convert needs LibCST: pip install 'daliesque[convert]'"
        raise SystemExit(msg) from None
    from .command import convert_files

    return convert_files(options)
