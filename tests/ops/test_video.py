# SPDX-License-Identifier: Apache-2.0
"""Operators on frames against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import daliesque as ndd
from support.compare import assert_same


def clips(lengths: list[int]) -> list[Any]:
    return [np.arange(n * 6, dtype=np.int16).reshape(n, 2, 3) + 100 * n for n in lengths]


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_sequence_rearrange(lengths: list[int], data: Any) -> None:
    samples = clips(lengths)
    orders = [
        data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=6), label="order")
        for n in lengths
    ]
    result = ndd.sequence_rearrange(ndd.batch(samples, layout="FHW"), new_order=ndd.batch(orders))
    assert result.layout == "FHW"
    for made, sample, order in zip(result, samples, orders, strict=True):
        assert_same(made, sample[order])


def test_one_order_for_all() -> None:
    samples = clips([2, 4])
    result = ndd.sequence_rearrange(ndd.batch(samples), new_order=[1, 1, 0])
    for made, sample in zip(result, samples, strict=True):
        assert_same(made, sample[[1, 1, 0]])


def test_element_extract() -> None:
    samples = clips([3, 4])
    batch = ndd.batch(samples, layout="FHW")
    last, first = ndd.element_extract(batch, element_map=[2, 0])
    assert last.layout == first.layout == "HW"
    for number, part in ((2, last), (0, first)):
        for made, sample in zip(part, samples, strict=True):
            assert_same(made, sample[number])
    assert np.shares_memory(np.asarray(last.select(0)), np.asarray(batch.select(0)))
    assert_same(ndd.element_extract(samples[0][:, ::2], element_map=1), samples[0][1, ::2])


def test_per_frame() -> None:
    assert ndd.per_frame(np.zeros((2, 3, 4))).layout == "F**"
    assert ndd.per_frame(ndd.zeros(shape=[2, 3], layout="HW"), replace=True).layout == "FW"
    assert ndd.per_frame(ndd.zeros(shape=[2, 3], layout="FW")).layout == "FW"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ndd.element_extract(x, element_map=[3]), "element_extract: .* 0 to 2; got 3"),
        (lambda x: ndd.element_extract(x, element_map=[-1]), "element_extract: .*; got -1"),
        (lambda x: ndd.element_extract(x, element_map=[]), "element_extract: .* at least one"),
        (lambda x: ndd.element_extract(x[0, 0], element_map=[0]), "element_extract: .* got 1 axes"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[]), "sequence_rearrange: .* at least one"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[3]), "sequence_rearrange: .* 0 to 2"),
        (lambda x: ndd.sequence_rearrange(x, new_order=[0.5]), "'new_order' must be .* integers"),
        (
            lambda x: ndd.sequence_rearrange(ndd.tensor(x, layout="HWC"), new_order=[0]),
            "sequence_rearrange: the input must be a sequence, .* got 'HWC'",
        ),
        (lambda x: ndd.per_frame(ndd.tensor(x, layout="HWC")), "per_frame: .* 'HWC'. Pass replace"),
        (lambda _: ndd.per_frame(5), "per_frame: a single number"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.zeros((3, 2, 2))).evaluate()
