# SPDX-License-Identifier: Apache-2.0
"""What was made of arguments that a program gives again and again, such as a list of means."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

T = TypeVar("T")

_NUMBERS = frozenset({int, float, bool})
# Longer lists are rarely written in a program, and take longer to compare.
_MOST_NUMBERS = 16
# How much is kept of each kind. A program that draws its arguments has no use for any of it.
_MOST_KEPT = 64

# Objects that nobody changes, by their addresses: see `_kernels.PlanTable`.
constants: dict[int, Any] = {}


def constant_key(value: Any) -> Any:
    """What distinguishes a number, or a list of numbers, from all others; None for the rest."""
    kind = type(value)
    if kind in _NUMBERS:
        # 0.0 and -0.0 are equal.
        return (kind, value) if value else (kind, str(value))
    if (kind is not list and kind is not tuple) or not 0 < len(value) <= _MOST_NUMBERS:
        return None
    kinds = (*map(type, value),)
    if _NUMBERS.issuperset(kinds):
        return (kinds, *map(str, value)) if 0 in value else (kinds, *value)
    parts = [constant_key(item) for item in value]
    return None if None in parts else tuple(parts)


class Constants(Generic[T]):
    """What was made of constants, by their keys. All calls get the same objects."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[Any, T] = {}

    def get(self, key: Any) -> T | None:
        """What was made of a constant, if it is still there."""
        return self._made.get(key)

    def keep(self, key: Any, made: T) -> T:
        """Keep what was made of a constant; what another thread has made of it comes first."""
        if len(self._made) >= _MOST_KEPT:
            for old in self._made.values():
                constants.pop(id(old), None)
            self._made = {}
        made = self._made.setdefault(key, made)
        constants[id(made)] = made
        return made
