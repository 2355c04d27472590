# SPDX-License-Identifier: Apache-2.0
"""Making index files."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from . import mxnet, tfrecord, webdataset
from .sources.discovery import PathLike


def tfrecord2idx(path: PathLike, index_path: PathLike | None = None) -> Path:
    """Write the index of a TFRecord file, for `index_path` of `readers.TFRecord`.

    Parameters
    ----------
    path
        The TFRecord file.
    index_path
        Where the index goes; by default beside the file, with the ending ".idx".
    """
    return _write(path, index_path, tfrecord.index_text(os.fspath(path)))


def wds2idx(path: PathLike, index_path: PathLike | None = None) -> Path:
    """Write the index of a tar archive, for `index_paths` of `readers.Webdataset`.

    Parameters
    ----------
    path
        The archive.
    index_path
        Where the index goes; by default beside the archive, with the ending ".idx".
    """
    return _write(path, index_path, webdataset.index_text(os.fspath(path)))


def rec2idx(path: PathLike, index_path: PathLike | None = None) -> Path:
    """Write the index of a RecordIO file, for `index_path` of `readers.MXNet`.

    Parameters
    ----------
    path
        The RecordIO file.
    index_path
        Where the index goes; by default beside the file, with the ending ".idx".
    """
    return _write(path, index_path, mxnet.index_text(os.fspath(path)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the indices of TFRecord files, RecordIO files and tar archives, beside them.

    Parameters
    ----------
    arguments
        What would stand on the command line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m daliesque.index",
        description="Write the indices of TFRecord files, RecordIO files and tar archives.",
    )
    parser.add_argument("files", nargs="+", type=Path, help=ENDINGS)
    for path in parser.parse_args(arguments).files:
        write_index(path)


# How the kinds of files are distinguished.
ENDINGS = "archives must end in .tar, and RecordIO files in .rec"


def write_index(path: Path) -> Path:
    """Write the index of a file, whose ending says what it is, beside it."""
    return {".tar": wds2idx, ".rec": rec2idx}.get(path.suffix, tfrecord2idx)(path)


def _write(path: PathLike, index_path: PathLike | None, text: bytes) -> Path:
    target = Path(path).with_suffix(".idx") if index_path is None else Path(index_path)
    target.write_bytes(text)
    return target
