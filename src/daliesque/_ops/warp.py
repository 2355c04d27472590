# SPDX-License-Identifier: Apache-2.0
"""Images and volumes whose pixels move: affine transformations and rotations."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._engine.args import FloatPerFrame, FloatsPerFrame, FloatsPerSample
from .._engine.convert import cast_samples
from .._engine.dtype import DType, float32, from_code
from .._engine.enums import DALIInterpType
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op
from .._engine.samples import HostSamples
from .._shapes.geometry import shears, translations
from .._shapes.windows import Border, Floats, Integers, require_finite, round_half_away

NEAREST, LINEAR, CUBIC = (
    DALIInterpType.INTERP_NN,
    DALIInterpType.INTERP_LINEAR,
    DALIInterpType.INTERP_CUBIC,
)
WARP_INTERP = {
    NEAREST: _kernels.WarpInterp.nearest,
    LINEAR: _kernels.WarpInterp.linear,
    CUBIC: _kernels.WarpInterp.cubic,
}


def resized(call: Call, first: int) -> Shapes:
    """The shapes of the input, from axis `first` on with the size that a call asks for."""
    shapes = call.input.shapes
    if not call.has("size"):
        return shapes
    sizes = np.array(call["size"], np.float64)
    for axis, extents in enumerate(round_half_away(sizes).clip(min=1).T):
        shapes = with_extents(shapes, first + axis, extents)
    return shapes


_RESULT_TYPE = ("dtype", "output_dtype", "input")
_NOTHING = np.zeros(1, np.float32)


@op(
    layouts="HWC FHWC DHWC FDHWC",
    sequences=True,
    result=Result(dtype=_RESULT_TYPE, shape=lambda call: resized(call, 0)),
    by_sample=True,
)
def warp_affine(
    data: Samples,
    mtx: HostSamples | None = None,
    /,
    *,
    matrix: FloatsPerFrame | None = None,
    inverse_map: bool = True,
    size: FloatsPerSample | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
    dtype: DType | None = None,
    output_dtype: DType | None = None,
) -> Samples:
    """Transform images or volumes by a matrix.

    The pixel at (x, y) of the result comes from the position ``matrix @ (x, y, 1)`` of the input,
    where (0, 0) is the corner of the first pixel. Volumes have coordinates (x, y, z).

    Parameters
    ----------
    mtx
        The matrices as an input: 2x3 for images, 3x4 for volumes.
    matrix
        The same as an argument: 6 or 12 values, row by row. For sequences, one for each frame if
        its layout begins with "F".
    inverse_map
        False: `matrix` leads from the input to the result, and is inverted first.
    size
        Height and width (depth, height and width) of the result, rounded; by default those of the
        input.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    dtype
        Type of the result; by default that of the input.
    output_dtype
        Old name of `dtype`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> ndd.warp_affine(image, matrix=[1, 0, 1, 0, 1, 0], fill_value=9).torch().flatten().tolist()
    [2, 3, 9]
    """
    matrices = affine_matrices(data, mtx, matrix, inverse_map)
    return _warped(
        data, matrices, output_sizes(data, size), fill_value, interp_type, dtype or output_dtype
    )


def affine_matrices(
    data: Samples, mtx: HostSamples | None, matrix: Floats | None, inverse_map: bool
) -> Floats:
    """Maps from the result of warp_affine to its input, a row of values each."""
    dims = data.ndim - 1
    matrices = matrix_rows(mtx, matrix, (dims, dims + 1))
    return matrices if inverse_map else _inverted(matrices, dims)


def matrix_rows(mtx: HostSamples | None, matrix: Floats | None, shape: tuple[int, int]) -> Floats:
    """The matrices of a call, a row of values each."""
    if (mtx is None) == (matrix is None):
        msg = "the matrices must be given either as the argument 'matrix' or as the second input."
        raise ValueError(msg)
    name, rows = "matrix", matrix
    if mtx is not None:
        name = "the second input"
        if len(mtx) and not mtx.uniform:
            msg = f"{name} needs matrices of the shape {shape}; got {mtx.shapes}."
            raise ValueError(msg)
        cast = cast_samples(mtx, float32)
        rows = np.zeros((0, shape[0] * shape[1]), np.float32)
        if len(cast):
            rows = np.stack([_kernels.numpy_view(cast, i).ravel() for i in range(len(cast))])
    assert rows is not None
    if rows.shape[-1] != shape[0] * shape[1] and len(rows):
        shown = f"'{name}'" if mtx is None else name
        msg = (
            f"{shown} needs {shape[0] * shape[1]} values ({shape[0]}x{shape[1]}); "
            f"got {rows.shape[-1]}."
        )
        raise ValueError(msg)
    return np.ascontiguousarray(rows, np.float32)


def _inverted(matrices: Floats, dims: int) -> Floats:
    """The inverses of affine matrices."""
    if matrices.size == 0:
        return matrices
    full = matrices.reshape(-1, dims, dims + 1)
    linear, shift = full[:, :, :dims], full[:, :, dims]
    singular = ~(np.abs(np.linalg.det(linear.astype(np.float64))) > 0)
    if singular.any():
        sample = int(np.argmax(singular))
        msg = (
            f"'matrix' must have an inverse if 'inverse_map' is False; "
            f"got {matrices[sample].tolist()} (sample {sample})."
        )
        raise ValueError(msg)
    if dims == 2:
        # In single precision like the reference, so that coordinates agree to the last bit.
        a, b, c, d = linear[:, 0, 0], linear[:, 0, 1], linear[:, 1, 0], linear[:, 1, 1]
        determinant = a * d - b * c
        parts = np.stack([d, -b, -c, a], axis=1) / determinant[:, None]
        inverse = parts.reshape(-1, 2, 2)
    else:
        inverse = np.linalg.inv(linear.astype(np.float64)).astype(np.float32)
    moved = np.zeros_like(shift)
    for axis in range(dims):
        moved += -inverse[:, :, axis] * shift[:, axis, None]
    return np.ascontiguousarray(
        np.concatenate([inverse, moved[:, :, None]], axis=2).reshape(len(full), -1), np.float32
    )


def output_sizes(data: Samples, size: Floats | None) -> Integers:
    """Spatial extents of the result."""
    dims = data.ndim - 1
    if size is None or size.size == 0:
        return np.ascontiguousarray(data.shape_array()[:, :dims])
    return given_sizes(size, dims)


def given_sizes(size: Floats, dims: int) -> Integers:
    """The spatial extents that the argument 'size' asks for."""
    if size.shape[1] != dims:
        names = "height, width" if dims == 2 else "depth, height, width"
        msg = f"'size' needs {dims} values ({names}); got {size.shape[1]}."
        raise ValueError(msg)
    if not (size > 0).all():
        msg = f"'size' must be positive; got {size[np.argmin(size.min(axis=1))].tolist()}."
        raise ValueError(msg)
    return np.ascontiguousarray(round_half_away(size.astype(np.float64)).clip(min=1))


def _warped(
    data: Samples,
    matrices: Floats,
    sizes: Integers,
    fill_value: float | None,
    interp: DALIInterpType,
    dtype: DType | None,
) -> Samples:
    check_moves(data, sizes, fill_value, interp)
    target = dtype or from_code(data.type_id)
    if interp == NEAREST and target.code != data.type_id:
        data = cast_samples(data, target)
    border = Border.clamp if fill_value is None else Border.constant
    fill = [0.0 if fill_value is None else fill_value]
    return data.kernels.warp_affine(
        data,
        type_id=target.code,
        sizes=sizes,
        matrices=matrices,
        interp=WARP_INTERP[interp],
        border=border,
        fill=fill,
    )


def check_moves(
    data: Samples, sizes: Integers, fill_value: float | None, interp: DALIInterpType
) -> None:
    """Refuse interpolations that are not known, and borders that do not exist."""
    check_interp(interp)
    if fill_value is None:
        check_not_empty(data, sizes)


def check_interp(interp: DALIInterpType) -> None:
    """Refuse interpolations that are not known."""
    if interp not in (NEAREST, LINEAR):
        msg = f"'interp_type' must be INTERP_NN or INTERP_LINEAR; got {interp.name}."
        raise ValueError(msg)


def check_not_empty(data: Samples, sizes: Integers) -> None:
    """Refuse to take border pixels from an image that has none."""
    empty = (data.shape_array()[:, :-1] == 0).any(axis=1)
    if empty.any() and (empty := empty & sizes.all(axis=1)).any():
        sample = int(np.argmax(empty))
        msg = (
            f"the input has no pixels to take border values from; got the shape "
            f"{data.shape(sample)} (sample {sample}). Give a constant border."
        )
        raise ValueError(msg)


def _rotated_shapes(call: Call) -> Shapes:
    if call.has("size") or call["keep_size"]:
        return resized(call, 0)
    shapes, dims = call.input.shapes, call.input.ndim - 1
    angle, axis = call["angle"], call["axis"]
    for rows in (angle, axis):
        if rows is not None and len(shapes) == 1:
            shapes = np.repeat(shapes, len(rows), axis=0)
    count = len(shapes)
    inside = np.ascontiguousarray(shapes[:, dims - 1 :: -1])
    radians, around = _angles_and_axes(angle, axis, count, dims)
    sizes = _canvas(inside, radians, around, np.ones(count, np.int64))
    return np.concatenate([sizes, shapes[:, dims:]], axis=1)


@op(
    layouts="HWC FHWC DHWC FDHWC",
    sequences=True,
    result=Result(dtype=_RESULT_TYPE, shape=_rotated_shapes),
    by_sample=True,
)
def rotate(
    input: Samples,
    /,
    *,
    angle: FloatPerFrame,
    axis: FloatsPerFrame | None = None,
    keep_size: bool = False,
    size: FloatsPerSample | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
    dtype: DType | None = None,
    output_dtype: DType | None = None,
    frame_counts: Integers | None = None,
) -> Samples:
    """Rotate images counterclockwise, or volumes around an axis.

    By default the result is as large as needed to show all of the input; its extents keep even or
    odd, so that small angles do not blur. All frames of a sequence get the largest size of them.

    Parameters
    ----------
    angle
        The angle in degrees. For sequences, one for each frame if its layout begins with "F".
    axis
        For volumes: direction (x, y, z) of the axis.
    keep_size
        The result is as large as the input.
    size
        Height and width (depth, height and width) of the result.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    dtype
        Type of the result; by default that of the input.
    output_dtype
        Old name of `dtype`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> ndd.rotate(image, angle=90).torch().flatten().tolist()
    [3, 2, 1]
    """
    matrices, sizes = rotation_matrices(
        input, angle, axis, keep_size=keep_size, size=size, frame_counts=frame_counts
    )
    return _warped(input, matrices, sizes, fill_value, interp_type, dtype or output_dtype)


def rotation_matrices(
    input: Samples,
    angle: Floats,
    axis: Floats | None,
    *,
    keep_size: bool,
    size: Floats | None,
    frame_counts: Integers | None = None,
) -> tuple[Floats, Integers]:
    """Maps from the result of rotate to its input, a row of values each, and the result's sizes."""
    dims = input.ndim - 1
    inside = np.ascontiguousarray(input.shape_array()[:, dims - 1 :: -1])
    count = len(input)
    radians, around = _angles_and_axes(angle, axis, count, dims)
    if size is not None and size.size:
        sizes = np.broadcast_to(output_sizes(input, size), (count, dims))
    elif keep_size:
        sizes = inside[:, ::-1]
    else:
        counts = np.ones(count, np.int64) if frame_counts is None else frame_counts
        sizes = _canvas(inside, radians, around, counts)
    matrices = _rotations(inside, sizes[:, ::-1], radians, around)
    return matrices, np.ascontiguousarray(sizes, np.int64)


