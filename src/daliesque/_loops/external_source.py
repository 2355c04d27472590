# SPDX-License-Identifier: Apache-2.0
"""Data from Python: functions, iterables and generators."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from .. import _kernels
from .._capture.loop import CapturedSteps, CaptureLoop, Taken, active_loop
from .._engine.ahead import Ahead
from .._engine.batch import Batch, as_batch, check_batch_size
from .._engine.context import EvalContext
from .._engine.device import DeviceLike
from .._engine.dtype import DTypeLike
from .._engine.dtype import dtype as to_dtype
from .._engine.interrupts import Steps, two_phase
from .._engine.invariant import unwrap_invariants
from .._engine.tensor import Tensor, as_tensor
from .._engine.thread_state import thread
from .entries import Entries, Entry
from .per_output import spread
from .pulling import make_puller

SourceType: TypeAlias = Callable[[], Any] | Iterable[Any]


class Role(enum.Enum):
    """What a source is used for, until the loop that it belongs to ends before its time."""

    UNUSED = enum.auto()
    EAGER = enum.auto()
    FEEDER = enum.auto()
    ROOT = enum.auto()


class SourceItems:
    """The items of a source as what a capture-mode loop reads."""

    def __init__(self, source: ExternalSource, batch_size: int) -> None:
        self.batch_size = batch_size
        self._source = source
        self._entries = source.entries
        self._end: Entry | None = None

    def moving(self, position: Any) -> Steps:
        """What sets where the source is."""
        return ((setattr, (self._entries.hold(), "position", position)),)

    def peek(self) -> Taken:
        """The item after the position."""
        self._entries.hold()
        return self._taken(self._entries.entry(self._entries.next_number()))

    def ahead(self, position: Any = None) -> Iterator[Taken]:
        """All items after the position."""
        del position
        return self._ahead(self._entries.next_number())

    def _ahead(self, number: int) -> Iterator[Taken]:
        while True:
            try:
                yield self._taken(self._entries.entry(number))
            except StopIteration:
                return
            number += 1

    def _taken(self, entry: Entry) -> Taken:
        if isinstance(entry.failure, StopIteration):
            self._end = entry
            raise StopIteration
        if entry.failure is not None:
            return Taken((), entry.mark, entry.failure)
        try:
            values: Any = self._source.outputs(entry.item, self.batch_size)
        except Exception as failure:
            return Taken((), entry.mark, failure)
        return Taken(tuple(values), entry.mark)

    def shaped(self, values: tuple[Batch, ...]) -> Any:
        """A batch, or a tuple of several."""
        return self._source.shaped(values)

    def taking(self) -> Steps:
        """An item is known by its number: there is nothing to do."""
        return ()

    def note(self, taken: Taken) -> tuple[Steps, BaseException | None]:
        """Returns what is to be raised."""
        return (), taken.failure

    def stopping(self) -> Steps:
        """Nothing is read but by the loop itself."""
        return ()

    def end(self) -> Any:
        """Where the source is after its last item."""
        return self._entries.hold().position if self._end is None else self._end.mark

    @property
    def identity(self) -> Any:
        """No other is the same epoch."""
        return id(self)

    @property
    def begin(self) -> None:
        """Nobody asks for it."""

    def following(self) -> None:
        """Whether there is another epoch, only the user knows."""


class ExternalSource:
    """Take data from a Python function or iterable, one item for each call.

    An item is a sample, that is an array (of any library), a Tensor, a number or a list of numbers;
    or a Batch; or, with several outputs, a sequence of as many of these.

    Parameters
    ----------
    source
        A function without parameters, an iterable, a generator, or a generator function. If it has
        `state_dict` and `load_state_dict`, they are part of `get_state` and `set_state`.
    num_outputs
        How many outputs an item has.
    cycle
        What happens at the end of an iterable: with "no", False or None a call raises
        StopIteration; with "quiet" or True the source begins again; with "raise" a call raises
        StopIteration and the next one begins again.
    device
        Where outputs are delivered.
    layout
        The layout of outputs. This, `dtype` and `device` are one for all outputs, or a sequence
        with one for each.
    dtype
        The element type of outputs.

    Examples
    --------
    >>> import numpy as np
    >>> source = ndd.ExternalSource([np.full((2, 2), i) for i in range(4)])
    >>> source().torch().tolist()
    [[0, 0], [0, 0]]
    >>> source(batch_size=3).torch().shape
    torch.Size([3, 2, 2])
    >>> pairs = ndd.ExternalSource(lambda: (np.zeros(4), np.ones(3)), num_outputs=2)
    >>> zeros, ones = pairs()
    >>> ones.shape
    (3,)
    """

    def __init__(
        self,
        source: SourceType,
        num_outputs: int = 1,
        *,
        cycle: Literal["no", "quiet", "raise"] | bool | None = None,
        device: DeviceLike | Sequence[DeviceLike] = "cpu",
        layout: str | Sequence[str | None] | None = None,
        dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ) -> None:
        source, num_outputs, cycle = unwrap_invariants((source, num_outputs, cycle))
        device, layout, dtype = unwrap_invariants((device, layout, dtype))
        self._puller = make_puller(source, cycle)
        self._mutex = _kernels.Mutex()
        if not isinstance(num_outputs, int) or isinstance(num_outputs, bool):
            msg = f"ExternalSource: 'num_outputs' must be an integer; got {num_outputs!r}."
            raise TypeError(msg)
        if num_outputs <= 0:
            msg = f"ExternalSource: num_outputs must be strictly positive; got {num_outputs}."
            raise ValueError(msg)
        self._num_outputs = num_outputs
        self._devices = spread("ExternalSource", "device", device, num_outputs)
        self._layouts = spread("ExternalSource", "layout", layout, num_outputs)
        dtypes = spread("ExternalSource", "dtype", dtype, num_outputs)
        self._dtypes = [None if kind is None else to_dtype(kind) for kind in dtypes]
        # What it is used for, and by which capture-mode loop.
        self.role = Role.UNUSED
        self.loop: CaptureLoop | None = None
        self.entries = Entries(self._puller)
        self._items: SourceItems | None = None
        # Where the consumer of a loop is that runs ahead with this source.
        self._delivered: str | None = None
        self._pace = _kernels.Pace(_kernels.PaceKind.plain)

    @two_phase
    def __call__(self, *, batch_size: int | None = None) -> Any:
        """Take the next item.

        Returns a Batch if the source gave a Batch or `batch_size` is given, else a Tensor; with
        several outputs, a tuple of these. Raises StopIteration at the end, as `cycle` says.

        Parameters
        ----------
        batch_size
            Repeat a sample as often, without copying it; a Batch must have as many samples.
        """
        if batch_size is not None:
            batch_size = check_batch_size(batch_size, "ExternalSource")
        loop = active_loop()
        if loop is None:
            if self.role in (Role.FEEDER, Role.ROOT):
                msg = "This ExternalSource is already used in a capture-mode loop"
                raise RuntimeError(msg)
            self.role = Role.EAGER
            return self._prepare(batch_size)
        if self.role is Role.EAGER:
            msg = "This ExternalSource was already used eagerly"
            raise RuntimeError(msg)
        if self.role is Role.ROOT:
            msg = "Instance already used through .captured() method"
            raise RuntimeError(msg)
        return self._feed(loop, batch_size)

    def _feed(
        self, loop: CaptureLoop, batch_size: int | None
    ) -> tuple[Any, Steps, BaseException | None]:
        """What the body of a loop gets that calls this source."""
        if self.loop is not None and self.loop is not loop:
            msg = "Already bound to a different capture context."
            raise RuntimeError(msg)
        if batch_size is not None and batch_size != loop.batch_size:
            loop.fail(
                f"Cannot change batch size to {batch_size}, the capture-mode loop uses "
                f"{loop.batch_size}."
            )
        if self._items is None or self._items.batch_size != loop.batch_size:
            self._items = SourceItems(self, loop.batch_size)
        delivered, changes, failure = loop.feed(self._items, self)
        joining = (setattr, (self, "role", Role.FEEDER)), (setattr, (self, "loop", loop))
        return delivered, (*changes, *joining), failure

    def captured(self, batch_size: int, ctx: EvalContext | None = None) -> Iterator[Any]:
        """Iterate over one epoch, with this source as the root of a capture-mode loop.

        Other sources that the body calls must be called once in each step. The loop may be left at
        any time.

        Parameters
        ----------
        batch_size
            The number of samples of each step: samples are repeated, batches must have as many.
        ctx
            The context of the loop; by default the current one.

        Examples
        --------
        >>> source = ndd.ExternalSource([ndd.batch([1, 2]), ndd.batch([3, 4])], cycle="raise")
        >>> for epoch in range(2):
        ...     print([numbers.torch().tolist() for numbers in source.captured(batch_size=2)])
        [[1, 2], [3, 4]]
        [[1, 2], [3, 4]]
        """
        if batch_size is None:
            msg = "ExternalSource: captured() requires a non-None batch_size."
            raise ValueError(msg)
        size = check_batch_size(batch_size, "ExternalSource")
        if ctx is not None and not isinstance(ctx, EvalContext):
            msg = f"ExternalSource: 'ctx' must be an EvalContext; got {ctx!r}."
            raise TypeError(msg)
        if self.role is Role.EAGER:
            msg = "This ExternalSource was already used eagerly"
            raise RuntimeError(msg)
        if self.role is Role.FEEDER:
            msg = "Instance already used through __call__"
            raise RuntimeError(msg)
        loop = self.loop
        if loop is not None and not loop.can_go_on(size):
            # An epoch that was left without being closed, or another number of samples.
            loop.tear_down()
            loop = None
        if loop is None:
            loop = CaptureLoop(size, ctx)
            loop.add_member(self)
        loop.check_context(ctx)
        self.role, self.loop = Role.ROOT, loop
        return CapturedSteps(loop, SourceItems(self, size))

    def release(self, loop: CaptureLoop) -> None:
        """A loop has ended: the source can be used for something else."""
        if self.loop is loop:
            self.role, self.loop = Role.UNUSED, None

    def rejoin(self, loop: CaptureLoop, instead_of: CaptureLoop) -> None:
        """Another loop goes on in place of one."""
        if self.loop is instead_of:
            self.loop = loop

    def get_state(self, *, cuda_stream: Any = None) -> str:
        """Return where the source is: after the item that was taken last. A short text.

        Parameters
        ----------
        cuda_stream
            Accepted for compatibility.

        Examples
        --------
        >>> source = ndd.ExternalSource([1, 2, 3])
        >>> source().item()
        1
        >>> resumed = ndd.ExternalSource([1, 2, 3])
        >>> resumed.set_state(source.get_state())
        >>> resumed().item()
        2
        """
        del cuda_stream
        ahead = thread.ahead
        if ahead is None and self._delivered is not None:
            return self._delivered
        own = ahead.own(self) if ahead is not None and ahead.has(self) else None
        return self._position() if own is None else str(own)

    def _position(self) -> str:
        """Where the source is; in a capture-mode loop, after what the body was given."""
        mark = self.entries.cursor.position
        if mark is None:
            return self._puller.get_state()
        if isinstance(mark.state, Exception):
            raise mark.state
        return mark.state

    def set_state(self, state: str | bytes) -> None:
        """Go to where this source, or an equal one, was when `get_state` returned the state.

        A source with `load_state_dict` gets back what its `state_dict` returned. With others, items
        are skipped: from the beginning, or, for functions and generators, from where they are,
        which therefore cannot go back.

        Parameters
        ----------
        state
            What `get_state` returned.
        """
        if isinstance(state, bytes):
            state = state.decode()
        if not isinstance(state, str):
            msg = f"ExternalSource: set_state needs what get_state returned; got {state!r:.60}."
            raise TypeError(msg)
        if self.loop is not None:
            self.loop.tear_down()
        _kernels.call_locked(self.entries.mutex, self._go_to, state)

    def _go_to(self, state: str) -> None:
        self.entries.clear()
        self._puller.set_state(state)

    @two_phase
    def pull(self, batch_size: int | None) -> Any:
        """Take the next item, whoever asks for it."""
        return self._prepare(batch_size)

    def _prepare(self, batch_size: int | None) -> tuple[Any, Steps, BaseException | None]:
        """The next item, what changes when it is delivered, and what is to be raised instead."""
        self._pace.arrive()
        samples = 0
        try:
            outcome = self._take_item(batch_size)
            if outcome[2] is None:
                first = outcome[0][0] if isinstance(outcome[0], tuple) else outcome[0]
                samples = first._count
            return outcome
        finally:
            self._pace.depart(samples)

    def _take_item(self, batch_size: int | None) -> tuple[Any, Steps, BaseException | None]:
        if thread.ahead is not None:
            thread.ahead.own(self)
        item, steps, failure = _kernels.call_locked(self.entries.mutex, self._next_item)
        if failure is not None:
            return None, steps, failure
        try:
            return self._converted(item, batch_size), steps, None
        except Exception as error:
            return None, steps, error

    def _next_item(self) -> tuple[Any, Steps, BaseException | None]:
        """The next item; first what a capture-mode loop took and did not deliver."""
        entry, cursor = self.entries.next(), self.entries.cursor
        if entry is None:
            cursor.position = None
            return self._puller.prepare()
        return entry.item, ((setattr, (cursor, "position", entry.mark)),), entry.failure

    def _converted(self, item: Any, batch_size: int | None) -> Any:
        return self.shaped(self.outputs(item, batch_size))

    def shaped(self, outputs: Sequence[Tensor | Batch]) -> Any:
        """What the user gets."""
        return outputs[0] if self._num_outputs == 1 else tuple(outputs)

    def outputs(self, item: Any, batch_size: int | None) -> list[Tensor | Batch]:
        """What the source makes of an item."""
        outputs = self._split(item)
        results = [self._convert(number, data, batch_size) for number, data in enumerate(outputs)]
        if len({type(result) for result in results}) > 1:
            msg = (
                "ExternalSource: Outputs must be uniformly Tensors or uniformly Batches; got "
                f"{', '.join(type(result).__name__ for result in results)}."
            )
            raise TypeError(msg)
        return results

    def _begin_ahead(self, outer: Ahead | None) -> tuple[str | None, str | None]:
        with contextlib.suppress(TypeError):
            found = self.get_state() if outer is None else self._puller.get_state()
            self._delivered = found
            return None, found
        # A state that is no plain data cannot be delivered.
        return None, None

    def _frozen(self, own: str | None) -> str | None:
        if own is None:
            with contextlib.suppress(TypeError):
                return self._puller.get_state()
        return own

    def _moving(self, expected: str | None, state: str | None) -> Steps | None:
        if expected is None:
            return None
        if thread.ahead is None:
            return ((setattr, (self, "_delivered", state)),)
        return ((thread.ahead.replace, (self, state)),)

    def _end_ahead(self) -> None:
        delivered, self._delivered = self._delivered, None
        # A function or an iterator cannot go back: what it gave ahead of time is lost.
        with contextlib.suppress(Exception):
            if delivered is not None and delivered != self._puller.get_state():
                self._puller.set_state(delivered)

    def _split(self, item: Any) -> Sequence[Any]:
        if self._num_outputs == 1:
            return (item,)
        if not isinstance(item, Sequence) or len(item) != self._num_outputs:
            got = f"{len(item)}" if isinstance(item, Sequence) else type(item).__name__
            msg = (
                f"ExternalSource: Expected {self._num_outputs} outputs from the source, got {got}."
            )
            raise ValueError(msg)
        return item

    def _convert(self, number: int, data: Any, batch_size: int | None) -> Tensor | Batch:
        device, dtype, layout = self._devices[number], self._dtypes[number], self._layouts[number]
        if isinstance(data, Batch):
            if batch_size is not None and data.batch_size != batch_size:
                msg = f"ExternalSource: Expected batch size {batch_size}, got {data.batch_size}."
                raise ValueError(msg)
            return as_batch(data, dtype=dtype, device=device, layout=layout)
        tensor = as_tensor(data, dtype=dtype, device=device, layout=layout)
        return tensor if batch_size is None else Batch.broadcast(tensor, batch_size)
