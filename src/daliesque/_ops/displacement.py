# SPDX-License-Identifier: Apache-2.0
"""Images seen through glass and water, shaken ones and bent ones."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from .._engine.args import FloatPerSample, IntPerSample
from .._engine.convert import cast_samples
from .._engine.dtype import float32
from .._engine.enums import DALIInterpType
from .._engine.metadata import Result
from .._engine.op import RandomState, Samples, op
from .._engine.samples import HostSamples, Kernels
from .._shapes.draws import Floats, Integers, as_rows, sequences, uniform_rows
from .._shapes.windows import Border
from .warp import LINEAR, NEAREST, WARP_INTERP, check_not_empty

_MOST_STEPS = 1024


def _filter(interp: DALIInterpType) -> _kernels.WarpInterp:
    if interp not in (NEAREST, LINEAR):
        msg = f"'interp_type' must be INTERP_NN or INTERP_LINEAR; got {interp.name}."
        raise ValueError(msg)
    return WARP_INTERP[interp]


@op(layouts="HWC", sequences=True, result=Result(shape="input"))
def sphere(
    input: Samples,
    /,
    *,
    mask: IntPerSample = 1,
    interp_type: DALIInterpType = NEAREST,
    fill_value: float = 0.0,
) -> Samples:
    """Show images as if through a glass ball.

    Parameters
    ----------
    mask
        0 leaves a sample as it is.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    fill_value
        What lies outside the image.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor(np.arange(25).reshape(5, 5, 1), layout="HWC")
    >>> ndd.sphere(image).torch()[2].flatten().tolist()
    [10, 12, 12, 13, 14]
    """
    return input.kernels.sphere(input, mask, _filter(interp_type), fill_value)


@op(layouts="HWC", sequences=True, result=Result(shape="input"))
def water(
    input: Samples,
    /,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    freq_x: float = 2 * math.pi / 128,
    freq_y: float = 2 * math.pi / 128,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    mask: IntPerSample = 1,
    interp_type: DALIInterpType = NEAREST,
    fill_value: float = 0.0,
) -> Samples:
    """Show images as if through waves on water.

    The pixel at (x, y) comes from ``x + ampl_x * sin(freq_x * y + phase_x)``,
    ``y + ampl_y * cos(freq_y * x + phase_y)``.

    Parameters
    ----------
    ampl_x, ampl_y
        Height of the waves, in pixels.
    freq_x, freq_y
        Their frequency, in radians per pixel.
    phase_x, phase_y
        Their phase in the first row or column, in radians.
    mask
        0 leaves a sample as it is.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    fill_value
        What lies outside the image.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> ndd.water(image, ampl_x=1, phase_x=1.6, ampl_y=0).torch().flatten().tolist()
    [1, 2, 3]
    """
    return input.kernels.water(
        input,
        mask,
        _filter(interp_type),
        fill_value,
        [ampl_x, freq_x, phase_x],
        [ampl_y, freq_y, phase_y],
    )


@op(layouts="HWC", sequences=True, result=Result(shape="input"))
def jitter(
    input: Samples,
    /,
    *,
    nDegree: int = 2,
    mask: IntPerSample = 1,
    interp_type: DALIInterpType = NEAREST,
    fill_value: float = 0.0,
    rng: RandomState,
) -> Samples:
    """Take each pixel from a random position nearby.

    Parameters
    ----------
    nDegree
        Displacements are one of this many neighboring whole numbers, `-(nDegree // 2)` the lowest.
    mask
        0 leaves a sample as it is.
    interp_type
        Has no effect: displacements are whole pixels.
    fill_value
        Has no effect: positions outside are moved to the border.
    rng
        The generator to draw from.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor(np.full((4, 4, 3), 7, np.uint8), layout="HWC")
    >>> bool((ndd.jitter(image, nDegree=3).torch() == 7).all())
    True
    """
    _filter(interp_type)
    del fill_value
    if nDegree < 1:
        msg = f"'nDegree' must be positive; got {nDegree}."
        raise ValueError(msg)
    return input.kernels.jitter(input, rng, mask, nDegree)


def _border(input: Samples, fill_value: float | None) -> tuple[Border, list[float]]:
    """What lies outside of images of unchanged size."""
    if fill_value is not None:
        return Border.constant, [fill_value]
    check_not_empty(input, input.shape_array()[:, :2])
    return Border.clamp, [0.0]


def elastic_flow(kernels: Kernels, sizes: Integers, sigma: Floats, rng: RandomState) -> Samples:
    """Random displacements (x, y) from -1 to 1 of the pixels of images, smoothed."""
    shapes = np.concatenate([sizes, np.full((len(sizes), 1), 2)], axis=1)
    noise = kernels.empty(float32.code, shapes, "HWC", len(sizes))
    kernels.uniform(noise, rng, np.array([[-1, 1]], np.float32))
    window = np.zeros((1, 1), np.int32)
    return kernels.gaussian_blur(noise, float32.code, (0, 2, True), sigma[:, None].copy(), window)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"), weight=8)
def elastic_transform(
    input: Samples,
    flow: Samples | None = None,
    /,
    *,
    alpha: FloatPerSample = 50.0,
    sigma: FloatPerSample = 5.0,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Bend images as if they were drawn on rubber.

    Each pixel comes from a position nearby. Displacements are random numbers from -1 to 1, smoothed
    by a Gaussian window and multiplied.

    Parameters
    ----------
    flow
        The displacements, instead of random ones: an array (height, width, 2) with x and y in
        pixels. `alpha` and `sigma` are without effect then.
    alpha
        What displacements are multiplied by, in pixels.
    sigma
        Standard deviation of the window, in pixels: the larger, the smoother.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [2], [3]]], np.uint8), layout="HWC")
    >>> to_the_right = np.array([[[1, 0], [1, 0], [1, 0]]], np.float32)
    >>> ndd.elastic_transform(image, to_the_right, fill_value=9).torch().flatten().tolist()
    [2, 3, 9]
    """
    border, fill = _border(input, fill_value)
    sizes = input.shape_array()[:, :2]
    flow, scale = elastic_displacements(input.kernels, sizes, flow, alpha, sigma, rng, frame_counts)
    return input.kernels.warp_flow(input, flow, scale, _filter(interp_type), border, fill)


