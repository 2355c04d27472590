# SPDX-License-Identifier: Apache-2.0
"""Perspective transformations, and pixels from positions that arrays name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerFrame, FloatsPerFrame, FloatsPerSample
from .._engine.convert import cast_samples
from .._engine.dtype import float32
from .._engine.enums import DALIInterpType
from .._engine.errors import join_names
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import RandomState, Samples, op
from .._engine.samples import HostSamples
from .._shapes.draws import Integers, sequences, uniform_rows
from .._shapes.geometry import Doubles, corners, perspectives
from .._shapes.windows import Border, Floats
from .warp import (
    CUBIC,
    LINEAR,
    NEAREST,
    WARP_INTERP,
    check_not_empty,
    matrix_rows,
    output_sizes,
    resized,
)

_BORDERS = {
    "constant": Border.constant,
    "replicate": Border.clamp,
    "reflect": Border.reflect_1001,
    "reflect_101": Border.reflect_101,
    "wrap": Border.wrap,
}


def _filter(interp: DALIInterpType, name: str) -> _kernels.WarpInterp:
    if interp not in (NEAREST, LINEAR, CUBIC):
        msg = f"'{name}' must be INTERP_NN, INTERP_LINEAR or INTERP_CUBIC; got {interp.name}."
        raise ValueError(msg)
    return WARP_INTERP[interp]


def _is_corner(pixel_origin: str) -> bool:
    if pixel_origin not in ("corner", "center"):
        msg = f"'pixel_origin' must be 'corner' or 'center'; got {pixel_origin!r}."
        raise ValueError(msg)
    return pixel_origin == "corner"


@op(
    name="experimental.warp_perspective",
    layouts="HW HWC FHWC CHW FCHW",
    sequences=True,
    result=Result(shape=lambda call: resized(call, int(call.input.layout.startswith("C")))),
)
def warp_perspective(
    input: Samples,
    matrix_input: HostSamples | None = None,
    /,
    *,
    matrix: FloatsPerFrame | None = None,
    inverse_map: bool = True,
    size: FloatsPerSample | None = None,
    border_mode: str = "constant",
    fill_value: list[float] | None = None,
    interp_type: DALIInterpType = LINEAR,
    pixel_origin: str = "corner",
) -> Samples:
    """Transform images by a 3x3 matrix and a division.

    The pixel at (x, y) of the result comes from the position (u / w, v / w) of the input with
    ``(u, v, w) = matrix @ (x, y, 1)``.

    Parameters
    ----------
    matrix_input
        The matrices as an input.
    matrix
        The same as an argument: 9 values, row by row. For sequences, one for each frame if its
        layout begins with "F".
    inverse_map
        False: `matrix` leads from the input to the result, and is inverted first.
    size
        Height and width of the result, rounded; by default those of the input.
    border_mode
        What lies outside the input: 'constant', 'replicate', 'reflect', 'reflect_101' or 'wrap'.
    fill_value
        With a constant border: a value for all channels or one for each.
    interp_type
        `INTERP_NN`, `INTERP_LINEAR` or `INTERP_CUBIC`.
    pixel_origin
        Where the first pixel has the coordinates (0, 0): its 'corner' or its 'center'.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> shifted = ndd.experimental.warp_perspective(image, matrix=[1, 0, 1, 0, 1, 0, 0, 0, 1])
    >>> shifted.torch().flatten().tolist()
    [2, 3, 0]
    """
    interp = _filter(interp_type, "interp_type")
    border = perspective_border(border_mode)
    exact = perspective_matrices(matrix_input, matrix, inverse_map, pixel_origin)
    images, counts = _as_pixels(input)
    if counts is not None:
        owner = np.repeat(np.arange(len(input)), counts)
        exact = exact if len(exact) == 1 else np.ascontiguousarray(exact[owner])
        size = size if size is None or len(size) == 1 else size[owner]
    sizes = output_sizes(images, size)
    if border != Border.constant:
        check_not_empty(images, sizes)
    fill = _fill(images, fill_value or [], planar=counts is not None)
    result = images.kernels.warp_perspective(images, sizes, exact, interp, border, fill)
    if input.layout.endswith("C"):
        return result
    planes = result.reshape(np.ascontiguousarray(result.shape_array()[:, :2]), "HW")
    return planes if counts is None else planes.fold(counts.tolist(), "CHW")


def perspective_border(border_mode: str) -> Border:
    """What lies outside the input of warp_perspective."""
    border = _BORDERS.get(border_mode)
    if border is None:
        msg = f"'border_mode' must be {join_names(tuple(_BORDERS))}; got {border_mode!r}."
        raise ValueError(msg)
    return border


def perspective_matrices(
    matrix_input: HostSamples | None, matrix: Floats | None, inverse_map: bool, pixel_origin: str
) -> NDArray[np.float64]:
    """Maps from the centers of the result's pixels to those of the input's, a row each."""
    rows = matrix_rows(matrix_input, matrix, (3, 3))
    matrices = _from_centers(rows) if _is_corner(pixel_origin) else rows
    exact = matrices.astype(np.float64)
    return _inverted(exact) if not inverse_map and exact.size else exact


def _as_pixels(samples: Samples) -> tuple[Samples, NDArray[np.int64] | None]:
    """The same images as HWC, and the number of planes of each if they were CHW."""
    if samples.layout.endswith("C"):
        return samples, None
    counts = None
    if samples.layout == "CHW":
        counts = np.array([shape[0] for shape in samples.shapes], np.int64)
        samples = samples.unfold()
    shapes = samples.shape_array()
    channels = np.ones((len(shapes), 1), np.int64)
    return samples.reshape(np.concatenate([shapes, channels], axis=1), "HWC"), counts


def _from_centers(matrices: NDArray[Any]) -> NDArray[Any]:
    """Matrices between corners of pixels as matrices between their centers."""
    full = matrices.reshape(-1, 3, 3).copy()
    half = matrices.dtype.type(0.5)
    full[:, :, 2] += full[:, :, 0] * half + full[:, :, 1] * half
    full[:, :2] -= full[:, 2:] * half
    return full.reshape(matrices.shape)


def _inverted(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    full = matrices.reshape(-1, 3, 3)
    singular = ~(np.abs(np.linalg.det(full)) > 0)
    if singular.any():
        sample = int(np.argmax(singular))
        msg = (
            f"'matrix' must have an inverse if 'inverse_map' is False; "
            f"got {matrices[sample].tolist()} (sample {sample})."
        )
        raise ValueError(msg)
    return np.ascontiguousarray(np.linalg.inv(full).reshape(matrices.shape))


def _fill(images: Samples, values: list[float], *, planar: bool) -> list[float]:
    if len(values) < 2:
        return values or [0.0]
    if planar:
        msg = f"'fill_value' must be one value for channel-first images; got {values}."
        raise ValueError(msg)
    for sample, shape in enumerate(images.shapes):
        if shape[2] != len(values):
            msg = (
                f"'fill_value' needs 1 value or {shape[2]}, one for each channel; "
                f"got {len(values)} (sample {sample})."
            )
            raise ValueError(msg)
    return values


def _mapped_shapes(call: Call) -> Shapes:
    shapes, sizes = call.input.shapes, call.other(1).shapes
    for axis in (0, 1):
        shapes = with_extents(shapes, axis, sizes[:, axis])
    return shapes


@op(
    name="experimental.remap",
    layouts="HWC FHWC",
    sequences=True,
    result=Result(shape=_mapped_shapes),
)
def remap(
    input: Samples,
    mapx: Samples,
    mapy: Samples,
    /,
    *,
    interp: DALIInterpType = LINEAR,
    pixel_origin: str = "corner",
) -> Samples:
    """Take each pixel from the position that two arrays name.

    The pixel at (x, y) of the result is that at ``(mapx[y, x], mapy[y, x])`` of the input. What
    lies outside is 0.

    Parameters
    ----------
    mapx, mapy
        Coordinates as float32 arrays of the height and width of the result.
    interp
        `INTERP_NN`, `INTERP_LINEAR` or `INTERP_CUBIC`.
    pixel_origin
        Where the first pixel has the coordinates (0, 0): its 'corner' or its 'center'.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> x, y = np.array([[2, 1, 0]], np.float32), np.zeros((1, 3), np.float32)
    >>> mirrored = ndd.experimental.remap(image, x, y, pixel_origin="center")
    >>> mirrored.torch().flatten().tolist()
    [3, 2, 1]
    """
    across, down, shift = map_coordinates(mapx, mapy, pixel_origin)
    sizes = across.shape_array()
    return input.kernels.warp_map(input, across, down, sizes, shift, _filter(interp, "interp"))


def map_coordinates(
    mapx: Samples, mapy: Samples, pixel_origin: str
) -> tuple[Samples, Samples, float]:
    """The maps of remap as (height, width), and what is to be added to count from corners."""
    across, down = _coordinates(mapx, "mapx"), _coordinates(mapy, "mapy")
    if not np.array_equal(across.shape_array(), down.shape_array()):
        msg = f"'mapx' and 'mapy' need equal shapes; got {across.shapes} and {down.shapes}."
        raise ValueError(msg)
    return across, down, 0.0 if _is_corner(pixel_origin) else 0.5


def _coordinates(samples: Samples, name: str) -> Samples:
    """A map as (height, width)."""
    values = cast_samples(samples, float32)
    if values.ndim == 3 and all(shape[2] == 1 for shape in values.shapes):
        return values.reshape(np.ascontiguousarray(values.shape_array()[:, :2]), "HW")
    if values.ndim != 2:
        msg = f"'{name}' needs 2 axes (height, width); got {values.ndim}."
        raise ValueError(msg)
    return values


def moved_corners(sizes: Integers, scale: Floats, numbers: Floats) -> Doubles:
    """Random positions (N, 4, 2) for the corners of images, up to half an image inside.

    Each corner is moved by whole pixels, at most `scale` times half the extent along each axis;
    `numbers` has 8 uniform ones for each sample.
    """
    halves = (scale[:, None] * (sizes[:, ::-1] // 2)).astype(np.int64)
    steps = np.floor(numbers.reshape(-1, 4, 2) * (halves[:, None] + 1))
    start = corners(sizes)
    found: Doubles = np.where(start > 0, start - steps, steps)
    return found


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"))
def perspective(
    input: Samples,
    /,
    *,
    startpoints: FloatsPerFrame | None = None,
    endpoints: FloatsPerFrame | None = None,
    distortion_scale: FloatPerFrame = 0.5,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Show images as if from another side: four points move, and all others between them.

    Parameters
    ----------
    startpoints
        Four points (x, y) of the input, 8 numbers in pixels. By default its corners, from the top
        left clockwise: (0, 0), (width - 1, 0), (width - 1, height - 1) and (0, height - 1).
    endpoints
        Where in the result they go. By default each moves to a random position further inside.
    distortion_scale
        How far inside at most, relative to half the width and height: 0 to 1.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN`, `INTERP_LINEAR` or `INTERP_CUBIC`.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [2], [3]]] * 3, np.uint8), layout="HWC")
    >>> further_right = [1, 0, 3, 0, 3, 2, 1, 2]
    >>> out = ndd.perspective(image, endpoints=further_right, fill_value=9)
    >>> out.torch()[0, :, 0].tolist()
    [9, 1, 2]
    """
    sizes = input.shape_array()[:, :2]
    matrices = corner_maps(sizes, startpoints, endpoints, distortion_scale, rng, frame_counts)
    border = Border.clamp if fill_value is None else Border.constant
    if fill_value is None:
        check_not_empty(input, sizes)
    return input.kernels.warp_perspective(
        input,
        np.ascontiguousarray(sizes),
        matrices,
        _filter(interp_type, "interp_type"),
        border,
        [0.0 if fill_value is None else fill_value],
    )


