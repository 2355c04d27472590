# SPDX-License-Identifier: Apache-2.0
"""Images and volumes on accelerators whose pixels come from other positions of the input.

Pixels are found by one gather for each neighbor that they depend on, for all samples at once,
whatever their sizes. For linear interpolation in images of equal size, torch has a kernel.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .gather import Border
from .groups import by_row
from .numbers import constant, constants, converted, from_float, rows, to_float
from .ragged import Rows, coordinates, elements_of, separately
from .samples import DeviceSamples

Integers = NDArray[np.int64]

# Positions further out than this are moved here, so that arithmetic with them stays exact.
_FARTHEST = 1e9
WarpInterp: TypeAlias = _kernels.WarpInterp
_BORDERS_OF_TORCH = (Border.constant, Border.clamp)


class Options(NamedTuple):
    """How pixels between and beyond others are found, and the type of the output."""

    interp: WarpInterp
    border: Border
    fill: list[float]
    type_id: int


class Points:
    """The pixels of results: of equal sizes, or of all samples in one row.

    Tensors here have an axis for what is wanted of each pixel behind those of the pixels.
    """

    def __init__(self, out: DeviceSamples, indices: Integers, pixels: Rows) -> None:
        # Extents of the results, and the numbers of the samples among all.
        self.sizes = out.shape_array()[:, :-1]
        self._out = out
        self._indices = indices
        self._pixels = pixels

    @property
    def channels(self) -> int:
        """How many numbers a pixel has."""
        return int(self._pixels.data.shape[-1])

    def axes(self, offset: float = 0.0) -> list[torch.Tensor]:
        """The coordinates x, y (, z) of the pixels, each with an offset, in single precision."""
        return coordinates(self.sizes, self._pixels, offset)[::-1]

    def spread(self, *values: NDArray[Any]) -> list[torch.Tensor]:
        """Numbers, or vectors, of all samples or one for all."""
        return self._pixels.spread(*(rows(value, self._indices) for value in values))

    def spread_own(self, *values: NDArray[Any]) -> list[torch.Tensor]:
        """The same for those samples whose pixels these are."""
        return self._pixels.spread(*values)

    def elements(self, fields: DeviceSamples) -> torch.Tensor:
        """What samples of the sizes of the results hold for each pixel."""
        if len(self._indices) != len(fields):
            fields = fields.select(self._indices.tolist())
        (found,) = elements_of(fields, self._out)
        return found


# Gives positions in the input for pixels: x, y (, z) along the last axis.
Locate = Callable[[Points], torch.Tensor]


def warped(
    samples: DeviceSamples, sizes: Integers, options: Options, locate: Locate
) -> DeviceSamples:
    """Pixels from the positions that `locate` gives."""
    shapes = samples.shape_array()
    results = shapes.copy()
    results[:, :-1] = sizes
    empty = (shapes == 0).any(axis=1) | (results == 0).any(axis=1)
    # Samples with other channels, or without elements, cannot be processed together.
    keys = np.stack([shapes[:, -1], empty], axis=1)

    def run(part: DeviceSamples, indices: Integers) -> DeviceSamples:
        own = results[indices]
        if empty[indices[0]]:
            made = DeviceSamples.empty(
                options.type_id, own, part.layout, part.device, part.working_queue()
            )
            if made.volume:
                made.flat().reshape(-1, int(own[0, -1])).copy_(
                    _fill_pixel(options, made.flat(), int(own[0, -1]), options.type_id)
                )
            return made
        return _warped(part, own, indices, options, locate)

    return separately(samples, keys, run, options.type_id)


def _warped(
    samples: DeviceSamples, shapes: Integers, indices: Integers, options: Options, locate: Locate
) -> DeviceSamples:
    """As `warped`, for samples that have pixels, with as many channels each."""
    channels = int(shapes[0, -1])
    flat = samples.flat().reshape(-1, channels)
    # Without memory: it is about the order of the pixels.
    out = DeviceSamples.of_flat(
        flat[:1].expand(int(shapes[:, :-1].prod(axis=1).sum()), channels),
        by_row(shapes),
        shapes,
        options.type_id,
        samples.layout,
        samples.device,
        samples.working_queue(),
    )
    order = out.stored_order()
    if out.uniform:
        shape = (len(out), *shapes[0].tolist())
        pixels = Rows(flat[:1].reshape(*(1,) * samples.ndim, channels).expand(shape), order)
    else:
        counts = shapes[order, :-1].prod(axis=1)
        pixels = Rows(flat[:1].expand(int(counts.sum()), channels), order, counts)
    points = Points(out, indices, pixels)
    positions = locate(points).to(torch.float32)
    is_simple = options.interp == WarpInterp.linear and options.border in _BORDERS_OF_TORCH
    if is_simple and samples.uniform and out.uniform and samples.ndim == 3:
        made = _sampled_by_torch(samples.dense(), positions, options, samples.type_id)
    else:
        made = _sampled(samples, points, positions, options)
    return out.of_all(made.reshape(-1), shapes)


def _fill_pixel(options: Options, like: torch.Tensor, channels: int, target: int) -> torch.Tensor:
    """The fill value as a pixel of the type `target`, after it has been one of the output's."""
    written = from_float(constant(_fill_of(options, channels), like), options.type_id)
    return converted(written, options.type_id, target)


