# SPDX-License-Identifier: Apache-2.0
"""What readers of records in files have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ... import _kernels
from ..._engine.errors import OpError
from ..core.base import Reader
from ..core.epoch import Delivered
from ..core.names import Names
from ..core.order import Numbers
from ..core.source import Fetched
from .archives import Archives, Locations

# Offsets and sizes of no records.
NOTHING: tuple[Numbers, Numbers] = (np.empty(0, np.int64), np.empty(0, np.int64))


class RecordReader(Reader[Delivered]):
    """Base of readers whose samples are pieces of a few large files.

    A subclass sets `_archives` in its constructor, and overrides `_find_records` and `_parse`.
    """

    _permutes_list: ClassVar[bool] = False
    _samples_together: ClassVar[int] = 1024
    _archives: Archives
    _locations: Locations

    def _find_records(self, file: int) -> tuple[Numbers, Numbers]:
        """Offsets and sizes of the records of a file. Raises OSError, OpError or ValueError."""
        raise NotImplementedError

    def _parse(
        self, records: _kernels.Samples
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        """The outputs for some records, and by index why some of them cannot be used."""
        raise NotImplementedError

    def _read(
        self, files: Numbers, offsets: Numbers, sizes: Numbers
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        """The outputs for the records at some offsets, and by index why some cannot be used."""
        records, errors = self._archives.read(files, offsets, sizes)
        read = [index for index in range(len(files)) if index not in errors]
        outputs, faults = self._parse(records.select(read) if errors else records)
        if errors:
            # Any sample may stand for records that were not read.
            rows = np.zeros(len(files), np.int64)
            rows[read] = np.arange(len(read))
            outputs = [output.select(rows.tolist()) for output in outputs] if read else []
            errors |= {read[index]: error for index, error in faults.items()}
            return outputs, errors
        return outputs, faults

    def open_index(self) -> int:
        parts = []
        for file in range(len(self._archives)):
            try:
                parts.append(self._find_records(file))
            except (OSError, OpError, ValueError) as error:
                self.leave_out(self._archives[file], error)
                parts.append(NOTHING)
        self._locations = self._make_locations(parts)
        return len(self._locations)

    def _make_locations(self, parts: Sequence[tuple[Numbers, Numbers]]) -> Locations:
        return Locations(self._archives.paths, parts)

    def _groups(self) -> Numbers:
        return self._locations.ends

    def fetch(self, numbers: Numbers) -> Fetched:
        locations = self._locations
        outputs, errors = self._read(
            locations.files(numbers), locations.offsets[numbers], locations.sizes[numbers]
        )
        if not errors:
            return Fetched(tuple(outputs), {})
        good = [index for index in range(len(numbers)) if index not in errors]
        chosen = tuple(output.select(good) for output in outputs) if good else ()
        return Fetched(chosen, dict(sorted(errors.items())))

    def source_name(self, number: int) -> str:
        return self._locations.names([number])[0]

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        return [Names(self._locations.names, numbers)] * outputs
