# SPDX-License-Identifier: Apache-2.0
"""Record what the reference draws, for tests/ops/test_random.py.

Run in an environment with the reference installed:

    python tools/record_random.py

The file holds the calls themselves (as JSON, see tests/support/random_calls.py) next to the bytes
of their results, so that the test needs no second copy of them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import nvidia.dali
import nvidia.dali.experimental.dynamic as ndd

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support.random_calls import RECORD, run_call

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]


def batch(values: list[Any], type_name: str) -> dict[str, Any]:
    return {"batch": values, "type": type_name}


def tensor(values: Any, type_name: str) -> dict[str, Any]:
    return {"tensor": values, "type": type_name}


def make_calls() -> list[dict[str, Any]]:
    """All calls: operator, seed of the RNG, how often to call, inputs, arguments."""
    calls: list[dict[str, Any]] = []

    def add(operator: str, *inputs: Any, times: int = 1, **arguments: Any) -> None:
        seed = 1000003 * len(calls) - 7
        calls.append(
            {"op": operator, "seed": seed, "times": times, "inputs": inputs, "args": arguments}
        )

    add("uniform")
    add("uniform", times=5)
    add("uniform", batch_size=5, times=3)
    add("uniform", batch_size=3, shape=[7, 5])
    add("uniform", batch_size=2, shape=[1031])
    add("uniform", shape=[0, 3])
    add("uniform", range=batch([[0, 1], [5, 6.5], [-3, 100]], "float32"), shape=[11])
    add("uniform", shape=batch([[2, 3], [4, 1], [0, 5]], "int32"))
    add("uniform", tensor([[0, 0, 0]], "float64"), batch_size=2)
    for name in [*INTEGERS, "float32", "float64"]:
        dtype = {"dtype": name}
        add("uniform", range=[0, 100], shape=[37], batch_size=2, dtype=dtype)
        add("uniform", range=[-2.7, 300.6], shape=[37], batch_size=2, dtype=dtype)
        add("uniform", shape=[37], dtype=dtype)
        add("uniform", values=[-1.5, 0.5, 2.5, 300], shape=[37], batch_size=2, dtype=dtype)
        add("normal", shape=[37], batch_size=2, dtype=dtype)
        add("normal", mean=50, stddev=70, shape=[37], batch_size=2, dtype=dtype)
    add("uniform", values=batch([[1, 2], [3, 4, 5]], "float32"), shape=[20])
    add("normal", mean=batch([0, 100], "float32"), stddev=batch([1, 0.01], "float32"), times=2)
    for name in ["bool", "uint8", "int32"]:
        add("coin_flip", shape=[50], batch_size=2, dtype={"dtype": name})
    add("coin_flip", probability=batch([0, 0.1, 0.9, 1], "float32"), shape=[50])
    add("coin_flip", batch_size=16, times=2)
    for name in ["float32", "float64"]:
        for alpha, beta in [(1, 1), (0.3, 0.7), (0.01, 0.02), (0.5, 3), (4, 0.2), (20, 30)]:
            dtype = {"dtype": name}
            add("beta", alpha=alpha, beta=beta, shape=[41], batch_size=2, dtype=dtype)
    add("beta", alpha=batch([0.1, 2], "float32"), beta=batch([3, 4], "float32"), times=2)
    for name in INTEGERS:
        add("choice", tensor(99, name), shape=[30], batch_size=2)
        add("choice", tensor([5, 7, 9, 11], name), shape=[3, 10], batch_size=2)
    for name in ["bool", "float16", "float32", "float64"]:
        add("choice", tensor([0, 1, 1, 0, 1], name), shape=[30])
    add("choice", tensor(2**33 + 5, "int64"), shape=[50])
    add("choice", tensor(2**32, "int64"), shape=[50])
    add("choice", 10, batch_size=8, times=3)
    add("choice", tensor([10, 20, 30], "int32"), p=[0.2, 0.5, 0.3], shape=[50], batch_size=2)
    add("choice", 1, p=[1.0], shape=[3])
    add("choice", batch([[1, 2], [3, 4, 5]], "int16"), shape=[20])
    add("choice", batch([[[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 0]]], "int16"), shape=[20])
    add("choice", tensor([[1, 2], [3, 4]], "float32"), p=[0.25, 0.75], shape=[4, 5])
    add("choice", 7, tensor([[0, 0], [0, 0]], "uint8"))
    return calls


def record_generators() -> list[dict[str, Any]]:
    """Raw draws and printed states."""
    record = []
    for seed in [0, 1, 42, -1, 2**63, 2**64 + 3]:
        rng = ndd.random.RNG(seed=seed)
        draws = [rng() for _ in range(9)]
        states = [str(rng.state)]
        for steps in [0, 1, 2, 3, 1000, 2**40 + 1]:
            rng.advance(steps)
            states.append(str(rng.state))
        record.append({"seed": str(seed), "draws": draws, "states": states, "next": rng()})
    return record


def main() -> None:
    calls = make_calls()
    data = b""
    for call in calls:
        samples = run_call(ndd, call)
        call["dtype"] = samples[0].dtype.name
        call["shapes"] = [sample.shape for sample in samples]
        data += b"".join(sample.tobytes() for sample in samples)
    about = {
        "producer": "nvidia-dali",
        "version": nvidia.dali.__version__,
        "calls": calls,
        "generators": record_generators(),
    }
    packed = np.frombuffer(data, np.uint8)
    np.savez_compressed(RECORD, about=np.array(json.dumps(about)), data=packed)
    print(f"{len(calls)} calls recorded with {about['producer']} {about['version']}")


if __name__ == "__main__":
    main()
