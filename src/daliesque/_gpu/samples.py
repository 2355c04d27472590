# SPDX-License-Identifier: Apache-2.0
"""Samples on an accelerator: the counterpart of the native `Samples`, over torch tensors.

Samples of equal shape are rows of one dense tensor, a group; in most batches after a crop or resize
there is a single one. Groups lie one after the other in one block of memory, so that kernels which
treat all elements alike work on all samples at once, whatever their shapes (see `ragged`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.device import Device
from .._engine.dtype import DType, bfloat16, from_code
from .._engine.samples import Kernels, RemoteSamples
from .accelerator import require_accelerator
from .call import current_target, is_inside_call
from .groups import (
    Group,
    block_of,
    by_row,
    carrier,
    copied,
    cut,
    index_tensor,
    merged,
    range_of,
    take_rows,
)

_EXPORTED = {
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
}

Method = TypeVar("Method", bound=Callable[..., Any])


def _in_own_queue(method: Method) -> Method:
    """Outside of calls, which choose a queue, work goes into the queue that made the data."""

    @functools.wraps(method)
    def call(self: DeviceSamples, *arguments: Any) -> Any:
        with self.working():
            return method(self, *arguments)

    return call  # type: ignore[return-value]


class Memory:
    """What samples, and all views of them, have in common: whether others use their memory."""

    __slots__ = ("external",)

    def __init__(self, external: bool = False) -> None:
        # It is the user's, or was handed out: it may be written at any time.
        self.external = external


class DeviceSamples:
    """N arrays of one element type and number of axes on an accelerator; shapes may differ."""

    __slots__ = (
        "_count",
        "_flat",
        "_groups",
        "_numbers",
        "_shapes",
        "device",
        "layout",
        "memory",
        "ndim",
        "queue",
        "type_id",
    )

    # torch takes care of strides, and nothing here is read-only.
    contiguous = True
    packed = True
    readonly = False
    is_on_device = True

    def __init__(
        self,
        type_id: int,
        ndim: int,
        layout: str,
        groups: Iterable[Group],
        device: Device,
        queue: Any,
        memory: Memory | None = None,
    ) -> None:
        self.type_id = type_id
        self.ndim = ndim
        self.layout = layout
        self.device = device
        self.queue = queue
        self.memory = Memory() if memory is None else memory
        # Groups, or else all elements in one tensor, which are cut up when groups are asked for.
        self._groups: list[Group] | None = merged([part for part in groups if len(part.indices)])
        self._flat: torch.Tensor | None = None
        # The numbers of the samples in each group.
        self._numbers = [group.indices for group in self._groups]
        self._count = sum(map(len, self._numbers))
        self._shapes: NDArray[np.int64] | None = None

    @staticmethod
    def of_flat(
        flat: torch.Tensor,
        numbers: list[NDArray[np.int64]],
        shapes: NDArray[np.int64],
        type_id: int,
        layout: str,
        device: Device,
        queue: Any,
    ) -> DeviceSamples:
        """Samples that lie one after the other, group by group, by the numbers in each."""
        made = DeviceSamples(type_id, shapes.shape[1], layout, [], device, queue)
        made._groups, made._flat = None, flat
        made._numbers, made._count, made._shapes = numbers, len(shapes), shapes
        return made

    @staticmethod
    def empty(
        type_id: int, shapes: NDArray[np.int64], layout: str, device: Device, queue: Any
    ) -> DeviceSamples:
        """Uninitialized samples of given shapes, in one block of memory."""
        target = require_accelerator("DeviceSamples").torch_device(device.device_id)
        volume = int(shapes.prod(axis=1).sum())
        flat = torch.empty(volume, dtype=carrier(type_id), device=target)
        numbers = by_row(shapes)
        return DeviceSamples.of_flat(flat, numbers, shapes, type_id, layout, device, queue)

    def become(self, other: DeviceSamples | Iterable[Group]) -> None:
        """Take over data of the same shapes."""
        if isinstance(other, DeviceSamples):
            self._groups, self._flat, self._numbers = other._groups, other._flat, other._numbers
        else:
            self._groups, self._flat = merged(list(other)), None
            self._numbers = [group.indices for group in self._groups]

    @property
    def groups(self) -> list[Group]:
        """A tensor for each shape that there is."""
        if self._groups is None:
            assert self._flat is not None
            assert self._shapes is not None
            with require_accelerator("DeviceSamples").plain_state():
                self._groups = cut(self._flat, self._numbers, self._shapes)
        return self._groups

    def flat(self) -> torch.Tensor:
        """All elements, in the order of the groups, as one tensor."""
        if self._flat is None:
            parts = [group.data.reshape(-1) for group in self.groups]
            if len(parts) == 1:
                return parts[0]
            flat = torch.cat(parts)
            if self.external or self.working_queue() != self.queue:
                # Memory that others write, or work of another queue: not for later calls.
                return flat
            self._groups, self._shapes, self._flat = None, self.shape_array(), flat
        return self._flat

    def stored_order(self) -> NDArray[np.int64]:
        """The numbers of the samples, in the order in which they lie in memory."""
        return np.concatenate(self._numbers) if self._numbers else np.zeros(0, np.int64)

    def begins(self) -> NDArray[np.int64]:
        """Where each sample begins in `flat`, counted in elements."""
        order = self.stored_order()
        volumes = self.shape_array().prod(axis=1)[order]
        begins = np.empty(self._count, np.int64)
        begins[order] = np.cumsum(volumes) - volumes
        return begins

    @staticmethod
    def from_torch(tensor: torch.Tensor, dtype: DType, device: Device, queue: Any) -> DeviceSamples:
        """One sample over the memory of a torch tensor."""
        row = tensor.detach().view(carrier(dtype.code))[None]
        group = Group(np.zeros(1, np.int64), row)
        return DeviceSamples(dtype.code, tensor.ndim, "", [group], device, queue, Memory(True))

    def to_host(self) -> _kernels.Samples:
        """A copy in CPU memory, made by one transfer; waits for it."""
        numpy_type = from_code(self.type_id).numpy
        if self._count == 0:
            return _kernels.empty_uniform(self.type_id, [0] * self.ndim, self.layout, 0)
        accelerator = require_accelerator("DeviceSamples")
        with accelerator.working(self.queue if is_inside_call() else self._settled_queue()):
            flat = self.flat().contiguous().view(torch.uint8)
            host = accelerator.download(flat, self.queue).numpy()
        if self.type_id == bfloat16.code:
            numpy_type = np.dtype(np.uint16)
        values = host.view(numpy_type)
        shapes = self._known_shapes()
        if len(self._numbers) == 1:
            (numbers,) = self._numbers
            whole = values.reshape(len(numbers), *shapes[numbers[0]].tolist())
            dense = _kernels.wrap_buffer(whole, self.type_id, "").as_internal().unfold()
            return dense.with_layout(self.layout).select(np.argsort(numbers).tolist())
        begins, sizes = self.begins(), shapes.prod(axis=1)
        arrays = [
            values[begin : begin + size].reshape(shape)
            for begin, size, shape in zip(
                begins.tolist(), sizes.tolist(), shapes.tolist(), strict=True
            )
        ]
        return _kernels.wrap_buffers(arrays, self.type_id, self.layout).as_internal()

    @property
    def external(self) -> bool:
        """Whether the memory is not ours alone."""
        return self.memory.external

    def working(self) -> contextlib.AbstractContextManager[Any]:
        """Inside, work with the data goes into the right queue."""
        if is_inside_call():
            return contextlib.nullcontext()
        return require_accelerator("DeviceSamples").working(self._settled_queue())

    def _settled_queue(self) -> Any:
        """Where to work with the data outside of calls: in its queue.

        Memory that others use, too, is used as torch does: in its current queue, so that what they
        have asked for before comes before, and what they ask for later, later.
        """
        if self.external:
            queues = require_accelerator("DeviceSamples").queues
            self.make_ready(queues.current(self.device.device_id or 0))
        return self.queue

    def make_ready(self, queue: Any) -> None:
        """Let a queue wait for the work that makes the data, and own a share of the memory."""
        if queue == self.queue:
            return
        queues = require_accelerator("DeviceSamples").queues
        queues.wait_for(queue, queues.mark(self.queue))
        if self._flat is not None:
            queues.use(queue, self._flat)
        for group in self._groups or ():
            queues.use(queue, group.data)
        if self.external:
            # From now on, this is where others expect it to be used.
            self.queue = queue

    def made(
        self,
        groups: Iterable[Group],
        ndim: int | None = None,
        layout: str | None = None,
        type_id: int | None = None,
    ) -> DeviceSamples:
        """Other data on the same device, in memory of its own; what is not given stays.

        Kernels return this: a result that is a part of its input, because there was nothing to do,
        is copied, so that nobody changes one with the other.
        """
        own = {block_of(group.data) for group in self.groups}
        apart = [
            Group(indices, copied(data)) if block_of(data) in own else Group(indices, data)
            for indices, data in groups
        ]
        return self._like(apart, ndim, layout, type_id)

    def viewed(
        self,
        groups: Iterable[Group],
        ndim: int | None = None,
        layout: str | None = None,
        type_id: int | None = None,
    ) -> DeviceSamples:
        """As `made`, over the same memory: whose it is stays, too."""
        view = self._like(groups, ndim, layout, type_id)
        view.memory = self.memory
        return view

    def _like(
        self,
        groups: Iterable[Group],
        ndim: int | None,
        layout: str | None,
        type_id: int | None,
    ) -> DeviceSamples:
        return DeviceSamples(
            self.type_id if type_id is None else type_id,
            self.ndim if ndim is None else ndim,
            self.layout if layout is None else layout,
            groups,
            self.device,
            self.working_queue(),
        )

    def working_queue(self) -> Any:
        """Where work with the data goes: the queue of the call that is running, or its own."""
        return current_target().queue if is_inside_call() else self.queue

    def of_all(
        self,
        flat: torch.Tensor,
        shapes: NDArray[np.int64],
        layout: str | None = None,
        type_id: int | None = None,
    ) -> DeviceSamples:
        """Other data, whose samples lie in the order in which these do."""
        return DeviceSamples.of_flat(
            flat,
            self._numbers,
            shapes,
            self.type_id if type_id is None else type_id,
            self.layout if layout is None else layout,
            self.device,
            self.working_queue(),
        )

    def mapped(
        self,
        function: Callable[[torch.Tensor, NDArray[np.int64]], torch.Tensor],
        ndim: int | None = None,
        layout: str | None = None,
        type_id: int | None = None,
    ) -> DeviceSamples:
        """What a function makes of the tensor of each group, given it and the samples' numbers."""
        groups = [
            Group(group.indices, function(group.data, group.indices)) for group in self.groups
        ]
        return self.made(groups, ndim, layout, type_id)

    def split(self, keys: NDArray[Any]) -> DeviceSamples:
        """The same with groups in which the rows of `keys`, one for each sample, are equal."""
        groups = []
        for group in self.groups:
            numbers = by_row(keys[group.indices])
            if len(numbers) == 1:
                groups.append(group)
                continue
            for rows in numbers:
                groups.append(Group(group.indices[rows], take_rows(group.data, rows)))
        made = self.viewed([])
        made._groups, made._numbers = groups, [group.indices for group in groups]
        made._count = self._count
        return made

    @property
    def kernels(self) -> Kernels:
        """The functions for this data."""
        # Imported here because the table is made of functions that work on this class.
        from .kernels import table

        return table

    def __len__(self) -> int:
        return self._count

    def shape_array(self) -> NDArray[np.int64]:
        """All shapes as an (N, ndim) int64 array."""
        return self._known_shapes().copy()

    def _known_shapes(self) -> NDArray[np.int64]:
        if self._shapes is None:
            shapes = np.zeros((self._count, self.ndim), np.int64)
            for group in self.groups:
                shapes[group.indices] = tuple(group.data.shape[1:])
            self._shapes = shapes
        return self._shapes

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self.shape_array().tolist()]

    def shape(self, index: int) -> tuple[int, ...]:
        return tuple(self.shape_array()[index].tolist())

    @property
    def itemsize(self) -> int:
        return from_code(self.type_id).bytes

    @property
    def volume(self) -> int:
        return int(self._known_shapes().prod(axis=1).sum())

    @property
    def nbytes(self) -> int:
        return self.volume * self.itemsize

    @property
    def uniform(self) -> bool:
        return len(self._numbers) <= 1

    @_in_own_queue
    def dense(self) -> torch.Tensor:
        """All samples, which must be uniform, as one tensor in their order."""
        if not self.groups:
            shape = (0,) * (self.ndim + 1)
            target = require_accelerator("DeviceSamples").torch_device(self.device.device_id)
            return torch.empty(shape, dtype=carrier(self.type_id), device=target)
        (group,) = self.groups
        return take_rows(group.data, np.argsort(group.indices))

    def exported(self) -> torch.Tensor:
        """The only sample as a tensor of the type that it shows to others."""
        wanted = _EXPORTED.get(from_code(self.type_id).numpy.name)
        with require_accelerator("DeviceSamples").plain_state():
            tensor = self.groups[0].data[0]
            return tensor if wanted is None else tensor.view(wanted)

    def pointer(self, index: int) -> int:
        for group in self.groups:
            rows = np.flatnonzero(group.indices == index)
            if len(rows):
                return group.data[int(rows[0])].data_ptr()
        return 0

    def with_layout(self, layout: str) -> DeviceSamples:
        view = self.as_internal()
        view.layout, view.memory = layout, self.memory
        return view

    def as_internal(self) -> DeviceSamples:
        view = self._like([], None, None, None)
        view._groups, view._flat, view._numbers = self._groups, self._flat, self._numbers
        view._count, view._shapes = self._count, self._shapes
        return view

    @_in_own_queue
    def select(self, indices: Sequence[int]) -> DeviceSamples:
        """The chosen samples."""
        wanted = np.asarray(indices, np.int64)
        groups = []
        for group in self.groups:
            # Where each sample of the batch is in the group; -1 if it is not.
            rows_of = np.full(self._count, -1, np.int64)
            rows_of[group.indices] = np.arange(len(group.indices))
            rows = rows_of[wanted]
            here = np.flatnonzero(rows >= 0)
            if len(here):
                groups.append(Group(here, take_rows(group.data, rows[here])))
        return self.viewed(groups)

    def sample(self, index: int) -> DeviceSamples:
        return self.select([index])

    @_in_own_queue
    def unfold(self) -> DeviceSamples:
        """Each sample's outermost axis becomes the sample axis."""
        counts = self.shape_array()[:, 0]
        begins = np.cumsum(counts) - counts
        groups = []
        for group in self.groups:
            frames = group.data.shape[1]
            numbers = (begins[group.indices][:, None] + np.arange(frames)).reshape(-1)
            groups.append(Group(numbers, group.data.reshape(-1, *group.data.shape[2:])))
        return self.viewed(groups, self.ndim - 1, self.layout[1:])

    @_in_own_queue
    def fold(self, counts: Sequence[int], layout: str) -> DeviceSamples:
        """Inverse of unfold: joins counts[j] consecutive samples into sample j."""
        lengths = np.asarray(counts, np.int64)
        begins = np.cumsum(lengths) - lengths
        shapes = np.zeros((len(lengths), self.ndim + 1), np.int64)
        shapes[:, 0] = lengths
        filled = lengths > 0
        shapes[filled, 1:] = self.shape_array()[begins[filled]]
        groups = []
        for rows in by_row(shapes):
            count = int(lengths[rows[0]])
            chosen = (begins[rows][:, None] + np.arange(count)).reshape(-1)
            shape = (len(rows), *shapes[rows[0]].tolist())
            groups.append(Group(rows, self.select(chosen.tolist()).dense().reshape(shape)))
        return self.viewed(groups, self.ndim + 1, layout)

    @_in_own_queue
    def reshape(self, *arguments: Any) -> DeviceSamples:
        """The same data with other shapes, `(shapes, layout)`, or also `(type_id, ...)`."""
        type_id, shapes, layout = (self.type_id, *arguments)[-3:]
        if self._flat is not None and type_id == self.type_id:
            alike = (bool((shapes[part] == shapes[part[:1]]).all()) for part in self._numbers)
            if all(alike):
                # The same groups, of other shapes.
                view = self.of_all(self._flat, shapes, layout)
                view.memory = self.memory
                return view
        groups = []
        for group in self.split(shapes).groups:
            shape = (len(group.indices), *shapes[group.indices[0]].tolist())
            data = group.data
            if type_id != self.type_id:
                data = data.reshape(-1).contiguous().view(carrier(type_id))
            groups.append(Group(group.indices, data.reshape(shape)))
        return self.viewed(groups, shapes.shape[1], layout, type_id)

    def reinterpret(self, type_id: int) -> DeviceSamples:
        """The same bits under another type of the same size."""
        kind = carrier(type_id)
        groups = [Group(indices, data.view(kind)) for indices, data in self.groups]
        return self.viewed(groups, type_id=type_id)

    @_in_own_queue
    def stack_view(self) -> DeviceSamples:
        """One sample that holds all, which must be uniform."""
        group = Group(np.zeros(1, np.int64), self.dense()[None])
        return self.viewed([group], self.ndim + 1, "")

    @_in_own_queue
    def slice(
        self, ranges: NDArray[np.int64], dropped: Sequence[bool], layout: str
    ) -> DeviceSamples:
        """A part of each sample: rows of (start, extent, step) for each axis."""
        table = ranges.reshape(-1, self.ndim * 3)
        rows = np.broadcast_to(table, (self._count, self.ndim * 3))
        kept = [axis + 1 for axis, drop in enumerate(dropped) if not drop]
        groups = []
        for group in self.split(rows).groups:
            data = group.data
            for axis, (start, extent, step) in enumerate(
                rows[group.indices[0]].reshape(-1, 3).tolist(), 1
            ):
                data = range_of(data, axis, start, extent, step)
            shape = (len(group.indices), *(data.shape[axis] for axis in kept))
            groups.append(Group(group.indices, data.reshape(shape)))
        return self.viewed(groups, len(kept), layout)

    @_in_own_queue
    def copy(self) -> DeviceSamples:
        """A copy in memory of its own."""
        if self._flat is None or len(self._numbers) == 1:
            return self.mapped(lambda data, _: copied(data))
        return self.of_all(copied(self._flat), self._known_shapes())

    @_in_own_queue
    def moved(self, device: Device) -> DeviceSamples:
        """A copy on another accelerator."""
        target = require_accelerator("DeviceSamples").torch_device(device.device_id)
        moved = self.mapped(lambda data, _: data.to(target, non_blocking=True, copy=True))
        moved.device = device
        return moved

    @_in_own_queue
    def padded(self) -> DeviceSamples:
        """A uniform copy, zero-padded to the largest extents."""
        if not self.groups:
            return self
        largest = self.shape_array().max(axis=0).tolist()
        first = self.groups[0].data
        out = first.new_zeros((self._count, *largest))
        for group in self.groups:
            inner = out
            for axis, extent in enumerate(group.data.shape[1:], 1):
                inner = inner.narrow(axis, 0, extent)
            inner[index_tensor(group.indices, first.device)] = group.data
        return self.made([Group(np.arange(self._count), out)])

    def empty_like(self, type_id: int | None = None) -> DeviceSamples:
        """Uninitialized samples of the same shapes."""
        wanted = self.type_id if type_id is None else type_id
        target = require_accelerator("DeviceSamples").torch_device(self.device.device_id)
        flat = torch.empty(self.volume, dtype=carrier(wanted), device=target)
        return self.of_all(flat, self._known_shapes(), type_id=wanted)


if TYPE_CHECKING:
    _satisfies: type[RemoteSamples] = DeviceSamples
