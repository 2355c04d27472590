# SPDX-License-Identifier: Apache-2.0
"""AutoAugment, RandAugment and TrivialAugment with the reference's arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .._engine.batch import Batch, as_batch
from .._engine.enums import DALIInterpType
from .._engine.rng import RNG
from .._engine.tensor import Tensor
from .._ops.auto_aug import apply
from .._shapes.policies import Augmentation, Policy, RandomChoices, Step, SubPolicies
from .._shapes.suites import (
    POLICY_BINS,
    POLICY_NAMES,
    WITHOUT_TRANSLATION,
    Farthest,
    auto_augment_sub_policies,
    rand_augment_non_monotonic_suite,
    rand_augment_suite,
    trivial_augment_wide_suite,
)

Images = TypeVar("Images", Batch, Tensor)


def auto_augment(
    data: Images,
    policy_name: str = "image_net",
    shape: Any = None,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | str | None = None,
    max_translate_abs: Farthest | None = None,
    max_translate_rel: Farthest | None = None,
    seed: int | None = None,
    *,
    rng: RNG | None = None,
) -> Images:
    """Apply one of the policies of AutoAugment (https://arxiv.org/abs/1805.09501).

    Parameters
    ----------
    data
        Images (HWC) or sequences of them (FHWC), uint8, with 1 or 3 channels.
    policy_name
        "image_net", "reduced_image_net", "svhn" or "reduced_cifar10".
    shape
        Height and width of the images, one pair for all or a Batch with one for each. If given,
        translations are relative to them; otherwise they are in pixels.
    fill_value
        What lies outside of images that are moved. None: their border pixels repeat.
    interp_type
        `INTERP_LINEAR` (the default) or `INTERP_NN`, for images that are moved.
    max_translate_abs
        The farthest translation in pixels, without `shape`: one number, or one for the height and
        one for the width; 250 unless given.
    max_translate_rel
        The same relative to `shape`; 1 unless given.
    seed
        Makes a new generator for this call: equal seeds draw the same.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.auto_augment(images).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    where = "auto_aug.auto_augment"
    if policy_name not in POLICY_NAMES:
        msg = (
            f"{where}: 'policy_name' must be one of {', '.join(POLICY_NAMES)}; got {policy_name!r}."
        )
        raise ValueError(msg)
    if policy_name == WITHOUT_TRANSLATION:
        given = {
            "shape": shape,
            "max_translate_abs": max_translate_abs,
            "max_translate_rel": max_translate_rel,
        }
        for name, value in given.items():
            if value is not None:
                msg = f"{where}: the policy {policy_name!r} translates nothing; got '{name}'."
                raise ValueError(msg)
    farthest = _farthest(where, shape, max_translate_abs, max_translate_rel, (250, 1.0))
    policy = _auto_augment_policy(policy_name, farthest)
    return _applied(data, policy, shape, fill_value, interp_type, seed, rng)


def rand_augment(
    data: Images,
    n: int = 2,
    m: int = 9,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | str | None = None,
    max_translate_abs: Farthest | None = None,
    max_translate_rel: Farthest | None = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: Sequence[str] | None = None,
    *,
    rng: RNG | None = None,
) -> Images:
    """Apply random augmentations of one strength (RandAugment, https://arxiv.org/abs/1909.13719).

    Parameters
    ----------
    data
        Images (HWC) or sequences of them (FHWC), uint8, with 1 or 3 channels.
    n
        How many augmentations each image gets, one after the other.
    m
        Their magnitude bin, from 0 to `num_magnitude_bins` - 1.
    num_magnitude_bins
        How many bins the ranges of magnitudes are divided into.
    shape
        Height and width of the images, one pair for all or a Batch with one for each. If given,
        translations are relative to them; otherwise they are in pixels.
    fill_value
        What lies outside of images that are moved. None: their border pixels repeat.
    interp_type
        `INTERP_LINEAR` (the default) or `INTERP_NN`, for images that are moved.
    max_translate_abs
        The farthest translation in pixels, without `shape`: one number, or one for the height and
        one for the width; 100 unless given.
    max_translate_rel
        The same relative to `shape`; 100 / 224 unless given.
    seed
        Makes a new generator for this call: equal seeds draw the same.
    monotonic_mag
        Higher bins are stronger. False: the ranges of AutoAugment, in which that is not so.
    excluded
        Names of augmentations that are left out.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.rand_augment(images, n=2, m=17).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    where = "auto_aug.rand_augment"
    farthest = _farthest(where, shape, max_translate_abs, max_translate_rel, (100, 100 / 224))
    _check_count(where, "n", n, 0)
    _check_count(where, "num_magnitude_bins", num_magnitude_bins, 1)
    _check_count(where, "m", m, 0, num_magnitude_bins - 1)
    make = rand_augment_suite if monotonic_mag else rand_augment_non_monotonic_suite
    policy = _random_policy(make, farthest, tuple(excluded or ()), where, n, num_magnitude_bins, m)
    return _applied(data, policy, shape, fill_value, interp_type, seed, rng)


def trivial_augment_wide(
    data: Images,
    num_magnitude_bins: int = 31,
    shape: Any = None,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | str | None = None,
    max_translate_abs: Farthest | None = None,
    max_translate_rel: Farthest | None = None,
    seed: int | None = None,
    excluded: Sequence[str] | None = None,
    *,
    rng: RNG | None = None,
) -> Images:
    """Apply one random augmentation of random strength (TrivialAugment Wide).

    See https://arxiv.org/abs/2103.10158.

    Parameters
    ----------
    data
        Images (HWC) or sequences of them (FHWC), uint8, with 1 or 3 channels.
    num_magnitude_bins
        How many bins the ranges of magnitudes are divided into.
    shape
        Height and width of the images, one pair for all or a Batch with one for each. If given,
        translations are relative to them; otherwise they are in pixels.
    fill_value
        What lies outside of images that are moved. None: their border pixels repeat.
    interp_type
        `INTERP_LINEAR` (the default) or `INTERP_NN`, for images that are moved.
    max_translate_abs
        The farthest translation in pixels, without `shape`: one number, or one for the height and
        one for the width; 32 unless given.
    max_translate_rel
        The same relative to `shape`; 1 unless given.
    seed
        Makes a new generator for this call: equal seeds draw the same.
    excluded
        Names of augmentations that are left out.
    rng
        The generator to draw from.

    Examples
    --------
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.trivial_augment_wide(images).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    where = "auto_aug.trivial_augment_wide"
    farthest = _farthest(where, shape, max_translate_abs, max_translate_rel, (32, 1.0))
    _check_count(where, "num_magnitude_bins", num_magnitude_bins, 1)
    names = tuple(excluded or ())
    policy = _random_policy(
        trivial_augment_wide_suite, farthest, names, where, 1, num_magnitude_bins, None
    )
    return _applied(data, policy, shape, fill_value, interp_type, seed, rng)


def auto_augment_policy(
    sub_policies: Sequence[Sequence[Step]], num_magnitude_bins: int = POLICY_BINS
) -> Policy:
    """A policy for `apply`: each image gets one of several sequences of augmentations.

    Parameters
    ----------
    sub_policies
        Sequences of (augmentation, probability, magnitude bin); the bin is None for augmentations
        without magnitudes.
    num_magnitude_bins
        How many bins the ranges of magnitudes are divided into.

    Examples
    --------
    >>> rotate = ndd.auto_aug.Augmentation("rotate", mag_range=(0, 30), randomly_negate=True)
    >>> invert = ndd.auto_aug.Augmentation("invert")
    >>> policy = ndd.auto_aug.auto_augment_policy([[(rotate, 0.5, 9), (invert, 0.1, None)]])
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.apply(images, policy=policy).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    where = "auto_aug.auto_augment_policy"
    _check_count(where, "num_magnitude_bins", num_magnitude_bins, 1)
    if not sub_policies:
        msg = f"{where}: 'sub_policies' must not be empty."
        raise ValueError(msg)
    for augmentation, probability, number in (step for steps in sub_policies for step in steps):
        if not isinstance(augmentation, Augmentation):
            msg = f"{where}: steps begin with an auto_aug.Augmentation; got {augmentation!r}."
            raise TypeError(msg)
        if not 0 <= probability <= 1:
            msg = f"{where}: probabilities must be between 0 and 1; got {probability!r}."
            raise ValueError(msg)
        if number is not None:
            _check_count(where, "magnitude bin", number, 0, num_magnitude_bins - 1)
        elif augmentation.mag_range is not None:
            msg = f"{where}: the augmentation {augmentation.name!r} needs a magnitude bin."
            raise ValueError(msg)
    return SubPolicies(sub_policies, num_magnitude_bins)


def random_policy(
    augmentations: Sequence[Augmentation],
    n: int = 1,
    m: int | None = None,
    num_magnitude_bins: int = 31,
) -> Policy:
    """A policy for `apply`: each image gets `n` augmentations of a list, each as likely.

    Parameters
    ----------
    augmentations
        What to choose from.
    n
        How many each image gets, one after the other.
    m
        Their magnitude bin, or None for any of them.
    num_magnitude_bins
        How many bins the ranges of magnitudes are divided into.

    Examples
    --------
    >>> blur = lambda images, sigma: ndd.gaussian_blur(images, sigma=sigma)
    >>> choices = [ndd.auto_aug.Augmentation(blur, (0.5, 2)), ndd.auto_aug.Augmentation("invert")]
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.apply(images, policy=ndd.auto_aug.random_policy(choices)).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    where = "auto_aug.random_policy"
    _check_count(where, "n", n, 0)
    _check_count(where, "num_magnitude_bins", num_magnitude_bins, 1)
    if m is not None:
        _check_count(where, "m", m, 0, num_magnitude_bins - 1)
    return RandomChoices(_without(list(augmentations), None, where), n, num_magnitude_bins, m)


# Programs call with the same arguments again and again.
_KEPT = 64


@functools.lru_cache(_KEPT)
def _auto_augment_policy(name: str, farthest: Farthest) -> Policy:
    return SubPolicies(auto_augment_sub_policies(name, farthest), POLICY_BINS)


@functools.lru_cache(_KEPT)
def _random_policy(
    make: Callable[[Farthest], list[Augmentation]],
    farthest: Farthest,
    excluded: tuple[str, ...],
    where: str,
    n: int,
    bins: int,
    m: int | None,
) -> Policy:
    return RandomChoices(_without(make(farthest), excluded, where), n, bins, m)


def _farthest(
    where: str,
    shape: Any,
    absolute: Farthest | None,
    relative: Farthest | None,
    defaults: tuple[float, float],
) -> Farthest:
    """The farthest translation, in pixels or relative to shapes."""
    if shape is None:
        if relative is not None:
            msg = f"{where}: 'max_translate_rel' needs 'shape'. Give 'max_translate_abs' instead."
            raise ValueError(msg)
        return defaults[0] if absolute is None else _fixed(absolute)
    if absolute is not None:
        msg = f"{where}: 'max_translate_abs' excludes 'shape'. Give 'max_translate_rel' instead."
        raise ValueError(msg)
    return defaults[1] if relative is None else _fixed(relative)


def _fixed(farthest: Farthest) -> Farthest:
    return tuple(farthest) if isinstance(farthest, Sequence) else farthest


def _without(
    suite: list[Augmentation], excluded: Sequence[str] | None, where: str
) -> list[Augmentation]:
    names = [augmentation.name for augmentation in suite]
    for name in excluded or ():
        if name not in names:
            msg = (
                f"{where}: 'excluded' must name augmentations of the suite: {', '.join(names)}; "
                f"got {name!r}."
            )
            raise ValueError(msg)
    left = [augmentation for augmentation in suite if augmentation.name not in (excluded or ())]
    if not left:
        msg = f"{where}: there must be an augmentation to choose."
        raise ValueError(msg)
    return left


def _check_count(where: str, name: str, value: Any, least: int, most: int | None = None) -> None:
    if isinstance(value, int) and value >= least and (most is None or value <= most):
        return
    rule = f"an integer from {least} on" if most is None else f"an integer from {least} to {most}"
    msg = f"{where}: '{name}' must be {rule}; got {value!r}."
    raise ValueError(msg)


def _applied(
    data: Images,
    policy: Policy,
    shape: Any,
    fill_value: float | None,
    interp_type: DALIInterpType | str | None,
    seed: int | None,
    rng: RNG | None,
) -> Images:
    if seed is not None:
        if rng is not None:
            msg = "auto_aug: takes 'seed' or 'rng', not both."
            raise ValueError(msg)
        rng = RNG(seed)
    if isinstance(shape, list) and shape and not isinstance(shape[0], int):
        shape = as_batch(shape)
    made: Images = apply(
        data,
        policy=policy,
        shape=shape,
        fill_value=fill_value,
        repeat_border=fill_value is None,
        interp_type=interp_type,
        rng=rng,
    )
    return made
