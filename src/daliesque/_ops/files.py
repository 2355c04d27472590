# SPDX-License-Identifier: Apache-2.0
"""Files."""

from __future__ import annotations

import os

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import int8, uint8
from .._engine.errors import same_class
from .._engine.metadata import Result
from .._engine.op import HostSamples, op


@op(name="io.file.read", dtypes=(uint8, int8), result=Result(dtype=uint8, ndim=1))
def read(
    filepaths: HostSamples, /, *, dont_use_mmap: bool = False, use_o_direct: bool = False
) -> HostSamples:
    """Read whole files, given by their paths.

    A path is a 1-D array of character codes, such as `np.frombuffer(path.encode(), np.uint8)`. The
    result is the contents of the file: 1-D, uint8.

    Parameters
    ----------
    dont_use_mmap, use_o_direct
        Accepted for compatibility: files are read through the system's cache, not mapped.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"abc")
    ...     file.flush()
    ...     path = np.frombuffer(file.name.encode(), np.uint8)
    ...     ndd.io.file.read(path).torch().tolist()
    [97, 98, 99]
    """
    del dont_use_mmap, use_o_direct
    if filepaths.ndim != 1:
        msg = f"'filepaths' must be 1-D arrays of characters; got {filepaths.ndim} dimensions."
        raise ValueError(msg)
    contents, errors = _kernels.read_named_files(filepaths)
    for index, error in errors.items():
        path = os.fsdecode(to_numpy(filepaths, index).tobytes())
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f'io.file.read: cannot read "{path}" (sample {index}): {reason}.'
        raise same_class(error, msg) from error
    return contents
