# SPDX-License-Identifier: Apache-2.0
"""Operators that mix the images of a batch, and their labels accordingly.

Image i is mixed with the image `partners[i]`, by default the one before it. Labels are class
numbers or vectors with a weight for each class; results are such vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine.args import FloatPerSample, FloatsPerSample, IntPerSample, IntsPerSample
from .._engine.convert import cast_samples, to_numpy
from .._engine.dtype import DType, float32, from_code, uint8
from .._engine.metadata import Call, NotKnown, Result, Shapes
from .._engine.op import RandomState, Samples, op
from .._engine.outputs import Given, Outputs
from .._engine.samples import HostSamples, host
from .._shapes.draws import Floats, Integers, as_rows, beta_rows, check_alpha, split, uniform_rows

_MOST_CLASSES = 2**24


def _label_width(call: Call) -> Shapes:
    labels = call.other(call.inputs.index(call.inputs[-1]))
    if call.has("num_classes"):
        return np.array([[call["num_classes"]]], np.int64)
    if labels.ndim != 1:
        raise NotKnown
    return labels.shapes


_MIXED_LABELS = Result(dtype=float32, ndim=1, shape=_label_width)


def _results(call: Call) -> tuple[Result, ...]:
    images = Result(shape="input")
    has_labels = call.inputs[-1] is not None
    return (images, _MIXED_LABELS) if has_labels else (images,)


def partner_numbers(partners: NDArray[np.int32] | None, count: int) -> Integers:
    """The number of the sample that each sample is mixed with."""
    if partners is None:
        return np.roll(np.arange(count), 1)
    numbers = np.broadcast_to(partners, count).astype(np.int64)
    wrong = (numbers < 0) | (numbers >= count)
    if wrong.any():
        sample = int(np.argmax(wrong))
        msg = (
            f"'partners' must be numbers of samples, 0 to {count - 1}; got {numbers[sample]} "
            f"(sample {sample})."
        )
        raise ValueError(msg)
    return numbers


def _check_equal_sizes(images: Samples, numbers: Integers) -> None:
    shapes = images.shape_array()
    wrong = (shapes != shapes[numbers]).any(axis=1)
    if wrong.any():
        sample = int(np.argmax(wrong))
        msg = (
            f"images that are mixed need equal shapes; got {tuple(shapes[sample].tolist())} and "
            f"{tuple(shapes[numbers[sample]].tolist())} (sample {sample}). Resize or crop them "
            "first."
        )
        raise ValueError(msg)


def _label_rows(labels: HostSamples, num_classes: int | None) -> Floats:
    """Labels as rows of weights, one for each class."""
    dtype = from_code(labels.type_id)
    if dtype.kind is not DType.Kind.float:
        return _marked_rows(labels, num_classes)
    if not labels.uniform or labels.ndim != 1:
        msg = (
            "labels must be class numbers or equally long vectors with a weight for each class; "
            f"got the shapes {labels.shapes}."
        )
        raise ValueError(msg)
    rows = np.stack([to_numpy(cast_samples(labels, float32), i) for i in range(len(labels))])
    if num_classes is not None and rows.shape[1] != num_classes:
        msg = f"labels have {rows.shape[1]} weights, but 'num_classes' is {num_classes}."
        raise ValueError(msg)
    return rows.astype(np.float32)


def _marked_rows(labels: HostSamples, num_classes: int | None) -> Floats:
    """Class numbers, or vectors of integers that mark the class, as rows of weights."""
    if labels.ndim == 1 and labels.uniform and labels.shape(0)[0] != 1:
        return _label_rows(cast_samples(labels, float32), num_classes)
    if any(np.prod(shape, dtype=np.int64) != 1 for shape in labels.shapes):
        msg = f"labels must be single class numbers; got the shapes {labels.shapes}."
        raise ValueError(msg)
    if num_classes is None:
        msg = "'num_classes' must be given, because labels are class numbers."
        raise ValueError(msg)
    if not 1 <= num_classes <= _MOST_CLASSES:
        msg = f"'num_classes' must be between 1 and {_MOST_CLASSES}; got {num_classes}."
        raise ValueError(msg)
    numbers = np.array([int(to_numpy(labels, i).item()) for i in range(len(labels))], np.int64)
    wrong = (numbers < 0) | (numbers >= num_classes)
    if wrong.any():
        sample = int(np.argmax(wrong))
        msg = (
            f"labels must be class numbers, 0 to {num_classes - 1}; got {numbers[sample]} "
            f"(sample {sample})."
        )
        raise ValueError(msg)
    rows = np.zeros((len(numbers), num_classes), np.float32)
    rows[np.arange(len(numbers)), numbers] = 1
    return rows


def _mixed_labels(
    labels: HostSamples | None, num_classes: int | None, numbers: Any, weights: Any
) -> tuple[Samples, ...]:
    """The labels of samples of which each has several parts, with weights."""
    if labels is None:
        return ()
    if len(labels) == 0:
        return (as_rows(np.zeros((0, num_classes or 0), np.float32), "labels"),)
    rows = _label_rows(labels, num_classes)
    mixed = np.zeros_like(rows)
    for part, share in zip(numbers, weights, strict=True):
        mixed += np.asarray(share, np.float32)[:, None] * rows[part]
    return (as_rows(mixed, "labels"),)


def _packed(images: Samples, labels: tuple[Samples, ...]) -> Any:
    return (images, *labels) if labels else images


def _shares(lam: Floats | None, alpha: float, count: int, rng: RandomState) -> Floats:
    """The weight of each image itself."""
    if lam is None:
        check_alpha(alpha)
        return beta_rows(rng, count, [alpha], [alpha])[:, 0]
    good = (lam >= 0) & (lam <= 1)
    if not good.all():
        sample = int(np.argmin(good))
        msg = f"'lam' must be between 0 and 1; got {float(lam[sample]):g} (sample {sample})."
        raise ValueError(msg)
    return np.broadcast_to(lam, count)


@op(outputs=Outputs(1, Given(1)), result=_results, needs_batch=True)
def mixup(
    images: Samples,
    labels: HostSamples | None = None,
    /,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    lam: FloatPerSample | None = None,
    partners: IntPerSample | None = None,
    rng: RandomState,
) -> Any:
    """Blend each image with another of the batch: ``lam * image + (1 - lam) * partner``.

    Parameters
    ----------
    labels
        Class numbers, or vectors with a weight for each class; then their mixtures are a second
        result, vectors of float32.
    alpha
        Weights are drawn from the beta distribution with both parameters `alpha`, one for each
        sample.
    num_classes
        How many classes there are, if labels are class numbers.
    lam
        The weight of each image itself, instead of a random one.
    partners
        The number of the image that each is mixed with; by default the one before it.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch([np.full((1, 1), 0.0), np.full((1, 1), 8.0)])
    >>> mixed, labels = ndd.mixup(images, ndd.batch([0, 1]), num_classes=2, lam=0.75)
    >>> mixed.torch().flatten().tolist(), labels.torch().tolist()
    ([2.0, 6.0], [[0.75, 0.25], [0.25, 0.75]])
    """
    numbers = partner_numbers(partners, len(images))
    _check_equal_sizes(images, numbers)
    own = _shares(lam, alpha, len(images), rng)
    weights = np.ascontiguousarray(np.stack([own, 1 - own], axis=1), np.float32)
    mixed = images.kernels.mix([images, images.select(numbers.tolist())], weights)
    parts = (np.arange(len(images)), numbers)
    return _packed(mixed, _mixed_labels(labels, num_classes, parts, weights.T))


def _boxes(lam: Floats, sizes: Integers, numbers: Floats) -> Integers:
    """Boxes (left, top, right, bottom) around random pixels, as large as weights say."""
    half = 0.5 * np.sqrt(1 - lam.astype(np.float64))
    columns = []
    for axis in (1, 0):
        extent = sizes[:, axis]
        middle = np.floor(numbers[:, axis] * extent).astype(np.int64)
        reach = (half * extent).astype(np.int64)
        columns.append((np.maximum(middle - reach, 0), np.minimum(middle + reach, extent)))
    (left, right), (top, bottom) = columns
    return np.stack([left, top, right, bottom], axis=1)


@op(layouts="HWC", outputs=Outputs(1, Given(1)), result=_results, needs_batch=True)
def cutmix(
    images: Samples,
    labels: HostSamples | None = None,
    /,
    *,
    alpha: float = 1.0,
    num_classes: int | None = None,
    lam: FloatPerSample | None = None,
    boxes: IntsPerSample | None = None,
    partners: IntPerSample | None = None,
    rng: RandomState,
) -> Any:
    """Replace a box of each image by the same box of another of the batch.

    Parameters
    ----------
    labels
        Class numbers, or vectors with a weight for each class; then their mixtures, by area, are a
        second result, vectors of float32.
    alpha
        Shares of the image itself are drawn from the beta distribution with both parameters
        `alpha`, one for each sample.
    num_classes
        How many classes there are, if labels are class numbers.
    lam
        The share of each image itself, instead of a random one. Boxes are cut off at the edges of
        the image; labels go by what is left.
    boxes
        The boxes, instead of random ones: left, top, right and bottom in pixels.
    partners
        The number of the image that each is mixed with; by default the one before it.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch([np.zeros((1, 4, 1)), np.ones((1, 4, 1))], layout="HWC")
    >>> labels = ndd.batch([0, 1])
    >>> mixed, labels = ndd.cutmix(images, labels, num_classes=2, boxes=[0, 0, 1, 1])
    >>> mixed.torch()[0].flatten().tolist(), labels.torch()[0].tolist()
    ([1.0, 0.0, 0.0, 0.0], [0.75, 0.25])
    """
    numbers = partner_numbers(partners, len(images))
    _check_equal_sizes(images, numbers)
    sizes = images.shape_array()[:, :2]
    if boxes is None:
        state, other = split(rng, 2)
        own = _shares(lam, alpha, len(images), state)
        regions = _boxes(own, sizes, uniform_rows(other, len(images), 2))
    else:
        regions = _given_boxes(boxes, sizes)
    left, top, right, bottom = regions.T
    height, width = bottom - top, right - left
    area = np.maximum(sizes.prod(axis=1), 1)
    share = (height * width / area).astype(np.float32)
    zero, first = np.zeros_like(left), np.arange(len(images))
    whole = np.stack([zero, first, zero, zero, sizes[:, 0], sizes[:, 1], zero, zero], axis=1)
    part = np.stack([zero, numbers, top, left, height, width, top, left], axis=1)
    patches = np.stack([whole, part], axis=1).reshape(-1)
    mixed = images.kernels.multi_paste(
        [images], images.type_id, images.shape_array(), 2 * np.arange(len(images) + 1), patches
    )
    parts, weights = (first, numbers), (1 - share, share)
    return _packed(mixed, _mixed_labels(labels, num_classes, parts, weights))


def _given_boxes(boxes: NDArray[np.int32], sizes: Integers) -> Integers:
    if len(sizes) == 0:
        return np.zeros((0, 4), np.int64)
    if boxes.shape[1] != 4:
        msg = f"'boxes' needs 4 values (left, top, right, bottom); got {boxes.shape[1]}."
        raise ValueError(msg)
    regions = np.broadcast_to(boxes, (len(sizes), 4)).astype(np.int64)
    good = (regions[:, :2] >= 0).all(axis=1) & (regions[:, :2] <= regions[:, 2:]).all(axis=1)
    good &= (regions[:, 2:] <= sizes[:, ::-1]).all(axis=1)
    if not good.all():
        sample = int(np.argmin(good))
        msg = (
            f"'boxes' must lie in images: left, top, right and bottom; "
            f"got {regions[sample].tolist()} (sample {sample})."
        )
        raise ValueError(msg)
    return regions


def _mosaic_results(call: Call) -> tuple[Result, ...]:
    def shapes(call: Call) -> Shapes:
        rows = call.input.shapes.copy()
        rows[:, :2] = call["size"] if call.has("size") else rows[:, :2]
        return rows

    images = Result(shape=shapes)
    return (images, _MIXED_LABELS) if call.inputs[-1] is not None else (images,)


def mosaic_patches(
    sizes: Integers, canvas: Integers, centers: Integers, members: Integers
) -> Integers:
    """What of four images is seen on a canvas: (N, 4, 7), in the order of the quadrants.

    A row is the number of the image, top and left of its part, height and width, and top and left
    on the canvas. The corner of each image that is next to it lies at the center (y, x).
    """
    rows = []
    for quadrant, number in enumerate(members.T):
        begins, lengths, targets = [], [], []
        for axis, is_behind in ((0, quadrant >= 2), (1, quadrant % 2 == 1)):
            extent, center = sizes[number, axis], centers[:, axis]
            if is_behind:
                length = np.minimum(extent, canvas[:, axis] - center)
                begins.append(np.zeros_like(length))
                targets.append(center)
            else:
                length = np.minimum(extent, center)
                begins.append(extent - length)
                targets.append(center - length)
            lengths.append(length)
        rows.append(np.stack([number, *begins, *lengths, *targets], axis=1))
    return np.stack(rows, axis=1)


class MosaicPlan(NamedTuple):
    """Which images are seen on each canvas, its size, its point (y, x), and `mosaic_patches`."""

    members: Integers
    canvas: Integers
    points: Integers
    patches: Integers


def mosaic_plan(
    sizes: Integers,
    rng: RandomState,
    size: NDArray[np.int32] | None,
    centers: Floats | None,
    partners: NDArray[np.int32] | None,
) -> MosaicPlan:
    """What mosaic makes of images of sizes (height, width)."""
    count = len(sizes)
    members = _mosaic_members(partners, count)
    canvas = sizes if size is None else _canvas(size, count)
    if centers is None:
        relative = 0.25 + 0.5 * uniform_rows(rng, count, 2)
    else:
        if centers.shape[1] != 2 or not ((centers >= 0) & (centers <= 1)).all():
            msg = f"'centers' must be two numbers (y, x) between 0 and 1; got {centers.tolist()}."
            raise ValueError(msg)
        relative = centers
    points = np.rint(relative * canvas).astype(np.int64)
    return MosaicPlan(members, canvas, points, mosaic_patches(sizes, canvas, points, members))


@op(layouts="HWC", outputs=Outputs(1, Given(1)), result=_mosaic_results, needs_batch=True)
def mosaic(
    images: Samples,
    labels: HostSamples | None = None,
    /,
    *,
    size: IntsPerSample | None = None,
    centers: FloatsPerSample | None = None,
    partners: IntsPerSample | None = None,
    fill_value: float = 0.0,
    num_classes: int | None = None,
    rng: RandomState,
) -> Any:
    """Put each image and three others together, around a point.

    The image itself is at the top left, its partners at the top right, bottom left and bottom
    right. Each has the corner that is next to it at the point; what goes beyond the result is cut
    off.

    Parameters
    ----------
    labels
        Class numbers, or vectors with a weight for each class; then their mixtures, by area, are a
        second result, vectors of float32.
    size
        Height and width of the result; by default those of the image.
    centers
        The point (y, x), relative to the result. By default a random one, from a quarter to three
        quarters of each extent.
    partners
        The numbers of the three other images; by default the three before it.
    fill_value
        What is seen where no image reaches.
    num_classes
        How many classes there are, if labels are class numbers.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch([np.full((2, 2, 1), value) for value in range(4)], layout="HWC")
    >>> ndd.mosaic(images, centers=[0.5, 0.5]).torch()[0, ..., 0].tolist()
    [[0, 3], [2, 1]]
    """
    count, shapes = len(images), images.shape_array()
    members, canvas, points, patches = mosaic_plan(shapes[:, :2], rng, size, centers, partners)
    _check_equal_channels(shapes[:, 2], members)
    extents = np.concatenate([canvas, shapes[:, 2:]], axis=1)
    rows = np.concatenate([np.zeros((count, 4, 1), np.int64), patches], axis=2)
    made = images.kernels.multi_paste(
        [images], images.type_id, extents, 4 * np.arange(count + 1), rows.reshape(-1)
    )
    areas = patches[..., 3] * patches[..., 4]
    if fill_value != 0 and (areas.sum(axis=1) < canvas.prod(axis=1)).any():
        made = _filled_behind(made, patches, points, canvas, fill_value)
    total = np.maximum(areas.sum(axis=1), 1)
    mixed = _mixed_labels(labels, num_classes, members.T, (areas / total[:, None]).T)
    return _packed(made, mixed)


def _mosaic_members(partners: NDArray[np.int32] | None, count: int) -> Integers:
    """The numbers of the four images of each mosaic."""
    own = np.arange(count)[:, None]
    if partners is None:
        return (own - np.arange(4)) % max(count, 1)
    if count == 0:
        return np.zeros((0, 4), np.int64)
    if partners.shape[1] != 3:
        msg = f"'partners' needs three numbers of samples; got {partners.shape[1]}."
        raise ValueError(msg)
    columns = [partner_numbers(np.ascontiguousarray(part), count) for part in partners.T]
    return np.concatenate([own, np.stack(columns, axis=1)], axis=1)


def _check_equal_channels(channels: Integers, members: Integers) -> None:
    wrong = (channels[members] != channels[:, None]).any(axis=1)
    if wrong.any():
        sample = int(np.argmax(wrong))
        got = channels[members[sample]].tolist()
        msg = f"images of a mosaic need equally many channels; got {got} (sample {sample})."
        raise ValueError(msg)


def _canvas(size: NDArray[np.int32], count: int) -> Integers:
    if count == 0:
        return np.zeros((0, 2), np.int64)
    if size.shape[1] != 2 or (size <= 0).any():
        msg = f"'size' must be two positive numbers (height, width); got {size.tolist()}."
        raise ValueError(msg)
    return np.broadcast_to(size, (count, 2)).astype(np.int64)


def _filled_behind(
    made: Samples, patches: Integers, points: Integers, canvas: Integers, fill: float
) -> Samples:
    """Mosaics with the parts of quadrants that no image reaches filled."""
    boxes: list[Any] = []
    for quadrant in range(4):
        _, _, _, height, width, top, left = patches[:, quadrant].T
        down, across = quadrant >= 2, quadrant % 2 == 1
        begin_y, end_y = (points[:, 0], canvas[:, 0]) if down else (0 * top, points[:, 0])
        begin_x, end_x = (points[:, 1], canvas[:, 1]) if across else (0 * left, points[:, 1])
        # Beside the image along the whole height of the quadrant, and above or below it.
        beside = (left + width, end_x) if across else (begin_x, left)
        beyond = (top + height, end_y) if down else (begin_y, top)
        boxes.append(np.stack([begin_y, beside[0], end_y, beside[1]], axis=1))
        boxes.append(np.stack([beyond[0], begin_x, beyond[1], end_x], axis=1))
    rows = np.stack(boxes, axis=1)
    bounds = np.zeros((*rows.shape[:2], 2, 3), np.int64)
    bounds[:, :, 0, :2], bounds[:, :, 1, :2] = rows[:, :, :2], rows[:, :, 2:]
    bounds[:, :, 1, 2] = made.shape_array()[:, 2:]
    there = (bounds[:, :, 1] > bounds[:, :, 0]).all(axis=2)
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    fills = np.full((1, 1), fill, np.float32)
    return made.kernels.erase(made, offsets, bounds[there].reshape(-1), fills, 2)


@op(layouts="HWC", outputs=Outputs(1, Given(2)), result=_results, needs_batch=True)
def copy_paste(
    images: Samples,
    masks: Samples,
    labels: HostSamples | None = None,
    /,
    *,
    partners: IntPerSample | None = None,
    num_classes: int | None = None,
) -> Any:
    """Paste the objects of another image of the batch over each image.

    Parameters
    ----------
    masks
        Where objects are that are to be copied: arrays (height, width) of uint8 or bool, not 0.
    labels
        Class numbers, or vectors with a weight for each class; then their mixtures, by area, are a
        second result, vectors of float32.
    partners
        The number of the image whose objects each gets; by default the one before it.
    num_classes
        How many classes there are, if labels are class numbers.

    Examples
    --------
    >>> images = ndd.batch([np.zeros((1, 3, 1)), np.ones((1, 3, 1))], layout="HWC")
    >>> masks = ndd.batch(np.array([[[0, 0, 0]], [[0, 1, 0]]], np.uint8))
    >>> ndd.copy_paste(images, masks).torch()[0].flatten().tolist()
    [0.0, 1.0, 0.0]
    """
    numbers = partner_numbers(partners, len(images))
    _check_equal_sizes(images, numbers)
    chosen = numbers.tolist()
    shown = cast_samples(_planes(masks, images), uint8).select(chosen)
    made = images.kernels.overlay(images, images.select(chosen), shown)
    if labels is None:
        return made
    cover = _coverage(shown)
    parts, weights = (np.arange(len(images)), numbers), (1 - cover, cover)
    return _packed(made, _mixed_labels(labels, num_classes, parts, weights))


def _planes(masks: Samples, images: Samples) -> Samples:
    """Masks as (height, width), of the sizes of their images."""
    sizes = np.ascontiguousarray(images.shape_array()[:, :2])
    shapes = masks.shape_array()
    wrong = (shapes[:, :2] != sizes).any(axis=1) if shapes.shape[1] >= 2 else np.ones(len(sizes))
    if shapes.shape[1] == 3:
        wrong = wrong | (shapes[:, 2] != 1)
    if wrong.any() or not 2 <= shapes.shape[1] <= 3:
        sample = int(np.argmax(wrong))
        msg = (
            f"'masks' need the height and width of their images, {tuple(sizes[sample].tolist())}; "
            f"got {masks.shape(sample)} (sample {sample})."
        )
        raise ValueError(msg)
    return masks.reshape(sizes, "HW")


def _coverage(masks: Samples) -> Floats:
    """Which share of each mask is not 0."""
    found = host(masks)
    planes = [to_numpy(found, i) for i in range(len(found))]
    shares = [np.count_nonzero(plane) / max(1, plane.size) for plane in planes]
    return np.array(shares, np.float32)
