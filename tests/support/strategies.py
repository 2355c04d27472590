# SPDX-License-Identifier: Apache-2.0
"""Strategies of Hypothesis that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

TYPES = ["uint8", "int16", "uint32", "int64", "float16", "float32", "float64", "bool"]
coordinates = st.floats(0, 1, width=32)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


@st.composite
def box_tables(draw: Any, least: int = 0) -> Any:
    """Boxes (left, top, right, bottom) that have an area."""
    count = draw(st.integers(least, 6))
    raw = draw(hnp.arrays(np.float32, (count, 2, 2), elements=coordinates))
    corners = np.sort(raw, axis=1)
    corners[:, 1] = np.minimum(corners[:, 1] + np.float32(0.05), 1)
    corners[:, 0] = np.minimum(corners[:, 0], corners[:, 1] - np.float32(0.04))
    return corners.reshape(count, 4)


@st.composite
def arrays(draw: Any, shape: Any = shapes) -> Any:
    dtype = draw(st.sampled_from(TYPES))
    extents = draw(shape) if isinstance(shape, st.SearchStrategy) else shape
    count = int(np.prod(extents))
    return (np.arange(count) * 7 % 100).astype(dtype).reshape(extents)
