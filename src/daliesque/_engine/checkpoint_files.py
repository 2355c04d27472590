# SPDX-License-Identifier: Apache-2.0
"""Numbered files that are there completely or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import string
from collections.abc import Iterator

_BASES = {"b": 2, "o": 8, "x": 16, "X": 16}


class NumberedFiles:
    """The files that a pattern such as "state_{seq:04d}.json" stands for.

    Parameters
    ----------
    pattern
        A format string with the one field `seq`.
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        try:
            parts = list(string.Formatter().parse(pattern))
        except ValueError as error:
            msg = f"Checkpoint: 'filename' must be a format string; got {pattern!r}: {error}."
            raise ValueError(msg) from None
        fields = [(name, spec) for _, name, spec, _ in parts if name is not None]
        if len(fields) != 1 or fields[0][0] != "seq":
            msg = (
                "Checkpoint: 'filename' must have the field {seq}, once, and no other; got "
                f"{pattern!r}. Write for example 'state_{{seq:04d}}.json'."
            )
            raise ValueError(msg)
        self._base = _BASES.get((fields[0][1] or "d")[-1], 10)
        expression, wildcard = "", ""
        for literal, name, _, _ in parts:
            expression += re.escape(literal)
            wildcard += glob.escape(literal)
            if name is not None:
                expression += r"\s*([0-9a-fA-F]+)"
                wildcard += "*"
        self._expression = re.compile(expression, re.DOTALL)
        self._wildcard = wildcard

    def path(self, number: int) -> str:
        """The file with a number."""
        return self._pattern.format(seq=number)

    def _existing(self) -> Iterator[tuple[int, str]]:
        for path in glob.iglob(self._wildcard):
            match = self._expression.fullmatch(path)
            if match is not None:
                with contextlib.suppress(ValueError):
                    yield int(match[1], self._base), path

    def last(self) -> tuple[int, str] | None:
        """The highest number of a file that exists, and its path."""
        return max(self._existing(), default=None)

    def add(self, number: int, text: str) -> int:
        """Write a new file with this number, or the next one that is free; return the number.

        The file appears in one step and with its contents on the disk: a process that is killed,
        or a machine that loses power, leaves it out or leaves it complete.
        """
        while True:
            while os.path.lexists(path := self.path(number)):
                number += 1
            folder = os.path.dirname(path) or os.curdir
            os.makedirs(folder, exist_ok=True)
            if _write_new(folder, path, text):
                return number
            number += 1


def _write_new(folder: str, path: str, text: str) -> bool:
    """Write a file that must not exist; False if another process has just made it."""
    temporary = os.path.join(folder, f".{os.urandom(16).hex()}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if not _rename_new(temporary, path):
            return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    _sync_folder(folder)
    return True


def _rename_new(temporary: str, path: str) -> bool:
    """Give a file its name; False if there is one of that name."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:
        # Not all file systems have links. This would replace a file made in this very moment.
        os.replace(temporary, path)
    return True


def _sync_folder(folder: str) -> None:
    """Let the names in a folder reach the disk, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