def moved(
    data: Samples, matrices: Floats, fill_value: float | None, interp: DALIInterpType
) -> Samples:
    """Images of the same size, by maps from the result to the input, a row of values each."""
    sizes = np.ascontiguousarray(data.shape_array()[:, :2])
    return _warped(data, matrices, sizes, fill_value, interp, None)


def rotation_maps(angle: Floats, sizes: Integers) -> Floats:
    """Maps from images that are rotated about their centers, by degrees, to the input."""
    inside = np.ascontiguousarray(sizes[:, ::-1])
    radians, _ = _angles_and_axes(angle, None, len(sizes), 2)
    return _rotations(inside, inside, radians, None)


def shear_maps(shear: Floats, axis: int) -> Floats:
    """Maps from images that are sheared along x (0) or y (1) to the input."""
    require_finite(shear, "shear")
    # With one axis sheared, the opposite shear is the inverse.
    return shears(-shear, _NOTHING) if axis == 0 else shears(_NOTHING, -shear)


def translation_maps(offset: Floats, axis: int) -> Floats:
    """Maps from images that are moved along x (0) or y (1) to the input."""
    return translations(-offset, _NOTHING) if axis == 0 else translations(_NOTHING, -offset)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"), by_sample=True)
def shear_x(
    input: Samples,
    /,
    *,
    shear: FloatPerFrame,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
) -> Samples:
    """Shift the rows of images sideways, each by a multiple of its height.

    Parameters
    ----------
    shear
        How many pixels each row is further to the right than the one above.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [2]], [[3], [4]], [[5], [6]]], np.uint8), layout="HWC")
    >>> ndd.shear_x(image, shear=0.5, fill_value=0, interp_type="nn").torch()[..., 0].tolist()
    [[1, 2], [0, 3], [0, 5]]
    """
    return moved(input, shear_maps(shear, 0), fill_value, interp_type)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"), by_sample=True)
