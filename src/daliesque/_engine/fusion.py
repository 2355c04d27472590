# SPDX-License-Identifier: Apache-2.0
"""Chains of deferred calls that run together, a few samples at a time.

In a chain such as decode, crop, resize, normalize, each call works sample by sample on the result
of the one before, which nobody else has. Instead of one batch after the other, a few samples at a
time go through the whole chain, and are still in the cache of the processor when the next operator
takes them; the last one writes into the buffer of the batch. No batch in between ever exists.

Results are those of the calls one by one, bit for bit. If anything is wrong, the calls are made one
by one after all, so that the error is the same as well.

This pays where memory is what limits a chain: light operators on large batches become up to 1.4
times as fast. Chains that begin with a decoder do not gain speed (the processor waits for itself,
not for memory) and may lose some, but need no memory for batches in between. Other chains with
expensive operators would lose a few percent; they are left alone, and so are small batches.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .. import _kernels
from .devices import Results
from .samples import Samples
from .value import Value

if TYPE_CHECKING:
    from .context import EvalContext
    from .errors import CallSite
    from .invocation import Invocation
    from .op import Operator

# Parts of images to be decoded have this many samples: running a part costs some 0.2 ms besides the
# work, because neither the interpreter nor the kernels find their data in the cache.
_LEAST_DECODED = 4
_MOST_DECODED = 16
# Parts of other batches have this many bytes of the first input: they and what becomes of them fit
# into the cache of the processor. If the whole batch does anyway, there is nothing to gain.
_PART_BYTES = 1 << 22
_LEAST_BYTES = 1 << 24


class Link(NamedTuple):
    """A call of a chain; the first input of all but the first is what the call before makes."""

    operator: Operator
    size: int
    source: Sequence[Any] | None
    body: Callable[..., Results]
    # Values, and when the chain runs, their data.
    inputs: tuple[Any, ...]
    arguments: dict[str, Any]
    converters: dict[str, Callable[[Samples], Any]]
    # Which output of the call before is the first input.
    output: int
    site: CallSite | None

    def run(self, count: int, inputs: list[Samples | None], arguments: dict[str, Any]) -> Results:
        """Run the operator on a batch, or on part of one."""
        return self.operator.run(count, self.source, self.body, inputs, arguments)


def fuse(order: list[Invocation]) -> list[Invocation]:
    """Let the last call of each chain run the whole chain, and return the calls to be made.

    `order` has each call after those that it depends on.
    """
    fused: set[int] = set()
    for last in reversed(order):
        if id(last) in fused:
            continue
        chain = [last]
        while (before := _call_before(chain[-1])) is not None:
            chain.append(before)
        if len(chain) > 1:
            fused.update(map(id, chain[1:]))
            _replace(last, chain[::-1])
        del before, chain
    return [invocation for invocation in order if id(invocation) not in fused]


def _call_before(invocation: Invocation) -> Invocation | None:
    """The call that makes the first input, if the two can run together."""
    first = invocation._inputs[0] if invocation._inputs else None
    if not isinstance(first, Value) or first._pending is None or not _can_split(invocation):
        return None
    before = first._pending
    if not _can_split(before) or before._context is not invocation._context:
        return None
    # Whoever else has a result in between will want it computed. If that cannot be seen, the call
    # is made again when the result is read.
    if sys.getrefcount(first) > _REFERENCES_OF_VALUE:
        return None
    if sys.getrefcount(before) > _REFERENCES_OF_CALL or _count_of(before) != _count_of(invocation):
        return None
    return before


# What the tuple of inputs, the variable and the argument of getrefcount count for.
_REFERENCES_OF_VALUE = 3
# And for a call: that of its result, the list of calls, the variable and the argument.
_REFERENCES_OF_CALL = 4


def _can_split(invocation: Invocation) -> bool:
    """Whether a call that has not begun may be run for a few samples at a time."""
    body = invocation._body
    if invocation._scheduled or invocation._placement is not None:
        return False
    if not isinstance(body, functools.partial) or invocation.is_remote:
        return False
    operator = getattr(body.func, "__self__", None)
    return getattr(operator, "by_sample", False) and _count_of(invocation) > 1


def _count_of(invocation: Invocation) -> int:
    assert isinstance(invocation._body, functools.partial)
    count: int = invocation._body.args[0]
    return count


def _replace(last: Invocation, chain: list[Invocation]) -> None:
    """Make the last call of a chain the call of the whole chain."""
    calls = [_call_of(invocation) for invocation in chain]
    # What was announced follows from the inputs, which are others from now on.
    last.announced(0)
    assert last._context is not None
    body = Chain(calls, last._context, weakref.ref(last))
    last._inputs = body.values
    last._arguments = {}
    last._converters = None
    last._body = body


def _call_of(invocation: Invocation) -> Link:
    body = invocation._body
    assert isinstance(body, functools.partial)
    count, source, function = body.args
    operator: Operator = getattr(body.func, "__self__")  # noqa: B009
    inputs = invocation._inputs
    return Link(
        operator,
        count,
        source,
        function,
        inputs,
        invocation._arguments,
        invocation._converters or {},
        inputs[0]._output if isinstance(inputs[0], Value) else 0,
        invocation._site,
    )


class Chain:
    """The body of a call that stands for a chain of calls."""

    def __init__(
        self, calls: list[Link], context: EvalContext, last: weakref.ref[Invocation]
    ) -> None:
        self._context = context
        self._last = last
        # What the chain needs: the inputs and tensors among the arguments of all calls.
        values: list[Value | Samples | None] = []
        self._calls: list[Link] = []
        for number, call in enumerate(calls):
            inputs = call.inputs if number == 0 else (None, *call.inputs[1:])
            self._calls.append(call._replace(inputs=inputs))
            values.extend(inputs)
            values.extend(call.arguments[name] for name in call.converters)
        self.values = tuple(values)

    def __call__(self, data: list[Samples | None], _: dict[str, Any]) -> Results:
        """Run the chain; `data` is that of `values`."""
        calls = self._with_data(data)
        bounds = _find_bounds(calls, self._context.num_threads)
        if len(bounds) > 1:
            try:
                return _InParts(calls, bounds).run(self._context)
            except Exception:
                # Once more, one by one: whatever is wrong comes out as it should.
                pass
        return self._run_whole(calls)

    def _with_data(self, data: list[Samples | None]) -> list[Link]:
        """The calls with data instead of values."""
        calls = []
        found = iter(data)
        for call in self._calls:
            inputs = tuple(next(found) for _ in call.inputs)
            arguments = dict(call.arguments)
            for name, convert in call.converters.items():
                given = next(found)
                assert given is not None
                with_site = functools.partial(convert, given)
                arguments[name] = self._attributed(call, with_site)
            calls.append(call._replace(inputs=inputs, arguments=arguments))
        return calls

    def _run_whole(self, calls: list[Link]) -> Results:
        """Run the calls one by one."""
        results: Results | None = None
        for call in calls:
            inputs: list[Any] = list(call.inputs)
            if results is not None:
                inputs[0] = results[call.output] if isinstance(results, tuple) else results
            results = self._attributed(
                call, functools.partial(call.run, call.size, inputs, call.arguments)
            )
        assert results is not None
        return results

    def _attributed(self, call: Link, function: Callable[[], Any]) -> Any:
        """Call a function; if it fails, that is the failure of a call of the chain."""
        try:
            return function()
        except Exception:
            last = self._last()
            if last is not None:
                last.name, last._site = call.operator.name, call.site
            raise


class _InParts:
    """A chain that is run for a few samples at a time."""

    def __init__(self, calls: list[Link], bounds: list[tuple[int, int]]) -> None:
        self._calls = calls
        self._bounds = bounds
        self._output = _kernels.OutputBatch(calls[0].size)
        # For each call, the arguments of which each sample has its own.
        self._differing = [_differing_arguments(call) for call in calls]

    def run(self, context: EvalContext) -> Results:
        """Run all parts on the Python threads of a context."""
        bounds = self._bounds
        results: list[Any] = [None] * len(bounds)

        def make(number: int) -> None:
            previous = _kernels.exchange_current_pool(_serial)
            try:
                results[number] = self._make(*bounds[number])
            finally:
                _kernels.exchange_current_pool(previous)

        context.python_threads.run(make, len(bounds))
        if isinstance(results[0], tuple):
            outputs = zip(*results, strict=True)
            return tuple(_joined(output) for output in outputs)
        whole = all(
            self._output.holds(first, part)
            for (first, _), part in zip(bounds, results, strict=True)
        )
        return self._output.batch(results[0].layout) if whole else _joined(results)

    def _make(self, first: int, size: int) -> Results:
        """Run the chain for some samples."""
        results: Results | None = None
        for call, differing in zip(self._calls, self._differing, strict=True):
            inputs: list[Any] = [_part(samples, first, size) for samples in call.inputs]
            if results is not None:
                inputs[0] = results[call.output] if isinstance(results, tuple) else results
            arguments = dict(call.arguments)
            for name in differing:
                arguments[name] = _part(arguments[name], first, size)
            if call.operator.is_random:
                if inputs[0].layout.startswith("F"):
                    msg = "draws for the frames of sequences depend on the number of the frame"
                    raise TypeError(msg)
                arguments["rng"] = arguments["rng"].from_sample(first)
            if call is self._calls[-1]:
                self._output.begin(first, size)
            try:
                results = call.run(size, inputs, arguments)
            finally:
                self._output.end()
        assert results is not None
        return results


def _find_bounds(calls: list[Link], threads: int) -> list[tuple[int, int]]:
    """First sample and size of each part of a batch; a single one if splitting it does not pay."""
    count, first = calls[0].size, calls[0].inputs[0]
    if calls[0].operator.encoded:
        size = min(max(_LEAST_DECODED, -(-count // (2 * threads))), _MOST_DECODED)
    elif first is None or any(call.operator.weight > 1 for call in calls):
        size = count
    elif first.nbytes < _LEAST_BYTES:
        size = count
    else:
        size = max(1, _PART_BYTES * count // first.nbytes)
    return [(begin, min(size, count - begin)) for begin in range(0, count, size)]


def _differing_arguments(call: Link) -> list[str]:
    found = []
    for name, value in call.arguments.items():
        rule = call.operator.rules.get(name)
        if rule is None or not rule.per_sample or value is None:
            continue
        if not isinstance(value, np.ndarray | list | _kernels.Samples):
            msg = f"the argument '{name}' cannot be split"
            raise TypeError(msg)
        if len(value) == call.size:
            found.append(name)
    return found


def _part(values: Any, first: int, size: int) -> Any:
    """Those of some samples; what is the same for all samples is returned as it is."""
    if values is None or len(values) == 1:
        return values
    if isinstance(values, np.ndarray | list):
        return values[first : first + size]
    return values.select(range(first, first + size))


def _joined(parts: Sequence[Samples]) -> Samples:
    """One batch of parts; of equal shapes in one buffer, as if it had been made at once."""
    joined: Samples = _kernels.join(list(parts))  # type: ignore[arg-type]
    return joined.copy() if joined.uniform else joined


_serial = _kernels.ThreadPool(1)
