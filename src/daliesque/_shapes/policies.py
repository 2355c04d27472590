# SPDX-License-Identifier: Apache-2.0
"""Policies of augmentation: which operator a sample gets, and how strong it is.

An `Augmentation` is an operator with a range of magnitudes. A policy draws, for each sample, a few
stages: the number of an augmentation, or -1 for none, and its parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .draws import Floats, Integers, between

# The name of an augmentation of this library, or a function of a Batch and its parameters.
Function: TypeAlias = Callable[[Any, Any], Any]
MagnitudeRange: TypeAlias = tuple[float, float] | NDArray[Any] | None

_UNSET: Any = object()


@dataclass(frozen=True, eq=False)
class Augmentation:
    """An operator and what its magnitudes mean.

    Parameters
    ----------
    operator
        The name of one of `augmentations`, or a function that takes a Batch of images and a Batch
        with a parameter for each, and returns images of the same type and shapes.
    mag_range
        The weakest and the strongest magnitude, or an array with one for each bin. None if there
        is nothing to choose.
    randomly_negate
        Half of the samples get the negative magnitude.
    mag_to_param
        Makes a parameter of a magnitude; by default they are the same.
    name
        What it is called in `excluded` and in messages; by default after the operator.
    """

    operator: str | Function
    mag_range: MagnitudeRange = None
    randomly_negate: bool = False
    mag_to_param: Callable[[Any], Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            own = self.operator if isinstance(self.operator, str) else self.operator.__name__
            object.__setattr__(self, "name", own)
        if isinstance(self.operator, str) and self.operator not in OPERATORS:
            msg = (
                f"auto_aug: there is no augmentation {self.operator!r}. "
                f"The names are {', '.join(OPERATORS)}."
            )
            raise ValueError(msg)

    def augmentation(
        self,
        mag_range: MagnitudeRange = _UNSET,
        randomly_negate: bool = _UNSET,
        mag_to_param: Callable[[Any], Any] | None = _UNSET,
        name: str = _UNSET,
    ) -> Augmentation:
        """The same with other settings."""
        given: dict[str, Any] = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "name": name,
        }
        changed: Any = {key: value for key, value in given.items() if value is not _UNSET}
        return dataclasses.replace(self, **changed)

    def magnitudes(self, bins: int) -> Floats:
        """The magnitude of each bin."""
        if self.mag_range is None:
            return np.zeros(bins, np.float32)
        if isinstance(self.mag_range, np.ndarray):
            if len(self.mag_range) != bins:
                msg = (
                    f"auto_aug: the augmentation {self.name!r} has magnitudes for "
                    f"{len(self.mag_range)} bins; got {bins} bins."
                )
                raise ValueError(msg)
            return self.mag_range.astype(np.float32)
        low, high = self.mag_range
        return np.linspace(low, high, bins, dtype=np.float32)

    def parameters(self, magnitudes: Floats) -> Floats:
        """The parameter of each magnitude."""
        if self.mag_to_param is None:
            return magnitudes
        made = [self.mag_to_param(magnitude) for magnitude in magnitudes]
        return np.array(made, np.float32).reshape(len(magnitudes))


# The operators that policies know by name.
OPERATORS = (
    *("shear_x", "shear_y", "translate_x", "translate_y", "rotate"),
    *("brightness", "contrast", "color", "sharpness"),
    *("posterize", "solarize", "solarize_add", "invert", "equalize", "auto_contrast", "identity"),
)


def shift_enhance_range(magnitude: Any) -> Any:
    """Factors around 1 of magnitudes around 0."""
    return 1 + magnitude


class Stage(NamedTuple):
    """What one step does to each sample: number of an augmentation or -1, and parameters."""

    numbers: Integers
    parameters: Floats


class Policy(Protocol):
    """Draws the stages of each sample from a row of uniform numbers."""

    @property
    def augmentations(self) -> Sequence[Augmentation]:
        """What the numbers of stages stand for."""

    @property
    def width(self) -> int:
        """How many uniform numbers it needs for a sample."""

    def stages(self, numbers: Floats) -> list[Stage]:
        """The stages for rows of uniform numbers."""


def _table(augmentations: Sequence[Augmentation], bins: int) -> Floats:
    """The parameters of augmentations, (number, bin, 2): for both signs of magnitudes."""
    rows = []
    for augmentation in augmentations:
        magnitudes = augmentation.magnitudes(bins)
        other = -magnitudes if augmentation.randomly_negate else magnitudes
        rows.append([augmentation.parameters(signed) for signed in (magnitudes, other)])
    return np.array(rows, np.float32).transpose(0, 2, 1)


def _chosen(numbers: Floats, count: int) -> Integers:
    """Numbers from [0, 1) as whole ones from [0, count)."""
    return np.minimum((numbers * np.float32(count)).astype(np.int64), count - 1)


class RandomChoices:
    """`n` augmentations out of a list, each as likely, with a magnitude bin or any of them."""

    def __init__(
        self, augmentations: Sequence[Augmentation], n: int, bins: int, m: int | None
    ) -> None:
        self.augmentations = tuple(augmentations)
        self._steps, self._bins, self._bin = n, bins, m
        self._parameters = _table(self.augmentations, bins)
        self.width = 3 * n

    def stages(self, numbers: Floats) -> list[Stage]:
        """The stages for rows of uniform numbers."""
        found = []
        for step in range(self._steps):
            choice, sign, strength = numbers[:, 3 * step : 3 * step + 3].T
            chosen = _chosen(choice, len(self.augmentations))
            own = _chosen(strength, self._bins) if self._bin is None else self._bin
            found.append(Stage(chosen, self._parameters[chosen, own, _chosen(sign, 2)]))
        return found


# An augmentation, how likely it is, and its magnitude bin.
Step: TypeAlias = tuple[Augmentation, float, int | None]


class SubPolicies:
    """One of several sequences of augmentations, each as likely (AutoAugment)."""

    def __init__(self, sub_policies: Sequence[Sequence[Step]], bins: int) -> None:
        longest = max(len(steps) for steps in sub_policies)
        listed: dict[Augmentation, int] = {}
        shape = (len(sub_policies), longest)
        self._numbers = np.full(shape, -1, np.int64)
        self._chances = np.zeros(shape, np.float32)
        self._bins = np.zeros(shape, np.int64)
        for row, steps in enumerate(sub_policies):
            for column, (augmentation, probability, number) in enumerate(steps):
                self._numbers[row, column] = listed.setdefault(augmentation, len(listed))
                self._chances[row, column] = probability
                self._bins[row, column] = number or 0
        self.augmentations = tuple(listed)
        self._parameters = _table(self.augmentations, bins)
        self.width = 1 + 2 * longest

    def stages(self, numbers: Floats) -> list[Stage]:
        """The stages for rows of uniform numbers."""
        chosen = _chosen(numbers[:, 0], len(self._numbers))
        found = []
        for step in range(self._numbers.shape[1]):
            runs, sign = numbers[:, 1 + 2 * step : 3 + 2 * step].T
            own, bins = self._numbers[chosen, step], self._bins[chosen, step]
            parameters = self._parameters[own, bins, _chosen(sign, 2)]
            skipped = runs >= self._chances[chosen, step]
            found.append(Stage(np.where(skipped, -1, own), parameters))
        return found


class InOrder:
    """All augmentations of a list, one after the other, each with its probability."""

    def __init__(self, steps: Sequence[tuple[Augmentation, float]]) -> None:
        self.augmentations = tuple(augmentation for augmentation, _ in steps)
        self._chances = [probability for _, probability in steps]
        self.width = 3 * len(self.augmentations)

    def stages(self, numbers: Floats) -> list[Stage]:
        """The stages for rows of uniform numbers."""
        found = []
        for step, augmentation in enumerate(self.augmentations):
            runs, strength, sign = numbers[:, 3 * step : 3 * step + 3].T
            magnitudes = self._magnitudes(augmentation, strength)
            if augmentation.randomly_negate:
                magnitudes = np.where(sign < 0.5, magnitudes, -magnitudes)
            own = np.where(runs < self._chances[step], step, -1)
            found.append(Stage(own, augmentation.parameters(magnitudes.astype(np.float32))))
        return found

    @staticmethod
    def _magnitudes(augmentation: Augmentation, strength: Floats) -> NDArray[Any]:
        range_ = augmentation.mag_range
        if range_ is None:
            return np.zeros(len(strength))
        if isinstance(range_, np.ndarray):
            return range_[_chosen(strength, len(range_))]
        drawn: NDArray[Any] = between(range_, strength.astype(np.float64))
        return drawn
