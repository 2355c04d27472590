# SPDX-License-Identifier: Apache-2.0
"""Which videos to read: in folders, in lists with parts of videos, or given by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._engine.args import rule_of
from ..._engine.errors import same_class
from ..core.caller import warn_caller
from .discovery import PathLike, list_files, list_folders, list_paths
from .storage import is_below, outside_error


class VideoEntry(NamedTuple):
    """A video, or a part of it: from `begin` to `end`, where these are given."""

    path: str
    label: int = 0
    begin: float | None = None
    end: float | None = None


class VideoPart(NamedTuple):
    """A part of a video from which clips are taken: frames [first, last)."""

    entry: VideoEntry
    first: int
    last: int
    height: int
    width: int
    frame_count: int


class VideoList:
    """The arguments that say what to read.

    Parameters
    ----------
    operator
        The name of the reader, for messages.
    file_root, filenames, file_list, labels
        As the readers have them.
    """

    def __init__(
        self,
        operator: str,
        file_root: PathLike | None,
        filenames: PathLike | Sequence[PathLike] | None,
        file_list: PathLike | None,
        labels: int | Sequence[int] | NDArray[Any] | None,
    ) -> None:
        self.operator = operator
        self.file_root = "" if file_root is None else os.fspath(file_root)
        self.file_list = "" if file_list is None else os.fspath(file_list)
        # An empty list stands for none, as the default of the reference does.
        if filenames is None or (isinstance(filenames, Sequence) and len(filenames) == 0):
            self.filenames = []
        else:
            self.filenames = list_paths(operator, "filenames", filenames)
        if bool(self.file_root) + bool(self.file_list) + bool(self.filenames) != 1:
            msg = f"{operator}: give exactly one of 'filenames', 'file_root' and 'file_list'."
            raise ValueError(msg)
        where = f"{operator}: 'labels'"
        self.labels: list[int] | None = (
            None if labels is None else rule_of(list[int]).convert(labels, where)
        )
        if self.labels is not None and not self.filenames:
            msg = f"{where} go with 'filenames' only: folders and lists have labels of their own."
            raise ValueError(msg)
        if self.labels and len(self.labels) != len(self.filenames):
            count = len(self.filenames)
            msg = f"{where} needs one for each file; got {len(self.labels)} for {count} files."
            raise ValueError(msg)
        if any(not -(2**31) <= label < 2**31 for label in self.labels or ()):
            msg = f"{where} must fit into 32 bits; got {self.labels}."
            raise ValueError(msg)

    @property
    def has_labels(self) -> bool:
        """Whether samples come with labels."""
        return self.labels is not None or not self.filenames

    def find(
        self, allow_outside: bool, leave_out: Callable[[str, Exception], None]
    ) -> list[VideoEntry]:
        """All videos; those that a list names outside of its folder are left out, or allowed."""
        if self.filenames:
            labels = self.labels or range(len(self.filenames))
            return [VideoEntry(*pair) for pair in zip(self.filenames, labels, strict=True)]
        if self.file_list:
            entries = self._read_list()
            if allow_outside:
                return entries
            root = os.path.dirname(self.file_list)
            outside = [e for e in entries if not is_below(root, os.path.join(os.getcwd(), e.path))]
            for entry in outside:
                leave_out(entry.path, outside_error(root))
            return [entry for entry in entries if entry not in outside] if outside else entries
        return self._discover()

    def _discover(self) -> list[VideoEntry]:
        root = self.file_root
        try:
            entries = [
                VideoEntry(os.path.join(root, folder, name), label)
                for label, folder in enumerate(list_folders(root, (), True))
                for name in list_files(os.path.join(root, folder), (), True)
            ]
        except OSError as error:
            msg = f'{self.operator}: cannot list the folder "{error.filename}": {error.strerror}.'
            raise same_class(error, msg) from error
        if not entries:
            msg = f'{self.operator}: No files found in the sub-folders of "{root}".'
            raise ValueError(msg)
        return sorted(entries, key=lambda entry: os.fsencode(entry.path))

    def _read_list(self) -> list[VideoEntry]:
        path = self.file_list
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                lines = file.read().splitlines()
        except OSError as error:
            msg = f"{self.operator}: cannot read 'file_list' \"{path}\": {error.strerror}."
            raise same_class(error, msg) from error
        entries = [
            entry
            for number, line in enumerate(lines, 1)
            if line.strip() and (entry := self._parse(number, line)) is not None
        ]
        if not entries:
            msg = f'{self.operator}: No files found: the list "{path}" is empty.'
            raise ValueError(msg)
        return entries

    def _parse(self, number: int, line: str) -> VideoEntry | None:
        name, *rest = line.split()
        try:
            label = int(rest[0])
            # The reference reads numbers of 32 bits.
            times = [float(np.float32(text)) for text in rest[1:3]]
        except (ValueError, IndexError):
            label, times = -1, []
        if not 0 <= label < 2**31 or len(rest) > 3 or not np.isfinite(times).all():
            msg = (
                f'{self.operator}: line {number} of the list "{self.file_list}" must be a file '
                f"name, a label (an integer from 0 to 2147483647) and maybe the begin and the end; "
                f"got {line.strip()!r}."
            )
            raise ValueError(msg)
        if len(times) == 2 and times[0] == times[1]:
            msg = (
                f'{self.operator}: line {number} of the list "{self.file_list}" is left out: the '
                f"part of {name!r} from {times[0]:g} to {times[1]:g} is empty."
            )
            warn_caller(msg)
            return None
        if not os.path.isabs(name) and not os.path.exists(name):
            name = os.path.join(os.path.dirname(self.file_list), name)
        return VideoEntry(name, label, *times)
