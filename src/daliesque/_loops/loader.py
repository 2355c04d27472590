# SPDX-License-Identifier: Apache-2.0
"""What loaders for frameworks have in common: epochs over a reader, shared by some processes.

Everything follows from a seed and a few numbers that are the same in all processes: which samples a
step has (`RankOrder`), and what random operators draw for them (`StepRNG`). So the state of a
loader is these numbers, and any number of processes can go on from it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

from .. import _kernels
from .._engine.ahead import Cell
from .._engine.interrupts import Steps, two_phase
from .._readers.core.base import Reader
from .._readers.core.permutation import SampleStream
from .._readers.core.ranks import RankOrder
from .._readers.core.steps import LastBatch
from .loader_arguments import check_number, shuffled_run
from .loader_state import load_progress, save_progress
from .loading import Item, Loading, Progress, Transform
from .prefetch import Prefetch, Prefetched

# How many bytes of batches that nobody has taken yet may wait before no more are made.
_MAX_BYTES = 1 << 30


class Settings(NamedTuple):
    """The arguments of a loader, checked."""

    batch_size: int
    shuffle: bool | int | None
    last_batch: LastBatch
    epoch_batches: int | None
    seed: int
    prefetch: int


class Loader:
    """Delivers what a function makes of the batches of a reader, epoch by epoch.

    A subclass says which process this is (`_ranks`), completes what the function returned
    (`_finish`, on the thread that runs ahead), and hands it out (`_hand_out`, on the consumer's).
    """

    # What messages begin with.
    where: ClassVar[str] = "Loader"

    def __init__(
        self, reader: Reader[Any], transform: Transform | None, settings: Settings
    ) -> None:
        self._reader = reader
        self._transform = transform
        self._settings = settings
        # How far the loader has come: the number of an epoch stands for its beginning.
        self._progress: Cell[Progress | int] = Cell(0)
        # Whether the next iteration goes on there instead of beginning an epoch.
        self._resuming = Cell(False)
        # The epoch that was set last: others may count in another way. -1 if none was.
        self._set_epoch = Cell(-1)
        # Iterations that began before a state was loaded are over.
        self._generation = Cell(0)
        self._current: weakref.ref[Iteration] | None = None
        self._iterations: weakref.WeakSet[Iteration] = weakref.WeakSet()

    def _ranks(self) -> tuple[int, int]:
        """The number of this process, and how many there are."""
        raise NotImplementedError

    def _finish(self, made: Any, count: int, valid: int) -> Any:
        """Complete what the transform returned for `count` samples, of which `valid` count."""
        raise NotImplementedError

    def _hand_out(self, value: Any, is_last: bool) -> Any:  # noqa: ARG002
        """What the consumer gets of what `_finish` returned; the last one of the epoch or not."""
        return value

    def _note_begin(self, description: str) -> None:
        """An epoch begins; raise if another process describes it in another way."""

    def _note_end(self) -> None:
        """All batches of an epoch were delivered, and another was asked for."""

    @property
    def reader(self) -> Reader[Any]:
        """The reader. Where it is itself does not change."""
        return self._reader

    @property
    def batch_size(self) -> int:
        """How many samples a batch of this process has."""
        return self._settings.batch_size

    @property
    def seed(self) -> int:
        """What order and random numbers follow from."""
        return self._settings.seed

    @property
    def rank(self) -> int:
        """The number of this process."""
        return self._ranks()[0]

    @property
    def world_size(self) -> int:
        """How many processes share the data."""
        return self._ranks()[1]

    @property
    def num_samples(self) -> int:
        """How many samples the data has, for all processes together."""
        return self._reader._order.size

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next batch belongs to, or the one being delivered."""
        progress = self._progress.value
        return progress if isinstance(progress, int) else progress.epoch

    def __len__(self) -> int:
        """How many batches an epoch has: the same number in all epochs and processes."""
        order = self._order(self._beginning(0))
        return order.steps

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iteration:
        """Begin an epoch, or go on in one after `load_state_dict`, with the first `next()`."""
        return Iteration(self, None)

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with an epoch; without it, each takes the next one.

        After `load_state_dict`, the epoch in which the state was saved goes on where it was.

        Parameters
        ----------
        epoch
            The number of the epoch, from 0 on.
        """
        number = check_number(self.where, "epoch", epoch, 0)
        if self._resuming.value:
            # The same call was made in the run that saved the state, unless it made none.
            known = self._set_epoch.value
            if number == (self.epoch if known < 0 else known):
                return
        changes = self._progress.setting(number), self._resuming.setting(False)
        _kernels.carry_out((*changes, self._set_epoch.setting(number)))

    def state_dict(self) -> dict[str, Any]:
        """Return where the loader is: after the batch that was delivered last.

        It is a dict of a few integers, the same in all processes. Batches that were made ahead do
        not count; after the last batch of an epoch, the state is the beginning of the next one.
        """
        return save_progress(self._stream, self._known_progress(), self._set_epoch.value)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state, also one of another number of processes or batch size.

        The next iteration delivers the rest of its epoch. An iteration that is under way ends.

        Parameters
        ----------
        state_dict
            What `state_dict` returned, here or in any other process.
        """
        goes_on = self._settings.epoch_batches is not None
        progress, set_epoch = load_progress(self.where, self._stream, goes_on, state_dict)
        self.close()
        changes = self._progress.setting(progress), self._resuming.setting(True)
        generation = self._generation.setting(self._generation.value + 1)
        _kernels.carry_out((*changes, generation, self._set_epoch.setting(set_epoch)))

    def close(self) -> None:
        """End iterations that are under way, and their threads. The loader can be used again."""
        for iteration in list(self._iterations):
            iteration.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    @property
    def _stream(self) -> SampleStream:
        run = shuffled_run(self._reader, self._settings.shuffle)
        return SampleStream(self.num_samples, run, self._settings.seed)

    def _known_progress(self) -> Progress:
        progress = self._progress.value
        return self._beginning(progress) if isinstance(progress, int) else progress

    def _beginning(self, epoch: int) -> Progress:
        """The beginning of an epoch."""
        length = self._length
        return Progress(epoch, epoch * length, length)

    @property
    def _length(self) -> int:
        """How many samples an epoch has, for all processes together."""
        steps, size = self._settings.epoch_batches, self._settings.batch_size
        return self.num_samples if steps is None else steps * size * self.world_size

    def _following(self, progress: Progress) -> Progress:
        """The beginning of the epoch after one."""
        if self._settings.epoch_batches is None:
            return self._beginning(progress.epoch + 1)
        begin = progress.begin + max(progress.length, progress.taken)
        return Progress(progress.epoch + 1, begin, self._length)

    def _order(self, progress: Progress) -> RankOrder:
        rank, world_size = self._ranks()
        return RankOrder(
            self._stream,
            rank,
            world_size,
            self._settings.batch_size,
            progress.begin + progress.taken,
            max(0, progress.length - progress.taken),
            self._settings.last_batch,
            self._settings.epoch_batches is not None,
        )

    def _to_begin(self, step: int | None) -> tuple[Progress, RankOrder]:
        """Where an iteration that begins now begins: at a step of its epoch if one is given."""
        progress = self._known_progress()
        if not self._resuming.value and progress.taken > 0:
            progress = self._following(progress)
        if step is not None:
            taken = step * self._settings.batch_size * self.world_size
            progress = progress._replace(taken=taken)
        order = self._order(progress)
        if order.steps == 0 and step is None:
            # Another batch size or number of processes has left too little of the epoch.
            progress = self._following(progress)
            order = self._order(progress)
        if order.steps == 0:
            msg = (
                f"{self.where}: there is no complete batch in an epoch of {progress.length} "
                f"samples, with batch_size={order.batch_size} and {order.world_size} processes. "
                "Choose another 'last_batch' than 'drop', or a smaller batch."
            )
            raise ValueError(msg)
        return progress, order

    def _after(self, progress: Progress, order: RankOrder, steps: int) -> Progress:
        """How far the loader has come after some steps."""
        after = progress._replace(taken=progress.taken + order.taken_after(steps))
        return self._following(after) if steps >= order.steps else after


class Iteration(Iterator[Any]):
    """One iteration over a loader. It begins with the first `next()`, at a step if one is given."""

    def __init__(self, loader: Loader, step: int | None) -> None:
        self._loader = loader
        self._step = step
        self._generation = loader._generation.value
        self._mutex = _kernels.Mutex()
        self._begun: tuple[Progress, RankOrder] | None = None
        self._source: Prefetched[Item] | _Direct | None = None
        self._steps = 0
        self._over = False

    def __iter__(self) -> Self:
        return self

    def __len__(self) -> int:
        """How many batches are left."""
        if self._over:
            return 0
        _, order = self._begun or self._loader._to_begin(self._step)
        return order.steps - self._steps

    @two_phase
    def __next__(self) -> Any:
        return self.prepare_next()

    def prepare_next(self) -> tuple[Any, Steps, BaseException | None]:
        """The next value, what changes by its delivery, and what is to be raised instead."""
        loader = self._loader
        if self._generation != loader._generation.value:
            msg = (
                f"{loader.where}: this iteration ended when a state was loaded. Iterate over the "
                "loader again."
            )
            raise RuntimeError(msg)
        if self._over:
            raise StopIteration
        if self._source is None:
            self._begin()
        assert self._begun is not None
        assert self._source is not None
        item, changes, failure = self._source.prepare_next()
        if failure is not None:
            loader._note_end()
            return None, (*changes, (setattr, (self, "_over", True))), failure
        changes = (*changes, (setattr, (self, "_steps", item.steps)))
        if loader._current is not None and loader._current() is self:
            after = loader._after(*self._begun, item.steps)
            changes = (*changes, loader._progress.setting(after), loader._resuming.setting(False))
        if item.failure is not None:
            return None, changes, item.failure
        try:
            is_last = item.steps == self._begun[1].steps
            return loader._hand_out(item.value, is_last), changes, None
        except Exception as error:
            return None, changes, error

    def _begin(self) -> None:
        loader = self._loader
        if self._begun is None:
            begun = loader._to_begin(self._step)
            loader._note_begin(_description(loader, *begun))
            self._begun = begun
            # Whatever was left of another epoch is given up; a state that was loaded is still to be
            # gone on from.
            loader._progress.value = begun[0]
            loader._current = weakref.ref(self)
        progress, order = self._begun

        def load(steps: int = 0) -> Loading:
            begin = progress._replace(taken=progress.taken + order.taken_after(steps))
            rest = loader._order(begin) if steps else order
            return Loading(loader._reader, rest, begin, loader._transform, loader._finish)

        loader._iterations.add(self)
        if loader._settings.prefetch:
            self._source = iter(Prefetch(load, loader._settings.prefetch, _MAX_BYTES))
        else:
            self._source = _Direct(load, self)

    def start(self) -> None:
        """Begin to make batches before the first one is asked for, if they are made ahead."""
        if not self._over and self._source is None:
            self._begin()
        if isinstance(self._source, Prefetched):
            self._source.start()

    def close(self) -> None:
        """End the iteration."""
        self._over = True
        if self._source is not None:
            self._source.close()


class _Direct:
    """Makes items when they are asked for, on the thread that asks."""

    def __init__(self, load: Callable[[int], Loading], iteration: Iteration) -> None:
        self._load = load
        self._iteration = weakref.ref(iteration)
        self._loading: Loading | None = None
        # How many steps were delivered when `_loading` began.
        self._before = 0
        self._made = 0

    def prepare_next(self) -> tuple[Any, Steps, BaseException | None]:
        """The next item; made again if somebody was interrupted before it was delivered."""
        iteration = self._iteration()
        assert iteration is not None
        if self._loading is None or self._made != iteration._steps:
            self.close()
            self._before = self._made = iteration._steps
            self._loading = self._load(self._before)
        self._made += 1
        try:
            item = next(self._loading)
        except StopIteration as end:
            return None, (), end
        return item._replace(steps=self._before + item.steps), (), None

    def close(self) -> None:
        """End the reading."""
        if self._loading is not None:
            self._loading.close()
            self._loading = None


def _description(loader: Loader, progress: Progress, order: RankOrder) -> str:
    """What processes that share an epoch must agree on."""
    settings = loader._settings
    return (
        f"{order.size} samples, batch_size={order.batch_size}, world_size={order.world_size}, "
        f"last_batch={order.last_batch!r}, epoch_batches={settings.epoch_batches}, shuffled in "
        f"runs of {order.stream.run}, seed={settings.seed}, epoch {progress.epoch} from sample "
        f"{progress.begin + progress.taken} on"
    )
