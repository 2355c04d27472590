# SPDX-License-Identifier: Apache-2.0
"""Warnings that Ray gives about itself are no faults of ours."""

from __future__ import annotations

import pytest

IGNORED = ("ignore::DeprecationWarning", "ignore::ray.util.annotations.RayDeprecationWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for warnings in IGNORED:
            item.add_marker(pytest.mark.filterwarnings(warnings))
