# SPDX-License-Identifier: Apache-2.0
"""Pictures of the first samples of what goes in or comes out of a call."""

from __future__ import annotations

import base64
import io
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from .._engine.arithmetic import Operators
from .._engine.batch import Batch
from .._engine.composite import Composite
from .._engine.device import Device
from .._engine.tensor import Tensor
from .._engine.value import Value
from .._show.grid import draw_sample
from .._show.overlays import Overlay, Overlays


class Cell(NamedTuple):
    """A picture as the address of an image in a page, and what is known about the sample."""

    picture: str
    facts: str
    source: str


def draw_cells(value: Any, samples: int, size: int, encoded: bool) -> list[Cell] | str:
    """Cells for the first samples of a value; or what went wrong, if its call failed."""
    if isinstance(value, Composite):
        value, parts = value._pictured()
    else:
        parts = {}
    if not isinstance(value, Value):
        value = _as_value(value)
    if value is None:
        return []
    pending = value._pending
    if pending is not None and pending.is_deferred:
        return "not computed: nothing has asked for the result"
    try:
        return _cells(value, parts, samples, size, encoded)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _as_value(given: Any) -> Value | None:
    """An array of another library as a tensor, if it is one."""
    if isinstance(given, np.ndarray | int | float | list):
        try:
            return Tensor(np.asarray(given))
        except (TypeError, ValueError):
            return None
    return None


def _cells(
    value: Value, parts: dict[str, Any], samples: int, size: int, encoded: bool
) -> list[Cell]:
    assert isinstance(value, Operators)
    overlays = Overlays.of(value._count if isinstance(value, Batch) else None, **parts)
    shown = min(samples, value._count) if isinstance(value, Batch) else 1
    few = value.select(list(range(shown))) if isinstance(value, Batch) else value
    plain = few._to_device(Device.CPU, False)
    arrays = [np.asarray(t) for t in plain.tensors] if isinstance(plain, Batch) else [plain]
    layout, dtype, sources = plain.layout, plain.dtype, value._source
    cells = []
    for number in range(shown):
        array = np.asarray(arrays[number])
        source = "" if sources is None or number >= len(sources) else str(sources[number])
        if encoded and array.ndim == 1:
            facts = f"a file of {array.nbytes:,} bytes"
            cells.append(Cell("", facts, PurePath(source).name))
            continue
        facts = f"{'x'.join(map(str, array.shape)) or 'a number'} {dtype}"
        facts += (f" {layout}" if layout else "") + _range(array)
        cells.append(Cell(_address(array, layout, overlays[number], size), facts, source))
    return cells


def _range(array: Any) -> str:
    """The least and the largest value: pictures are stretched to show all between them."""
    if array.ndim == 0 or array.size == 0 or array.dtype.kind not in "uifV":
        return ""
    wide = array.astype(np.float64)
    return f", {np.nanmin(wide):.4g} to {np.nanmax(wide):.4g}"


def _address(array: Any, layout: str | None, overlay: Overlay, size: int) -> str:
    data = io.BytesIO()
    draw_sample(array, layout, overlay, size).save(data, "PNG")
    return f"data:image/png;base64,{base64.standard_b64encode(data.getvalue()).decode()}"