def elastic_displacements(
    kernels: Kernels,
    sizes: Integers,
    flow: Samples | None,
    alpha: Floats,
    sigma: Floats,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> tuple[Samples, Floats]:
    """The displacements of elastic_transform, given or random, and what they are multiplied by."""
    if flow is not None:
        flow = cast_samples(flow, float32)
        _check_flow(flow, sizes)
        return flow, np.ones(1, np.float32)
    if not ((sigma > 0) & (sigma <= 1e6)).all():
        sample = int(np.argmin((sigma > 0) & (sigma <= 1e6)))
        msg = f"'sigma' must be positive; got {float(sigma[sample]):g} (sample {sample})."
        raise ValueError(msg)
    count, owner = sequences(frame_counts, len(sizes))
    first = np.unique(owner, return_index=True)[1] if count else owner
    own = sigma if len(sigma) == 1 else sigma[first]
    drawn = elastic_flow(kernels, sizes[first], own, rng)
    return drawn if len(drawn) == len(sizes) else drawn.select(_positions(owner)), alpha


def _positions(owner: Integers) -> list[int]:
    """For each frame, which of the sequences that have frames it belongs to."""
    found: list[int] = np.unique(owner, return_inverse=True)[1].tolist()
    return found


def _check_flow(flow: Samples, sizes: Integers) -> None:
    for sample, (shape, size) in enumerate(zip(flow.shapes, sizes.tolist(), strict=True)):
        if shape != (*size, 2):
            msg = f"'flow' needs the shape {(*size, 2)}; got {shape} (sample {sample})."
            raise ValueError(msg)


def distorted_nodes(sizes: Integers, limit: Floats, numbers: Floats, steps: int) -> Floats:
    """Nodes of a grid, (N, steps + 1, steps + 1, 2): where in the input each lies, as (x, y).

    The cells of the grid have random extents there; `numbers` has 2 * steps uniform ones for each
    sample.
    """
    lengths = 1 + limit[:, None] * (2 * numbers - 1)
    positions = []
    for axis, part in ((1, lengths[:, :steps]), (0, lengths[:, steps:])):
        ends = np.cumsum(part, axis=1)
        ends = np.concatenate([np.zeros((len(part), 1)), ends / ends[:, -1:]], axis=1)
        positions.append(ends * sizes[:, axis, None])
    shape = (len(sizes), steps + 1, steps + 1)
    x = np.broadcast_to(positions[0][:, None, :], shape)
    y = np.broadcast_to(positions[1][:, :, None], shape)
    return np.stack([x, y], axis=-1).astype(np.float32)


@op(layouts="HWC FHWC", sequences=True, result=Result(shape="input"))
def grid_distortion(
    input: Samples,
    nodes: HostSamples | None = None,
    /,
    *,
    num_steps: int = 5,
    distort_limit: FloatPerSample = 0.3,
    fill_value: float | None = None,
    interp_type: DALIInterpType = LINEAR,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Stretch and shrink the cells of a grid over images.

    Parameters
    ----------
    nodes
        The grid, instead of a random one: an array (rows, columns, 2), at least 2 each. Nodes lie
        evenly over the result, from corner to corner; their values say where in the input, x and y
        in pixels. `num_steps` and `distort_limit` are without effect then.
    num_steps
        How many cells there are along each axis.
    distort_limit
        By how much cells are longer or shorter at most, as a fraction; at least 0 and less than 1.
    fill_value
        What lies outside the input. By default its border pixels repeat for ever.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`.
    rng
        The generator to draw from.

    Examples
    --------
    >>> image = ndd.tensor(np.array([[[1], [2], [3]]], np.uint8), layout="HWC")
    >>> mirrored = np.array([[[3, 0], [0, 0]], [[3, 1], [0, 1]]], np.float32)
    >>> ndd.grid_distortion(image, mirrored).torch().flatten().tolist()
    [3, 2, 1]
    """
    border, fill = _border(input, fill_value)
    sizes = input.shape_array()[:, :2]
    grid = grid_nodes(sizes, nodes, num_steps, distort_limit, rng, frame_counts)
    return input.kernels.warp_grid(input, grid, _filter(interp_type), border, fill)


def grid_nodes(
    sizes: Integers,
    nodes: HostSamples | None,
    num_steps: int,
    distort_limit: Floats,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> HostSamples:
    """The nodes of grid_distortion, given or random."""
    if nodes is not None:
        grid = cast_samples(nodes, float32)
        for sample, shape in enumerate(grid.shapes):
            if len(shape) != 3 or min(shape[:2]) < 2 or shape[2] != 2:
                msg = f"'nodes' needs the shape (rows, columns, 2); got {shape} (sample {sample})."
                raise ValueError(msg)
        return grid
    if not 1 <= num_steps <= _MOST_STEPS:
        msg = f"'num_steps' must be between 1 and {_MOST_STEPS}; got {num_steps}."
        raise ValueError(msg)
    good = (distort_limit >= 0) & (distort_limit < 1)
    if not good.all():
        sample = int(np.argmin(good))
        value = float(distort_limit[sample])
        msg = (
            f"'distort_limit' must be at least 0 and less than 1; got {value:g} (sample {sample})."
        )
        raise ValueError(msg)
    count, owner = sequences(frame_counts, len(sizes))
    numbers = uniform_rows(rng, count, 2 * num_steps)[owner]
    return as_rows(distorted_nodes(sizes, distort_limit, numbers, num_steps), "grid")
