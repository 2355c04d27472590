# SPDX-License-Identifier: Apache-2.0
"""Calls that run together: chains sample by sample, arithmetic block by block.

In a chain such as decode, crop, resize, normalize, each call works sample by sample on the result
of the one before, which nobody else has. Instead of one batch after the other, one sample after the
other goes through all kernels of the chain: it is still in the cache of the processor when the next
kernel takes it, threads wait for each other only at the end, and the last kernel writes into the
buffer of the batch. No batch in between ever exists.

Deferred calls form chains when a result is read; in eager mode, calls that are queued when the
first of them is about to run do.

For that, each body runs once, with a plan in place of its data (`_kernels.PlannedSamples`): type
and shapes are known, and kernels that are given a plan return a longer one. Where that does not
work, because a body reads its data or calls a kernel that cannot be planned, the data is made.

Calls of arithmetic run together wherever they are queued or deferred: see `elementwise`.

Results are those of the calls one by one, bit for bit. If anything is wrong, the calls are made one
by one after all, so that the error is the same as well.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _kernels
from .devices import Results
from .elementwise import Expression, find_expression, is_elementwise, make_expression
from .samples import Samples
from .value import Value

if TYPE_CHECKING:
    from .context import EvalContext
    from .errors import CallSite
    from .invocation import Invocation
    from .op import Operator

# With fewer samples for each thread, some threads would be idle in the end: call by call, large
# samples are shared between them.
_LEAST_SAMPLES_PER_THREAD = 4
# Small samples stay in the cache anyway, and cost more to take one by one than all at once.
_LEAST_BYTES_PER_SAMPLE = 1 << 15


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

    def run(self, inputs: list[Samples | None], body: Callable[..., Results]) -> Results:
        """Run the operator, with its body or one that stands for it."""
        run = functools.partial(self.operator.run, self.size, self.source, body)
        results: Results = _kernels.run_under(
            self.operator.name, False, 0, run, inputs, self.arguments
        )
        return results


def fuse(order: list[Invocation]) -> list[Invocation]:
    """Let the last call of each chain run the whole chain, and return the calls to be made.

    `order` has each call after those that it depends on.
    """
    fused: set[int] = set()
    for last in reversed(order):
        if id(last) in fused:
            continue
        found = make_expression(last, False, _REFERENCES_OF_DEFERRED)
        if found is not None:
            fused.update(map(id, found[1][:-1]))
            _kernels.become_chain(last, found[0])
            del found
            continue
        chain = [last]
        while (before := _call_before(chain[-1], False, _REFERENCES_OF_DEFERRED)) is not None:
            chain.append(before)
        if len(chain) > 1:
            fused.update(map(id, chain[1:]))
            _kernels.become_chain(last, _chain_of(chain[::-1]))
        del before, chain
    return [invocation for invocation in order if id(invocation) not in fused]


def find_chain(calls: list[Invocation]) -> tuple[Chain | Expression, list[Invocation]] | None:
    """Find calls of a queue that run together with the first of these, which are in order.

    Returns what the last one of them is to run in place of its own body, and all of them.
    """
    # Whoever reads some other result must not get what is wrong here: that comes out when the calls
    # are made one by one.
    with contextlib.suppress(Exception):
        if is_elementwise(calls[0], True):
            return find_expression(calls, _REFERENCES_OF_QUEUED - 1)
        if not _can_split(calls[0], True):
            return None
        chain = calls[:1]
        for number in range(1, len(calls)):
            if _call_before(calls[number], True, _REFERENCES_OF_QUEUED) is chain[-1]:
                chain.append(calls[number])
        if len(chain) > 1:
            return _chain_of(chain), chain
    return None


def _call_before(invocation: Invocation, queued: bool, references: int) -> Invocation | None:
    """The call that makes the first input, if the two can run together.

    `references` are those that a call has if nobody else wants its results.
    """
    first = invocation._inputs[0] if invocation._inputs else None
    if not isinstance(first, Value) or first._pending is None:
        return None
    if not _can_split(invocation, queued):
        return None
    before = first._pending
    if not _can_split(before, queued) or before._context is not invocation._context:
        return None
    # Whoever else has a result in between will want it computed. If that cannot be seen, the call
    # is made again when the result is read.
    if sys.getrefcount(first) > _REFERENCES_OF_VALUE:
        return None
    if sys.getrefcount(before) > references or _count_of(before) != _count_of(invocation):
        return None
    return before


# What the tuple of inputs, the variable and the argument of getrefcount count for.
_REFERENCES_OF_VALUE = 3
# And for a call: that of its result, the list of calls, the variable and the argument.
_REFERENCES_OF_DEFERRED = 4
# In a queue, there are also that of the queue and that of the chain so far.
_REFERENCES_OF_QUEUED = 6


def _can_split(invocation: Invocation, queued: bool) -> bool:
    """Whether a call that has not begun may be run for a few samples at a time."""
    body = invocation._body
    if invocation._scheduled is not queued or invocation._placement is not None:
        return False
    if not isinstance(body, functools.partial) or invocation.is_remote:
        return False
    operator = getattr(body.func, "__self__", None)
    return getattr(operator, "by_sample", False) and _count_of(invocation) > 1


def _count_of(invocation: Invocation) -> int:
    assert isinstance(invocation._body, functools.partial)
    count: int = invocation._body.args[0]
    return count


def _chain_of(calls: list[Invocation]) -> Chain:
    """What the last of some calls runs if it stands for all of them."""
    last = calls[-1]
    # What was announced follows from the inputs, which are others from now on.
    last.announced(0)
    assert last._context is not None
    return Chain([_call_of(call) for call in calls], last._context, weakref.ref(last))


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


class PlannedChain:
    """The body of a call that runs the kernels of a chain, or its calls one by one."""

    def __init__(self, planned: Any, run_whole: Callable[[], Results]) -> None:
        self._planned = planned
        self._run_whole = run_whole

    @property
    def nbytes(self) -> int:
        """The bytes that kernels are going to write."""
        planned = self._planned
        parts = planned if isinstance(planned, tuple) else (planned,)
        return sum(part.nbytes for part in parts if isinstance(part, _kernels.PlannedSamples))

    def __call__(self, _: list[Samples | None], __: dict[str, Any]) -> Results:
        """Run the kernels."""
        _kernels.count_inside()
        planned = self._planned
        if planned is not None:
            with contextlib.suppress(Exception):
                return tuple(map(_made, planned)) if isinstance(planned, tuple) else _made(planned)
        return self._run_whole()


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

    def __call__(self, data: list[Samples | None], arguments: dict[str, Any]) -> Results:
        """Run the chain; `data` is that of `values`."""
        return self.plan(data, arguments)([], {})

    def plan(self, data: list[Samples | None], _: dict[str, Any]) -> PlannedChain:
        """Do what comes before the kernels; what is returned runs them."""
        # The calls of the chain count, by themselves.
        _kernels.count_inside()
        calls = self._with_data(data)
        for call in calls:
            _kernels.count_calls(call.operator.name, False, 1, 0, 0)
        planned = None
        if _pays(calls, self._context.num_threads):
            # If it fails, the calls are made one by one: what is wrong comes out as it should.
            with contextlib.suppress(Exception):
                planned = _plan_by_sample(calls)
        return PlannedChain(planned, functools.partial(self._run_whole, calls))

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
            inputs = _inputs_after(results, call)
            results = self._attributed(call, functools.partial(call.run, inputs, call.body))
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


def _inputs_after(results: Results | None, call: Link) -> list[Any]:
    """The inputs of a call, given the results of the one before."""
    inputs: list[Any] = list(call.inputs)
    if results is not None:
        inputs[0] = results[call.output] if isinstance(results, tuple) else results
    return inputs


def _pays(calls: list[Link], threads: int) -> bool:
    """Whether to run a chain sample by sample."""
    first = calls[0]
    if first.size < _LEAST_SAMPLES_PER_THREAD * threads:
        return False
    data = first.inputs[0]
    if data is None or len(data) != first.size:
        return False
    return first.operator.encoded or data.nbytes >= _LEAST_BYTES_PER_SAMPLE * first.size


def _plan_by_sample(calls: list[Link]) -> Any:
    """Plan all calls; returns plans of the results of the last, or results that need none."""
    results: Any = None
    for call in calls:
        inputs = _inputs_after(results, call)
        planned = functools.partial(_run_planned, call.body)
        try:
            results = call.run(inputs, planned)
        except Exception:
            if not isinstance(inputs[0], _kernels.PlannedSamples):
                raise
            # It needs data: the plan ends here, and another one begins.
            inputs[0] = inputs[0].make()
            results = call.run(inputs, planned)
    return results


def _run_planned(body: Callable[..., Results], first: Any, *inputs: Any, **arguments: Any) -> Any:
    """Run a body with a plan in place of its first input."""
    if not isinstance(first, _kernels.PlannedSamples):
        first = _kernels.PlanSource(first)
    return body(first, *inputs, **arguments)


def _made(result: Any) -> Samples:
    """The samples of a plan, or samples as they are."""
    made: Samples = result.make() if isinstance(result, _kernels.PlannedSamples) else result
    return made
