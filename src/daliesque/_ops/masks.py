# SPDX-License-Identifier: Apache-2.0
"""Operators on segmentation masks, and on regions of interest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._engine.args import (
    FloatListsPerSample,
    FloatPerSample,
    IntListsPerSample,
    IntPerSample,
    Ints64PerSample,
    IntsPerSample,
)
from .._engine.convert import to_numpy
from .._engine.dtype import (
    bool_,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .._engine.errors import SampleError
from .._engine.metadata import Call, Result
from .._engine.op import Kernels, RandomState, Samples, op
from .._engine.outputs import Choice, Flag, Outputs
from .._engine.samples import HostSamples
from .._shapes.windows import Integers

_LABELS = (uint8, uint16, uint32, int8, int16, int32)
_MASKS = (*_LABELS, uint64, int64, float32, float64, bool_)


def _check_not_empty(masks: Samples) -> None:
    empty = masks.shape_array().prod(axis=1) == 0
    if empty.any():
        raise SampleError(int(np.argmax(empty)), "has no pixels")


# Such numbers can be added and subtracted.
_MOST_PIXELS = 2**60


@op(
    name="segmentation.random_mask_pixel",
    dtypes=_MASKS,
    result=Result(dtype=int64, ndim=1, shape=lambda call: [[call.input.ndim]]),
)
def random_mask_pixel(
    input: Samples,
    /,
    *,
    foreground: IntPerSample = 0,
    threshold: FloatPerSample = 0.0,
    value: IntPerSample | None = None,
    rng: RandomState,
    given: frozenset[str],
) -> Samples:
    """Draw a pixel of a mask: its coordinates, as int64.

    Parameters
    ----------
    input
        Masks of any number of axes.
    foreground
        Unless 0, draw among the pixels of the foreground, if there are any.
    threshold
        Pixels of the foreground are greater than this.
    value
        Pixels of the foreground have this value. Excludes `threshold`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> mask = ndd.tensor([[0, 0, 0], [0, 0, 3]])
    >>> ndd.segmentation.random_mask_pixel(mask, foreground=1).torch().tolist()
    [1, 2]
    """
    if value is not None and "threshold" in given:
        msg = "'value' and 'threshold' exclude each other. Give one of them."
        raise ValueError(msg)
    _check_not_empty(input)
    out = input.kernels.empty_uniform(int64.code, [input.ndim], "", len(input))
    input.kernels.random_mask_pixel(out, rng, input, foreground, value, threshold)
    return out


# Boxes as two results, and as one.
_TWO_PARTS, _ONE_PART = ("anchor_shape", "start_end"), ("box",)
_FORMATS = (*_TWO_PARTS, *_ONE_PART)


def _boxes_found(call: Call) -> tuple[Result, ...]:
    parts = 2 if call["format"] == "box" else 1
    box = Result(dtype=int32, ndim=1, shape=lambda call: [[parts * call.input.ndim]])
    boxes = (box,) if parts == 2 else (box, box)
    return (*boxes, Result(dtype=int32, ndim=0)) if call["output_class"] else boxes


@op(
    name="segmentation.random_object_bbox",
    dtypes=(*_LABELS, bool_),
    outputs=Outputs(1, Choice("format", _TWO_PARTS, _ONE_PART), Flag("output_class")),
    result=_boxes_found,
)
def random_object_bbox(
    input: Samples,
    /,
    *,
    background: IntPerSample | None = None,
    cache_objects: bool = False,
    class_weights: FloatListsPerSample | None = None,
    classes: IntListsPerSample | None = None,
    foreground_prob: FloatPerSample = 1.0,
    format: str = "anchor_shape",
    ignore_class: bool = False,
    k_largest: int | None = None,
    output_class: bool = False,
    threshold: IntsPerSample | None = None,
    rng: RandomState,
) -> Samples | tuple[Samples, ...]:
    """Draw an object of a mask and give the box around it.

    Objects are pixels of one label that touch each other along an axis. First a class is drawn and
    then one of its objects. If there is none, the box is the whole mask.

    Parameters
    ----------
    input
        Masks of labels, of 1 to 6 axes.
    background
        The label of the background: by default 0, or another number if 0 is one of `classes`.
    cache_objects
        Accepted for compatibility: objects are found again each time.
    class_weights
        How likely each of `classes` is, up to a common factor; without `classes`, of the labels 1,
        2, ... By default all are equally likely.
    classes
        The labels to draw from; by default all in the mask, bar the background.
    foreground_prob
        How likely it is that an object is drawn, and not the whole mask.
    format
        "anchor_shape": two results, begin and shape of the box; "start_end": begin and end; "box":
        one, of begin and end.
    ignore_class
        Draw among the objects of all classes. Excludes the arguments about classes.
    k_largest
        Draw among so many objects with the largest boxes.
    output_class
        Give the label of the object, too; that of the background if none was drawn.
    threshold
        The least extent of the box along each axis.

    Examples
    --------
    >>> import daliesque as ndd
    >>> mask = ndd.tensor([[0, 0, 0, 0], [0, 5, 5, 0], [0, 0, 5, 0]])
    >>> start, end = ndd.segmentation.random_object_bbox(mask, format="start_end")
    >>> start.torch().tolist(), end.torch().tolist()
    ([1, 1], [3, 3])
    """
    del cache_objects
    ndim = input.ndim
    if len(input) and not 1 <= ndim <= 6:
        msg = f"masks must have 1 to 6 axes; got {ndim}."
        raise ValueError(msg)
    if format not in _FORMATS:
        msg = f"'format' must be 'anchor_shape', 'start_end' or 'box'; got {format!r}."
        raise ValueError(msg)
    if ignore_class and (classes is not None or class_weights is not None or output_class):
        msg = "'ignore_class' excludes 'classes', 'class_weights' and 'output_class'."
        raise ValueError(msg)
    if k_largest is not None and k_largest < 1:
        msg = f"'k_largest' must be positive; got {k_largest}."
        raise ValueError(msg)
    if threshold is not None and len(threshold) and threshold.shape[1] != ndim:
        msg = f"'threshold' needs {ndim} values, one for each axis; got {threshold.shape[1]}."
        raise ValueError(msg)
    _check_classes(classes, class_weights, background)
    starts = input.kernels.empty_uniform(int32.code, [ndim], "", len(input))
    ends = input.kernels.empty_uniform(int32.code, [ndim], "", len(input))
    labels = input.kernels.empty_uniform(int32.code, [], "", len(input))
    input.kernels.random_object_bbox(
        starts=starts,
        ends=ends,
        classes=labels,
        state=rng,
        masks=input,
        foreground_prob=foreground_prob,
        background=background,
        class_list=classes,
        weights=class_weights,
        threshold=threshold,
        k_largest=k_largest or 0,
        ignore_class=ignore_class,
    )
    if format == "box":
        results = [input.kernels.concatenate([starts, ends], 0, "")]
    else:
        if format == "anchor_shape":
            ends = input.kernels.arithmetic("sub", [ends, starts])
        results = [starts, ends]
    if output_class:
        results.append(labels)
    return results[0] if len(results) == 1 else tuple(results)


def _check_classes(
    classes: HostSamples | None, weights: HostSamples | None, background: NDArray[np.int32] | None
) -> None:
    if weights is not None:
        for k in range(len(weights)):
            given = to_numpy(weights, k)
            if not (given >= 0).all():
                msg = f"'class_weights' must not be negative; got {given.tolist()}."
                raise ValueError(msg)
    if classes is None:
        return
    if weights is not None and len(weights) and len(classes):
        for k in range(max(len(classes), len(weights))):
            first, second = (s.shape(k if len(s) > 1 else 0) for s in (classes, weights))
            if first != second:
                msg = (
                    f"'class_weights' needs one number for each of 'classes'; got {second[0]} for "
                    f"{first[0]} (sample {k})."
                )
                raise ValueError(msg)
    if background is not None and len(background) and len(classes):
        for k in range(max(len(classes), len(background))):
            label = background[k if len(background) > 1 else 0]
            if label in to_numpy(classes, k if len(classes) > 1 else 0):
                msg = f"'background' must not be one of 'classes'; got {label} (sample {k})."
                raise ValueError(msg)


@op(
    name="segmentation.select_masks",
    outputs=2,
    result=(
        Result(dtype=int32, ndim=2),
        Result(dtype=lambda call: call.other(2).dtype, ndim=2),
    ),
)
def select_masks(
    mask_ids: Samples,
    polygons: Samples,
    vertices: Samples,
    /,
    *,
    reindex_masks: bool = False,
) -> tuple[Samples, ...]:
    """Select polygons by the mask they belong to, with their vertices.

    Parameters
    ----------
    mask_ids
        The masks to select (int32 vectors), each once.
    polygons
        Rows (mask, first vertex, one past the last vertex), int32.
    vertices
        The vertices of all polygons, one after the other: rows of any number of coordinates.
    reindex_masks
        Number the masks in the results by their index in `mask_ids`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> polygons = [[0, 0, 2], [1, 2, 5]]
    >>> vertices = [[0, 0], [0, 1], [2, 2], [3, 3], [2, 3]]
    >>> chosen, points = ndd.segmentation.select_masks([1], polygons, vertices)
    >>> chosen.torch().tolist(), points.shape
    ([[1, 0, 3]], (3, 2))
    """
    _check_mask_inputs(mask_ids, polygons, vertices)
    chosen, points, failed, reason = mask_ids.kernels.select_polygons(
        mask_ids, polygons, vertices, reindex_masks
    )
    if failed >= 0:
        raise SampleError(failed, reason)
    return chosen, points


def _check_mask_inputs(mask_ids: Samples, polygons: Samples, vertices: Samples) -> None:
    if mask_ids.type_id != int32.code or mask_ids.ndim != 1:
        msg = f"the masks to select must be vectors of int32; got {mask_ids.ndim} axes."
        raise ValueError(msg)
    columns = polygons.shape_array()[:, 1:]
    if polygons.type_id != int32.code or polygons.ndim != 2 or (columns != 3).any():
        msg = f"polygons must be int32 of the shape (polygons, 3); got {polygons.shapes}."
        raise ValueError(msg)
    if vertices.ndim != 2:
        msg = f"vertices must have two axes; got {vertices.ndim}."
        raise ValueError(msg)


@op(result=Result(dtype=int64, ndim=1, shape=lambda call: [[call.width("crop_shape")]]))
def roi_random_crop(
    input: Samples | None = None,
    /,
    *,
    crop_shape: Ints64PerSample,
    roi_start: Ints64PerSample,
    in_shape: Ints64PerSample | None = None,
    roi_end: Ints64PerSample | None = None,
    roi_shape: Ints64PerSample | None = None,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Draw the begin of a window of given shape around or inside a region, as int64.

    The window lies in the region, or contains it if it is larger.

    Parameters
    ----------
    input
        The data to be cropped: only its shape counts. The window lies inside of it.
    crop_shape
        The shape of the window.
    roi_start
        The begin of the region.
    in_shape
        The shape of the data, in place of the data.
    roi_end
        The end of the region.
    roi_shape
        The shape of the region, in place of its end.

    Examples
    --------
    >>> import daliesque as ndd
    >>> region = {"roi_start": [3, 5], "roi_end": [7, 9]}
    >>> start = ndd.roi_random_crop(crop_shape=[4, 4], **region)
    >>> start.torch().tolist()
    [3, 5]
    """
    if (roi_end is None) == (roi_shape is None):
        msg = "takes either 'roi_end' or 'roi_shape'. Give one of them."
        raise ValueError(msg)
    ndim = crop_shape.shape[1]
    given = {"roi_start": roi_start, "roi_end": roi_end, "roi_shape": roi_shape}
    for name, values in {**given, "in_shape": in_shape}.items():
        if values is not None and len(values) and values.shape[1] != ndim:
            msg = f"'{name}' needs {ndim} values, as many as 'crop_shape'; got {values.shape[1]}."
            raise ValueError(msg)
    all_given = {**given, "in_shape": in_shape, "crop_shape": crop_shape}
    present = [values.ravel() for values in all_given.values() if values is not None]
    if _are_huge(np.concatenate(present)).any():
        for name, values in all_given.items():
            if values is not None and _are_huge(values).any():
                number = int(values[_are_huge(values)][0])
                msg = f"'{name}' must lie within 2**60 pixels; got {number}."
                raise ValueError(msg)
    if input is not None:
        if in_shape is not None:
            msg = "'in_shape' and an input exclude each other. Give one of them."
            raise ValueError(msg)
        if input.ndim < ndim:
            msg = f"'crop_shape' has {ndim} values, but the input has {input.ndim} axes."
            raise ValueError(msg)
        in_shape = np.ascontiguousarray(input.shape_array()[:, :ndim])
    if batch_size == 0:
        return kernels.empty_uniform(int64.code, [ndim], "", 0)
    extents = roi_shape if roi_shape is not None else roi_end - roi_start
    assert extents is not None
    if in_shape is not None:
        _check_region(in_shape, crop_shape, roi_start, roi_start + extents)
    out = kernels.empty_uniform(int64.code, [ndim], "", batch_size)
    kernels.roi_random_crop(
        out, rng, crop_shape, roi_start, np.ascontiguousarray(extents), in_shape
    )
    return out


def _are_huge(values: Integers) -> NDArray[np.bool_]:
    """Which numbers are so large that sums of them may overflow."""
    return (values < -_MOST_PIXELS) | (values > _MOST_PIXELS)


def _check_region(whole: Integers, crop: Integers, start: Integers, end: Integers) -> None:
    bad_crop = (crop < 0) | (crop > whole)
    if bad_crop.any():
        sample = int(np.argmax(bad_crop.any(axis=1)))
        shapes = [values[min(sample, len(values) - 1)].tolist() for values in (crop, whole)]
        got = f"{shapes[0]} for {shapes[1]} (sample {sample})"
        msg = f"'crop_shape' must fit into the data; got {got}."
        raise ValueError(msg)
    outside = (start < 0) | (end > whole)
    if outside.any():
        sample = int(np.argmax(outside.any(axis=1)))
        rows = [values[min(sample, len(values) - 1)].tolist() for values in (start, end, whole)]
        got = f"{rows[0]} to {rows[1]} for {rows[2]} (sample {sample})"
        msg = f"the region must lie in the data; got {got}."
        raise ValueError(msg)
