# SPDX-License-Identifier: Apache-2.0
"""What every operator promises, checked on an accelerator."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd

from ..._engine.devices import DeviceBody, require_backend
from ..._engine.op import registry
from .calls import Call

if TYPE_CHECKING:
    from ..._gpu.accelerator import Accelerator

_SEED = 5
_MODES = ndd.EvalMode.eager, ndd.EvalMode.deferred, ndd.EvalMode.sync_full
Outputs = list[list[NDArray[Any]]]


@dataclass
class Finding:
    """What was found out about an operator."""

    # Of all values from those on the CPU, where the type is a floating-point one relative to the
    # largest.
    difference: float = 0.0
    # For samples of equal and of different sizes.
    launches: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def accelerator() -> Accelerator:
    """The accelerator that is there."""
    from ..._gpu.accelerator import require_accelerator

    return require_accelerator("gpu_check")


def uses_triton() -> bool:
    """Whether kernels in Triton draw random numbers."""
    from ..._gpu.philox import triton_kernels

    return triton_kernels() is not None


def find_body(name: str) -> DeviceBody | None:
    """What runs an operator on the accelerator."""
    return require_backend("gpu_check").body_of(registry[name])


def check(call: Call) -> Finding:
    """Compare an operator with the CPU, in all modes, and see whether it waits for the device."""
    found = Finding()
    for equal in (True, False):
        try:
            with _random_numbers_there():
                _check_samples(call, call.samples(equal), found)
        except Exception as error:
            found.wrong.append(f"{type(error).__name__}: {error}")
    return found


@contextlib.contextmanager
def _random_numbers_there() -> Iterator[None]:
    """Inside, random numbers are drawn on the device, however few they are."""
    from ..._gpu import philox

    before, philox.FEWEST = philox.FEWEST, 0
    try:
        yield
    finally:
        philox.FEWEST = before


def _check_samples(call: Call, samples: Outputs, found: Finding) -> None:
    here = _batches(call, samples)
    body = find_body(call.name)
    assert body is not None
    expected = _arrays(_run(call, here))
    there = [
        batch if number in body.host_inputs else batch.gpu().evaluate()
        for number, batch in enumerate(here)
    ]
    for mode in _MODES:
        with mode:
            results = _run(call, there, device="gpu")
            if any(part.device.device_type != "gpu" for part in results):
                found.wrong.append("a result is not on the device")
            _compare(call, _arrays(results), expected, found, mode.name)
    if not _same(_arrays(there), samples):
        found.wrong.append("an input was changed")
    if here:
        empty = [batch.select([]) for batch in there]
        if any(part.batch_size for part in _run(call, empty, device="gpu")):
            found.wrong.append("a batch without samples gave some")
    with ndd.EvalMode.sync_cpu, _no_waiting(call.waits), _count() as launches:
        _run(call, there, device="gpu")
    found.launches.append(launches[0])


def _batches(call: Call, samples: Outputs) -> list[ndd.Batch]:
    return [
        ndd.batch(part, layout=call.layout if number == 0 else None)
        for number, part in enumerate(samples)
    ]


def _run(call: Call, inputs: list[ndd.Batch], **changes: Any) -> tuple[Any, ...]:
    arguments = {**call.arguments, **changes}
    if call.random:
        arguments["rng"] = ndd.random.RNG(seed=_SEED)
    result = operator.attrgetter(call.name)(ndd)(*inputs, **arguments)
    return result if isinstance(result, tuple) else (result,)


def _arrays(results: Any) -> Outputs:
    return [[np.array(sample.cpu()) for sample in part] for part in results]


def _same(actual: Outputs, expected: Outputs) -> bool:
    pairs = zip(actual, expected, strict=True)
    return all(np.array_equal(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))


def _compare(call: Call, actual: Outputs, expected: Outputs, found: Finding, mode: str) -> None:
    for ours, theirs in zip(actual, expected, strict=True):
        for x, y in zip(ours, theirs, strict=True):
            if (x.shape, x.dtype) != (y.shape, y.dtype):
                found.wrong.append(f"{mode}: {x.dtype}{x.shape} instead of {y.dtype}{y.shape}")
                return
            largest = float(np.abs(y.astype(np.float64)).max(initial=0))
            gap = float(np.abs(x.astype(np.float64) - y.astype(np.float64)).max(initial=0))
            is_float = x.dtype.kind == "f"
            allowed = call.tolerance * largest if is_float else max(1, call.tolerance * largest)
            # NaN is never allowed.
            if not gap <= allowed:
                found.wrong.append(f"{mode}: differs from the CPU by {gap:g} of {largest:g}")
                return
            share = gap / largest if is_float and largest else gap
            found.difference = max(found.difference, share)


@contextlib.contextmanager
def _no_waiting(allowed: bool) -> Iterator[None]:
    """Inside, torch raises where the CPU waits for the device, on CUDA."""
    import torch

    if allowed or accelerator().kind != "cuda":
        yield
        return
    before = torch.cuda.get_sync_debug_mode()
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode(before)


@contextlib.contextmanager
def _count() -> Iterator[list[int]]:
    """Counts operations of torch that do more than to show memory in another way."""
    count = [0]
    with _counter()(count):
        yield count


@functools.cache
def _counter() -> Any:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
        """Lets everything happen, and counts."""

        def __init__(self, count: list[int]) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self._count = count

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            name = function.overloadpacket.__name__
            aliases = [part.alias_info for part in function._schema.returns]
            is_view = any(alias is not None and not alias.is_write for alias in aliases)
            if not is_view and not name.startswith(("empty", "new_empty", "_unsafe_view")):
                self._count[0] += 1
            return function(*args, **(kwargs or {}))

    return Counter
