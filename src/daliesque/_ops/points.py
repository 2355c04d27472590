# SPDX-License-Identifier: Apache-2.0
"""Operators on points and vectors."""

from __future__ import annotations

import numpy as np

from .._engine.args import FloatPerSample, FloatsPerFrame, IntPerSample
from .._engine.dtype import (
    DType,
    float32,
    from_code,
    int16,
    int32,
    uint8,
    uint16,
)
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op
from .._engine.samples import HostSamples
from .._shapes.rows import row_counts, rows_of, spread
from .._shapes.windows import Floats

# The coordinates of points, as far as there are.
AXES = "xyz"
_MOST_COMPONENTS = 6


@op(dtypes=(float32,), result=Result(shape="input"))
def coord_flip(
    input: HostSamples,
    /,
    *,
    center_x: FloatPerSample = 0.5,
    center_y: FloatPerSample = 0.5,
    center_z: FloatPerSample = 0.5,
    flip_x: IntPerSample = 1,
    flip_y: IntPerSample = 0,
    flip_z: IntPerSample = 0,
    layout: str = "",
) -> Samples:
    """Mirror the coordinates of points.

    Parameters
    ----------
    input
        Points, of shape (number of points, 1 to 3).
    center_x, center_y, center_z
        Where the mirrors are.
    flip_x, flip_y, flip_z
        Mirror along this axis, unless 0.
    layout
        The order of the coordinates; by default "x", "xy" or "xyz".

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.coord_flip(ndd.tensor([[0.25, 0.5], [1.0, 0.0]])).torch().tolist()
    [[0.75, 0.5], [0.0, 0.0]]
    """
    columns = input.shape_array()[:, 1:]
    ndim = int(columns[0, 0]) if input.ndim == 2 and len(input) else 0
    if input.ndim != 2 or ndim > 3 or (columns != ndim).any():
        msg = f"points must have the shape (number of points, 1 to 3); got {input.shapes}."
        raise ValueError(msg)
    letters = layout or AXES[:ndim]
    for letter in AXES[:ndim]:
        if letter not in letters[:ndim]:
            msg = f"'layout' must be {AXES[:ndim]!r}, in any order; got {layout!r}."
            raise ValueError(msg)
    counts = row_counts(input, ndim)
    points = rows_of(input, ndim)
    flips = {"x": flip_x, "y": flip_y, "z": flip_z}
    centers = {"x": center_x, "y": center_y, "z": center_z}
    out = input.empty_like()
    if points.size:
        rows = rows_of(out, ndim)
        for column, letter in enumerate(letters[:ndim]):
            mirrored = np.float32(2) * spread(centers[letter], counts) - points[:, column]
            chosen = spread(flips[letter] != 0, counts)
            rows[:, column] = np.where(chosen, mirrored, points[:, column])
    return out


def _transformed_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    components = int(shapes[0, -1])
    numbers = components * components
    if call.has("MT"):
        width = call.width("MT")
        numbers = width // (components + 1) * components if width > 1 else numbers
    elif call.has("M") and call.width("M") > 1:
        numbers = call.width("M")
    return with_extents(shapes, -1, numbers // components)


@op(
    dtypes=(uint8, int16, uint16, int32, float32),
    expands_frames=True,
    result=Result(shape=_transformed_shapes),
)
def coord_transform(
    input: Samples,
    /,
    *,
    M: FloatsPerFrame | None = None,
    MT: FloatsPerFrame | None = None,
    T: FloatsPerFrame | None = None,
    dtype: DType = float32,
) -> Samples:
    """Apply a linear transformation to points or vectors: ``M @ point + T``.

    Parameters
    ----------
    input
        Points; the innermost axis is that of their coordinates.
    M
        The matrix, of as many columns as a point has coordinates; row by row, also as a flat list.
        One number stands for a multiple of the identity, which is the default.
    MT
        The matrix with the translation as its last column, in place of `M` and `T`.
    T
        The translation; one number serves all coordinates. By default 0.
    dtype
        The type of the result: float32, or that of the input, rounded and clamped.

    Differs from DALI: matrices may be flat lists, and one number for `MT` is a multiple of the
    identity, as documented.

    Examples
    --------
    >>> import daliesque as ndd
    >>> points = ndd.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ndd.coord_transform(points, M=[[0, 1], [1, 0]], T=[10, 0]).torch().tolist()
    [[12.0, 1.0], [14.0, 3.0]]
    """
    if dtype is not float32 and dtype.code != input.type_id:
        found = from_code(input.type_id)
        msg = (
            f"'dtype' must be float32 or that of the input, {found.full_name};"
            f" got {dtype.full_name}."
        )
        raise ValueError(msg)
    if input.ndim < 2:
        msg = f"the input needs an axis of points and one of coordinates; got {input.ndim} axes."
        raise ValueError(msg)
    shapes = input.shape_array()
    filled = shapes[shapes.prod(axis=1) > 0]
    components = int((filled if len(filled) else shapes)[0, -1]) if len(shapes) else 1
    if (filled[:, -1] != components).any():
        msg = f"all points must have equally many coordinates; got the shapes {input.shapes}."
        raise ValueError(msg)
    matrix, translation = _affine(M, MT, T, components)
    rows = translation.shape[1]
    if not 1 <= max(components, rows) <= _MOST_COMPONENTS:
        msg = f"points have 1 to {_MOST_COMPONENTS} coordinates; got {components} and {rows}."
        raise ValueError(msg)
    out_shapes = shapes.copy()
    out_shapes[:, -1] = rows
    out = input.kernels.empty(dtype.code, out_shapes, input.layout, len(input))
    input.kernels.transform_points(out, input, matrix, translation)
    return out


def _affine(
    matrix: Floats | None, combined: Floats | None, translation: Floats | None, components: int
) -> tuple[Floats, Floats]:
    """Matrices, row by row, and translations."""
    if combined is not None:
        if matrix is not None or translation is not None:
            msg = "'MT' excludes 'M' and 'T'. Give either."
            raise ValueError(msg)
        if combined.shape[1] == 1:
            matrix = combined
        else:
            table = _table(combined, components + 1, "MT")
            flat = np.ascontiguousarray(table[:, :, :-1]).reshape(len(table), -1)
            return flat, np.ascontiguousarray(table[:, :, -1])
    if matrix is None:
        matrix = np.ones((1, 1), np.float32)
    if matrix.shape[1] == 1 and components != 1:
        flat = (matrix[:, :, None] * np.eye(components, dtype=np.float32)).reshape(len(matrix), -1)
    else:
        flat = _table(matrix, components, "M").reshape(len(matrix), -1)
    rows = flat.shape[1] // max(components, 1)
    if translation is None:
        translation = np.zeros((1, rows), np.float32)
    elif translation.shape[1] not in (1, rows):
        msg = (
            f"'T' needs {rows} values, one for each row of the matrix; got {translation.shape[1]}."
        )
        raise ValueError(msg)
    translation = np.broadcast_to(translation, (len(translation), rows))
    return np.ascontiguousarray(flat), np.ascontiguousarray(translation)


def _table(matrix: Floats, columns: int, name: str) -> Floats:
    if matrix.shape[1] == 0 or columns == 0 or matrix.shape[1] % columns:
        msg = f"'{name}' must be a matrix of {columns} columns; got {matrix.shape[1]} numbers."
        raise ValueError(msg)
    return matrix.reshape(len(matrix), -1, columns)
