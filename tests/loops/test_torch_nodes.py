# SPDX-License-Identifier: Apache-2.0
"""Nodes of torchdata: what they yield, and resuming them after any step."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torchdata.nodes import Loader

from daliesque.pytorch import nodes
from support import loops
from support.loops import Pictures
from support.reader_checks import Count


def equal(found: Any, expected: Any) -> bool:
    return len(found) == len(expected) and all(
        len(a) == len(b) and all(map(torch.equal, a, b))
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("batch_size", [2, None])
def test_reader(batch_size: int | None) -> None:
    node = nodes.Reader(Pictures, batch_size=batch_size, count=5)
    epoch = list(node)
    expected = list(Pictures(5).next_epoch(batch_size=batch_size))
    assert len(epoch) == len(expected) == (5 if batch_size is None else 3)
    for step, (images, labels) in zip(epoch, expected, strict=True):
        assert list(step) == ["data", "label"]
        assert type(step["data"]) is type(images)
        assert np.array_equal(step["data"].torch(), images.torch())
        assert np.array_equal(step["label"].torch(), labels.torch())
    assert node.get_metadata() == Pictures(5).get_metadata()


def test_names_of_outputs() -> None:
    named = nodes.Reader(Pictures, batch_size=1, output_names=iter(["image", "number"]))
    assert list(next(named)) == ["image", "number"]
    with pytest.raises(ValueError, match="Number of output names does not match number of outputs"):
        nodes.Reader(Pictures, batch_size=1, output_names=["image"])
    with pytest.raises(ValueError, match=r"Cannot infer output names for reader readers\.Count"):
        nodes.Reader(Count, batch_size=1, size=4)
    # The first samples need not be readable.
    assert list(next(nodes.Reader(Count, batch_size=1, size=9, bad=[0, 1, 2], on_error="skip",
                                  output_names=["number"]))) == ["number"]  # fmt: skip


def test_next_needs_a_reset() -> None:
    with pytest.raises(RuntimeError, match=r"before reset\(\)"):
        nodes.Reader(Pictures, batch_size=1).next()


def test_mapper_leaves_other_entries_and_the_source_alone() -> None:
    kept: list[dict[str, Any]] = []

    class Keeping(nodes.Reader):  # type: ignore[misc]
        def next(self) -> dict[str, Any]:
            kept.append(super().next())
            return kept[-1]

    node = nodes.DictMapper(Keeping(Pictures, batch_size=2), lambda labels: labels * 10, "label")
    step = next(node)
    assert step["label"].torch().tolist() == [0, 10]
    assert kept[0]["label"].torch().tolist() == [0, 1]
    assert step["data"] is kept[0]["data"]
    with pytest.raises(KeyError, match=r"'key' must be one of \['data', 'label'\]; got 'x'"):
        next(nodes.DictMapper(nodes.Reader(Pictures, batch_size=2), lambda data: data, "x"))


@pytest.mark.parametrize("make", [loops.loader, loops.prefetching_loader])
def test_loaders_resume_after_every_step(make: Any) -> None:
    """Three epochs; states go through JSON, and into loaders that are new or used."""

    def run(loader: Any, states: list[str] | None = None) -> list[Any]:
        steps = []
        for step in loader:
            steps.append(step)
            if states is not None:
                states.append(json.dumps(loader.state_dict()))
        return steps

    loader = make()
    states: list[str] = []
    epochs = [run(loader, states) for _ in range(3)]
    assert not equal(epochs[0], epochs[1])
    used = make()
    next(iter(used))
    steps = len(epochs[0])
    for index, state in enumerate(states):
        epoch, done = divmod(index, steps)
        for other in (make(), used):
            other.load_state_dict(json.loads(state))
            assert equal(run(other), epochs[epoch][done + 1 :])
            if epoch < 2:
                assert equal(run(other), epochs[epoch + 1])


def test_a_loader_that_restarts_goes_on_with_the_next_epoch() -> None:
    loader = Loader(loops.nodes())
    first, second = list(loader), None
    state = loader.state_dict()
    second = list(loader)
    other = Loader(loops.nodes())
    other.load_state_dict(state)
    assert equal(list(other), second)
    assert not equal(first, second)


def test_state_before_the_first_step() -> None:
    loader = loops.loader()
    state = loader.state_dict()
    expected = list(loader)
    other = loops.loader()
    list(other)
    other.load_state_dict(state)
    assert equal(list(other), expected)


def test_another_batch_size() -> None:
    node = nodes.Reader(Pictures, batch_size=2, random_shuffle=True, count=8)
    labels = next(node)["label"].torch().tolist()
    other = nodes.Reader(Pictures, batch_size=3, random_shuffle=True, count=8)
    other.reset(node.state_dict())
    for step in other:
        labels += step["label"].torch().tolist()
    assert sorted(labels) == list(range(8))


def test_without_torchdata() -> None:
    program = """
import sys
sys.modules["torchdata"] = None
import daliesque as ndd
try:
    ndd.pytorch.nodes
except ImportError as error:
    print(error)
"""
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    expected = "pytorch.nodes: torchdata is not installed. Install daliesque[torchdata].\n"
    assert out.stdout == expected


def test_the_name_of_the_reference() -> None:
    program = """
import daliesque
daliesque.as_dali()
import nvidia.dali.experimental.dynamic as ndd
from nvidia.dali.experimental.dynamic.pytorch.nodes import Reader
import daliesque.pytorch.nodes
assert Reader is daliesque.pytorch.nodes.Reader is ndd.pytorch.nodes.Reader
"""
    subprocess.run([sys.executable, "-c", program], check=True)
