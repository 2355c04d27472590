# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the reference: the resize operators."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from compare import assert_resampled_alike
from resize_calls import CALLS, RECORD, run_call


@pytest.mark.parametrize("index", range(len(CALLS)), ids=lambda k: f"{k}-{CALLS[k].operator}")
def test_same_as_recorded(index: int) -> None:
    call = CALLS[index]
    with np.load(RECORD) as record:
        assert record["calls"][index] == repr(call), "the record is out of date"
        expected = [record[f"{index}.{k}"] for k in range(2)]
    for ours, theirs in zip(run_call(ndd, call), expected, strict=True):
        if call.arguments.get("interp_type") == 0:
            np.testing.assert_array_equal(ours, theirs)
        assert_resampled_alike(ours, theirs, call)