def shear_y(
    input: Samples,
    /,
    *,
    shear: FloatPerFrame,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
) -> Samples:
    """Shift the columns of images downwards, each by a multiple of its distance from the left.

    Parameters
    ----------
    shear
        How many pixels each column is further down than the one to its left.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [3], [5]], [[2], [4], [6]]], np.uint8), layout="HWC")
    >>> ndd.shear_y(image, shear=0.5, fill_value=0, interp_type="nn").torch()[..., 0].tolist()
    [[1, 0, 0], [2, 3, 5]]
    """
    return moved(input, shear_maps(shear, 1), fill_value, interp_type)


def offsets(offset: Floats | None, relative: Floats | None, extents: Integers) -> Floats:
    """Translations along one axis, in pixels."""
    if (offset is None) == (relative is None):
        msg = "either 'offset' or 'offset_rel' must be given."
        raise ValueError(msg)
    if offset is not None:
        require_finite(offset, "offset")
        return offset
    assert relative is not None
    require_finite(relative, "offset_rel")
    if len(extents) == 0:
        return np.zeros(1, np.float32)
    return (relative * extents.astype(np.float32)).astype(np.float32)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"), by_sample=True)
def translate_x(
    input: Samples,
    /,
    *,
    offset: FloatPerFrame | None = None,
    offset_rel: FloatPerFrame | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
) -> Samples:
    """Move images sideways.

    Parameters
    ----------
    offset
        How far to the right, in pixels.
    offset_rel
        The same as a fraction of the width; instead of `offset`.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [2], [3]]], np.uint8), layout="HWC")
    >>> ndd.translate_x(image, offset=1, fill_value=9).torch().flatten().tolist()
    [9, 1, 2]
    """
    across = offsets(offset, offset_rel, input.shape_array()[:, 1])
    return moved(input, translation_maps(across, 0), fill_value, interp_type)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"), by_sample=True)
