# SPDX-License-Identifier: Apache-2.0
"""Generators at special positions, for tests that draw the same numbers twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import daliesque as ndd
from daliesque import _kernels

SHAPES = [[(5, 7), (1, 1), (300, 2), (5, 7), (0, 3), (9, 9)], [(8, 13)] * 4]
# Of the call: the counter's low half about to overflow, its sign about to change, each phase.
STATES = [
    "Philox_0123456789ABCDEF_FFFFFFFFFFFFFFFF:FFFFFFFFFFFFFF00_3",
    "Philox_FFFFFFFFFFFFFFFF_7FFFFFFFFFFFFFFF:7FFFFFFFFFFFFFF0_1",
    "Philox_0000000000000000_00000000FFFFFFFF:00000000FFFFFFF0_2",
    "Philox_8000000080000000_0000000000000000:FFFFFFFFFFFFFFFF_0",
]


class _FixedStream(_kernels.Philox):
    """Gives each call of an operator the same state."""

    def __init__(self, state: str) -> None:
        super().__init__(0)
        self._state = _kernels.PhiloxState.parse(state)

    def draw_operator_state(self) -> _kernels.PhiloxState:
        return self._state


def generators(seed: int) -> tuple[ndd.random.RNG, ndd.random.RNG]:
    """Two generators that draw the same numbers; some begin at special positions."""
    pair = ndd.random.RNG(seed), ndd.random.RNG(seed)
    for rng in pair if seed < len(STATES) else ():
        rng._stream = _FixedStream(STATES[seed])
    return pair


def drawn_by_both(
    function: Callable[..., Any], shapes: Any, seed: int, **arguments: Any
) -> list[tuple[Any, Any]]:
    """Pairs of arrays: drawn on the device, and on the CPU."""
    like = ndd.batch([np.zeros(shape, np.uint8) for shape in shapes])
    first, second = generators(seed)
    here = function(like, rng=first, **arguments)
    there = function(like, rng=second, device="gpu", **arguments)
    return list(zip(map(np.asarray, there.cpu()), map(np.asarray, here), strict=True))
