# SPDX-License-Identifier: Apache-2.0
"""Artifacts of JPEG compression."""

from __future__ import annotations

import numpy as np

from .._engine.args import (
    IntPerSample,
)
from .._engine.dtype import uint8
from .._engine.metadata import Result
from .._engine.op import Samples, op


@op(layouts="HWC FHWC", dtypes=(uint8,), sequences=True, result=Result(shape="input"))
def jpeg_compression_distortion(input: Samples, /, *, quality: IntPerSample = 50) -> Samples:
    """Give RGB images the artifacts of JPEG compression.

    Parameters
    ----------
    quality
        The quality setting of the compression, 1 to 100; other values are clamped.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor(np.full((8, 8, 3), 100, np.uint8), layout="HWC")
    >>> ndd.jpeg_compression_distortion(image, quality=1).torch().unique().tolist()
    [96]
    """
    shapes = input.shape_array()
    if (shapes[:, 2] != 3).any():
        sample = int(np.argmax(shapes[:, 2] != 3))
        msg = f"the input must be RGB images; got {shapes[sample, 2]} channels (sample {sample})."
        raise ValueError(msg)
    return input.kernels.jpeg_distortion(input, quality)
