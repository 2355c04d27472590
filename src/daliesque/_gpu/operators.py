# SPDX-License-Identifier: Apache-2.0
"""Which operators run on a gpu, and by which body.

Most run by their only body, if there is a device kernel for each kernel that it names. That is
read from its code: every `<data>.kernels.<name>` and `kernels.<name>` in the body and in those
functions of this package that it refers to.
"""

from __future__ import annotations

import dis
import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from .._engine.devices import DeviceBody
from .._engine.samples import HostSamples
from .._engine.spec import OpSpec
from . import boxes, generic, image_decoders, kernels, points

_PACKAGE = __name__.partition(".")[0] + "."

# Operators with a body of their own on accelerators.
OWN_BODIES: dict[str, Callable[..., Any]] = {
    "bb_flip": boxes.bb_flip,
    "coord_flip": points.coord_flip,
    "decoders.image": image_decoders.image,
    "dump_image": generic.dump_image,
}
# The operators that read their data on the CPU, and wait for the accelerator.
WAITING = frozenset({"dump_image", "noise.shot"})


@functools.cache
def body_of(operator: OpSpec) -> DeviceBody | None:
    """What runs an operator on an accelerator; None if nothing does."""
    own = OWN_BODIES.get(operator.name)
    if own is not None:
        hints = typing.get_type_hints(own)
        names = [name for name in inspect.signature(own).parameters if name in hints]
        host_inputs = frozenset(i for i, n in enumerate(names) if hints[n] is HostSamples)
        return DeviceBody(own, host_inputs, len(host_inputs) == len(operator.inputs))
    named = named_kernels(operator.body)
    if operator.cpu_only or not named <= set(kernels.__all__):
        return None
    host_inputs = frozenset(i for i, declared in enumerate(operator.inputs) if declared.on_host)
    is_for_cpu = 0 < len(operator.inputs) == len(host_inputs) and not named
    return DeviceBody(operator.body, host_inputs, is_for_cpu)


def named_kernels(body: Callable[..., Any]) -> set[str]:
    """The kernels that a function, and those it refers to, find through data."""
    names: set[str] = set()
    seen: set[FunctionType] = set()
    waiting = list(_functions_of(body))
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        for code in _codes_in(function.__code__):
            names.update(_accesses(code))
            for name in code.co_names:
                waiting.extend(_functions_of(function.__globals__.get(name)))
    return names


def _functions_of(value: Any) -> Iterator[FunctionType]:
    """The functions of this package that a global value stands for."""
    if not getattr(value, "__module__", None) or not value.__module__.startswith(_PACKAGE):
        return
    if isinstance(value, type):
        # Only small classes of operators; those of the engine call no kernels of their own accord.
        if value.__module__.startswith((f"{_PACKAGE}_ops.", f"{_PACKAGE}_shapes.")):
            yield from (part for part in vars(value).values() if isinstance(part, FunctionType))
    elif callable(value):
        function = inspect.unwrap(value)
        if isinstance(function, FunctionType):
            yield function


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those defined inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def _accesses(code: CodeType) -> Iterator[str]:
    """The attributes of anything that is called `kernels`."""
    previous: Any = None
    for instruction in dis.get_instructions(code):
        if previous == "kernels" and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield instruction.argval
        # Some instructions load two names at once.
        loaded = instruction.argval
        previous = loaded[-1] if isinstance(loaded, tuple) and loaded else loaded
