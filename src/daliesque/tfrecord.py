# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the features of TFRecord files."""

from ._public import publish as _publish
from ._readers.sources.features import (
    Feature,
    FixedLenFeature,
    VarLenFeature,
    float32,
    int64,
    string,
)

__all__ = ["Feature", "FixedLenFeature", "VarLenFeature", "float32", "int64", "string"]

_publish(globals())
