# SPDX-License-Identifier: Apache-2.0
"""Where a reader is, as text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from .order import Order, Position, Remainder, Shuffle, fresh
from .reference_state import ReferenceState, parse_reference_state

if TYPE_CHECKING:
    from .base import Reader

_VERSION = 1


# What `Reader.get_state` returns: text, so that it can be stored everywhere.
ReaderState: TypeAlias = str


def save_position(order: Order, position: Position) -> str:
    """A position, with what is needed to see whether it fits another order."""
    fields = {
        "version": _VERSION,
        "samples": order.size,
        "shuffle": _shuffle_numbers(order.shuffle),
        "shard": [order.shard_id, order.num_shards],
        "position": _to_numbers(position),
        "engine": order.known_engine(position),
    }
    return json.dumps(fields, separators=(",", ":"))


def load_position(operator: str, order: Order, text: str) -> Position:
    """What `save_position` saved, as a position in `order`; ValueError if it does not fit."""
    where = f"{operator}: set_state:"
    reference = parse_reference_state(text)
    if reference is not None:
        return _of_reference(where, order, reference)
    try:
        fields = json.loads(text)
        version = fields["version"]
        saved_shard, saved_shards = fields["shard"]
        position = _from_numbers(fields["position"])
        samples, shuffle, engine = fields["samples"], fields["shuffle"], fields["engine"]
    except (ValueError, TypeError, KeyError) as error:
        msg = f"{where} not the state of a reader: {text[:60]!r}."
        raise ValueError(msg) from error
    if version != _VERSION:
        msg = f"{where} unknown version {version!r} of the state."
        raise ValueError(msg)
    if samples != order.size:
        msg = (
            f"{where} the state belongs to {samples} samples; the reader has {order.size}. Give it "
            "the same data."
        )
        raise ValueError(msg)
    if shuffle != _shuffle_numbers(order.shuffle):
        msg = (
            f"{where} the state belongs to samples shuffled in another way. Make the reader with "
            "the same 'random_shuffle', 'initial_fill', 'seed', 'shuffle_after_epoch' and so on."
        )
        raise ValueError(msg)
    if saved_shards != order.num_shards:
        return order.resharded(position, saved_shards)
    if saved_shard != order.shard_id:
        return position._replace(last=-1)
    if engine is not None:
        order.set_engine(*engine)
    return position


def _of_reference(where: str, order: Order, state: ReferenceState) -> Position:
    """The position of a reader of the reference. It holds no more than that, so less is checked."""
    if order.shuffle.cumulative:
        msg = (
            f"{where} the state was saved by the reference, which permutes samples in another way. "
            "Make the reader with enable_checkpointing=True."
        )
        raise ValueError(msg)
    largest = -(-order.size // order.num_shards)
    if state.delivered > largest:
        msg = (
            f"{where} the state belongs to a shard of at least {state.delivered} samples; the "
            f"reader has {largest}. Give it the same data and shards."
        )
        raise ValueError(msg)
    if order.shuffle.reach:
        order.set_engine(state.pass_number, state.engine)
    beginning = fresh(state.pass_number)
    return beginning._replace(delivered=state.delivered, taken=state.delivered)


def _shuffle_numbers(shuffle: Shuffle) -> list[int]:
    return [int(value) for value in dataclasses.astuple(shuffle)]


def _to_numbers(position: Position) -> list[Any]:
    """A position as nested lists of integers."""
    return [*position[:-1], _remainder_numbers(position.remainder)]


def _from_numbers(numbers: list[Any]) -> Position:
    """Inverse of `_to_numbers`; raises ValueError or TypeError if that is not what it is."""
    epoch, delivered, start, taken, last, remainder = numbers
    plain = (epoch, delivered, start, taken)
    if not all(isinstance(value, int) for value in (*plain, last)) or min(plain) < 0:
        msg = "not a position"
        raise ValueError(msg)
    return Position(*plain, last, _remainder_of(remainder))


def _remainder_numbers(remainder: Remainder | None) -> list[Any] | None:
    if remainder is None:
        return None
    return [*remainder[:3], _remainder_numbers(remainder.earlier)]


def _remainder_of(numbers: list[Any] | None) -> Remainder | None:
    if numbers is None:
        return None
    num_shards, start, taken, earlier = numbers
    return Remainder(int(num_shards), int(start), int(taken), _remainder_of(earlier))


def remake(
    kind: Callable[..., Reader[Any]],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    state: ReaderState | None,
) -> Reader[Any]:
    """A reader as it was pickled: made with the same arguments, at the same position."""
    reader = kind(*args, **kwargs)
    if state is not None:
        reader.set_state(state)
    return reader
