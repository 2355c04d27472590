# SPDX-License-Identifier: Apache-2.0
"""Which process of a distributed training this is, and whether all of them mean the same."""

from __future__ import annotations

import itertools
import os
from typing import Any

import torch

# Loaders are numbered as they are made: all processes make the same ones in the same order.
_numbers = itertools.count()


def current_ranks() -> tuple[int, int]:
    """Rank and number of processes, as torch.distributed has them; one process without it."""
    if not _is_distributed():
        return 0, 1
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def _is_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


class Agreement:
    """Compares what processes say about a loader, without waiting for any of them."""

    def __init__(self) -> None:
        self._number = next(_numbers)
        self._epochs = 0

    def check(self, where: str, description: str) -> None:
        """Raise RuntimeError if the first process that began the same epoch described it otherwise.

        Whoever comes first writes its description into the store through which the processes have
        found each other. Nobody waits: a process that never comes is found by others in training.
        """
        rank, world_size = current_ranks()
        if world_size == 1:
            return
        store: Any = torch.distributed.distributed_c10d._get_default_store()
        # What processes that torchrun has started again find there is not about them.
        attempt = f"{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}/{world_size}"
        key = f"daliesque/loader/{attempt}/{self._number}/{self._epochs}"
        self._epochs += 1
        written = f"rank {rank}: {description}"
        first = store.compare_set(key, "", written).decode()
        known_rank, _, known = first.partition(": ")
        if known == description:
            return
        msg = (
            f"{where}: the processes do not read the same epoch. Loader {self._number} has on "
            f"{known_rank}: {known}; on rank {rank}: {description}. Make the same loaders in the "
            "same order in all processes, with the same arguments and states; one that only some "
            "of them use needs 'rank' and 'world_size'."
        )
        raise RuntimeError(msg)
