# SPDX-License-Identifier: Apache-2.0
"""Write the indices of TFRecord files, RecordIO files and tar archives, beside them.

The commands `tfrecord2idx`, `rec2idx` and `wds2idx` take a file and its index, as the commands of
the reference do.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from .._readers.index_files import ENDINGS, rec2idx, tfrecord2idx, wds2idx, write_index
from .progress import Progress


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("files", nargs="+", type=Path, help=ENDINGS)


def run(options: argparse.Namespace) -> int:
    """Write the indices and return the exit code."""
    with Progress("files", len(options.files)) as progress:
        for path in options.files:
            write_index(path)
            progress.advance()
    return 0


def tfrecord2idx_command() -> None:
    """The command `tfrecord2idx`."""
    _run_for_one(tfrecord2idx, "tfrecord", "a TFRecord file")


def rec2idx_command() -> None:
    """The command `rec2idx`."""
    _run_for_one(rec2idx, "record", "a RecordIO file")


def wds2idx_command() -> None:
    """The command `wds2idx`."""
    _run_for_one(wds2idx, "archive", "a tar archive")


def _run_for_one(write: Callable[..., Path], name: str, what: str) -> None:
    parser = argparse.ArgumentParser(description=f"Write the index of {what}.")
    parser.add_argument(name, type=Path, help=what)
    parser.add_argument("index", type=Path, nargs="?", help="by default beside the file, .idx")
    options = parser.parse_args()
    write(getattr(options, name), options.index)
