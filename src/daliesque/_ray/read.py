# SPDX-License-Identifier: Apache-2.0
"""`ray.read`: a reader and a loop body as a data set of Ray Data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import ray
import ray.data

from .._engine.errors import join_names
from .._loops.loader_arguments import check_number, check_shuffle
from .._readers.core.base import Reader
from . import cluster
from .datasource import CONFIG, ReaderDatasource, Spec, Survey, make_plan, survey
from .errors import Errors
from .plan import NO_ROWS, LastBatch
from .state import States, done_rows

_WHERE = "ray.read"
_LAST_BATCHES = ("partial", "pad", "drop")
_MOST_SEED = 1 << 63
# Arguments of readers that have no meaning here, and why.
_REFUSED = {
    "shard_id": "tasks divide the data themselves; choose how many with 'shards'",
    "num_shards": "tasks divide the data themselves; choose how many with 'shards'",
    "stick_to_shard": "tasks divide the data themselves",
    "pad_last_batch": "pass last_batch='pad'",
    "shuffle_after_epoch_seed": "the order follows from 'seed'",
}


def read(
    reader: Any,
    *,
    batch_size: int,
    transform: Any = None,
    seed: int = 0,
    epoch: int = 0,
    start: States | None = None,
    shuffle: bool | int | None = None,
    splits: int = 1,
    last_batch: LastBatch = "partial",
    num_cpus: float | None = None,
    shards: int | Literal["auto"] = "auto",
    errors: Errors | None = None,
    source: str | None = "source",
    ray_options: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> ray.data.Dataset:
    """Return a data set of Ray Data with what a loop body makes of the batches of a reader.

    Reading, decoding and augmentation happen in one task, on all CPUs of the task, and only what
    the body returns goes through Ray's object store. Which samples are in a batch follows from
    `seed` and the number of the epoch; what random operators draw, from these and the index of the
    sample in the epoch. So the rows do not depend on the number of tasks and machines, and a task
    that is run again, because a process or a machine has failed, makes the same bytes.

    Each execution of the data set (a loop over it, say) is an epoch.

    Parameters
    ----------
    reader
        A class of readers, whose arguments follow as keywords; or a reader.
    batch_size
        How many samples the body gets at a time. Blocks consist of whole batches.
    transform
        The loop body: a function of the reader's outputs that returns a dict of batches, one for
        each column; lists of numbers or strings may be in there. Random operators draw from the
        default generator: leave `rng` out. By default, the outputs are the columns.
    seed
        What the order and all random numbers follow from.
    epoch
        The number of the first epoch.
    start
        Where to go on: the state of `ray.iter_torch`, or those of all processes of a training. The
        first epoch is then the rest of theirs.
    shuffle
        Whether to permute all samples, in each epoch in another way; or how many neighboring
        samples stay together. By default as the reader does.
    splits
        For how many consumers the data set is split (`streaming_split(splits, equal=True)`).
    last_batch
        What becomes of the samples that are left after whole batches for all consumers: a smaller
        batch ("partial"); or some are repeated until all have whole batches ("pad"; a column
        `valid` is False for repeated rows, also for those that stand for samples which were left
        out); or they are left out ("drop").
    num_cpus
        How many CPUs, and threads, a task has; by default 4, or what a machine has.
    shards
        How many tasks an epoch has.
    errors
        With `on_error="skip"`: where to list the samples that were left out. Otherwise they are in
        the log of the worker.
    source
        The name of a column that says where each row came from, a struct of `file`, `row` (its
        index in the epoch) and `epoch`; None for no such column. `ray.iter_torch` needs it for
        states.
    ray_options
        Further arguments of `ray.data.read_datasource`, e.g. `memory` or `runtime_env`.
    **arguments
        Arguments of the class of readers, `on_error` and `random_shuffle` among them.

    Returns
    -------
    ray.data.Dataset
        A data set like any other.

    Examples
    --------
    >>> import daliesque.ray as ndr
    >>> class Images(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 5
    ...     def fetch_sample(self, number):
    ...         return np.full((4, 6, 3), number, np.uint8)
    >>> def body(images):
    ...     return {"image": ndd.resize(images, size=[2, 2])}
    >>> dataset = ndr.read(Images, batch_size=2, transform=body, num_cpus=1)
    >>> dataset.count()
    5
    >>> dataset.take(1)[0]["image"].shape
    (2, 2, 3)
    """
    spec = Spec(
        reader=_pickled_reader(reader, arguments),
        transform=_pickled_transform(transform),
        batch_size=check_number(_WHERE, "batch_size", batch_size, 1),
        shuffle=check_shuffle(_WHERE, shuffle),
        last_batch=_checked_last_batch(last_batch),
        splits=check_number(_WHERE, "splits", splits, 1),
        seed=check_number(_WHERE, "seed", seed, 0) % _MOST_SEED,
        source=_checked_source(source),
        errors=_checked_errors(errors),
    )
    first = check_number(_WHERE, "epoch", epoch, 0)
    cluster.start()
    options = {} if ray_options is None else dict(ray_options)
    cpus = cluster.check_cpus(_WHERE, num_cpus)
    of_tasks = {"num_cpus": cpus, **_of_tasks(options)}
    cluster.check_workers(_WHERE, of_tasks)
    found: Survey = cluster.run_task(survey, spec, options=of_tasks)
    done = NO_ROWS
    if start is not None:
        first, done = done_rows(_WHERE, start, spec.seed, found)
    plan = make_plan(spec, found.samples, found.run, first, done)
    if not plan.tasks(1):
        # All of it was delivered.
        first, done = first + 1, NO_ROWS
    if shards == "auto":
        count = cluster.default_shards(plan.batches, cpus)
    else:
        count = check_number(_WHERE, "shards", shards, 1)
    made = ReaderDatasource(spec, found, count, first, done)
    count = max(1, len(made.get_read_tasks(count)))
    dataset = ray.data.read_datasource(made, num_cpus=cpus, override_num_blocks=count, **options)
    _allow_whole_batches(dataset, found.row_bytes * spec.batch_size)
    about: dict[str, Any] = {"seed": spec.seed, "samples": found.samples, "shuffle": found.run}
    about |= {"epoch": first, "done": list(map(list, done.ranges)), "source": spec.source}
    dataset.context.set_config(CONFIG, {"read": about})
    return dataset


def _of_tasks(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the arguments for Ray that are about tasks."""
    known = ("num_gpus", "memory", "resources", "runtime_env", "label_selector")
    return {name: value for name, value in options.items() if name in known}


def _allow_whole_batches(dataset: ray.data.Dataset, batch_bytes: int) -> None:
    """Blocks that are much larger than the target are cut anywhere: batches must not be."""
    context = dataset.context
    if context.target_max_block_size is not None:
        context.target_max_block_size = max(context.target_max_block_size, 2 * batch_bytes)


def _checked_last_batch(given: Any) -> LastBatch:
    if given not in _LAST_BATCHES:
        msg = f"{_WHERE}: 'last_batch' must be {join_names(_LAST_BATCHES)}; got {given!r}."
        raise ValueError(msg)
    chosen: LastBatch = given
    return chosen


def _checked_source(given: Any) -> str | None:
    if given is None or (isinstance(given, str) and given):
        return given
    msg = f"{_WHERE}: 'source' must be the name of a column, or None; got {given!r:.60}."
    raise TypeError(msg)


def _checked_errors(given: Any) -> Errors | None:
    if given is None or isinstance(given, Errors):
        return given
    msg = f"{_WHERE}: 'errors' must be a daliesque.ray.Errors; got {type(given).__name__}."
    raise TypeError(msg)


def _pickled_reader(given: Any, arguments: dict[str, Any]) -> bytes:
    """A class of readers and its arguments."""
    positional: Iterable[Any] = ()
    if isinstance(given, Reader):
        if arguments:
            name = next(iter(arguments))
            msg = (
                f"{_WHERE}() got an unexpected argument '{name}': arguments of the reader go with "
                "its class. Pass the class instead of the reader."
            )
            raise TypeError(msg)
        kind: Any = type(given)
        positional, arguments = given._remembered_arguments()
    elif isinstance(given, type) and issubclass(given, Reader):
        kind = given
    else:
        shown = given.__name__ if isinstance(given, type) else f"{given!r:.60}"
        msg = (
            f"{_WHERE}: 'reader' must be a class of readers, such as ndd.readers.File, with its "
            f"arguments as keywords; got {shown}."
        )
        raise TypeError(msg)
    for name, reason in _REFUSED.items():
        if arguments.get(name) is not None:
            msg = f"{_WHERE}: leave out '{name}' of the reader: {reason}."
            raise ValueError(msg)
    for key, value in [*enumerate(positional), *arguments.items()]:
        _check_pickled(value, f"the argument {key!r} of {kind.operator}")
    return _check_pickled((kind, tuple(positional), arguments), f"the class {kind.__name__}")


def _pickled_transform(transform: Any) -> bytes:
    if transform is not None and not callable(transform):
        msg = (
            f"{_WHERE}: 'transform' must be a function of the reader's outputs; got "
            f"{transform!r:.60}."
        )
        raise TypeError(msg)
    return _check_pickled(transform, "'transform'")


def _check_pickled(value: Any, what: str) -> bytes:
    try:
        pickled: bytes = ray.cloudpickle.dumps(value)
    except Exception as error:
        msg = (
            f"{_WHERE}: {what} cannot be sent to other processes: {error}. Pass plain values, and "
            "let the reader or 'transform' open files and make locks itself, when it is used."
        )
        raise TypeError(msg) from error
    return pickled
