# SPDX-License-Identifier: Apache-2.0
"""Readers of files without labels: how the files are found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

from ..._engine.args import rule_of
from ..._engine.device import DeviceLike
from ..._engine.errors import same_class
from ..core.base import Reader
from ..core.epoch import Delivered
from ..core.names import Names as NamesOnDemand
from ..core.options import ReaderOptions
from .discovery import NameList, Names, PathLike, Paths, list_paths, list_tree, read_names
from .storage import is_below, outside_error


class ListedFiles(Reader[Delivered]):
    """Base of readers whose samples are files in a folder, in a list or given by name.

    A subclass may override `_search` and `_describe_search` to look for files in another way, and
    `_parse_list` if lists hold more than names.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    file_root
        The folder to search, or to which names in `file_list` or `files` are relative.
    file_list
        A text file with one file name in each line, relative to `file_root`, or else to the folder
        of the list.
    files
        The names of the files.
    file_filter
        A pattern that the names of files in `file_root` and its sub-folders must match.
    **options
        The arguments that all readers have; see `Reader`.
    """

    _samples_together: ClassVar[int] = 1024
    _default_filter: ClassVar[str] = "*"

    def __init__(
        self,
        batch_size: int | None,
        name: str | None,
        device: DeviceLike | None,
        file_root: PathLike | None,
        file_list: PathLike | None,
        files: PathLike | Sequence[PathLike] | None,
        file_filter: str | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        super().__init__(batch_size, name, device, **options)
        self._file_root = None if file_root is None else os.fspath(file_root)
        self._file_list = None if file_list is None else os.fspath(file_list)
        self._files = None if files is None else list_paths(self.operator, "files", files)
        if self._file_root is None and self._file_list is None and self._files is None:
            msg = f"{self.operator}: there is nothing to read. Give 'file_root' or 'files'."
            raise ValueError(msg)
        if self._file_list is not None and self._files is not None:
            msg = f"{self.operator}: 'files' and 'file_list' exclude each other."
            raise ValueError(msg)
        # A long list of names shall not stay in memory only because it was given.
        self._names_are_argument = files is not None and self._arguments[1].get("files") is files
        if self._names_are_argument:
            del self._arguments[1]["files"]
        self._file_filter: str = rule_of(str).convert(
            self._default_filter if file_filter is None else file_filter,
            f"{self.operator}: 'file_filter'",
        )

    def _search(self, root: str) -> list[str]:
        """The names of the files in a folder. Raises OSError."""
        return list_tree(root, self._file_filter, self._note_unreadable_folder)

    def _describe_search(self, root: str) -> str:
        """What to say after "No files found" where there are none."""
        return (
            f"that match {self._file_filter} in \"{root}\" and its sub-folders. Check 'file_root' "
            "and 'file_filter'."
        )

    def _parse_list(self, path: str) -> NameList:
        """What a list says. Raises OSError or ValueError."""
        return read_names(path)

    def open_index(self) -> int:
        root = self._file_root or ""
        names: Names | list[str]
        if self._files is not None:
            names, self._files = self._files, None
        elif self._file_list is not None:
            root = root or os.path.dirname(self._file_list)
            names = self._without_outside(self._read_list(self._file_list), root)
        else:
            names = self._discover(root)
        self._paths = Paths(names, root)
        return len(names)

    def _without_outside(self, listed: NameList, root: str) -> Names | list[str]:
        """The names in a list that do not lead out of the folder, unless that is allowed."""
        names = listed.names
        if listed.is_plain or self._settings["allow_outside"]:
            return names
        below = [is_below(root, name) for name in names]
        if all(below):
            return names
        for name, good in zip(names, below, strict=True):
            if not good:
                self.leave_out(name, outside_error(root))
        self._keep(below)
        return [name for name, good in zip(names, below, strict=True) if good]

    def _keep(self, chosen: Sequence[bool]) -> None:
        """Forget what `_parse_list` found out about names that are not chosen."""

    def _remembered_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super()._remembered_arguments()
        if self._names_are_argument:
            names = list(self._paths) if self._files is None else self._files
            kwargs = {**kwargs, "files": names}
        return args, kwargs

    def _read_list(self, path: str) -> NameList:
        try:
            listed = self._parse_list(path)
        except ValueError as error:
            msg = f"{self.operator}: {error}"
            raise ValueError(msg) from None
        except OSError as error:
            msg = f"{self.operator}: cannot read 'file_list' \"{path}\": {error.strerror}."
            raise same_class(error, msg) from error
        if not listed.names:
            msg = f'{self.operator}: No files found: the list "{path}" is empty.'
            raise ValueError(msg)
        return listed

    def _discover(self, root: str) -> list[str]:
        try:
            names = self._search(root)
        except OSError as error:
            msg = f'{self.operator}: cannot list the folder "{error.filename}": {error.strerror}.'
            raise same_class(error, msg) from error
        if not names:
            msg = f"{self.operator}: No files found {self._describe_search(root)}"
            raise ValueError(msg)
        return names

    def _note_unreadable_folder(self, error: OSError) -> None:
        self._bad_samples.leave_out(str(error.filename), error)

    def source_name(self, number: int) -> str:
        return self._paths[number]

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        if type(self).source_name is not ListedFiles.source_name:
            return super()._sources(numbers, outputs)
        return (NamesOnDemand(self._paths.names.chosen, numbers),) * outputs

    def _full_name(self, number: int) -> str:
        return self._paths.full(number)
