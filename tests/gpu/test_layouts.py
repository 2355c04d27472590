# SPDX-License-Identifier: Apache-2.0
"""Channels first, or no channels, on a gpu."""

from __future__ import annotations

import pytest

from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of
from support.case_inputs import Case
from support.gpu_compare import call_on_gpu
from support.layouts import IMAGE_CASES, IN_COLOR, assert_same_in, gray_inputs, image_inputs

GPU_CASES = [case for case in IMAGE_CASES if body_of(registry[case.operator]) is not None]

pytestmark = pytest.mark.usefixtures("either_device")
each_case = pytest.mark.parametrize("case", GPU_CASES, ids=lambda case: case.operator)


@each_case
def test_channels_first(case: Case) -> None:
    assert_same_in(call_on_gpu, case, image_inputs(case), "CHW")


@each_case
def test_no_channels(case: Case) -> None:
    if case.operator not in IN_COLOR:
        assert_same_in(call_on_gpu, case, gray_inputs(case), "HW")
