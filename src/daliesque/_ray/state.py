# SPDX-License-Identifier: Apache-2.0
"""How far consumers of a data set have come: which rows of which epoch they have got."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from .plan import RowSet

_VERSION = 1
# No number in a state is larger than what years of reading reach.
_MOST = 1 << 62
_KEYS = ("version", "seed", "samples", "shuffle", "epoch")

# What `state_dict` of an iterator returned, or what those of several consumers returned.
States: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]


def make_state(about: Mapping[str, Any], epoch: int, rows: RowSet) -> dict[str, Any]:
    """A state, of integers and lists of them."""
    return {
        "version": _VERSION,
        "seed": int(about["seed"]),
        "samples": int(about["samples"]),
        "shuffle": int(about["shuffle"]),
        "epoch": epoch,
        "rows": [list(part) for part in rows.ranges],
    }


def parse_state(where: str, state: Any) -> tuple[dict[str, int], RowSet]:
    """The numbers and the rows of a state, which may come from anywhere."""
    if not isinstance(state, Mapping):
        msg = f"{where}: a state is what state_dict() returned; got {type(state).__name__}."
        raise TypeError(msg)
    numbers: dict[str, int] = {}
    for name in _KEYS:
        value = state.get(name)
        if type(value) is not int or not 0 <= value <= _MOST:
            msg = (
                f"{where}: not a state of ray.iter_torch: {name!r} must be an integer; got "
                f"{value!r:.60}."
            )
            raise ValueError(msg)
        numbers[name] = value
    if numbers["version"] != _VERSION:
        msg = f"{where}: unknown version {numbers['version']} of the state."
        raise ValueError(msg)
    ranges = state.get("rows")
    if not isinstance(ranges, Sequence) or not all(map(_is_range, ranges)):
        msg = f"{where}: not a state of ray.iter_torch: 'rows' must be ranges; got {ranges!r:.60}."
        raise ValueError(msg)
    rows = RowSet.of(ranges)
    if rows and rows.ranges[-1][1] > numbers["samples"]:
        msg = (
            f"{where}: no iterator can have had this state: row {rows.ranges[-1][1] - 1} of "
            f"{numbers['samples']} samples."
        )
        raise ValueError(msg)
    return numbers, rows


def _is_range(value: Any) -> bool:
    if not isinstance(value, Sequence) or len(value) != 2:
        return False
    return all(type(number) is int and 0 <= number <= _MOST for number in value)


def done_rows(where: str, states: States, seed: int, found: Any) -> tuple[int, RowSet]:
    """The epoch to go on in, and the rows of it that any of some consumers has got."""
    given = [states] if isinstance(states, Mapping) else list(states)
    if not given:
        msg = f"{where}: 'start' must be a state, or a list of at least one; got {states!r:.60}."
        raise ValueError(msg)
    parsed = [parse_state(where, state) for state in given]
    for numbers, _ in parsed:
        expected = (("samples", found.samples), ("seed", seed), ("shuffle", found.run))
        for name, value in expected:
            if numbers[name] != value:
                msg = (
                    f"{where}: the state belongs to other data or another order of it, with "
                    f"{name}={numbers[name]}; here it is {value}. Use the same reader, arguments "
                    "and seed."
                )
                raise ValueError(msg)
    epochs = sorted({numbers["epoch"] for numbers, _ in parsed})
    if len(epochs) > 1:
        msg = (
            f"{where}: the states belong to different epochs: {epochs}. Save those of all "
            "processes after the same step."
        )
        raise ValueError(msg)
    return epochs[0], RowSet.of(part for _, rows in parsed for part in rows.ranges)
