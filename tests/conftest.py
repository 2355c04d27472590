# SPDX-License-Identifier: Apache-2.0
"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

import daliesque as ndd

# The same examples in each run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def fresh_random_state() -> Iterator[None]:
    """Each test starts with the same default generator and leaves nothing behind."""
    ndd.random.set_seed(42)
    yield
    ndd.EvalContext.current().evaluate_all()
