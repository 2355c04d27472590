# SPDX-License-Identifier: Apache-2.0
"""RecordIO files of MXNet."""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Unpack

import numpy as np

from .. import _kernels
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.errors import OpError, same_class
from .core.options import ReaderOptions
from .core.order import Numbers
from .sources.archives import Archives
from .sources.discovery import PathLike, list_paths
from .sources.records import RecordReader

_FAULTS = {
    _kernels.RecordFault.too_short: "the record is too short for the header of an image",
    _kernels.RecordFault.cut_short: "the record is cut short",
    _kernels.RecordFault.bad_magic: "the record does not begin with the magic number of RecordIO",
    _kernels.RecordFault.wrong_size: "the record is too short for its labels",
}


class MXNet(RecordReader[tuple[Batch, Batch]]):
    """Read images and labels from RecordIO files, as MXNet's `im2rec` makes them.

    The first output is the encoded image (1-D, uint8), the second its labels (1-D, float32). The
    `source` of both names the file and the offset of the record.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        The RecordIO files (.rec).
    index_path
        The index file (.idx): the number and the offset of a record in each line. If there are
        several files, the offsets go on from one to the next.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.
        `random_shuffle` draws from the next `initial_fill` records, `shuffle_after_epoch` permutes
        the files.

    Examples
    --------
    >>> import pathlib, struct, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> image = struct.pack("<IfQQ", 0, 7.0, 0, 0) + b"JPEG"  # one label: 7
    >>> record = struct.pack("<II", 0xCED7230A, len(image)) + image
    >>> _ = (folder / "data.rec").write_bytes(record)
    >>> _ = (folder / "data.idx").write_text("0 0")
    >>> reader = ndd.readers.MXNet(path=folder / "data.rec", index_path=folder / "data.idx")
    >>> for image, label in reader.next_epoch():
    ...     print(bytes(np.asarray(image)), label.item())
    b'JPEG' 7.0

    Differs from DALI: `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "readers.MXNet"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike | Sequence[PathLike],
        index_path: PathLike | Sequence[PathLike],
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._archives = Archives(
            list_paths(self.operator, "path", path),
            joined=True,
            may_map=not options.get("dont_use_mmap"),
        )
        self._index = Archives(list_paths(self.operator, "index_path", index_path))
        if len(self._index) != 1:
            msg = (
                f"{self.operator}: 'index_path' must be one file, whatever the number of files in "
                f"'path'; got {len(self._index)}."
            )
            raise ValueError(msg)
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        sizes = []
        for file in range(len(self._archives)):
            try:
                sizes.append(self._archives.native.size(file))
            except OSError as error:
                # Without its size nobody knows where the records of the others are.
                msg = f'{self.operator}: cannot read "{self._archives[file]}": {error.strerror}.'
                raise same_class(error, msg) from error
        ends: Numbers = np.cumsum(sizes, dtype=np.int64)
        begins = self._read_index(int(ends[-1]))
        lengths = np.diff(begins, append=ends[-1])
        # Records that are listed twice, or empty, do not count.
        begins, lengths = begins[lengths > 0], lengths[lengths > 0]
        files = np.searchsorted(ends, begins, side="right")
        offsets = begins - (ends - sizes)[files]
        cuts = np.searchsorted(files, np.arange(1, len(sizes)))
        parts = zip(np.split(offsets, cuts), np.split(lengths, cuts), strict=True)
        self._locations = self._make_locations(list(parts))
        return len(self._locations)

    def _read_index(self, total: int) -> Numbers:
        """Where records begin, in the order of the files."""
        path = self._index[0]
        try:
            _, begins = self._index.read_number_pairs(0)
        except (OSError, ValueError) as error:
            self.leave_out(path, error)
            return np.empty(0, np.int64)
        begins = np.sort(begins)
        outside = begins[(begins < 0) | (begins >= total)]
        if len(outside):
            reason = f"it lists a record at byte {outside[0]}, but there are {total} bytes"
            self.leave_out(path, OpError(reason))
            begins = begins[(begins >= 0) & (begins < total)]
        return begins

    def _parse(
        self, records: _kernels.Samples
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        outputs, errors = _kernels.parse_recordio(records)
        return outputs, {error.index: OpError(_FAULTS[error.fault]) for error in errors}


# Every part of a record begins with this number; then come a mark of which part it is, and its
# length. A record that contains the number is cut into several parts.
_MAGIC = 0xCED7230A
_LENGTH_BITS = 29
_WHOLE, _FIRST = 0, 1


def index_text(path: str) -> bytes:
    """The index of a RecordIO file: the number of each record and where it begins."""
    lines: list[str] = []
    with Path(path).open("rb") as file:
        position, size = 0, os.fstat(file.fileno()).st_size
        while position < size:
            magic, word = struct.unpack("<II", file.read(8).ljust(8, b"\0"))
            length = word & ((1 << _LENGTH_BITS) - 1)
            following = position + 8 + -(-length // 4) * 4
            if magic != _MAGIC or following > size:
                msg = f'"{path}" is no RecordIO file, or damaged: no record at byte {position}'
                raise OpError(msg)
            if word >> _LENGTH_BITS in (_WHOLE, _FIRST):
                lines.append(f"{len(lines)}\t{position}\n")
            position = file.seek(following)
    return "".join(lines).encode()
