# SPDX-License-Identifier: Apache-2.0
"""Rows of a table, different numbers of them for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._engine.convert import to_samples
from ..._engine.samples import host
from ..core.order import Numbers


def split_rows(rows: NDArray[Any], ends: Numbers, where: str) -> _kernels.Samples:
    """Samples of consecutive rows, the last of which ends at `ends[k]`."""
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    return _kernels.copy_rows(host(to_samples(rows, None, None, where)), begins, ends - begins)


class RaggedRows:
    """A table, of which `counts[k]` consecutive rows belong to sample k."""

    def __init__(self, rows: NDArray[Any], counts: NDArray[Any]) -> None:
        self.rows = rows
        self.counts: Numbers = counts.astype(np.int64)
        self.ends: Numbers = np.cumsum(self.counts)
        self.begins: Numbers = self.ends - self.counts

    def samples(self, numbers: Numbers, where: str) -> _kernels.Samples:
        """The rows of chosen samples."""
        table = host(to_samples(self.rows, None, None, where))
        return _kernels.copy_rows(table, self.begins[numbers], self.counts[numbers])
