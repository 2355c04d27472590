# SPDX-License-Identifier: Apache-2.0
"""Whether a state that may come from anywhere can be that of a reader, before it is used."""

from __future__ import annotations

from typing import Any

from .order import Order, Position, Remainder

# A state is a short text, and no number in it is larger than what years of reading reach.
_MOST_TEXT = 1 << 16
_MOST_COUNT = 1 << 48
_MOST_PASSES = 1 << 40
# Of processes that share a data set, and how often their number changes within one pass.
_MOST_SHARDS = 1 << 16
_MOST_REMAINDERS = 64
# Batches may be larger than the data, but not without limit.
_MOST_BATCH = 1 << 31
# The generator of draws counts modulo this.
_ENGINE_MODULUS = (1 << 31) - 1
# Some states are found by repeating all draws before them. So many take about a minute; the
# beginning of a pass counts like some draws.
_MOST_DRAWS = 1 << 33
_DRAWS_OF_A_PASS = 256


def check_text(text: str) -> None:
    """Raise ValueError if a text is too long for a state."""
    if len(text) > _MOST_TEXT:
        msg = f"it has {len(text)} characters"
        raise ValueError(msg)


def check_size(value: Any) -> int:
    """A number of a state; TypeError or ValueError if it cannot be one."""
    if type(value) is not int:
        msg = f"{value!r:.60} is no integer"
        raise TypeError(msg)
    if not 0 <= value <= _MOST_COUNT:
        msg = "a number is negative, or larger than any reader comes"
        raise ValueError(msg)
    return value


def check_engine(value: Any) -> tuple[int, int]:
    """The number of a pass and the generator of draws at its beginning, or ValueError."""
    if isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value):
        pass_number, engine = value
        if 0 <= pass_number <= _MOST_PASSES and 0 < engine < _ENGINE_MODULUS:
            return pass_number, engine
    msg = f"{value!r:.60} is no generator of draws"
    raise ValueError(msg)


def check_position(order: Order, position: Position, num_shards: int) -> None:
    """Raise ValueError if readers of `num_shards` shards cannot have been at a position."""
    _check_shards(order, num_shards)
    if max(position.epoch, position.start) > _MOST_PASSES:
        msg = f"epoch {max(position.epoch, position.start)} is later than any reader comes"
        raise ValueError(msg)
    if position.last >= order.size:
        msg = f"there is no sample {position.last}"
        raise ValueError(msg)
    if position.delivered > order.size + _MOST_BATCH:
        msg = f"no epoch has {position.delivered} samples"
        raise ValueError(msg)
    count, remainder = 0, position.remainder
    while remainder is not None:
        _check_shards(order, remainder.num_shards)
        count, remainder = count + 1, remainder.earlier
    if count > _MOST_REMAINDERS:
        msg = f"the number of shards changed {count} times within a pass"
        raise ValueError(msg)


def _check_shards(order: Order, num_shards: int) -> None:
    if not 1 <= num_shards <= min(order.size, _MOST_SHARDS):
        msg = f"there cannot be {num_shards} shards of {order.size} samples"
        raise ValueError(msg)


def check_work(
    order: Order, position: Position, num_shards: int, engine: tuple[int, int] | None
) -> None:
    """Raise ValueError if a position is so far away that finding it takes longer than a minute.

    `engine` is the generator of draws that the state has for this order, if any.
    """
    draws = 0
    shards = {num_shards, order.num_shards}
    remainder: Remainder | None = position.remainder
    last_pass = _last_pass(order, position.start, position.taken, num_shards)
    while remainder is not None:
        shards.add(remainder.num_shards)
        reached = _last_pass(order, remainder.start, remainder.taken, remainder.num_shards)
        last_pass = max(last_pass, reached)
        remainder = remainder.earlier
    if order.shuffle.cumulative and order.groups is None:
        draws += last_pass * (order.size + _DRAWS_OF_A_PASS)
    if order.shuffle.reach:
        passes = last_pass
        if engine is not None and shards == {order.num_shards}:
            passes = max(0, last_pass - engine[0])
        draws += passes * (order.size + _DRAWS_OF_A_PASS * max(shards))
    if draws > _MOST_DRAWS:
        msg = (
            f"it lies {last_pass} passes ahead, and finding it would take {draws} draws, more than "
            f"the limit of {_MOST_DRAWS}"
        )
        raise ValueError(msg)


def _last_pass(order: Order, start: int, taken: int, num_shards: int) -> int:
    return start + taken // max(1, order.size // num_shards) + 1
