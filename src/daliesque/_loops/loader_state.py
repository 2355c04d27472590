# SPDX-License-Identifier: Apache-2.0
"""Where a loader is, as a dict of integers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._readers.core.permutation import SampleStream
from .loading import Progress

_VERSION = 1
# No number in a state is larger than what years of reading reach.
_MOST = (1 << 63) - 1
_KEYS = ("version", "samples", "shuffle", "seed", *Progress._fields, "set_epoch")


def save_progress(stream: SampleStream, progress: Progress, set_epoch: int) -> dict[str, Any]:
    """A state; what does not change is there to see whether it fits another loader."""
    values = (_VERSION, stream.size, stream.run, stream.seed, *progress, set_epoch)
    return dict(zip(_KEYS, values, strict=True))


def load_progress(
    where: str, stream: SampleStream, goes_on: bool, state: Any
) -> tuple[Progress, int]:
    """The progress in a state, and the epoch that was set, which may come from anywhere.

    Raises ValueError if they do not fit.

    With `goes_on`, epochs need not begin with the data.
    """
    numbers = _numbers(where, state)
    if numbers["version"] != _VERSION:
        msg = f"{where}: load_state_dict: unknown version {numbers['version']} of the state."
        raise ValueError(msg)
    if numbers["samples"] != stream.size:
        msg = (
            f"{where}: load_state_dict: the state belongs to {numbers['samples']} samples; the "
            f"loader has {stream.size}. Give it the same data."
        )
        raise ValueError(msg)
    for name, value in (("seed", stream.seed), ("shuffle", stream.run)):
        if numbers[name] != value:
            msg = (
                f"{where}: load_state_dict: the state belongs to samples in another order, with "
                f"{name}={numbers[name]}; the loader has {value}. Make the loader with the same "
                "'seed' and 'shuffle', and the reader with the same 'random_shuffle' and so on."
            )
            raise ValueError(msg)
    progress = Progress(*(numbers[name] for name in Progress._fields))
    whole = progress.length == stream.size and progress.begin == progress.epoch * stream.size
    if not goes_on and not whole:
        msg = (
            f"{where}: load_state_dict: the state belongs to a loader with 'epoch_batches'. Make "
            "this one with it, too."
        )
        raise ValueError(msg)
    if not whole and progress.length == 0:
        msg = f"{where}: load_state_dict: no loader can have had this state: {state!r:.200}."
        raise ValueError(msg)
    return progress, numbers["set_epoch"]


def _numbers(where: str, state: Any) -> dict[str, int]:
    if not isinstance(state, Mapping):
        msg = (
            f"{where}: load_state_dict needs what state_dict() returned; got "
            f"{type(state).__name__}."
        )
        raise TypeError(msg)
    numbers: dict[str, int] = {}
    for name in _KEYS:
        value = state.get(name)
        smallest = -1 if name == "set_epoch" else 0
        if type(value) is not int or not smallest <= value <= _MOST:
            msg = (
                f"{where}: load_state_dict: not the state of a loader: {name!r} must be an "
                f"integer; got {value!r:.60}."
            )
            raise ValueError(msg)
        numbers[name] = value
    return numbers
