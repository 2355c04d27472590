# SPDX-License-Identifier: Apache-2.0
"""Where crops and slices lie: from arguments to the begin and extent of a window.

Everything here works on arrays with a row for each sample, or a single row that serves all.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.errors import OpError, join_names

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]

BORDERS = {
    **dict.fromkeys(("constant", "const", "fill", "pad"), 0),
    **dict.fromkeys(("clamp", "edge"), 1),
    **dict.fromkeys(("reflect", "reflect_1001", "reflect1001", "1001"), 2),
    **dict.fromkeys(("reflect_101", "reflect101", "101"), 3),
    "wrap": 4,
}
_MAIN_BORDERS = ("pad", "edge", "reflect", "reflect_101", "wrap")
CONSTANT_BORDER = 0


class Windows(NamedTuple):
    """Begin and extent of a window along each axis, of shape (1 or N, ndim)."""

    anchors: Integers
    extents: Integers


class CropArguments(NamedTuple):
    """The arguments that crop, crop_mirror_normalize and the cropping decoders share."""

    crop: Floats | None
    crop_d: Floats
    crop_h: Floats
    crop_w: Floats
    crop_pos_x: Floats
    crop_pos_y: Floats
    crop_pos_z: Floats
    rounding: str


def shape_rows(samples: _kernels.Samples) -> Integers:
    """The shapes of samples: a row each, or one row if they are all the same."""
    rows = samples.shape_array()
    return rows[:1] if samples.uniform else rows


def round_half_away(values: NDArray[np.float64]) -> Integers:
    """Round to the nearest integer, halves away from zero."""
    whole = np.trunc(values)
    return np.asarray(whole + np.sign(values) * (np.abs(values - whole) >= 0.5), np.int64)


def crop_windows(shapes: Integers, layout: str, arguments: CropArguments) -> Windows:
    """Windows given by size and relative position.

    An extent of 0 means the whole axis. A window begins at `position * (shape - extent)`.
    """
    depth, height, width = _crop_extents(arguments)
    choices = (
        ("H", height, arguments.crop_pos_y, "crop_pos_y"),
        ("W", width, arguments.crop_pos_x, "crop_pos_x"),
        # A sequence is cropped in time as if it were a volume.
        ("D" if "D" in layout else "F", depth, arguments.crop_pos_z, "crop_pos_z"),
    )
    rows = max(len(shapes), *(max(len(size), len(position)) for _, size, position, _ in choices))
    if len(shapes) == 0:
        rows = 0
    anchors = np.zeros((rows, shapes.shape[1]), np.int64)
    extents = np.broadcast_to(shapes, anchors.shape).copy()
    if rows == 0:
        return Windows(anchors, extents)
    for letter, size, position, name in choices:
        axis = layout.find(letter)
        if axis < 0 or not size.any():
            continue
        outside = ~((position >= 0) & (position <= 1)) & (size > 0)
        if outside.any():
            row = int(np.argmax(outside))
            value = float(np.broadcast_to(position, outside.shape)[row])
            msg = f"'{name}' must lie in [0, 1]; got {value:g}{_at(row, outside)}."
            raise ValueError(msg)
        extents[:, axis] = np.where(size > 0, size, shapes[:, axis])
        begin = position.astype(np.float64) * (shapes[:, axis] - extents[:, axis])
        anchors[:, axis] = (
            round_half_away(begin) if arguments.rounding == "round" else np.trunc(begin)
        )
    return Windows(anchors, extents)


def _crop_extents(arguments: CropArguments) -> tuple[Integers, Integers, Integers]:
    if arguments.rounding not in ("round", "truncate"):
        msg = f"'rounding' must be 'round' or 'truncate'; got {arguments.rounding!r}."
        raise ValueError(msg)
    sizes = {
        "crop_d": arguments.crop_d,
        "crop_h": arguments.crop_h,
        "crop_w": arguments.crop_w,
    }
    crop = arguments.crop
    if crop is not None:
        for name, size in sizes.items():
            if size.any():
                msg = f"'crop' and '{name}' exclude each other. Give one of them."
                raise ValueError(msg)
        if crop.shape[1] not in (2, 3):
            msg = (
                f"'crop' needs 2 values (height, width) or 3 (depth, height, width); "
                f"got {crop.shape[1]}."
            )
            raise ValueError(msg)
        columns = [crop[:, k] for k in range(crop.shape[1])]
        sizes = dict(zip(("crop_d", "crop_h", "crop_w")[-len(columns) :], columns, strict=True))
    for name, size in sizes.items():
        if not (size >= 0).all():
            shown = name if crop is None else "crop"
            row = int(np.argmax(~(size >= 0)))
            msg = f"'{shown}' must not be negative; got {float(size[row]):g}{_at(row, size)}."
            raise ValueError(msg)
    none = np.zeros(1, np.float32)
    depth, height, width = (sizes.get(name, none) for name in ("crop_d", "crop_h", "crop_w"))
    return depth.astype(np.int64), height.astype(np.int64), width.astype(np.int64)


class OutOfBounds(NamedTuple):
    """What happens to windows that leave the input: an error, trimming, or a border."""

    action: str
    border: int = CONSTANT_BORDER


def out_of_bounds(policy: str, borders: bool = True) -> OutOfBounds:
    """Read the argument 'out_of_bounds_policy'; without `borders` only constants may be added."""
    if policy in ("error", "trim_to_shape"):
        return OutOfBounds(policy)
    border = BORDERS.get(policy.lower())
    if border is None or not (borders or border == CONSTANT_BORDER):
        known = ("error", "trim_to_shape", *(_MAIN_BORDERS if borders else ("pad",)))
        msg = f"'out_of_bounds_policy' must be {join_names(known)}; got {policy!r}."
        raise ValueError(msg)
    return OutOfBounds("border", border)


def fit_windows(windows: Windows, shapes: Integers, policy: OutOfBounds, operator: str) -> Windows:
    """Apply the policy to windows that leave the input."""
    if policy.action == "border":
        return windows
    begins, ends = windows.anchors, windows.anchors + windows.extents
    if policy.action == "trim_to_shape":
        begins = np.clip(begins, 0, shapes)
        return Windows(begins, np.clip(ends, 0, shapes) - begins)
    outside = (begins < 0) | (ends > shapes)
    if outside.any():
        row, axis = (int(index) for index in np.argwhere(outside)[0])
        extent = int(np.broadcast_to(shapes, outside.shape)[row, axis])
        msg = (
            f"{operator}: the window [{int(begins[row, axis])}, {int(ends[row, axis])}) leaves the "
            f"input, whose axis {axis} has the extent {extent}{_at(row, outside)}. "
            "Set 'out_of_bounds_policy' to 'pad' or 'trim_to_shape'."
        )
        raise OpError(msg)
    return windows


def _at(row: int, values: NDArray[Any]) -> str:
    return f" (sample {row})" if len(values) > 1 else ""


def resolve_axes(
    axes: NDArray[np.int32] | None, axis_names: str | None, layout: str, ndim: int
) -> Integers:
    """The axes that arguments refer to, of shape (1 or N, k); all of them if none are named."""
    if axes is not None:
        if axes.shape[1] == 0:
            return np.arange(ndim).reshape(1, -1)
        outside = (axes < -ndim) | (axes >= ndim)
        if outside.any():
            msg = (
                f"'axes' must lie in [{-ndim}, {ndim - 1}] for an input with {ndim} axes; "
                f"got {int(axes[outside][0])}."
            )
            raise ValueError(msg)
        found = np.where(axes < 0, axes + ndim, axes).astype(np.int64)
        ordered = np.sort(found, axis=1)
        if (ordered[:, 1:] == ordered[:, :-1]).any():
            msg = f"'axes' must name each axis once; got {axes[0].tolist()}."
            raise ValueError(msg)
        return found
    if not axis_names:
        return np.arange(ndim).reshape(1, -1)
    for name in axis_names:
        if name not in layout:
            shown = repr(layout) if layout else "an input without one"
            msg = f"'axis_names' must name axes of the layout; got {name!r} for {shown}."
            raise ValueError(msg)
    if len(set(axis_names)) != len(axis_names):
        msg = f"'axis_names' must name each axis once; got {axis_names!r}."
        raise ValueError(msg)
    return np.array([[layout.index(name) for name in axis_names]])


def values_for_axes(values: NDArray[Any], axes: Integers, name: str) -> NDArray[Any]:
    """Check that an argument has a value for each axis; a single one serves all."""
    count = axes.shape[1]
    if values.shape[1] not in (1, count):
        msg = f"'{name}' needs {count} values, one for each axis; got {values.shape[1]}."
        raise ValueError(msg)
    return values


def fill_row(fill_values: list[float], layout: str, windows: Windows) -> tuple[Floats, int]:
    """The fill values of a constant border and the axis they belong to (-1 for a single one)."""
    row = np.array([fill_values], np.float32)
    if row.shape[1] == 0:
        return np.zeros((1, 1), np.float32), -1
    if row.shape[1] == 1:
        return row, -1
    axis = layout.find("C")
    if axis < 0:
        msg = (
            f"'fill_values' with {row.shape[1]} values needs a channel axis 'C' in the layout; "
            f"got {layout!r}."
        )
        raise ValueError(msg)
    channels = windows.extents[:, axis]
    if (channels != row.shape[1]).any():
        sample = int(np.argmax(channels != row.shape[1]))
        msg = (
            f"'fill_values' needs 1 value or {int(channels[sample])}, one for each channel; "
            f"got {row.shape[1]}{_at(sample, channels)}."
        )
        raise ValueError(msg)
    return row, axis


def positive_range(
    values: tuple[float, ...] | list[float], name: str, or_zero: bool = False
) -> tuple[float, float]:
    """The lowest and the highest of a range of numbers; a single one is both."""
    legal = len(values) in (1, 2) and 0 <= values[0] <= values[-1] < np.inf
    if not legal or (values[0] == 0 and not or_zero):
        kind = "numbers that are not negative" if or_zero else "positive numbers"
        msg = f"'{name}' must be a range of {kind}, low <= high; got {list(values)}."
        raise ValueError(msg)
    return values[0], values[-1]
