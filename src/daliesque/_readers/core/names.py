# SPDX-License-Identifier: Apache-2.0
"""Where samples come from, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Names(Sequence[str]):
    """Names of samples, made when somebody asks for one: that is rare, and can take longer than
    reading.

    What `find` belongs to lives as long as the names, so it must not hold files open.
    """

    __slots__ = ("_find", "_known", "_numbers")

    def __init__(
        self, find: Callable[[Sequence[int]], Sequence[str]], numbers: Sequence[int]
    ) -> None:
        self._find = find
        self._numbers = numbers
        self._known: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        return self._all()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        # What finds them stays in this process.
        return tuple, (tuple(self),)

    def _all(self) -> Sequence[str]:
        if self._known is None:
            self._known = self._find(self._numbers)
        return self._known
