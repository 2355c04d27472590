# SPDX-License-Identifier: Apache-2.0
"""What all readers have in common."""

from __future__ import annotations

import dataclasses
import json
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, TypedDict, Unpack

from ..._engine.args import rule_of
from ..._engine.context import EvalContext
from ..._engine.convert import to_batch_samples
from ..._engine.device import Device, DeviceLike
from ..._engine.device import device as to_device
from ..._engine.errors import OpError, same_class
from .damage import DamageFinder
from .epoch import Epoch
from .options import ReaderOptions, check_options
from .order import (
    DEFAULT_SHUFFLE_SEED,
    Numbers,
    Order,
    Position,
    Shuffle,
    from_numbers,
    to_numbers,
)
from .steps import Failed, Fetched, Fetcher

_STATE_VERSION = 1


class ReaderMeta(TypedDict):
    """What `get_metadata` returns."""

    epoch_size: int
    epoch_size_padded: int
    number_of_shards: int
    shard_id: int
    pad_last_batch: int
    stick_to_shard: int


class ReadError(NamedTuple):
    """A sample that was left out or replaced: where it is, and what was wrong with it."""

    source: str
    exception: Exception


class ReaderState:
    """A place in the data, as `Reader.get_state` returns it; `str(state)` can be stored.

    Parameters
    ----------
    op
        The reader that the state was taken from.
    serialized
        What `str()` of a state gave.
    """

    def __init__(self, op: Reader, serialized: str) -> None:
        self._op = op
        self._serialized = serialized

    def __str__(self) -> str:
        return self._serialized

    def __repr__(self) -> str:
        return f"ReaderState({self._serialized!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReaderState | str):
            return self._serialized == str(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._serialized)


