# SPDX-License-Identifier: Apache-2.0
"""The arguments that all readers have."""

from __future__ import annotations

import difflib
import inspect
import typing
from collections.abc import Sequence
from typing import Any, TypedDict, cast

from ..._engine.args import Int64, rule_of
from ..._engine.errors import join_names
from .caller import warn_caller
from .steps import LAST_BATCHES, LastBatch

_POLICIES = ("raise", "skip", "replace")


class ReaderMeta(TypedDict):
    """What `get_metadata` returns."""

    epoch_size: int
    epoch_size_padded: int
    number_of_shards: int
    shard_id: int
    pad_last_batch: int
    stick_to_shard: int


class ReaderOptions(TypedDict, total=False):
    """The arguments that all readers have; see `Reader`."""

    max_batch_size: int | None
    shard_id: int | None
    num_shards: int | None
    stick_to_shard: bool | None
    pad_last_batch: bool | None
    random_shuffle: bool | None
    initial_fill: int | None
    seed: Int64 | None
    shuffle_after_epoch: bool | None
    shuffle_after_epoch_seed: Int64 | None
    prefetch_queue_depth: int | None
    lazy_init: bool | None
    read_ahead: bool | None
    dont_use_mmap: bool | None
    skip_cached_images: bool | None
    tensor_init_bytes: int | None
    enable_checkpointing: bool | None
    on_error: str | None
    max_errors: float | None
    allow_outside: bool | None


DEFAULTS: dict[str, Any] = {
    "max_batch_size": None,
    "shard_id": 0,
    "num_shards": 1,
    "stick_to_shard": False,
    "pad_last_batch": False,
    "random_shuffle": False,
    "initial_fill": 1024,
    "seed": -1,
    "shuffle_after_epoch": False,
    "shuffle_after_epoch_seed": None,
    "prefetch_queue_depth": 1,
    "lazy_init": False,
    "read_ahead": False,
    "dont_use_mmap": False,
    "skip_cached_images": False,
    "tensor_init_bytes": 1 << 20,
    "enable_checkpointing": False,
    "on_error": "raise",
    "max_errors": None,
    "allow_outside": False,
}
_RULES = {
    name: rule_of(hint)
    for name, hint in typing.get_type_hints(ReaderOptions, include_extras=True).items()
}


def own_arguments(kind: type) -> list[str]:
    """The names of the arguments that a class of readers has besides those of all readers."""
    parameters = inspect.signature(kind).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _unexpected(operator: str, name: str, others: Sequence[str]) -> TypeError:
    close = difflib.get_close_matches(name, [*others, *_RULES], 1)
    advice = f" Did you mean '{close[0]}'?" if close else ""
    return TypeError(f"{operator}() got an unexpected keyword argument '{name}'.{advice}")


def check_options(
    operator: str, given: dict[str, Any], permutes_list: bool, others: Sequence[str]
) -> dict[str, Any]:
    """Defaults and given values, checked one by one and together.

    `others` are further arguments of the reader, which may have been meant. With `permutes_list`,
    `random_shuffle` permutes all samples, as `shuffle_after_epoch` would.
    """
    settings = dict(DEFAULTS)
    for name, value in given.items():
        if name not in _RULES:
            raise _unexpected(operator, name, others)
        if value is not None:
            settings[name] = _RULES[name].convert(value, f"{operator}: '{name}'")
    for name in ("num_shards", "prefetch_queue_depth", "initial_fill"):
        if settings[name] < 1:
            msg = f"{operator}: '{name}' must be positive; got {settings[name]}."
            raise ValueError(msg)
    shard, shards = settings["shard_id"], settings["num_shards"]
    if not 0 <= shard < shards:
        msg = f"{operator}: 'shard_id' must be in [0..{shards - 1}]; got {shard}."
        raise ValueError(msg)
    if settings["on_error"] not in _POLICIES:
        policies = join_names(_POLICIES)
        msg = f"{operator}: 'on_error' must be {policies}; got {settings['on_error']!r}."
        raise ValueError(msg)
    if settings["max_errors"] is not None and settings["max_errors"] < 0:
        msg = f"{operator}: 'max_errors' must not be negative; got {settings['max_errors']:g}."
        raise ValueError(msg)
    _check_shuffling(operator, settings, permutes_list)
    return settings


def _check_shuffling(operator: str, settings: dict[str, Any], permutes_list: bool) -> None:
    if settings["shuffle_after_epoch"]:
        for name in ("stick_to_shard", "random_shuffle"):
            if settings[name] and (permutes_list or name == "stick_to_shard"):
                msg = f"{operator}: 'shuffle_after_epoch' and '{name}' exclude each other."
                raise ValueError(msg)
    elif settings["shuffle_after_epoch_seed"] is not None:
        msg = (
            f"{operator}: 'shuffle_after_epoch_seed' has no effect unless 'shuffle_after_epoch' "
            "is True."
        )
        warn_caller(msg)


def check_last_batch(operator: str, given: str | None, pads: bool, batches: bool) -> LastBatch:
    """The argument `last_batch` of `next_epoch`, for a reader with `pad_last_batch` or without.

    It says nothing about an epoch without `batches`.
    """
    default: LastBatch = "pad" if pads else "fill"
    if given is None:
        return default
    if given not in LAST_BATCHES:
        msg = f"{operator}: 'last_batch' must be {join_names(LAST_BATCHES)}; got {given!r}."
        raise ValueError(msg)
    if given == "fill" and pads:
        msg = (
            f"{operator}: last_batch='fill' and pad_last_batch=True exclude each other. Leave out "
            "one of them."
        )
        raise ValueError(msg)
    return cast(LastBatch, given) if batches else default
