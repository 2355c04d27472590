# SPDX-License-Identifier: Apache-2.0
"""Operators on the shape and the order of axes."""

from __future__ import annotations

from .. import _kernels
from .._engine.op import Samples, op


@op()
def transpose(
    input: Samples,
    /,
    *,
    perm: tuple[int, ...] | None = None,
    transpose_layout: bool = True,
    output_layout: str | None = None,
) -> Samples:
    """Reorder the axes: axis ``k`` of the result is axis ``perm[k]`` of the input.

    Parameters
    ----------
    perm
        A permutation of the axes; by default their order is reversed.
    transpose_layout
        Reorder the letters of the layout, too; otherwise the layout stays as it is.
    output_layout
        The layout of the result, whatever `transpose_layout` says.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1, 2, 3], [4, 5, 6]]], layout="HWC")
    >>> planes = ndd.transpose(image, perm=[2, 0, 1])
    >>> planes.shape, planes.layout
    ((3, 1, 2), 'CHW')
    """
    ndim = input.ndim
    order = list(perm) if perm else list(range(ndim))[::-1]
    if sorted(order) != list(range(ndim)):
        msg = f"'perm' must hold each of the axes 0 to {ndim - 1} once; got {order}."
        raise ValueError(msg)
    layout = input.layout
    if output_layout is not None:
        if len(output_layout) != ndim:
            msg = f"'output_layout' needs {ndim} letters, one for each axis; got {output_layout!r}."
            raise ValueError(msg)
        layout = output_layout
    elif transpose_layout and layout:
        layout = "".join(layout[axis] for axis in order)
    return _kernels.transpose(input, order, layout)
