# SPDX-License-Identifier: Apache-2.0
"""Every way in and out: NumPy, DLPack, the array protocols, lists and scalars."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .device import Device, DeviceLike
from .device import device as to_device
from .devices import require_backend
from .dtype import (
    DType,
    bfloat16,
    bool_,
    enum_dtype,
    float32,
    from_code,
    from_numpy,
    int32,
)
from .layout import check_layout
from .samples import HostSamples, Samples, common_kernels, host, is_samples

if TYPE_CHECKING:
    import torch

# Numbers without a type of their own become 32-bit ones, as in the reference.
_NARROWER: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.int64): np.dtype(np.int32),
    np.dtype(np.uint64): np.dtype(np.uint32),
    np.dtype(np.float64): np.dtype(np.float32),
}


def is_array(data: object) -> bool:
    """Whether `data` is an array of some framework, rather than a list or a number."""
    return isinstance(data, np.ndarray | np.generic) or any(
        hasattr(data, name)
        for name in ("__dlpack__", "__array__", "__array_interface__", "__cuda_array_interface__")
    )


def to_samples(data: Any, dtype: DType | None, layout: str | None, where: str) -> Samples:
    """One sample of anything array-like, sharing its memory if the type is right."""
    samples: Samples
    if isinstance(data, np.ndarray):
        samples = _wrap_numpy(data, where)
    elif hasattr(data, "__dlpack_device__"):
        samples = _wrap_dlpack(data, where)
    elif hasattr(data, "__cuda_array_interface__"):
        samples = _import_remote(data, where)
    elif hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        samples = _wrap_numpy(np.asarray(data), where)
        if isinstance(data, np.generic):
            samples = samples.as_internal()
    else:
        samples = _from_python(data, dtype, where)
    if dtype is not None and samples.type_id != dtype.code:
        samples = cast_samples(samples, dtype)
    if layout is not None:
        samples = samples.with_layout(check_layout(layout, samples.ndim, where))
    return samples


@functools.lru_cache(maxsize=256, typed=True)
def number_samples(number: float, where: str, zero: str = "") -> Samples:
    """A sample that holds one Python number; constants of a program are made once.

    `zero` distinguishes 0.0 from -0.0, which are equal.
    """
    del zero
    return to_samples(number, None, None, where)


@overload
def cast_samples(samples: HostSamples, dtype: DType) -> HostSamples: ...
@overload
def cast_samples(samples: Samples, dtype: DType) -> Samples: ...
def cast_samples(samples: Samples, dtype: DType) -> Samples:
    """The same values in another type, rounded and clamped."""
    if samples.type_id == dtype.code:
        return samples
    return samples.kernels.cast(contiguous(samples), dtype.code)


@overload
def contiguous(samples: HostSamples) -> HostSamples: ...
@overload
def contiguous(samples: Samples) -> Samples: ...
def contiguous(samples: Samples) -> Samples:
    """The samples themselves if they are C-contiguous, else a copy."""
    return samples if samples.contiguous else samples.copy()


def _wrap_numpy(array: NDArray[Any], where: str) -> HostSamples:
    dtype = from_numpy(array.dtype)
    if dtype is None:
        if array.dtype.kind == "O":
            return _from_enums(array, where)
        dtype = from_numpy(array.dtype.newbyteorder("="))
        if dtype is None:
            msg = f"{where}: arrays of type {array.dtype} are not supported. Convert to numbers."
            raise TypeError(msg)
        array = array.astype(dtype.numpy)
    if dtype is bfloat16:
        array = array.view(np.uint16)
    return _kernels.wrap_buffer(array, dtype.code, "")


def _wrap_dlpack(data: Any, where: str) -> Samples:
    if Device.type_from_dlpack(data.__dlpack_device__()[0]) != "cpu":
        return _import_remote(data, where)
    if getattr(data, "requires_grad", False):
        data = data.detach()
    try:
        capsule = data.__dlpack__(max_version=(1, 0))
    except TypeError:
        # A producer that only knows the unversioned protocol.
        capsule = data.__dlpack__()
    except BufferError:
        # A read-only array of a producer that cannot say so: its memory is left alone.
        return _wrap_numpy(np.array(data), where).as_internal()
    return _kernels.from_dlpack(capsule)


def _import_remote(data: object, where: str) -> Samples:
    named = f"{where}: the {type(data).__name__} is not in CPU memory"
    return require_backend(named).import_array(data)


def _from_python(data: Any, dtype: DType | None, where: str) -> HostSamples:
    """A number, a string of bytes or a (nested) list; always a copy."""
    if isinstance(data, bytes | bytearray | memoryview):
        array = np.frombuffer(data, dtype=np.uint8).copy()
    else:
        if isinstance(data, str) or data is None:
            msg = f"{where}: expected numbers or an array; got {data!r}."
            raise TypeError(msg)
        try:
            array = np.array(data, dtype=None if dtype is None else dtype.numpy)
        except (ValueError, OverflowError) as error:
            reason = "a number is too large" if isinstance(error, OverflowError) else str(error)
            if "inhomogeneous" in reason:
                reason = "its rows differ in length"
            msg = f"{where}: cannot make an array of {_shorten(data)}: {reason}."
            raise type(error)(msg) from None
        if array.dtype.kind == "O":
            return _from_enums(array, where)
        if array.dtype.kind in "US":
            msg = f"{where}: expected numbers or an array; got {_shorten(data)}."
            raise TypeError(msg)
        narrower = _NARROWER.get(array.dtype) if dtype is None else None
        if narrower is not None:
            array = _narrow(array, narrower, where)
        found = enum_dtype(_first_leaf(data)) if dtype is None else None
        if found is not None:
            return _wrap_numpy(array, where).reinterpret(found.code).as_internal()
    samples = _wrap_numpy(array, where).as_internal()
    if dtype is not None and dtype.kind is DType.Kind.enum:
        samples = samples.reinterpret(dtype.code)
    return samples


def _first_leaf(data: Any) -> Any:
    while isinstance(data, list | tuple) and data:
        data = data[0]
    return data


def _narrow(array: NDArray[Any], narrower: np.dtype[Any], where: str) -> NDArray[Any]:
    if narrower.kind != "f" and array.size:
        limits = np.iinfo(narrower)
        if array.min() < limits.min or array.max() > limits.max:
            msg = (
                f"{where}: integers become {narrower.name} and {_shorten(array.tolist())} does "
                f"not fit. Give 'dtype' (e.g. daliesque.{array.dtype.name}) or a NumPy array."
            )
            raise OverflowError(msg)
    return array.astype(narrower)


def _from_enums(array: NDArray[Any], where: str) -> HostSamples:
    found = enum_dtype(array.flat[0]) if array.size else None
    if found is None:
        kind = type(array.flat[0]).__name__ if array.size else "no elements"
        msg = f"{where}: arrays of Python objects ({kind}) are not supported. Convert to numbers."
        raise TypeError(msg)
    return _wrap_numpy(array.astype(int32.numpy), where).reinterpret(found.code).as_internal()


def _shorten(data: object) -> str:
    text = repr(data)
    return text if len(text) <= 60 else text[:57] + "..."


def to_batch_samples(
    items: Sequence[Any], dtype: DType | None, layout: str | None, where: str
) -> Samples:
    """The samples of a list of array-likes, sharing memory where that is possible."""
    if not items:
        if dtype is None:
            msg = f"{where}: Element type must be specified if the list is empty. Give 'dtype'."
            raise ValueError(msg)
        return _kernels.empty_uniform(dtype.code, [0] * len(layout or ""), layout or "", 0)
    kinds = set(map(type, items))
    if dtype is None and kinds == _ARRAYS:
        types = {item.dtype for item in items}
        found = from_numpy(types.pop())
        if not types and found is not None and found is not bfloat16:
            return _kernels.wrap_buffers(items, found.code, _layout_for(items, layout, where))
    if dtype is None and kinds <= _PLAIN_NUMBERS:
        # Made at once: together they get the type that holds them all.
        numbers = to_samples(list(items), None, None, where)
        return numbers.unfold().with_layout(check_layout(layout, 0, where))
    parts = []
    for index, item in enumerate(items):
        if item is None:
            msg = f"{where}: expected numbers or arrays; got None at index {index}."
            raise TypeError(msg)
        parts.append(item if is_samples(item) else to_samples(item, dtype, layout, where))
    if dtype is None and not any(map(_has_type, items)):
        # Numbers without a type of their own: none is rounded to the type of the first.
        widest = max((from_code(part.type_id) for part in parts), key=_WIDTHS.index)
        parts = [cast_samples(part, widest) for part in parts]
    return join_samples(parts, layout, where)


_ARRAYS = frozenset((np.ndarray,))
_PLAIN_NUMBERS = frozenset((bool, int, float))

# What lists of Python numbers become, from the narrowest to the widest.
_WIDTHS = (bool_, int32, float32)


def _has_type(item: Any) -> bool:
    """Whether data has an element type; Python numbers and lists of them have none."""
    if is_samples(item) or isinstance(item, bytes | bytearray | memoryview) or is_array(item):
        return True
    leaf = _first_leaf(item)
    return enum_dtype(leaf) is not None or not isinstance(leaf, bool | int | float | list | tuple)


def _layout_for(arrays: Sequence[NDArray[Any]], layout: str | None, where: str) -> str:
    ndim = arrays[0].ndim
    for index, array in enumerate(arrays):
        if array.ndim != ndim:
            raise _unequal_axes(ndim, index, array.ndim, where)
    return check_layout(layout, ndim, where)


def _unequal_axes(first: int, index: int, other: int, where: str) -> ValueError:
    return ValueError(
        f"{where}: all samples of a batch need the same number of axes; sample 0 has {first} and "
        f"sample {index} has {other}."
    )


def join_samples(parts: list[Samples], layout: str | None, where: str) -> Samples:
    """The samples of several Samples without copying; types are brought to that of the first."""
    first = parts[0]
    for index, part in enumerate(parts):
        if part.ndim != first.ndim:
            raise _unequal_axes(first.ndim, index, part.ndim, where)
        if part.type_id != first.type_id:
            parts[index] = cast_samples(part, from_code(first.type_id))
        if layout is None and part.layout != first.layout:
            msg = (
                f"{where}: all samples of a batch need one layout; sample 0 has "
                f"{first.layout!r} and sample {index} has {part.layout!r}. Give 'layout'."
            )
            raise ValueError(msg)
    kernels = common_kernels(parts)
    joined = kernels.join(parts)
    if layout is not None and layout != joined.layout:
        joined = joined.with_layout(check_layout(layout, joined.ndim, where))
    return joined


def to_numpy(samples: HostSamples, index: int = 0) -> NDArray[Any]:
    """Sample `index` as a NumPy array over the same memory."""
    view: NDArray[Any] = _kernels.numpy_view(samples, index)
    return view.view(bfloat16.numpy) if samples.type_id == bfloat16.code else view


def to_stacked_numpy(samples: HostSamples) -> NDArray[Any]:
    """All samples, which must be uniform, as one array; copies only if they lie scattered."""
    if not samples.packed:
        samples = samples.copy()
    return to_numpy(samples.stack_view())


def dense(samples: Samples, pad: bool, where: str) -> Samples:
    """The samples packed into one array of shape (N, ...), as a single sample."""
    if not samples.uniform:
        if not pad:
            raise ragged_error(samples, where)
        samples = samples.padded()
    elif not samples.packed:
        samples = samples.copy()
    stacked = samples.stack_view()
    return stacked.with_layout("N" + samples.layout) if samples.layout else stacked


def ragged_error(samples: Samples, where: str, remedy: str = "Pass pad=True") -> ValueError:
    """What to say when a ragged batch is asked for as one array."""
    shapes = samples.shapes
    other = next(index for index, shape in enumerate(shapes) if shape != shapes[0])
    return ValueError(
        f"{where}: the samples differ in shape: {shapes[0]} (sample 0) and {shapes[other]} "
        f"(sample {other}). {remedy} to pad with zeros to the largest."
    )


def device_or_cpu(device: DeviceLike | None) -> Device:
    """The device that is asked for; None stands for the CPU."""
    found = to_device(device)
    return Device.CPU if found is None else found


def exported(data: Samples) -> torch.Tensor:
    """Data on an accelerator as a torch tensor, over the same memory."""
    return require_backend("torch").export_array(data)


def to_torch(data: Samples, copy: bool, where: str) -> torch.Tensor:
    """The only sample as a torch tensor, over the same memory where that is possible."""
    if data.is_on_device:
        return exported(data.copy() if copy else data)
    samples = host(data)
    # torch has no read-only tensors, so read-only memory is not handed over.
    return shared_torch(samples.copy() if copy or samples.readonly else samples, where)


def shared_torch(samples: _kernels.Samples, where: str) -> torch.Tensor:
    """The only sample as a torch tensor over the same memory, also if that must not be changed."""
    try:
        from torch.utils.dlpack import from_dlpack
    except ModuleNotFoundError:
        msg = f"{where}: PyTorch is not installed. Install it with: pip install torch"
        raise RuntimeError(msg) from None
    if min(samples.strides(0), default=0) < 0:
        samples = samples.copy()
    made: torch.Tensor = from_dlpack(_kernels.to_dlpack(samples, False, False))
    return made
