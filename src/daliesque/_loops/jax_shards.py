# SPDX-License-Identifier: Apache-2.0
"""Which rows of a global array a process holds, as a sharding of JAX says."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax.experimental import multihost_utils

# How much of what processes say about an iterator is compared and shown.
_MOST_TEXT = 1024


class Shard(NamedTuple):
    """Part number `number` of `parts` equal parts of the rows of each batch.

    Processes that hold the same rows, because the sharding repeats these along another axis of the
    devices, have the same part.
    """

    number: int
    parts: int


def leaves_of(sharding: Any) -> list[jax.sharding.Sharding]:
    """All shardings in a tree of them."""
    return list(jax.tree.leaves(sharding, is_leaf=_is_sharding))


def _is_sharding(value: Any) -> bool:
    return isinstance(value, jax.sharding.Sharding)


def check_sharding(where: str, sharding: Any) -> Any:
    """A sharding, or a tree of them; by default the first device of a single process."""
    if sharding is None:
        if jax.process_count() > 1:
            msg = (
                f"{where}: with {jax.process_count()} processes 'sharding' must say which of them "
                "holds which rows, e.g. NamedSharding(mesh, PartitionSpec('data'))."
            )
            raise ValueError(msg)
        return jax.sharding.SingleDeviceSharding(jax.local_devices()[0])
    for leaf in leaves_of(sharding) or [sharding]:
        if not _is_sharding(leaf):
            advice = ""
            if isinstance(leaf, jax.sharding.PartitionSpec | jax.sharding.Mesh):
                advice = " Combine mesh and specification: NamedSharding(mesh, spec)."
            msg = (
                f"{where}: 'sharding' must be a jax.sharding.Sharding, or one for each output in "
                f"the form of what 'transform' returns; got {type(leaf).__name__}.{advice}"
            )
            raise TypeError(msg)
    return sharding


def shard_of(where: str, sharding: Any, batch_size: int) -> Shard:
    """The part of each batch that this process holds; all outputs must agree about it."""
    found = {_shard_of_one(where, leaf, batch_size): leaf for leaf in leaves_of(sharding)}
    if len(found) > 1:
        first, second, *_ = found.values()
        msg = (
            f"{where}: the shardings of the outputs divide the rows of a batch in different ways: "
            f"{first} and {second}. Use one partition of the first axis for all of them."
        )
        raise ValueError(msg)
    (shard,) = found
    return shard


def _shard_of_one(where: str, sharding: jax.sharding.Sharding, batch_size: int) -> Shard:
    rows = _rows_of_processes(where, sharding, batch_size)
    me = jax.process_index()
    if me not in rows:
        msg = (
            f"{where}: process {me} has none of the devices of the sharding {sharding}. Iterate in "
            "the processes that have some."
        )
        raise ValueError(msg)
    distinct = sorted(set(rows.values()))
    covered = sum(map(len, distinct))
    sizes = {len(part) for part in distinct}
    if covered != batch_size or len(sizes) > 1:
        held = {number: list(part) for number, part in sorted(rows.items())}
        msg = (
            f"{where}: the processes must hold equal parts of a batch, which do not overlap unless "
            f"they are the same; the sharding {sharding} gives them the rows {held!r:.300}. Order "
            "the devices of the mesh by process along the axis of the batch."
        )
        raise ValueError(msg)
    return Shard(distinct.index(rows[me]), len(distinct))


def _rows_of_processes(
    where: str, sharding: jax.sharding.Sharding, batch_size: int
) -> dict[int, tuple[int, ...]]:
    """The rows that the devices of each process hold, in order."""
    devices = len(sharding.device_set)
    # Other axes do not matter here: any extents that can be divided.
    others = (devices,) * max(0, len(getattr(sharding, "spec", ())) - 1)
    try:
        indices = sharding.devices_indices_map((batch_size, *others))
    except ValueError as error:
        msg = (
            f"{where}: batch_size={batch_size}, which is that of all processes together, cannot be "
            f"divided as the sharding asks: {error}."
        )
        raise ValueError(msg) from None
    rows: dict[int, set[int]] = {}
    for device, index in indices.items():
        process: int = device.process_index  # type: ignore[attr-defined]
        rows.setdefault(process, set()).update(range(batch_size)[index[0]])
    return {process: tuple(sorted(held)) for process, held in rows.items()}


def check_agreement(where: str, sharding: Any, description: str) -> None:
    """Raise ValueError if another process describes its iterator in another way.

    All processes must come here; where not all of them have devices of the sharding, nobody waits
    for the others.
    """
    count = jax.process_count()
    devices: list[Any] = [device for leaf in leaves_of(sharding) for device in leaf.device_set]
    if count == 1 or len({device.process_index for device in devices}) < count:
        return
    text = np.zeros(_MOST_TEXT, np.uint8)
    raw = np.frombuffer(description.encode()[:_MOST_TEXT], np.uint8)
    text[: len(raw)] = raw
    everybody = np.asarray(multihost_utils.process_allgather(text))
    for process, other in enumerate(everybody):
        if not np.array_equal(other, text):
            theirs = bytes(other[other != 0]).decode(errors="replace")
            msg = (
                f"{where}: the processes were given different arguments. Process "
                f"{jax.process_index()}: {description}; process {process}: {theirs}. Give all of "
                "them the same data, arguments and seed."
            )
            raise ValueError(msg)
