# SPDX-License-Identifier: Apache-2.0
"""Random numbers of steps that run ahead: those that the body is going to draw.

In each step a generator is used as in the step that was traced. So where it will stand at each call
of each step is known beforehand, and copies of it can draw there. The generator itself is advanced
by the body, call by call, and has to be found where it is expected to be.
"""

from __future__ import annotations

import copy

from .._engine.rng import RNG

MESSAGE = (
    "The RNG of a captured operator was used unexpectedly: the number of random draws per "
    "iteration changed or the RNG was modified outside the loop"
)


class UnexpectedDraw(Exception):
    """A generator is not where it should be."""


def position_of(rng: RNG) -> int:
    """How many numbers of its stream a generator has drawn."""
    # Philox_<key>_<counter>_<phase>; each count of the counter is four numbers.
    _, _, counter, phase = rng.get_state().split("_")
    return 4 * int(counter.replace(":", ""), 16) + int(phase)


class Schedule:
    """How a generator is used in each step."""

    def __init__(self, rng: RNG) -> None:
        self.rng = rng
        # Where the step that is traced began.
        self._start = position_of(rng)
        self._stream = rng._philox
        # How far after the beginning of a step each call draws.
        self._offsets: dict[object, int] = {}
        self._period = 0
        self._copy = rng
        self._first_step = 0

    @property
    def is_used(self) -> bool:
        """Whether captured calls draw from the generator."""
        return bool(self._offsets)

    def has(self, call: object) -> bool:
        """Whether a call draws from this generator."""
        return call in self._offsets

    def add(self, call: object, position: int) -> None:
        """A captured call has drawn, at some position."""
        self._offsets[call] = position - self._start

    def finished(self, next_step: int) -> Schedule:
        """That of all steps after the traced one: the next begins where the generator is now."""
        now = position_of(self.rng)
        schedule = copy.copy(self)
        schedule._stream = self.rng._philox
        schedule._period = now - self._start
        schedule._start = now
        schedule._copy = self.rng.clone()
        schedule._first_step = next_step
        return schedule

    def copy_for(self, step: int, call: object) -> RNG:
        """A generator that draws what a call draws in a step."""
        clone = self._copy.clone()
        clone.advance((step - self._first_step) * self._period + self._offsets[call])
        return clone

    def check(self, step: int) -> None:
        """The body of a step begins, or that of the step before has ended."""
        if self.rng._philox is not self._stream or self._drawn(step):
            raise UnexpectedDraw

    def is_next(self, step: int, call: object, rng: RNG) -> bool:
        """Whether a call draws as planned; if not, it has drawn already in this step."""
        drawn = self._drawn(step)
        if drawn > self._offsets[call]:
            return False
        if rng is not self.rng or self.rng._philox is not self._stream:
            raise UnexpectedDraw
        if drawn < self._offsets[call]:
            raise UnexpectedDraw
        return True

    def _drawn(self, step: int) -> int:
        """How much was drawn since the beginning of a step."""
        return position_of(self.rng) - self._start - (step - self._first_step) * self._period
