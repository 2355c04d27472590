# SPDX-License-Identifier: Apache-2.0
"""Colors of raw images from sensors."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import IntsPerFrame
from .._engine.dtype import from_code, uint8, uint16
from .._engine.errors import join_names
from .._engine.metadata import Call, Result, Shapes
from .._engine.op import Samples, op

Demosaic: TypeAlias = _kernels.Demosaic
_ALGORITHMS = {
    "bilinear_ocv": Demosaic.bilinear,
    "edgeaware_ocv": Demosaic.edge_aware,
    "vng_ocv": Demosaic.variable_gradients,
    "gray_ocv": Demosaic.gray,
}


def _colored_shapes(call: Call) -> Shapes:
    channels = 1 if call["algorithm"].lower() == "gray_ocv" else 3
    return np.insert(call.input.shapes[:, :2], 2, channels, axis=1)


@op(
    layouts="HW HWC FHW FHWC",
    dtypes=(uint8, uint16),
    sequences=True,
    result=Result(ndim=3, layout="HWC", shape=_colored_shapes),
    weight=4,
)
def debayer(
    input: Samples,
    /,
    *,
    blue_position: IntsPerFrame,
    algorithm: str = "bilinear_ocv",
) -> Samples:
    """Make colors of raw images, in which each pixel has one.

    Such images have one channel; in tiles of 2x2 pixels one is red, two are green and one is blue.
    The result has the layout HWC, or FHWC for sequences.

    Parameters
    ----------
    blue_position
        Row and column of the blue pixel in the tile that begins in the second row and column:
        (0, 0) for BGGR, (0, 1) for GBRG, (1, 0) for GRBG, (1, 1) for RGGB in OpenCV's names.
    algorithm
        "bilinear_ocv" takes means of neighbors. "edgeaware_ocv" does not mean across edges when it
        makes green. "vng_ocv" (uint8 only) follows the directions of small gradients. "gray_ocv"
        makes a gray image by bilinear interpolation.

    Examples
    --------
    >>> raw = ndd.tensor(np.full((4, 4), 100, np.uint8), layout="HW")
    >>> ndd.debayer(raw, blue_position=[0, 0]).shape
    (4, 4, 3)
    """
    demosaic = _ALGORITHMS.get(algorithm.lower())
    if demosaic is None:
        msg = f"'algorithm' must be {join_names(_ALGORITHMS)}; got {algorithm!r}."
        raise ValueError(msg)
    if demosaic == Demosaic.variable_gradients and from_code(input.type_id) != uint8:
        msg = "'algorithm' can be 'vng_ocv' for uint8 only; got uint16."
        raise ValueError(msg)
    _check_images(input)
    shapes = np.empty((len(input), 3), np.int64)
    shapes[:, :2] = input.shape_array()[:, :2]
    shapes[:, 2] = 1 if demosaic == Demosaic.gray else 3
    out = input.kernels.empty(input.type_id, shapes, "HWC", len(input))
    input.kernels.debayer(out, input, _pairs(blue_position), demosaic)
    return out


def _check_images(input: Samples) -> None:
    for sample, shape in enumerate(input.shapes):
        if len(shape) == 3 and shape[2] != 1:
            msg = (
                f"images must have one channel; got the shape {shape} (sample {sample}). Sequences "
                'need the layout "FHW".'
            )
            raise ValueError(msg)
        if shape[0] % 2 or shape[1] % 2:
            msg = f"height and width must be even; got the shape {shape} (sample {sample})."
            raise ValueError(msg)


def _pairs(blue_position: NDArray[Any]) -> NDArray[np.int32]:
    if len(blue_position) and blue_position.shape[1] not in (1, 2):
        msg = f"'blue_position' needs two values (row, column); got {blue_position[0].tolist()}."
        raise ValueError(msg)
    if len(blue_position) == 0:
        return np.zeros((0, 2), np.int32)
    pairs = np.ascontiguousarray(np.broadcast_to(blue_position, (len(blue_position), 2)), np.int32)
    good = (pairs == 0) | (pairs == 1)
    if not good.all():
        sample = int(np.argmin(good.all(axis=1)))
        msg = f"'blue_position' must be 0 or 1; got {pairs[sample].tolist()} (sample {sample})."
        raise ValueError(msg)
    return pairs
