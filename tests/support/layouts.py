# SPDX-License-Identifier: Apache-2.0
"""Images of the same contents in several layouts, for the operators of the registry."""

from __future__ import annotations

from typing import Any

import numpy as np

import daliesque as ndd
from daliesque._engine.op import registry
from support.case_inputs import Array, Case
from support.cases import CASES
from support.contract import Outputs, Run, arrays, make_inputs

# Operators on images that list no layouts, since they find axes by their letters.
_BY_LETTERS = (
    "erase",
    "filter",
    "gaussian_blur",
    "laplacian",
    "lookup_table",
    "normalize",
    "pad",
    "slice",
    "tensor_resize",
)
# Their results keep no axis of channels, or are in the layout that was asked for.
_OWN_LAYOUT = ("crop_mirror_normalize",)
# They need three channels, whatever the layout.
IN_COLOR = (
    *("color_space_conversion", "color_twist", "grayscale", "hsv", "hue", "paste"),
    *("rgb_shift", "saturation"),
)
# They mix the images of a batch, beside which they have labels or masks.
_MIXING = ("copy_paste", "cutmix", "mosaic")
# Arguments with axes by number, by letters.
_BY_NAME: dict[str, dict[str, Any]] = {
    name: {"axes": None, "axis_names": "HW"} for name in ("normalize", "pad", "tensor_resize")
}


def _is_of_images(case: Case) -> bool:
    if case.layout not in ("HWC", "HW") or case.operator in _MIXING:
        return False
    return bool(registry[case.operator].allowed_layouts) or case.operator in _BY_LETTERS


IMAGE_CASES = list({case.operator: case for case in CASES if _is_of_images(case)}.values())


def arguments_of(case: Case) -> dict[str, Any]:
    """Changes to the arguments of a case, so that they suit any order of the axes."""
    changes = dict(_BY_NAME.get(case.operator, {}))
    if case.operator in _OWN_LAYOUT:
        changes["output_layout"] = ""
    return changes


def image_inputs(case: Case) -> Outputs:
    """The inputs of a case, of which the first is images HWC."""
    inputs = make_inputs(case)
    if case.layout == "HW":
        inputs[0] = [image[..., None] for image in inputs[0]]
    return inputs


def gray_inputs(case: Case) -> Outputs:
    """The same with one channel."""
    inputs = image_inputs(case)
    inputs[0] = [image[..., :1] for image in inputs[0]]
    return inputs


def sequences_of(images: list[Array]) -> list[Array]:
    """Sequences of two frames: an image, and the same upside down."""
    return [np.stack([image, image[::-1]]) for image in images]


def reordered(image: Array, given: str, wanted: str) -> Array:
    """An array with its axes, or some of them, in another order; new ones have the extent 1."""
    for letter in wanted:
        if letter not in given:
            image, given = image[..., None], given + letter
    kept = [given.index(letter) for letter in wanted]
    dropped = tuple(axis for axis in range(image.ndim) if axis not in kept)
    assert all(image.shape[axis] == 1 for axis in dropped)
    order = image.transpose(kept + list(dropped))
    return np.ascontiguousarray(order.reshape(order.shape[: len(kept)]))


def run_with(run: Run, case: Case, inputs: Outputs, layout: str, **changes: Any) -> Any:
    """The only result of a case, for images (HWC, or FHWC) in some layout."""
    given = "FHWC" if inputs[0][0].ndim == 4 else "HWC"
    batches = [ndd.batch([reordered(image, given, layout) for image in inputs[0]], layout=layout)]
    batches += [ndd.batch(samples) for samples in inputs[1:]]
    (result,) = run(case, batches, **arguments_of(case), **changes)
    return result


def assert_same_in(run: Run, case: Case, inputs: Outputs, layout: str) -> None:
    """The result for a layout is that for HWC or FHWC, with its axes in the order of the layout."""
    given = "FHWC" if inputs[0][0].ndim == 4 else "HWC"
    expected = run_with(run, case, inputs, given)
    result = run_with(run, case, inputs, layout)
    if expected.layout == given and (len(layout) == len(given) or expected.shape[0][-1] == 1):
        assert result.layout == layout
    else:
        # Colors that the operator has made of an image without channels.
        layout = given
        assert result.layout == given
    assert result.dtype == expected.dtype
    for actual, image in zip(arrays([result])[0], arrays([expected])[0], strict=True):
        np.testing.assert_array_equal(actual, reordered(image, given, layout))
