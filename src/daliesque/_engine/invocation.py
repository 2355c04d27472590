# SPDX-License-Identifier: Apache-2.0
"""One call of an operator: from pending to done or failed."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .. import _kernels
from .context import EvalContext
from .device import Device
from .devices import Body, Placement, Results, require_backend
from .dtype import DType
from .elementwise import bytes_of, compute
from .errors import CallSite, Failure, InternalError, call_site, raise_failure
from .fusion import Chain, PlannedChain, fuse
from .metadata import Announce, Call, Metadata, mismatch
from .modes import DEFERRED, EAGER, EvalMode
from .samples import Samples
from .thread_state import thread
from .threads import default_native_pool
from .value import Value, any_remote, remote_device

# With fewer bytes to be written, kernels take less time than to hand them to another thread.
_LEAST_BYTES_IN_BACKGROUND = 1 << 20
# Calls that cost less run at once in eager mode: to queue them and to come back to them when their
# results are read takes as long as they do.
_MOST_COST_AT_ONCE = 1 << 18


class Invocation:
    """A call that runs at most once.

    `body` receives the data of `inputs` and the `arguments`, in which Values have been replaced by
    what `converters` make of them. `announce` finds what is known about the results before the call
    has run. When it is done, nothing but the results is kept.
    """

    __slots__ = (
        "__weakref__",
        "_announce",
        "_announced",
        "_arguments",
        "_body",
        "_context",
        "_converters",
        "_device",
        "_inputs",
        "_mode",
        "_placement",
        "_pool",
        "_results",
        "_scheduled",
        "_site",
        "cost",
        "done",
        "dtype",
        "failure",
        "is_remote",
        # Number and line of the call in a trace; set only while one is written.
        "mark",
        "name",
        "nbytes",
        "waits_for_reader",
    )

    mark: tuple[int, str | None]

    def __init__(
        self,
        name: str,
        body: Body,
        inputs: tuple[Value | Samples | None, ...],
        arguments: dict[str, Any],
        converters: dict[str, Callable[[Samples], Any]] | None = None,
        announce: Announce | None = None,
        weight: int = 1,
        device: Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        self.name = name
        self.done = False
        self.failure: Failure | None = None
        # The type of the only result, if the caller knows it already.
        self.dtype = dtype
        self._announce = announce
        self._announced: tuple[Metadata, ...] | None = None
        # How long it takes, as bytes to be processed, and a guess of the size of its results.
        self.cost = weight
        self.nbytes = 0
        # Whether it runs on the thread that asks for its results: on devices that only one thread
        # may use at a time, this is one that uses them anyway.
        self.waits_for_reader = False
        self._body: Body | None = body
        self._inputs = inputs
        self._arguments = arguments
        self._converters = converters
        self._context: EvalContext | None = None
        self._device = device
        self.is_remote = device is not None and device.device_type != "cpu"
        self._placement: Placement | None = None
        self._pool: _kernels.ThreadPool | None = None
        self._site: CallSite | None = None
        self._mode = EAGER
        self._scheduled = False
        self._results: Results | None = None

    def start(self, mode: EvalMode, remote: bool | None, error: Exception | None = None) -> None:
        """Run now, soon or later, as the current mode says.

        `remote` says whether some inputs are elsewhere than in CPU memory, if the caller knows.
        With an `error` the call has run already, and failed: see `run_early`.
        """
        if error is not None:
            self._keep_announced()
            _kernels.settle(self, None, Failure(error, self.name, call_site(), mode.name))
            return
        context = EvalContext.current()
        self._context = context
        self._pool = context.native_pool
        if self.is_remote or (any_remote(self._inputs) if remote is None else remote):
            self._find_device(context, mode)
        if (mode is not EAGER and mode is not DEFERRED) or _kernels.inside_call():
            self._run_synchronously()
            return
        size = self._size_of_inputs(mode is EAGER)
        if size is None:
            self._run_synchronously()
            return
        self._mode = mode
        self._site = call_site()
        if mode is EAGER and not self.waits_for_reader:
            if self.is_remote and self._only_launches():
                self._run_synchronously()
                return
            # What arithmetic makes is as large as one of its inputs.
            is_arithmetic = self._body is compute
            self.nbytes = max(map(bytes_of, self._inputs)) if is_arithmetic else size
            self.cost += self.cost * size
            context.executor.submit(self)
        else:
            context.add_deferred(self)

    @property
    def device(self) -> Device:
        """Where the results are or will be."""
        return self._device or Device.CPU

    def _find_device(self, context: EvalContext, mode: EvalMode) -> None:
        """Find the queue for work of a call with data on an accelerator."""
        worker = self._device
        if worker is None or worker.device_type == "cpu":
            worker = remote_device(self.name, self._inputs)
        assert worker is not None
        assert worker.device_id is not None
        if self._device is None:
            # By default, results are where the inputs are.
            self._device = worker
            self.is_remote = True
        chosen = context.stream_for(worker.device_id)
        stream = context.own_stream(worker.device_id) if chosen is None else chosen
        wait = mode is EvalMode.sync_full
        backend = require_backend("device")
        self._placement = backend.placement(self.device, worker, stream, chosen is not None, wait)
        self.waits_for_reader = not backend.queues.is_thread_safe

    def _only_launches(self) -> bool:
        """Whether all data is on a device already: then the call only asks the device to do work.

        That is done on the thread of the caller. Handing it to another one would cost more, and
        both would wait for each other at every step.
        """
        for value in self._inputs:
            samples = value._known() if isinstance(value, Value) else value
            if samples is None or not samples.is_on_device:
                return False
        names = self._converters or ()
        return all(self._arguments[name]._known() is not None for name in names)

    def _size_of_inputs(self, wanted: bool) -> int | None:
        """The bytes of the inputs, guessed for pending ones; None if some are not our own memory.

        The owner of that memory may change it after the call. Only bytes that are `wanted` are
        counted.
        """
        size = 0
        for value in self._inputs:
            samples: Samples | None
            if isinstance(value, Value):
                samples = value._samples
                pending = value._pending
                if samples is None and pending is not None:
                    size += pending.nbytes
                    if pending.waits_for_reader:
                        self.waits_for_reader = True
            else:
                samples = value
            if samples is not None:
                if samples.external:
                    return None
                if wanted:
                    size += samples.nbytes
        if self._converters:
            for name in self._converters:
                value = self._arguments[name]
                if value._is_external():
                    return None
                if value._pending is not None and value._pending.waits_for_reader:
                    self.waits_for_reader = True
        return size

    def _run_synchronously(self) -> None:
        # Nobody else knows of this call: its results are taken, and it is gone.
        context = self._context
        assert context is not None
        if context.has_own_pool:
            self._results = _kernels.call_with_pool(self._pool, self._compute)
        else:
            self._results = self._compute()
        self.done = True

    def execute(self, background: bool) -> tuple[Results | None, Failure | None]:
        """Compute the results, or what went wrong, for the queue to settle the call with.

        What is raised leaves the call as it was, and the queue runs it again when somebody asks for
        its results: a KeyboardInterrupt is meant for the thread, not for the call.
        """
        failure: Failure | None
        try:
            failure = self._failed_dependency()
            if failure is None:
                return self._compute(), None
        except Exception as error:
            failure = Failure(error, self.name, self._site, self._mode.name)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and not background:
                raise
            failure = Failure(error, self.name, None, self._mode.name)
        self._keep_announced()
        return None, failure

    def _failed_dependency(self) -> Failure | None:
        """Wait for the calls this one depends on; returns the first failure."""
        for invocation in self._dependencies():
            invocation.finish()
            if invocation.failure is not None:
                return invocation.failure
        return None

    def _dependencies(self) -> list[Invocation]:
        # Another thread may be finishing this call: everything is read once.
        values: Sequence[Any] = self._inputs
        arguments, converters = self._arguments, self._converters
        if converters:
            values = [*values, *(arguments.get(name) for name in converters)]
        found = []
        for value in values:
            if isinstance(value, Value):
                pending = value._pending
                if pending is not None:
                    found.append(pending)
        return found

    def _compute(self) -> Results:
        assert self._body is not None
        inputs, arguments = _data_of(self._inputs, self._arguments, self._converters)
        body = self._body
        if self._placement is not None:
            body = functools.partial(self._placement.run, body)
        results: Results = _kernels.run_body(self.name, body, inputs, arguments)
        if self._announced is not None:
            self._check(results)
        return results

    def _check(self, results: Results) -> None:
        """Make sure that the results are what was announced."""
        parts = results if isinstance(results, tuple) else (results,)
        for number, samples in enumerate(parts):
            announced = self.announced(number)
            wrong = None if announced is None else mismatch(announced, samples)
            if wrong is not None:
                msg = f"{self.name}: output {number}: {wrong}. Please report this."
                raise InternalError(msg)

    def finish(self) -> None:
        """Return when the call is done, running it if it was deferred."""
        if self.done:
            return
        # Dependencies first: so no call has to run another from within, however long the chain.
        order = self._with_dependencies()
        if self._scheduled:
            if not _kernels.inside_call() and self._is_last_queued(order):
                # Not waiting for each of them lets them run together.
                order = [self]
        elif self._mode is DEFERRED and len(order) > 1:
            order = fuse(order)
        order.reverse()
        while order:
            # Not kept while others run: their results are freed when the last reader is done.
            invocation = order.pop()
            context = invocation._context
            if context is None:
                continue
            queue = context.executor.queue
            if invocation.waits_for_reader and invocation._placement is not None:
                queue.run_here(invocation)
                continue
            queue.wait(invocation)

    def _is_last_queued(self, order: list[Invocation]) -> bool:
        """Whether all calls that this one needs are in its queue, before it."""
        context = self._context
        return all(call._scheduled and call._context is context for call in order)

    def begin(self, background: EvalContext) -> None:
        """As `finish`, but if this is the end of a chain, its kernels run in another context.

        So the next calls are prepared while the threads of the pool are busy with these.
        """
        if self.done or self._scheduled or self._mode is not DEFERRED:
            self.finish()
            return
        order = fuse(self._with_dependencies())
        order.reverse()
        while len(order) > 1:
            order.pop().finish()
        chain = self._body
        if isinstance(chain, Chain) and self._failed_dependency() is None:
            # If it fails, it does so again below, where failures are kept.
            with contextlib.suppress(Exception):
                planned = self._planned(chain)
                self._body, self._inputs, self.nbytes = planned, (), planned.nbytes
        if self.nbytes < _LEAST_BYTES_IN_BACKGROUND:
            self.finish()
            return
        self.cost += self.nbytes
        self._context = background
        background.executor.submit(self)

    def _planned(self, chain: Chain) -> PlannedChain:
        """What runs the kernels of a chain that this call stands for."""
        inputs, arguments = _data_of(self._inputs, {}, None)
        plan = functools.partial(_kernels.run_body, self.name, chain.plan, inputs, arguments)
        inside = functools.partial(_kernels.call_inside, thread.contexts, self._context, plan)
        planned: PlannedChain = _kernels.call_with_pool(self._pool, inside)
        return planned

    def prepare(self) -> None:
        """As `finish`, for a thread that works ahead of the reader.

        Of a call that waits for its reader, what it depends on is done.
        """
        for invocation in self._with_dependencies():
            if not invocation.waits_for_reader:
                invocation.finish()

    def _with_dependencies(self) -> list[Invocation]:
        """The calls to be done for this one, each after those that it needs itself."""
        order: list[Invocation] = []
        seen: set[int] = set()
        stack: list[tuple[Invocation, bool]] = [(self, False)]
        while stack:
            invocation, visited = stack.pop()
            if visited:
                order.append(invocation)
            elif id(invocation) not in seen and not invocation.done:
                seen.add(id(invocation))
                stack.append((invocation, True))
                stack.extend((other, False) for other in reversed(invocation._dependencies()))
        return order

    @property
    def is_deferred(self) -> bool:
        """Whether nothing has asked for the results yet."""
        return not self.done and not self._scheduled

    def is_good(self) -> bool:
        """Whether the results are there."""
        return self.done and self.failure is None

    def is_at_hand(self) -> bool:
        """Whether the results are there, or are there in no time for whoever asks for them."""
        if self.done:
            return True
        for invocation in self._with_dependencies():
            context = invocation._context
            if not invocation._scheduled or (context and not context.executor.queue.is_idle):
                return False
        return True

    def result(self, output: int) -> Samples:
        """Output number `output`, waiting for it if need be."""
        if not self.done:
            self.finish()
        if self.failure is not None:
            raise_failure(self.failure)
        results = self._results
        assert results is not None
        return results[output] if isinstance(results, tuple) else results

    def announced(self, output: int, shapes: bool = False) -> Metadata | None:
        """What is known about an output before the call has run; None once it has succeeded.

        With `shapes`, those are found, too, as far as they can be.
        """
        found = self._announced
        if found is None or shapes:
            # Dependencies first, as in `finish`.
            for invocation in self._with_dependencies():
                found = invocation._find_announced()
                if shapes:
                    for metadata in found or ():
                        metadata.find_shapes()
        if found is None:
            return None
        return found[output if len(found) > 1 else 0]

    def _find_announced(self) -> tuple[Metadata, ...] | None:
        found = self._announced
        if found is None:
            announce, inputs = self._announce, self._inputs
            arguments, converters = self._arguments, self._converters
            if self._body is None or announce is None:
                # Another thread has just finished the call.
                return None
            known = tuple(None if value is None else _metadata_of(value) for value in inputs)
            found = self._announced = announce(Call(known, arguments, converters))
        return found

    def _keep_announced(self) -> None:
        """Keep what is known about the results without the data of the inputs."""
        found = self._find_announced()
        if found is not None:
            self._announced = tuple(metadata.without_shapes() for metadata in found)


_V = TypeVar("_V", bound=Value)


def promise(
    kind: type[_V],
    name: str,
    body: Body,
    inputs: tuple[Value | Samples | None, ...],
    arguments: dict[str, Any],
    announce: Announce,
    count: int,
    source: Sequence[Any] | None = None,
    device: Device | None = None,
    dtype: DType | None = None,
    remote: bool | None = None,
) -> _V:
    """Make a call with one result that is not a call of an operator."""
    modes = thread.modes
    mode = modes[-1] if modes else EAGER
    error = None
    if device is None and not (any_remote(inputs) if remote is None else remote):
        results, error = run_early(mode, 1, name, body, inputs, arguments, None)
        if results is not None:
            assert not isinstance(results, tuple)
            return kind._of(results, source)
    invocation = Invocation(name, body, inputs, arguments, None, announce, 1, device, dtype)
    invocation.start(mode, remote, error)
    return kind._promised(invocation, 0, count, source)


def _metadata_of(value: Value | Samples) -> Metadata:
    return value._metadata() if isinstance(value, Value) else Metadata.of(value)


def run_early(
    mode: EvalMode,
    weight: int,
    name: str,
    body: Body,
    inputs: tuple[Value | Samples | None, ...],
    arguments: dict[str, Any],
    converters: dict[str, Callable[[Samples], Any]] | None,
) -> tuple[Results | None, Exception | None]:
    """The results of a call on the CPU that runs before it returns, so that nothing is kept of it.

    That is the rule in synchronous modes; in eager mode it is so for data in memory that is not our
    own, whose owner may change it, and for calls with little to do. What goes wrong with the latter
    is returned, for whoever reads the results. If both are None, the call is to be queued.
    """
    keeps_errors = False
    if mode is EAGER:
        size = size_at_hand(inputs, arguments, converters)
        if size is None or weight * (1 + size) > _MOST_COST_AT_ONCE:
            return None, None
        keeps_errors = size >= 0
    elif mode is DEFERRED:
        return None, None
    contexts = thread.contexts
    try:
        prepared = _data_of(inputs, arguments, converters)
        if contexts and contexts[-1].has_own_pool:
            pool = contexts[-1].native_pool
            return _kernels.call_with_pool(pool, _kernels.run_body, name, body, *prepared), None
        # Kernels use the default pool anyway, once there is one.
        default_native_pool()
        return _kernels.run_body(name, body, *prepared), None
    except Exception as error:
        if keeps_errors:
            return None, error
        raise


def size_at_hand(
    inputs: tuple[Value | Samples | None, ...],
    arguments: dict[str, Any],
    converters: dict[str, Callable[[Samples], Any]] | None,
) -> int | None:
    """The bytes of what a call reads; None if it is not all there, -1 if it is not our own."""
    size = 0
    missing = not inputs
    values = inputs if converters is None else (*inputs, *map(arguments.get, converters))
    for value in values:
        samples: Samples | None
        if isinstance(value, Value):
            samples = value._samples
            if samples is None:
                samples = value._known()
                missing = missing or samples is None
        else:
            samples = value
        if samples is not None:
            if samples.external:
                return -1
            size += samples.nbytes
    return None if missing else size


def _data_of(
    inputs: tuple[Value | Samples | None, ...],
    arguments: dict[str, Any],
    converters: dict[str, Callable[[Samples], Any]] | None,
) -> tuple[list[Samples | None], dict[str, Any]]:
    """What the body of a call receives, waiting for it if need be."""
    found: list[Samples | None] = []
    for value in inputs:
        if isinstance(value, Value):
            samples = value._samples
            value = value._data() if samples is None else samples
        found.append(value)
    if converters:
        arguments = dict(arguments)
        for name, convert in converters.items():
            arguments[name] = convert(arguments[name]._data())
    return found, arguments
