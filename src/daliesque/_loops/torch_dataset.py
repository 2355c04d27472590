# SPDX-License-Identifier: Apache-2.0
"""Data sets of torch as the source of a loader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
import torch.utils.data

from .._readers.python import Python


class DatasetReader(Python):
    """`readers.Python`, with the types that torch's DataLoader makes of Python's integers."""

    operator: ClassVar[str] = "readers.Python"

    def _split(self, item: Any, names: tuple[str, ...] | None) -> Sequence[Any]:
        return [_to_numpy(value) for value in super()._split(item, names)]


def _to_numpy(value: Any) -> Any:
    if type(value) is int:
        return np.int64(value)
    if type(value) is torch.Tensor:
        try:
            return value.numpy()
        except (TypeError, RuntimeError):
            # On a device, part of a graph, or of a type that NumPy does not have.
            return value
    return value


# Arguments of torch's DataLoader, and what to use here.
_ELSEWHERE = {
    "num_workers": "There are no worker processes: 'transform' runs on threads. For a data set "
    "with a slow __getitem__ pass 'num_threads'",
    "persistent_workers": "There are no worker processes",
    "multiprocessing_context": "There are no worker processes",
    "worker_init_fn": "There are no worker processes",
    "timeout": "There are no worker processes",
    "prefetch_factor": "Use 'prefetch'",
    "drop_last": "Use last_batch='drop'",
    "generator": "Use 'seed'",
    "sampler": "The order follows from 'shuffle' and 'seed', the part from 'rank'",
    "batch_sampler": "The order follows from 'shuffle' and 'seed', the part from 'rank'",
    "collate_fn": "Use 'transform', which gets the samples as batches",
}


def refuse_arguments(where: str, arguments: Iterable[str]) -> None:
    """Raise TypeError for arguments that torch's DataLoader has under another name, or alone."""
    for name in arguments:
        if name in _ELSEWHERE:
            msg = f"{where}() has no argument '{name}'. {_ELSEWHERE[name]}."
            raise TypeError(msg)


def refuse_dataset(where: str, given: Any) -> None:
    """Raise TypeError for what torch makes data sets of that have no items by number."""
    if isinstance(given, torch.utils.data.IterableDataset):
        msg = (
            f"{where}: {type(given).__name__} is an IterableDataset, which can only be iterated "
            "over: there is no order to choose from, there are no parts for several processes, and "
            "no state. Give it __len__ and __getitem__ as a Dataset has them, or write a reader "
            "(docs/readers.md). Without these three, loop over ndd.ExternalSource."
        )
        raise TypeError(msg)
    if isinstance(given, torch.utils.data.DataLoader):
        msg = f"{where}: 'reader' is a DataLoader. Pass its data set: loader.dataset."
        raise TypeError(msg)
