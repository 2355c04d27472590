# SPDX-License-Identifier: Apache-2.0
"""Batch: a number of samples."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arithmetic import Operators
from .arrow import ArrowExport, from_arrow, is_arrow
from .convert import (
    dense,
    device_or_cpu,
    is_array,
    join_samples,
    ragged_error,
    to_batch_samples,
    to_samples,
    to_torch,
)
from .device import Device, DeviceLike
from .device import device as to_device
from .dtype import DType
from .dtype import dtype as to_dtype
from .format import format_batch
from .indexing import V
from .invariant import unwrap_invariants
from .invocation import Invocation, promise
from .layout import check_layout
from .metadata import Call, Result, Shapes, announce_as
from .samples import Samples
from .slicing import SampleSlicer
from .tensor import Tensor, as_tensor, remade
from .thread_state import interception
from .value import Sources, Value

if TYPE_CHECKING:
    import torch


# What selects any number of samples.
SampleRange: TypeAlias = Sequence[SupportsIndex] | slice | NDArray[np.integer[Any]] | EllipsisType


class TensorList:
    """`batch.tensors`: the samples as tensors, made when asked for."""

    __slots__ = ("_batch", "_indices")

    def __init__(self, batch: Batch, indices: Sequence[int] | None = None) -> None:
        self._batch = batch
        self._indices = range(batch.batch_size) if indices is None else indices

    def __len__(self) -> int:
        return len(self._indices)

    def __iter__(self) -> Iterator[Tensor]:
        return (self._batch._sample(index) for index in self._indices)

    @overload
    def __getitem__(self, selection: int) -> Tensor: ...
    @overload
    def __getitem__(self, selection: slice | list[int]) -> TensorList: ...
    def __getitem__(self, selection: int | slice | list[int]) -> Tensor | TensorList:
        return self.select(selection)

    @overload
    def select(self, selection: int) -> Tensor: ...
    @overload
    def select(self, selection: slice | list[int]) -> TensorList: ...
    def select(self, selection: int | slice | list[int]) -> Tensor | TensorList:
        """A Tensor for a number, another list for a slice or a list of numbers."""
        if isinstance(selection, slice):
            return TensorList(self._batch, self._indices[selection])
        if isinstance(selection, list):
            return TensorList(self._batch, [self._indices[index] for index in selection])
        return self._batch._sample(self._indices[operator.index(selection)])

    def tolist(self) -> list[Tensor]:
        """All tensors."""
        return list(self)

    def as_batch(self, copy: bool = False) -> Batch:
        """The tensors as a Batch."""
        return batch(self) if copy else as_batch(self)

    def __repr__(self) -> str:
        return f"<{len(self)} tensors of a Batch>"


# The other side of an operator: whatever it is, the result is a Batch.
Operand: TypeAlias = "ArrayLike | Tensor | Batch"


class Batch(ArrowExport, Operators[Operand]):
    """A number of samples of one element type and number of axes; shapes may differ.

    Made by `batch`, `as_batch`, readers and operators. Reading the data or the shapes waits for
    the call that computes them.

    Parameters
    ----------
    tensors
        What to make the batch of; see `batch`.
    dtype
        The wanted element type; by default that of the first sample.
    device
        Where the batch should be.
    layout
        The meaning of the axes of a sample, e.g. "HWC".
    invocation_result
        Instead of `tensors`: a call, the number of its output, and the number of samples.
    copy
        Always copy the data.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.batch([[1, 2], [3]]).shape
    [(2,), (1,)]
    """

    __slots__ = ()

    def __init__(
        self,
        tensors: Any = None,
        dtype: Any = None,
        device: DeviceLike | None = None,
        layout: str | None = None,
        invocation_result: tuple[Invocation, int, int] | None = None,
        copy: bool = False,
    ) -> None:
        if invocation_result is not None:
            made = Batch._promised(*invocation_result)
        elif tensors is not None:
            made = _make(tensors, dtype, device, layout, copy, "Batch")
        else:
            msg = "Batch: nothing to make a batch of. Give 'tensors'."
            raise ValueError(msg)
        for name in Value.__slots__:
            if name != "__weakref__":
                setattr(self, name, getattr(made, name))

    @staticmethod
    def broadcast(
        sample: Any,
        batch_size: int,
        device: DeviceLike | None = None,
        dtype: Any = None,
    ) -> Batch:
        """A batch of `batch_size` times the same sample, in the memory of one.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.Batch.broadcast([1, 2], 3).shape
        [(2,), (2,), (2,)]
        """
        if isinstance(sample, Batch):
            msg = "Batch.broadcast: expected a single sample; got a Batch."
            raise ValueError(msg)
        if interception.marks:
            sample, dtype, device = unwrap_invariants((sample, dtype, device))
        target = to_device(device)
        wanted = None if dtype is None else to_dtype(dtype)
        single = sample if isinstance(sample, Tensor) else None
        if single is None:
            single = Tensor._of(to_samples(sample, wanted, None, "Batch.broadcast"))
        elif wanted is not None and single.dtype != wanted:
            single = single._cast_to(wanted)
        if target is not None:
            single = single.to_device(target)
        count = check_batch_size(batch_size, "Batch.broadcast")
        return _select(single, [0] * count, None)

    @property
    def batch_size(self) -> int:
        """The number of samples."""
        return self._count

    @property
    def valid(self) -> int:
        """How many samples count, from the first one on; the others are there to fill the batch.

        All of them do, except in the last batch of an epoch (see `last_batch` of
        `readers.Reader.next_epoch`) and in what operators make of it.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([1, 2, 3]).valid
        3
        """
        return self._source.valid if isinstance(self._source, Sources) else self._count

    @property
    def shape(self) -> list[tuple[int, ...]]:
        """The shape of each sample."""
        return self._shapes()

    @property
    def tensors(self) -> TensorList:
        """The samples as an indexable sequence of tensors."""
        return TensorList(self)

    @property
    def slice(self) -> SampleSlicer:
        """Index inside each sample: `batch.slice[0:2]`, also with one index for each sample.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([[1, 2, 3], [4, 5, 6]]).slice[ndd.batch([0, 2])].torch().tolist()
        [1, 6]
        """
        return SampleSlicer(self)

    @property
    def source(self) -> list[Any] | None:
        """Where each sample came from (a file name, a key in an archive), if that is known."""
        return None if self._source is None else list(self._source)

    def evaluate(self) -> Batch:
        """Wait for the data and return the batch itself."""
        self._data()
        return self

    @overload
    def select(self, sample_range: int | np.integer[Any] | Tensor) -> Tensor: ...
    @overload
    def select(self, sample_range: SampleRange) -> Batch: ...
    def select(self, sample_range: Any) -> Batch | Tensor:
        """Choose samples: a number gives a Tensor, a slice or a list of numbers gives a Batch.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([[1], [2, 3]]).select(1).shape
        (2,)
        """
        if sample_range is Ellipsis:
            return self
        if isinstance(sample_range, slice):
            return _select(self, list(range(self._count)[sample_range]), self._source)
        if isinstance(sample_range, list | tuple | range | np.ndarray):
            return _select(self, [self._checked(i) for i in sample_range], self._source)
        return self._sample(self._checked(sample_range))

    def _checked(self, index: Any) -> int:
        try:
            number = operator.index(index)
        except TypeError:
            msg = (
                "Batch.select: expected a number, a slice or a list of numbers; "
                f"got {type(index).__name__}."
            )
            raise TypeError(msg) from None
        if not -self._count <= number < self._count:
            msg = (
                f"Batch.select: index out of range: {number} is not the number of a sample; "
                f"there are {self._count}."
            )
            raise IndexError(msg)
        return number % self._count

    def _sample(self, index: int) -> Tensor:
        source = None if self._source is None else (self._source[index],)
        known = self._known()
        if known is not None:
            return Tensor._of(known.sample(index), source)
        return _promise_samples(Tensor, self, [index], source)

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        # As in the reference, which has no `len`.
        return True

    def __iter__(self) -> Iterator[Tensor]:
        return (self._sample(index) for index in range(self._count))

    def __getitem__(self, key: Any) -> NoReturn:
        msg = (
            "a Batch has no [...]: use batch.select(i) or batch.tensors[i] to choose samples, "
            "and batch.slice[...] to index inside each sample"
        )
        raise TypeError(msg)

    def cpu(self) -> Batch:
        """The batch in CPU memory; itself if it is there."""
        return self.to_device(Device.CPU)

    def gpu(self, index: int | None = None) -> Batch:
        """The batch on an accelerator; itself if it is there."""
        return self.to_device(Device("gpu", index))

    def to_device(self, device: DeviceLike, force_copy: bool = False) -> Batch:
        """The batch on a device; itself if it is there and `force_copy` is False."""
        return self._to_device(device_or_cpu(device), force_copy)

    def to(self, device: DeviceLike) -> Batch:
        """The batch on a device, as `to_device`."""
        return self.to_device(device)

    if not TYPE_CHECKING:
        # To type checkers a Batch is no ArrayLike: one in gives a Batch out, an array a Tensor.
        def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
            if self._count and not self._data().uniform:
                raise ragged_error(self._data(), "np.asarray(batch)", "Use batch.numpy(pad=True)")
            return as_tensor(self).__array__(dtype, copy)

    def numpy(self, copy: bool = False, pad: bool = False) -> NDArray[Any]:
        """The batch as one NumPy array of shape (batch_size, ...).

        Parameters
        ----------
        copy
            Always copy; otherwise only if the samples do not lie together.
        pad
            Pad ragged samples with zeros to the largest extents.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([[1], [2, 3]]).numpy(pad=True).shape
        (2, 2)
        """
        if not pad and self._count and not self._data().uniform:
            raise ragged_error(self._data(), "Batch.numpy")
        return as_tensor(self, pad=pad).numpy(copy)

    def tolist(self) -> list[Any]:
        """The samples as nested lists of Python numbers; their shapes may differ.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([[1], [2, 3]]).tolist()
        [[1], [2, 3]]
        """
        return [sample.tolist() for sample in self.cpu()]

    def torch(self, copy: bool | None = None, pad: bool = False) -> torch.Tensor:
        """The batch as one PyTorch tensor of shape (batch_size, ...).

        Parameters
        ----------
        copy
            None: copy only if the samples do not lie together; True: always; False: never, and
            raise if it cannot be avoided.
        pad
            Pad ragged samples with zeros to the largest extents.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.batch([[1], [2, 3]]).torch(pad=True).tolist()
        [[1, 0], [2, 3]]
        """
        samples = self._data()
        if not samples.uniform and not pad:
            raise ragged_error(samples, "Batch.torch")
        if copy is False and not (samples.packed and samples.uniform and not samples.readonly):
            msg = "Batch.torch: the samples cannot be handed over without a copy. Drop copy=False."
            raise ValueError(msg)
        return to_torch(dense(samples, pad, "Batch.torch"), bool(copy), "Batch.torch")

    def __repr__(self) -> str:
        return format_batch(self)

    def __reduce__(self) -> Any:
        arrays = [np.asarray(sample) for sample in self.cpu()]
        return (_rebuild, (arrays, self.dtype.name, self.layout, str(self.device), self._source))


Value._batch_class = Batch


def _rebuild(
    arrays: list[Any],
    dtype: str,
    layout: str | None,
    device: str = "cpu",
    source: Sequence[Any] | None = None,
) -> Batch:
    value = batch(arrays, dtype=DType.parse(dtype), device=device, layout=layout)
    value._source = source
    return value


# Shapes alone take hundreds of megabytes then.
LARGEST_BATCH = 2**24


def check_batch_size(size: Any, where: str) -> int:
    """Return `size` if it can be a number of samples."""
    try:
        number = operator.index(size)
    except TypeError:
        msg = f"{where}: 'batch_size' must be an integer; got {size!r}."
        raise TypeError(msg) from None
    if number < 0:
        msg = f"{where}: 'batch_size' must not be negative; got {number}."
        raise ValueError(msg)
    if number > LARGEST_BATCH:
        msg = f"{where}: 'batch_size' must be at most {LARGEST_BATCH}; got {number}."
        raise ValueError(msg)
    return number


def _take(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    assert inputs[0] is not None
    return inputs[0].select(arguments["indices"])


def _taken_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    return shapes if len(shapes) == 1 else shapes[call["indices"]]


_announce_taken = announce_as(Result(shape=_taken_shapes))


def _promise_samples(
    kind: type[V], value: Value, indices: list[int], source: Sequence[Any] | None
) -> V:
    """The promise of some samples of a value."""
    arguments = {"indices": indices}
    count = len(indices)
    return promise(kind, "Batch.select", _take, (value,), arguments, _announce_taken, count, source)


def _select(value: Value, indices: list[int], source: Sequence[Any] | None) -> Batch:
    chosen = None if source is None else tuple(source[i] for i in indices)
    known = value._known()
    if known is not None:
        return Batch._of(known.select(indices), chosen)
    return _promise_samples(Batch, value, indices, chosen)


def _join(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    parts = [part for part in inputs if part is not None]
    joined = join_samples(parts, arguments["layout"], arguments["where"])
    return joined.copy() if arguments["copy"] else joined


def _joined_shapes(call: Call) -> Shapes:
    return np.concatenate([call.other(number).shapes for number in range(len(call.inputs))])


_announce_joined = announce_as(
    Result(
        layout=lambda call: call.input.layout if call["layout"] is None else call["layout"],
        shape=_joined_shapes,
    )
)


def _from_tensors(
    tensors: Sequence[Tensor], dtype: DType | None, layout: str | None, copy: bool, where: str
) -> Batch:
    if dtype is not None:
        tensors = [t if t.dtype == dtype else t._cast_to(dtype) for t in tensors]
    source = tuple(t.source for t in tensors) if any(t._source for t in tensors) else None
    arguments = {"layout": layout, "where": where, "copy": copy}
    known = [t._known() for t in tensors]
    if all(part is not None for part in known):
        return Batch._of(_join(known, arguments), source)
    count = len(tensors)
    return promise(Batch, where, _join, tuple(tensors), arguments, _announce_joined, count, source)


def _from_array(data: Any, dtype: DType | None, layout: str | None, where: str) -> Batch:
    """The outermost axis becomes the sample axis."""
    samples = data._data() if isinstance(data, Tensor) else to_samples(data, dtype, None, where)
    if samples.ndim == 0:
        msg = f"{where}: Cannot create a batch from a scalar. Give a list or an array."
        raise ValueError(msg)
    if dtype is not None and samples.type_id != dtype.code:
        return _from_array(Tensor._of(samples)._cast_to(dtype), dtype, layout, where)
    unfolded = samples.unfold()
    if layout is not None:
        unfolded = unfolded.with_layout(check_layout(layout, unfolded.ndim, where))
    return Batch._of(unfolded)


def _make(
    tensors: Any, dtype: Any, device: Any, layout: str | None, copy: bool, where: str
) -> Batch:
    if interception.marks:
        tensors, dtype, device, layout = unwrap_invariants((tensors, dtype, device, layout))
    wanted = None if dtype is None else to_dtype(dtype)
    target = to_device(device)
    if target is None:
        return _gathered(tensors, wanted, layout, copy, where)
    # What moves is copied by that.
    made = _gathered(tensors, wanted, layout, False, where)
    return made.to_device(target, force_copy=copy)


def _gathered(
    tensors: Any, wanted: DType | None, layout: str | None, copy: bool, where: str
) -> Batch:
    if type(tensors) is not list:
        if isinstance(tensors, Batch):
            return remade(Batch, tensors, wanted, layout, copy, where)
        if is_arrow(tensors):
            return _gathered(Batch._of(from_arrow(tensors, where)), wanted, layout, copy, where)
        if isinstance(tensors, Tensor) or is_array(tensors):
            made = _from_array(tensors, wanted, layout, where)
            return made._copied() if copy and made._data().external else made
        try:
            tensors = list(tensors)
        except TypeError:
            msg = f"{where}: expected a list of samples or an array; got {type(tensors).__name__}."
            raise TypeError(msg) from None
    ours = {kind for kind in set(map(type, tensors)) if issubclass(kind, Value)}
    if any(issubclass(kind, Batch) for kind in ours):
        msg = f"{where}: a list of Batch objects is not a batch. Pass a list of samples."
        raise ValueError(msg)
    if ours:
        if all(isinstance(item, Tensor) for item in tensors):
            return _from_tensors(tensors, wanted, layout, copy, where)
        tensors = [item._data() if isinstance(item, Tensor) else item for item in tensors]
    samples = to_batch_samples(tensors, wanted, layout, where)
    if (copy and samples.external) or (len(samples) > 1 and not samples.external):
        # Samples made of lists are small buffers of our own: together they are one dense array.
        samples = samples.copy()
    return Batch._of(samples)


def batch(
    tensors: Any,
    dtype: Any = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
) -> Batch:
    """Make a batch with a copy of the data.

    Parameters
    ----------
    tensors
        A list (or any iterable) of samples: arrays, tensors, numbers or nested lists; or one array
        whose outermost axis is the sample axis; or an Arrow array or column of any library
        (docs/arrow.md); or a Batch.
    dtype
        The wanted element type; needed if the list is empty.
    device
        Where the batch should be.
    layout
        The meaning of the axes of a sample, e.g. "HWC".

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> images = ndd.batch([np.zeros((4, 6, 3), np.uint8), np.zeros((2, 2, 3), np.uint8)])
    >>> images.batch_size, images.ndim
    (2, 3)
    """
    return _make(tensors, dtype, device, layout, True, "batch")


def as_batch(
    tensors: Any,
    dtype: Any = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
) -> Batch:
    """Make a batch that shares the memory of `tensors` where that is possible.

    The parameters are those of `batch`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> ndd.as_batch(np.zeros((8, 4, 4, 3), np.uint8), layout="HWC").batch_size
    8
    """
    return _make(tensors, dtype, device, layout, False, "as_batch")
