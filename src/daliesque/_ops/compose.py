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
from .._engine.dtype import DType, float32, from_code, int32
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op
from .._engine.samples import HostSamples, common_kernels, host
from .._shapes.windows import Border, Integers, Windows, resolve_axes


class _Arrays(Rule):
    """An array for each sample (or frame), of any shape; the body gets a list of one or N."""

    per_sample = True
    per_frame = True

    def __init__(self, dtype: DType) -> None:
        self.dtype = dtype

    def convert(self, value: Any, where: str) -> list[NDArray[Any]]:
        return self._arrays(host(to_samples(value, None, None, where)))

    def from_samples(self, samples: HostSamples, where: str) -> Any:
        del where
        if not samples.layout.startswith("F"):
            return self._arrays(samples)
        counts = np.array([shape[0] for shape in samples.shapes], np.int64)
        frames = np.empty(int(counts.sum()), object)
        frames[:] = self._arrays(contiguous(samples).unfold())
        return FrameValues(frames, counts)

    def _arrays(self, samples: HostSamples) -> list[NDArray[Any]]:
        cast = contiguous(cast_samples(samples, self.dtype))
        return [np.asarray(_kernels.numpy_view(cast, i)) for i in range(len(cast))]


FloatArrays = Annotated[Any, _Arrays(float32)]
IntArrays = Annotated[Any, _Arrays(int32)]


_LARGEST_CANVAS = 2**31


def _canvas_shapes(shapes: Shapes, ratio: NDArray[Any], least: NDArray[Any]) -> Shapes:
    """The shapes of canvases for images of the given shapes."""
    extents = shapes
    for axis in (0, 1):
        scaled = ratio.astype(np.float64) * shapes[:, axis].astype(np.float32)
        if not ((scaled < _LARGEST_CANVAS).all() and (least < _LARGEST_CANVAS).all()):
            msg = f"canvases must be smaller than {_LARGEST_CANVAS} pixels along each axis."
            raise ValueError(msg)
        scaled = (ratio * shapes[:, axis].astype(np.float32)).astype(np.int64)
        extents = with_extents(extents, axis, np.maximum(scaled, least.astype(np.int64)))
    return extents


@op(
    layouts="HWC",
    sequences=True,
    result=Result(
        shape=lambda call: _canvas_shapes(call.input.shapes, call["ratio"], call["min_canvas_size"])
    ),
)
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
        Color of the canvas: one value, or one for each channel.
    n_channels
        The number of channels that `fill_value` must have.
    paste_x, paste_y
        Position of the image: 0 is left or at the top, 1 right or at the bottom.
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
    shapes = input.shape_array()
    windows = paste_windows(shapes, ratio, min_canvas_size, paste_x, paste_y)
    if not fill_value:
        msg = "'fill_value' needs one value, or one for each channel; got []."
        raise ValueError(msg)
    if len(fill_value) > 1 and (shapes[:, 2] != len(fill_value)).any():
        sample = int(np.argmax(shapes[:, 2] != len(fill_value)))
        msg = (
            f"'fill_value' has {len(fill_value)} values, but the image {shapes[sample, 2]} "
            f"channels (sample {sample})."
        )
        raise ValueError(msg)
    fill = np.array([fill_value], np.float32)
    axis = 2 if fill.shape[1] > 1 else -1
    return input.kernels.slice(
        input,
        type_id=input.type_id,
        anchors=windows.anchors,
        shapes=windows.extents,
        border=Border.constant,
        fill=fill,
        channel_axis=axis,
    )


def paste_windows(
    shapes: Integers,
    ratio: NDArray[Any],
    min_canvas_size: NDArray[Any],
    paste_x: NDArray[Any],
    paste_y: NDArray[Any],
) -> Windows:
    """Canvases as windows of the images that are pasted onto them."""
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
    extents = _canvas_shapes(shapes, ratio, min_canvas_size)
    anchors = np.zeros_like(shapes)
    for axis, share in ((0, paste_y), (1, paste_x)):
        margin = (extents[:, axis] - shapes[:, axis]).astype(np.float32)
        anchors[:, axis] = -(share * margin).astype(np.int64)
    return Windows(anchors, extents)


def _pasted_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    if call.has("output_size"):
        for axis in (0, 1):
            shapes = with_extents(shapes, axis, call["output_size"][:, axis])
    return shapes


