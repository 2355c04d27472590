# SPDX-License-Identifier: Apache-2.0
"""Which kernels and operators there are for data on accelerators."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import _kernels
from .._engine.device_samples import DeviceSamples
from .._engine.op import registry
from .._engine.placement import current_placement

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Entry(NamedTuple):
    kernel: Callable[..., Any]
    operand: int


_entries: dict[str, _Entry] = {}
# The native kernels as they were before `install`.
native: dict[str, Callable[..., Any]] = {
    name: getattr(_kernels, name) for name in ("empty", "empty_uniform")
}


def gpu_kernel(name: str, operand: int = 0) -> Callable[[Kernel], Kernel]:
    """Register the counterpart of a native kernel.

    Argument number `operand`, Samples or a list of them, decides which of the two is called.
    """

    def register(kernel: Kernel) -> Kernel:
        _entries[name] = _Entry(kernel, operand)
        native[name] = getattr(_kernels, name)
        return kernel

    return register


# The operators that read their data on the CPU, and wait for the accelerator.
waiting: set[str] = set()


def runs_on_gpu(
    *names: str, host_inputs: tuple[int, ...] = (), allocates: bool = False, waits: bool = False
) -> None:
    """Say that operators' own bodies work with what is registered here.

    Inputs whose position is in `host_inputs` are parameters, which a body reads on the CPU. If a
    body `allocates` its output and lets a kernel fill it, that is on the accelerator; otherwise
    what a body makes itself is small, made on the CPU, and uploaded when it is done. One that
    `waits` reads data of the accelerator on the CPU.
    """
    waiting.update(names if waits else ())
    for name in names:
        spec = registry[name]
        body = spec.bodies["cpu"]
        spec.bodies["gpu"] = _allocating(body) if allocates else body
        spec.host_inputs.update(host_inputs)


def gpu_body(
    name: str, host_inputs: tuple[int, ...] = (), waits: bool = False
) -> Callable[[Kernel], Kernel]:
    """Register a body of its own for an operator."""
    waiting.update([name] if waits else ())

    def register(body: Kernel) -> Kernel:
        registry[name].bodies["gpu"] = body
        registry[name].host_inputs.update(host_inputs)
        return body

    return register


class _Local(threading.local):
    allocates = False


_local = _Local()


def _allocating(body: Callable[..., Any]) -> Callable[..., Any]:
    def call(*inputs: Any, **arguments: Any) -> Any:
        outer, _local.allocates = _local.allocates, True
        try:
            return body(*inputs, **arguments)
        finally:
            _local.allocates = outer

    return call


def native_empty(type_id: int, shapes: Any, layout: str, count: int) -> Any:
    """Uninitialised samples in CPU memory, whatever the call allocates."""
    return native["empty"](type_id, shapes, layout, count)


def _allocate(type_id: int, shapes: Any, layout: str, count: int) -> Any:
    if not _local.allocates:
        return native["empty"](type_id, shapes, layout, count)
    placement = current_placement()
    rows = np.broadcast_to(shapes, (count, shapes.shape[1]))
    return DeviceSamples.empty(type_id, rows, layout, placement.device, placement.queue)


def _allocate_uniform(type_id: int, shape: Any, layout: str, count: int) -> Any:
    if not _local.allocates:
        return native["empty_uniform"](type_id, shape, layout, count)
    return _allocate(type_id, np.array([shape], np.int64).reshape(1, -1), layout, count)


def install() -> None:
    """Let native kernels pass on calls that concern data on an accelerator."""
    for name, allocate in (("empty", _allocate), ("empty_uniform", _allocate_uniform)):
        setattr(_kernels, name, allocate)
    for name, entry in _entries.items():
        setattr(_kernels, name, _passing_on(native[name], entry))


def uninstall() -> None:
    """Undo `install`."""
    for name, kernel in native.items():
        setattr(_kernels, name, kernel)


def _passing_on(original: Callable[..., Any], entry: _Entry) -> Callable[..., Any]:
    kernel, operand = entry

    def call(*arguments: Any) -> Any:
        chosen = arguments[operand]
        if isinstance(chosen, DeviceSamples):
            return kernel(*arguments)
        if isinstance(chosen, list | tuple) and any(isinstance(p, DeviceSamples) for p in chosen):
            return kernel(*arguments)
        return original(*arguments)

    return call
