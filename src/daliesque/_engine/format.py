# SPDX-License-Identifier: Apache-2.0
"""How tensors and batches print."""

from __future__ import annotations

from typing import Any

import numpy as np

from .convert import to_numpy
from .dtype import DType, from_code
from .enums import DALIDataType, DALIImageType, DALIInterpType
from .metadata import NotKnown
from .samples import host
from .value import Value

# Arrays with more elements are shortened, as in NumPy.
_THRESHOLD = 1000
_EDGE = 3
# A batch shows at most this many samples, and images in one line each if they need more lines.
_MOST_SAMPLES = 6
_MOST_LINES = 12

_ENUMS: dict[str, Any] = {
    "DataType": DALIDataType,
    "ImageType": DALIImageType,
    "InterpType": DALIInterpType,
}


def _values(array: Any, dtype: DType, indent: str, edge: int = _EDGE) -> str:
    formatter: Any = None
    if dtype.kind is DType.Kind.enum:
        members = _ENUMS[dtype.name]
        formatter = {"int": lambda number: members(number).name}
    with np.printoptions(threshold=_THRESHOLD, edgeitems=edge):
        text = np.array2string(array, separator=" ", formatter=formatter, prefix=indent)
    return text


def _ends(array: Any, dtype: DType) -> str:
    """The first and last elements, in one line."""
    with np.printoptions(linewidth=1 << 16):
        flat = array.reshape(-1)
        few = flat if flat.size <= 2 * _EDGE else np.concatenate([flat[:_EDGE], flat[-_EDGE:]])
        words = _values(few, dtype, "")[1:-1].split()
    if flat.size > 2 * _EDGE:
        words.insert(_EDGE, "...")
    depth: int = array.ndim
    return "[" * depth + " ".join(words) + "]" * depth


def format_elements(value: Value, spec: str) -> str:
    """The elements, each as the format specification says."""
    array = to_numpy(host(value._data()))
    if array.ndim == 0:
        return str(format(array.item(), spec))
    formatter: Any = {"all": lambda element: format(element.item(), spec)}
    with np.printoptions(threshold=_THRESHOLD, edgeitems=_EDGE):
        text: str = np.array2string(array, separator=" ", formatter=formatter)
    return text


def format_tensor(value: Value) -> str:
    """The values (shortened) and what is known about them."""
    if is_pending(value):
        return _format_pending("Tensor", value, _known_shapes(value))
    failed = _failure(value)
    if failed is not None:
        return f'Tensor(<failed: {failed}>, device="{value.device}")'
    samples = host(value._data())
    dtype = from_code(samples.type_id)
    values = _values(to_numpy(samples), dtype, "    ")
    if samples.volume > _THRESHOLD and values.count("\n") > _MOST_LINES:
        values = _values(to_numpy(samples), dtype, "    ", edge=1)
    return _format("Tensor", values, dtype, value, samples.layout, f"shape={samples.shape(0)}")


def format_batch(value: Value) -> str:
    """The first and last samples and what is known about all of them."""
    if is_pending(value):
        return _format_pending("Batch", value, _known_shapes(value))
    failed = _failure(value)
    if failed is not None:
        return f'Batch(<failed: {failed}>, device="{value.device}", num_samples={value._count})'
    samples = host(value._data())
    dtype = from_code(samples.type_id)
    texts = [_values(to_numpy(samples, i), dtype, "     ") for i in _shown(value)]
    if sum(text.count("\n") for text in texts) > _MOST_LINES:
        texts = [_ends(to_numpy(samples, i), dtype) for i in _shown(value)]
    separator = ", " if samples.ndim == 0 else ",\n     "
    values = "[" + separator.join(_shortened(texts, value)) + "]"
    shapes = _batch_shapes([samples.shape(i) for i in _shown(value)], value)
    return _format("Batch", values, dtype, value, samples.layout, *shapes)


def _shown(value: Value) -> list[int]:
    """The numbers of the samples that are shown."""
    count = value._count
    if count <= _MOST_SAMPLES:
        return list(range(count))
    return [*range(_EDGE), *range(count - _EDGE, count)]


def _shortened(texts: list[str], value: Value) -> list[str]:
    """Texts about the samples that are shown, with dots for the others."""
    return texts if value._count <= _MOST_SAMPLES else [*texts[:_EDGE], "...", *texts[_EDGE:]]


def _batch_shapes(shapes: list[tuple[int, ...]], value: Value) -> tuple[str, ...]:
    texts = ", ".join(_shortened([str(shape) for shape in shapes], value))
    return (f"num_samples={value._count}", f"shape=[{texts}]")


def _format(
    kind: str, values: str, dtype: DType | None, value: Value, layout: str | None, *shapes: str
) -> str:
    lines = [values, *([] if dtype is None else [f"dtype={dtype}"]), f'device="{value.device}"']
    if layout:
        lines.append(f'layout="{layout}"')
    return f"{kind}(\n    " + ",\n    ".join([*lines, *shapes]) + ")"


def is_pending(value: Value) -> bool:
    """Whether the values would have to be waited for."""
    pending = value._pending
    return pending is not None and not pending.is_at_hand()


def _known_shapes(value: Value) -> list[tuple[int, ...]] | None:
    try:
        rows = value._metadata(shapes=True).shapes
    except NotKnown:
        return None
    return [tuple(row) for row in np.broadcast_to(rows, (value._count, rows.shape[1])).tolist()]


def _format_pending(kind: str, value: Value, shapes: list[tuple[int, ...]] | None) -> str:
    """What is known about a value that is still to be computed."""
    metadata = value._metadata()
    more: tuple[str, ...]
    if kind == "Tensor":
        more = () if shapes is None else (f"shape={shapes[0]}",)
    elif shapes is None:
        more = (f"num_samples={value._count}",)
    else:
        more = _batch_shapes([shapes[i] for i in _shown(value)], value)
    dtype, layout = metadata.known_dtype, metadata.known_layout
    return _format(kind, "<pending>", dtype, value, layout, *more)


def _failure(value: Value) -> str | None:
    """What went wrong, if the value cannot be computed."""
    try:
        value._data()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
