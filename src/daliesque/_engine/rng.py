# SPDX-License-Identifier: Apache-2.0
"""Random number generators.

All draws come from Philox 4x32-10, a counter-based generator. A random operator takes a few words
from its RNG at the moment it is called; everything it draws later depends on those words, the
index of the sample and the index of the element. So neither threads nor evaluation modes can
change a result.

A process made by fork has copies of its parent's generators. They go on with streams of their own
there, which follow from where the generator stood and from the number of the fork: so the workers
of a DataLoader draw different numbers, and the same ones again when the program is run again.

A loop that runs ahead of its consumer (see `ahead`) draws from a copy of its own. Who draws from
such a generator outside of the loop gets another stream, so that no number is drawn twice.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from typing import Any, SupportsIndex, TypeAlias, TypeVar

from .. import _kernels
from .ahead import Ahead
from .interrupts import Steps
from .invariant import unwrap_invariant
from .thread_state import interception, thread

RNGState: TypeAlias = _kernels.PhiloxState
_R = TypeVar("_R")

_UINT64_MAX = 0xFFFFFFFFFFFFFFFF
# Instead of a generation: a loop runs ahead with a copy of the stream.
_LENT = -1


class _Lineage:
    """How this process came about: the number of each fork on the way to it."""

    def __init__(self) -> None:
        # One number for each ancestor: which of its forks led here.
        self.path: tuple[int, ...] = ()
        # How often this process has forked.
        self.forks = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._before_fork, after_in_child=self._in_child)

    def _before_fork(self) -> None:
        self.forks += 1

    def _in_child(self) -> None:
        self.path += (self.forks,)
        self.forks = 0


_lineage = _Lineage()


class RNG:
    """A source of reproducible randomness for random operators.

    In a process made by fork, as a worker of a DataLoader is, a generator draws other numbers than
    in the parent and in other workers; which ones follows from the seed and the number of forks
    since it was set. A generator that is pickled, as for a spawned worker, draws the same numbers
    in each of them: set its `seed` there, e.g. to `torch.utils.data.get_worker_info().seed`.

    Parameters
    ----------
    seed
        Any integer, taken modulo 2**64. Without seed and state, Python's `random` module makes one
        up.
    state
        Where to go on: what `get_state` returned. Not together with `seed`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> rng = ndd.random.RNG(seed=1234)
    >>> rng()
    546353992
    >>> ndd.random.uniform(range=(0, 1), shape=[2], rng=rng).shape
    (2,)
    """

    __slots__ = ("__weakref__", "_forks", "_generation", "_stream")

    def __init__(
        self, seed: SupportsIndex | None = None, state: RNGState | str | None = None
    ) -> None:
        seed, state = unwrap_invariant(seed), unwrap_invariant(state)
        if state is None:
            self.seed = _any_seed() if seed is None else seed
        elif seed is None:
            self.set_state(state)
        else:
            msg = "random.RNG: takes 'seed' or 'state', not both."
            raise ValueError(msg)

    def __call__(self) -> int:
        """Draw a random integer in [0, 2**32 - 1]."""
        if interception.on:
            self._note_draw()
        return self._philox.next()

    @property
    def _philox(self) -> _kernels.Philox:
        """The stream of this process, or of the loop that runs ahead on this thread."""
        ahead = thread.ahead
        if ahead is not None:
            own: _kernels.Philox = ahead.own(self)
            return own
        if self._generation != len(_lineage.path):
            self._leave()
        return self._stream

    @_philox.setter
    def _philox(self, stream: _kernels.Philox) -> None:
        if thread.ahead is not None and hasattr(self, "_stream"):
            thread.ahead.replace(self, stream)
        else:
            self._begin(stream)

    def _begin(self, stream: _kernels.Philox) -> None:
        self._stream = stream
        # Where in the history of forks the stream began.
        self._generation = len(_lineage.path)
        self._forks = _lineage.forks

    def _leave(self) -> None:
        """Leave the parent process, or the loop that has a copy of the stream."""
        if self._generation == _LENT:
            self._begin(self._derived(["outside", *_lineage.path]))
            return
        first, *others = _lineage.path[self._generation :]
        self._begin(self._derived([first - self._forks, *others]))
        # What this process has forked before it drew anything has other numbers as well.
        self._forks = 0

    def _derived(self, steps: list[Any]) -> _kernels.Philox:
        """A stream that begins where this one is, in another direction."""
        return _kernels.Philox(_hashed(f"{self._stream.state()} {steps}"))

    def _begin_ahead(self, outer: Ahead | None) -> tuple[_kernels.Philox, str | None]:
        if outer is not None:
            stream = outer.own(self)
        elif self._generation == _LENT:
            # To another loop: they must not draw the same numbers.
            return self._derived(["beside", *_lineage.path]), None
        else:
            if self._generation != len(_lineage.path):
                self._leave()
            stream = self._stream
            self._generation = _LENT
        state = stream.state()
        return _kernels.Philox(state), str(state)

    def _frozen(self, own: _kernels.Philox) -> RNGState:
        return own.state()

    def _moving(self, expected: RNGState | str | None, state: RNGState) -> Steps | None:
        ahead = thread.ahead
        stream = self._stream if ahead is None else ahead.own(self)
        if str(stream.state()) != str(expected):
            return None
        moved = _kernels.Philox(state)
        if ahead is None:
            return ((setattr, (self, "_stream", moved)),)
        return ((ahead.replace, (self, moved)),)

    def _end_ahead(self) -> None:
        if self._generation == _LENT:
            self._begin(self._stream)

    @property
    def seed(self) -> SupportsIndex:
        """Set this to start again with another seed. It cannot be read."""
        msg = "seed is write-only; read 'state' to learn where the generator stands"
        raise AttributeError(msg)

    @seed.setter
    def seed(self, value: SupportsIndex) -> None:
        try:
            number = operator.index(value)
        except TypeError:
            msg = f"random.RNG: 'seed' must be an integer; got {value!r}."
            raise TypeError(msg) from None
        self._philox = _kernels.Philox(number & _UINT64_MAX)

    @property
    def state(self) -> str:
        """Where the generator stands; can be set to what it, or another RNG's, once was."""
        return self.get_state()

    @state.setter
    def state(self, value: RNGState | str) -> None:
        self.set_state(value)

    def get_state(self, *, cuda_stream: object = None) -> str:  # noqa: ARG002
        """Return where the generator stands, as a short text.

        `cuda_stream` is ignored; it is there because readers have it.
        """
        lent = self._generation == _LENT and thread.ahead is None
        return str((self._stream if lent else self._philox).state())

    def set_state(self, value: RNGState | str) -> None:
        """Go on from where a generator stood: what `get_state` returned, here or in DALI."""
        if isinstance(value, str):
            try:
                value = RNGState.parse(value)
            except ValueError as error:
                msg = f"random.RNG: 'state' cannot be read; got {value!r}: {error}."
                raise ValueError(msg) from None
        elif not isinstance(value, RNGState):
            msg = f"random.RNG: 'state' must come from get_state(); got {value!r}."
            raise TypeError(msg)
        self._philox = _kernels.Philox(value)

    def advance(self, n: SupportsIndex) -> None:
        """Skip `n` draws, as if the generator had been called `n` times; takes no time."""
        draws = operator.index(n)
        if not 0 <= draws <= _UINT64_MAX:
            msg = f"random.RNG.advance: 'n' must be in [0, 2**64 - 1], not negative; got {draws}."
            raise ValueError(msg)
        self._note_draw()
        self._philox.skip(draws)

    def _note_draw(self) -> None:
        """Let the capture-mode loop know, whose body this thread is in."""
        if thread.recorder is not None:
            thread.recorder.note_draw(self)

    def clone(self) -> RNG:
        """Return a new generator that will draw the same numbers as this one."""
        return RNG(state=self.get_state())

    def __repr__(self) -> str:
        return f"RNG(state='{self.get_state()}')"

    def __reduce__(self) -> tuple[type[RNG], tuple[None, str]]:
        return RNG, (None, self.get_state())


