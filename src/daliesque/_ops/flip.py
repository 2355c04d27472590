# SPDX-License-Identifier: Apache-2.0
"""Geometric transformations of images."""

from __future__ import annotations

from .._engine.args import IntPerSample
from .._engine.metadata import Result
from .._engine.op import Samples, op


@op(
    layouts="FDHWC FHWC DHWC HWC FCDHW FCHW CDHW CHW CFDHW CFHW",
    result=Result(shape="input"),
    by_sample=True,
)
def flip(
    input: Samples,
    /,
    *,
    horizontal: IntPerSample = 1,
    vertical: IntPerSample = 0,
    depthwise: IntPerSample = 0,
) -> Samples:
    """Mirror images, sequences or volumes.

    Parameters
    ----------
    horizontal, vertical, depthwise
        Not zero: reverse the width, height or depth axis. An axis that the input does not have is
        left out.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.tensor([[[1], [2], [3]]], layout="HWC")
    >>> ndd.flip(image).torch().flatten().tolist()
    [3, 2, 1]
    """
    return input.kernels.flip(input, horizontal, vertical, depthwise)
