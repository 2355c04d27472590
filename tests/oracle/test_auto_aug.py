# SPDX-License-Identifier: Apache-2.0
"""Automatic augmentation against the reference's pipelines, with pinned choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._shapes import suites
from support.compare import assert_alike, assert_same
from support.ramps import make_images

pytestmark = pytest.mark.oracle
dali = pytest.importorskip("nvidia.dali")
fn, types = pytest.importorskip("nvidia.dali.fn"), dali.types
augmentations, auto_augment, rand_augment, trivial_augment = (
    pytest.importorskip(f"nvidia.dali.auto_aug.{name}")
    for name in ("augmentations", "auto_augment", "rand_augment", "trivial_augment")
)

BINS = 11
SHAPES = [(40, 57, 3), (33, 20, 3), (64, 64, 3)]
# Names, ranges that stay on one side of zero, and the reference's functions.
PINNED = [
    ("shear_x", (0, 0.3)),
    ("shear_x", (0, -0.3)),
    ("shear_y", (0, 0.3)),
    ("translate_x", (0, 25)),
    ("translate_y", (0, -25)),
    ("rotate", (0, 30)),
    ("rotate", (-30, 0)),
    ("brightness", (0, 0.9)),
    ("brightness", (0, -0.9)),
    ("contrast", (0, 0.9)),
    ("contrast", (0, -0.9)),
    ("color", (0, 0.9)),
    ("color", (0, -0.9)),
    ("sharpness", (0, 0.9)),
    ("sharpness", (0, -0.9)),
    ("posterize", (8, 2)),
    ("posterize", (0, 4)),
    ("solarize", (256, 0)),
    ("solarize_add", (0, 110)),
    ("invert", None),
    ("equalize", None),
    ("auto_contrast", None),
    ("identity", None),
]


def images() -> list[np.ndarray]:
    return make_images(np.random.default_rng(5), SHAPES)


def reference(name: str, number: int, mag_range: Any, options: dict[str, Any]) -> list[Any]:
    """One augmentation of the reference, without a random sign."""
    found = getattr(augmentations, name, None)
    if name.startswith("translate") and "shape" not in options:
        found = getattr(augmentations, f"{name}_no_shape")
    augmentation = found.augmentation(mag_range, False) if mag_range else found
    batch = images()

    @dali.pipeline_def(batch_size=len(batch), num_threads=1, device_id=None)
    def pipe() -> Any:
        data = fn.external_source(lambda: batch, layout="HWC")
        # The signature of each augmentation decides what of the options it gets.
        return augmentation(data, magnitude_bin=number, num_magnitude_bins=BINS, **options)

    made = pipe()
    made.build()
    (results,) = made.run()
    return [np.array(results[i]) for i in range(len(batch))]


def ours(name: str, number: int, mag_range: Any, **options: Any) -> list[np.ndarray]:
    by_name = {a.name: a for a in suites.rand_augment_suite(100)}
    made = by_name.get(name, ndd.auto_aug.Augmentation(name))
    if mag_range:
        made = made.augmentation(mag_range=mag_range, randomly_negate=False)
    policy = ndd.auto_aug.random_policy([made], n=1, m=number, num_magnitude_bins=BINS)
    result = ndd.auto_aug.apply(ndd.batch(images(), layout="HWC"), policy=policy, **options)
    return [np.asarray(sample) for sample in result.tensors]


# Results are weighted means of pixels, whose last bit depends on the order of sums.
WEIGHTED = ("shear_x", "shear_y", "translate_x", "translate_y", "rotate", "sharpness")


def assert_agree(name: str, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Equal, but for the last bit of weighted means."""
    check = assert_alike if name in WEIGHTED else assert_same
    for sample, (own, other) in enumerate(zip(found, expected, strict=True)):
        check(own, other, sample)


@pytest.mark.parametrize(("name", "mag_range"), PINNED)
def test_augmentations(name: str, mag_range: Any) -> None:
    for number in (0, 4, BINS - 1) if mag_range else (0,):
        expected = reference(name, number, mag_range, {})
        assert_agree(name, ours(name, number, mag_range), expected)


@pytest.mark.parametrize("name", ["rotate", "shear_x", "translate_y"])
def test_border_and_interpolation(name: str) -> None:
    wanted = {"fill_value": 7, "interp_type": types.INTERP_NN}
    expected = reference(name, 8, (0, 20), wanted)
    assert_agree(name, ours(name, 8, (0, 20), fill_value=7, interp_type="nn"), expected)
    expected = reference(name, 8, (0, 20), {"fill_value": None})
    assert_agree(name, ours(name, 8, (0, 20), repeat_border=True), expected)


@pytest.mark.parametrize("name", ["translate_x", "translate_y"])
def test_translations_relative_to_shapes(name: str) -> None:
    expected = reference(name, 7, (0, 1.0), {"shape": (40, 57)})
    assert_agree(name, ours(name, 7, (0, 1.0), shape=(40, 57)), expected)


def described(augmentation: Any) -> tuple[Any, ...]:
    """What has to agree of an augmentation of either library."""
    own = augmentation.mag_range
    range_ = None if own is None else tuple(float(end) for end in own)
    return augmentation.name, range_, bool(augmentation.randomly_negate)


@pytest.mark.parametrize("name", suites.POLICY_NAMES)
def test_policies(name: str) -> None:
    expected = getattr(auto_augment, f"get_{name}_policy")()
    found = suites.auto_augment_sub_policies(name, 250)
    assert expected.num_magnitude_bins == suites.POLICY_BINS
    for own, other in zip(found, expected.sub_policies, strict=True):
        listed = [(described(a), p, bin_) for a, p, bin_ in own]
        assert listed == [(described(a), p, bin_) for a, p, bin_ in other]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (suites.rand_augment_suite(100), rand_augment.get_rand_augment_suite()),
        (
            suites.rand_augment_non_monotonic_suite(100),
            rand_augment.get_rand_augment_non_monotonic_suite(),
        ),
        (
            suites.trivial_augment_wide_suite(32),
            trivial_augment.get_trivial_augment_wide_suite(),
        ),
    ],
)
def test_suites(found: list[Any], expected: list[Any]) -> None:
    assert [described(own) for own in found] == [described(other) for other in expected]


def test_frames_get_the_same() -> None:
    rng = np.random.default_rng(6)
    clips = ndd.batch([rng.integers(0, 256, (3, 20, 24, 3), np.uint8)], layout="FHWC")
    whole = ndd.auto_aug.rand_augment(clips, 3, 20, seed=4)
    frames = [np.asarray(clips.tensors[0])[k] for k in range(3)]
    for number, frame in enumerate(frames):
        alone = ndd.auto_aug.rand_augment(ndd.batch([frame], layout="HWC"), 3, 20, seed=4)
        np.testing.assert_array_equal(
            np.asarray(whole.tensors[0])[number], np.asarray(alone.tensors[0])
        )
