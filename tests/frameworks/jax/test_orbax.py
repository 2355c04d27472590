# SPDX-License-Identifier: Apache-2.0
"""Orbax saves an iterator with the parameters of a model, and restores both."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import orbax.checkpoint.experimental.v1 as ocp_v1
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import daliesque as ndd
from support.jax_data import Counted, body

MESH = Mesh(np.array(jax.devices()), ("data",))
SHARDING = NamedSharding(MESH, PartitionSpec("data"))
STEPS = 8


def make(epochs: int = 2) -> Any:
    return ndd.jax.iterate(
        Counted(), body, batch_size=8, sharding=SHARDING, shuffle=True, seed=2, epochs=epochs
    )


@jax.jit
def step(weights: Any, batch: Any) -> Any:
    """One step of a training."""
    features = batch["image"].mean(axis=(1, 2, 3)) / 40 + batch["noise"][:, 0]

    def loss(weights: Any) -> Any:
        return jnp.mean((features * weights[0] + weights[1] - batch["label"] / 40) ** 2)

    value, gradient = jax.value_and_grad(loss)(weights)
    return weights - 0.1 * gradient, value


def train(batches: Any, weights: Any, steps: int) -> tuple[Any, list[float]]:
    losses = []
    for _ in range(steps):
        weights, loss = step(weights, next(batches))
        losses.append(float(loss))
    return weights, losses


@pytest.mark.parametrize("done", range(STEPS + 1))
def test_a_training_is_resumed_exactly(done: int, tmp_path: Path) -> None:
    zeros = jax.device_put(jnp.zeros(2), NamedSharding(MESH, PartitionSpec()))
    _, expected = train(make(), zeros, STEPS)
    assert len(set(expected)) == STEPS
    batches = make()
    weights, losses = train(batches, zeros, done)
    ocp_v1.save_checkpointables(tmp_path / "step", {"weights": {"w": weights}, "batches": batches})
    again = make()
    loaded = ocp_v1.load_checkpointables(
        tmp_path / "step", {"weights": {"w": zeros}, "batches": again}
    )
    assert again.get_state() == batches.get_state()
    _, rest = train(again, loaded["weights"]["w"], STEPS - done)
    assert losses + rest == expected


def test_the_state_is_that_of_the_call(tmp_path: Path) -> None:
    """What is delivered while Orbax writes in the background does not count."""
    batches = make()
    next(batches)
    state = batches.get_state()
    response = ocp_v1.save_checkpointables_async(tmp_path / "step", {"batches": batches})
    next(batches)
    response.result()
    again = make()
    ocp_v1.load_checkpointables(tmp_path / "step", {"batches": again})
    assert again.get_state() == state


def test_files_of_another_number_of_processes(tmp_path: Path) -> None:
    batches = make()
    next(batches)
    ocp_v1.save_checkpointables(tmp_path / "step", {"batches": batches})
    (file,) = (tmp_path / "step" / "batches").iterdir()
    assert file.name == "process_0-of-1.json"
    file.rename(file.with_name("process_3-of-4.json"))
    again = make()
    ocp_v1.load_checkpointables(tmp_path / "step", {"batches": again})
    assert again.get_state() == batches.get_state()
    file.with_name("process_3-of-4.json").rename(file.with_name("other.json"))

    async def load() -> None:
        await (await again.load(tmp_path / "step" / "batches"))

    with pytest.raises(ValueError, match="there is no state of an iterator"):
        asyncio.run(load())


def test_states_are_items_of_the_older_interface(tmp_path: Path) -> None:
    batches = make()
    next(batches)
    with ocp.CheckpointManager(tmp_path) as manager:
        manager.save(
            1,
            args=ocp.args.Composite(
                weights=ocp.args.StandardSave({"w": jnp.ones(3)}),
                batches=ocp.args.JsonSave(batches.get_state()),
            ),
        )
        manager.wait_until_finished()
        restored = manager.restore(1, args=ocp.args.Composite(batches=ocp.args.JsonRestore()))
    again = make()
    again.set_state(restored["batches"])
    assert again.get_state() == batches.get_state()
