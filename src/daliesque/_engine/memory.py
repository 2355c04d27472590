# SPDX-License-Identifier: Apache-2.0
"""What the buffer pool holds."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _kernels


@dataclass(frozen=True)
class MemoryInfo:
    """The state of the buffer pool, in bytes and buffers.

    Buffers under 4 kB come from the system's allocator and are not counted.
    """

    used_bytes: int
    used_buffers: int
    cached_bytes: int
    cached_buffers: int
    peak_bytes: int
    limit_bytes: int

    def __str__(self) -> str:
        return (
            f"{self.used_bytes / 1e6:.1f} MB in {self.used_buffers} buffers in use, "
            f"{self.cached_bytes / 1e6:.1f} MB in {self.cached_buffers} kept for reuse "
            f"(at most {self.limit_bytes / 1e6:.0f} MB), peak {self.peak_bytes / 1e6:.1f} MB"
        )


def memory(*, limit: int | None = None, release: bool = False) -> MemoryInfo:
    """Return how much memory the buffer pool holds.

    Buffers of results that nobody refers to any more are kept for reuse, up to a limit.

    Parameters
    ----------
    limit
        Set how many bytes may be kept for reuse.
    release
        Give everything that is kept for reuse back to the system.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.memory(release=True).cached_bytes
    0
    """
    if limit is not None:
        if limit < 0:
            msg = f"memory: 'limit' must not be negative; got {limit}."
            raise ValueError(msg)
        _kernels.set_memory_limit(limit)
    if release:
        _kernels.release_memory()
    return MemoryInfo(**_kernels.memory_info())
