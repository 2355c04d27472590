# SPDX-License-Identifier: Apache-2.0
"""Finding files: in folders, by patterns, and in lists."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._engine.convert import to_batch_samples
from ..._engine.samples import host
from ..core.order import Numbers
from ..core.source import Fetched
from .storage import is_url, join, list_folder, read, read_all

PathLike = str | os.PathLike[str]

# Files stay in memory if all of them together take no more bytes than this, ...
KEPT_BYTES = 1 << 26
# ... and they have been as they are for so many seconds: longer than any system's clock ticks.
LEAST_AGE = 2.0


class Names:
    """Names of files: one string of bytes, however many they are."""

    def __init__(self, joined: bytes, ends: Numbers) -> None:
        self.joined = joined
        self.ends = ends

    @classmethod
    def of(cls, names: Sequence[str]) -> Names:
        """Names that are strings."""
        encoded = [os.fsencode(name) for name in names]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(b"".join(encoded), np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> str:
        begin = self.ends[number - 1] if number else 0
        return os.fsdecode(self.joined[begin : self.ends[number]])

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    def chosen(self, numbers: Sequence[int]) -> list[str]:
        """Some of the names."""
        return _kernels.chosen_names(self.joined, self.ends, np.array(numbers, np.int64))


class NameList(NamedTuple):
    """What a text file lists.

    `is_plain`: no name is absolute, a URL or has "..".
    """

    names: Names
    labels: NDArray[np.int32]
    is_plain: bool


class Paths:
    """Files in a folder."""

    def __init__(self, names: Names | Sequence[str], folder: str) -> None:
        self.names = names if isinstance(names, Names) else Names.of(names)
        self._folder = folder
        self.remote = is_url(folder) or (b"://" in self.names.joined and any(map(is_url, names)))
        self._cache = _kernels.FileCache(KEPT_BYTES, LEAST_AGE)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, number: int) -> str:
        return self.names[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def full(self, number: int) -> str:
        """The path of a file."""
        return join(self._folder, self[number])

    def chosen(self, numbers: Numbers) -> tuple[bytes, Numbers, Numbers, bytes]:
        """Some of the files, as native functions want them."""
        return self.names.joined, self.names.ends, numbers, os.fsencode(self._folder)

    def read(self, numbers: Numbers) -> Fetched:
        """The contents of files, as the only output."""
        if self.remote:
            return self._read_remote(numbers)
        contents, errors = _kernels.read_listed_files(*self.chosen(numbers), self._cache)
        if not errors:
            return Fetched((contents,), {})
        good = [index for index in range(len(numbers)) if index not in errors]
        return Fetched((contents.select(good),) if good else (), errors)

    def _read_remote(self, numbers: Numbers) -> Fetched:
        found = read_all([self.full(number) for number in numbers.tolist()])
        errors = {k: part for k, part in enumerate(found) if isinstance(part, Exception)}
        good = [np.frombuffer(part, np.uint8) for part in found if isinstance(part, bytes)]
        if not good:
            return Fetched((), errors)
        return Fetched((host(to_batch_samples(good, None, None, "readers")).as_internal(),), errors)


def list_paths(operator: str, name: str, paths: PathLike | Sequence[PathLike]) -> list[str]:
    """An argument that is one path or several, as a list."""
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    try:
        listed = [os.fspath(path) for path in given]
    except TypeError:
        msg = f"{operator}: '{name}' must be a path or a list of paths; got {paths!r:.60}."
        raise TypeError(msg) from None
    if not listed:
        msg = f"{operator}: '{name}' must not be empty."
        raise ValueError(msg)
    return listed


def list_files(
    folder: str,
    patterns: Sequence[str],
    case_sensitive: bool,
) -> list[str]:
    """The names of the files in a folder that match one of the patterns, sorted."""
    matches = _matcher(patterns, case_sensitive)
    files, _ = list_folder(folder)
    return sorted(filter(matches, files), key=os.fsencode)


def list_folders(folder: str, patterns: Sequence[str], case_sensitive: bool) -> list[str]:
    """The names of the folders in a folder that match one of the patterns, sorted."""
    matches = _matcher(patterns, case_sensitive)
    _, folders = list_folder(folder)
    return sorted(filter(matches, folders), key=os.fsencode)


def list_classes(
    root: str,
    file_patterns: Sequence[str],
    folder_patterns: Sequence[str],
    case_sensitive: bool,
    on_unreadable: Callable[[OSError], None],
) -> tuple[list[str], NDArray[np.int32], list[str]]:
    """Files in the sub-folders of `root`, for each the number of its folder, and the folders.

    The names begin with that of the folder. Folders that cannot be read are reported and left out.
    """
    names: list[list[str]] = []
    folders = list_folders(root, folder_patterns, case_sensitive)
    for folder in folders:
        try:
            files = list_files(join(root, folder), file_patterns, case_sensitive)
        except OSError as error:
            on_unreadable(error)
            files = []
        names.append([f"{folder}/{name}" for name in files])
    labels = np.repeat(np.arange(len(names), dtype=np.int32), [len(part) for part in names])
    return list(itertools.chain.from_iterable(names)), labels, folders


def list_tree(root: str, pattern: str, on_unreadable: Callable[[OSError], None]) -> list[str]:
    """Files in `root` (their names begin with "./") and then in its sub-folders."""
    names = [f"./{name}" for name in list_files(root, [pattern], True)]
    in_folders, _, _ = list_classes(root, [pattern], [], True, on_unreadable)
    return names + in_folders


def read_names(path: str) -> NameList:
    """The names in a text file that has one in each line."""
    joined, ends, labels, is_plain, _ = _kernels.parse_name_list(read(path), has_labels=False)
    return NameList(Names(joined, ends), labels, is_plain)


def read_list(path: str) -> NameList:
    """The names and labels in a text file that has one of each in a line."""
    text = read(path)
    joined, ends, labels, is_plain, bad_line = _kernels.parse_name_list(text, has_labels=True)
    if bad_line:
        line = text.split(b"\n", bad_line)[bad_line - 1].decode(errors="replace").strip()
        msg = (
            f'line {bad_line} of the list "{path}" must be a file name, a space and a label '
            f"(an integer from 0 to 2147483647); got {line!r}."
        )
        raise ValueError(msg)
    return NameList(Names(joined, ends), labels, is_plain)


def _matcher(patterns: Iterable[str], case_sensitive: bool) -> Callable[[str], object]:
    """A function that says whether a name matches one of some glob patterns, or there is none."""
    parts = [_to_expression(pattern) for pattern in patterns]
    if not parts:
        return lambda _name: True
    flags = re.DOTALL | (re.NOFLAG if case_sensitive else re.IGNORECASE)
    return re.compile("|".join(parts), flags).fullmatch


_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "digit": "0-9",
    "lower": "a-z",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


def _to_expression(pattern: str) -> str:
    """A glob pattern as a regular expression, by the rules of POSIX."""
    expression, rest = "", pattern
    while rest:
        character, rest = rest[0], rest[1:]
        if character == "*":
            expression += ".*"
        elif character == "?":
            expression += "."
        elif character == "[" and (bracket := _BRACKET.match(rest)):
            expression += _to_character_set(bracket[1], bracket[2])
            rest = rest[bracket.end() :]
        else:
            if character == "\\" and rest:
                character, rest = rest[0], rest[1:]
            expression += re.escape(character)
    return expression


# After "[": a sign of negation, characters (of which "]" may only be the first), and "]".
_BRACKET = re.compile(r"([!^]?)(\]?(?:\[:[a-z]+:\]|\\.|[^\]\\])*)\]", re.DOTALL)
_ITEM = re.compile(r"\[:([a-z]+):\]|(\\)?(.)", re.DOTALL)


def _to_character_set(negation: str, items: str) -> str:
    inside = ""
    for item in _ITEM.finditer(items):
        name, escaped, character = item.groups()
        if name is not None:
            inside += _CLASSES.get(name, "")
        else:
            inside += "-" if character == "-" and not escaped else re.escape(character)
    try:
        re.compile(f"[{inside}]")
    except re.error:
        # A range the wrong way round matches nothing.
        return r"[^\W\w]" if not negation else "."
    return f"[{'^' if negation else ''}{inside}]"
