# SPDX-License-Identifier: Apache-2.0
"""Making index files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from .tfrecord import index_text


def tfrecord2idx(
    path: str | os.PathLike[str], index_path: str | os.PathLike[str] | None = None
) -> Path:
    """Write the index of a TFRecord file, for `index_path` of `readers.TFRecord`.

    Parameters
    ----------
    path
        The TFRecord file.
    index_path
        Where the index goes; by default beside the file, with the ending ".idx".
    """
    target = Path(path).with_suffix(".idx") if index_path is None else Path(index_path)
    target.write_text(index_text(os.fspath(path)))
    return target


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the indices of files.

    Parameters
    ----------
    arguments
        What would stand on the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m daliesque.index", description=main.__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    for path in parser.parse_args(arguments).files:
        tfrecord2idx(path)
