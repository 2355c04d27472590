# SPDX-License-Identifier: Apache-2.0
"""Pieces of large files: where they are, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ... import _kernels
from ..._engine.dtype import DType, uint8
from ..core.order import Numbers
from . import discovery
from .storage import RemoteFile


class Archives:
    """Some files of which pieces are read. They are opened when needed; few stay open."""

    def __init__(self, paths: Sequence[str], joined: bool = False, may_map: bool = False) -> None:
        """If the files are `joined`, a piece that goes beyond one's end continues in the next.

        If `may_map`, large pieces of local files that are read again come out of a mapping.
        """
        self.paths = list(paths)
        self.native = _kernels.Archives(
            [os.fsencode(path) for path in paths],
            RemoteFile,
            joined,
            may_map,
            discovery.KEPT_BYTES,
            discovery.LEAST_AGE,
        )

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, file: int) -> str:
        return self.paths[file]

    def require(self, file: int) -> None:
        """Raise OSError unless a file exists, if it is a local one."""
        path = self.paths[file].removeprefix("file://")
        if "://" not in path:
            os.stat(path)

    def read(
        self, files: Numbers, offsets: Numbers, sizes: Numbers, dtype: DType = uint8
    ) -> tuple[_kernels.Samples, dict[int, Exception]]:
        """Pieces of files, one sample each, and by index why some could not be read."""
        return self.native.read(files, offsets, sizes, dtype.code)

    def read_number_pairs(self, file: int) -> tuple[Numbers, Numbers]:
        """The numbers in an index with two in each line. Raises OSError or ValueError."""
        pairs = self.native.read_number_pairs(file)
        if pairs.bad_line:
            msg = (
                f'line {pairs.bad_line} of the index "{self.paths[file]}" must consist of two '
                "numbers."
            )
            raise ValueError(msg)
        return pairs.first, pairs.second


class Locations:
    """Where records are in the files `paths`: `parts` gives offsets and sizes for each."""

    def __init__(self, paths: Sequence[str], parts: Sequence[tuple[Numbers, Numbers]]) -> None:
        self.paths = paths
        self.offsets: Numbers = np.concatenate([offsets for offsets, _ in parts])
        self.sizes: Numbers = np.concatenate([sizes for _, sizes in parts])
        # How many records there are in a file and those before it.
        self.ends: Numbers = np.cumsum([len(offsets) for offsets, _ in parts], dtype=np.int64)

    def __len__(self) -> int:
        return len(self.offsets)

    def files(self, numbers: Numbers) -> Numbers:
        """Which file each of some records is in."""
        return np.searchsorted(self.ends, numbers, side="right")

    def names(self, numbers: Sequence[int]) -> list[str]:
        """File and offset of each of some records."""
        chosen = np.asarray(numbers, np.int64)
        files, offsets = self.files(chosen).tolist(), self.offsets[chosen].tolist()
        return [
            f"{self.paths[file]} at index {offset}"
            for file, offset in zip(files, offsets, strict=True)
        ]
