# SPDX-License-Identifier: Apache-2.0
"""Data from Python: functions, iterables and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from .._engine.batch import Batch, as_batch, check_batch_size
from .._engine.context import EvalContext
from .._engine.device import DeviceLike
from .._engine.dtype import DTypeLike
from .._engine.dtype import dtype as to_dtype
from .._engine.tensor import Tensor, as_tensor
from .capture_loop import CaptureLoop, Role, active_loop
from .per_output import spread
from .pulling import make_puller

SourceType: TypeAlias = Callable[[], Any] | Iterable[Any]


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
        self._puller = make_puller(source, cycle)
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
        # What capture-mode loops need to know.
        self.role = Role.UNUSED
        self.loop: CaptureLoop | None = None

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
            return self.pull(batch_size)
        if self.role is Role.EAGER:
            msg = "This ExternalSource was already used eagerly"
            raise RuntimeError(msg)
        if self.role is Role.ROOT:
            msg = "Instance already used through .captured() method"
            raise RuntimeError(msg)
        return loop.feed(self, batch_size)

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
        if loop is not None and (loop.batch_size != size or loop.in_epoch):
            # An epoch that was left without being closed, or another number of samples.
            loop.tear_down()
            loop = None
        if loop is None:
            loop = CaptureLoop(self, size)
        self.role, self.loop = Role.ROOT, loop
        return loop.batches(ctx)

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
        return self._puller.get_state()

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
        self._puller.set_state(state)

    def pull(self, batch_size: int | None) -> Any:
        """Take the next item, whoever asks for it."""
        outputs = self._split(self._puller.take())
        results = [self._convert(number, data, batch_size) for number, data in enumerate(outputs)]
        if len({type(result) for result in results}) > 1:
            msg = (
                "ExternalSource: Outputs must be uniformly Tensors or uniformly Batches; got "
                f"{', '.join(type(result).__name__ for result in results)}."
            )
            raise TypeError(msg)
        return results[0] if self._num_outputs == 1 else tuple(results)

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
