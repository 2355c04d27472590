# SPDX-License-Identifier: Apache-2.0
"""Write a page about a data set of images: thumbnails, labels, boxes, sizes, formats, broken files.

The data set is a folder, a tar archive (WebDataset), a TFRecord file, a Parquet file or a JSON file
in the format of COCO. The page is one HTML file that needs no other.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tarfile
from pathlib import Path

from ..progress import Progress
from .page import make_page
from .sources import open_source
from .survey import Survey


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument(
        "data", type=Path, help="a folder, or a file: .tar, .tfrecord, .parquet, .json"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("view.html"), help="the page")
    parser.add_argument("--images", type=Path, help="COCO: the folder of the images")
    parser.add_argument("--thumbnails", type=int, default=200, help="how many images to show")
    parser.add_argument("--most", type=int, help="look at no more than this many samples")


def run(options: argparse.Namespace) -> int:
    """Write the page; the exit code is 1 if there are broken files, 2 if nothing can be read."""
    survey = Survey(options.thumbnails)
    try:
        entries = open_source(options.data, options.images)
        with Progress("samples") as progress:
            for entry in itertools.islice(entries, options.most):
                survey.add(entry)
                progress.advance()
    except (OSError, ValueError, ImportError, tarfile.TarError) as error:
        sys.stderr.write(f"view: {options.data}: {error}\n")
        return 2
    survey.finish()
    if not survey.count:
        sys.stderr.write(f"view: no images were found in {options.data}\n")
        return 2
    options.output.write_text(make_page(str(options.data), survey), encoding="utf-8")
    sys.stdout.write(
        f"{options.output}: {survey.count} samples, {len(survey.broken)} of them broken\n"
    )
    return 1 if survey.broken else 0
