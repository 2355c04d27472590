# SPDX-License-Identifier: Apache-2.0
"""Rows of a table, different numbers of them for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_samples
from .order import Numbers


class RaggedRows:
    """A table, of which `counts[k]` consecutive rows belong to sample k."""

    def __init__(self, rows: NDArray[Any], counts: NDArray[Any]) -> None:
        self.rows = rows
        self.counts: Numbers = counts.astype(np.int64)
        self.ends: Numbers = np.cumsum(self.counts)
        self.begins: Numbers = self.ends - self.counts

    def samples(self, numbers: Numbers, where: str) -> _kernels.Samples:
        """The rows of chosen samples."""
        counts = self.counts[numbers]
        total = int(counts.sum())
        shift = self.begins[numbers] - (np.cumsum(counts) - counts)
        rows = self.rows[np.arange(total) + np.repeat(shift, counts)]
        samples = to_samples(rows, None, None, where).as_internal()
        row = self.rows.shape[1:]
        if total == 0:
            return _kernels.empty_uniform(samples.type_id, [0, *row], "", len(numbers))
        # Folding alone would not know the shape of rows where there are none.
        shapes = np.column_stack([counts, *(np.full_like(counts, extent) for extent in row)])
        return samples.unfold().fold(counts.tolist(), "").reshape(shapes, "")
