# SPDX-License-Identifier: Apache-2.0
"""Pieces of large files: where they are, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ... import _kernels
from ..._engine.dtype import DType, uint8
from ..._engine.errors import OpError
from ..core.order import Numbers
from . import discovery
from .storage import RemoteFile

# A number of a fault, the line or byte where it is, and the output concerned.
ComponentFault = tuple[int, int, int]
# A place in a request, a number of a fault, and two more that depend on it.
RecordFault = tuple[int, int, int, int]

# What the native functions report besides the system's own codes.
_ENDS_EARLY, _NOT_A_FILE, _OTHER_FAILURE = -1, -2, -3


class Archives:
    """Some files of which pieces are read. They are opened when needed; few stay open."""

    def __init__(self, paths: Sequence[str], joined: bool = False, may_map: bool = False) -> None:
        """If the files are `joined`, a piece that goes beyond one's end continues in the next.

        If `may_map`, large pieces of local files that are read again come out of a mapping.
        """
        self.paths = list(paths)
        self._native = _kernels.Archives(
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
        """Pieces of files, one sample each, and by place why some could not be read."""
        pieces, failed = self._native.read(files, offsets, sizes, dtype.code)
        return pieces, self._failures(failed)

    def read_examples(
        self, parser: _kernels.ExampleParser, files: Numbers, offsets: Numbers, sizes: Numbers
    ) -> tuple[list[_kernels.Samples], dict[int, Exception], list[RecordFault]]:
        """The features of records; why some could not be read; what is wrong with others."""
        outputs, failed, faults = parser.read(self._native, files, offsets, sizes)
        return outputs, self._failures(failed), faults

    def read_samples(
        self, index: _kernels.ComponentIndex, numbers: Numbers
    ) -> tuple[list[_kernels.Samples], dict[int, Exception]]:
        """The outputs for samples of tar archives, and by place why some could not be read."""
        outputs, failed = index.read(self._native, numbers)
        return outputs, self._failures(failed)

    def _failures(self, failed: list[tuple[int, int, int, int, str]]) -> dict[int, Exception]:
        return {
            place: self._failure(file, offset, code, reason)
            for place, file, offset, code, reason in failed
        }

    def read_number_pairs(self, file: int) -> tuple[Numbers, Numbers]:
        """The numbers in an index with two in each line. Raises OSError or ValueError."""
        first, second, bad_line, (code, reason) = self._native.read_number_pairs(file)
        self.check(file, code, reason)
        if bad_line:
            msg = f'line {bad_line} of the index "{self.paths[file]}" must consist of two numbers.'
            raise ValueError(msg)
        return first, second

    def add_samples(self, index: _kernels.ComponentIndex, file: int) -> list[ComponentFault]:
        """Add the samples of a tar archive; what is wrong with them. Raises OSError."""
        faults, (code, reason) = index.add_tar(self._native, file)
        self.check(file, code, reason)
        return faults

    def add_listed_samples(self, index: _kernels.ComponentIndex, file: int) -> list[ComponentFault]:
        """Add the samples that the index of a tar archive lists. Raises OSError."""
        faults, (code, reason) = index.add_index(self._native, file)
        self.check(file, code, reason)
        return faults

    def size(self, file: int) -> int:
        """The bytes of a file. Raises OSError."""
        size, (code, reason) = self._native.size(file)
        self.check(file, code, reason)
        return size

    def index_lmdb(self, file: int) -> tuple[Numbers, Numbers, Numbers, bytes, int, int]:
        """Offsets, sizes, ends of keys and keys of a database; what ended them, and where."""
        offsets, sizes, key_ends, keys, fault, page, (code, reason) = self._native.index_lmdb(file)
        self.check(file, code, reason)
        return offsets, sizes, key_ends, keys, fault, page

    def index_tfrecord(self, file: int) -> tuple[Numbers, Numbers, int, int]:
        """Offsets and sizes of the records; what ended them too early, and where."""
        offsets, sizes, fault, place, (code, reason) = self._native.index_tfrecord(file)
        self.check(file, code, reason)
        return offsets, sizes, fault, place

    def make_tar_index(self, file: int, with_names: bool) -> tuple[bytes, int, int, bool, bool]:
        """The text of a tar archive's index; a fault and its place; blanks in extensions, names."""
        text, fault, where, blank_extension, blank_name, (code, reason) = (
            self._native.make_tar_index(file, with_names)
        )
        self.check(file, code, reason)
        return text, fault, where, blank_extension, blank_name

    def check(self, file: int, code: int, reason: str) -> None:
        """Raise what a code and reason of a native function stand for, unless all is well."""
        if code != 0:
            raise self._failure(file, 0, code, reason)

    def _failure(self, file: int, offset: int, code: int, reason: str) -> Exception:
        if code == _ENDS_EARLY:
            return OpError(f"the file ends before the piece at byte {offset} is complete")
        if code == _OTHER_FAILURE:
            return OSError(reason)
        text = "it is not a regular file" if code == _NOT_A_FILE else os.strerror(code)
        return OSError(code, text, self.paths[file])


class Places:
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
