# SPDX-License-Identifier: Apache-2.0
"""Automatic augmentation: what is drawn, and how own policies are applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque._ops.auto_aug import Canvas, maps_of, stages_of
from daliesque._ops.warp import LINEAR
from daliesque._shapes import suites
from daliesque._shapes.draws import uniform_rows
from daliesque._shapes.policies import RandomChoices, SubPolicies
from support.compare import assert_close, assert_same

Array = NDArray[Any]
auto_aug = ndd.auto_aug


def noise(count: int, shape: tuple[int, ...] = (16, 20, 3)) -> list[Array]:
    rng = np.random.default_rng(count)
    return [rng.integers(0, 256, shape, np.uint8) for _ in range(count)]


def arrays(batch: Any) -> list[Array]:
    return [np.asarray(sample) for sample in batch.tensors]


def drawn(policy: Any, count: int = 20000) -> Any:
    state = ndd.random.RNG(11)._philox.draw_operator_state()
    return policy.stages(uniform_rows(state, count, policy.width))


def test_rand_augment_draws_each_augmentation_and_sign_as_often() -> None:
    suite = suites.rand_augment_suite(100)
    for stage in drawn(RandomChoices(suite, 2, 31, 9)):
        counts = np.bincount(stage.numbers, minlength=len(suite))
        assert abs(counts / 20000 - 1 / len(suite)).max() < 0.01
        rotated = stage.parameters[stage.numbers == 4]
        assert_close(np.unique(rotated), [-9, 9], "float32")
        assert 0.4 < (rotated > 0).mean() < 0.6


def test_trivial_augment_draws_all_strengths() -> None:
    suite = suites.trivial_augment_wide_suite(32)
    (stage,) = drawn(RandomChoices(suite, 1, 31, None))
    solarized = stage.parameters[stage.numbers == 10]
    assert_close(np.unique(solarized), np.linspace(0, 256, 31), "float32")


def test_auto_augment_follows_its_sub_policies() -> None:
    rotate = auto_aug.Augmentation("rotate", (0, 30), True)
    invert = auto_aug.Augmentation("invert")
    policy = SubPolicies([[(rotate, 0.25, 10), (invert, 1.0, None)], [(invert, 0.5, None)]], 11)
    first, second = drawn(policy)
    shares = [float((first.numbers == number).mean()) for number in (-1, 0, 1)]
    assert np.abs(np.array(shares) - [0.625, 0.125, 0.25]).max() < 0.02
    assert abs(float((second.numbers == 1).mean()) - 0.5) < 0.02
    assert_close(np.unique(first.parameters[first.numbers == 0]), [-30, 30], "float32")


def test_own_policies_apply_steps_in_order() -> None:
    images = noise(6)
    policy = [("invert", None, 1.0), ("solarize", (100, 100), 1.0), ("posterize", (3, 3), 1.0)]
    made = auto_aug.apply(ndd.batch(images, layout="HWC"), policy=policy)
    for image, found in zip(images, arrays(made), strict=True):
        inverted = 255 - image
        solarized = np.where(inverted < 100, inverted, 255 - inverted)
        assert_same(found, (solarized & 0b11100000).astype(np.uint8))


def test_probabilities_of_steps() -> None:
    images = ndd.batch([np.zeros((1, 1, 3), np.uint8)] * 2000, layout="HWC")
    made = np.asarray(auto_aug.apply(images, policy=[("invert", None, 0.3)]))
    assert abs((made == 255).mean() - 0.3) < 0.05


def test_samples_that_drew_nothing_are_not_copied() -> None:
    images = ndd.batch(noise(40), layout="HWC")
    images.evaluate()
    made = auto_aug.apply(images, policy=[("invert", None, 0.5)]).evaluate()
    own, other = images._data(), made._data()
    kept = [own.pointer(i) == other.pointer(i) for i in range(40)]
    changed = [(a != b).any() for a, b in zip(arrays(images), arrays(made), strict=True)]
    assert kept == [not change for change in changed]
    assert 5 < sum(kept) < 35


def test_functions_are_augmentations() -> None:
    seen: list[int] = []

    def shift(images: Any, amount: Any) -> Any:
        seen.append(images.batch_size)
        return ndd.cast(images + amount, dtype=ndd.uint8)

    images = [np.full((2, 3, 3), 10 * i, np.uint8) for i in range(8)]
    made = auto_aug.apply(ndd.batch(images, layout="HWC"), policy=[(shift, (5, 5), 0.5)])
    differences = {
        int((b.astype(int) - a).max()) for a, b in zip(images, arrays(made), strict=True)
    }
    assert differences == {0, 5}
    # One call for all samples that drew it.
    assert len(seen) == 1
    blur = auto_aug.Augmentation(lambda images, s: ndd.gaussian_blur(images, sigma=s), (1, 2))
    policy = auto_aug.random_policy([blur, auto_aug.Augmentation("invert")], n=2)
    batch = ndd.batch(noise(9), layout="HWC")
    with ndd.EvalContext(num_threads=1):
        assert auto_aug.apply(batch, policy=policy).evaluate().batch_size == 9


@pytest.mark.parametrize("mode", list(ndd.EvalMode))
def test_functions_run_in_every_mode(mode: ndd.EvalMode) -> None:
    images = ndd.batch([np.full((2, 3, 3), 10, np.uint8)] * 3, layout="HWC")
    double = auto_aug.Augmentation(lambda images, _: ndd.brightness(images, brightness=2.0))
    with mode:
        made = auto_aug.apply(images, policy=auto_aug.random_policy([double]))
        assert (np.asarray(made) == 20).all()


def test_seeds_and_generators() -> None:
    images = ndd.batch(noise(12), layout="HWC")
    for function in (auto_aug.auto_augment, auto_aug.rand_augment, auto_aug.trivial_augment_wide):
        first, again = (function(images, seed=3) for _ in range(2))
        for one, two in zip(arrays(first), arrays(again), strict=True):
            assert_same(one, two)
        rng = ndd.random.RNG(3)
        runs = [arrays(function(images, rng=rng)) for _ in range(2)]
        assert any((a != b).any() for a, b in zip(*runs, strict=True))


@pytest.mark.parametrize("channels", [1, 3])
def test_channels_and_shapes(channels: int) -> None:
    images = ndd.batch(noise(64, (9, 14, channels)), layout="HWC")
    for made in (
        auto_aug.rand_augment(images, 3, 30, shape=(9, 14)),
        auto_aug.auto_augment(images, "reduced_cifar10"),
        auto_aug.trivial_augment_wide(images, shape=images.shape, fill_value=None),
        auto_aug.augmix(images, severity=10),
    ):
        assert made.shape == images.shape
        assert made.evaluate().dtype == ndd.uint8
    single = auto_aug.rand_augment(images.tensors[0])
    assert isinstance(single, ndd.Tensor)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_augmix_mixes_with_weights_that_add_up_to_one(width: int) -> None:
    """No augmentation but those that keep a uniform gray image: so does the mixture."""
    images = ndd.batch([np.full((8, 8, 3), 128, np.uint8)] * 50, layout="HWC")
    made = np.asarray(auto_aug.augmix(images, severity=1, mixture_width=width, fill_value=128))
    assert np.abs(made.astype(int) - 128).max() <= 1
    strong = np.asarray(auto_aug.augmix(ndd.batch(noise(30), layout="HWC"), severity=10))
    assert np.abs(strong.astype(int) - np.stack(noise(30))).mean() > 5


def test_maps_of_stages_say_where_pixels_come_from() -> None:
    """A bright pixel is found where the map comes from."""
    image = np.zeros((60, 80, 3), np.uint8)
    image[24:27, 34:37] = 255
    names = ("shear_x", "shear_y", "translate_x", "translate_y", "rotate")
    for name in names:
        range_ = (0, 15) if name[0] != "s" else (0, 0.3)
        policy = RandomChoices([auto_aug.Augmentation(name, range_, True)], 1, 11, 10)
        rng = ndd.random.RNG(2)
        state = rng.clone()._philox.draw_operator_state()
        (stage,) = stages_of(policy, state, 6)
        sizes = np.array([[60, 80]] * 6)
        maps = maps_of(policy, stage, sizes, Canvas(0, LINEAR, None)).reshape(-1, 2, 3)
        batch = ndd.batch([image] * 6, layout="HWC")
        made = auto_aug.apply(batch, policy=policy, fill_value=0, rng=rng)
        for matrix, found in zip(maps, arrays(made), strict=True):
            weights = found[..., 0].astype(np.float64)
            y, x = np.mgrid[:60, :80] + 0.5
            center = [(weights * part).sum() / weights.sum() for part in (x, y)]
            assert_close(matrix @ [*center, 1], [35.5, 25.5], "centers of objects")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: auto_aug.auto_augment(x, "imagenet"), "'policy_name' must be one of image_net"),
        (
            lambda x: auto_aug.auto_augment(x, "reduced_image_net", shape=(1, 1)),
            "translates nothing",
        ),
        (lambda x: auto_aug.rand_augment(x, 2, 31), "'m' must be an integer from 0 to 30; got 31"),
        (lambda x: auto_aug.rand_augment(x, -1), "'n' must be an integer from 0 on; got -1"),
        (
            lambda x: auto_aug.rand_augment(x, excluded=["spin"]),
            "'excluded' must name .* got 'spin'",
        ),
        (lambda x: auto_aug.rand_augment(x, max_translate_rel=1.0), "needs 'shape'"),
        (lambda x: auto_aug.rand_augment(x, shape=(4, 4), max_translate_abs=1), "excludes 'shape'"),
        (lambda x: auto_aug.apply(x, policy=[("spin", None, 1.0)]), "no augmentation 'spin'"),
        (lambda x: auto_aug.apply(x, policy=[("invert", None, 2.0)]), "got the probability 2.0"),
        (
            lambda x: auto_aug.apply(x, policy=[("rotate", (1, 2, 3), 1.0)]),
            "got the magnitude range",
        ),
        (
            lambda x: auto_aug.augmix(x, severity=11).evaluate(),
            "'severity' must be between 1 and 10",
        ),
        (
            lambda x: auto_aug.apply(x, policy=[(lambda i, _: i.torch(), None, 1.0)]).evaluate(),
            "must return a Batch of the type and shapes",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(ndd.batch(noise(2), layout="HWC"))


def test_types_that_are_refused() -> None:
    images = ndd.batch(noise(2), layout="HWC")
    with pytest.raises(TypeError, match=r"'policy' must be a list of .operator, magnitude range"):
        auto_aug.apply(images, policy="image_net")
    with pytest.raises(ValueError, match="uint8"):
        auto_aug.rand_augment(ndd.cast(images, dtype=ndd.float32)).evaluate()
    with pytest.raises(ValueError, match="images must have 1 or 3 channels; got the shape"):
        auto_aug.rand_augment(ndd.batch(noise(2, (4, 4, 2)), layout="HWC")).evaluate()
