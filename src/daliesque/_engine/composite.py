# SPDX-License-Identifier: Apache-2.0
"""Inputs that consist of several values, such as an image and the boxes in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .op import Operator
    from .value import Value


class Composite(ABC):
    """An input that decides itself what an operator does to each of its parts."""

    __slots__ = ()

    @abstractmethod
    def _through(
        self,
        operator: Operator,
        inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """The result of a call of an operator that has this object among its inputs."""

    @abstractmethod
    def _values(self) -> Mapping[str, Value]:
        """All parts by name."""

    @abstractmethod
    def _pictured(self) -> tuple[Value, dict[str, Any]]:
        """What is drawn: an image, and what `show` draws over it."""


def composite_among(inputs: tuple[Any, ...]) -> Composite | None:
    """The first input that consists of several values, if there is one."""
    for value in inputs:
        if isinstance(value, Composite):
            return value
    return None
