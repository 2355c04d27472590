# SPDX-License-Identifier: Apache-2.0
"""How much memory the library holds, for whom, and how much it may."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _kernels

# Calls in the queue of a context hold their inputs, and a reader holds what it reads ahead: at most
# so many bytes each, and at most this share of the limit.
_MOST_HELD = 256 << 20
_SHARE_HELD = 8
# Of what this process may use, the library takes this share.
_SHARE = 2


@dataclass(frozen=True)
class MemoryInfo:
    """What is held in buffers, in bytes and numbers of buffers.

    Buffers under 4 kB come from the system's allocator and are not counted.

    `used_bytes` are those of batches and tensors, wherever they are: `read_ahead_bytes` of them
    wait in readers, `file_cache_bytes` are files that readers keep, and `queued_bytes` are inputs
    of calls that have not run. The rest, `held_bytes`, is what the program refers to.
    `cached_bytes` are kept for reuse, at most `limit_bytes`. `peak_bytes` and `peak_buffers` are
    the most that were in use at the same time. `total_limit_bytes` is what `set_memory_limit` set.
    """

    used_bytes: int
    used_buffers: int
    cached_bytes: int
    cached_buffers: int
    peak_bytes: int
    peak_buffers: int
    limit_bytes: int
    queued_bytes: int
    read_ahead_bytes: int
    file_cache_bytes: int
    total_limit_bytes: int

    @property
    def held_bytes(self) -> int:
        """What the program refers to itself, as far as it is known."""
        others = self.read_ahead_bytes + self.file_cache_bytes + self.queued_bytes
        return max(0, self.used_bytes - others)

    def __str__(self) -> str:
        return (
            f"{self.used_bytes / 1e6:.1f} MB in {self.used_buffers} buffers in use "
            f"({self.read_ahead_bytes / 1e6:.1f} read ahead, {self.queued_bytes / 1e6:.1f} in "
            f"queues, {self.file_cache_bytes / 1e6:.1f} in caches), "
            f"{self.cached_bytes / 1e6:.1f} MB in {self.cached_buffers} kept for reuse "
            f"(at most {self.limit_bytes / 1e6:.0f} MB), peak {self.peak_bytes / 1e6:.1f} MB, "
            f"limit {self.total_limit_bytes / 1e6:.0f} MB"
        )


def memory(
    *, limit: int | None = None, release: bool = False, reset_peak: bool = False
) -> MemoryInfo:
    """Return how much memory is held in buffers, and for whom.

    Buffers of results that nobody refers to any more are kept for reuse, up to a limit.

    Parameters
    ----------
    limit
        Set how many bytes may be kept for reuse; see also `set_memory_limit`.
    release
        Give everything that is kept for reuse back to the system.
    reset_peak
        Count the peak from now on.

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
    if reset_peak:
        _kernels.reset_memory_peak()
    return MemoryInfo(
        **_kernels.memory_info(),
        queued_bytes=_kernels.queued_bytes(),
        read_ahead_bytes=_kernels.bytes_ahead(),
        file_cache_bytes=_kernels.file_cache_bytes(),
        total_limit_bytes=_kernels.total_limit(),
    )


def set_memory_limit(bytes: int | None) -> None:
    """Set how much memory buffers, queues and caches may take together.

    What the program holds itself is never refused. As far as that leaves something below the
    limit, buffers are kept for reuse, calls are queued, readers read ahead and keep small files;
    otherwise loops do without, and run to their end, slower.

    Parameters
    ----------
    bytes
        The limit. None restores the default: half of what this process may use, which is the memory
        of the machine or what its control group (its container) is allowed.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_memory_limit(500_000_000)
    >>> ndd.memory().total_limit_bytes
    500000000
    >>> ndd.set_memory_limit(None)
    """
    if bytes is None:
        bytes = _kernels.available_memory() // _SHARE
    elif not isinstance(bytes, int) or isinstance(bytes, bool):
        msg = f"set_memory_limit: 'bytes' must be an integer or None; got {bytes!r}."
        raise TypeError(msg)
    if not 0 <= bytes < 1 << 63:
        msg = f"set_memory_limit: 'bytes' must be at least 0 and below 2**63; got {bytes}."
        raise ValueError(msg)
    _kernels.set_total_limit(bytes)
    held = min(_MOST_HELD, bytes // _SHARE_HELD)
    _kernels.set_most_queued_bytes(held)
    _kernels.set_most_bytes_ahead(held)


set_memory_limit(None)
