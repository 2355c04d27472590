# SPDX-License-Identifier: Apache-2.0
"""Files are read as by the reference."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import daliesque as ndd
from support.named_files import NAMES, make_files, value
from support.oracle import reference

pytestmark = pytest.mark.oracle


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
