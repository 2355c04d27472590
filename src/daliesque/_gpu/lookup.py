# SPDX-License-Identifier: Apache-2.0
"""Look-up tables on accelerators."""

from __future__ import annotations

from typing import Any

import torch

from .numbers import widened
from .placement import on_device
from .samples import DeviceSamples


def look_up(samples: DeviceSamples, table: Any, otherwise: Any) -> DeviceSamples:
    """The entries of a table that elements name, and another value for those it does not have."""
    type_id = int(table.type_id)
    entries, rest = on_device(table).dense()[0], on_device(otherwise).dense()[0]
    values = torch.cat([entries, rest])

    def found(data: torch.Tensor, _: Any) -> torch.Tensor:
        keys = widened(data, samples.type_id).to(torch.int64)
        last = len(values) - 1
        keys = torch.where((keys < 0) | (keys > last), torch.full_like(keys, last), keys)
        return values[keys]

    return samples.mapped(found, type_id=type_id)
