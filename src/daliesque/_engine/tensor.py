# SPDX-License-Identifier: Apache-2.0
"""Tensor: one array."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _kernels
from .arithmetic import Operators
from .convert import (
    contiguous,
    dense,
    device_or_cpu,
    exported,
    to_numpy,
    to_samples,
    to_torch,
)
from .device import Device, DeviceLike
from .device import device as to_device
from .devices import require_backend
from .dtype import DType
from .dtype import dtype as to_dtype
from .format import format_elements, format_tensor
from .indexing import apply_index, parse_index, to_item
from .invariant import unwrap_invariants
from .invocation import Invocation, promise
from .layout import check_layout
from .metadata import Call, Result, announce_as
from .samples import Samples, host
from .thread_state import interception
from .value import Value

if TYPE_CHECKING:
    import torch


# The other side of an operator whose result is a Tensor.
Operand: TypeAlias = "ArrayLike | Tensor"


class Tensor(Operators[Operand]):
    """An array, or the promise of one.

    Made by `tensor`, `as_tensor` and by operators on single samples. Reading the data or its shape
    waits for the call that computes it.

    Parameters
    ----------
    data
        What to make the tensor of; see `tensor`.
    dtype
        The wanted element type; by default that of `data`.
    device
        Where the tensor should be; by default where `data` is.
    layout
        The meaning of the axes, e.g. "HWC".
    batch, index_in_batch
        Instead of `data`: sample number `index_in_batch` of a batch.
    invocation_result
        Instead of `data`: a call and the number of its output.
    copy
        Always copy `data`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> (ndd.tensor([1, 2, 3]) * 2).shape
    (3,)
    """

    __slots__ = ()

    def __init__(
        self,
        data: Any = None,
        dtype: Any = None,
        device: DeviceLike | None = None,
        layout: str | None = None,
        batch: Any = None,
        index_in_batch: int | None = None,
        invocation_result: tuple[Invocation, int] | None = None,
        copy: bool = False,
    ) -> None:
        made: Any
        if interception.marks:
            data, dtype, device, layout = unwrap_invariants((data, dtype, device, layout))
        if batch is not None:
            if index_in_batch is None or not issubclass(type(batch), Value._batch_class):
                msg = "Tensor: 'batch' must be a Batch and goes with 'index_in_batch'."
                raise ValueError(msg)
            made = batch.select(operator.index(index_in_batch))
        elif invocation_result is not None:
            made = Tensor._promised(*invocation_result, 1)
        elif data is not None:
            made = _make(data, dtype, device, layout, copy, "Tensor")
        else:
            msg = "Tensor: nothing to make a tensor of. Give 'data'."
            raise ValueError(msg)
        for name in Value.__slots__:
            if name != "__weakref__":
                setattr(self, name, getattr(made, name))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the axes."""
        samples = self._samples
        return self._shapes()[0] if samples is None else samples.shape(0)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data().volume

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.bytes

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._data().nbytes

    @property
    def source(self) -> Any:
        """Where the tensor came from (a file name, a key in an archive), if that is known."""
        return self._source[0] if self._source else None

    def evaluate(self) -> Tensor:
        """Wait for the data and return the tensor itself."""
        self._data()
        return self

    def item(self) -> Any:
        """The only element, as a Python number.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.tensor(7).item()
        7
        """
        samples = self._data()
        if samples.volume != 1:
            msg = f"Tensor.item: the tensor must have one element; it has {samples.volume}."
            raise ValueError(msg)
        return to_item(samples)

    def cpu(self) -> Tensor:
        """The tensor in CPU memory; itself if it is there."""
        return self.to_device(Device.CPU)

    def gpu(self, index: int | None = None) -> Tensor:
        """The tensor on an accelerator; itself if it is there."""
        return self.to_device(Device("gpu", index))

    def to_device(self, device: DeviceLike, force_copy: bool = False) -> Tensor:
        """The tensor on a device; itself if it is there and `force_copy` is False."""
        return self._to_device(device_or_cpu(device), force_copy)

    def to(self, device: DeviceLike) -> Tensor:
        """The tensor on a device, as `to_device`.

        Examples
        --------
        >>> import daliesque as ndd
        >>> str(ndd.tensor([1, 2]).to("cpu").device)
        'cpu'
        """
        return self.to_device(device)

    def numpy(self, copy: bool = False) -> NDArray[Any]:
        """The tensor as a NumPy array, over the same memory unless `copy` is True.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.tensor([1, 2]).numpy()
        array([1, 2], dtype=int32)
        """
        return self.__array__(copy=copy or None)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers, or as one number if there are no axes.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self.cpu().numpy().tolist()

    @property
    def T(self) -> Tensor:
        """The tensor with its axes, and the letters of its layout, in reverse order.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.tensor([[1, 2, 3]]).T.tolist()
        [[1], [2], [3]]
        """
        inputs, source = (self,), self._source
        return promise(Tensor, "Tensor.T", _reverse, inputs, {}, _announce_reversed, 1, source)

    def __format__(self, spec: str) -> str:
        return format_elements(self, spec) if spec else str(self)

    def __getitem__(self, ranges: Any) -> Tensor:
        if interception.marks:
            ranges = unwrap_invariants(ranges)
        return apply_index(self, parse_index(ranges, "Tensor[...]", self))

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            msg = "len() of a tensor without axes"
            raise TypeError(msg)
        return shape[0]

    def __bool__(self) -> bool:
        if self.size != 1:
            msg = f"the truth of a tensor of {self.size} elements is ambiguous"
            raise ValueError(msg)
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        samples = self._data()
        if samples.is_on_device:
            msg = f"the tensor is on the device {str(self.device)!r}; use .cpu() to read it"
            raise TypeError(msg)
        array = to_numpy(host(samples))
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                msg = f"a copy is needed to convert {array.dtype} to {np.dtype(dtype)}"
                raise ValueError(msg)
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        data = self._data()
        if data.is_on_device:
            return require_backend("__dlpack__").export_capsule(
                data.copy() if copy else data,
                stream=stream,
                max_version=max_version,
                dl_device=dl_device,
            )
        if stream not in (None, -1):
            msg = "Tensor.__dlpack__: data in CPU memory has no stream; pass stream=None."
            raise ValueError(msg)
        if dl_device is not None and int(dl_device[0]) != 1:
            msg = f"Tensor.__dlpack__: the tensor is in CPU memory, not on the device {dl_device}."
            raise BufferError(msg)
        samples = host(data)
        if copy:
            samples = samples.copy()
        versioned = max_version is not None and max_version[0] >= 1
        if samples.readonly and not versioned:
            msg = "Tensor.__dlpack__: the data is read-only, which needs DLPack 1.0. Copy it."
            raise BufferError(msg)
        return _kernels.to_dlpack(samples, versioned, bool(copy))

    def __dlpack_device__(self) -> tuple[int, int]:
        samples = self._data()
        if samples.is_on_device:
            kind, number = exported(samples).__dlpack_device__()
            return (int(kind), int(number))
        return (1, 0)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        samples = self._data()
        if samples.is_on_device:
            return require_backend("__cuda_array_interface__").export_interface(samples)
        msg = "the tensor is in CPU memory; use .gpu() to get the CUDA array interface"
        raise AttributeError(msg)

    def torch(self, copy: bool = False) -> torch.Tensor:
        """The tensor as a PyTorch one, over the same memory unless `copy` is True.

        Examples
        --------
        >>> import daliesque as ndd
        >>> ndd.tensor([1.0, 2.0]).torch().sum().item()
        3.0
        """
        return to_torch(self._data(), copy, "Tensor.torch")

    def __repr__(self) -> str:
        return format_tensor(self)

    def __reduce__(self) -> Any:
        array = np.asarray(self.cpu())
        return (_rebuild, (array, self.dtype.name, self.layout, str(self.device), self._source))


