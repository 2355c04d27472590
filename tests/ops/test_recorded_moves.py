# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the reference: crop, slice, flip, transpose, pad, normalize and others."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from move_calls import CALLS, RECORD, run_call


@pytest.mark.parametrize("index", range(len(CALLS)), ids=lambda k: f"{k}-{CALLS[k].operator}")
def test_same_as_recorded(index: int) -> None:
    call = CALLS[index]
    with np.load(RECORD) as record:
        assert record["calls"][index] == repr(call), "the record is out of date"
        expected = [record[f"{index}.{k}"] for k in range(2)]
    got = run_call(ndd, call)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.dtype == theirs.dtype
        if call.operator == "normalize" and theirs.dtype.kind == "f":
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(ours, theirs)
