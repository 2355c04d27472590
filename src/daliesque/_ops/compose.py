# SPDX-License-Identifier: Apache-2.0
"""Operators that put images onto others, or something over them."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import (
    FloatPerSample,
    FloatsPerSample,
    FrameValues,
    IntPerSample,
    IntsPerSample,
    Rule,
)
from .._engine.convert import cast_samples, contiguous, to_samples
from .._engine.dtype import DType, float32, from_code, int32, uint8
from .._engine.op import Samples, op
from .windows import CONSTANT_BORDER, Integers, resolve_axes


class _Arrays(Rule):
    """An array for each sample (or frame), of any shape; the body gets a list of one or N."""

    per_sample = True
    per_frame = True

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def convert(self, value: Any, where: str) -> list[NDArray[Any]]:
        return self._arrays(to_samples(value, None, None, where))

    def from_samples(self, samples: Samples, where: str) -> Any:
        del where
        if not samples.layout.startswith("F"):
            return self._arrays(samples)
        counts = np.array([shape[0] for shape in samples.shapes], np.int64)
        frames = np.empty(int(counts.sum()), object)
        frames[:] = self._arrays(contiguous(samples).unfold())
        return FrameValues(frames, counts)

    def _arrays(self, samples: Samples) -> list[NDArray[Any]]:
        cast = contiguous(cast_samples(samples, self.dtype))
        return [np.asarray(_kernels.numpy_view(cast, i)) for i in range(len(cast))]


FloatArrays = Annotated[Any, _Arrays(float32)]
IntArrays = Annotated[Any, _Arrays(int32)]


@op(layouts="HWC")
def paste(
    input: Samples,
    /,
    *,
    ratio: FloatPerSample,
    fill_value: list[int],
    n_channels: int = 3,
    paste_x: FloatPerSample = 0.5,
    paste_y: FloatPerSample = 0.5,
    min_canvas_size: FloatPerSample = 0.0,
) -> Samples:
    """Put images onto larger canvases.

    Parameters
    ----------
    ratio
        Extents of the canvas relative to those of the image; at least 1.
    fill_value
        Colour of the canvas: one value, or one for each channel.
    n_channels
        The number of channels that `fill_value` must have.
    paste_x, paste_y
        Place of the image: 0 is left or at the top, 1 right or at the bottom.
    min_canvas_size
        Smallest extents of the canvas, in pixels.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2]]], layout="HWC", dtype=ndd.uint8)
    >>> canvas = ndd.paste(image, ratio=2, fill_value=[9], n_channels=1)
    >>> canvas.torch()[..., 0].tolist()
    [[9, 1, 2, 9], [9, 9, 9, 9]]
    """
    if len(fill_value) not in (1, n_channels):
        msg = (
            f"'fill_value' needs 1 value or {n_channels}, one for each channel; "
            f"got {len(fill_value)}."
        )
        raise ValueError(msg)
    for name, values, valid in (
        ("ratio' must be at least 1", ratio, ratio >= 1),
        ("min_canvas_size' must not be negative", min_canvas_size, min_canvas_size >= 0),
        ("paste_x' must lie in [0, 1]", paste_x, (paste_x >= 0) & (paste_x <= 1)),
        ("paste_y' must lie in [0, 1]", paste_y, (paste_y >= 0) & (paste_y <= 1)),
    ):
        if not valid.all():
            sample = int(np.argmin(valid))
            msg = f"'{name}; got {float(values[sample]):g} (sample {sample})."
            raise ValueError(msg)
    shapes = input.shape_array()
    if len(fill_value) > 1 and (shapes[:, 2] != len(fill_value)).any():
        sample = int(np.argmax(shapes[:, 2] != len(fill_value)))
        msg = (
            f"'fill_value' has {len(fill_value)} values, but the image {shapes[sample, 2]} "
            f"channels (sample {sample})."
        )
        raise ValueError(msg)
    extents = shapes.copy()
    anchors = np.zeros_like(shapes)
    for axis, place in ((0, paste_y), (1, paste_x)):
        canvas = (ratio * shapes[:, axis].astype(np.float32)).astype(np.int64)
        extents[:, axis] = np.maximum(canvas, min_canvas_size.astype(np.int64))
        room = (extents[:, axis] - shapes[:, axis]).astype(np.float32)
        anchors[:, axis] = -(place * room).astype(np.int64)
    fill = np.array([fill_value], np.float32)
    axis = 2 if fill.shape[1] > 1 else -1
    return _kernels.slice(input, input.type_id, anchors, extents, CONSTANT_BORDER, fill, axis)


@op(layouts="HWC FHWC", sequences=True, dtype=lambda _inputs, arguments: arguments["dtype"])
def multi_paste(
    input_0: Samples,
    /,
    *inputs: Samples,
    in_ids: IntArrays | None = None,
    in_anchors: IntArrays | None = None,
    in_anchors_rel: FloatArrays | None = None,
    shapes: IntArrays | None = None,
    shapes_rel: FloatArrays | None = None,
    out_anchors: IntArrays | None = None,
    out_anchors_rel: FloatArrays | None = None,
    output_size: IntsPerSample | None = None,
    dtype: DType | None = None,
) -> Samples:
    """Paste parts of several images onto black ones.

    Without `in_ids`, sample i of each input is pasted into sample i of the result, in the order of
    the inputs. With `in_ids` there is one input, and sample i gets those samples of the batch that
    its `in_ids` name. The other arguments hold a row (height, width) for each pasted part.

    Parameters
    ----------
    in_ids
        Indices of the samples to paste.
    in_anchors, in_anchors_rel
        Where parts begin in their image, in pixels or relative to its size; by default at 0.
    shapes, shapes_rel
        Size of the parts, in pixels or relative to the size of their image; by default up to its
        end.
    out_anchors, out_anchors_rel
        Where parts begin in the result, in pixels or relative to its size; by default at 0.
    output_size
        Height and width of the result; by default those of the inputs, which must then agree.
    dtype
        Type of the result; by default that of the inputs.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2]]], layout="HWC")
    >>> pasted = ndd.multi_paste(image, output_size=(1, 4), out_anchors=[[0, 1]])
    >>> pasted.torch().flatten().tolist()
    [0, 1, 2, 0]
    """
    sources = [input_0, *inputs]
    count = len(input_0)
    _check_sources(sources, in_ids)
    for first, second, names in (
        (in_anchors, in_anchors_rel, "'in_anchors' and 'in_anchors_rel'"),
        (shapes, shapes_rel, "'shapes' and 'shapes_rel'"),
        (out_anchors, out_anchors_rel, "'out_anchors' and 'out_anchors_rel'"),
    ):
        if first is not None and second is not None:
            msg = f"{names} exclude each other. Give one of them."
            raise ValueError(msg)
    canvases = _canvas_sizes(sources, output_size)
    patches: list[list[int]] = []
    offsets = [0]
    result = np.zeros((count, 3), np.int64)
    for i in range(count):
        ids = range(len(sources)) if in_ids is None else _at(in_ids, i).ravel().tolist()
        result[i] = (*canvases[i], input_0.shape(i)[2])
        for position, number in enumerate(ids):
            source, sample = (number, i) if in_ids is None else (0, number)
            if not 0 <= sample < count:
                msg = f"'in_ids' must lie in [0, {count - 1}]; got {sample} (sample {i})."
                raise ValueError(msg)
            *image, channels = sources[source].shape(sample)
            if position and channels != result[i, 2]:
                msg = (
                    f"all parts of a sample need the same number of channels; "
                    f"got {result[i, 2]} and {channels} (sample {i})."
                )
                raise ValueError(msg)
            result[i, 2] = channels
            rows = _Rows(i, position, len(ids))
            begin = rows.place(in_anchors, in_anchors_rel, image, "in_anchors")
            size = rows.size(shapes, shapes_rel, image, begin)
            target = rows.place(out_anchors, out_anchors_rel, canvases[i].tolist(), "out_anchors")
            rows.check(begin, size, image, "its image")
            rows.check(target, size, canvases[i].tolist(), "the result")
            patches.append([source, sample, *begin, *size, *target])
        offsets.append(len(patches))
    return _kernels.multi_paste(
        sources,
        dtype.code if dtype else input_0.type_id,
        result,
        np.array(offsets, np.int64),
        np.array(patches, np.int64).reshape(-1, 8),
    )


def _at(values: Any, i: int) -> NDArray[Any]:
    return np.asarray(values[i if len(values) > 1 else 0])


def _check_sources(sources: list[Samples], in_ids: Any) -> None:
    if in_ids is not None and len(sources) > 1:
        msg = f"'in_ids' needs exactly one input; got {len(sources)}."
        raise ValueError(msg)
    for number, samples in enumerate(sources):
        if samples.type_id != sources[0].type_id:
            kinds = f"{from_code(sources[0].type_id)} and {from_code(samples.type_id)}"
            msg = f"all inputs need the same type; got {kinds} (input {number})."
            raise ValueError(msg)
        if samples.ndim != 3:
            msg = f"all inputs need the axes HWC; got {samples.ndim} axes (input {number})."
            raise ValueError(msg)


def _canvas_sizes(sources: list[Samples], output_size: Integers | None) -> Integers:
    """Height and width of each result."""
    count = len(sources[0])
    if output_size is not None and count:
        if output_size.shape[1] < 2 or not (output_size >= 0).all():
            msg = (
                f"'output_size' must be (height, width), not negative; got {output_size.tolist()}."
            )
            raise ValueError(msg)
        return np.broadcast_to(output_size[:, :2], (count, 2)).astype(np.int64)
    sizes = sources[0].shape_array()[:, :2]
    for samples in sources:
        if count and (samples.shape_array()[:, :2] != sizes[0]).any():
            msg = "inputs of different sizes need the argument 'output_size'."
            raise ValueError(msg)
    return sizes


class _Rows:
    """Reads the rows of arguments that belong to one pasted part."""

    def __init__(self, sample: int, position: int, count: int) -> None:
        self.sample = sample
        self.position = position
        self.count = count

    def _row(self, values: Any, name: str) -> Any:
        array = _at(values, self.sample)
        if array.shape != (self.count, 2):
            msg = (
                f"'{name}' needs the shape {(self.count, 2)}, a row for each part; "
                f"got {array.shape} (sample {self.sample})."
            )
            raise ValueError(msg)
        return array[self.position]

    def _share(self, values: Any, name: str) -> Any:
        row = self._row(values, name)
        if not ((row >= 0) & (row <= 1)).all():
            msg = f"'{name}' must lie in [0, 1]; got {row.tolist()} (sample {self.sample})."
            raise ValueError(msg)
        return row

    def place(self, absolute: Any, relative: Any, extents: list[int], name: str) -> list[int]:
        if absolute is not None:
            return [int(v) for v in self._row(absolute, name)]
        if relative is not None:
            share = self._share(relative, name + "_rel")
            return [int(v) for v in np.floor(np.array(extents, np.float32) * share)]
        return [0, 0]

    def size(self, absolute: Any, relative: Any, extents: list[int], begin: list[int]) -> list[int]:
        if absolute is not None:
            return [int(v) for v in self._row(absolute, "shapes")]
        if relative is not None:
            share = self._share(relative, "shapes_rel")
            return [int(v) for v in np.ceil(np.array(extents, np.float32) * share)]
        return [extent - start for extent, start in zip(extents, begin, strict=True)]

    def check(self, begin: list[int], size: list[int], extents: list[int], what: str) -> None:
        for start, length, extent in zip(begin, size, extents, strict=True):
            if start < 0 or length < 0 or start + length > extent:
                msg = (
                    f"part {self.position} leaves {what}: it begins at {begin} and has the size "
                    f"{size}, within {list(extents)} (sample {self.sample})."
                )
                raise ValueError(msg)


@op()
def erase(
    input: Samples,
    /,
    *,
    anchor: FloatArrays | None = None,
    shape: FloatArrays | None = None,
    axes: list[int] | None = None,
    axis_names: str | None = None,
    normalized: bool | None = None,
    normalized_anchor: bool = False,
    normalized_shape: bool = False,
    centered_anchor: bool = False,
    fill_value: FloatsPerSample = (0.0,),
) -> Samples:
    """Fill regions with a value.

    Parameters
    ----------
    anchor
        Where regions begin: a value for each of the axes, and so on for each region. By default 0.
    shape
        Extents of the regions, likewise.
    axes
        The axes that `anchor` and `shape` refer to; by default all but the channels.
    axis_names
        The same by letters of the layout.
    normalized
        `anchor` and `shape` are relative to the extents of the input.
    normalized_anchor, normalized_shape
        Only `anchor`, or only `shape`, is.
    centered_anchor
        `anchor` is the middle of regions.
    fill_value
        The value to fill with, or one for each channel.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3], [4]]], layout="HWC")
    >>> erased = ndd.erase(image, anchor=[1], shape=[2], axis_names="W", fill_value=9)
    >>> erased.torch().flatten().tolist()
    [1, 9, 9, 4]
    """
    if normalized is not None:
        if normalized_anchor or normalized_shape:
            msg = "'normalized' excludes 'normalized_anchor' and 'normalized_shape'."
            raise ValueError(msg)
        normalized_anchor = normalized_shape = normalized
    which = _erased_axes(input, axes, axis_names)
    channel_axis = input.layout.find("C")
    extents = input.shape_array()
    if fill_value.shape[1] > 1:
        if channel_axis < 0:
            msg = f"'fill_value' with {fill_value.shape[1]} values needs an axis 'C' in the layout."
            raise ValueError(msg)
        if (extents[:, channel_axis] != fill_value.shape[1]).any():
            sample = int(np.argmax(extents[:, channel_axis] != fill_value.shape[1]))
            msg = (
                f"'fill_value' needs 1 value or {extents[sample, channel_axis]}, one for each "
                f"channel; got {fill_value.shape[1]} (sample {sample})."
            )
            raise ValueError(msg)
    bounds: list[NDArray[np.int64]] = []
    offsets = [0]
    for i in range(len(input)):
        sizes = np.zeros(0, np.float32) if shape is None else _at(shape, i).ravel()
        starts = np.zeros_like(sizes) if anchor is None else _at(anchor, i).ravel()
        if len(sizes) != len(starts) or len(sizes) % len(which):
            msg = (
                f"'anchor' and 'shape' need {len(which)} values for each region; "
                f"got {len(starts)} and {len(sizes)} (sample {i})."
            )
            raise ValueError(msg)
        own = extents[i][which].astype(np.float32)
        lengths, begins = (values.reshape(-1, len(which)) for values in (sizes, starts))
        if normalized_shape:
            lengths = lengths * own
        if normalized_anchor:
            begins = begins * own
        if centered_anchor:
            begins = begins - lengths / np.float32(2)
        regions = np.zeros((len(lengths), 2, input.ndim), np.int64)
        regions[:, 1] = extents[i]
        with np.errstate(invalid="ignore"):
            regions[:, 0, which] = begins.astype(np.int64)
            regions[:, 1, which] = (begins + lengths).astype(np.int64)
        regions = np.clip(regions, 0, extents[i])
        regions = regions[(regions[:, 1] > regions[:, 0]).all(axis=1)]
        bounds.append(regions.reshape(-1))
        offsets.append(offsets[-1] + len(regions))
    flat = np.concatenate(bounds) if bounds else np.zeros(0, np.int64)
    return _kernels.erase(
        input, np.array(offsets, np.int64), flat, fill_value, max(channel_axis, 0)
    )


def _erased_axes(samples: Samples, axes: list[int] | None, names: str | None) -> list[int]:
    if axes is not None and names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if axes is None and names is None:
        return [d for d in range(samples.ndim) if samples.layout[d : d + 1] != "C"]
    given = None if axes is None else np.array([axes], np.int32)
    found: list[int] = resolve_axes(given, names, samples.layout, samples.ndim)[0].tolist()
    return found


@op()
def grid_mask(
    input: Samples,
    /,
    *,
    tile: IntPerSample = 100,
    ratio: FloatPerSample = 0.5,
    angle: FloatPerSample = 0.0,
    shift_x: FloatPerSample = 0.0,
    shift_y: FloatPerSample = 0.0,
) -> Samples:
    """Black out a grid of squares.

    Parameters
    ----------
    tile
        Distance between the squares, in pixels.
    ratio
        Side of a square relative to `tile`.
    angle
        By how much the grid is turned around the corner of the image, in radians.
    shift_x, shift_y
        By how much it is moved, in pixels.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3], [4]]], layout="HWC")
    >>> ndd.grid_mask(image, tile=2).torch().flatten().tolist()
    [0, 2, 0, 4]
    """
    if input.ndim != 3:
        msg = f"the input needs 3 axes (height, width, channels); got {input.ndim}."
        raise ValueError(msg)
    if (tile == 0).any():
        msg = f"'tile' must not be 0 (sample {int(np.argmax(tile == 0))})."
        raise ValueError(msg)
    return _kernels.grid_mask(input, tile, ratio, angle, shift_x, shift_y)


@op(layouts="HWC FHWC", dtypes=(uint8,), sequences=True)
def jpeg_compression_distortion(input: Samples, /, *, quality: IntPerSample = 50) -> Samples:
    """Give RGB images the artefacts of JPEG compression.

    Parameters
    ----------
    quality
        The quality setting of the compression, 1 to 100; other values are clamped.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor(np.full((8, 8, 3), 100, np.uint8), layout="HWC")
    >>> ndd.jpeg_compression_distortion(image, quality=1).torch().unique().tolist()
    [96]
    """
    shapes = input.shape_array()
    if (shapes[:, 2] != 3).any():
        sample = int(np.argmax(shapes[:, 2] != 3))
        msg = f"the input must be RGB images; got {shapes[sample, 2]} channels (sample {sample})."
        raise ValueError(msg)
    return _kernels.jpeg_distortion(input, quality)
