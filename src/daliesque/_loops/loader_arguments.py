# SPDX-License-Identifier: Apache-2.0
"""The arguments of loaders: a reader in one of several forms, and numbers."""

from __future__ import annotations

import operator
import os
from typing import Any

from .._engine.errors import join_names
from .._readers.core.base import Reader
from .._readers.core.steps import LastBatch
from .._readers.python import Python

# What may become of the samples that are left after whole batches.
_LAST_BATCHES = ("partial", "pad", "drop")


def check_number(where: str, name: str, value: Any, least: int) -> int:
    """An integer, at least `least`."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        msg = f"{where}: '{name}' must be an integer; got {value!r:.60}."
        raise TypeError(msg) from None
    if number < least:
        msg = f"{where}: '{name}' must be at least {least}; got {number}."
        raise ValueError(msg)
    return number


def make_reader(
    where: str, given: Any, dataset_reader: type[Python], arguments: dict[str, Any]
) -> Reader[Any]:
    """The reader that a loader reads from: itself, a class of readers, or one of a data set."""
    if isinstance(given, Reader):
        if arguments:
            name = next(iter(arguments))
            msg = (
                f"{where}() got an unexpected argument '{name}': arguments of the reader go with "
                "its class. Pass them to the reader, or the class instead of the reader."
            )
            raise TypeError(msg)
        return given
    if isinstance(given, type):
        if not issubclass(given, Reader):
            msg = f"{where}: 'reader' must be a class of readers; got the class {given.__name__}."
            raise TypeError(msg)
        return given(**arguments)
    kind = type(given)
    if isinstance(given, str | os.PathLike):
        msg = (
            f"{where}: 'reader' must be a reader or a data set; got the path {given!r}. For a "
            "folder of images pass readers.File(file_root=...)."
        )
        raise TypeError(msg)
    if hasattr(kind, "__len__") and hasattr(kind, "__getitem__"):
        return dataset_reader(given, **arguments)
    advice = ""
    if hasattr(kind, "__iter__"):
        advice = (
            " Items that can only be iterated over have no order to choose from, no parts for "
            "several processes and no state: give the data set __len__ and __getitem__, or write a "
            "reader (docs/readers.md). Without these three, loop over ndd.ExternalSource."
        )
    msg = (
        f"{where}: 'reader' must be a reader, a class of readers, or a data set with __len__ and "
        f"__getitem__; got {kind.__name__}.{advice}"
    )
    raise TypeError(msg)


def check_reader(where: str, reader: Reader[Any]) -> None:
    """Refuse arguments of readers that a loader cannot respect."""
    if reader._settings["stick_to_shard"]:
        msg = (
            f"{where}: a reader with stick_to_shard=True always reads the same part; here each "
            "batch is divided among all processes. Leave it out."
        )
        raise ValueError(msg)


def check_last_batch(where: str, given: Any, reader: Reader[Any]) -> LastBatch:
    """The argument `last_batch`; by default what the reader was made for."""
    if given is None:
        return "pad" if reader._settings["pad_last_batch"] else "partial"
    if given not in _LAST_BATCHES:
        msg = f"{where}: 'last_batch' must be {join_names(_LAST_BATCHES)}; got {given!r}."
        raise ValueError(msg)
    chosen: LastBatch = given
    return chosen


def check_shuffle(where: str, given: Any) -> bool | int | None:
    """The argument `shuffle`."""
    if given is None or isinstance(given, bool):
        return given
    return check_number(where, "shuffle", given, 1)


def shuffled_run(reader: Reader[Any], shuffle: bool | int | None) -> int:
    """In runs of how many samples to shuffle, 0 for not at all: as asked, or as the reader does."""
    settings, size = reader._settings, reader._order.size
    if shuffle is None:
        if not settings["random_shuffle"] and not settings["shuffle_after_epoch"]:
            return 0
        # Readers of archives read on where they are.
        return size if reader._permutes_list else min(size, int(settings["initial_fill"]))
    if isinstance(shuffle, bool):
        return size if shuffle else 0
    return min(size, shuffle)


def check_ranks(
    where: str, reader: Reader[Any], rank: Any, world_size: Any
) -> tuple[int, int] | None:
    """The process that was asked for, by the loader's arguments or the reader's; None if none."""
    shard = reader._settings["shard_id"], reader._settings["num_shards"]
    sharded = shard != (0, 1)
    if rank is None and world_size is None:
        return shard if sharded else None
    if rank is None or world_size is None:
        missing = "rank" if rank is None else "world_size"
        msg = f"{where}: 'rank' and 'world_size' go together; '{missing}' is missing."
        raise ValueError(msg)
    count = check_number(where, "world_size", world_size, 1)
    number = check_number(where, "rank", rank, 0)
    if number >= count:
        msg = f"{where}: 'rank' must be in [0..{count - 1}]; got {number}."
        raise ValueError(msg)
    if sharded and shard != (number, count):
        msg = (
            f"{where}: the reader was made for shard {shard[0]} of {shard[1]}, the loader for rank "
            f"{number} of {count}. Leave out 'shard_id' and 'num_shards'."
        )
        raise ValueError(msg)
    return number, count
