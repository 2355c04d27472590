# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import daliesque as ndd


@pytest.fixture(autouse=True)
def fresh_random_state() -> Iterator[None]:
    """Each test starts with the same default generator and leaves nothing behind."""
    ndd.random.set_seed(42)
    yield
    ndd.EvalContext.current().evaluate_all()