def _fill_of(options: Options, channels: int) -> NDArray[np.float32]:
    fill = options.fill or [0.0]
    return np.array(fill * channels if len(fill) == 1 else fill[:channels], np.float32)


def _fill_numbers(
    options: Options, like: torch.Tensor, channels: int, source: int
) -> torch.Tensor | None:
    """The same as numbers that pixels of the type `source` are; None if all are 0."""
    given = _fill_of(options, channels)
    if not given.any():
        return None
    written = from_float(torch.from_numpy(given), options.type_id)
    numbers = to_float(converted(written, options.type_id, source), source)
    return constant(numbers.numpy(), like)


def _sampled_by_torch(
    data: torch.Tensor, positions: torch.Tensor, options: Options, source: int
) -> torch.Tensor:
    """Images with zeros, or what is shifted to be zero, around them, interpolated by torch."""
    # Of the borders that torch has, all backends have zeros only.
    share = 1 / np.array(data.shape[2:0:-1], np.float32)
    tables = 2 * share, np.array([-1], np.float32), share - 1, 1 - share
    scale, begin, first, last = constants(data, *tables)
    grid = torch.addcmul(begin, positions, scale).expand(len(data), *positions.shape[1:])
    values, fill = to_float(data, source), None
    if options.border == Border.constant:
        fill = _fill_numbers(options, data, data.shape[-1], source)
    else:
        grid = torch.clamp(grid, first, last)
    if fill is not None:
        values = values - fill
    found = torch.nn.functional.grid_sample(
        values.permute(0, 3, 1, 2), grid, mode="bilinear", padding_mode="zeros", align_corners=False
    ).permute(0, 2, 3, 1)
    if fill is not None:
        found = found + fill
    return from_float(found, options.type_id).contiguous()


def _folded(index: torch.Tensor, last: torch.Tensor, border: Border) -> torch.Tensor:
    """The index, up to the last one, that stands for another; clamped for a constant border."""
    if border in (Border.constant, Border.clamp):
        return torch.minimum(index.clamp(min=0), last)
    if border == Border.wrap:
        return torch.remainder(index, last + 1)
    if border == Border.reflect_1001:
        phase = torch.remainder(index, 2 * last + 2)
        return torch.minimum(phase, 2 * last + 1 - phase)
    period = (2 * last).clamp(min=1)
    phase = torch.remainder(index, period)
    return torch.minimum(phase, period - phase)


