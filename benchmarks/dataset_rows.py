# SPDX-License-Identifier: Apache-2.0
"""Rows of the readers' benchmark that make their own data."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np


def folder() -> str:
    """An empty folder that vanishes with the process."""
    path = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, path)
    return path


def arrays(count: int, shape: tuple[int, ...], order: Any = "C") -> str:
    """A folder of arrays."""
    root = folder()
    for index in range(count):
        array = np.full(shape, index, np.float32)
        np.save(f"{root}/{index:05d}.npy", np.array(array, order=order))
    return root


# Name: how to make the reader, and the batch size.
ROWS: dict[str, tuple[Callable[[Any, str], Any], int | None]] = {
    "Numpy": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(512, (224, 224, 3))), 64),
    "Numpy small": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(4096, (512,))), 64),
    "Numpy samples": (lambda ndd, _: ndd.readers.Numpy(file_root=arrays(4096, (512,))), None),
    "Numpy headers": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(4096, (512,)), cache_header_information=True
        ),
        64,
    ),
    "Numpy Fortran": (
        lambda ndd, _: ndd.readers.Numpy(file_root=arrays(256, (224, 224, 3), "F")),
        64,
    ),
    "Numpy region": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(128, (512, 512, 3)),
            roi_start=[100, 100],
            roi_shape=[224, 224],
            roi_axes=[0, 1],
        ),
        64,
    ),
    "Numpy padded": (
        lambda ndd, _: ndd.readers.Numpy(
            file_root=arrays(256, (200, 200, 3)),
            roi_shape=[224, 224],
            roi_axes=[0, 1],
            out_of_bounds_policy="pad",
        ),
        64,
    ),
}