Value._tensor_class = Tensor


def _reverse(inputs: list[Samples | None], _arguments: dict[str, Any]) -> Samples:
    samples = inputs[0]
    assert samples is not None
    order = list(range(samples.ndim))[::-1]
    return samples.kernels.transpose(contiguous(samples), order, samples.layout[::-1])


_announce_reversed = announce_as(
    Result(
        layout=lambda call: call.input.layout[::-1], shape=lambda call: call.input.shapes[:, ::-1]
    )
)


def _rebuild(
    array: NDArray[Any],
    dtype: str,
    layout: str | None,
    device: str = "cpu",
    source: Sequence[Any] | None = None,
) -> Tensor:
    value = tensor(array, dtype=DType.parse(dtype), device=device, layout=layout)
    value._source = source
    return value


_O = TypeVar("_O", bound=Operators[Any])


def remade(
    kind: type[_O], made: _O, wanted: DType | None, layout: str | None, copy: bool, where: str
) -> _O:
    """A tensor or batch with another type or layout, or a copy of it."""
    if wanted is not None and made.dtype != wanted:
        made = made._cast_to(wanted)
    elif copy:
        made = made._copied()
    if layout is not None and layout != made.layout:
        samples = made._data()
        checked = check_layout(layout, samples.ndim, where)
        made = kind._of(samples.with_layout(checked), made._source)
    return made


