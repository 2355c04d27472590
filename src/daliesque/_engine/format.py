# SPDX-License-Identifier: Apache-2.0
"""How tensors and batches print."""

from __future__ import annotations

from typing import Any

import numpy as np

from .convert import to_numpy
from .dtype import DType, from_code
from .enums import DALIDataType, DALIImageType, DALIInterpType
from .samples import host
from .value import Value

# Arrays with more elements are shortened, as in NumPy.
_THRESHOLD = 1000
_EDGE = 3
# A batch shows at most this many samples.
_MOST_SAMPLES = 6

_ENUMS: dict[str, Any] = {
    "DataType": DALIDataType,
    "ImageType": DALIImageType,
    "InterpType": DALIInterpType,
}


def _values(array: Any, dtype: DType, indent: str) -> str:
    formatter: Any = None
    if dtype.kind is DType.Kind.enum:
        members = _ENUMS[dtype.name]
        formatter = {"int": lambda number: members(number).name}
    with np.printoptions(threshold=_THRESHOLD, edgeitems=_EDGE):
        text = np.array2string(array, separator=" ", formatter=formatter, prefix=indent)
    return text


def format_tensor(value: Value) -> str:
    """The values (shortened) and what is known about them."""
    failed = _failure(value)
    if failed is not None:
        return f'Tensor(<failed: {failed}>, device="{value.device}")'
    samples = host(value._data())
    dtype = from_code(samples.type_id)
    lines = [
        _values(to_numpy(samples), dtype, "    "),
        f"dtype={dtype}",
        f'device="{value.device}"',
    ]
    if samples.layout:
        lines.append(f'layout="{samples.layout}"')
    lines.append(f"shape={samples.shape(0)}")
    return "Tensor(\n    " + ",\n    ".join(lines) + ")"


def format_batch(value: Value) -> str:
    """The first and last samples and what is known about all of them."""
    failed = _failure(value)
    if failed is not None:
        return f'Batch(<failed: {failed}>, device="{value.device}", num_samples={value._count})'
    samples = host(value._data())
    dtype = from_code(samples.type_id)
    count = len(samples)
    shown: list[int] = list(range(count))
    if count > _MOST_SAMPLES:
        shown = [*range(_EDGE), *range(count - _EDGE, count)]
    texts = [_values(to_numpy(samples, i), dtype, "     ") for i in shown]
    shapes = [str(samples.shape(i)) for i in shown]
    if count > _MOST_SAMPLES:
        texts.insert(_EDGE, "...")
        shapes.insert(_EDGE, "...")
    separator = ", " if samples.ndim == 0 else ",\n     "
    lines = ["[" + separator.join(texts) + "]", f"dtype={dtype}", f'device="{value.device}"']
    if samples.layout:
        lines.append(f'layout="{samples.layout}"')
    lines += [f"num_samples={count}", "shape=[" + ", ".join(shapes) + "]"]
    return "Batch(\n    " + ",\n    ".join(lines) + ")"


def _failure(value: Value) -> str | None:
    """What went wrong, if the value cannot be computed."""
    try:
        value._data()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
