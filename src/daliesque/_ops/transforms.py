# SPDX-License-Identifier: Apache-2.0
"""Operators that make matrices of affine transformations.

A matrix of shape (n, n + 1) maps a point p to ``M[:, :n] @ p + M[:, n]``. All are computed in
float32, step by step as in the reference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import FloatPerFrame, FloatsPerFrame
from .._engine.convert import cast_samples, to_stacked_numpy
from .._engine.dtype import float32
from .._engine.metadata import Call, Result
from .._engine.op import HostSamples, op
from .._shapes.windows import Floats

Array = NDArray[Any]
_MOST_AXES = 6
_RADIANS = np.float32(np.pi / 180)


def _identities(rows: int, ndim: int) -> Floats:
    if not 1 <= ndim <= _MOST_AXES:
        msg = f"transformations have 1 to {_MOST_AXES} dimensions; the arguments ask for {ndim}."
        raise ValueError(msg)
    matrices = np.zeros((rows, ndim, ndim + 1), np.float32)
    matrices[:, range(ndim), range(ndim)] = 1
    return matrices


def _product(left: Floats, right: Floats) -> Floats:
    """Apply `right` and then `left`."""
    ndim = left.shape[1]
    total = left[:, :, :1] * right[:, :1, :]
    for k in range(1, ndim):
        total = total + left[:, :, k : k + 1] * right[:, k : k + 1, :]
    total[:, :, ndim] += left[:, :, ndim]
    return total


def _around(matrices: Floats, center: Floats | None) -> Floats:
    """The same transformation with another fixed point."""
    if center is None:
        return matrices
    ndim = matrices.shape[1]
    point = _vectors(center, ndim, "center")
    rows = max(len(matrices), len(point))
    moved = np.broadcast_to(matrices, (rows, *matrices.shape[1:])).copy()
    total = matrices[:, :, 0] * -point[:, :1]
    for k in range(1, ndim):
        total = total + matrices[:, :, k] * -point[:, k : k + 1]
    moved[:, :, ndim] = total + point
    return moved


def _vectors(values: Floats, ndim: int, name: str) -> Floats:
    """Vectors of `ndim` numbers; a single number serves all axes."""
    if values.shape[1] not in (1, ndim):
        msg = f"'{name}' needs {ndim} values, one for each axis; got {values.shape[1]}."
        raise ValueError(msg)
    return np.broadcast_to(values, (len(values), ndim))


def _read(samples: HostSamples, what: str) -> Floats:
    """Matrices given as an input, of shape (N, n, n + 1)."""
    shape = samples.shape(0) if len(samples) else (0, 0)
    if samples.ndim != 2 or not samples.uniform or (len(samples) and shape[1] != shape[0] + 1):
        msg = f"{what} must be matrices of one shape (n, n + 1); got {samples.shapes}."
        raise ValueError(msg)
    return to_stacked_numpy(cast_samples(samples, float32))


def _made(matrices: Floats, count: int) -> HostSamples:
    ndim = matrices.shape[1]
    out = _kernels.empty_uniform(float32.code, [ndim, ndim + 1], "**", count)
    if count:
        to_stacked_numpy(out)[...] = matrices
    return out


def _applied(
    matrices: Floats, input: HostSamples | None, reverse_order: bool, count: int
) -> HostSamples:
    """The transformation, applied to that of the input if there is one."""
    if input is None or count == 0:
        return _made(matrices, count)
    given = _read(input, "the input")
    if given.shape[1] != matrices.shape[1]:
        msg = (
            f"the input has {given.shape[1]} dimensions, but the arguments ask for "
            f"{matrices.shape[1]}."
        )
        raise ValueError(msg)
    both = _product(given, matrices) if reverse_order else _product(matrices, given)
    return _made(both, count)


def _matrices(find_dimensions: Callable[[Call], int]) -> Result:
    """Matrices for points of so many dimensions."""

    def shape(call: Call) -> list[list[int]]:
        ndim = call.input.shapes[0, 0] if call.has_input(0) else find_dimensions(call)
        return [[int(ndim), int(ndim) + 1]]

    return Result(dtype=float32, ndim=2, layout="**", shape=shape)


def _scale_dimensions(call: Call) -> int:
    width, ndim = call.width("scale"), call["ndim"]
    return ndim if width == 1 and ndim else width


def _shear_dimensions(call: Call) -> int:
    return {2: 2, 6: 3}[call.width("shear" if call.has("shear") else "angles")]


def _crop_dimensions(call: Call) -> int:
    return max(call.width(name) for name in ("from_start", "from_end", "to_start", "to_end"))


@op(
    name="transforms.translation",
    expands_frames=True,
    result=_matrices(lambda call: call.width("offset")),
    cpu_only=True,
)
def translation(
    input: HostSamples | None = None,
    /,
    *,
    offset: FloatsPerFrame,
    reverse_order: bool = False,
    batch_size: int,
) -> HostSamples:
    """Make the matrix that moves points.

    Parameters
    ----------
    input
        A transformation to apply this one to.
    offset
        How far to move along each axis. Determines the number of dimensions.
    reverse_order
        Apply the transformation of the input last.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.transforms.translation(offset=[5, 7]).torch().tolist()
    [[1.0, 0.0, 5.0], [0.0, 1.0, 7.0]]
    """
    ndim = offset.shape[1]
    matrices = _identities(len(offset), ndim)
    matrices[:, :, ndim] = offset
    return _applied(matrices, input, reverse_order, batch_size)


@op(
    name="transforms.scale",
    expands_frames=True,
    result=_matrices(_scale_dimensions),
    cpu_only=True,
)
def scale(
    input: HostSamples | None = None,
    /,
    *,
    scale: FloatsPerFrame,
    center: FloatsPerFrame | None = None,
    ndim: int | None = None,
    reverse_order: bool = False,
    batch_size: int,
) -> HostSamples:
    """Make the matrix that stretches space along its axes.

    Parameters
    ----------
    input
        A transformation to apply this one to.
    scale
        The factor along each axis, which determines the number of dimensions, or one for all axes.
    center
        The point that stays where it is; by default the origin.
    ndim
        The number of dimensions, if `scale` is one number and there is no input.
    reverse_order
        Apply the transformation of the input last.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.transforms.scale(scale=[2, 3], center=[1, 1]).torch().tolist()
    [[2.0, 0.0, -1.0], [0.0, 3.0, -2.0]]
    """
    axes = scale.shape[1]
    if axes == 1:
        if input is not None and len(input):
            axes = _read(input, "the input").shape[1]
        elif ndim is not None and ndim > 0:
            axes = ndim
    factors = _vectors(scale, axes, "scale")
    fixed = factors if center is None else _vectors(center, axes, "center")
    matrices = _identities(max(len(factors), len(fixed)), axes)
    matrices[:, range(axes), range(axes)] = factors
    if center is not None:
        matrices[:, :, axes] = fixed * (np.float32(1) - factors)
    return _applied(matrices, input, reverse_order, batch_size)


@op(
    name="transforms.rotation",
    expands_frames=True,
    result=_matrices(lambda call: 3 if call.has("axis") else 2),
    cpu_only=True,
)
def rotation(
    input: HostSamples | None = None,
    /,
    *,
    angle: FloatPerFrame,
    axis: FloatsPerFrame | None = None,
    center: FloatsPerFrame | None = None,
    reverse_order: bool = False,
    batch_size: int,
) -> HostSamples:
    """Make the matrix that rotates the plane, or space around an axis.

    Parameters
    ----------
    input
        A transformation to apply this one to.
    angle
        The angle in degrees.
    axis
        The direction of the axis, of any length but 0. Without it, there are two dimensions.
    center
        The point that stays where it is; by default the origin.
    reverse_order
        Apply the transformation of the input last.

    Examples
    --------
    >>> import daliesque as ndd
    >>> half = ndd.transforms.rotation(angle=180, center=[1, 1])
    >>> np.round(half, 5).tolist()
    [[-1.0, 0.0, 2.0], [-0.0, -1.0, 2.0]]
    """
    radians = angle * _RADIANS
    cosines = np.cos(radians, dtype=np.float64).astype(np.float32)
    sines = np.sin(radians, dtype=np.float64).astype(np.float32)
    if axis is None:
        matrices = _identities(len(angle), 2)
        matrices[:, 0, 0] = matrices[:, 1, 1] = cosines
        matrices[:, 0, 1], matrices[:, 1, 0] = -sines, sines
    else:
        matrices = _space_rotations(radians, cosines, sines, axis)
    return _applied(_around(matrices, center), input, reverse_order, batch_size)


def _space_rotations(radians: Floats, cosines: Floats, sines: Floats, axis: Floats) -> Floats:
    if axis.shape[1] != 3:
        msg = f"'axis' needs 3 values (x, y, z); got {axis.shape[1]}."
        raise ValueError(msg)
    rows = max(len(axis), len(radians))
    rotates = np.broadcast_to(radians != 0, rows)
    vectors = np.broadcast_to(axis, (rows, 3))
    lost = rotates & ~vectors.any(axis=1)
    if lost.any():
        msg = f"'axis' must not have the length 0 (sample {int(np.argmax(lost))})."
        raise ValueError(msg)
    squares = vectors * vectors
    lengths = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])
    # A direction along one axis is exact.
    single = np.count_nonzero(vectors, axis=1, keepdims=True) == 1
    units = np.where(single, np.sign(vectors), vectors / np.where(lengths, lengths, 1)[:, None])
    u, v, w = units.T
    c, s = cosines, sines
    one = np.float32(1)
    uu, vv, ww, uv, uw, vw = u * u, v * v, w * w, u * v, u * w, v * w
    matrices = _identities(rows, 3)
    rotated = matrices.copy()
    rotated[:, 0, 0] = uu + (vv + ww) * c
    rotated[:, 0, 1] = uv * (one - c) - w * s
    rotated[:, 0, 2] = uw * (one - c) + v * s
    rotated[:, 1, 0] = uv * (one - c) + w * s
    rotated[:, 1, 1] = vv + (uu + ww) * c
    rotated[:, 1, 2] = vw * (one - c) - u * s
    rotated[:, 2, 0] = uw * (one - c) - v * s
    rotated[:, 2, 1] = vw * (one - c) + u * s
    rotated[:, 2, 2] = ww + (uu + vv) * c
    return np.where(rotates[:, None, None], rotated, matrices)


def _tangents(angles: Floats) -> Floats:
    steep = ~(np.abs(angles) <= 90)
    if steep.any():
        msg = f"'angles' must lie in [-90, 90]; got {angles[steep][0]:g}."
        raise ValueError(msg)
    tangents: Floats = np.tan(angles * _RADIANS, dtype=np.float64).astype(np.float32)
    return tangents


@op(
    name="transforms.shear",
    expands_frames=True,
    result=_matrices(_shear_dimensions),
    cpu_only=True,
)
def shear(
    input: HostSamples | None = None,
    /,
    *,
    angles: FloatsPerFrame | None = None,
    center: FloatsPerFrame | None = None,
    reverse_order: bool = False,
    shear: FloatsPerFrame | None = None,
    batch_size: int,
) -> HostSamples:
    """Make the matrix that shears the plane or space.

    Parameters
    ----------
    input
        A transformation to apply this one to.
    angles
        The angles of shearing in degrees, from -90 to 90, in place of `shear`: the factors are
        their tangents.
    center
        The point that stays where it is; by default the origin.
    reverse_order
        Apply the transformation of the input last.
    shear
        How much points move along the first axis for each unit along the second: two numbers (xy,
        yx) in two dimensions, six (xy, xz, yx, yz, zx, zy) in three, also as a 3 x 2 matrix.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.transforms.shear(shear=[2, 1]).torch().tolist()
    [[1.0, 2.0, 0.0], [1.0, 1.0, 0.0]]
    """
    if (shear is None) == (angles is None):
        msg = "takes either 'shear' or 'angles'. Give one of them."
        raise ValueError(msg)
    factors = _tangents(angles) if angles is not None else shear
    assert factors is not None
    ndim = {2: 2, 6: 3}.get(factors.shape[1])
    if ndim is None:
        name = "angles" if shear is None else "shear"
        msg = f"'{name}' needs 2 values, or 6 for three dimensions; got {factors.shape[1]}."
        raise ValueError(msg)
    matrices = _identities(len(factors), ndim)
    table = factors.reshape(len(factors), ndim, ndim - 1)
    for row in range(ndim):
        others = [axis for axis in range(ndim) if axis != row]
        matrices[:, row, others] = table[:, row]
    return _applied(_around(matrices, center), input, reverse_order, batch_size)


@op(
    name="transforms.crop",
    expands_frames=True,
    result=_matrices(_crop_dimensions),
    cpu_only=True,
)
def crop(
    input: HostSamples | None = None,
    /,
    *,
    absolute: bool = False,
    from_end: FloatsPerFrame = (1.0,),
    from_start: FloatsPerFrame = (0.0,),
    reverse_order: bool = False,
    to_end: FloatsPerFrame = (1.0,),
    to_start: FloatsPerFrame = (0.0,),
    batch_size: int,
) -> HostSamples:
    """Make the matrix that maps one box to another, e.g. coordinates to those after a crop.

    Parameters
    ----------
    input
        A transformation to apply this one to.
    absolute
        Exchange start and end where the start is greater.
    from_start, from_end
        The corners of the box that is mapped; one number serves all axes.
    reverse_order
        Apply the transformation of the input last.
    to_start, to_end
        The corners of the box that it becomes.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.transforms.crop(from_start=[10, 20], from_end=[20, 30]).torch().tolist()
    [[0.1..., 0.0, -1.0], [0.0, 0.1..., -2.0]]
    """
    given = {
        "from_start": from_start,
        "from_end": from_end,
        "to_start": to_start,
        "to_end": to_end,
    }
    ndim = max(value.shape[1] for value in given.values())
    corners = {name: _vectors(value, ndim, name) for name, value in given.items()}
    begin, end = _ordered(corners["from_start"], corners["from_end"], absolute)
    new_begin, new_end = _ordered(corners["to_start"], corners["to_end"], absolute)
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = (new_end - new_begin) / (end - begin)
        offsets = new_begin - factors * begin
    matrices = _identities(len(offsets), ndim)
    matrices[:, range(ndim), range(ndim)] = factors
    matrices[:, :, ndim] = offsets
    return _applied(matrices, input, reverse_order, batch_size)


def _ordered(start: Floats, end: Floats, absolute: bool) -> tuple[Floats, Floats]:
    if not absolute:
        return start, end
    return np.minimum(start, end), np.maximum(start, end)


@op(
    name="transforms.combine",
    expands_frames=True,
    result=_matrices(lambda _: 0),
    cpu_only=True,
)
def combine(
    first: HostSamples, second: HostSamples, /, *more: HostSamples, reverse_order: bool = False
) -> HostSamples:
    """Combine transformations into one that applies them in the given order.

    Parameters
    ----------
    first, second, more
        Matrices of one shape.
    reverse_order
        The transformation given last is applied first.

    Examples
    --------
    >>> import daliesque as ndd
    >>> move = ndd.transforms.translation(offset=[1, 0])
    >>> grow = ndd.transforms.scale(scale=[2, 2])
    >>> ndd.transforms.combine(move, grow).torch().tolist()
    [[2.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    """
    if len(first) == 0:
        return _made(_identities(1, 1), 0)
    inputs = (first, second, *more)
    for position, samples in enumerate(inputs):
        if samples.shapes != first.shapes:
            msg = (
                f"all transformations must have one shape; input 0 has {first.shapes}, "
                f"input {position} has {samples.shapes}."
            )
            raise ValueError(msg)
    matrices = _read(first, "inputs")
    for samples in inputs[1:]:
        other = _read(samples, "inputs")
        matrices = _product(matrices, other) if reverse_order else _product(other, matrices)
    return _made(matrices, len(first))
