# SPDX-License-Identifier: Apache-2.0
"""Automatic augmentation: AutoAugment, RandAugment, TrivialAugment, AugMix and own policies.

Each sample gets operators and magnitudes of its own; the samples that got the same operator are
processed together. `nvidia.dali.auto_aug` has the first three, with the same arguments, for its
pipelines; given the same operators and magnitudes, results are equal to its.
"""

from ._loops.auto_augment import (
    auto_augment,
    auto_augment_policy,
    rand_augment,
    random_policy,
    trivial_augment_wide,
)
from ._ops.auto_aug import apply, augmix
from ._public import publish as _publish
from ._shapes.policies import Augmentation

__all__ = [
    "Augmentation",
    "apply",
    "augmix",
    "auto_augment",
    "auto_augment_policy",
    "rand_augment",
    "random_policy",
    "trivial_augment_wide",
]

_publish(globals())