class Reader:
    """Base of all readers: delivers samples epoch by epoch, in the order of the reference.

    A reader is an index of samples, an order, and a way to fetch some of them. A subclass sets its
    own fields, calls `Reader.__init__`, and overrides

    - `_open`, which makes the index and returns the number of samples;
    - `_fetch_sample`, which returns the outputs for one sample, or `_fetch` for several at once;
    - `_source_name`, which tells where a sample comes from;

    and the class attributes as needed. The arguments are those of all readers.

    Parameters
    ----------
    batch_size, max_batch_size
        The batch size of `next_epoch` if it is given none.
    name
        A name for the reader.
    device
        Where the reader works: "cpu".
    shard_id, num_shards
        Deliver part number `shard_id` of `num_shards` parts of the data: one for each process of a
        distributed training.
    stick_to_shard
        Deliver the same part in each epoch, rather than the next one.
    pad_last_batch
        Fill the last batch of an epoch by repeating the last sample, and give all shards the same
        number of samples in the same way. Otherwise the batch goes on with the next epoch's first
        samples, and the next epoch begins after them.
    random_shuffle
        Permute the list of samples once, always in the same way, then draw each sample at random
        from the `initial_fill` samples that are next.
    initial_fill
        How many samples to draw from. This takes no memory: with a number as large as the data,
        each epoch is a true permutation of the shard.
    seed
        For the draws of `random_shuffle`. Without it (-1) they are the same in every run.
    shuffle_after_epoch
        Permute all samples (in readers of archives: the archives) anew in each epoch, before they
        are divided into shards.
    shuffle_after_epoch_seed
        For the permutations of `shuffle_after_epoch`; all shards need the same.
    prefetch_queue_depth
        How many batches to read ahead.
    lazy_init
        Make the index when it is needed, instead of at once.
    dont_use_mmap
        Never map archives into memory. By default those that are read again are, unless they are so
        small that they stay in memory anyway. Cutting them short is an error also then: a handler
        for SIGBUS takes care of it, and leaves to others what does not concern it.
    read_ahead, skip_cached_images, tensor_init_bytes
        Accepted for compatibility.
    enable_checkpointing
        `get_state` works anyway; with `shuffle_after_epoch` each epoch permutes the original list
        rather than the one of the epoch before, which makes resuming faster.
    on_error
        What to do about a sample that cannot be read: "raise"; "skip" it and take the next one; or
        "replace" it by the one before. The number of batches stays the same. With "skip" and
        "replace", images that the decoders would refuse count as well: each is looked through when
        it is read for the first time.
    max_errors
        How many samples may be skipped or replaced before an error is raised all the same: a
        number, or below 1 a share of the data. Each sample counts once.
    """

    _operator: ClassVar[str] = "readers.Reader"
    # Whether `random_shuffle` permutes the list; readers of archives read on in their order.
    _permutes_list: ClassVar[bool] = True
    # Where the reference can deliver to.
    _devices: ClassVar[tuple[str, ...]] = ("cpu",)
    # How many samples to read at a time if there is no batch size. They share a buffer, which lives
    # as long as any of them.
    _samples_at_once: ClassVar[int] = 16
    # Names of the outputs, if the reader delivers dicts.
    _output_names: tuple[str, ...] | None = None

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        **options: Unpack[ReaderOptions],
    ) -> None:
        settings = check_options(self._operator, dict(options), self._permutes_list)
        self._name = name
        self._device = to_device(device) or Device.CPU
        if self._device.device_type not in self._devices:
            msg = (
                f'{self._operator}: Invalid device "{device}": the reader delivers CPU data. Leave '
                "'device' out and move the batches with .gpu()."
            )
            raise ValueError(msg)
        self._batch_size = self._checked_batch_size(
            settings["max_batch_size"] if batch_size is None else batch_size
        )
        self._settings = settings
        self._on_error: str = settings["on_error"]
        self._prefetch_queue_depth: int = settings["prefetch_queue_depth"]
        self._errors: list[ReadError] = []
        self._failed_numbers: set[int] = set()
        self._damage: DamageFinder | None = None
        self._opened: Order | None = None
        self._position = Position()
        # Whether the next epoch goes on at `_position` instead of beginning anew.
        self._resuming = False
        self._current: weakref.ref[Epoch] | None = None
        self._called: Epoch | None = None
        if not settings["lazy_init"]:
            self._opened = self._make_order()

    def _open(self) -> int:
        """Make the index and return how many samples there are."""
        raise NotImplementedError

    def _groups(self) -> Numbers | None:
        """Where runs of samples end that `shuffle_after_epoch` keeps together (archives)."""
        return None

    def _fetch(self, numbers: Numbers) -> Fetched:
        """Read samples, given by their numbers in the index. Called on a thread of its own."""
        rows: list[Sequence[Any]] = []
        errors: dict[int, Exception] = {}
        for place, number in enumerate(numbers.tolist()):
            try:
                rows.append(self._fetch_sample(number))
            except (OSError, OpError, ValueError) as error:
                errors[place] = error
        columns = zip(*rows, strict=True)
        return Fetched(
            tuple(to_batch_samples(column, None, None, self._operator) for column in columns),
            errors,
        )

    def _fetch_good(self, numbers: Numbers) -> Fetched:
        """Read samples and, unless errors are to be raised, take damaged images for errors."""
        fetched = self._fetch(numbers)
        if self._on_error == "raise":
            return fetched
        if self._damage is None:
            self._damage = DamageFinder(self._order.size)
        return self._damage.sift(fetched, numbers, self._file_name)

    def _make_fetcher(self) -> Fetcher | None:
        """What reads the samples of an epoch, for readers that can do several steps at a time."""
        return None

    def _file_name(self, number: int) -> str:  # noqa: ARG002
        """The name of the file that is the sample's first output, if it is a file of its own."""
        return ""

    def _fetch_sample(self, number: int) -> Sequence[Any]:
        """The outputs for one sample: arrays or bytes. Raises OSError, OpError or ValueError."""
        raise NotImplementedError

    def _source_name(self, number: int) -> str:
        """Where a sample comes from, as `Batch.source` tells it."""
        raise NotImplementedError

    def _source_names(self, numbers: Iterable[int]) -> Iterable[str]:
        return map(self._source_name, numbers)

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        """Where samples come from, for each output: the same place for all by default."""
        return (tuple(self._source_names(numbers)),) * outputs

    def _full_name(self, number: int) -> str:
        """Where a sample comes from, as error messages tell it."""
        return self._source_name(number)

    def next_epoch(
        self,
        batch_size: int | None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
    ) -> Epoch:
        """Return an iterator over the next epoch.

        It yields one Batch for each output of the reader, or one Tensor if there is no batch size.
        It may be left at any time: the next epoch then starts with a fresh pass over the data.
        After `set_state` the first epoch is what was left of the interrupted one.

        Parameters
        ----------
        batch_size
            How many samples to deliver at a time; by default what the constructor was given.
        ctx, capture
            Accepted for compatibility: reading depends on neither.
        """
        if ctx is not None and not isinstance(ctx, EvalContext):
            msg = f"{self._operator}: 'ctx' must be an EvalContext; got {ctx!r}."
            raise TypeError(msg)
        wanted = self._checked_batch_size(batch_size)
        wanted = self._batch_size if wanted is None else wanted
        if capture and wanted is None:
            msg = f"{self._operator}: capture=True needs a batch size. Pass 'batch_size'."
            raise ValueError(msg)
        return self._start_epoch(wanted, read_ahead=True)

    def __call__(self, *, batch_size: int | None = None) -> Any:
        """Return the next batch, or sample, and go from epoch to epoch without end.

        Parameters
        ----------
        batch_size
            How many samples; by default what the constructor was given, or a single one.
        """
        wanted = self._checked_batch_size(batch_size)
        wanted = self._batch_size if wanted is None else wanted
        while True:
            epoch = self._called
            if epoch is None or self._current is None or self._current() is not epoch:
                self._resuming = True
                epoch = self._called = self._start_epoch(wanted, read_ahead=False)
            elif epoch._batch_size != wanted:
                self._called = None
                continue
            try:
                return next(epoch)
            except StopIteration:
                self._called = None

    def _start_epoch(self, batch_size: int | None, read_ahead: bool) -> Epoch:
        order = self._order
        previous = self._current() if self._current is not None else None
        if previous is not None:
            previous.close()
        if not self._resuming:
            self._position = order.begun(self._position)
        self._resuming = False
        epoch = Epoch(self, batch_size, read_ahead)
        self._current = weakref.ref(epoch)
        return epoch

    def get_metadata(self, batch_size: int | None = None) -> ReaderMeta:
        """Return the numbers of samples and shards.

        Parameters
        ----------
        batch_size
            Accepted for compatibility: nothing depends on it.
        """
        self._checked_batch_size(batch_size)
        order = self._order
        shard_size = -(-order.size // order.num_shards)
        return {
            "epoch_size": order.size,
            "epoch_size_padded": shard_size * order.num_shards if order.pad else order.size,
            "number_of_shards": order.num_shards,
            "shard_id": order.shard_id,
            "pad_last_batch": int(order.pad),
            "stick_to_shard": int(order.stick_to_shard or order.shuffle.each_lap),
        }

    @property
    def errors(self) -> list[ReadError]:
        """The samples that were skipped or replaced so far, each once."""
        return list(self._errors)

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Return where the reader is: after the batch or sample delivered last.

        The state is a few numbers, whatever the size of the data.

        Parameters
        ----------
        cuda_stream
            Accepted for compatibility.
        """
        del cuda_stream
        order = self._order
        fields = {
            "version": _STATE_VERSION,
            "samples": order.size,
            "shuffle": _shuffle_numbers(order.shuffle),
            "shard": [order.shard_id, order.num_shards],
            "position": to_numbers(self._position),
            "engine": order.known_engine(self._position),
        }
        return ReaderState(self, json.dumps(fields, separators=(",", ":")))

    def set_state(self, state: ReaderState | str | bytes) -> None:
        """Go to the place that `get_state` returned, of this reader or of an equal one.

        The next epoch delivers what was left of the interrupted one. The other reader may have
        had another number of shards: then what all its shards had left, each after as many samples,
        is divided among the new ones. Batch size and error handling may differ as well.

        Parameters
        ----------
        state
            A state, or its text.
        """
        if isinstance(state, bytes):
            state = state.decode()
        elif not isinstance(state, ReaderState | str):
            msg = (
                f"{self._operator}: set_state needs a ReaderState or its text; got "
                f"{type(state).__name__}."
            )
            raise TypeError(msg)
        order = self._order
        try:
            fields = json.loads(str(state))
            version = fields["version"]
            saved_shard, saved_shards = fields["shard"]
            position = from_numbers(fields["position"])
            samples, shuffle, engine = fields["samples"], fields["shuffle"], fields["engine"]
        except (ValueError, TypeError, KeyError) as error:
            msg = f"{self._operator}: set_state: not the state of a reader: {str(state)[:60]!r}."
            raise ValueError(msg) from error
        if version != _STATE_VERSION:
            msg = f"{self._operator}: set_state: unknown version {version!r} of the state."
            raise ValueError(msg)
        if samples != order.size:
            msg = (
                f"{self._operator}: set_state: the state belongs to {samples} samples; the "
                f"reader has {order.size}. Give it the same data."
            )
            raise ValueError(msg)
        if shuffle != _shuffle_numbers(order.shuffle):
            msg = (
                f"{self._operator}: set_state: the state belongs to samples shuffled in another "
                "way. Make the reader with the same 'random_shuffle', 'initial_fill', 'seed', "
                "'shuffle_after_epoch' and so on."
            )
            raise ValueError(msg)
        if saved_shards != order.num_shards:
            position = order.resharded(position, saved_shards)
        elif saved_shard != order.shard_id:
            position = position._replace(last=-1)
        elif engine is not None:
            order.set_engine(*engine)
        self._position = position
        self._resuming = True
        self._current = None

    @property
    def _order(self) -> Order:
        if self._opened is None:
            self._opened = self._make_order()
        return self._opened

    def _make_order(self) -> Order:
        settings = self._settings
        try:
            size = self._open()
        except ImportError as error:
            msg = f"{self._operator}: {error}"
            raise ImportError(msg) from error
        if size == 0:
            msg = f"{self._operator}: there are no samples."
            raise ValueError(msg)
        if settings["num_shards"] > size:
            msg = (
                f"{self._operator}: 'num_shards' must be at most the number of samples; got "
                f"{settings['num_shards']} for {size}."
            )
            raise ValueError(msg)
        lap_seed = settings["shuffle_after_epoch_seed"]
        lap_seed = DEFAULT_SHUFFLE_SEED if lap_seed is None else lap_seed
        drawn, each = settings["random_shuffle"], settings["shuffle_after_epoch"]
        shuffle = Shuffle(
            once=drawn and self._permutes_list,
            reach=settings["initial_fill"] if drawn else 0,
            # The reference, too, looks at 32 bits of the one seed and 64 of the other.
            seed=settings["seed"] % (1 << 32) if drawn else 0,
            each_lap=each,
            lap_seed=lap_seed % (1 << 64) if each else 0,
            cumulative=each and not settings["enable_checkpointing"],
        )
        return Order(
            size,
            shuffle,
            settings["shard_id"],
            settings["num_shards"],
            settings["stick_to_shard"],
            settings["pad_last_batch"],
            self._groups() if each else None,
        )

    def _checked_batch_size(self, batch_size: Any) -> int | None:
        if batch_size is None:
            return None
        size: int = rule_of(int).convert(batch_size, f"{self._operator}: 'batch_size'")
        if size < 1:
            msg = f"{self._operator}: 'batch_size' must be positive; got {size}."
            raise ValueError(msg)
        return size

    def _explain(self, number: int, exception: Exception, place: int | None) -> Exception:
        """What to raise for a sample that could not be read."""
        where = "" if place is None else f" (sample {place} of the batch)"
        reason = getattr(exception, "strerror", None) or str(exception).rstrip(".")
        msg = (
            f'{self._operator}: cannot read "{self._full_name(number)}"{where}: {reason}. '
            'Pass on_error="skip" to leave such samples out.'
        )
        return same_class(exception, msg)

    def _excuse(self, path: str, error: Exception) -> None:
        """Note that a file cannot be used, or not as a whole; or raise."""
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        failure = same_class(error, f'{self._operator}: cannot read "{path}": {reason}.')
        if self._on_error == "raise":
            raise failure from error
        self._errors.append(ReadError(path, failure))

    def _hopeless(self, cause: Exception) -> Exception:
        """What to raise when there is no sample left that could be read."""
        return same_class(cause, f"{self._operator}: no sample can be read. The last one: {cause}")

    def _note_errors(self, failed: list[Failed]) -> None:
        """List samples that were left out, and raise if they are too many."""
        if self._on_error == "raise":
            return
        for number, exception in failed:
            if number not in self._failed_numbers:
                self._failed_numbers.add(number)
                # Tracebacks would keep alive whatever was there when the sample was read.
                if exception.__cause__ is not None:
                    exception.__cause__.__traceback__ = None
                self._errors.append(ReadError(self._full_name(number), exception))
        limit = self._settings["max_errors"]
        if limit is not None and failed:
            most = limit if limit >= 1 or limit == 0 else limit * self._order.size
            if len(self._errors) > most:
                source, cause = self._errors[-1]
                msg = (
                    f"{self._operator}: {len(self._errors)} samples could not be read, more than "
                    f'max_errors={limit:g} allows. The last one, "{source}": {cause}'
                )
                raise OpError(msg) from cause

    def __repr__(self) -> str:
        settings = self._settings
        size = "not opened yet" if self._opened is None else f"{self._opened.size} samples"
        shard = f"shard {settings['shard_id']} of {settings['num_shards']}"
        return f"<{self._operator}: {size}, {shard}>"


def _shuffle_numbers(shuffle: Shuffle) -> list[int]:
    return [int(value) for value in dataclasses.astuple(shuffle)]
