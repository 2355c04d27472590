# SPDX-License-Identifier: Apache-2.0
"""The header of .npy files. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html"""

from __future__ import annotations

import ast
import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pixels import CodecError

_MAGIC = b"\x93NUMPY"
# No header of an array that we can read is longer.
_MOST_BYTES = 1 << 16


class Header(NamedTuple):
    """What a file says about its array."""

    dtype: np.dtype[np.generic]
    fortran_order: bool
    shape: tuple[int, ...]
    offset: int

    @property
    def nbytes(self) -> int:
        """The size of the array in bytes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(data: NDArray[np.uint8]) -> Header:
    """Read the header of a file."""
    start = data[:12].tobytes()
    if start[:6] != _MAGIC:
        msg = "is not a NumPy file: it does not begin with the letters NUMPY"
        raise CodecError(msg)
    version = start[6:7]
    if version not in (b"\1", b"\2", b"\3"):
        found = version[0] if version else "?"
        msg = f"has the version {found} of the NumPy format; known are 1, 2 and 3"
        raise CodecError(msg)
    # The length of the header has 2 bytes in version 1 and 4 in later ones.
    begin = 10 if version == b"\1" else 12
    length = int.from_bytes(start[8:begin], "little")
    if len(start) < begin or begin + length > data.size:
        msg = f"is cut short: the NumPy file ends after {data.size} bytes, inside the header"
        raise CodecError(msg)
    if length > _MOST_BYTES:
        msg = f"has a header of {length} bytes, which is not that of a plain array"
        raise CodecError(msg)
    return _parse(data[begin : begin + length].tobytes())._replace(offset=begin + length)


@functools.lru_cache(maxsize=1024)
def _parse(text: bytes) -> Header:
    """The header's dictionary; files of a dataset often share it."""
    try:
        fields = ast.literal_eval(text.decode("utf-8").strip())
        descr, fortran, shape = fields["descr"], fields["fortran_order"], fields["shape"]
        dtype = np.dtype(descr)
    except (ValueError, SyntaxError, TypeError, KeyError, MemoryError, RecursionError):
        msg = "is damaged: the header of the NumPy file cannot be read"
        raise CodecError(msg) from None
    good = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    if not good or not isinstance(fortran, bool) or not isinstance(descr, str):
        msg = "does not hold a plain array"
        raise CodecError(msg)
    return Header(dtype, fortran, shape, 0)
