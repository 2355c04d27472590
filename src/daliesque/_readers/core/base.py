# SPDX-License-Identifier: Apache-2.0
"""What all readers have in common."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Generic, Unpack, overload

from ... import _kernels
from ..._capture.loop import CaptureLoop
from ..._engine.args import rule_of
from ..._engine.context import EvalContext
from ..._engine.device import Device, DeviceLike
from ..._engine.device import device as to_device
from ..._engine.errors import same_class
from ..._engine.foreign import Advising
from ..._engine.interrupts import Steps as Changes
from ..._engine.interrupts import two_phase
from ..._engine.invariant import unwrap_invariant
from .bad_samples import BadSamples, ReadError, reason_of
from .captured_epoch import CapturedEpoch
from .damage import DamageFinder
from .epoch import Delivered, Epoch, only_output
from .hooks import (
    check_fetched,
    check_hooks,
    check_size,
    collect_samples,
    fetch_skipping,
    then_open,
)
from .options import ReaderMeta, ReaderOptions, check_last_batch, check_options, own_arguments
from .order import Numbers, Order, Position, Shuffle
from .source import Cursor, EpochOrder, EpochSource, Fetched, Fetcher
from .state import ReaderState, load_position, remake, save_position
from .steps import LastBatch


class Reader(Advising, Generic[Delivered]):
    """Base of all readers: delivers samples epoch by epoch, in the order of the reference.

    A reader is an index of samples, an order, and a way to fetch some of them. A subclass overrides

    - `open_index`, which makes the index and returns the number of samples;
    - `fetch_sample`, which returns the outputs for one sample, or `fetch` for several at once;
    - `source_name`, which says where a sample comes from (optional);

    and, as needed, the class attributes `operator`, the name of the reader in messages (by default
    that of the class), and `output_names`, with which a step is a dict instead of a tuple. Its
    `__init__` takes further arguments and passes on the others, which are those of all readers. The
    index is opened when `__init__` is through; with `lazy_init`, when it is needed. See
    docs/readers.md.

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
        Permute all samples (in readers of archives: the archives) again in each epoch, before they
        are divided into shards.
    shuffle_after_epoch_seed
        For the permutations of `shuffle_after_epoch`; all shards need the same.
    prefetch_queue_depth
        How many batches to read ahead. By default one, or some if they are small and the reader
        delivers files, records or rows as they are.
    lazy_init
        Make the index when it is needed, instead of at once.
    dont_use_mmap
        Never map archives into memory. By default those that are read again are, unless they are
        small. Cutting them short is an error also then: a handler for SIGBUS takes care of it.
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
    allow_outside
        Read files that a list, a manifest, annotations or a table name outside of their folder.

    Examples
    --------
    >>> class Squares(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 5
    ...     def fetch_sample(self, number):
    ...         return number**2
    >>> for (numbers,) in Squares().next_epoch(batch_size=5):
    ...     print(numbers.torch().tolist())
    [0, 1, 4, 9, 16]
    """

    # What messages begin with.
    operator: ClassVar[str] = "readers.Reader"
    # Names of the outputs, if the reader delivers dicts.
    output_names: tuple[str, ...] | None = None

    # Whether `random_shuffle` permutes the list; readers of archives read on in their order.
    _permutes_list: ClassVar[bool] = True
    # Where the reference can deliver to.
    _devices: ClassVar[tuple[str, ...]] = ("cpu",)
    # How many samples to read at a time if there is no batch size. They share a buffer, which lives
    # as long as any of them.
    _samples_at_once: ClassVar[int] = 16
    # How many samples of several small batches to read together at most (0: each batch by itself),
    # unless the caller says how many batches to read ahead: for readers that take less time for a
    # batch than to hand it from one thread to another.
    _samples_together: ClassVar[int] = 0
    # How many `__init__` of the class and its bases are running.
    _running_inits: int = 0
    # What the constructor was called with, by position and by name.
    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "operator" not in vars(cls):
            cls.operator = cls.__name__
        if not hasattr(cls.__init__, "_opens_index"):
            cls.__init__ = then_open(cls.__init__)  # type: ignore[method-assign]

    @then_open
    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        **options: Unpack[ReaderOptions],
    ) -> None:
        check_hooks(type(self), Reader)
        self._has_depth = options.get("prefetch_queue_depth") is not None
        settings = check_options(
            self.operator, dict(options), self._permutes_list, own_arguments(type(self))
        )
        self._name = name
        self._device = to_device(device) or Device.CPU
        if self._device.device_type not in self._devices:
            msg = (
                f'{self.operator}: Invalid device "{device}": the reader delivers CPU data. Leave '
                "'device' out and move the batches with .gpu()."
            )
            raise ValueError(msg)
        self._batch_size = self._checked_batch_size(
            settings["max_batch_size"] if batch_size is None else batch_size
        )
        self._settings = settings
        self._bad_samples = BadSamples(self.operator, settings["on_error"], settings["max_errors"])
        self._damage: DamageFinder | None = None
        self._opened: Order | None = None
        self._cursor = Cursor(Position())
        self._current: weakref.ref[Epoch[Any]] | None = None
        self._called: Epoch[Any] | None = None
        self._capture_loop: CaptureLoop | None = None
        self._mutex = _kernels.Mutex()

    def _finish_init(self) -> None:
        if not hasattr(self, "_settings"):
            msg = f"{self.operator}: __init__ must call super().__init__(**options)."
            raise TypeError(msg)
        if not self._settings["lazy_init"] and self._opened is None:
            self._opened = self._make_order()

    def open_index(self) -> int:
        """Make the index and return how many samples there are.

        Called once, before anything else. Files that cannot be used may be passed to `leave_out`.
        """
        raise NotImplementedError

    def fetch_sample(self, number: int) -> Any:
        """Return the outputs for one sample.

        An array, a Tensor, a number or bytes is the only output; a tuple holds one of these for
        each output. Arrays are not copied. Whatever is raised, save ImportError, makes the sample
        one that cannot be read; `on_error` says what happens then. Called by a thread that reads
        ahead: one for each epoch, and that of an epoch that was left may not be through yet.

        Parameters
        ----------
        number
            Which sample, counted from 0.
        """
        raise NotImplementedError

    def fetch(self, numbers: Numbers) -> Fetched:
        """Return the outputs for several samples: `fetch_sample` for each of them by default.

        Override it instead of `fetch_sample` where reading several at once is faster. Samples that
        cannot be read belong into `Fetched.errors`; if something is raised, those that are to blame
        are looked for one by one, or with on_error="raise" the step fails.

        Parameters
        ----------
        numbers
            Which samples, counted from 0, in the order in which they are wanted.
        """
        return collect_samples(self.operator, self.fetch_sample, numbers, self.output_names)

    def source_name(self, number: int) -> str:
        """Return where a sample comes from, as `Batch.source` and messages have it.

        Parameters
        ----------
        number
            Which sample, counted from 0.
        """
        return f"sample {number}"

    def leave_out(self, path: str, error: Exception) -> None:
        """Note in `open_index` that a file cannot be used, or not as a whole.

        It is listed in `errors`; with on_error="raise" an error that names the file is raised.

        Parameters
        ----------
        path
            The file.
        error
            What is wrong with it.
        """
        beginning = f'{self.operator}: cannot read "{path}": '
        msg = f"{beginning}{reason_of(error).removeprefix(beginning)}."
        self._bad_samples.leave_out(path, same_class(error, msg))

    def _groups(self) -> Numbers | None:
        """Where runs of samples end that `shuffle_after_epoch` keeps together (archives)."""
        return None

    def _fetch_checked(self, numbers: Numbers) -> Fetched:
        """Read samples. Unless errors are to be raised, damaged images are errors as well."""

        def fetch(some: Numbers) -> Fetched:
            return check_fetched(self.operator, self.fetch(some), len(some), self.output_names)

        if self._bad_samples.policy == "raise":
            return fetch(numbers)
        fetched = fetch_skipping(fetch, numbers)
        if self._damage is None:
            self._damage = DamageFinder(self._order.size)
        return self._damage.without_damaged(fetched, numbers, self._file_name)

    def _make_fetcher(self) -> Fetcher | None:
        """What reads the samples of an epoch, for readers that can do several steps at a time."""
        return None

    def _file_name(self, number: int) -> str:  # noqa: ARG002
        """The name of the file that is the sample's first output, if it is a file of its own."""
        return ""

    def _source_names(self, numbers: Iterable[int]) -> Iterable[str]:
        return map(self.source_name, numbers)

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        """Where samples come from, for each output: the same source for all by default."""
        names = tuple(self._source_names(numbers))
        if not set(map(type, names)) <= {str}:
            for name in names:
                if not isinstance(name, str):
                    msg = f"{self.operator}: source_name must return a string; got {name!r}."
                    raise TypeError(msg)
        return (names,) * outputs

    def _full_name(self, number: int) -> str:
        """Where a sample comes from, as error messages have it."""
        return self.source_name(number)

    # Without a batch size here, that of the constructor counts, if there is one.
    @overload
    def next_epoch(
        self,
        batch_size: int,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        last_batch: LastBatch | None = None,
    ) -> Epoch[Delivered]: ...
    @overload
    def next_epoch(
        self,
        batch_size: None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        last_batch: LastBatch | None = None,
    ) -> Epoch[Any]: ...
    @two_phase
    def next_epoch(
        self,
        batch_size: int | None = None,
        ctx: EvalContext | None = None,
        capture: bool = False,
        *,
        last_batch: LastBatch | None = None,
    ) -> Any:
        """Return an iterator over the next epoch.

        It yields one Batch for each output of the reader, or one Tensor if there is no batch size.
        It may be left at any time: the next epoch then starts with a fresh pass over the data.
        After `set_state` the first epoch is what was left of the interrupted one.

        `len(epoch)` is the number of steps and `epoch.num_samples` that of samples, both of this
        shard; `batch.valid` says how many samples of a batch count.

        Parameters
        ----------
        batch_size
            How many samples to deliver at a time; by default what the constructor was given.
        ctx
            The context of a capture-mode loop; by default the current one.
        capture
            Record the calls of the first step, and run later steps ahead; see docs/capture.md.
        last_batch
            What to do if there are not enough samples for the last batch: "fill" it with the first
            samples of the next epoch, which begins after them; make it smaller ("partial"); "drop"
            it; or "pad" it by repeating the last sample. Unless it is "fill", the epoch is one pass
            over the data of the shard. By default "fill", or "pad" if the reader has
            `pad_last_batch`, which also makes all shards equally long by repeating samples.

        Examples
        --------
        >>> class Squares(ndd.readers.Reader):
        ...     def open_index(self):
        ...         return 5
        ...     def fetch_sample(self, number):
        ...         return number**2
        >>> epoch = Squares().next_epoch(batch_size=3, last_batch="partial")
        >>> len(epoch), epoch.num_samples
        (2, 5)
        >>> [squares.torch().tolist() for (squares,) in epoch]
        [[0, 1, 4], [9, 16]]
        """
        if ctx is not None and not isinstance(ctx, EvalContext):
            msg = f"{self.operator}: 'ctx' must be an EvalContext; got {ctx!r}."
            raise TypeError(msg)
        wanted = self._checked_batch_size(batch_size)
        wanted = self._batch_size if wanted is None else wanted
        if capture and wanted is None:
            msg = f"{self.operator}: capture=True requires a non-None batch_size."
            raise ValueError(msg)
        cursor = self._cursor
        begin = cursor.position if cursor.resuming else self._order.begun(cursor.position)
        last = self._last_batch(last_batch, wanted)
        epoch, changes = self._make_epoch(wanted, True, last, begin, capture, ctx)
        return epoch, changes, None

    def _last_batch(self, given: str | None, batch_size: int | None) -> LastBatch:
        pads = self._settings["pad_last_batch"]
        return check_last_batch(self.operator, given, pads, batch_size is not None)

    def __iter__(self) -> Iterator[Any]:
        msg = (
            f"{self.operator}: a reader is read epoch by epoch. Iterate over "
            "reader.next_epoch(batch_size=...)."
        )
        raise TypeError(msg)

    def __len__(self) -> int:
        msg = (
            f"{self.operator}: a reader has no length of its own. Ask len(reader.next_epoch("
            'batch_size=...)) for the steps of an epoch, reader.get_metadata()["epoch_size"] for '
            "the samples of all shards."
        )
        raise TypeError(msg)

    def __bool__(self) -> bool:
        return True

    @two_phase
    def __call__(self, *, batch_size: int | None = None) -> Any:
        """Return the next batch, or sample, from epoch to epoch without end; one output alone.

        Parameters
        ----------
        batch_size
            How many samples; by default what the constructor was given, or a single one.
        """
        wanted = self._checked_batch_size(batch_size) or self._batch_size
        while True:
            epoch = self._called
            if epoch is None or self._current is None or self._current() is not epoch:
                default = self._last_batch(None, wanted)
                epoch, changes = self._make_epoch(wanted, False, default, self._cursor.position)
                _kernels.carry_out((*changes, (setattr, (self, "_called", epoch))))
            elif epoch.batch_size != wanted:
                self._called = None
                continue
            try:
                outcome = epoch.prepare_next()
            except StopIteration:
                self._called = None
                continue
            _, changes, failure = outcome
            if not isinstance(failure, StopIteration):
                return only_output(outcome)
            _kernels.carry_out((*changes, (setattr, (self, "_called", None))))

    def _make_epoch(
        self,
        batch_size: int | None,
        read_ahead: bool,
        last_batch: LastBatch,
        position: Position,
        capture: bool = False,
        ctx: EvalContext | None = None,
    ) -> tuple[Epoch[Any], Changes]:
        """An epoch that begins at a position, and what changes when it does."""
        order = self._order
        previous = self._current() if self._current is not None else None
        if previous is not None:
            previous.close()
        if last_batch != "fill":
            position = order.aligned(position)
        source, loop = self._epoch_source(order), self._capture_loop
        if loop is not None and not (capture and loop.can_go_on(batch_size)):
            loop.tear_down()
            loop = None
        epoch: Epoch[Any]
        if capture and batch_size is not None:
            loop = CaptureLoop(batch_size, ctx) if loop is None else loop
            loop.check_context(ctx)
            epoch = CapturedEpoch(source, position, batch_size, last_batch, loop)
        else:
            epoch = Epoch(source, position, batch_size, read_ahead, last_batch)
        kept = (setattr, (self, "_capture_loop", loop))
        current = (setattr, (self, "_current", weakref.ref(epoch)))
        return epoch, (*self._cursor.moving(position), kept, current)

    def _epoch_source(self, order: EpochOrder) -> EpochSource:
        return EpochSource(
            operator=self.operator,
            order=order,
            cursor=self._cursor,
            bad_samples=self._bad_samples,
            device=self._device,
            output_names=self.output_names,
            prefetch_queue_depth=self._settings["prefetch_queue_depth"],
            samples_at_once=self._samples_at_once,
            samples_together=0 if self._has_depth else self._samples_together,
            fetch=self._fetch_checked,
            make_fetcher=self._make_fetcher,
            sources=self._sources,
            full_name=self._full_name,
        )

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
            "stick_to_shard": int(order.stick_to_shard or order.shuffle.each_pass),
        }

    @property
    def errors(self) -> list[ReadError]:
        """The samples that were skipped or replaced so far, each once."""
        return list(self._bad_samples.errors)

    def get_state(self, *, cuda_stream: Any = None) -> ReaderState:
        """Return where the reader is: after the batch or sample delivered last.

        The state is a short text, whatever the size of the data. It counts what was delivered, and
        nothing of what was read ahead.

        Parameters
        ----------
        cuda_stream
            Accepted for compatibility.
        """
        del cuda_stream
        return save_position(self._order, self._cursor.position)

    def set_state(self, state: ReaderState | bytes) -> None:
        """Go to the position that `get_state` returned, of this reader or of an equal one.

        The next epoch delivers what was left of the interrupted one. The other reader may have
        had another number of shards: then what all its shards had left, each after as many samples,
        is divided among the new ones. Batch size, error handling and, if this reader was given
        none, the seed may differ as well. States that the reference saved are understood, too.

        Parameters
        ----------
        state
            What `get_state` returned.
        """
        if isinstance(state, bytes):
            state = state.decode(errors="replace")
        elif not isinstance(state, ReaderState):
            given = type(state).__name__
            msg = f"{self.operator}: set_state needs a ReaderState, text of get_state; got {given}."
            raise TypeError(msg)
        where, seed = self.operator, self._settings["seed"]
        order, position = load_position(where, self._order, seed, state)
        previous = self._current() if self._current is not None else None
        if previous is not None:
            previous.supersede()
        if self._capture_loop is not None:
            self._capture_loop.tear_down()
        changes = (
            (setattr, (self, "_opened", order)),
            (setattr, (self, "_current", None)),
            (setattr, (self, "_capture_loop", None)),
        )
        _kernels.carry_out((*self._cursor.moving(position, resuming=True), *changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments and the position: a copy goes on after what was delivered here."""
        state = None if self._opened is None else self.get_state()
        return remake, (type(self), *self._remembered_arguments(), state)

    def _remembered_arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What to call the constructor with, to make an equal reader."""
        return self._arguments

    @property
    def _order(self) -> Order:
        if self._opened is None:
            self._opened = self._make_order()
        return self._opened

    def _make_order(self) -> Order:
        settings = self._settings
        try:
            size = check_size(self.operator, self.open_index())
        except ImportError as error:
            msg = f"{self.operator}: {error}"
            raise ImportError(msg) from error
        if size == 0:
            msg = f"{self.operator}: there are no samples."
            raise ValueError(msg)
        if settings["num_shards"] > size:
            msg = (
                f"{self.operator}: 'num_shards' must be at most the number of samples; got "
                f"{settings['num_shards']} for {size}."
            )
            raise ValueError(msg)
        shuffle = Shuffle.of_settings(settings, self._permutes_list)
        return Order(
            size,
            shuffle,
            settings["shard_id"],
            settings["num_shards"],
            settings["stick_to_shard"],
            settings["pad_last_batch"],
            self._groups() if shuffle.each_pass else None,
        )

    def _checked_batch_size(self, batch_size: Any) -> int | None:
        batch_size = unwrap_invariant(batch_size)
        if batch_size is None:
            return None
        size: int = rule_of(int).convert(batch_size, f"{self.operator}: 'batch_size'")
        if size < 1:
            msg = f"{self.operator}: 'batch_size' must be positive; got {size}."
            raise ValueError(msg)
        return size

    def __repr__(self) -> str:
        settings = self._settings
        size = "not opened yet" if self._opened is None else f"{self._opened.size} samples"
        shard, shards = settings["shard_id"], settings["num_shards"]
        return f"<{self.operator}: {size}, shard {shard} of {shards}>"
