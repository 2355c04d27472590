# SPDX-License-Identifier: Apache-2.0
"""Files are read as by the reference."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.oracle import reference

pytestmark = pytest.mark.oracle


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


def test_io_file_read(tmp_path: Path) -> None:
    root = make_files(tmp_path, NAMES)
    paths = [str(root / name) for name in NAMES]
    codes = [np.frombuffer(os.fsencode(path), np.uint8) for path in paths]
    for arguments in ({}, {"dont_use_mmap": True}):
        ours = ndd.io.file.read(ndd.batch(codes), **arguments)
        theirs = reference.io.file.read(reference.batch(codes), **arguments)
        assert list(map(value, ours.tensors)) == list(map(value, theirs.tensors))
        for code in (codes[3], codes[3].view(np.int8)):
            assert value(ndd.io.file.read(code, **arguments)) == value(
                reference.io.file.read(code, **arguments)
            )
    for bad in (codes[0].astype(np.int32), np.frombuffer(b"/no/such/file", np.uint8)):
        with pytest.raises(RuntimeError):
            reference.io.file.read(bad).evaluate()
        with pytest.raises((ValueError, FileNotFoundError), match=r"io\.file\.read"):
            ndd.io.file.read(bad).evaluate()
