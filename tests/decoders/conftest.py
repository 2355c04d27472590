# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

import pytest

from daliesque import _kernels


@pytest.fixture(params=["vector", "portable"])
def instruction_set(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a test with and without the vector code."""
    _kernels.set_simd_enabled(request.param == "vector")
    yield
    _kernels.set_simd_enabled(True)