@op(layouts="HWC FHWC", sequences=True, result=Result(shape=_pasted_shapes))
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
    parts = _Parts(sources, in_ids)
    images, canvas = parts.images[:, :2], canvases[parts.owner]
    begin = parts.anchors(in_anchors, in_anchors_rel, images, "in_anchors")
    size = parts.size(shapes, shapes_rel, images, begin)
    target = parts.anchors(out_anchors, out_anchors_rel, canvas, "out_anchors")
    parts.check(begin, size, images, "its image")
    parts.check(target, size, canvas, "the result")
    patches = np.column_stack([parts.source, parts.sample, begin, size, target])
    kernels = common_kernels(sources)
    return kernels.multi_paste(
        sources,
        dtype.code if dtype else input_0.type_id,
        np.column_stack([canvases, parts.channels(input_0)]),
        np.concatenate([[0], np.cumsum(parts.counts)]),
        np.ascontiguousarray(patches),
    )


def _at(values: Any, i: int) -> NDArray[Any]:
    return np.asarray(values[i if len(values) > 1 else 0])


def _check_sources(sources: list[Samples], in_ids: Any) -> None:
    if in_ids is not None and len(sources) > 1:
        msg = f"'in_ids' needs exactly one input; got {len(sources)}."
        raise ValueError(msg)
    for number, samples in enumerate(sources):
        if samples.type_id != sources[0].type_id:
            first, other = (from_code(part.type_id).full_name for part in (sources[0], samples))
            msg = f"all inputs need the same type; got {first} and {other} (input {number})."
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


class _Parts:
    """The pasted parts of all samples, one after the other."""

    def __init__(self, sources: list[Samples], in_ids: Any) -> None:
        count = len(sources[0])
        ids = None if in_ids is None else [np.ravel(_at(in_ids, i)) for i in range(count)]
        numbers = [len(sources)] * count if ids is None else [len(given) for given in ids]
        self.counts: Integers = np.array(numbers, np.int64)
        self.starts: Integers = np.cumsum(self.counts) - self.counts
        self.owner: Integers = np.repeat(np.arange(count), self.counts)
        self.position: Integers = np.arange(len(self.owner)) - self.starts[self.owner]
        if ids is None:
            self.source, self.sample = self.position, self.owner
        else:
            self.source = np.zeros_like(self.owner)
            self.sample = np.concatenate([np.zeros(0, np.int64), *ids])
        outside = (self.sample < 0) | (self.sample >= count)
        if outside.any():
            part = int(np.argmax(outside))
            got = f"{self.sample[part]} (sample {self.owner[part]})"
            msg = f"'in_ids' must lie in [0, {count - 1}]; got {got}."
            raise ValueError(msg)
        self.images = np.stack([s.shape_array() for s in sources])[self.source, self.sample]

    def channels(self, first: Samples) -> Integers:
        """The channels of each sample, which its parts share."""
        found = first.shape_array()[:, 2]
        filled = self.counts > 0
        found[filled] = self.images[self.starts[filled], 2]
        wrong = self.images[:, 2] != found[self.owner]
        if wrong.any():
            part = int(np.argmax(wrong))
            sample = int(self.owner[part])
            msg = (
                f"all parts of a sample need the same number of channels; "
                f"got {found[sample]} and {self.images[part, 2]} (sample {sample})."
            )
            raise ValueError(msg)
        return found

    def _rows(self, values: Any, name: str) -> NDArray[Any]:
        arrays = [np.zeros((0, 2), values[0].dtype)]
        for sample, count in enumerate(self.counts.tolist()):
            if count == 0:
                continue
            array = _at(values, sample)
            if array.shape != (count, 2):
                msg = (
                    f"'{name}' needs the shape {(count, 2)}, a row for each part; "
                    f"got {array.shape} (sample {sample})."
                )
                raise ValueError(msg)
            arrays.append(array)
        return np.concatenate(arrays)

    def _shares(self, values: Any, name: str) -> NDArray[Any]:
        rows = self._rows(values, name)
        wrong = ~((rows >= 0) & (rows <= 1)).all(axis=1)
        if wrong.any():
            part = int(np.argmax(wrong))
            got = f"{rows[part].tolist()} (sample {self.owner[part]})"
            msg = f"'{name}' must lie in [0, 1]; got {got}."
            raise ValueError(msg)
        return rows

    def anchors(self, absolute: Any, relative: Any, extents: Integers, name: str) -> Integers:
        if absolute is not None:
            return self._rows(absolute, name).astype(np.int64)
        if relative is None:
            return np.zeros((len(self.owner), 2), np.int64)
        shares = self._shares(relative, name + "_rel")
        anchors: Integers = np.floor(extents.astype(np.float32) * shares).astype(np.int64)
        return anchors

    def size(self, absolute: Any, relative: Any, extents: Integers, begin: Integers) -> Integers:
        if absolute is not None:
            return self._rows(absolute, "shapes").astype(np.int64)
        if relative is None:
            return extents - begin
        shares = self._shares(relative, "shapes_rel")
        sizes: Integers = np.ceil(extents.astype(np.float32) * shares).astype(np.int64)
        return sizes

    def check(self, begin: Integers, size: Integers, extents: Integers, what: str) -> None:
        wrong = ((begin < 0) | (size < 0) | (begin + size > extents)).any(axis=1)
        if wrong.any():
            part = int(np.argmax(wrong))
            start, length, whole = (values[part].tolist() for values in (begin, size, extents))
            msg = (
                f"part {self.position[part]} leaves {what}: it begins at {start} and has the size "
                f"{length}, within {whole} (sample {self.owner[part]})."
            )
            raise ValueError(msg)


