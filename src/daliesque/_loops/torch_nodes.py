# SPDX-License-Identifier: Apache-2.0
"""Readers and operators as nodes of torchdata, which can be resumed after any step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from .._engine.batch import Batch
from .._engine.device import Device
from .._engine.devices import require_backend
from .._engine.rng import RNG, get_default_rng
from .._engine.stream import stream as make_stream
from .._engine.tensor import Tensor
from .._readers.core.base import Reader as BaseReader
from .._readers.core.epoch import Epoch
from .._readers.core.options import ReaderMeta

try:
    from torchdata.nodes import BaseNode
except ModuleNotFoundError as _error:
    _missing = (_error.name or "").partition(".")[0]
    if _missing not in ("torch", "torchdata"):
        raise
    _msg = f"pytorch.nodes: {_missing} is not installed. Install daliesque[torchdata]."
    raise ImportError(_msg, name=_missing) from None

if TYPE_CHECKING:
    import torch

Value: TypeAlias = Tensor | Batch
T = TypeVar("T", bound=Value)
# The outputs of a reader that two names are known for.
_USUAL_NAMES = ("data", "label")
# How many samples to try to learn how many outputs a reader has.
_TRIES = 8


class Reader(BaseNode, Generic[T]):  # type: ignore[misc]
    """A reader as a node that yields dicts.

    Its state is that of the reader: after any step, with another batch size or number of shards.

    Parameters
    ----------
    reader_type
        The class of the reader.
    batch_size
        How many samples a step has; None for single samples, as tensors.
    output_names
        The names of the outputs. By default those of the reader if it has some, and "data" and
        "label" if there are two outputs.
    **kwargs
        The arguments of the reader.

    Examples
    --------
    >>> class Squares(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 6
    ...     def fetch_sample(self, number):
    ...         return number**2
    >>> node = ndd.pytorch.nodes.Reader(Squares, batch_size=2, output_names=["square"])
    >>> next(node)["square"].torch().tolist()
    [0, 1]
    >>> state = node.state_dict()
    >>> next(node)["square"].torch().tolist()
    [4, 9]
    >>> node.reset(state)
    >>> next(node)["square"].torch().tolist()
    [4, 9]
    """

    def __init__(
        self,
        reader_type: Callable[..., BaseReader[Any]],
        *,
        batch_size: int | None,
        output_names: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        if batch_size is not None:
            kwargs.setdefault("max_batch_size", batch_size)
        self._reader = reader_type(**kwargs)
        self._batch_size = batch_size
        self._epoch: Epoch[Any] | None = None
        self._names = _names_of_outputs(self._reader, output_names)

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Begin the next epoch, or go on from a state.

        Parameters
        ----------
        initial_state
            What `get_state` returned.
        """
        super().reset(initial_state)
        if initial_state is not None:
            self._reader.set_state(initial_state["reader"])
        self._epoch = self._reader.next_epoch(batch_size=self._batch_size)

    def next(self) -> dict[str, T]:
        """Return the outputs of the next step by their names."""
        if self._epoch is None:
            msg = "pytorch.nodes.Reader: next() was called before reset(). Call reset() first."
            raise RuntimeError(msg)
        outputs = next(self._epoch)
        values = outputs.values() if isinstance(outputs, dict) else outputs
        return dict(zip(self._names, values, strict=True))

    def get_state(self) -> dict[str, Any]:
        """Return where the reader is, after what was delivered last."""
        return {"reader": self._reader.get_state()}

    def get_metadata(self) -> ReaderMeta:
        """Return what `get_metadata` of the reader returns."""
        return self._reader.get_metadata(self._batch_size)


class DictMapper(BaseNode, Generic[T]):  # type: ignore[misc]
    """Applies a function to one entry of the dicts of another node.

    Its state holds that of the generator that the function draws from, so that augmentations, too,
    go on as they would have.

    Parameters
    ----------
    source
        The node that yields the dicts.
    map_fn
        The function, of a Tensor or Batch.
    key
        The name of the entry.
    rng
        The generator that the function uses, if it is not the default one of the thread.

    Examples
    --------
    >>> class Count(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 4
    ...     def fetch_sample(self, number):
    ...         return number, -number
    >>> reader = ndd.pytorch.nodes.Reader(Count, batch_size=4)
    >>> node = ndd.pytorch.nodes.DictMapper(reader, lambda data: data * 10)
    >>> next(node)["data"].torch().tolist()
    [0, 10, 20, 30]
    """

    def __init__(
        self,
        source: Any,
        map_fn: Callable[[T], Value],
        key: str = "data",
        *,
        rng: RNG | None = None,
    ) -> None:
        super().__init__()
        self._source = source
        self._map_fn = map_fn
        self._key = key
        self._rng = rng

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Reset the source, or let it and the generator go on from a state.

        Parameters
        ----------
        initial_state
            What `get_state` returned.
        """
        super().reset(initial_state)
        if initial_state is None:
            self._source.reset()
        else:
            self._source.reset(initial_state["source"])
            self._generator().set_state(initial_state["rng"])

    def next(self) -> dict[str, Value]:
        """Return the next dict of the source, with one entry replaced."""
        values: dict[str, Any] = dict(next(self._source))
        if self._key not in values:
            msg = (
                f"pytorch.nodes.DictMapper: 'key' must be one of {list(values)}; got {self._key!r}."
            )
            raise KeyError(msg)
        values[self._key] = self._map_fn(values[self._key])
        return values

    def get_state(self) -> dict[str, Any]:
        """Return the states of the source and of the generator."""
        return {"source": self._source.state_dict(), "rng": self._generator().get_state()}

    def _generator(self) -> RNG:
        return get_default_rng() if self._rng is None else self._rng


class ToTorch(BaseNode):  # type: ignore[misc]
    """Yields tuples of torch tensors instead of the dicts of another node.

    If some of the values are on an accelerator, the others are moved there.

    Parameters
    ----------
    source
        The node that yields the dicts.
    output_stream
        The stream that the tensors will be used in; by default torch's current one.

    Examples
    --------
    >>> class Count(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 4
    ...     def fetch_sample(self, number):
    ...         return number, -number
    >>> node = ndd.pytorch.nodes.ToTorch(ndd.pytorch.nodes.Reader(Count, batch_size=2))
    >>> [values.tolist() for values in next(node)]
    [[0, 1], [0, -1]]
    """

    def __init__(self, source: Any, output_stream: Any = None) -> None:
        super().__init__()
        self._source = source
        self._stream = make_stream(output_stream)

    def reset(self, initial_state: dict[str, Any] | None = None) -> None:
        """Reset the source, or let it go on from a state.

        Parameters
        ----------
        initial_state
            What `get_state` returned.
        """
        super().reset(initial_state)
        self._source.reset(None if initial_state is None else initial_state["source"])

    def next(self) -> tuple[torch.Tensor, ...]:
        """Return the next values of the source as tensors."""
        values: dict[str, Value] = next(self._source)
        devices = {value.device for value in values.values()} - {Device.CPU}
        if len(devices) > 1:
            msg = (
                "pytorch.nodes.ToTorch: all values must be on one accelerator; got "
                f"{sorted(map(str, devices))}."
            )
            raise ValueError(msg)
        target = next(iter(devices), Device.CPU)
        with self._active_stream():
            return tuple(value.to_device(target).torch() for value in values.values())

    def get_state(self) -> dict[str, Any]:
        """Return the state of the source."""
        return {"source": self._source.state_dict()}

    def _active_stream(self) -> contextlib.AbstractContextManager[Any]:
        if self._stream is None:
            return contextlib.nullcontext()
        return require_backend("pytorch.nodes.ToTorch").queues.active(self._stream.queue)


def _names_of_outputs(reader: BaseReader[Any], given: Iterable[str] | None) -> tuple[str, ...]:
    """The keys of what a node yields, one for each output of its reader."""
    where = "pytorch.nodes.Reader"
    names = reader.output_names
    count = _count_outputs(reader) if names is None else len(names)
    if given is not None:
        wanted = tuple(given)
        if count is not None and len(wanted) != count:
            msg = (
                f"{where}: 'output_names': Number of output names does not match number of "
                f"outputs; got {list(wanted)} for {count} of {reader.operator}."
            )
            raise ValueError(msg)
        return wanted
    if names is not None:
        return names
    if count != len(_USUAL_NAMES):
        msg = f"{where}: Cannot infer output names for reader {reader.operator}. Give them."
        raise ValueError(msg)
    return _USUAL_NAMES


def _count_outputs(reader: BaseReader[Any]) -> int | None:
    """How many outputs a reader has: those of the first sample that can be read."""
    for number in range(min(_TRIES, reader.get_metadata()["epoch_size"])):
        with contextlib.suppress(Exception):
            fetched = reader.fetch(np.array([number], np.int64))
            if fetched.outputs:
                return len(fetched.outputs)
    return None
