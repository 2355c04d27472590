# SPDX-License-Identifier: Apache-2.0
"""Operators on bounding boxes."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .._engine.args import (
    FloatPerSample,
    FloatsPerSample,
    IntPerSample,
    Ints64PerSample,
    Rule,
)
from .._engine.convert import is_array, to_numpy, to_samples
from .._engine.dtype import float32, int32
from .._engine.metadata import Result
from .._engine.op import Samples, op
from .._engine.outputs import Given, Outputs
from .._engine.samples import HostSamples, host
from .._shapes.rows import empty_rows, row_counts, rows_of, spread, take_rows
from .._shapes.windows import Floats, Integers, require_finite


class _FloatArray(Rule):
    """Any number of numbers, the same for all samples; the body gets a float32 vector."""

    def convert(self, value: Any, where: str) -> NDArray[np.float32]:
        if is_array(value) and not isinstance(value, np.ndarray):
            value = to_numpy(host(to_samples(value, None, None, where)))
        try:
            return np.ravel(np.asarray(value, np.float32))
        except (TypeError, ValueError):
            msg = f"{where} must be a list of numbers; got {value!r}."
            raise TypeError(msg) from None


FloatArray = Annotated[Any, _FloatArray()]


def check_boxes(boxes: Samples) -> None:
    """Refuse samples that do not consist of boxes."""
    sizes = boxes.shape_array().prod(axis=1)
    if (sizes % 4).any():
        sample = int(np.argmax(sizes % 4 != 0))
        msg = f"boxes have 4 numbers each; got the shape {boxes.shape(sample)} (sample {sample})."
        raise ValueError(msg)


def _check_table(boxes: Samples, columns: int) -> None:
    shapes = boxes.shape_array()
    if boxes.ndim != 2 or (shapes[:, 1:] != columns).any():
        msg = f"boxes must have the shape (number of boxes, {columns}); got {boxes.shapes}."
        raise ValueError(msg)


@op(dtypes=(float32,), result=Result(shape="input"))
def bb_flip(
    input: HostSamples,
    /,
    *,
    horizontal: IntPerSample = 1,
    ltrb: bool = False,
    vertical: IntPerSample = 0,
) -> Samples:
    """Mirror boxes, as `flip` mirrors the image. Coordinates are relative to the image.

    Parameters
    ----------
    input
        Boxes, 4 numbers each.
    horizontal, vertical
        Mirror left and right, or top and bottom, unless 0.
    ltrb
        Boxes are given as (left, top, right, bottom) rather than (left, top, width, height).

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.bb_flip(ndd.tensor([[0.0, 0.5, 0.25, 1.0]]), ltrb=True).torch().tolist()
    [[0.75, 0.5, 1.0, 1.0]]
    """
    check_boxes(input)
    counts = row_counts(input, 4)
    boxes = rows_of(input, 4)
    flips = np.stack(np.broadcast_arrays(horizontal != 0, vertical != 0), axis=1)
    mirrored = spread(flips, counts)
    one = np.float32(1)
    low, high = boxes[:, :2], boxes[:, 2:]
    if not ltrb:
        high = high + low
    new_low = np.where(mirrored, one - high, low)
    new_high = np.where(mirrored, one - low, high)
    out = input.empty_like()
    if len(boxes):
        rows = rows_of(out, 4)
        rows[:, :2] = new_low
        rows[:, 2:] = new_high if ltrb else new_high - new_low
    return out


@op(dtypes=(float32,), result=Result(shape="input"), cpu_only=True)
def bbox_paste(
    input: HostSamples,
    /,
    *,
    ratio: FloatPerSample,
    ltrb: bool = False,
    paste_x: FloatPerSample = 0.5,
    paste_y: FloatPerSample = 0.5,
) -> Samples:
    """Adapt boxes to an image that was pasted onto a larger canvas, as by `paste`.

    Parameters
    ----------
    input
        Boxes, 4 numbers each, relative to the image.
    ratio
        The size of the canvas relative to that of the image.
    ltrb
        Boxes are given as (left, top, right, bottom) rather than (left, top, width, height).
    paste_x, paste_y
        Where the image is: 0 is left or top, 1 is right or bottom.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.bbox_paste(ndd.tensor([[0.0, 0.0, 1.0, 1.0]]), ratio=2).torch().tolist()
    [[0.25, 0.25, 0.5, 0.5]]
    """
    check_boxes(input)
    if not (ratio > 0).all():
        sample = int(np.argmin(ratio > 0))
        msg = f"'ratio' must be positive; got {ratio[sample]:g} (sample {sample})."
        raise ValueError(msg)
    one = np.float32(1)
    scale = one / ratio
    share = (ratio - one) / ratio
    offsets = np.stack(np.broadcast_arrays(paste_x * share, paste_y * share), axis=1)
    scales = np.broadcast_to(scale[:, None], offsets.shape)
    # What was inside the image must stay inside of the canvas, in spite of rounding.
    offsets = np.where(scales + offsets > one, one - scales, offsets)
    while (outside := scales + offsets > one).any():
        offsets = np.where(outside, np.nextafter(offsets, -one), offsets)
    counts = row_counts(input, 4)
    boxes = rows_of(input, 4)
    factors, shifts = spread(scales, counts), spread(offsets, counts)
    out = input.empty_like()
    if len(boxes):
        rows = rows_of(out, 4)
        rows[:, :2] = boxes[:, :2] * factors + shifts
        rows[:, 2:] = boxes[:, 2:] * factors
        if ltrb:
            rows[:, 2:] += shifts
    return out


@op(
    dtypes=(float32,),
    outputs=Outputs(1, Given(1)),
    result=(
        Result(layout=""),
        Result(
            dtype=lambda call: call.other(1).dtype,
            ndim=lambda call: call.other(1).ndim,
            layout=lambda call: call.other(1).layout,
        ),
    ),
    cpu_only=True,
)
def bbox_rotate(
    bboxes: HostSamples,
    labels: HostSamples | None = None,
    /,
    *,
    angle: FloatPerSample,
    input_shape: Ints64PerSample,
    bbox_layout: str = "xyXY",
    bbox_normalized: bool = True,
    keep_size: bool = False,
    mode: str = "expand",
    remove_threshold: float = 0.1,
    shape_layout: str = "HW",
    size: FloatsPerSample | None = None,
) -> Samples | tuple[Samples, ...]:
    """Adapt boxes to an image that is rotated, as by `rotate`.

    Boxes that leave the image are cut, or removed together with their labels.

    Parameters
    ----------
    bboxes
        Boxes, of shape (number of boxes, 4).
    labels
        A label for each box. What remains of them is a second result.
    angle
        The angle of rotation in degrees, counterclockwise.
    input_shape
        The shape of the image before it is rotated.
    bbox_layout
        "xyXY" for boxes of (left, top, right, bottom), "xyWH" for (left, top, width, height).
    bbox_normalized
        Coordinates are relative to the image.
    keep_size
        The image keeps its size. Excludes `size`.
    mode
        "expand": the result encloses the rotated box; "fixed": it has the size of the box;
        "halfway": in between.
    remove_threshold
        Remove boxes of which less than this part, in [0, 1], remains in the image.
    shape_layout
        The meaning of `input_shape`.
    size
        The height and width of the rotated image, if given to `rotate`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> box = ndd.tensor([[0.0, 0.0, 0.5, 0.5]])
    >>> np.round(ndd.bbox_rotate(box, angle=90, input_shape=[100, 100]), 5).tolist()
    [[0.0, 0.5, 0.5, 1.0]]
    """
    _check_table(bboxes, 4)
    _check_rotation(bbox_layout, mode, remove_threshold, shape_layout, input_shape)
    counts = row_counts(bboxes, 4)
    if labels is not None:
        _check_labels(labels, counts)
    if len(input_shape) == 0:
        input_shape = np.zeros((0, len(shape_layout)), np.int64)
    old = input_shape[:, [shape_layout.index("W"), shape_layout.index("H")]].astype(np.float32)
    require_finite(angle, "angle")
    radians = angle * np.float32(np.pi / 180)
    new = _canvas(old, radians, keep_size, size)
    boxes = rows_of(bboxes, 4)
    if bbox_layout == "xyWH":
        boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)
    old, new, radians = (spread(values, counts) for values in (old, new, radians))
    rotated = _rotated(boxes, old, new, radians, bbox_normalized, mode)
    with np.errstate(invalid="ignore", divide="ignore"):
        area = (rotated[:, 2] - rotated[:, 0]) * (rotated[:, 3] - rotated[:, 1])
        inside = np.clip(rotated, np.float32(0), np.concatenate([new, new], axis=1))
        rest = (inside[:, 2] - inside[:, 0]) * (inside[:, 3] - inside[:, 1])
        kept = rest / area >= np.float32(remove_threshold)
    result = inside[kept]
    if bbox_layout == "xyWH":
        result[:, 2:] -= result[:, :2]
    if bbox_normalized:
        inverse = np.float32(1) / np.concatenate([new, new], axis=1)
        result *= inverse if len(inverse) == 1 else inverse[kept]
    owner = np.repeat(np.arange(len(counts)), counts)
    remaining = np.bincount(owner[kept], minlength=len(counts)).astype(np.int64)
    out = empty_rows(float32.code, remaining, (4,))
    if len(result):
        rows_of(out, 4)[...] = result
    if labels is None:
        return out
    return out, take_rows(labels, kept, remaining)


def _check_rotation(
    bbox_layout: str, mode: str, remove_threshold: float, shape_layout: str, shape: Integers
) -> None:
    if bbox_layout not in ("xyXY", "xyWH"):
        msg = f"'bbox_layout' must be 'xyXY' or 'xyWH'; got {bbox_layout!r}."
        raise ValueError(msg)
    if mode not in ("expand", "fixed", "halfway"):
        msg = f"'mode' must be 'expand', 'fixed' or 'halfway'; got {mode!r}."
        raise ValueError(msg)
    if not 0 <= remove_threshold <= 1:
        msg = f"'remove_threshold' must lie in [0, 1]; got {remove_threshold:g}."
        raise ValueError(msg)
    if "H" not in shape_layout or "W" not in shape_layout:
        msg = f"'shape_layout' must contain H and W; got {shape_layout!r}."
        raise ValueError(msg)
    needed = max(shape_layout.index("H"), shape_layout.index("W")) + 1
    if len(shape) and shape.shape[1] < needed:
        msg = f"'input_shape' needs {needed} values for {shape_layout!r}; got {shape.shape[1]}."
        raise ValueError(msg)


def _check_labels(labels: Samples, counts: Integers) -> None:
    shapes = labels.shape_array()
    if labels.ndim not in (1, 2) or (shapes[:, 1:] != 1).any() or (shapes[:, 0] != counts).any():
        msg = (
            f"labels must have the shape (number of boxes,) or (number of boxes, 1); got "
            f"{labels.shapes} for {counts.tolist()} boxes."
        )
        raise ValueError(msg)


def _canvas(old: Floats, radians: Floats, keep_size: bool, size: Floats | None) -> Floats:
    """Width and height of rotated images."""
    if size is not None and size.shape[1]:
        if keep_size:
            msg = "'keep_size' and 'size' exclude each other. Give one of them."
            raise ValueError(msg)
        if size.shape[1] != 2:
            msg = f"'size' needs 2 values (height, width); got {size.shape[1]}."
            raise ValueError(msg)
        return np.floor(size[:, ::-1])
    if keep_size:
        return old
    wide = old.astype(np.float64)
    angles = radians.astype(np.float64)[:, None]
    cosines, sines = np.abs(np.cos(angles)), np.abs(np.sin(angles))
    swapped = wide[:, ::-1]
    extents = np.ceil(cosines * wide + sines * swapped - 0.01).astype(np.int64)
    # Keeping the parity of the dominant side reduces blur.
    parity = np.where(sines <= cosines, wide, swapped).astype(np.int64) % 2
    return (extents + (extents % 2 ^ parity)).astype(np.float32)


def _rotated(
    boxes: Floats, old: Floats, new: Floats, radians: Floats, normalized: bool, mode: str
) -> Floats:
    """The boxes around rotated boxes, in pixels."""
    half, two = np.float32(0.5), np.float32(2)
    x, y = boxes[:, [0, 2, 0, 2]], boxes[:, [1, 1, 3, 3]]
    if normalized:
        x, y = (x - half) * old[:, :1], (y - half) * old[:, 1:]
    else:
        x, y = x - old[:, :1] / two, y - old[:, 1:] / two
    width, height = x[:, 1] - x[:, 0], y[:, 2] - y[:, 0]
    cosines = np.cos(radians, dtype=np.float64).astype(np.float32)[:, None]
    sines = np.sin(radians, dtype=np.float64).astype(np.float32)[:, None]
    rotated_x = x * cosines + y * sines + new[:, :1] / two
    rotated_y = -x * sines + y * cosines + new[:, 1:] / two
    around = np.stack(
        [
            rotated_x.min(axis=1),
            rotated_y.min(axis=1),
            rotated_x.max(axis=1),
            rotated_y.max(axis=1),
        ],
        axis=1,
    )
    if mode == "expand":
        return around
    new_width, new_height = around[:, 2] - around[:, 0], around[:, 3] - around[:, 1]
    lies = (width < height) ^ (new_width < new_height)
    excess = np.stack(
        [
            (new_width - np.where(lies, height, width)) * half,
            (new_height - np.where(lies, width, height)) * half,
        ],
        axis=1,
    )
    if mode == "halfway":
        excess = excess * half
    return np.concatenate([around[:, :2] + excess, around[:, 2:] - excess], axis=1)


@op(
    dtypes=(float32,),
    outputs=2,
    result=(
        Result(ndim=2, shape=lambda call: [[call["anchors"].size // 4, 4]]),
        Result(dtype=int32, ndim=1, shape=lambda call: [[call["anchors"].size // 4]]),
    ),
)
def box_encoder(
    input_0: Samples,
    input_1: Samples,
    /,
    *,
    anchors: FloatArray,
    criteria: float = 0.5,
    means: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0),
    offset: bool = False,
    scale: float = 1.0,
    stds: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0),
) -> tuple[Samples, ...]:
    """Match boxes with the anchors of a detector (SSD, https://arxiv.org/abs/1512.02325).

    Each anchor gets the box that it overlaps most, if that is more than `criteria`, and each box
    gets at least the anchor that it overlaps most. There are two results: a row (center x, center
    y, width, height) for each anchor, and its label. An anchor without a box has the label 0 and
    stands for itself.

    Parameters
    ----------
    input_0
        Boxes (left, top, right, bottom).
    input_1
        Their labels (int32).
    anchors
        The anchors (left, top, right, bottom), as many as there are.
    criteria
        The least intersection over union, in [0, 1].
    means, stds
        Mean and deviation of the offsets of x, y, width and height, which are normalized.
    offset
        Give the offset of the box relative to the anchor, ``((box - anchor) / size - mean) / std``
        and ``(log(size / size) - mean) / std``; zeros for anchors without a box.
    scale
        Multiply boxes and anchors before offsets are computed.

    Examples
    --------
    >>> import daliesque as ndd
    >>> boxes = ndd.tensor([[0.0, 0.0, 0.5, 0.5]])
    >>> anchors = [0, 0, 0.5, 0.6, 0.5, 0.5, 1, 1]
    >>> encoded, labels = ndd.box_encoder(boxes, ndd.tensor([7]), anchors=anchors)
    >>> labels.torch().tolist()
    [7, 0]
    """
    _check_table(input_0, 4)
    counts = input_0.shape_array()[:, 0]
    if input_1.type_id != int32.code or (row_counts(input_1, 1) != counts).any():
        msg = (
            f"labels must be int32, one for each box; got {input_1.shapes} for {counts.tolist()} "
            "boxes."
        )
        raise ValueError(msg)
    if anchors.size % 4:
        msg = f"'anchors' needs 4 numbers for each anchor; got {anchors.size} numbers."
        raise ValueError(msg)
    if not 0 <= criteria <= 1:
        msg = f"'criteria' must lie in [0, 1]; got {criteria:g}."
        raise ValueError(msg)
    for name, values in (("means", means), ("stds", stds)):
        if len(values) != 4:
            msg = f"'{name}' needs 4 values (x, y, width, height); got {len(values)}."
            raise ValueError(msg)
    if 0 in stds:
        msg = f"'stds' must not contain 0; got {stds}."
        raise ValueError(msg)
    table = to_samples(anchors.reshape(-1, 4), None, None, "box_encoder")
    kernels, count = input_0.kernels, anchors.size // 4
    out_boxes = kernels.empty_uniform(float32.code, [count, 4], "", len(input_0))
    out_labels = kernels.empty_uniform(int32.code, [count], "", len(input_0))
    kernels.encode_boxes(
        out_boxes=out_boxes,
        out_labels=out_labels,
        boxes=input_0,
        labels=input_1,
        anchors=table,
        criteria=criteria,
        offset=offset,
        scale=scale,
        means=np.array(means, np.float32),
        stds=np.array(stds, np.float32),
    )
    return out_boxes, out_labels
