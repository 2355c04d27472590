# SPDX-License-Identifier: Apache-2.0
"""Which kernels and operators there are for data on accelerators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from .. import _kernels
from .._engine.device_samples import DeviceSamples
from .._engine.op import registry

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


class _Entry(NamedTuple):
    kernel: Callable[..., Any]
    operand: int


_entries: dict[str, _Entry] = {}
# The native kernels as they were before `install`.
native: dict[str, Callable[..., Any]] = {}


def gpu_kernel(name: str, operand: int = 0) -> Callable[[Kernel], Kernel]:
    """Register the counterpart of a native kernel.

    Argument number `operand`, Samples or a list of them, decides which of the two is called.
    """

    def register(kernel: Kernel) -> Kernel:
        _entries[name] = _Entry(kernel, operand)
        native[name] = getattr(_kernels, name)
        return kernel

    return register


def runs_on_gpu(*names: str, host_inputs: tuple[int, ...] = ()) -> None:
    """Say that operators' own bodies work with what is registered here.

    Inputs whose position is in `host_inputs` are parameters, which a body reads on the CPU.
    """
    for name in names:
        spec = registry[name]
        spec.bodies["gpu"] = spec.bodies["cpu"]
        spec.host_inputs = frozenset(host_inputs)


def gpu_body(name: str, host_inputs: tuple[int, ...] = ()) -> Callable[[Kernel], Kernel]:
    """Register a body of its own for an operator."""

    def register(body: Kernel) -> Kernel:
        registry[name].bodies["gpu"] = body
        registry[name].host_inputs = frozenset(host_inputs)
        return body

    return register


def install() -> None:
    """Let native kernels pass on calls that concern data on an accelerator."""
    for name, entry in _entries.items():
        setattr(_kernels, name, _passing_on(native[name], entry))


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