def corner_maps(
    sizes: Integers,
    startpoints: Floats | None,
    endpoints: Floats | None,
    distortion_scale: Floats,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Doubles:
    """Maps from the centers of the pixels of `perspective`'s result to those of its input."""
    start = corners(sizes) if startpoints is None else _points(startpoints, "startpoints", sizes)
    if endpoints is not None:
        end = _points(endpoints, "endpoints", sizes)
    else:
        good = (distortion_scale >= 0) & (distortion_scale <= 1)
        if not good.all():
            sample = int(np.argmin(good))
            value = float(distortion_scale[sample])
            msg = f"'distortion_scale' must be between 0 and 1; got {value:g} (sample {sample})."
            raise ValueError(msg)
        count, owner = sequences(frame_counts, len(sizes))
        numbers = uniform_rows(rng, count, 8)[owner]
        end = moved_corners(sizes, distortion_scale, numbers)
    return np.ascontiguousarray(_from_centers(_perspectives(end, start)))


def _points(values: Floats, name: str, sizes: Integers) -> Doubles:
    if len(values) and values.shape[1] != 8:
        msg = f"'{name}' needs 8 values, four points (x, y); got {values.shape[1]}."
        raise ValueError(msg)
    points = values.astype(np.float64).reshape(-1, 4, 2)
    return np.broadcast_to(points, (len(sizes), 4, 2))


def _perspectives(start: Doubles, end: Doubles) -> Doubles:
    try:
        return perspectives(start, end)
    except np.linalg.LinAlgError:
        msg = "no three of the points may lie on a line. Give other 'startpoints' or 'endpoints'."
        raise ValueError(msg) from None
