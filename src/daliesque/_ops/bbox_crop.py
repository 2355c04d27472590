# SPDX-License-Identifier: Apache-2.0
"""random_bbox_crop: random windows that suit the boxes of an image."""

from __future__ import annotations

import warnings

import numpy as np

from .. import _kernels
from .._engine.args import Ints64PerSample
from .._engine.dtype import float32, int32
from .._engine.errors import SampleError
from .._engine.metadata import Call, Result
from .._engine.op import RandomState, Samples, op
from .._engine.outputs import Flag, Given, Outputs
from .._engine.samples import HostSamples
from .._shapes.rows import row_counts, rows_of, take_rows
from .._shapes.windows import Integers, check_attempts

_AXES = "xyz"
_ENDS = "XYZ"
_EXTENTS = "WHD"


def _crop_results(call: Call) -> tuple[Result, ...]:
    corner = Result(ndim=1, shape=lambda call: [[call.input.shapes[0, 1] // 2]])
    results = [corner, corner, Result(layout="")]
    if call.has_input(1):
        labels = call.other(1)
        results.append(
            Result(
                dtype=lambda _: labels.dtype,
                ndim=lambda _: labels.ndim,
                layout=lambda _: labels.layout,
            )
        )
    if call["output_bbox_indices"]:
        results.append(Result(dtype=int32, ndim=1))
    return tuple(results)


@op(
    dtypes=(float32,),
    outputs=Outputs(3, Given(1), Flag("output_bbox_indices")),
    result=_crop_results,
    cpu_only=True,
)
def random_bbox_crop(
    boxes: HostSamples,
    labels: HostSamples | None = None,
    /,
    *,
    all_boxes_above_threshold: bool = True,
    allow_no_crop: bool = True,
    aspect_ratio: tuple[float, ...] = (1.0, 1.0),
    bbox_layout: str | None = None,
    bbox_prune_threshold: float | None = None,
    crop_shape: Ints64PerSample | None = None,
    input_shape: Ints64PerSample | None = None,
    ltrb: bool = True,
    num_attempts: int = 1,
    output_bbox_indices: bool = False,
    quiet: bool = False,
    scaling: tuple[float, ...] = (1.0, 1.0),
    shape_layout: str | None = None,
    threshold_type: str = "iou",
    thresholds: tuple[float, ...] = (0.0,),
    total_num_attempts: int = -1,
    rng: RandomState,
    given: frozenset[str],
) -> tuple[Samples, ...]:
    """Draw a window of an image that suits its boxes, and cut the boxes to it.

    The results are the begin of the window, its shape, and the boxes that remain, relative to the
    window; then their labels, if there are any, and their numbers, if asked for. Begin and shape
    are relative to the image, or pixels if `crop_shape` is given, in the order x, y, (z).

    A threshold is drawn, and `num_attempts` windows are tried for it. If none of them overlaps the
    boxes as much and keeps at least one, another threshold is drawn, and so on.

    Parameters
    ----------
    boxes
        Boxes of two or three dimensions, relative to the image.
    labels
        A label for each box.
    all_boxes_above_threshold
        All boxes must overlap the window as much as the threshold says; otherwise one suffices.
    allow_no_crop
        The whole image is a possible result, as likely as any threshold. Without effect if
        `crop_shape` is given.
    aspect_ratio
        The least and the greatest ratio of the window's sides x / y, in pixels if `input_shape` is
        given. In three dimensions, there may be three pairs: x / y, x / z, y / z.
    bbox_layout
        The meaning of the numbers of a box: any order of xyXY, xyWH, xyzXYZ or xyzWHD, where small
        letters are begins, XYZ are ends and WHD are extents. By default it depends on `ltrb`.
    bbox_prune_threshold
        Keep boxes of which at least this part is in the window. By default those are kept whose
        center is in the window.
    crop_shape
        The shape of the window in pixels. Needs `input_shape`; excludes `aspect_ratio` and
        `scaling`.
    input_shape
        The shape of the image in pixels.
    ltrb
        Boxes have begins and ends rather than begins and extents. Deprecated: use `bbox_layout`.
    num_attempts
        How many windows are tried for one threshold.
    output_bbox_indices
        Give the numbers of the boxes that remain, too.
    quiet
        Do not warn if none of `total_num_attempts` windows suits.
    scaling
        The least and the greatest size of the window relative to the image.
    shape_layout
        The meaning of `crop_shape` and `input_shape`: any order of WH or WHD.
    threshold_type
        What is compared with the thresholds: "iou", intersection over union of window and box, or
        "overlap", the part of the box in the window.
    thresholds
        The thresholds to draw from, in [0, 1].
    total_num_attempts
        Take the best window after so many. By default the search goes on until one suits; after a
        million it is given up.

    Differs from DALI: a search that does not end raises an error, and `input_shape` and
    `crop_shape` may be batches of any size.

    Examples
    --------
    >>> import daliesque as ndd
    >>> boxes = ndd.tensor([[0.1, 0.1, 0.4, 0.3], [0.5, 0.6, 0.9, 0.8]])
    >>> anchor, shape, rest = ndd.random_bbox_crop(boxes, scaling=[0.5, 1], thresholds=[0.1])
    >>> anchor.shape, shape.shape
    ((2,), (2,))
    """
    ndim = _check_boxes(boxes)
    letters = _box_letters(bbox_layout, ltrb, ndim)
    _check_search(thresholds, threshold_type, num_attempts, total_num_attempts)
    _check_window(aspect_ratio, scaling, bbox_prune_threshold)
    _check_crop_shape(crop_shape, input_shape, given)
    order = _shape_order(shape_layout, ndim)
    ordered = letters[0]
    _check_range(boxes, letters)
    counts = row_counts(boxes, 2 * ndim)
    anchors, shapes, kept, indices, unsuited, exhausted = _kernels.random_bbox_crop(
        boxes,
        state=rng,
        columns=ordered,
        extents=letters[1],
        thresholds=thresholds,
        aspect_ratio=aspect_ratio,
        min_scale=scaling[0],
        max_scale=scaling[1],
        attempts=num_attempts,
        total_attempts=total_num_attempts,
        prune_threshold=-1.0 if bbox_prune_threshold is None else bbox_prune_threshold,
        allow_no_crop=allow_no_crop,
        all_boxes=all_boxes_above_threshold,
        overlap=threshold_type == "overlap",
        input_shape=_ordered_shape(input_shape, order, "input_shape"),
        crop_shape=_ordered_shape(crop_shape, order, "crop_shape"),
    )
    if exhausted >= 0:
        reason = "has boxes that none of a million windows suits. Give 'total_num_attempts'"
        raise SampleError(exhausted, reason)
    if unsuited >= 0 and not quiet:
        msg = (
            f"random_bbox_crop: no window suits in {total_num_attempts} attempts; the best one is "
            f"taken (sample {unsuited}). Pass quiet=True to accept that."
        )
        warnings.warn(msg, stacklevel=2)
    results = [anchors, shapes, kept]
    if labels is not None:
        label_counts = labels.shape_array()[:, :1].ravel() if labels.ndim else counts * 0
        if not np.array_equal(label_counts, counts):
            msg = f"labels must be one for each box; got {labels.shapes} for {counts.tolist()}."
            raise ValueError(msg)
        remaining = row_counts(indices, 1)
        starts = np.repeat(np.cumsum(counts) - counts, remaining)
        results.append(take_rows(labels, rows_of(indices, 1)[:, 0] + starts, remaining))
    if output_bbox_indices:
        results.append(indices)
    return tuple(results)


def _check_boxes(boxes: Samples) -> int:
    columns = boxes.shape_array()[:, 1:]
    width = int(columns[0, 0]) if boxes.ndim == 2 and len(boxes) else 4
    if boxes.ndim != 2 or width not in (4, 6) or (columns != width).any():
        msg = f"boxes must have the shape (number of boxes, 4 or 6); got {boxes.shapes}."
        raise ValueError(msg)
    return width // 2


def _box_letters(bbox_layout: str | None, ltrb: bool, ndim: int) -> tuple[list[int], bool]:
    """Where begins and ends (or extents) stand, and whether there are extents."""
    begins = _AXES[:ndim]
    kinds = {False: begins + _ENDS[:ndim], True: begins + _EXTENTS[:ndim]}
    if bbox_layout is None:
        bbox_layout = kinds[not ltrb]
    elif not ltrb:
        msg = "'ltrb' and 'bbox_layout' exclude each other. Give 'bbox_layout'."
        raise ValueError(msg)
    for extents, letters in kinds.items():
        if sorted(bbox_layout) == sorted(letters):
            return [bbox_layout.index(letter) for letter in letters], extents
    msg = (
        f"'bbox_layout' must be {kinds[False]} or {kinds[True]}, in any order; got {bbox_layout!r}."
    )
    raise ValueError(msg)


def _check_search(
    thresholds: tuple[float, ...], threshold_type: str, num_attempts: int, total_num_attempts: int
) -> None:
    if not thresholds or not all(0 <= threshold <= 1 for threshold in thresholds):
        msg = f"'thresholds' must hold at least one number, all in [0, 1]; got {thresholds}."
        raise ValueError(msg)
    if threshold_type not in ("iou", "overlap"):
        msg = f"'threshold_type' must be 'iou' or 'overlap'; got {threshold_type!r}."
        raise ValueError(msg)
    if num_attempts < 1:
        msg = f"'num_attempts' must be positive; got {num_attempts}."
        raise ValueError(msg)
    check_attempts(num_attempts)
    check_attempts(total_num_attempts, "total_num_attempts")
    if total_num_attempts == 0 or total_num_attempts < -1:
        msg = f"'total_num_attempts' must be positive; got {total_num_attempts}."
        raise ValueError(msg)


def _check_window(
    aspect_ratio: tuple[float, ...],
    scaling: tuple[float, ...],
    bbox_prune_threshold: float | None,
) -> None:
    if len(scaling) != 2 or not 0 <= scaling[0] <= scaling[1]:
        msg = f"'scaling' must be two numbers (least, greatest), not negative; got {scaling}."
        raise ValueError(msg)
    pairs = list(zip(aspect_ratio[::2], aspect_ratio[1::2], strict=False))
    if len(aspect_ratio) not in (2, 6) or not all(0 <= low <= high for low, high in pairs):
        msg = f"'aspect_ratio' must be one or three pairs (least, greatest); got {aspect_ratio}."
        raise ValueError(msg)
    if bbox_prune_threshold is not None and not 0 <= bbox_prune_threshold <= 1:
        msg = f"'bbox_prune_threshold' must lie in [0, 1]; got {bbox_prune_threshold:g}."
        raise ValueError(msg)


def _check_crop_shape(
    crop_shape: Integers | None, input_shape: Integers | None, given: frozenset[str]
) -> None:
    if crop_shape is None:
        return
    if input_shape is None:
        msg = "'crop_shape' needs 'input_shape', the shape of the image. Give it, too."
        raise ValueError(msg)
    if given & {"aspect_ratio", "scaling"}:
        msg = "'crop_shape' excludes 'aspect_ratio' and 'scaling'. Leave them out."
        raise ValueError(msg)


def _shape_order(shape_layout: str | None, ndim: int) -> list[int]:
    """Where the extents along x, y, (z) stand in shapes."""
    letters = _EXTENTS[:ndim]
    if shape_layout is None:
        return list(range(ndim))
    if sorted(shape_layout) != sorted(letters):
        msg = f"'shape_layout' must be {letters}, in any order; got {shape_layout!r}."
        raise ValueError(msg)
    return [shape_layout.index(letter) for letter in letters]


def _ordered_shape(shape: Integers | None, order: list[int], name: str) -> Integers | None:
    if shape is None:
        return None
    if len(shape) and shape.shape[1] != len(order):
        msg = f"'{name}' needs {len(order)} values; got {shape.shape[1]}."
        raise ValueError(msg)
    if (shape < 0).any():
        msg = f"'{name}' must not be negative; got {shape[(shape < 0).any(axis=1)][0].tolist()}."
        raise ValueError(msg)
    return np.ascontiguousarray(shape[:, order]) if len(shape) else shape


def _check_range(boxes: HostSamples, letters: tuple[list[int], bool]) -> None:
    columns, extents = letters
    ndim = len(columns) // 2
    rows = rows_of(boxes, 2 * ndim)
    low, high = rows[:, columns[:ndim]], rows[:, columns[ndim:]]
    if extents:
        high = high + low
    good = ((low >= 0) & (high <= 1)).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        counts = row_counts(boxes, 2 * ndim)
        sample = int(np.searchsorted(np.cumsum(counts), row, side="right"))
        reason = f"has a box outside of the image, [0, 1]: {rows[row].tolist()}"
        raise SampleError(sample, reason)
