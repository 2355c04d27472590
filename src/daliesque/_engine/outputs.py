# SPDX-License-Identifier: Apache-2.0
"""How many results an operator has, as the option `outputs` of `@op` says it.

    outputs=2                                  always two
    outputs=Outputs(1, Flag("save_attrs"))     one, and another one if `save_attrs` is True
    outputs=OnePer("element_map")              one for each item of `element_map`

These are data rather than functions, so that the type stubs can say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeAlias


class Flag(NamedTuple):
    """One more result if the argument is True."""

    argument: str

    @property
    def present(self) -> tuple[bool]:
        """The values that add the result."""
        return (True,)

    @property
    def absent(self) -> tuple[bool]:
        """The values that do not."""
        return (False,)

    def holds(self, _inputs: Sequence[Any], arguments: Mapping[str, Any]) -> bool:
        """Whether a call has the result."""
        return bool(arguments[self.argument])


class Choice(NamedTuple):
    """One more result if the argument is one of the words `present`, none if one of `absent`."""

    argument: str
    present: tuple[str, ...]
    absent: tuple[str, ...]

    def holds(self, _inputs: Sequence[Any], arguments: Mapping[str, Any]) -> bool:
        """Whether a call has the result; the body refuses other words."""
        return arguments[self.argument] not in self.absent


class Given(NamedTuple):
    """One more result if the optional input at this position is given."""

    position: int

    def holds(self, inputs: Sequence[Any], _arguments: Mapping[str, Any]) -> bool:
        """Whether a call has the result."""
        return inputs[self.position] is not None


Extra: TypeAlias = Flag | Choice | Given


class Outputs:
    """A number of results that every call has, and those that depend on the call."""

    def __init__(self, least: int, *extras: Extra) -> None:
        self.least = least
        self.extras = extras

    def count(self, _operator: str, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> int:
        """The number of results of a call."""
        number = self.least
        for extra in self.extras:
            if extra.holds(inputs, arguments):
                number += 1
        return number

    def variants(self) -> list[tuple[int, tuple[bool, ...]]]:
        """For each combination of the extras: the number of results, and which extras hold."""
        combinations = product((False, True), repeat=len(self.extras))
        return [(self.least + sum(holds), holds) for holds in combinations]


class OnePer:
    """One result for each item of an argument."""

    def __init__(self, argument: str) -> None:
        self.argument = argument

    def count(self, operator: str, _inputs: Sequence[Any], arguments: Mapping[str, Any]) -> int:
        """The number of results of a call."""
        number = len(arguments[self.argument])
        if number == 0:
            msg = f"{operator}: '{self.argument}' must have at least one item; got []."
            raise ValueError(msg)
        return number


OutputRule: TypeAlias = int | Outputs | OnePer
