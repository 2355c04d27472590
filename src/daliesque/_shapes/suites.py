# SPDX-License-Identifier: Apache-2.0
"""The augmentations and policies of AutoAugment, RandAugment and TrivialAugment.

Ranges and policies are those of the reference, and so of the papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from .policies import Augmentation, Step, shift_enhance_range

# The farthest translation: one number, or one for the height and one for the width.
Farthest: TypeAlias = float | Sequence[float]

_EQUALIZE = Augmentation("equalize")
_AUTO_CONTRAST = Augmentation("auto_contrast")
_INVERT = Augmentation("invert")
_IDENTITY = Augmentation("identity")


def _translations(farthest: Farthest) -> list[Augmentation]:
    """Along x and y."""
    if isinstance(farthest, Sequence):
        if len(farthest) != 2:
            msg = f"auto_aug: the farthest translation is one number or two; got {farthest!r}."
            raise ValueError(msg)
        height, width = farthest
    else:
        height = width = farthest
    return [
        Augmentation("translate_x", (0, width), True),
        Augmentation("translate_y", (0, height), True),
    ]


def _wide_suite(
    farthest: Farthest, shear: float, angle: float, enhance: tuple[float, float], bits: float
) -> list[Augmentation]:
    """Augmentations that become stronger with the magnitude bin."""
    return [
        *_translations(farthest),
        Augmentation("shear_x", (0, shear), True),
        Augmentation("shear_y", (0, shear), True),
        Augmentation("rotate", (0, angle), True),
        Augmentation("brightness", enhance, True, shift_enhance_range),
        Augmentation("contrast", enhance, True, shift_enhance_range),
        Augmentation("color", enhance, True, shift_enhance_range),
        Augmentation("sharpness", enhance, True, shift_enhance_range),
        Augmentation("posterize", (8, bits)),
        Augmentation("solarize", (256, 0)),
        _EQUALIZE,
        _AUTO_CONTRAST,
        _IDENTITY,
    ]


def rand_augment_suite(farthest: Farthest) -> list[Augmentation]:
    """The augmentations of RandAugment, the stronger the higher the bin."""
    return _wide_suite(farthest, 0.3, 30, (0, 0.9), 4)


def trivial_augment_wide_suite(farthest: Farthest) -> list[Augmentation]:
    """The augmentations of TrivialAugment Wide."""
    return _wide_suite(farthest, 0.99, 135, (0.01, 0.99), 2)


def _auto_augment_suite(farthest: Farthest) -> dict[str, Augmentation]:
    """The augmentations of AutoAugment by name."""
    factors = (0.1, 1.9)
    suite = [
        *_translations(farthest),
        Augmentation("shear_x", (0, 0.3), True),
        Augmentation("shear_y", (0, 0.3), True),
        Augmentation("rotate", (0, 30), True),
        Augmentation("brightness", factors),
        Augmentation("contrast", factors),
        Augmentation("color", factors),
        Augmentation("sharpness", factors),
        Augmentation("posterize", (0, 4)),
        Augmentation("solarize", (0, 256)),
        Augmentation("solarize_add", (0, 110)),
        _INVERT,
        _EQUALIZE,
        _AUTO_CONTRAST,
        _IDENTITY,
    ]
    return {augmentation.name: augmentation for augmentation in suite}


def rand_augment_non_monotonic_suite(farthest: Farthest) -> list[Augmentation]:
    """The augmentations of RandAugment with the ranges of AutoAugment."""
    suite = _auto_augment_suite(farthest)
    left_out = {"solarize_add", "invert"}
    return [augmentation for name, augmentation in suite.items() if name not in left_out]


# A sub-policy in each line; an operator is its name, probability and magnitude bin.
_POLICIES = {
    "image_net": """
        equalize 0.8 -, shear_y 0.8 4
        color 0.4 9, equalize 0.6 -
        color 0.4 1, rotate 0.6 8
        solarize 0.8 3, equalize 0.4 -
        solarize 0.4 2, solarize 0.6 2
        color 0.2 0, equalize 0.8 -
        equalize 0.4 -, solarize_add 0.8 3
        shear_x 0.2 9, rotate 0.6 8
        color 0.6 1, equalize 1.0 -
        invert 0.4 -, rotate 0.6 0
        equalize 1.0 -, shear_y 0.6 3
        color 0.4 7, equalize 0.6 -
        posterize 0.4 6, auto_contrast 0.4 -
        solarize 0.6 8, color 0.6 9
        solarize 0.2 4, rotate 0.8 9
        rotate 1.0 7, translate_y 0.8 9
        solarize 0.8 4
        shear_y 0.8 0, color 0.6 4
        color 1.0 0, rotate 0.6 2
        equalize 0.8 -
        equalize 1.0 -, auto_contrast 0.6 -
        shear_y 0.4 7, solarize_add 0.6 7
        posterize 0.8 2, solarize 0.6 10
        solarize 0.6 8, equalize 0.6 -
        color 0.8 6, rotate 0.4 5
    """,
    "reduced_cifar10": """
        invert 0.1 -, contrast 0.2 6
        rotate 0.7 2, translate_x 0.3 9
        sharpness 0.8 1, sharpness 0.9 3
        shear_y 0.5 8, translate_y 0.7 9
        auto_contrast 0.5 -, equalize 0.9 -
        shear_y 0.2 7, posterize 0.3 7
        color 0.4 3, brightness 0.6 7
        sharpness 0.3 9, brightness 0.7 9
        equalize 0.6 -, equalize 0.5 -
        contrast 0.6 7, sharpness 0.6 5
        color 0.7 7, translate_x 0.5 8
        equalize 0.3 -, auto_contrast 0.4 -
        translate_y 0.4 3, sharpness 0.2 6
        brightness 0.9 6, color 0.2 8
        solarize 0.5 2
        equalize 0.2 -, auto_contrast 0.6 -
        equalize 0.2 -, equalize 0.6 -
        color 0.9 9, equalize 0.6 -
        auto_contrast 0.8 -, solarize 0.2 8
        brightness 0.1 3, color 0.7 0
        solarize 0.4 5, auto_contrast 0.9 -
        translate_y 0.9 9, translate_y 0.7 9
        auto_contrast 0.9 -, solarize 0.8 3
        equalize 0.8 -, invert 0.1 -
        translate_y 0.7 9, auto_contrast 0.9 -
    """,
    "svhn": """
        shear_x 0.9 4, invert 0.2 -
        shear_y 0.9 8, invert 0.7 -
        equalize 0.6 -, solarize 0.6 6
        invert 0.9 -, equalize 0.6 -
        equalize 0.6 -, rotate 0.9 3
        shear_x 0.9 4, auto_contrast 0.8 -
        shear_y 0.9 8, invert 0.4 -
        shear_y 0.9 5, solarize 0.2 6
        invert 0.9 -, auto_contrast 0.8 -
        equalize 0.6 -, rotate 0.9 3
        shear_x 0.9 4, solarize 0.3 3
        shear_y 0.8 8, invert 0.7 -
        equalize 0.9 -, translate_y 0.6 6
        invert 0.9 -, equalize 0.6 -
        contrast 0.3 3, rotate 0.8 4
        invert 0.8 -
        shear_y 0.7 6, solarize 0.4 8
        invert 0.6 -, rotate 0.8 4
        shear_y 0.3 7, translate_x 0.9 3
        shear_x 0.1 6, invert 0.6 -
        solarize 0.7 2, translate_y 0.6 7
        shear_y 0.8 4, invert 0.8 -
        shear_x 0.7 9, translate_y 0.8 3
        shear_y 0.8 5, auto_contrast 0.7 -
        shear_x 0.7 2, invert 0.1 -
    """,
    "reduced_image_net": """
        posterize 0.4 8, rotate 0.6 9
        solarize 0.6 5, auto_contrast 0.6 -
        equalize 0.8 -, equalize 0.6 -
        posterize 0.6 7, posterize 0.6 6
        equalize 0.4 -, solarize 0.2 4
        equalize 0.4 -, rotate 0.8 8
        solarize 0.6 3, equalize 0.6 -
        posterize 0.8 5, equalize 1.0 -
        rotate 0.2 3, solarize 0.6 8
        equalize 0.6 -, posterize 0.4 6
        rotate 0.8 8, color 0.4 0
        rotate 0.4 9, equalize 0.6 -
        equalize 0.8 -
        invert 0.6 -, equalize 1.0 -
        color 0.6 4, contrast 1.0 8
        rotate 0.8 8, color 1.0 2
        color 0.8 8, solarize 0.8 7
        sharpness 0.4 7, invert 0.6 -
        shear_x 0.6 5, equalize 1.0 -
        color 0.4 0, equalize 0.6 -
        equalize 0.4 -, solarize 0.2 4
        solarize 0.6 5, auto_contrast 0.6 -
        invert 0.6 -, equalize 1.0 -
        color 0.6 4, contrast 1.0 8
        equalize 0.8 -, equalize 0.6 -
    """,
}
POLICY_NAMES = tuple(_POLICIES)
# This policy moves nothing.
WITHOUT_TRANSLATION = "reduced_image_net"
POLICY_BINS = 11


def auto_augment_sub_policies(name: str, farthest: Farthest) -> list[list[Step]]:
    """The sub-policies of a policy of AutoAugment."""
    suite = _auto_augment_suite(farthest)
    found = []
    for line in _POLICIES[name].strip().splitlines():
        steps: list[Step] = []
        for step in line.split(","):
            operator, probability, number = step.split()
            chosen = None if number == "-" else int(number)
            steps.append((suite[operator], float(probability), chosen))
        found.append(steps)
    return found
