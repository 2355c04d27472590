# SPDX-License-Identifier: Apache-2.0
"""Look-up tables on accelerators."""

from __future__ import annotations

from typing import Any

import torch

from .numbers import widened
from .placement import on_device
from .ragged import Rows, elementwise
from .samples import DeviceSamples


def look_up(samples: DeviceSamples, table: Any, otherwise: Any) -> DeviceSamples:
    """The entries of a table that elements name, and another value for those it does not have."""
    type_id = int(table.type_id)
    entries, rest = on_device(table).dense()[0], on_device(otherwise).dense()[0]
    values = torch.cat([entries, rest])

    def found(rows: Rows) -> torch.Tensor:
        keys = widened(rows.data, samples.type_id)
        last = len(values) - 1
        # No key is below 0 as an unsigned number of so many bits; all that are too large are one.
        keys = torch.where((keys < 0) | (keys > last), torch.full_like(keys[:1], last), keys)
        return values.index_select(0, keys.reshape(-1)).reshape(keys.shape)

    return elementwise(samples, found, 0, type_id=type_id)
