# SPDX-License-Identifier: Apache-2.0
"""Images seen through glass and water, and shaken ones."""

from __future__ import annotations

import math

from .. import _kernels
from .._engine.args import IntPerSample
from .._engine.enums import DALIInterpType
from .._engine.metadata import Result
from .._engine.op import RandomState, Samples, op
from .warp import LINEAR, NEAREST, WARP_INTERP


def _filter(interp: DALIInterpType) -> _kernels.WarpInterp:
    if interp not in (NEAREST, LINEAR):
        msg = f"'interp_type' must be INTERP_NN or INTERP_LINEAR; got {interp.name}."
        raise ValueError(msg)
    return WARP_INTERP[interp]


@op(layouts="HWC", result=Result(shape="input"))
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


@op(layouts="HWC", result=Result(shape="input"))
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


@op(layouts="HWC", result=Result(shape="input"))
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
