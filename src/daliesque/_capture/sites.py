# SPDX-License-Identifier: Apache-2.0
"""Where a call stands in the program of the user.

A site is an operator and the chain of (code object, instruction) from the line that calls it up to
the outermost one: a helper that is reached on two ways is two sites. Chains are shortened to what
distinguishes the sites of an operator, and to what the proof of their arguments rests on.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable
from types import CodeType, FrameType
from typing import Any, Generic, TypeAlias, TypeVar

Location: TypeAlias = tuple[CodeType, int]
Chain: TypeAlias = tuple[Location, ...]

T = TypeVar("T")

_PACKAGE = __name__.partition(".")[0]
# The functions that are between the user's line and the call.
_BETWEEN = (f"{_PACKAGE}._engine.", f"{_PACKAGE}._capture.")
# Other modules of which all functions are say so by this name.
_HANDS_ON = "_HANDS_ON_CALLS"


def is_between(frame: FrameType) -> bool:
    """Whether a frame only hands on the call of somebody else."""
    names = frame.f_globals
    return str(names.get("__name__", "")).startswith(_BETWEEN) or _HANDS_ON in names


def outside(frame: FrameType | None) -> FrameType | None:
    """The first frame, from the given one outwards, that makes a call of its own."""
    while frame is not None and is_between(frame):
        frame = frame.f_back
    return frame


def calling_frame() -> FrameType:
    """The frame that makes the call in which this is called."""
    frame = outside(sys._getframe(1))
    assert frame is not None
    return frame


def user_frame() -> FrameType:
    """The innermost frame outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_of_package(frame):
        frame = frame.f_back
    return frame


def _is_of_package(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == _PACKAGE


def warn_at(frame: FrameType, message: str) -> None:
    """Warn about the line that a frame is at."""
    warnings.warn_explicit(message, UserWarning, frame.f_code.co_filename, frame.f_lineno)


def chain_of(frame: FrameType) -> Chain:
    """All locations from a frame outwards."""
    chain = []
    current: FrameType | None = frame
    while current is not None:
        chain.append((current.f_code, current.f_lasti))
        current = current.f_back
    return tuple(chain)


def distance(inner: FrameType, outer: FrameType) -> int:
    """How many locations of a chain reach from one frame to another, both included."""
    count = 1
    current: FrameType | None = inner
    while current is not None and current is not outer:
        current = current.f_back
        count += 1
    return count


class Sites(Generic[T]):
    """What is known about each site."""

    def __init__(self) -> None:
        self._found: dict[Hashable, dict[Chain, T]] = {}
        self._depths: dict[Hashable, dict[Chain, int]] = {}
        # For each operator, by location after location, until only one site is left.
        self._shortened: dict[Hashable, dict[Location, Any]] = {}

    def get(self, operator: Hashable, chain: Chain) -> T | None:
        """What is known about a whole chain."""
        return self._found.get(operator, {}).get(chain)

    def add(self, operator: Hashable, chain: Chain, item: T, depth: int) -> None:
        """Add a site, or use it again; at least `depth` locations of its chain matter."""
        self._found.setdefault(operator, {})[chain] = item
        depths = self._depths.setdefault(operator, {})
        depths[chain] = max(depth, depths.get(chain, 1))

    def shorten(self) -> None:
        """Leave out what does not matter; afterwards `lookup` works."""
        for operator, sites in self._found.items():
            tree: dict[Location, Any] = {}
            for chain, item in sites.items():
                shared = max(
                    (_common(chain, other) for other in sites if other != chain), default=0
                )
                depth = max(self._depths[operator][chain], min(shared + 1, len(chain)))
                branch = tree
                for location in chain[: depth - 1]:
                    branch = branch.setdefault(location, {})
                branch[chain[depth - 1]] = _Leaf(item)
            self._shortened[operator] = tree

    def lookup(self, operator: Hashable, frame: FrameType) -> T | None:
        """What is known about the site of a frame."""
        branch: Any = self._shortened.get(operator)
        current: FrameType | None = frame
        while branch is not None and current is not None:
            branch = branch.get((current.f_code, current.f_lasti))
            if isinstance(branch, _Leaf):
                item: T = branch.item
                return item
            current = current.f_back
        return None


class _Leaf:
    """The end of a chain."""

    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item


def _common(first: Chain, second: Chain) -> int:
    """How many locations two chains begin with in common."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count
