# SPDX-License-Identifier: Apache-2.0
"""Write the indices of TFRecord files and tar archives, beside them."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..index import tfrecord2idx, wds2idx


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("files", nargs="+", type=Path, help="archives must end in .tar")


def run(options: argparse.Namespace) -> int:
    """Write the indices and return the exit code."""
    for path in options.files:
        (wds2idx if path.suffix == ".tar" else tfrecord2idx)(path)
    return 0
