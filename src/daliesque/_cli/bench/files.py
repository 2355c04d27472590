# SPDX-License-Identifier: Apache-2.0
"""The files of a user, as a folder that every contestant can read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ... import batch, decoders
from ..view.sources import image_files

_AT_ONCE = 64


def find_images(root: Path, most: int) -> list[Path]:
    """Image files below a folder; at most so many, at equal distances."""
    if not root.is_dir():
        msg = f"{str(root)!r} is not a folder"
        raise NotADirectoryError(msg)
    images = list(image_files(root))
    step = max(1, -(-len(images) // most))
    return images[::step]


def without_broken(paths: Sequence[Path], advance: Callable[[int], Any]) -> list[Path]:
    """The files that can be decoded: no contestant is to end because of the others."""
    good: list[Path] = []
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        good += some if _decodes(some) else [path for path in some if _decodes([path])]
        advance(len(some))
    return good


def _decodes(paths: Sequence[Path]) -> bool:
    try:
        files = [np.frombuffer(path.read_bytes(), np.uint8) for path in paths]
        decoders.image(batch(files)).evaluate()
    except (OSError, ValueError, RuntimeError):
        return False
    return True


def link_images(paths: Sequence[Path], folder: Path, least: int) -> int:
    """Fill a folder with links to files, in folders as classes are; returns how many there are.

    If there are fewer than `least`, files occur several times.
    """
    repeated = itertools.islice(itertools.cycle(paths), max(len(paths), least))
    count = 0
    for count, path in enumerate(repeated, 1):
        label = folder / f"class{count % 10}"
        label.mkdir(exist_ok=True)
        (label / f"{count:07d}{path.suffix.lower()}").symlink_to(path.resolve())
    return count
