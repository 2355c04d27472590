# SPDX-License-Identifier: Apache-2.0
"""What a transform returned, as torch tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from .._engine.batch import Batch
from .._engine.device import Device
from .._engine.tensor import Tensor, as_tensor

# The key of the mask in dicts.
MASK = "valid"

# What goes through as it is, inside of a tuple, list or dict.
_PLAIN = (str, bytes, int, float, complex, bool, np.generic, type(None))


def map_values(made: Any, convert: Callable[[Any, str], Any], name: str = "") -> Any:
    """Apply a function to all that is in nested tuples, lists and dicts, with what it is called."""
    if isinstance(made, Mapping):
        return {key: map_values(part, convert, f"{name}[{key!r}]") for key, part in made.items()}
    if isinstance(made, tuple | list):
        parts = [map_values(part, convert, f"{name}[{i}]") for i, part in enumerate(made)]
        if isinstance(made, list):
            return parts
        # Named tuples take their values one by one.
        return tuple(parts) if type(made) is tuple else type(made)(*parts)
    return convert(made, name)


def with_mask(made: Any, count: int, valid: int, where: str) -> Any:
    """The same with a mask of the samples that count: a last item, or the entry "valid"."""
    mask = torch.arange(count) < valid
    if isinstance(made, Mapping):
        if MASK in made:
            msg = (
                f"{where}: with mask=True the entry {MASK!r} is the mask, but 'transform' returned "
                "one of that name. Give it another."
            )
            raise ValueError(msg)
        return {**made, MASK: mask}
    return (*made, mask) if type(made) is tuple else (made, mask)


def check_made(made: Any, where: str) -> None:
    """Raise TypeError if a transform returned nothing that can be delivered."""
    if made is None:
        msg = f"{where}: 'transform' returned None. Let it return what a step is to deliver."
        raise TypeError(msg)
    map_values(made, lambda value, name: _check_value(value, name, where))


def _check_value(value: Any, name: str, where: str) -> None:
    arrays = (Tensor, Batch, torch.Tensor, np.ndarray)
    if isinstance(value, arrays) or (name and isinstance(value, _PLAIN)):
        return
    called = f"its item {name} is" if name else "it is"
    msg = (
        f"{where}: 'transform' must return a Batch or a torch tensor, or a tuple, list or dict of "
        f"these; {called} {type(value).__name__} {value!r:.60}. Return its batches, in a dict say, "
        'or pass output="ndd" to get whatever it returns.'
    )
    raise TypeError(msg)


def moved(made: Any, device: Device) -> Any:
    """All arrays on a device, as tensors and batches of ours."""

    def convert(value: Any, _name: str) -> Any:
        if isinstance(value, np.ndarray | torch.Tensor):
            value = as_tensor(value)
        return value.to_device(device) if isinstance(value, Tensor | Batch) else value

    return map_values(made, convert)


def to_tensors(made: Any, pin: bool, where: str) -> Any:
    """All arrays in CPU memory as torch tensors, which are `pin`ned for transfers.

    What is on an accelerator stays for `exported`.
    """

    def convert(value: Any, name: str) -> Any:
        if isinstance(value, Batch):
            _check_dense(value, name, where)
        if isinstance(value, np.ndarray):
            value = as_tensor(value)
        if isinstance(value, Batch | Tensor) and value.device == Device.CPU:
            value = value.torch()
        pinned = pin and isinstance(value, torch.Tensor) and value.device.type == "cpu"
        return value.pin_memory() if pinned else value

    return map_values(made, convert)


def exported(made: Any) -> Any:
    """What `to_tensors` left, as torch tensors that the stream of the calling thread may use."""

    def convert(value: Any, _name: str) -> Any:
        return value.torch() if isinstance(value, Batch | Tensor) else value

    return map_values(made, convert)


def _check_dense(batch: Batch, name: str, where: str) -> None:
    shapes = set(batch.shape)
    if len(shapes) <= 1:
        return
    some = ", ".join(map(str, sorted(shapes)[:3]))
    msg = (
        f"{where}: the samples of {f'item {name}' if name else 'the batch'} have different shapes: "
        f"{some}{', ...' * (len(shapes) > 3)}. Let 'transform' resize them or pad them with "
        'batch.torch(pad=True), or pass output="ndd".'
    )
    raise ValueError(msg)
