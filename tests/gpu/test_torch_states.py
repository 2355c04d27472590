# SPDX-License-Identifier: Apache-2.0
"""Every operator under every state that a program may put torch into: results stay the same."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of
from support.case_inputs import Case
from support.cases import CASES
from support.contract import arrays, assert_outputs, call, make_batches, make_inputs
from support.gpu_compare import assert_near_cpu
from support.torch_operations import operations
from support.torch_states import STATES, State

GPU_CASES = [case for case in CASES if body_of(registry[case.operator]) is not None]
each_state = pytest.mark.parametrize("state", STATES.values(), ids=STATES)


@each_state
@pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)
def test_results_are_the_same(case: Case, state: State) -> None:
    inputs = make_inputs(case)
    dense = [[samples[0], samples[0]] for samples in inputs]
    for samples in (inputs, dense):
        expected = arrays(call(case, make_batches(case, samples)))
        with state():
            there = [batch.gpu() for batch in make_batches(case, samples)]
            found = call(case, there, device="gpu")
            actual = arrays(found)
            exported = [part.select(0).torch() for part in found if isinstance(part, ndd.Batch)]
        assert_outputs(actual, expected, case.operator, assert_near_cpu)
        assert not any(tensor.is_inference() for tensor in exported)


IMAGES = np.random.default_rng(4).integers(0, 60000, (2, 40, 30, 3), np.uint16)


def pipeline(images: Any) -> Any:
    # Weighted sums of large numbers, too large for half precision.
    resized = ndd.resize(images, size=(17, 23))
    twisted = ndd.color_twist(resized, hue=30.0, saturation=1.5, dtype=ndd.float32)
    return ndd.gaussian_blur(twisted, sigma=1.0)


@each_state
@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
def test_results_are_the_same_if_the_state_is_that_of_the_reader(
    state: State, mode: ndd.EvalMode
) -> None:
    """Calls are run by whoever waits for them, often a validation loop in another state."""
    expected = pipeline(ndd.batch(IMAGES, layout="HWC", device="gpu")).torch()
    with mode:
        pending = pipeline(ndd.batch(IMAGES, layout="HWC", device="gpu"))
        with state():
            found = pending.torch()
    assert torch.equal(found, expected)
    # What was called for training can be trained on.
    weights = torch.ones(3, requires_grad=True)
    (found * weights).sum().backward()
    assert weights.grad is not None


@each_state
def test_views_moves_and_exports_are_plain_tensors(state: State) -> None:
    with state():
        batch = ndd.batch([[1, 2, 3], [4, 5]], device="gpu")
        parts = [
            batch.torch(pad=True),
            batch.select(1).torch(),
            batch.slice[::-1].select(0).torch(),
            batch.to_device("gpu:1").select(0).torch(),
            ndd.tensor(batch.select(0)).torch(copy=True),
            ndd.as_tensor(ndd.batch([[1, 2], [3, 4]], device="gpu")).torch(),
        ]
        assert batch.cpu().tolist() == [[1, 2, 3], [4, 5]]
    assert [part.device.type for part in parts] == ["cpu"] * len(parts)
    assert not any(part.is_inference() for part in parts)


def test_the_makefile_tries_all_states() -> None:
    text = (Path(__file__).parent.parent.parent / "Makefile").read_text().replace("\\\n", " ")
    (listed,) = re.findall(r"^TORCH_STATES := (.*)$", text, re.MULTILINE)
    assert listed.split() == ["all", *STATES]


def test_states_of_another_thread() -> None:
    """The state is that of the caller, whichever thread does the work."""
    large = np.random.default_rng(1).integers(0, 60000, (8, 400, 300, 3), np.uint16)
    expected = pipeline(ndd.batch(large, layout="HWC", device="gpu")).torch()
    found: list[Any] = []

    def train() -> None:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
            found.append(pipeline(ndd.batch(large, layout="HWC", device="gpu")).torch())

    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert not found[0].is_inference()
    assert torch.equal(found[0], expected)


def test_the_state_of_the_caller_stays() -> None:
    with torch.inference_mode(), torch.autocast("cpu", torch.float16):
        pipeline(ndd.batch(IMAGES, layout="HWC", device="gpu")).evaluate()
        assert torch.is_inference_mode_enabled()
        assert torch.is_autocast_enabled("cpu")


def test_no_operation_is_refused_in_deterministic_mode() -> None:
    """Real devices raise errors for some operations, which torch lists; the CPU does not."""
    text = torch.use_deterministic_algorithms.__doc__ or ""
    refused = text.partition("operations will throw a")[2].partition("In addition")[0]
    forward = [line for line in refused.split("* ") if "attempting to differentiate" not in line]
    names = {name for line in forward for name in re.findall(r"torch\.(?:Tensor\.)?(\w+)`", line)}
    assert {"histc", "put_", "cumsum"} <= names
    table = operations()
    used = {name for name in names if any(name in row.names for row in table.values())}
    # Sums of floating-point numbers only.
    assert used <= {"cumsum", "median"}
    assert not any(kind.is_floating_point for kind in table["cumsum"].types)
    assert "median" not in table
