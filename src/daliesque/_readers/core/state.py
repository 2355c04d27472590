# SPDX-License-Identifier: Apache-2.0
"""Where a reader is, as text."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .options import DEFAULTS
from .order import Order, Position, Remainder, Shuffle, fresh
from .reference_state import ReferenceState, parse_reference_state
from .state_checks import check_engine, check_position, check_size, check_text, check_work

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


def load_position(operator: str, order: Order, seed: int, text: str) -> tuple[Order, Position]:
    """What `save_position` saved, as a position in `order`; ValueError if it does not fit.

    If the reader was given no `seed`, the order that is returned takes over the one that was saved.
    A state may come from anywhere: no number in it is believed before it is checked, and nothing
    is computed for one that no reader can have reached.
    """
    where = f"{operator}: set_state:"
    try:
        check_text(text)
        reference = parse_reference_state(text)
        if reference is not None:
            return order, _of_reference(where, order, reference)
        fields = _Fields.parse(text)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        if isinstance(error, _Unfit):
            raise ValueError(str(error)) from None
        msg = f"{where} not the state of a reader: {text[:60]!r}."
        raise ValueError(msg) from error
    if seed == DEFAULTS["seed"]:
        order = _with_seed(order, fields.shuffle)
    fields.check(where, order)
    saved_shard, saved_shards = fields.shard
    try:
        check_position(order, fields.position, saved_shards)
        engine = None if fields.engine is None else check_engine(fields.engine)
        same_shard = (saved_shard, saved_shards) == (order.shard_id, order.num_shards)
        check_work(order, fields.position, saved_shards, engine if same_shard else None)
    except ValueError as error:
        msg = f"{where} no reader of this data can have had this state: {error}."
        raise ValueError(msg) from None
    if saved_shards != order.num_shards:
        return order, order.resharded(fields.position, saved_shards)
    if saved_shard != order.shard_id:
        return order, fields.position._replace(last=-1)
    if engine is not None:
        order.set_engine(*engine)
    return order, fields.position


def _with_seed(order: Order, saved: Any) -> Order:
    """An order that draws as another one did, whose numbers were saved, if it draws at all."""
    numbers = _shuffle_numbers(order.shuffle)
    seed = [field.name for field in dataclasses.fields(Shuffle)].index("seed")
    if not order.shuffle.reach or not isinstance(saved, list) or len(saved) != len(numbers):
        return order
    if type(saved[seed]) is not int or not 0 <= saved[seed] < 1 << 32:
        return order
    return dataclasses.replace(order, shuffle=dataclasses.replace(order.shuffle, seed=saved[seed]))


class _Unfit(ValueError):
    """A state that was understood and does not belong to the reader."""


class _Fields(NamedTuple):
    """What a state holds."""

    version: Any
    samples: Any
    shuffle: Any
    shard: tuple[int, int]
    position: Position
    engine: Any

    @classmethod
    def parse(cls, text: str) -> _Fields:
        """Read a state; raises ValueError, TypeError, KeyError or RecursionError if it is none."""
        fields = json.loads(text)
        shard, shards = (check_size(number) for number in fields["shard"])
        return cls(
            fields["version"],
            fields["samples"],
            fields["shuffle"],
            (shard, shards),
            _from_numbers(fields["position"]),
            fields["engine"],
        )

    def check(self, where: str, order: Order) -> None:
        """Raise ValueError if the state belongs to other data or another order of it."""
        if self.version != _VERSION:
            msg = f"{where} unknown version {self.version!r:.60} of the state."
            raise ValueError(msg)
        if self.samples != order.size:
            msg = (
                f"{where} the state belongs to {self.samples!r:.60} samples; the reader has "
                f"{order.size}. Give it the same data."
            )
            raise ValueError(msg)
        if self.shuffle != _shuffle_numbers(order.shuffle):
            msg = (
                f"{where} the state belongs to samples shuffled in another way. Make the reader "
                "with the same 'random_shuffle', 'initial_fill', 'seed', 'shuffle_after_epoch' and "
                "so on."
            )
            raise ValueError(msg)


def _of_reference(where: str, order: Order, state: ReferenceState) -> Position:
    """The position of a reader of the reference. It holds no more than that, so less is checked."""
    if order.shuffle.cumulative:
        msg = (
            f"{where} the state was saved by the reference, which permutes samples in another way. "
            "Make the reader with enable_checkpointing=True."
        )
        raise _Unfit(msg)
    largest = -(-order.size // order.num_shards)
    if state.delivered > largest:
        msg = (
            f"{where} the state belongs to a shard of at least {state.delivered} samples; the "
            f"reader has {largest}. Give it the same data and shards."
        )
        raise _Unfit(msg)
    engine = check_engine([state.pass_number, state.engine]) if order.shuffle.reach else None
    beginning = fresh(check_size(state.pass_number))
    position = beginning._replace(delivered=state.delivered, taken=state.delivered)
    check_position(order, position, order.num_shards)
    if engine is not None:
        order.set_engine(*engine)
    return position


def _shuffle_numbers(shuffle: Shuffle) -> list[int]:
    return [int(value) for value in dataclasses.astuple(shuffle)]


def _to_numbers(position: Position) -> list[Any]:
    """A position as nested lists of integers."""
    return [*position[:-1], _remainder_numbers(position.remainder)]


def _from_numbers(numbers: list[Any]) -> Position:
    """Inverse of `_to_numbers`; raises ValueError or TypeError if that is not what it is."""
    epoch, delivered, start, taken, last, remainder = numbers
    return Position(
        check_size(epoch),
        check_size(delivered),
        check_size(start),
        check_size(taken),
        check_size(last + 1) - 1,
        _remainder_of(remainder),
    )


def _remainder_numbers(remainder: Remainder | None) -> list[Any] | None:
    if remainder is None:
        return None
    return [*remainder[:3], _remainder_numbers(remainder.earlier)]


def _remainder_of(numbers: list[Any] | None) -> Remainder | None:
    if numbers is None:
        return None
    num_shards, start, taken, earlier = numbers
    return Remainder(
        check_size(num_shards), check_size(start), check_size(taken), _remainder_of(earlier)
    )


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
