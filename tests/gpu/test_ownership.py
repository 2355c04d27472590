# SPDX-License-Identifier: Apache-2.0
"""Whose memory data on the gpu is: imported tensors, views of them, and results of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._gpu.groups import block_of
from daliesque._gpu.operators import body_of
from daliesque._gpu.samples import DeviceSamples
from support.case_inputs import Case
from support.cases import CASES
from support.contract import call, make_batches, make_inputs

GPU_CASES = [case for case in CASES if body_of(registry[case.operator]) is not None]


@pytest.fixture
def theirs(simulate: Any) -> torch.Tensor:
    """A tensor of the user on a simulated device, filled with 100."""
    found = simulate("cuda")
    with found.queues.active(None):
        return torch.full((4, 6, 8, 3), 100, dtype=torch.uint8, device=torch.device("cuda", 0))


IMPORTS: dict[str, Callable[[torch.Tensor], Any]] = {
    "as_tensor": ndd.as_tensor,
    "with a layout": lambda t: ndd.as_tensor(t, layout="NHWC"),
    "as_batch": lambda t: ndd.as_batch(t, layout="HWC"),
    "list": lambda t: ndd.as_batch([t, t]),
    "sample": lambda t: ndd.as_tensor(t)[0],
    "select": lambda t: ndd.as_batch(t).select([2, 0]),
    "slice": lambda t: ndd.as_batch(t).slice[1:4],
    "reshape": lambda t: ndd.reshape(ndd.as_batch(t), shape=[-1]),
    "stacked": lambda t: ndd.as_tensor(ndd.as_batch(t)),
    "reinterpret": lambda t: ndd.reinterpret(ndd.as_batch(t), dtype=ndd.int8),
}


@pytest.mark.parametrize("name", IMPORTS)
@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred])
def test_calls_read_imported_memory_at_once(
    name: str, mode: ndd.EvalMode, theirs: torch.Tensor
) -> None:
    """What the owner writes afterwards is not seen, however the memory is looked at."""
    with mode:
        imported = IMPORTS[name](theirs)
        later = imported + 1
        theirs.zero_()
        values = np.concatenate([np.asarray(part).ravel() for part in listed(later.cpu())])
    assert set(values.tolist()) == {101}


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, ndd.Batch) else [value]


COPIES: dict[str, Callable[[torch.Tensor], Any]] = {
    "tensor": ndd.tensor,
    "tensor with a layout": lambda t: ndd.tensor(t, layout="NHWC"),
    "batch": ndd.batch,
    "batch with a layout": lambda t: ndd.batch(t, layout="HWC"),
    "list of one": lambda t: ndd.batch([t]),
    "list": lambda t: ndd.batch([t, t]),
    "of a tensor": lambda t: ndd.batch(ndd.as_tensor(t)),
    "of a batch": lambda t: ndd.tensor(ndd.as_batch(t)),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_copies(name: str, theirs: torch.Tensor) -> None:
    copied = COPIES[name](theirs).evaluate()
    theirs.zero_()
    assert {int(np.asarray(part).max()) for part in listed(copied.cpu())} == {100}


def memory_of(value: Any) -> set[int]:
    """The blocks of memory that the data of a value lies in."""
    data = value._data()
    assert isinstance(data, DeviceSamples)
    return {block_of(group.data) for group in data.groups}


def shares_on_cpu(result: Any, inputs: list[Any]) -> bool:
    """Whether some sample of a result lies in the memory of an input."""
    for value in inputs:
        for mine in listed(result):
            for other in listed(value):
                if np.shares_memory(np.asarray(mine), np.asarray(other)):
                    return True
    return False


@pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)
@pytest.mark.parametrize("dense", [False, True], ids=["ragged", "dense"])
def test_results_share_memory_only_where_they_do_on_the_cpu(case: Case, dense: bool) -> None:
    inputs = make_inputs(case)
    if dense:
        inputs = [[samples[0], samples[0]] for samples in inputs]
    here = make_batches(case, inputs)
    there = [batch.gpu().evaluate() for batch in here]
    expected = [shares_on_cpu(part, here) for part in call(case, here)]
    memory = {block for value in there for block in memory_of(value)}
    found = [
        part.device.device_type == "gpu" and bool(memory_of(part) & memory)
        for part in call(case, there, device="gpu")
    ]
    # Ragged samples may have to be put together for what is a view on the CPU.
    assert all(there <= here for there, here in zip(found, expected, strict=True))
    assert not dense or found == expected


# Calls that change nothing, with what they are called on.
NOTHING_TO_DO: dict[str, Callable[[Any], Any]] = {
    "flip": lambda x: ndd.flip(x, horizontal=0),
    "flip some": lambda x: ndd.flip(x, horizontal=ndd.batch([0] * x.batch_size)),
    "crop": lambda x: ndd.crop(x, crop=(6, 8)),
    "slice": lambda x: ndd.slice(x, start=[0, 0], shape=[6, 8], axes=[0, 1]),
    "pad": lambda x: ndd.pad(x, axes=[0, 1]),
    "erase": lambda x: ndd.erase(x, anchor=[], shape=[], axes=[0, 1]),
    "resize": lambda x: ndd.resize(x, size=(6, 8), interp_type="NN"),
    "resize all": lambda x: ndd.resize(x, size=(6, 8)),
    "rotate": lambda x: ndd.rotate(x, angle=0.0),
    "sphere": lambda x: ndd.sphere(x, mask=0),
    "water": lambda x: ndd.water(x, mask=0),
    "transpose": lambda x: ndd.transpose(x, perm=[0, 1, 2]),
    "reduce": lambda x: ndd.reductions.max(x, axes=[]),
    "gaussian_blur": lambda x: ndd.gaussian_blur(x, window_size=1, sigma=1.0),
    "multi_paste": lambda x: ndd.multi_paste(x, in_ids=[0], output_size=(6, 8)),
    "plus": lambda x: +x,
    "color space": lambda x: ndd.color_space_conversion(
        x, image_type=ndd.types.RGB, output_type=ndd.types.RGB
    ),
    "cat": lambda x: ndd.cat(x),
    "permute_batch": lambda x: ndd.permute_batch(x, indices=list(range(x.batch_size))),
}


@pytest.mark.parametrize("name", NOTHING_TO_DO)
def test_results_are_not_secretly_their_inputs(name: str) -> None:
    """Whether memory is shared depends on the operator, never on the values of its arguments."""
    images = np.random.default_rng(2).integers(0, 256, (3, 6, 8, 3), np.uint8)
    here, there = ndd.batch(images, layout="HWC"), ndd.batch(images, layout="HWC", device="gpu")
    function = NOTHING_TO_DO[name]
    expected = shares_on_cpu(function(here), [here])
    assert bool(memory_of(function(there)) & memory_of(there)) == expected


def test_results_may_be_changed(theirs: torch.Tensor) -> None:
    """Work in place on a result leaves the tensor of the user alone."""
    images = ndd.as_batch(theirs, layout="HWC")
    ndd.flip(images, horizontal=0).torch().zero_()
    assert int(theirs.cpu().min()) == 100
