# SPDX-License-Identifier: Apache-2.0
"""Artifacts of JPEG compression."""

from __future__ import annotations

import numpy as np

from .._engine.args import IntPerSample
from .._engine.dtype import uint8
from .._engine.enums import DALIImageType
from .._engine.metadata import Result
from .._engine.op import Samples, op


@op(layouts="HWC FHWC", dtypes=(uint8,), sequences=True, result=Result(shape="input"))
def jpeg_compression_distortion(input: Samples, /, *, quality: IntPerSample = 50) -> Samples:
    """Give RGB or gray images the artifacts of JPEG compression.

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

    Differs from DALI: gray images are accepted.
    """
    channels = input.shape_array()[:, -1]
    wrong = (channels != channels[:1]) | ((channels != 1) & (channels != 3))
    if wrong.any():
        sample = int(np.argmax(wrong))
        msg = (
            "the input must be RGB or gray images, all of a batch alike; "
            f"got {channels[sample]} channels (sample {sample})."
        )
        raise ValueError(msg)
    if len(channels) == 0 or channels[0] == 3:
        return input.kernels.jpeg_distortion(input, quality)
    colors = input.kernels.convert_color_space(input, DALIImageType.RGB, DALIImageType.GRAY)
    colors = input.kernels.jpeg_distortion(colors, quality)
    return input.kernels.convert_color_space(colors, DALIImageType.GRAY, DALIImageType.RGB)