def _make(data: Any, dtype: Any, device: Any, layout: str | None, copy: bool, where: str) -> Tensor:
    """A tensor of anything but a batch; `copy` makes sure that the memory is our own."""
    wanted = None if dtype is None else to_dtype(dtype)
    target = to_device(device)
    if isinstance(data, Tensor):
        made = data if target is None else data.to_device(target)
        copy = copy and made is data
        return remade(Tensor, made, wanted, layout, copy, where)
    samples = to_samples(data, wanted, layout, where)
    made = Tensor._of(samples)
    if target is not None and target != made.device:
        return made.to_device(target)
    return Tensor._of(samples.copy()) if copy and samples.external else made


def _stack(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    samples = inputs[0]
    assert samples is not None
    stacked = dense(samples, arguments["pad"], arguments["where"])
    layout = arguments["layout"]
    if layout is not None:
        stacked = stacked.with_layout(check_layout(layout, stacked.ndim, arguments["where"]))
    # A view of the batch is copied unless stacking has made a copy already.
    if arguments["copy"] and len(samples) and stacked.pointer(0) == samples.pointer(0):
        stacked = stacked.copy()
    return stacked


def _stacked_layout(call: Call) -> str:
    if call.has("layout"):
        layout: str = call["layout"]
        return layout
    return "N" + call.input.layout if call.input.layout else ""


_announce_stacked = announce_as(
    Result(ndim=lambda call: call.input.ndim + 1, layout=_stacked_layout)
)


def _from_batch(
    batch: Any, dtype: Any, device: Any, layout: str | None, pad: bool, copy: bool, where: str
) -> Tensor:
    target = to_device(device)
    wanted = None if dtype is None else to_dtype(dtype)
    if target is not None and target != batch.device:
        batch, copy = batch.to_device(target), False
    if wanted is not None and batch.dtype != wanted:
        batch, copy = batch._cast_to(wanted), False
    arguments = {"pad": pad, "layout": layout, "copy": copy, "where": where}
    return promise(Tensor, where, _stack, (batch,), arguments, _announce_stacked, 1)


def tensor(
    data: Any,
    dtype: Any = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Make a tensor with a copy of `data`.

    Parameters
    ----------
    data
        A NumPy array, a torch, JAX or CuPy tensor, anything with DLPack or an array interface, a
        number, a (nested) list, bytes, another Tensor, or a Batch, whose samples become the
        outermost axis. Numbers and lists without `dtype` become int32, float32 or bool.
    dtype
        The wanted element type; values are rounded and clamped to it.
    device
        Where the tensor should be.
    layout
        The meaning of the axes, e.g. "HWC".
    pad
        Pad the samples of a ragged Batch with zeros to the largest extents.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.tensor([[1, 2], [3, 4]], dtype=ndd.uint8).shape
    (2, 2)
    """
    if interception.marks:
        data, dtype, device, layout, pad = unwrap_invariants((data, dtype, device, layout, pad))
    if isinstance(data, Value._batch_class):
        return _from_batch(data, dtype, device, layout, pad, True, "tensor")
    return _make(data, dtype, device, layout, True, "tensor")


def as_tensor(
    data: Any,
    dtype: Any = None,
    device: DeviceLike | None = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Make a tensor that shares the memory of `data` where that is possible.

    Later changes of `data` are visible in the tensor. The parameters are those of `tensor`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> array = np.zeros(2, np.int32)
    >>> shared = ndd.as_tensor(array)
    >>> array[0] = 5
    >>> shared[0].item()
    5
    """
    if interception.marks:
        data, dtype, device, layout, pad = unwrap_invariants((data, dtype, device, layout, pad))
    if isinstance(data, Value._batch_class):
        return _from_batch(data, dtype, device, layout, pad, False, "as_tensor")
    return _make(data, dtype, device, layout, False, "as_tensor")


DType._make_tensor = staticmethod(tensor)
