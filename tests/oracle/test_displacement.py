# SPDX-License-Identifier: Apache-2.0
"""sphere and water give what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Array, Each
from support.oracle import assert_agree, assert_nearly_agree

pytestmark = pytest.mark.oracle

WAVES = {"ampl_x": 5, "ampl_y": 2.5, "freq_x": 0.2, "freq_y": 0.4, "phase_x": 1, "phase_y": 2}


def images(dtype: str) -> list[Array]:
    rng = np.random.default_rng(0)
    shapes = ((31, 70, 3), (90, 20, 3), (300, 301, 3))
    return [rng.integers(0, 256, shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("operator", ["sphere", "water"])
@pytest.mark.parametrize("dtype", ["u1", "f4"])
def test_displacements(operator: str, dtype: str) -> None:
    samples = images(dtype)
    mask = Each([np.int32(flag) for flag in (1, 0, 1)])
    variants: list[dict[str, Any]] = [{}, {"fill_value": 7}, {"mask": mask}]
    for arguments in variants + ([WAVES] if operator == "water" else []):
        assert_agree(operator, samples, layout="HWC", **arguments)
        assert_nearly_agree(operator, samples, layout="HWC", interp_type=1, **arguments)
