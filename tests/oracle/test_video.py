# SPDX-License-Identifier: Apache-2.0
"""Frames of sequences: as with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.libraries import Each, Single
from support.oracle import assert_agree, assert_both_refuse

pytestmark = pytest.mark.oracle

CLIPS = [np.arange(n * 6, dtype=np.int16).reshape(n, 2, 3) for n in (3, 5)]


@pytest.mark.parametrize("layout", ["FHW", None])
def test_frames(layout: str | None) -> None:
    for chosen in ([1], [2, 0], [1, 1, 1]):
        assert_agree("element_extract", CLIPS, element_map=chosen, layout=layout)
    for order in ([0], [2, 1, 0, 0], Each([np.array([0, 0]), np.array([4, 3, 2, 1])])):
        assert_agree("sequence_rearrange", CLIPS, new_order=order, layout=layout)
    assert_agree("per_frame", CLIPS, layout=layout)


def test_marking_frames() -> None:
    assert_agree("per_frame", CLIPS, layout="HWC", replace=True)
    assert_agree("per_frame", Single([1, 2]))
    assert_agree("per_frame", Single([[1], [2]]), replace=True)


@pytest.mark.parametrize(
    ("operator", "value", "arguments"),
    [
        ("element_extract", Single(CLIPS[0], "HWC"), {"element_map": [0]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": [3]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": [-1]}),
        ("element_extract", Single(CLIPS[0]), {"element_map": []}),
        ("element_extract", Single([1, 2]), {"element_map": [0]}),
        ("sequence_rearrange", Single(CLIPS[0], "HWC"), {"new_order": [0]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": [3]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": [-1]}),
        ("sequence_rearrange", Single(CLIPS[0]), {"new_order": []}),
        ("sequence_rearrange", Single([1, 2]), {"new_order": [0]}),
        ("per_frame", Single(CLIPS[0], "HWC"), {}),
        ("per_frame", Single(5), {}),
    ],
)
def test_what_both_refuse(operator: str, value: Any, arguments: dict[str, Any]) -> None:
    assert_both_refuse(operator, *([] if value is None else [value]), **arguments)
