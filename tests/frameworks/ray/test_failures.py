# SPDX-License-Identifier: Apache-2.0
"""Machines and processes that fail in the middle of an epoch: rows, order and bytes stay."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
import ray.data
from ray.cluster_utils import Cluster

import daliesque as ndd
import daliesque.ray as ndr
from support.ray_data import KilledOnce, Logged, Slow, augment, digest

SAMPLES = 120
TESTS = str(Path(__file__).parents[2])
NODE = {"num_cpus": 1, "object_store_memory": 100 << 20}


@pytest.fixture(scope="module")
def nodes() -> Iterator[Cluster]:
    """A machine for the driver, which runs no tasks, and one with a CPU."""
    ray.shutdown()
    cluster = Cluster(
        initialize_head=True,
        head_node_args={**NODE, "num_cpus": 1, "include_dashboard": False},
    )
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": TESTS, "OMP_NUM_THREADS": "1"}},
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True
    yield cluster
    context.execution_options.preserve_order = False
    ray.shutdown()
    cluster.shutdown()


def read(body: Any = augment) -> Any:
    return ndr.read(
        Slow,
        samples=SAMPLES,
        batch_size=4,
        transform=body,
        seed=9,
        shuffle=True,
        num_cpus=1,
        shards=6,
    )


def contents(table: Any) -> list[tuple[str, ...]]:
    columns = [table["source"].to_pylist()]
    columns += [list(ndd.as_batch(table[name])) for name in ("image", "label", "noise")]
    return [
        (row["file"], str(row["row"]), *(digest(value) for value in values))
        for row, *values in zip(*columns, strict=True)
    ]


def rows_of(batches: Any) -> list[tuple[str, ...]]:
    rows = []
    for table in batches:
        rows += contents(table)
    return rows


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    msg = "it never happened"
    raise AssertionError(msg)


def batches_of(dataset: Any) -> Any:
    return dataset.iter_batches(batch_size=4, batch_format="pyarrow", prefetch_batches=0)


@pytest.fixture(scope="module")
def expected(nodes: Cluster) -> list[tuple[str, ...]]:
    """The rows of an undisturbed epoch."""
    assert nodes.head_node is not None
    rows = rows_of(batches_of(read()))
    assert len(set(rows)) == SAMPLES
    assert [int(row[1]) for row in rows] == list(range(SAMPLES))
    return rows


def test_a_machine_is_removed(
    nodes: Cluster, expected: list[tuple[str, ...]], tmp_path: Path
) -> None:
    node = nodes.add_node(**NODE)
    nodes.wait_for_nodes()
    assert ray.cluster_resources()["CPU"] == 2
    dataset = read(Logged(augment, str(tmp_path)))
    for file in tmp_path.iterdir():
        # Where the first batch was made to look at it.
        file.unlink()
    batches = iter(batches_of(dataset))
    rows = contents(next(batches))
    # It is at work, and has yet more to do.
    wait_until(lambda: (tmp_path / node.node_id).exists())
    nodes.remove_node(node, allow_graceful=False)
    rows += rows_of(batches)
    assert rows == expected
    assert len(nodes.list_all_nodes()) == 1


def test_a_process_is_killed(
    nodes: Cluster, expected: list[tuple[str, ...]], tmp_path: Path
) -> None:
    assert nodes.head_node is not None
    flag = tmp_path / "killed"
    dataset = read(KilledOnce(augment, str(flag), 77))
    if flag.exists():
        # The sample was in the first batch, which is made to look at it.
        os.remove(flag)
    assert rows_of(batches_of(dataset)) == expected
    assert flag.exists()
