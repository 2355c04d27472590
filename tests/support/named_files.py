# SPDX-License-Identifier: Apache-2.0
"""Files that contain their own names, some of which are unusual."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

NAMES = [
    "b/2.jpg",
    "b/10.jpg",
    "b/.hidden.png",
    "b/Ä.jpeg",
    "b/z.JPG",
    "b/notes.txt",
    "b/no extension",
    "B/upper.jpg",
    "a b/with space.png",
    "empty/readme.md",
    "10/x.wav",
    "9/x.flac",
    "ä/x.webp",
    "b/deeper/x.jpg",
    "in_root.jpg",
]


def make_files(root: Path, names: list[str]) -> Path:
    """Files that contain their own names."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return root


def value(tensor: Any) -> Any:
    """Type, layout, shape and contents of one sample."""
    array = np.asarray(tensor.evaluate())
    return str(array.dtype), tensor.layout, array.shape, array.tobytes()
