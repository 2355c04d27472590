# SPDX-License-Identifier: Apache-2.0
"""Where crops and slices lie: from arguments to the begin and extent of a window.

Everything here works on arrays with a row for each sample, or a single row that serves all.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.errors import OpError, join_names
from .._engine.samples import Samples

Integers: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float32]

Border: TypeAlias = _kernels.Border
BORDERS = {
    **dict.fromkeys(("constant", "const", "fill", "pad"), Border.constant),
    **dict.fromkeys(("clamp", "edge"), Border.clamp),
    **dict.fromkeys(("reflect", "reflect_1001", "reflect1001", "1001"), Border.reflect_1001),
    **dict.fromkeys(("reflect_101", "reflect101", "101"), Border.reflect_101),
    "wrap": Border.wrap,
}
_MAIN_BORDERS = ("pad", "edge", "reflect", "reflect_101", "wrap")
_MOST_PIXELS = 2.0**62
_MOST_ATTEMPTS = 1_000_000


FaultKind: TypeAlias = _kernels.WindowFault.Kind


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


def shape_rows(samples: Samples) -> Integers:
    """The shapes of samples: a row each, or one row if they are all the same."""
    rows = samples.shape_array()
    return rows[:1] if samples.uniform else rows


def round_half_away(values: NDArray[np.float64]) -> Integers:
    """Round to the nearest integer, halves away from zero."""
    legal = np.abs(values) < _MOST_PIXELS
    if not legal.all():
        msg = f"extents must be numbers below 2**62; got {values[~legal].ravel()[0]:g}."
        raise ValueError(msg)
    whole = np.trunc(values)
    return np.asarray(whole + np.sign(values) * (np.abs(values - whole) >= 0.5), np.int64)


def require_finite(values: NDArray[Any], name: str) -> None:
    """Refuse infinities and what is no number."""
    legal = np.isfinite(values)
    if not legal.all():
        sample = int(np.argwhere(~legal)[0, 0])
        got = f"{values[~legal][0]:g}{sample_note(sample, len(values))}"
        msg = f"'{name}' must be finite; got {got}."
        raise ValueError(msg)


def crop_windows(shapes: Integers, layout: str, arguments: CropArguments) -> Windows:
    """Windows given by size and relative position.

    An extent of 0 means the whole axis. A window begins at `position * (shape - extent)`.
    """
    if arguments.rounding not in ("round", "truncate"):
        msg = f"'rounding' must be 'round' or 'truncate'; got {arguments.rounding!r}."
        raise ValueError(msg)
    crop = arguments.crop
    if crop is not None and crop.shape[1] not in (2, 3):
        msg = (
            f"'crop' needs 2 values (height, width) or 3 (depth, height, width); "
            f"got {crop.shape[1]}."
        )
        raise ValueError(msg)
    anchors, extents, fault = _kernels.crop_windows(
        shapes=shapes,
        layout=layout,
        crop=crop,
        depth=arguments.crop_d,
        height=arguments.crop_h,
        width=arguments.crop_w,
        x=arguments.crop_pos_x,
        y=arguments.crop_pos_y,
        z=arguments.crop_pos_z,
        truncate=arguments.rounding == "truncate",
    )
    if fault is not None:
        _raise_crop_fault(fault, len(anchors), crop is not None)
    return Windows(anchors, extents)


def _raise_crop_fault(fault: _kernels.WindowFault, rows: int, has_crop: bool) -> NoReturn:
    got = f"got {fault.value:g}{sample_note(fault.sample, rows)}."
    size = ("crop_d", "crop_h", "crop_w")[fault.axis]
    if fault.kind == FaultKind.two_sizes:
        msg = f"'crop' and '{size}' exclude each other. Give one of them."
    elif fault.kind == FaultKind.negative_size:
        name = "crop" if has_crop else size
        rule = "must not be negative" if fault.value < 0 else "must be a number of pixels"
        msg = f"'{name}' {rule}; {got}"
    else:
        name = ("crop_pos_z", "crop_pos_y", "crop_pos_x")[fault.axis]
        msg = f"'{name}' must lie in [0, 1]; {got}"
    raise ValueError(msg)


def pad_windows(
    shapes: Integers,
    axes: NDArray[np.int32],
    extents: NDArray[np.int32] | None,
    align: NDArray[np.int32] | None,
) -> Windows:
    """Windows that contain the input and have at least the given extents."""
    for name, values in (("shape", extents), ("align", align)):
        if values is not None:
            check_count(values, axes, name)
    anchors, padded, fault = _kernels.pad_windows(shapes, axes, extents, align)
    if fault is not None:
        if fault.kind == FaultKind.negative_size:
            note = sample_note(fault.sample, len(anchors))
            msg = f"'align' must be positive; got {fault.value:g}{note}."
            raise ValueError(msg)
        raise_axis_fault(fault.kind, fault.value, shapes.shape[1])
    return Windows(anchors, padded)


def raise_axis_fault(kind: FaultKind, value: float, ndim: int) -> NoReturn:
    """Say what is wrong with the axes that an argument names."""
    if kind == FaultKind.axis_range:
        msg = (
            f"'axes' must lie in [{-ndim}, {ndim - 1}] for an input with {ndim} axes; "
            f"got {value:g}."
        )
    else:
        msg = f"'axes' must name each axis once; got {value:g} twice."
    raise ValueError(msg)


class OutOfBounds(NamedTuple):
    """What happens to windows that leave the input: an error, trimming, or a border."""

    action: str
    border: Border = Border.constant


def out_of_bounds(policy: str, borders: bool = True) -> OutOfBounds:
    """Read the argument 'out_of_bounds_policy'; without `borders` only constants may be added."""
    if policy in ("error", "trim_to_shape"):
        return OutOfBounds(policy)
    border = BORDERS.get(policy.lower())
    if border is None or not (borders or border == Border.constant):
        known = ("error", "trim_to_shape", *(_MAIN_BORDERS if borders else ("pad",)))
        msg = f"'out_of_bounds_policy' must be {join_names(known)}; got {policy!r}."
        raise ValueError(msg)
    return OutOfBounds("border", border)


def fit_windows(windows: Windows, shapes: Integers, policy: OutOfBounds, operator: str) -> Windows:
    """Apply the policy to windows that leave the input."""
    if policy.action == "border":
        return windows
    anchors, extents, fault = _kernels.fit_windows(
        windows.anchors, windows.extents, shapes, policy.action == "trim_to_shape"
    )
    if fault is not None:
        sample, axis = fault.sample, fault.axis
        begin = int(anchors[sample, axis])
        extent = int(shapes[sample if len(shapes) > 1 else 0, axis])
        msg = (
            f"{operator}: the window [{begin}, {begin + int(extents[sample, axis])}) leaves the "
            f"input, whose axis {axis} has the extent {extent}{sample_note(sample, len(anchors))}. "
            "Set 'out_of_bounds_policy' to 'pad' or 'trim_to_shape'."
        )
        raise OpError(msg)
    return Windows(anchors, extents)


def sample_note(sample: int, rows: int) -> str:
    """The end of a message: which sample it is about, if there are several."""
    return f" (sample {sample})" if rows > 1 else ""


def named_axes(
    axes: NDArray[np.int32] | None, axis_names: str | None, layout: str, ndim: int
) -> NDArray[np.int32]:
    """The axes that arguments refer to, of shape (1 or N, k), not checked; by default all."""
    if axes is not None and axes.shape[1] > 0:
        return axes
    if axes is not None or not axis_names:
        return np.arange(ndim, dtype=np.int32).reshape(1, -1)
    for name in axis_names:
        if name not in layout:
            shown = repr(layout) if layout else "an input without one"
            msg = f"'axis_names' must name axes of the layout; got {name!r} for {shown}."
            raise ValueError(msg)
    return np.array([[layout.index(name) for name in axis_names]], np.int32)


def resolve_axes(
    axes: NDArray[np.int32] | None, axis_names: str | None, layout: str, ndim: int
) -> Integers:
    """As named_axes; the axes are checked and counted from the front."""
    resolved = []
    for given in named_axes(axes, axis_names, layout, ndim).tolist():
        found = [axis + ndim if axis < 0 else axis for axis in given]
        for axis, original in zip(found, given, strict=True):
            if not 0 <= axis < ndim:
                raise_axis_fault(FaultKind.axis_range, original, ndim)
            if found.count(axis) > 1:
                raise_axis_fault(FaultKind.axis_twice, original, ndim)
        resolved.append(found)
    return np.array(resolved, np.int64)


def check_count(values: NDArray[Any], axes: NDArray[Any], name: str) -> None:
    """Check that an argument has a value for each axis; a single one serves all."""
    count = axes.shape[1]
    if values.shape[1] not in (1, count):
        msg = f"'{name}' needs {count} values, one for each axis; got {values.shape[1]}."
        raise ValueError(msg)


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
            f"got {row.shape[1]}{sample_note(sample, len(channels))}."
        )
        raise ValueError(msg)
    return row, axis


def check_attempts(count: int, name: str = "num_attempts") -> int:
    """Return how often to try; more than a million times would never come to an end."""
    if count > _MOST_ATTEMPTS:
        msg = f"'{name}' must be at most {_MOST_ATTEMPTS}; got {count}."
        raise ValueError(msg)
    return count


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
