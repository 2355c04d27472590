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


def equalize(samples: DeviceSamples, outer: int) -> DeviceSamples:
    """Bytes mapped such that all occur equally often, channel by channel."""

    def equalized(data: torch.Tensor, _: Any) -> torch.Tensor:
        if data.numel() == 0:
            return data
        # Channels to the front: one row of pixels for each.
        channels = data if outer else data.reshape(*data.shape[:3], -1).permute(0, 3, 1, 2)
        pixels = channels.reshape(-1, data.shape[1 + outer] * data.shape[2 + outer]).to(torch.int64)
        tables = _equalizing_tables(pixels)
        mapped = tables.gather(1, pixels).to(torch.uint8).reshape(channels.shape)
        return mapped if outer else mapped.permute(0, 2, 3, 1).reshape(data.shape)

    return samples.mapped(equalized)


def _equalizing_tables(pixels: torch.Tensor) -> torch.Tensor:
    """For each row of bytes, what every byte becomes: the share of those below it."""
    count = pixels.shape[1]
    ones = torch.ones_like(pixels, dtype=torch.int32)
    counts = torch.zeros((len(pixels), 256), dtype=torch.int32, device=pixels.device)
    counts = counts.scatter_add(1, pixels, ones)
    lowest = (counts > 0).to(torch.int32).argmax(1, keepdim=True)
    of_lowest = counts.gather(1, lowest)
    below = counts.cumsum(1, dtype=torch.int32) - of_lowest
    scale = 255.0 / (count - of_lowest).clamp(min=1).to(torch.float32)
    table = (below.clamp(min=0).to(torch.float32) * scale).round().clamp(max=255)
    return torch.where(of_lowest == count, lowest.to(torch.float32).expand_as(table), table)
