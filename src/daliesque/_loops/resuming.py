# SPDX-License-Identifier: Apache-2.0
"""Checks that a loop which is resumed goes on as if it had never stopped."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._engine.batch import Batch
from .._engine.checkpoint import Checkpoint, HasState, HasStateDict
from .._engine.context import EvalContext
from .._engine.tensor import Tensor

# Makes the steps of a loop; it may take the checkpoint to register its objects with.
MakeLoop: TypeAlias = Callable[..., Iterable[Any]]
# The values of a step, by where they are in it.
Parts: TypeAlias = dict[str, str]

# The name of a loop that has a state itself.
_LOOP = "loop"
_SHOWN_BYTES = 64


class Run(NamedTuple):
    """The steps of a loop, and its state after each of them; None as long as there is none."""

    steps: list[Parts]
    states: list[str | None]


def assert_resumes(
    make_loop: MakeLoop, *, steps: int | None = None, fresh_process: bool = True
) -> None:
    """Check that a loop can be stopped and resumed after every step.

    The loop runs once without interruption. Then, for the state after each step, a new loop starts
    from that state and must deliver the remaining steps, equal bit by bit: data, sources and what
    random operators made of it.

    Parameters
    ----------
    make_loop
        Returns the steps of the loop: a generator function, or a function that returns an iterable.
        The loop registers its readers, generators and other objects with the `Checkpoint` that
        `make_loop` is called with or, if it has no parameters, with `checkpoint.current()`. An
        iterable with a state of its own, such as a Loader of torchdata, needs not be registered.
        Steps are tensors, batches, arrays, numbers and text, in dicts, tuples and lists.
    steps
        Look at so many steps only; for a loop that does not end.
    fresh_process
        Resume in a new process, each time with new objects on a new thread; `make_loop` must be a
        function of a module. With False, only the objects and the thread are new.

    Raises
    ------
    AssertionError
        If a loop that was resumed does not go on exactly like the other. The message names the step
        and the value.

    Examples
    --------
    >>> class Count(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 6
    ...     def fetch_sample(self, number):
    ...         return number
    >>> def loop(checkpoint):
    ...     reader, rng = Count(random_shuffle=True), ndd.random.RNG(seed=7)
    ...     checkpoint.register(reader, "reader")
    ...     checkpoint.register(rng, "rng")
    ...     for (numbers,) in reader.next_epoch(batch_size=2):
    ...         yield numbers + ndd.random.uniform(range=(0, 1), batch_size=2, rng=rng)
    >>> ndd.testing.assert_resumes(loop, fresh_process=False)
    """
    if fresh_process:
        _check_can_be_sent(make_loop)
    whole = _on_thread(make_loop, None, steps)
    if not whole.steps:
        msg = "assert_resumes: 'make_loop' must make at least one step; it made none."
        raise ValueError(msg)
    if whole.states[-1] is None:
        msg = (
            "assert_resumes: the loop has no state. Let it register its readers and generators "
            "with the checkpoint."
        )
        raise ValueError(msg)
    stops = [done for done, state in enumerate(whole.states) if state is not None]
    states = [whole.states[done] for done in stops]
    limits = [None if steps is None else steps - done for done in stops]
    run_all = _in_process if fresh_process else map
    runs = run_all(_on_thread, itertools.repeat(make_loop, len(stops)), states, limits)
    for done, run in zip(stops, runs, strict=True):
        _compare(whole.steps[done:], run.steps, done)


def _check_can_be_sent(make_loop: MakeLoop) -> None:
    try:
        pickle.dumps(make_loop)
    except Exception as error:
        msg = (
            "assert_resumes: 'make_loop' must be a function of a module, for another process to "
            f"find it: {error}. Or pass fresh_process=False."
        )
        raise TypeError(msg) from error


def _compare(expected: list[Parts], found: list[Parts], done: int) -> None:
    where = f"assert_resumes: resumed after {done} step{'s' * (done != 1)}"
    for offset, (wanted, got) in enumerate(zip(expected, found, strict=False)):
        for part in [*wanted, *(key for key in got if key not in wanted)]:
            if wanted.get(part) != got.get(part):
                msg = (
                    f"{where}, step {done + offset} differs{part and f' in {part}'}: without "
                    f"interruption {wanted.get(part)}; resumed {got.get(part)}. Is everything that "
                    "has a state registered, the generators of random operators as well?"
                )
                raise AssertionError(msg)
    if len(found) != len(expected):
        msg = f"{where}, the loop has {len(found)} more steps instead of {len(expected)}."
        raise AssertionError(msg)


def _in_process(run: Callable[..., Run], *arguments: Iterable[Any]) -> Iterator[Run]:
    """What `map` does, in another process."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        yield from process.map(run, *arguments)


def _on_thread(make_loop: MakeLoop, state: str | None, most: int | None) -> Run:
    """Run a loop on a thread of its own, whose default generator nobody has used."""
    done: list[Run] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            done.append(_run(make_loop, state, most))
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="daliesque assert_resumes")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return done[0]


def _run(make_loop: MakeLoop, state: str | None, most: int | None) -> Run:
    with EvalContext() as context:
        checkpoint = context.checkpoint
        if state is not None:
            checkpoint.deserialize(state)
        takes_checkpoint = len(inspect.signature(make_loop).parameters) > 0
        loop = make_loop(checkpoint) if takes_checkpoint else make_loop()
        if isinstance(loop, HasState | HasStateDict):
            checkpoint.register(loop, _LOOP)
        run = Run([], [])
        values = iter(loop)
        if state is None:
            run.states.append(_state_of(checkpoint))
        for value in itertools.islice(values, most):
            run.steps.append(dict(_parts(value, "")))
            if state is None:
                run.states.append(_state_of(checkpoint))
        return run


def _state_of(checkpoint: Checkpoint) -> str | None:
    if len(checkpoint) == 0:
        return None
    checkpoint.collect()
    return checkpoint.serialize()


def _parts(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """All that can be compared of a value, as text."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _parts(part, f"{name}[{key!r}]")
    elif isinstance(value, list | tuple):
        yield f"{name} (length)", str(len(value))
        for index, part in enumerate(value):
            yield from _parts(part, f"{name}[{index}]")
    elif isinstance(value, Batch):
        yield f"{name} (layout, source)", f"{value.layout}, {value.source}, {value.valid}"
        for index, sample in enumerate(value.cpu()):
            yield f"{name}[{index}]", _describe(np.asarray(sample))
    elif isinstance(value, Tensor):
        yield f"{name} (layout, source)", f"{value.layout}, {value.source}"
        yield name, _describe(np.asarray(value.cpu()))
    elif isinstance(value, np.ndarray):
        yield name, _describe(value)
    elif hasattr(value, "__dlpack__"):
        yield name, _describe(np.asarray(value.cpu() if hasattr(value, "cpu") else value))
    else:
        yield name, repr(value)


def _describe(array: np.ndarray[Any, Any]) -> str:
    """Type, shape and contents: in full if they are short."""
    kind = f"{array.dtype}{list(array.shape)}"
    if array.nbytes <= _SHOWN_BYTES:
        return f"{kind} {array.tolist()}"
    return f"{kind} with digest {hashlib.sha256(array.tobytes()).hexdigest()[:16]}"
