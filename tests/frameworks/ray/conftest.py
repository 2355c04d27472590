# SPDX-License-Identifier: Apache-2.0
"""A small cluster on this machine, and Ray's warnings about itself, which are no faults of ours."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import ray.data

IGNORED = ("ignore::DeprecationWarning", "ignore::ray.util.annotations.RayDeprecationWarning")
TESTS = str(Path(__file__).parents[2])
# Processes of Ray find what tests share.
ENVIRONMENT = {"env_vars": {"PYTHONPATH": TESTS, "OMP_NUM_THREADS": "1"}}
STORE = 200 << 20

os.environ["RAY_DEDUP_LOGS"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for warnings in IGNORED:
            item.add_marker(pytest.mark.filterwarnings(warnings))


@pytest.fixture(scope="module")
def cluster() -> None:
    """Two CPUs; the same cluster for all files of tests, until another one is needed."""
    if not ray.is_initialized():
        ray.init(
            address="local",
            num_cpus=2,
            object_store_memory=STORE,
            include_dashboard=False,
            log_to_driver=False,
            runtime_env=ENVIRONMENT,
        )
        ray.data.DataContext.get_current().enable_progress_bars = False


def pytest_sessionfinish() -> None:
    ray.shutdown()


@pytest.fixture
def ordered() -> Iterator[Any]:
    """Blocks come in the order of the tasks."""
    options = ray.data.DataContext.get_current().execution_options
    options.preserve_order = True
    yield options
    options.preserve_order = False
