# SPDX-License-Identifier: Apache-2.0
"""Data, a loop body and a program of several processes for the tests of `jax.iterate`.

    python jax_data.py COORDINATOR PROCESS PROCESSES DEVICES MESH SEED STATE

prints what each process gets, as JSON. MESH is "data" for one axis of all devices, or "replicas"
for parts of a batch that are repeated in all processes.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import numpy as np

import daliesque as ndd

SAMPLES = 37
GLOBAL_BATCH = 8


class Counted(ndd.readers.Reader):
    """Images whose pixels are the number of the sample, and a list of those that were read."""

    def __init__(self, samples: int = SAMPLES, **options: Any) -> None:
        super().__init__(**options)
        self._samples = samples
        self.read: list[int] = []

    def open_index(self) -> int:
        return self._samples

    def fetch_sample(self, number: int) -> Any:
        self.read.append(number)
        return np.full((6, 4, 3), number, np.uint8), np.int32(number)


def body(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    """A loop body with random numbers."""
    count = images.batch_size
    return {
        "image": ndd.cast(images, dtype=ndd.float32),
        "label": labels,
        "noise": ndd.random.uniform(range=(0, 1), shape=[2], batch_size=count),
    }


def make_sharding(mesh: str) -> Any:
    """Parts of a batch on all devices, or the same parts in each process."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices = np.array(jax.devices())
    if mesh == "data":
        return NamedSharding(Mesh(devices, ("data",)), PartitionSpec("data"))
    by_process = devices.reshape(jax.process_count(), -1)
    return NamedSharding(Mesh(by_process, ("replica", "data")), PartitionSpec("data"))


def main() -> None:
    """One of the processes."""
    coordinator, process, processes, devices, mesh, seed, state = sys.argv[1:]
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp

    jax.distributed.initialize(coordinator, int(processes), int(process))
    assert jax.device_count() == int(devices) * int(processes)
    reader = Counted()
    steps = []
    try:
        batches = ndd.jax.iterate(
            reader,
            body,
            batch_size=GLOBAL_BATCH,
            sharding=make_sharding(mesh),
            shuffle=True,
            seed=int(seed),
        )
        if state != "-":
            batches.set_state(json.loads(state))
        total = jax.jit(lambda tree: jax.tree.map(lambda a: jnp.sum(a.astype(jnp.float32)), tree))
        for batch in batches:
            labels = [shard.data.tolist() for shard in batch["label"].addressable_shards]
            sums = {name: float(value) for name, value in total(batch).items()}
            rows = sorted({row for shard in labels for row in shard})
            steps.append({"rows": rows, "sums": sums, "state": batches.get_state()})
        result = {"steps": steps, "read": sorted(set(reader.read))}
    except ValueError as error:
        result = {"error": str(error)}
    sys.stdout.write(f"\n{json.dumps(result)}\n")


if __name__ == "__main__":
    main()
