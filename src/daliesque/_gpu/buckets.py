# SPDX-License-Identifier: Apache-2.0
"""Which samples of different sizes are padded and processed together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

# What the launches for one more bucket cost, as elements to process: a share of all, but at least
# as many as a device processes meanwhile.
_SHARE = 0.1
_LEAST = 1 << 20
# Elements of a bucket: more of them, as floats, would take too much memory at once.
_MOST = 1 << 26


def buckets(sizes: Integers, weight: int = 1) -> list[Integers]:
    """Numbers of samples with similar sizes, so that padding and the number of buckets are small.

    `sizes` are the extents along the axes to be padded, `weight` the elements behind them.
    """
    if len(sizes) == 0:
        return []
    distinct, which, counts = np.unique(sizes, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    if len(distinct) == 1:
        return _in_parts(np.arange(len(sizes)), distinct[0], weight)
    # Neighbors in this order resemble each other: first by which axis is the longest, then by size.
    order = np.lexsort((distinct.prod(axis=1), np.argmax(distinct, axis=1)))
    ends = _best_ends(distinct[order], counts[order], weight)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.searchsorted(ends, np.arange(len(order)), side="right")
    found = []
    for number in range(len(ends)):
        members = np.flatnonzero(rank[which] == number)
        found += _in_parts(members, sizes[members].max(axis=0), weight)
    return found


def _best_ends(sizes: Integers, counts: Integers, weight: int) -> Integers:
    """Where to cut a list of sizes, for the least padded volume and number of parts."""
    count = len(sizes)
    volume = float((sizes.prod(axis=1) * counts).sum())
    price = max(_SHARE * volume, _LEAST / weight)
    cost = np.zeros(count + 1)
    begin = np.zeros(count + 1, np.int64)
    for end in range(1, count + 1):
        # The largest extents and the number of samples of all parts that end here.
        largest = np.maximum.accumulate(sizes[:end][::-1], axis=0)[::-1]
        members = np.cumsum(counts[:end][::-1])[::-1]
        total = cost[:end] + largest.prod(axis=1) * members + price
        begin[end] = int(np.argmin(total))
        cost[end] = total[begin[end]]
    ends = []
    end = count
    while end:
        ends.append(end)
        end = int(begin[end])
    return np.array(ends[::-1], np.int64)


def _in_parts(members: Integers, size: Integers, weight: int) -> list[Integers]:
    """A bucket in as many parts as its size takes."""
    each = max(1, _MOST // max(1, int(size.prod()) * weight))
    return [members[begin : begin + each] for begin in range(0, len(members), each)]
