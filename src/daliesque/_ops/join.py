# SPDX-License-Identifier: Apache-2.0
"""Operators that join their inputs: cat and stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.dtype import from_code
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op
from .._engine.samples import common_kernels
from .shape import row


def _joined_axis(call: Call) -> int:
    ndim = call.input.ndim
    if call.has("axis_name"):
        return call.input.layout.index(call["axis_name"])
    return _checked_axis(call["axis"], ndim, ndim - 1)


def _parts(call: Call) -> list[Shapes]:
    return [call.other(number).shapes for number in range(len(call.inputs))]


def _joined_shapes(call: Call) -> Shapes:
    parts, axis = _parts(call), _joined_axis(call)
    # Inputs without elements are left out, whatever their other extents.
    filled = [part for part in parts if part.prod(axis=1).any()] or parts
    total = sum(part[:, axis] for part in filled)
    return with_extents(filled[0], axis, total)


@op(result=Result(shape=_joined_shapes))
def cat(
    *inputs: Samples, axis: int = 0, axis_name: str | None = None, given: frozenset[str]
) -> Samples:
    """Join arrays along an axis they have.

    Inputs without any element are left out. The result has the layout of the first input.

    Parameters
    ----------
    inputs
        What to join, also as one list. Types, numbers of axes and all other extents must agree.
    axis
        The axis to join along; negative ones count from the end.
    axis_name
        The same by its letter in the layout. Excludes `axis`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.cat([1, 2], [3]).torch().tolist()
    [1, 2, 3]
    """
    first = inputs[0]
    _check_alike(inputs)
    if axis_name is not None:
        if "axis" in given:
            msg = "'axis' and 'axis_name' exclude each other. Give one of them."
            raise ValueError(msg)
        _check_letter(axis_name)
        if axis_name not in first.layout:
            msg = f"'axis_name' must be in the layout; got {axis_name!r} for {first.layout!r}."
            raise ValueError(msg)
        axis = first.layout.index(axis_name)
    axis = _checked_axis(axis, first.ndim, first.ndim - 1)
    filled = [part for part in inputs if part.volume] or list(inputs)
    _check_extents(filled, axis)
    kernels = common_kernels(inputs)
    return kernels.concatenate(filled, axis, first.layout)


def _stacked_axis(call: Call) -> int:
    return _checked_axis(call["axis"], call.input.ndim, call.input.ndim)


def _stacked_layout(call: Call) -> str:
    layout, axis = call.input.layout, _stacked_axis(call)
    return layout[:axis] + call["axis_name"] + layout[axis:] if call.has("axis_name") else ""


def _stacked_shapes(call: Call) -> Shapes:
    parts = _parts(call)
    return np.insert(max(parts, key=len), _stacked_axis(call), len(parts), axis=1)


@op(
    result=Result(
        ndim=lambda call: call.input.ndim + 1, layout=_stacked_layout, shape=_stacked_shapes
    )
)
def stack(*inputs: Samples, axis: int = 0, axis_name: str | None = None) -> Samples:
    """Join arrays along a new axis.

    Parameters
    ----------
    inputs
        What to join, also as one list. Types and shapes must agree.
    axis
        The index of the new axis in the result; negative ones count from the end.
    axis_name
        The letter of the new axis in the layout. Without it, the result has no layout.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.stack([1, 2], [3, 4], axis=1).torch().tolist()
    [[1, 3], [2, 4]]
    """
    first = inputs[0]
    _check_alike(inputs)
    axis = _checked_axis(axis, first.ndim, first.ndim)
    layout = ""
    if axis_name is not None:
        _check_letter(axis_name)
        if first.ndim and not first.layout:
            msg = "'axis_name' needs inputs with a layout. Leave it out, or give one."
            raise ValueError(msg)
        layout = first.layout[:axis] + axis_name + first.layout[axis:]
    _check_extents(list(inputs), None)
    shapes = np.insert(first.shape_array(), axis, 1, axis=1)
    kernels = common_kernels(inputs)
    return kernels.concatenate([part.reshape(shapes, "") for part in inputs], axis, layout)


def _check_letter(axis_name: str) -> None:
    if len(axis_name) != 1:
        msg = f"'axis_name' must be a single letter; got {axis_name!r}."
        raise ValueError(msg)


def _checked_axis(axis: int, ndim: int, last: int) -> int:
    if not -ndim <= axis <= last:
        msg = f"'axis' must lie in [{-ndim}, {last}] for inputs with {ndim} axes; got {axis}."
        raise ValueError(msg)
    return axis if axis >= 0 else axis + last + 1


def _check_alike(inputs: tuple[Samples, ...]) -> None:
    first = inputs[0]
    for position, part in enumerate(inputs):
        if part.type_id != first.type_id or part.ndim != first.ndim:
            kinds = [f"{from_code(p.type_id).full_name} with {p.ndim} axes" for p in (first, part)]
            msg = (
                f"all inputs must have one type and number of axes; input 0 is {kinds[0]}, "
                f"input {position} is {kinds[1]}."
            )
            raise ValueError(msg)


def _check_extents(inputs: list[Samples], axis: int | None) -> None:
    """All shapes must agree, bar along `axis`."""
    first: Any = inputs[0].shape_array()
    for position, part in enumerate(inputs[1:], 1):
        shapes = part.shape_array()
        wrong = shapes != first
        if axis is not None:
            wrong[:, axis] = False
        if wrong.any():
            sample, where = np.argwhere(wrong)[0].tolist()
            msg = (
                f"the shapes do not fit together along axis {where}: {row(first, sample)} and "
                f"{row(shapes, sample)} (input {position}, sample {sample})."
            )
            raise ValueError(msg)
