# SPDX-License-Identifier: Apache-2.0
"""Operators on the frames of sequences."""

from __future__ import annotations

import numpy as np

from .._engine.args import IntListsPerSample
from .._engine.convert import to_numpy
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import Samples, op
from .._engine.outputs import OnePer


def _check_sequence(samples: Samples) -> None:
    if samples.layout and not samples.layout.startswith("F"):
        msg = (
            f"the input must be a sequence, with a layout that begins with 'F'; "
            f"got {samples.layout!r}."
        )
        raise ValueError(msg)
    if samples.ndim < 2:
        msg = f"the input needs an axis of frames and at least one more; got {samples.ndim} axes."
        raise ValueError(msg)


@op(
    strided=True,
    outputs=OnePer("element_map"),
    result=Result(
        ndim=lambda call: call.input.ndim - 1,
        layout=lambda call: call.input.layout[1:],
        shape=lambda call: call.input.shapes[:, 1:],
    ),
)
def element_extract(input: Samples, /, *, element_map: list[int]) -> Samples | tuple[Samples, ...]:
    """Take single frames out of sequences: one result for each. Nothing is copied.

    Parameters
    ----------
    input
        Sequences; their layout, if they have one, begins with "F".
    element_map
        The numbers of the frames.

    Examples
    --------
    >>> import daliesque as ndd
    >>> video = ndd.tensor([[1, 2], [3, 4], [5, 6]], layout="FX")
    >>> last, first = ndd.element_extract(video, element_map=[2, 0])
    >>> last.torch().tolist(), last.layout
    ([5, 6], 'X')
    """
    _check_sequence(input)
    shapes = input.shape_array()
    for number in element_map:
        bad = (shapes[:, 0] <= number) | (number < 0)
        if bad.any():
            sample = int(np.argmax(bad))
            msg = (
                f"'element_map' must hold numbers of frames, 0 to {shapes[sample, 0] - 1}; "
                f"got {number} (sample {sample})."
            )
            raise ValueError(msg)
    if input.uniform and len(input):
        shapes = shapes[:1]
    # Start, extent and step along each axis.
    ranges = np.stack([np.zeros_like(shapes), shapes, np.ones_like(shapes)], axis=2)
    dropped = [axis == 0 for axis in range(input.ndim)]
    results = []
    for number in element_map:
        ranges[:, 0] = (number, 1, 1)
        results.append(input.slice(ranges.reshape(-1, 3), dropped, input.layout[1:]))
    return results[0] if len(results) == 1 else tuple(results)


def _rearranged_shapes(call: Call) -> Shapes:
    orders = call["new_order"].shape_array()
    return with_extents(call.input.shapes, 0, orders[:, 0])


@op(result=Result(shape=_rearranged_shapes))
def sequence_rearrange(input: Samples, /, *, new_order: IntListsPerSample) -> Samples:
    """Put the frames of sequences into another order; frames may be repeated or left out.

    Parameters
    ----------
    input
        Sequences; their layout, if they have one, begins with "F".
    new_order
        The numbers of the frames of the result, for all samples or one list for each.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.sequence_rearrange([[1], [2], [3]], new_order=[2, 0, 0]).torch().tolist()
    [[3], [1], [1]]
    """
    _check_sequence(input)
    lengths = input.shape_array()[:, 0]
    starts = np.cumsum(lengths) - lengths
    orders = [to_numpy(new_order, i) for i in range(len(new_order))]
    if len(orders) == 1:
        orders *= len(input)
    for sample, order in enumerate(orders):
        if order.size == 0:
            msg = f"'new_order' must name at least one frame; got [] (sample {sample})."
            raise ValueError(msg)
        if order.min() < 0 or order.max() >= lengths[sample]:
            msg = (
                f"'new_order' must hold numbers of frames, 0 to {lengths[sample] - 1}; "
                f"got {order.tolist()} (sample {sample})."
            )
            raise ValueError(msg)
    if not orders:
        return input
    frames = np.concatenate([order + start for order, start in zip(orders, starts, strict=True)])
    chosen = input.unfold().select(frames.tolist()).copy()
    return chosen.fold([order.size for order in orders], input.layout)


def _sequence_layout(layout: str, ndim: int) -> str:
    return "F" + (layout[1:] if layout else "*" * (ndim - 1))


@op(
    strided=True,
    result=Result(
        layout=lambda call: _sequence_layout(call.input.layout, call.input.ndim), shape="input"
    ),
)
def per_frame(input: Samples, /, *, replace: bool = False) -> Samples:
    """Mark arrays as sequences, for arguments that differ from frame to frame.

    The first letter of the layout becomes "F"; the data stay as they are.

    Parameters
    ----------
    input
        Values whose first axis is that of the frames.
    replace
        Replace the first letter of a layout that is not "F"; otherwise that is an error.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.per_frame(ndd.tensor([[0.5, 1.0], [2.0, 3.0]])).layout
    'F*'
    """
    layout = input.layout
    if input.ndim == 0:
        msg = "a single number cannot be a sequence."
        raise ValueError(msg)
    if layout and layout[0] != "F" and not replace:
        msg = f"the layout must begin with 'F'; got {layout!r}. Pass replace=True to change it."
        raise ValueError(msg)
    return input.with_layout(_sequence_layout(layout, input.ndim))
