# SPDX-License-Identifier: Apache-2.0
"""`tensor[...]` and `batch.slice[...]`: NumPy's rules for integers, slices and the ellipsis."""

from __future__ import annotations

import itertools
import operator
from types import EllipsisType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .convert import to_numpy, to_stacked_numpy
from .device import Device
from .invocation import promise
from .metadata import Call, NotKnown, Result, Shapes, announce_as
from .samples import Samples, host
from .value import Value, agreed_count, any_remote

V = TypeVar("V", bound=Value)


class _Given(NamedTuple):
    """Stands in an index for the number that operand number `operand` will hold."""

    operand: int


class Index(NamedTuple):
    """An index as the user wrote it: integers, slices and at most one ellipsis."""

    items: tuple[Any, ...]
    operands: tuple[Any, ...]
    where: str

    @property
    def is_trivial(self) -> bool:
        """Whether everything is selected."""
        return all(item is Ellipsis or item == slice(None) for item in self.items)

    def dropped_axes(self, ndim: int) -> list[bool]:
        """For each axis, whether an integer removes it."""
        return [not isinstance(item, slice) for item in self.spread(ndim)]

    def spread(self, ndim: int) -> list[Any]:
        """One item for each axis."""
        named = len(self.items) - (Ellipsis in self.items)
        if named > ndim:
            msg = f"{self.where}: too many indices: {named} for {ndim} axes."
            raise IndexError(msg)
        missing = [slice(None)] * (ndim - named)
        if Ellipsis in self.items:
            at = self.items.index(Ellipsis)
            return [*self.items[:at], *missing, *self.items[at + 1 :]]
        return [*self.items, *missing]


def parse_index(key: Any, where: str, owner: Value) -> Index:
    """Check an index and take the tensors and batches out of it."""
    items = key if isinstance(key, tuple) else (key,)
    operands: list[Value] = []

    def number(item: Any, role: str) -> Any:
        if isinstance(item, Value):
            if isinstance(item, Value._batch_class):
                if not isinstance(owner, Value._batch_class):
                    msg = f"{where}: a tensor cannot be indexed by a Batch. Use a number or Tensor."
                    raise TypeError(msg)
                agreed_count(item, owner._count, where, "an index")
            operands.append(item)
            return _Given(len(operands) - 1)
        try:
            return operator.index(item)
        except TypeError:
            msg = f"{where}: {role} must be an integer or a scalar tensor; got {item!r}."
            raise TypeError(msg) from None

    parsed: list[Any] = []
    for item in items:
        if isinstance(item, slice):
            bounds = (item.start, item.stop, item.step)
            parsed.append(slice(*(None if b is None else number(b, "a bound") for b in bounds)))
        elif isinstance(item, EllipsisType):
            if Ellipsis in parsed:
                msg = f"{where}: only one ellipsis (...) is allowed."
                raise IndexError(msg)
            parsed.append(item)
        elif item is None:
            msg = f"{where}: new axes cannot be made by indexing. Use expand_dims."
            raise TypeError(msg)
        elif isinstance(item, bool | np.bool_):
            msg = f"{where}: an index must be an integer; got {item!r}."
            raise TypeError(msg)
        else:
            parsed.append(number(item, "an index"))
    return Index(tuple(parsed), tuple(operands), where)


def apply_index(value: V, index: Index) -> V:
    """The part of `value` that `index` selects; a view if the data is there already."""
    if index.is_trivial:
        return value
    if any_remote(index.operands):
        # Indices are read where the shapes are: on the host.
        operands = tuple(operand._to_device(Device.CPU, False) for operand in index.operands)
        index = index._replace(operands=operands)
    known = value._known()
    if known is not None and not index.operands:
        return type(value)._of(slice_samples(known, index, ()), value._source)
    inputs = (value, *index.operands)
    return promise(
        type(value),
        index.where,
        _slice,
        inputs,
        {"index": index},
        _announce,
        value._count,
        value._source,
    )


def _kept_axes(call: Call) -> list[bool]:
    index: Index = call["index"]
    return [not dropped for dropped in index.dropped_axes(call.input.ndim)]


def _indexed_shapes(call: Call) -> Shapes:
    index: Index = call["index"]
    if index.operands:
        raise NotKnown
    items = index.spread(call.input.ndim)
    kept = [
        [
            len(range(*item.indices(extent)))
            for item, extent in zip(items, row, strict=True)
            if isinstance(item, slice)
        ]
        for row in call.input.shapes.tolist()
    ]
    return np.array(kept, np.int64).reshape(len(kept), -1)


_announce = announce_as(
    Result(
        ndim=lambda call: sum(_kept_axes(call)),
        layout=lambda call: "".join(itertools.compress(call.input.layout, _kept_axes(call))),
        shape=_indexed_shapes,
    )
)


def _slice(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    samples, *operands = (part for part in inputs if part is not None)
    index: Index = arguments["index"]
    return slice_samples(samples, index, tuple(_numbers(part, index) for part in operands))


def _numbers(samples: Samples, index: Index) -> list[int]:
    """The integers that an index operand holds: one for each sample, or one for all."""
    if samples.ndim != 0:
        msg = f"{index.where}: an index must be a scalar; got a tensor of {samples.ndim} axes."
        raise IndexError(msg)
    values = to_stacked_numpy(host(samples)) if len(samples) else np.empty(0, np.int32)
    if values.dtype.kind not in "iu":
        msg = f"{index.where}: an index must be an integer; got {values.dtype.name}."
        raise TypeError(msg)
    numbers: list[int] = values.tolist()
    return numbers


def slice_samples(samples: Samples, index: Index, operands: tuple[list[int], ...]) -> Samples:
    """A view of each sample."""
    ndim = samples.ndim
    items = index.spread(ndim)
    dropped = index.dropped_axes(ndim)
    count = len(samples)
    # One set of ranges serves all samples if shapes and index are the same for each.
    common = count > 0 and samples.uniform and all(len(values) == 1 for values in operands)
    ranges: list[tuple[int, int, int]] = []
    for sample in range(1 if common else count):

        def number(item: Any, sample: int = sample) -> Any:
            if isinstance(item, _Given):
                values = operands[item.operand]
                return values[sample if len(values) > 1 else 0]
            return item

        for axis, (item, extent) in enumerate(zip(items, samples.shape(sample), strict=True)):
            if isinstance(item, slice):
                bounds = slice(number(item.start), number(item.stop), number(item.step))
                start, stop, step = bounds.indices(extent)
                ranges.append((start, len(range(start, stop, step)), step))
            else:
                at = number(item)
                if not -extent <= at < extent:
                    msg = (
                        f"{index.where}: Index {at} is out of range for axis {axis} of length "
                        f"{extent} (sample {sample})."
                    )
                    raise IndexError(msg)
                ranges.append((at + extent if at < 0 else at, 1, 1))
    layout = samples.layout
    if layout:
        layout = "".join(letter for letter, drop in zip(layout, dropped, strict=True) if not drop)
    table = np.array(ranges, np.int64).reshape(-1, 3)
    return samples.slice(table, dropped, layout)


def to_item(samples: Samples) -> Any:
    """The only element of a single sample, as a Python number."""
    return to_numpy(host(samples)).item()
