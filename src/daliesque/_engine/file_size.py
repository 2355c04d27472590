# SPDX-License-Identifier: Apache-2.0
"""How many bytes of a file one sample may take."""

from __future__ import annotations

import errno
import os

from .. import _kernels


def set_max_file_size(nbytes: int) -> int:
    """Limit the bytes that one sample may take from a file, and return the previous limit.

    Whatever the size of a file, or what an index or the header of a record says, no more memory is
    reserved for a sample: a file that is larger, a larger member of an archive, record or array
    raises OSError, and readers with on_error="skip" leave it out. The limit, 4 GB at first, holds
    for all readers, for `io.file.read`, `imread` and files that decoders are given by name. Parts
    of larger arrays, pieces of archives and videos are read as ever. Files that are read as a whole
    from elsewhere (http://, s3://, ...) are looked at after they have arrived.

    Parameters
    ----------
    nbytes
        The new limit, at least 1.

    Examples
    --------
    >>> previous = ndd.readers.set_max_file_size(100_000_000)
    >>> ndd.readers.set_max_file_size(previous)
    100000000
    """
    if not isinstance(nbytes, int) or isinstance(nbytes, bool):
        msg = f"readers.set_max_file_size: 'nbytes' must be an integer; got {nbytes!r}."
        raise TypeError(msg)
    if not 1 <= nbytes < 1 << 63:
        msg = f"readers.set_max_file_size: 'nbytes' must be positive, up to 2^63-1; got {nbytes}."
        raise ValueError(msg)
    previous = _kernels.max_sample_bytes()
    _kernels.set_max_sample_bytes(nbytes)
    return previous


def check_file_size(path: str, nbytes: int) -> None:
    """Raise OSError if so many bytes of a file are too many for one sample."""
    limit = _kernels.max_sample_bytes()
    if nbytes > limit:
        msg = f"it takes more than the limit of {limit} bytes; readers.set_max_file_size raises it"
        raise OSError(errno.EFBIG, msg, path)


def read_file(path: str | os.PathLike[str], begin: int = 0, count: int | None = None) -> bytes:
    """The bytes of a file, or `count` of them from `begin` on: fewer at its end. Raises OSError."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        left = max(0, size - begin)
        check_file_size(os.fspath(path), left if count is None else min(count, left))
        file.seek(begin)
        return file.read(-1 if count is None else count)
