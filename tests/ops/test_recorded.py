# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the reference: operators that move, normalize and resize."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from support import move_calls, resize_calls
from support.compare import assert_alike, assert_close
from support.recorded import load, run_call


def names(calls: list[move_calls.Call]) -> list[str]:
    return [f"{index}-{call.operator}" for index, call in enumerate(calls)]


@pytest.mark.parametrize("index", range(len(move_calls.CALLS)), ids=names(move_calls.CALLS))
def test_moves_equal_the_record(index: int) -> None:
    call = move_calls.CALLS[index]
    expected = load("moves", index, call)
    for ours, theirs in zip(run_call(ndd, call), expected, strict=True):
        assert ours.dtype == theirs.dtype
        if call.operator == "normalize" and theirs.dtype.kind == "f":
            assert_close(ours, theirs, "normalized")
        else:
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("index", range(len(resize_calls.CALLS)), ids=names(resize_calls.CALLS))
def test_resized_equal_the_record(index: int) -> None:
    call = resize_calls.CALLS[index]
    expected = load("resize", index, call)
    for ours, theirs in zip(run_call(ndd, call), expected, strict=True):
        if call.arguments.get("interp_type") == 0:
            np.testing.assert_array_equal(ours, theirs)
        assert_alike(ours, theirs, call)
