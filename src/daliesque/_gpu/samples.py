# SPDX-License-Identifier: Apache-2.0
"""Samples on an accelerator: the counterpart of the native `Samples`, over torch tensors.

Samples of equal shape are rows of one dense tensor, so that kernels work on all of them at once. A
batch has one such group for each shape; in most batches after a crop or resize, a single one.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.device import Device
from .._engine.dtype import DType, bfloat16, bool_, float16, float32, float64, from_code
from .._engine.samples import Kernels, RemoteSamples
from .accelerator import require_accelerator
from .call import current_target, is_inside_call

# torch computes little with the larger unsigned types: their bits are kept in signed ones.
_UNSIGNED = {16: torch.int16, 32: torch.int32, 64: torch.int64}
_SIGNED = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_FLOATS = {
    float16: torch.float16,
    bfloat16: torch.bfloat16,
    float32: torch.float32,
    float64: torch.float64,
    bool_: torch.bool,
}
_EXPORTED = {
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
}


def carrier(type_id: int) -> torch.dtype:
    """The torch type that stores elements of a type."""
    dtype = from_code(type_id)
    if dtype in _FLOATS:
        if dtype is float64 and not require_accelerator("float64").has_double:
            msg = (
                "float64 data cannot be on this device, which has no double precision. Cast to "
                "float32 first."
            )
            raise ValueError(msg)
        return _FLOATS[dtype]
    if dtype.kind is DType.Kind.unsigned:
        return torch.uint8 if dtype.bits == 8 else _UNSIGNED[dtype.bits]
    return _SIGNED[dtype.bits]


Method = TypeVar("Method", bound=Callable[..., Any])


def _in_own_queue(method: Method) -> Method:
    """Outside of calls, which choose a queue, work goes into the queue that made the data."""

    @functools.wraps(method)
    def call(self: DeviceSamples, *arguments: Any) -> Any:
        with self.working():
            return method(self, *arguments)

    return call  # type: ignore[return-value]


class Group(NamedTuple):
    """Samples of equal shape: their numbers, and a tensor with a row for each."""

    indices: NDArray[np.int64]
    data: torch.Tensor


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
        "_shapes",
        "device",
        "groups",
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
        self.groups = _merged([group for group in groups if len(group.indices)])
        self.device = device
        self.queue = queue
        self.memory = Memory() if memory is None else memory
        self._count = sum(len(group.indices) for group in self.groups)
        self._shapes: NDArray[np.int64] | None = None

    @staticmethod
    def from_host(samples: _kernels.Samples, device: Device, queue: Any) -> DeviceSamples:
        """A copy of samples in CPU memory, made by one transfer."""
        shapes = samples.shape_array()
        numbers = _by_row(shapes)
        kind = carrier(samples.type_id)
        accelerator = require_accelerator("DeviceSamples")
        staging = accelerator.staging(samples.nbytes)
        _fill_staging(staging.numpy(), samples, numbers)
        flat = accelerator.upload(staging, device.device_id, queue).view(kind)
        groups = _cut(flat, numbers, shapes)
        return DeviceSamples(samples.type_id, samples.ndim, samples.layout, groups, device, queue)

    @staticmethod
    def empty(
        type_id: int, shapes: NDArray[np.int64], layout: str, device: Device, queue: Any
    ) -> DeviceSamples:
        """Uninitialized samples of given shapes, in one block of memory."""
        target = require_accelerator("DeviceSamples").torch_device(device.device_id)
        volume = int(shapes.prod(axis=1).sum())
        flat = torch.empty(volume, dtype=carrier(type_id), device=target)
        groups = _cut(flat, _by_row(shapes), shapes)
        return DeviceSamples(type_id, shapes.shape[1], layout, groups, device, queue)

    def become(self, groups: Iterable[Group]) -> None:
        """Take over data of the same shapes."""
        self.groups = _merged(list(groups))

    @staticmethod
    def from_torch(tensor: torch.Tensor, dtype: DType, device: Device, queue: Any) -> DeviceSamples:
        """One sample over the memory of a torch tensor."""
        row = tensor.detach().view(carrier(dtype.code))[None]
        group = Group(np.zeros(1, np.int64), row)
        return DeviceSamples(dtype.code, tensor.ndim, "", [group], device, queue, Memory(True))

    def to_host(self) -> _kernels.Samples:
        """A copy in CPU memory, made by one transfer; waits for it."""
        numpy_type = from_code(self.type_id).numpy
        if not self.groups:
            return _kernels.empty_uniform(self.type_id, [0] * self.ndim, self.layout, 0)
        accelerator = require_accelerator("DeviceSamples")
        with accelerator.working(self.queue if is_inside_call() else self._settled_queue()):
            parts = [g.data.contiguous().reshape(-1).view(torch.uint8) for g in self.groups]
            flat = parts[0] if len(parts) == 1 else torch.cat(parts)
            host = accelerator.download(flat, self.queue).numpy()
        if self.type_id == bfloat16.code:
            numpy_type = np.dtype(np.uint16)
        values = host.view(numpy_type)
        if len(self.groups) == 1:
            (group,) = self.groups
            whole = values.reshape(tuple(group.data.shape))
            dense = _kernels.wrap_buffer(whole, self.type_id, "").as_internal().unfold()
            return dense.with_layout(self.layout).select(np.argsort(group.indices).tolist())
        arrays: list[Any] = [None] * self._count
        begin = 0
        for group in self.groups:
            shape, size = group.data.shape[1:], group.data[0].numel()
            for index in group.indices.tolist():
                arrays[index] = values[begin : begin + size].reshape(shape)
                begin += size
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
        for group in self.groups:
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
            Group(indices, _copied(data)) if block_of(data) in own else Group(indices, data)
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
            self._working_queue(),
        )

    def _working_queue(self) -> Any:
        """Where work with the data goes: the queue of the call that is running, or its own."""
        return current_target().queue if is_inside_call() else self.queue

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
            numbers = _by_row(keys[group.indices])
            if len(numbers) == 1:
                groups.append(group)
                continue
            for rows in numbers:
                groups.append(Group(group.indices[rows], take_rows(group.data, rows)))
        made = self.viewed([])
        made.groups = groups
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
        if self._shapes is None:
            shapes = np.zeros((self._count, self.ndim), np.int64)
            for group in self.groups:
                shapes[group.indices] = tuple(group.data.shape[1:])
            self._shapes = shapes
        return self._shapes.copy()

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
        return sum(group.data.numel() for group in self.groups)

    @property
    def nbytes(self) -> int:
        return self.volume * self.itemsize

    @property
    def uniform(self) -> bool:
        return len(self.groups) <= 1

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
        return self.viewed(self.groups, layout=layout)

    def as_internal(self) -> DeviceSamples:
        return self._like(self.groups, None, None, None)

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
        for rows in _by_row(shapes):
            count = int(lengths[rows[0]])
            chosen = (begins[rows][:, None] + np.arange(count)).reshape(-1)
            shape = (len(rows), *shapes[rows[0]].tolist())
            groups.append(Group(rows, self.select(chosen.tolist()).dense().reshape(shape)))
        return self.viewed(groups, self.ndim + 1, layout)

    @_in_own_queue
    def reshape(self, *arguments: Any) -> DeviceSamples:
        """The same data with other shapes, `(shapes, layout)`, or also `(type_id, ...)`."""
        type_id, shapes, layout = (self.type_id, *arguments)[-3:]
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
                data = _range_of(data, axis, start, extent, step)
            shape = (len(group.indices), *(data.shape[axis] for axis in kept))
            groups.append(Group(group.indices, data.reshape(shape)))
        return self.viewed(groups, len(kept), layout)

    @_in_own_queue
    def copy(self) -> DeviceSamples:
        """A copy in memory of its own."""
        return self.mapped(lambda data, _: _copied(data))

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
        kind = carrier(wanted)
        return self.mapped(
            lambda data, _: torch.empty(data.shape, dtype=kind, device=data.device), type_id=wanted
        )


def _cut(
    flat: torch.Tensor, numbers: list[NDArray[np.int64]], shapes: NDArray[np.int64]
) -> list[Group]:
    """Groups that follow each other in one block of memory."""
    groups, begin = [], 0
    for indices in numbers:
        shape = (len(indices), *shapes[indices[0]].tolist())
        size = int(np.prod(shape))
        groups.append(Group(indices, flat[begin : begin + size].reshape(shape)))
        begin += size
    return groups


def _fill_staging(
    host: NDArray[np.uint8], samples: _kernels.Samples, numbers: list[NDArray[np.int64]]
) -> None:
    """Copy samples into bytes, group by group."""
    if len(numbers) == 1 and samples.packed:
        whole = to_numpy(samples.stack_view())
        np.copyto(host.view(whole.dtype).reshape(whole.shape), whole)
        return
    begin = 0
    for index in np.concatenate(numbers).tolist() if numbers else ():
        part = to_numpy(samples, index)
        staged = host[begin : begin + part.nbytes].view(part.dtype).reshape(part.shape)
        np.copyto(staged, part)
        begin += part.nbytes


def index_tensor(numbers: NDArray[np.int64], device: torch.device) -> torch.Tensor:
    """Numbers of rows on a device."""
    moved: torch.Tensor = require_accelerator("index").upload_array(np.array(numbers), device)
    return moved


def take_rows(data: torch.Tensor, rows: NDArray[np.int64]) -> torch.Tensor:
    """Chosen rows; a view where they follow each other or are all the same one."""
    count = len(rows)
    if count == 0:
        return data[:0]
    first = int(rows[0])
    if np.array_equal(rows, np.arange(first, first + count)):
        return data[first : first + count]
    if (rows == first).all():
        return data[first : first + 1].expand(count, *data.shape[1:])
    return data.index_select(0, index_tensor(rows, data.device))


def _by_row(table: NDArray[Any]) -> list[NDArray[np.int64]]:
    """The numbers of equal rows, for each distinct row."""
    if len(table) == 0:
        return []
    if (table == table[0]).all():
        return [np.arange(len(table))]
    found: dict[bytes, list[int]] = {}
    for number, row in enumerate(np.ascontiguousarray(table)):
        found.setdefault(row.tobytes(), []).append(number)
    return [np.array(numbers, np.int64) for numbers in found.values()]


def _merged(groups: list[Group]) -> list[Group]:
    """At most one group for each shape."""
    if len(groups) < 2:
        return groups
    found: dict[tuple[int, ...], list[Group]] = {}
    for group in groups:
        found.setdefault(tuple(group.data.shape[1:]), []).append(group)
    merged = []
    for alike in found.values():
        if len(alike) == 1:
            merged.append(alike[0])
            continue
        indices = np.concatenate([group.indices for group in alike])
        order = np.argsort(indices)
        data = torch.cat([group.data for group in alike])
        merged.append(Group(indices[order], take_rows(data, order)))
    return merged


def block_of(data: torch.Tensor) -> int:
    """What distinguishes the block of memory that a tensor lies in from others."""
    return int(data.untyped_storage()._cdata)


def _copied(data: torch.Tensor) -> torch.Tensor:
    return data.clone(memory_format=torch.contiguous_format)


def _range_of(data: torch.Tensor, axis: int, start: int, extent: int, step: int) -> torch.Tensor:
    if extent == 0:
        return data.narrow(axis, 0, 0)
    if step < 0:
        last = start + (extent - 1) * step
        return _range_of(data, axis, last, extent, -step).flip(axis)
    index = [slice(None)] * axis + [slice(start, start + (extent - 1) * step + 1, step)]
    return data[tuple(index)]


if TYPE_CHECKING:
    _satisfies: type[RemoteSamples] = DeviceSamples