@op(result=Result(shape="input"), by_sample=True)
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
    if len(fill_value) and fill_value.shape[1] == 0:
        msg = "'fill_value' needs one value, or one for each channel; got []."
        raise ValueError(msg)
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
    begins, lengths, counts = _region_rows(anchor, shape, len(input), len(which))
    owner = np.repeat(np.arange(len(input)), counts)
    whole = extents[owner]
    own = whole[:, which].astype(np.float32)
    if normalized_shape:
        lengths = lengths * own
    if normalized_anchor:
        begins = begins * own
    if centered_anchor:
        begins = begins - lengths / np.float32(2)
    regions = np.zeros((len(whole), 2, input.ndim), np.int64)
    regions[:, 1] = whole
    with np.errstate(invalid="ignore"):
        regions[:, 0, which] = begins.astype(np.int64)
        regions[:, 1, which] = (begins + lengths).astype(np.int64)
    regions = np.clip(regions, 0, whole[:, np.newaxis])
    filled = (regions[:, 1] > regions[:, 0]).all(axis=1)
    remaining = np.bincount(owner[filled], minlength=len(input))
    return input.kernels.erase(
        input,
        np.concatenate([[0], np.cumsum(remaining)]),
        regions[filled].reshape(-1),
        fill_value,
        max(channel_axis, 0),
    )


def _region_rows(
    anchor: Any, shape: Any, count: int, axes: int
) -> tuple[NDArray[Any], NDArray[Any], Integers]:
    """Begins and extents of the regions of all samples, a row each, and how many each has."""
    if axes == 0:
        msg = "the input has no axes that regions could lie along. Use one with at least one axis."
        raise ValueError(msg)
    nothing = np.zeros(0, np.float32)
    sizes = [nothing if shape is None else np.ravel(_at(shape, i)) for i in range(count)]
    starts = [
        np.zeros_like(sizes[i]) if anchor is None else np.ravel(_at(anchor, i))
        for i in range(count)
    ]
    for i in range(count):
        if len(sizes[i]) != len(starts[i]) or len(sizes[i]) % axes:
            msg = (
                f"'anchor' and 'shape' need {axes} values for each region; "
                f"got {len(starts[i])} and {len(sizes[i])} (sample {i})."
            )
            raise ValueError(msg)
    counts = np.array([len(row) // axes for row in sizes], np.int64)
    begins, lengths = (
        np.concatenate([nothing, *rows]).reshape(-1, axes) for rows in (starts, sizes)
    )
    return begins, lengths, counts


def _erased_axes(samples: Samples, axes: list[int] | None, names: str | None) -> list[int]:
    if axes is not None and names is not None:
        msg = "'axes' and 'axis_names' exclude each other. Give one of them."
        raise ValueError(msg)
    if axes is None and names is None:
        return [d for d in range(samples.ndim) if samples.layout[d : d + 1] != "C"]
    given = None if axes is None else np.array([axes], np.int32)
    found: list[int] = resolve_axes(given, names, samples.layout, samples.ndim)[0].tolist()
    return found


@op(layouts="HWC", sequences=True, result=Result(shape="input"))
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
        By how much the grid is rotated about the corner of the image, in radians.
    shift_x, shift_y
        By how much it is moved, in pixels.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3], [4]]], layout="HWC")
    >>> ndd.grid_mask(image, tile=2).torch().flatten().tolist()
    [0, 2, 0, 4]
    """
    if (tile == 0).any():
        msg = f"'tile' must not be 0 (sample {int(np.argmax(tile == 0))})."
        raise ValueError(msg)
    return input.kernels.grid_mask(input, tile, ratio, angle, shift_x, shift_y)
