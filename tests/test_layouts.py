# SPDX-License-Identifier: Apache-2.0
"""Every operator on images takes its channels first, last or not at all."""

from __future__ import annotations

import numpy as np
import pytest

import daliesque as ndd
from support.case_inputs import Case
from support.contract import call
from support.layouts import (
    IMAGE_CASES,
    IN_COLOR,
    assert_same_in,
    gray_inputs,
    image_inputs,
    reordered,
    run_with,
    sequences_of,
)
from support.metadata import assert_announced

pytestmark = pytest.mark.usefixtures("in_empty_folder")


each_case = pytest.mark.parametrize("case", IMAGE_CASES, ids=lambda case: case.operator)
# Those that see frames of sequences, or have a use for the axis F themselves.
SEQUENCE_CASES = [case for case in IMAGE_CASES if case.operator != "dump_image"]
each_sequence = pytest.mark.parametrize("case", SEQUENCE_CASES, ids=lambda case: case.operator)
# Random numbers differ from frame to frame; pad makes all samples of a batch alike.
PER_FRAME = [case for case in SEQUENCE_CASES if not case.random and case.operator != "pad"]


def test_most_operators_are_covered() -> None:
    assert len(IMAGE_CASES) > 35


@each_case
def test_channels_first(case: Case) -> None:
    assert_same_in(call, case, image_inputs(case), "CHW")


@each_case
def test_no_channels(case: Case) -> None:
    inputs = gray_inputs(case)
    if case.operator in IN_COLOR:
        for layout in ("HWC", "HW"):
            with pytest.raises(ValueError, match=rf"^{case.operator}: .*channel"):
                run_with(call, case, inputs, layout).evaluate()
    else:
        assert_same_in(call, case, inputs, "HW")


@each_sequence
def test_sequences_with_channels_first(case: Case) -> None:
    inputs = image_inputs(case)
    inputs[0] = sequences_of(inputs[0])
    assert_same_in(call, case, inputs, "FCHW")


@each_sequence
def test_sequences_without_channels(case: Case) -> None:
    inputs = gray_inputs(case)
    inputs[0] = sequences_of(inputs[0])
    if case.operator in IN_COLOR:
        with pytest.raises(ValueError, match=rf"^{case.operator}: .*channel"):
            run_with(call, case, inputs, "FHW").evaluate()
    else:
        assert_same_in(call, case, inputs, "FHW")


@pytest.mark.parametrize("case", PER_FRAME, ids=lambda case: case.operator)
def test_frames_are_images(case: Case) -> None:
    inputs = image_inputs(case)
    sequences = [sequences_of(inputs[0]), *inputs[1:]]
    result = run_with(call, case, sequences, "FHWC")
    for frame in (0, 1):
        images = [[sequence[frame] for sequence in sequences[0]], *inputs[1:]]
        expected = run_with(call, case, images, "HWC")
        for actual, image in zip(result, expected, strict=True):
            np.testing.assert_array_equal(np.array(actual)[frame], np.array(image))


@each_case
@pytest.mark.parametrize("layout", ["CHW", "HW"])
def test_pending_results_say_what_they_are(case: Case, layout: str) -> None:
    if layout == "HW" and case.operator in IN_COLOR:
        return
    inputs = gray_inputs(case) if layout == "HW" else image_inputs(case)
    with ndd.EvalMode.deferred:
        assert_announced(case, (run_with(call, case, inputs, layout),))


@pytest.mark.parametrize("case", IMAGE_CASES[:3], ids=lambda case: case.operator)
def test_single_tensors_and_strided_views(case: Case) -> None:
    image = image_inputs(case)[0][0]
    view = ndd.as_tensor(image.transpose(2, 0, 1), layout="CHW")
    (result,) = call(case, [view])
    (expected,) = call(case, [ndd.tensor(image, layout="HWC")])
    np.testing.assert_array_equal(np.array(result), np.array(expected).transpose(2, 0, 1))


def test_gray_images_become_colors() -> None:
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    gray = ndd.tensor(image, layout="HW")
    with ndd.EvalMode.deferred:
        colors = ndd.color_space_conversion(gray, image_type="gray", output_type="RGB")
        assert (colors.layout, colors.shape) == ("HWC", (3, 4, 3))
    np.testing.assert_array_equal(np.array(colors), np.repeat(image[..., None], 3, axis=2))


def test_an_output_layout_is_as_asked_for() -> None:
    gray = ndd.tensor(np.ones((3, 4), np.uint8), layout="HW")
    found = {
        wanted: ndd.crop_mirror_normalize(gray, output_layout=wanted).shape
        for wanted in ("CHW", "HWC", "")
    }
    assert found == {"CHW": (1, 3, 4), "HWC": (3, 4, 1), "": (3, 4)}


@pytest.mark.parametrize("shape", [(3, 224, 224), (1, 28, 28), (2, 3, 20, 30)])
def test_shapes_that_could_mean_either_need_a_layout(shape: tuple[int, ...]) -> None:
    image = np.zeros(shape, np.uint8)
    first, last = ("CHW", "HWC") if len(shape) == 3 else ("FCHW", "FHWC")
    with pytest.raises(ValueError, match=rf"^resize: .*no layout.*{first} as well as {last}"):
        ndd.resize(image, size=(8, 8)).evaluate()
    result = ndd.resize(ndd.tensor(image, layout=first), size=(8, 8))
    assert result.shape == (*shape[:-2], 8, 8)


def test_images_with_few_channels_are_hwc_without_a_layout() -> None:
    image = np.random.default_rng(0).integers(0, 256, (3, 5, 3), np.uint8)
    result = ndd.flip(ndd.tensor(image))
    np.testing.assert_array_equal(np.array(result), image[:, ::-1])
    assert result.layout == "HWC"


def test_two_axes_are_a_gray_image() -> None:
    image = np.random.default_rng(0).integers(0, 256, (6, 5), np.uint8)
    result = ndd.rotate(image, angle=90)
    np.testing.assert_array_equal(np.array(result), np.rot90(image))
    assert result.layout == "HW"


def test_several_inputs_of_images() -> None:
    images = [np.full((2, 4, 3), value, np.uint8) for value in (1, 2)]
    planes = [ndd.tensor(reordered(image, "HWC", "CHW"), layout="CHW") for image in images]
    result = ndd.multi_paste(*planes, shapes=[[2, 2]] * 2, out_anchors=[[0, 0], [0, 1]])
    assert result.layout == "CHW"
    np.testing.assert_array_equal(np.array(result), np.tile([1, 2, 2, 0], (3, 2, 1)))


def test_layouts_that_no_image_has_are_refused() -> None:
    image = ndd.tensor(np.zeros((4, 5, 3), np.uint8), layout="XYZ")
    with pytest.raises(ValueError, match=r"^rotate: the layout 'XYZ' .* HWC, .*CHW, HW"):
        ndd.rotate(image, angle=10).evaluate()
