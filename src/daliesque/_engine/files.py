# SPDX-License-Identifier: Apache-2.0
"""Contents of files as inputs: bytes, names, open files, and lists of them."""

from __future__ import annotations

import os
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .batch import Batch
from .convert import is_array, to_batch_samples, to_samples
from .file_size import read_file
from .tensor import Tensor
from .value import Value

# The contents of one file, and of several.
FileLike: TypeAlias = (
    NDArray[Any] | bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO
)
Files: TypeAlias = list[Any] | tuple[Any, ...]


def open_files(value: Any, where: str) -> Any:
    """A Tensor for the contents of a file, a Batch for a list of them; else the value itself."""
    if isinstance(value, list | tuple) and value and all(map(_is_file, value)):
        contents = [_contents(item, where) for item in value]
        source = tuple(map(_name, value))
        known = source if any(source) else None
        return Batch._of(to_batch_samples(contents, None, None, where), known)
    if isinstance(value, list | tuple) or not _is_file(value) or is_array(value):
        return value
    name = _name(value)
    samples = to_samples(_contents(value, where), None, None, where)
    return Tensor._of(samples, None if name is None else (name,))


def _is_file(value: Any) -> bool:
    if isinstance(value, Value | str | bytes | bytearray | memoryview | os.PathLike):
        return True
    return hasattr(value, "read") or is_array(value)


def _name(value: Any) -> str | None:
    """Where contents come from, if that is known."""
    if isinstance(value, Tensor):
        return None if value.source is None else str(value.source)
    if isinstance(value, str | os.PathLike):
        return str(value)
    name = getattr(value, "name", None)
    return name if isinstance(name, str) else None


def _contents(value: Any, where: str) -> Any:
    if isinstance(value, str | os.PathLike):
        value = read_file(value)
    elif isinstance(value, Tensor):
        return value._data()
    elif is_array(value):
        return value
    elif hasattr(value, "read"):
        value = value.read()
        if not isinstance(value, bytes | bytearray | memoryview):
            msg = f"{where}: the file must be opened in binary mode ('rb')."
            raise TypeError(msg)
    return np.frombuffer(value, np.uint8)
