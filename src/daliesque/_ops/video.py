# SPDX-License-Identifier: Apache-2.0
"""Operators on the frames of sequences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import IntListsPerSample
from .._engine.convert import to_numpy
from .._engine.dtype import NUMERIC, float32
from .._engine.enums import DALIImageType
from .._engine.metadata import Call, Result, Shapes, with_extents
from .._engine.op import HostSamples, Samples, op
from .._engine.outputs import OnePer
from .._engine.threads import run_on_threads
from .._shapes import dense_flow


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


# Searching flow takes this many times longer than copying the frames.
_FLOW_WEIGHT = 500
_OUTPUT_GRIDS = (1, 2, 4)
_HINT_GRIDS = (1, 2, 4, 8)


def _flow_shapes(call: Call) -> Shapes:
    grid = call["output_format"] if call.has("output_format") else call["output_grid"]
    return _flow_shapes_of(call.input.shapes, grid)


def _flow_shapes_of(shapes: Shapes, grid: int) -> Shapes:
    found = shapes.copy()
    found[:, 0] -= 1
    found[:, 1:3] = -(-found[:, 1:3] // grid)
    found[:, 3] = 2
    return found


@op(
    layouts="FHWC",
    dtypes=NUMERIC,
    result=Result(dtype=float32, ndim=4, layout="FHWC", shape=_flow_shapes),
    weight=_FLOW_WEIGHT,
)
def optical_flow(
    input_0: HostSamples,
    input_1: HostSamples | None = None,
    /,
    *,
    preset: float = 0.0,
    output_grid: int = 4,
    hint_grid: int = 4,
    enable_temporal_hints: bool = False,
    enable_external_hints: bool = False,
    image_type: DALIImageType = DALIImageType.RGB,
    output_format: int | None = None,
) -> HostSamples:
    """Find where each pixel of a frame was in the frame before.

    The result has one field less than the input has frames, with two channels: field i holds the
    offsets (x, y), in pixels of the input, from pixels of frame i + 1 to the same things in frame
    i. What has moved by 3 pixels to the right has the flow (-3, 0).

    The reference uses hardware of NVIDIA GPUs and runs nowhere else. Here flow is searched by
    "dense inverse search" on the CPU, so values are similar, not the same. Needs OpenCV:
    `pip install daliesque[flow]`.

    Parameters
    ----------
    input_0
        Sequences of at least two frames with one or three channels. Values of other types than
        uint8 may have any range: they are stretched.
    input_1
        Hints, used with `enable_external_hints`: a guess of the flow of each frame with the layout
        "FHWC", one vector for each cell of `hint_grid`. There are as many as frames, of which the
        first is not used, or one less.
    preset
        From 0 (best) by 0.5 to 1 (fastest).
    output_grid
        Side of the cells for which there is one vector each, their mean: 1, 2 or 4 pixels.
    hint_grid
        Side of the cells of hints: 1, 2, 4 or 8 pixels.
    enable_temporal_hints
        Begin the search with the flow between the two frames before, which helps if motion is fast
        and steady.
    enable_external_hints
        Begin the search with the hints.
    image_type
        Order of three channels: RGB or BGR; GRAY for one channel.
    output_format
        Old name of `output_grid`.

    Examples
    --------
    >>> dots = np.random.default_rng(0).integers(0, 256, (20, 30, 1), np.uint8)
    >>> first = ndd.resize(ndd.tensor(dots, layout="HWC"), size=[80, 120])
    >>> second = ndd.warp_affine(first, matrix=[1, 0, -3, 0, 1, 0])
    >>> video = ndd.stack(first, second, axis_name="F")
    >>> flow = np.asarray(ndd.optical_flow(video))
    >>> flow.shape, flow[0, 10, 15].round().astype(int).tolist()
    ((1, 20, 30, 2), [-3, 0])
    """
    grid = output_grid if output_format is None else output_format
    _check_flow_arguments(preset, grid, hint_grid)
    hints = input_1 if enable_external_hints else None
    if enable_external_hints and input_1 is None:
        msg = "'enable_external_hints' needs a second input, the hints."
        raise ValueError(msg)
    _check_flow_frames(input_0, image_type)
    if hints is not None:
        _check_flow_hints(input_0, hints, hint_grid)
    shapes = input_0.shape_array()
    out = _kernels.empty(float32.code, _flow_shapes_of(shapes, grid), "FHWC", len(input_0))
    if len(input_0) == 0:
        return out
    dense_flow.opencv()
    search = _FlowSearch(input_0, hints, out, image_type.name, _preset(preset), grid, hint_grid)
    run_on_threads(search.prepare, range(len(input_0)))
    if enable_temporal_hints:
        run_on_threads(search.follow, range(len(input_0)))
    else:
        pairs = [(i, field) for i, count in enumerate(shapes[:, 0]) for field in range(count - 1)]
        run_on_threads(search.find, pairs)
    return out


class _FlowSearch:
    """The search for the flow of a batch, which threads share."""

    def __init__(
        self,
        frames: HostSamples,
        hints: HostSamples | None,
        out: HostSamples,
        order: str,
        preset: dense_flow.Preset,
        grid: int,
        hint_grid: int,
    ) -> None:
        self._frames = [to_numpy(frames, i) for i in range(len(frames))]
        self._hints = None if hints is None else [to_numpy(hints, i) for i in range(len(hints))]
        self._out = [to_numpy(out, i) for i in range(len(out))]
        self._order = order
        self._preset = preset
        self._grid = grid
        self._hint_grid = hint_grid

    def prepare(self, sample: int) -> None:
        """Make a sequence gray."""
        self._frames[sample] = dense_flow.gray_frames(self._frames[sample], self._order)

    def find(self, number: tuple[int, int]) -> None:
        """Write a field: number (sample, field)."""
        self._write(*number, None)

    def _write(self, sample: int, field: int, previous: NDArray[Any] | None) -> NDArray[Any]:
        """Write a field of a sample; returns it with a vector for each pixel."""
        frames = self._frames[sample]
        start = previous
        if self._hints is not None:
            hints = self._hints[sample]
            hint = hints[field + len(hints) - len(frames) + 1]
            start = dense_flow.enlarged(hint, self._hint_grid, *frames.shape[1:])
        flow = dense_flow.find_flow(frames[field + 1], frames[field], self._preset, start)
        self._out[sample][field] = dense_flow.reduced(flow, self._grid)
        return flow

    def follow(self, sample: int) -> None:
        """Write all fields of a sample, each with the one before as a hint."""
        flow = None
        for field in range(len(self._frames[sample]) - 1):
            flow = self._write(sample, field, flow)


def _preset(preset: float) -> dense_flow.Preset:
    if preset < 0.375:
        return dense_flow.BEST
    return dense_flow.MEDIUM if preset < 0.75 else dense_flow.FAST


def _check_flow_arguments(preset: float, grid: int, hint_grid: int) -> None:
    if not 0 <= preset <= 1:
        msg = f"'preset' must lie in [0, 1]; got {preset:g}."
        raise ValueError(msg)
    for name, value, allowed in (
        ("output_grid", grid, _OUTPUT_GRIDS),
        ("hint_grid", hint_grid, _HINT_GRIDS),
    ):
        if value not in allowed:
            names = ", ".join(map(str, allowed[:-1]))
            msg = f"'{name}' must be {names} or {allowed[-1]}; got {value}."
            raise ValueError(msg)


def _check_flow_frames(frames: Samples, image_type: DALIImageType) -> None:
    if image_type not in (DALIImageType.RGB, DALIImageType.BGR, DALIImageType.GRAY):
        msg = f"'image_type' must be RGB, BGR or GRAY; got {image_type.name}."
        raise ValueError(msg)
    channels = (1,) if image_type == DALIImageType.GRAY else (1, 3)
    for sample, shape in enumerate(frames.shapes):
        if shape[0] < 2 or shape[1] < 1 or shape[2] < 1:
            msg = f"sequences need at least two frames; got the shape {shape} (sample {sample})."
            raise ValueError(msg)
        if shape[3] not in channels:
            msg = (
                f"frames need {' or '.join(map(str, channels))} channels with "
                f"image_type={image_type.name}; got the shape {shape} (sample {sample})."
            )
            raise ValueError(msg)


def _check_flow_hints(frames: Samples, hints: Samples, grid: int) -> None:
    if hints.type_id != float32.code or hints.ndim != 4:
        msg = "hints must be float32 with the axes FHWC."
        raise ValueError(msg)
    for sample, shape in enumerate(frames.shapes):
        given = hints.shape(sample)
        wanted = (-(-shape[1] // grid), -(-shape[2] // grid), 2)
        if given[0] not in (shape[0], shape[0] - 1) or given[1:] != wanted:
            msg = (
                f"hints need the shape {(shape[0], *wanted)}, for cells of {grid} pixels; "
                f"got {given} (sample {sample})."
            )
            raise ValueError(msg)