class _Pixels:
    """Reads pixels of samples that lie one after the other."""

    def __init__(
        self, samples: DeviceSamples, points: Points, border: Border, fill: torch.Tensor | None
    ) -> None:
        shapes = samples.shape_array()
        channels = int(shapes[0, -1])
        extents = shapes[:, -2::-1]
        steps = np.cumprod(extents, axis=1) // extents
        begins = samples.begins() // channels
        self.kind = np.int32 if samples.volume // channels < 2**31 else np.int64
        tables = [table.astype(self.kind) for table in (extents - 1, steps, begins)]
        if samples.uniform:
            tables[:2] = [table[:1] for table in tables[:2]]
        self._last, self._steps, self._begin = points.spread_own(*tables)
        self._border = border
        self._fill = fill

    def offsets(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """What indices along the axes add to that of a pixel; whether they are inside."""
        folded = _folded(index, self._last, self._border)
        inside = folded == index if self._border == Border.constant else None
        return folded * self._steps, inside

    def read(
        self, flat: torch.Tensor, parts: list[tuple[torch.Tensor, torch.Tensor | None]]
    ) -> torch.Tensor:
        """Pixels, by the offsets along each of the axes."""
        at, within = self._begin[..., 0], None
        for axis, (offsets, inside) in enumerate(parts):
            at = at + offsets[..., axis]
            if inside is not None:
                own = inside[..., axis]
                within = own if within is None else within & own
        found = flat.index_select(0, at.reshape(-1)).reshape(*at.shape, flat.shape[1])
        if within is None:
            return found
        beyond = found.new_zeros(()) if self._fill is None else self._fill
        return torch.where(within[..., None], found, beyond)


def _sampled(
    samples: DeviceSamples, points: Points, positions: torch.Tensor, options: Options
) -> torch.Tensor:
    """Pixels of any samples, between and beyond others in any way."""
    channels = samples.shape(0)[-1]
    dims = positions.shape[-1]
    flat = samples.flat().reshape(-1, channels)
    if options.interp == WarpInterp.nearest:
        whole = converted(flat, samples.type_id, options.type_id)
        fill = None
        if options.border == Border.constant and any(options.fill):
            fill = _fill_pixel(options, flat, channels, options.type_id)
        pixels = _Pixels(samples, points, options.border, fill)
        index = _within(positions).floor().to(_integers(pixels.kind))
        return pixels.read(whole, [pixels.offsets(index)] * dims)
    fill = _fill_numbers(options, flat, channels, samples.type_id)
    pixels = _Pixels(samples, points, options.border, fill)
    values = to_float(flat, samples.type_id)
    # Pixel centers lie at halves.
    moved = _within(positions - 0.5)
    first = moved.floor()
    index, rest = first.to(_integers(pixels.kind)), moved - first
    if options.interp == WarpInterp.linear:
        begin, weights = 0, [1 - rest, rest]
    else:
        begin, weights = -1, _cubic_weights(rest)
    offsets = [pixels.offsets(index + begin + tap) for tap in range(len(weights))]
    total = None
    for corner in itertools.product(range(len(weights)), repeat=dims):
        weight = weights[corner[0]][..., 0]
        for axis, tap in enumerate(corner[1:], 1):
            weight = weight * weights[tap][..., axis]
        part = pixels.read(values, [offsets[tap] for tap in corner]) * weight[..., None]
        total = part if total is None else total + part
    assert total is not None
    return from_float(total, options.type_id)


def _integers(kind: type) -> torch.dtype:
    return torch.int32 if kind is np.int32 else torch.int64


def _within(position: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(position, nan=-_FARTHEST).clamp(-_FARTHEST, _FARTHEST)


def _cubic_weights(x: torch.Tensor) -> list[torch.Tensor]:
    """Keys' cubic with the coefficient of OpenCV."""
    a = -0.75
    far = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    next_ = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1
    return [far, near, next_, 1.0 - far - near - next_]


def warp_affine(
    samples: DeviceSamples,
    type_id: int,
    sizes: Integers,
    matrices: NDArray[np.float32],
    interp: WarpInterp,
    border: Border,
    fill: list[float],
) -> DeviceSamples:
    """Pixels from matrix @ (x, y[, z], 1)."""
    dims = samples.ndim - 1
    columns = matrices.reshape(-1, dims, dims + 1).transpose(2, 0, 1)

    def locate(points: Points) -> torch.Tensor:
        *factors, position = points.spread(*(np.ascontiguousarray(part) for part in columns))
        axes = points.axes(0.5)
        for factor, axis in zip(factors[::-1], axes[::-1], strict=True):
            position = torch.addcmul(position, factor, axis)
        return position

    return warped(samples, sizes, Options(interp, border, list(fill), type_id), locate)