def translate_y(
    input: Samples,
    /,
    *,
    offset: FloatPerFrame | None = None,
    offset_rel: FloatPerFrame | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
) -> Samples:
    """Move images up or down.

    Parameters
    ----------
    offset
        How far down, in pixels.
    offset_rel
        The same as a fraction of the height; instead of `offset`.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1]], [[2]], [[3]]], np.uint8), layout="HWC")
    >>> ndd.translate_y(image, offset=-1, fill_value=9).torch().flatten().tolist()
    [2, 3, 9]
    """
    down = offsets(offset, offset_rel, input.shape_array()[:, 0])
    return moved(input, translation_maps(down, 1), fill_value, interp_type)


def _angles_and_axes(
    angle: Floats, axis: Floats | None, count: int, dims: int
) -> tuple[Floats, Floats | None]:
    """The angles in radians, and the axes of rotations in space."""
    require_finite(angle, "angle")
    radians = np.broadcast_to(angle, (count,)).astype(np.float32) * np.float32(np.pi / 180)
    return (-radians, None) if dims == 2 else (radians, _axes(axis, count))


def _axes(axis: Floats | None, count: int) -> Floats:
    """Directions of unit length, one for each volume."""
    if axis is None:
        msg = "volumes need the argument 'axis', a direction (x, y, z)."
        raise ValueError(msg)
    if count == 0:
        return np.zeros((0, 3), np.float32)
    if axis.shape[1] != 3:
        msg = f"'axis' needs 3 values (x, y, z); got {axis.shape[1]}."
        raise ValueError(msg)
    length = np.sqrt((axis * axis).sum(axis=1, dtype=np.float32))
    if not (length > 0).all():
        msg = f"'axis' must not be zero; got {axis[int(np.argmin(length))].tolist()}."
        raise ValueError(msg)
    single = (axis != 0).sum(axis=1) == 1
    unit = np.where(single[:, None], np.sign(axis), axis / length[:, None])
    return np.broadcast_to(unit.astype(np.float32), (count, 3))


