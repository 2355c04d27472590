# SPDX-License-Identifier: Apache-2.0
"""What can be given once for all outputs, or once for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def spread(where: str, name: str, value: Any, count: int) -> Sequence[Any]:
    """A value for each of `count` outputs: the same for all, or one of a sequence."""
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        return (value,) * count
    if len(value) != count:
        msg = f"{where}: '{name}': Expected a sequence of size {count}, got {len(value)}."
        raise ValueError(msg)
    return value