def derived_seed(*parts: int | str) -> int:
    """A 64-bit seed that follows from some numbers and names, and from nothing else."""
    return _hashed(" ".join(map(str, parts)))


def _hashed(text: str) -> int:
    import hashlib  # Loads OpenSSL.

    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _any_seed() -> int:
    import random

    return random.randint(0, _UINT64_MAX)


class _StepStream(_kernels.Philox):
    """A stream, and another one for operators, whose samples are counted from `first` on."""

    def __init__(self, seed: int, operator_seed: int, first: int) -> None:
        super().__init__(seed)
        self._operators = _kernels.Philox(operator_seed)
        self._first = first

    def draw_operator_state(self) -> RNGState:
        return self._operators.draw_operator_state().from_sample(self._first)


class StepRNG(RNG):
    """The generator of one step of an epoch, which is there for that step only.

    What operators draw for a sample follows from the seed, the epoch, the number of the call in its
    step and the index of the sample in the epoch: it is the same however the epoch is divided into
    steps and among processes. What is drawn by calling the generator belongs to the step: it
    follows from the index of its first sample.
    """

    __slots__ = ()

    def __init__(self, seed: int, epoch: int, first: int) -> None:
        step_seed = derived_seed("step", seed, epoch, first)
        self._begin(_StepStream(step_seed, derived_seed("samples", seed, epoch), first))

    @property
    def _philox(self) -> _kernels.Philox:
        # Nobody else sees it: a loop that runs ahead needs no copy.
        return self._stream

    @_philox.setter
    def _philox(self, stream: _kernels.Philox) -> None:
        self._begin(stream)


_default = threading.local()


def get_default_rng() -> RNG:
    """Return the generator that random operators on this thread use by default."""
    try:
        rng: RNG = _default.rng
    except AttributeError:
        rng = _default.rng = RNG()
    return rng


def set_default_rng(rng: RNG) -> None:
    """Let random operators on this thread use a generator by default."""
    _default.rng = rng


def call_drawing_from(rng: RNG, function: Callable[..., _R], *arguments: Any) -> _R:
    """Call a function that draws from a generator by default.

    The generator before is there again afterwards even if a `with` could be interrupted.
    """
    get_default_rng()
    made: _R = _kernels.call_with_attribute(_default, "rng", rng, function, *arguments)
    return made


def set_seed(seed: SupportsIndex) -> None:
    """Start this thread's default generator again with `seed`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.random.set_seed(1234)
    >>> ndd.random.get_default_rng()()
    546353992
    """
    get_default_rng().seed = seed


def draw_state(rng: RNG | None, operator_name: str) -> RNGState:
    """Take the words for one call of a random operator, from this thread's generator by default.

    Raises
    ------
    TypeError
        If `rng` is something else than an RNG.
    """
    if rng is None:
        rng = get_default_rng()
    elif not isinstance(rng, RNG):
        msg = f"{operator_name}: 'rng' must be a daliesque.random.RNG; got {rng!r}."
        raise TypeError(msg)
    if interception.on:
        rng._note_draw()
    if thread.ahead is None and rng._generation == len(_lineage.path):
        # The usual case, without a call.
        return rng._stream.draw_operator_state()
    return rng._philox.draw_operator_state()