def _rotation(radians: Floats, around: Floats | None) -> Floats:
    """Rotation matrices, in single precision as the reference computes them."""
    c = np.cos(radians.astype(np.float64)).astype(np.float32)
    s = np.sin(radians.astype(np.float64)).astype(np.float32)
    if around is None:
        return np.stack([c, -s, s, c], axis=1).reshape(-1, 2, 2)
    u, v, w = around[:, 0], around[:, 1], around[:, 2]
    one = np.float32(1)
    rows = [
        [u * u + (v * v + w * w) * c, u * v * (one - c) - w * s, u * w * (one - c) + v * s],
        [u * v * (one - c) + w * s, v * v + (u * u + w * w) * c, v * w * (one - c) - u * s],
        [u * w * (one - c) - v * s, v * w * (one - c) + u * s, w * w + (u * u + v * v) * c],
    ]
    matrices = np.stack([np.stack(row, axis=1) for row in rows], axis=1)
    return np.where((radians == 0)[:, None, None], np.eye(3, dtype=np.float32), matrices)


def _rotations(
    inside: Integers, outside: Integers, radians: Floats, around: Floats | None
) -> Floats:
    """Maps from the result to the input that rotate about the centers of both."""
    rotation = _rotation(-radians, around)
    half = np.float32(0.5)
    center, middle = inside.astype(np.float32) * half, -outside.astype(np.float32) * half
    shift = np.zeros_like(center)
    for axis in range(center.shape[1]):
        shift += rotation[:, :, axis] * middle[:, axis, None]
    shift += center
    matrices = np.concatenate([rotation, shift[:, :, None]], axis=2)
    return np.ascontiguousarray(
        matrices.reshape(len(inside), rotation.shape[1] * (rotation.shape[1] + 1)), np.float32
    )


def _canvas(inside: Integers, radians: Floats, around: Floats | None, counts: Integers) -> Integers:
    """Sizes (height, width) that hold the rotated images, the same for frames of a sequence."""
    if len(inside) == 0:
        return inside
    if around is None:
        c, s = (
            np.abs(np.cos(radians.astype(np.float64))),
            np.abs(np.sin(radians.astype(np.float64))),
        )
        reach = np.stack([np.stack([c, s], axis=1), np.stack([s, c], axis=1)], axis=1)
        needed = (reach * inside[:, None, :]).sum(axis=2) - 1e-2
        dominant = np.where((s <= c)[:, None], [0, 1], [1, 0])
    else:
        reach = np.abs(_rotation(radians, around))
        needed = np.zeros(inside.shape, np.float32)
        for axis in range(3):
            needed += reach[:, :, axis] * inside[:, axis, None].astype(np.float32)
        needed -= np.float32(1e-2)
        # The own axis wins ties, then the first.
        own = np.diagonal(reach, axis1=1, axis2=2)
        first = np.argmax(reach, axis=2)
        dominant = np.where(own >= reach.max(axis=2), np.arange(3), first)
    extents = np.ceil(needed).astype(np.int64)
    odd = np.take_along_axis(inside, dominant, axis=1) % 2
    sizes = np.empty_like(extents)
    begin = 0
    for frames in counts.tolist():
        rows = slice(begin, begin + frames)
        if frames:
            largest = extents[rows].max(axis=0)
            wanted = 2 * odd[rows].sum(axis=0) > frames
            sizes[rows] = largest + ((largest % 2) ^ wanted)
        begin += frames
    return np.ascontiguousarray(sizes[:, ::-1])
