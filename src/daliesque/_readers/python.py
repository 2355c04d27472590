# SPDX-License-Identifier: Apache-2.0
"""Any Python object with a length and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.dtype import DType, DTypeLike, from_numpy
from .._engine.dtype import dtype as to_dtype
from .._engine.tensor import Tensor, as_tensor
from .._engine.threads import check_thread_count, run_on_threads
from .core.base import Reader
from .core.hooks import collect_samples
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched

# Items that are looked at to find out whether they are dicts, if some of them cannot be read.
_MOST_PROBED = 16


class Kind(NamedTuple):
    """In what the outputs of all items must agree."""

    dtype: DType
    ndim: int

    @classmethod
    def of(cls, output: NDArray[Any] | Tensor) -> Kind:
        """That of an output."""
        if isinstance(output, np.ndarray):
            return cls(to_dtype(output.dtype), output.ndim)
        return cls(output.dtype, output.ndim)

    def is_of(self, output: NDArray[Any] | Tensor) -> bool:
        """Whether an output is of this kind."""
        return output.ndim == self.ndim and (
            output.dtype == self.dtype
            if isinstance(output, Tensor)
            else from_numpy(output.dtype) is self.dtype
        )


class Python(Reader[Any]):
    """Read any object with `__len__` and `__getitem__`: a torch Dataset, a list, a memory map.

    An item is one output, or a tuple or a dict of outputs; with dicts, each step is a dict, with
    the keys of the first item. An output is an array (of any library, or a Pillow image), a Tensor,
    a number, a list of numbers, bytes, or a string, which becomes its UTF-8 bytes. By default the
    `source` of a sample is the class of the object with its number, such as "list[3]".

    Parameters
    ----------
    dataset
        The object. Its length is asked for once.
    batch_size, name, device
        See `Reader`.
    num_threads
        How many items are fetched at the same time, ahead of the program; with more than one,
        `__getitem__` is called by several threads.
    layout
        The layout of outputs: one for all of them, or a sequence with one, or None, for each.
    dtype
        The element type that outputs are converted to, likewise. By default, items must have the
        types and numbers of axes of the first one that can be read.
    source_name
        A function that returns where the item with a number comes from.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> pairs = [(np.full((2, 2), number), number) for number in range(5)]
    >>> reader = ndd.readers.Python(pairs, random_shuffle=True, pad_last_batch=True)
    >>> sorted(int(label.item()) for _, label in reader.next_epoch())
    [0, 1, 2, 3, 4]
    """

    operator: ClassVar[str] = "readers.Python"

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        num_threads: int = 1,
        layout: str | Sequence[str | None] | None = None,
        dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
        source_name: Callable[[int], str] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        kind = type(dataset)
        if not hasattr(kind, "__len__") or not hasattr(kind, "__getitem__"):
            msg = (
                f"{self.operator}: 'dataset' must have __len__ and __getitem__; got {kind.__name__}"
                ". Use ExternalSource for what can only be iterated over."
            )
            raise TypeError(msg)
        if isinstance(dataset, Mapping):
            msg = f"{self.operator}: 'dataset' must have items by number; got {kind.__name__}."
            raise TypeError(msg)
        self._dataset = dataset
        try:
            self._threads = check_thread_count(num_threads)
        except (TypeError, ValueError) as error:
            msg = f"{self.operator}: 'num_threads': {error}"
            raise type(error)(msg) from None
        where = f"{self.operator}: 'layout'"
        self._layouts = _for_outputs(layout, lambda item: rule_of(str).convert(item, where))
        self._dtypes = _for_outputs(dtype, to_dtype)
        self._kinds: list[Kind] | None = None
        self._named_by = source_name
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        size = len(self._dataset)
        for number in range(min(size, _MOST_PROBED)):
            try:
                item = self._dataset[number]
                names = tuple(item) if isinstance(item, Mapping) else None
                kinds = [Kind.of(output) for output in self._convert(self._split(item, names))]
            except Exception:
                # Reported when it is to be delivered.
                continue
            self.output_names, self._kinds = names, kinds
            self._check_names()
            break
        return size

    def _check_names(self) -> None:
        for key in self.output_names or ():
            if not isinstance(key, str):
                msg = f"{self.operator}: the keys of items must be strings; got {key!r}."
                raise TypeError(msg)

    def fetch(self, numbers: Numbers) -> Fetched:
        if self._threads == 1:
            fetched = super().fetch(numbers)
        else:
            outcomes = self._fetch_on_threads(numbers)
            fetched = collect_samples(self.operator, outcomes, numbers, self.output_names)
        # Copied here, ahead of the program: memory maps are read, others may change their arrays,
        # and a dense batch needs no copy later.
        return fetched._replace(outputs=tuple(samples.copy() for samples in fetched.outputs))

    def _fetch_on_threads(self, numbers: Numbers) -> Callable[[int], Any]:
        """Fetch items at the same time; returns what gives one, or raises what it raised."""
        items: dict[int, Any] = {}
        failures: dict[int, Exception] = {}

        def fetch_one(number: int) -> None:
            try:
                items[number] = self.fetch_sample(number)
            except Exception as error:
                failures[number] = error

        def outcome(number: int) -> Any:
            if number in failures:
                raise failures[number]
            return items[number]

        run_on_threads(fetch_one, sorted(set(numbers.tolist())), self._threads)
        return outcome

    def fetch_sample(self, number: int) -> Any:
        outputs = self._convert(self._split(self._dataset[number], self.output_names))
        if self._kinds is not None:
            _check_kinds(outputs, self._kinds)
        return tuple(outputs)

    def _split(self, item: Any, names: tuple[str, ...] | None) -> Sequence[Any]:
        """The outputs of an item."""
        if names is None:
            if isinstance(item, Mapping):
                msg = "the item is a dict, others are not"
                raise TypeError(msg)
            return item if isinstance(item, tuple) else (item,)
        if not isinstance(item, Mapping) or set(item) != set(names):
            got = f"the keys {list(item)}" if isinstance(item, Mapping) else type(item).__name__
            msg = f"the item must be a dict with the keys {list(names)}; got {got}"
            raise TypeError(msg)
        return [item[key] for key in names]

    def _convert(self, outputs: Sequence[Any]) -> list[NDArray[Any] | Tensor]:
        """Outputs as arrays and tensors."""
        if self._layouts is None and self._dtypes is None:
            return [_to_output(output, None, None) for output in outputs]
        count = len(outputs)
        layouts, dtypes = (
            _spread(name, values, count)
            for name, values in (("layout", self._layouts), ("dtype", self._dtypes))
        )
        return [_to_output(*row) for row in zip(outputs, layouts, dtypes, strict=True)]

    def source_name(self, number: int) -> str:
        if self._named_by is not None:
            return self._named_by(number)
        return f"{type(self._dataset).__name__}[{number}]"


def _for_outputs(value: Any, convert: Callable[[Any], Any]) -> Any:
    """What is given for all outputs, or a list with what is given for each."""
    if value is None or isinstance(value, str) or not isinstance(value, Sequence):
        return None if value is None else convert(value)
    return [None if item is None else convert(item) for item in value]


def _spread(name: str, value: Any, count: int) -> Sequence[Any]:
    if not isinstance(value, list):
        return (value,) * count
    if len(value) != count:
        msg = f"'{name}' has {len(value)} items for {count} outputs"
        raise ValueError(msg)
    return value


def _to_output(value: Any, layout: str | None, dtype: DType | None) -> NDArray[Any] | Tensor:
    """An output as readers take it."""
    if layout is None and dtype is None:
        # Arrays of one type are joined faster.
        if type(value) is np.ndarray:
            return value
        if isinstance(value, np.generic) and from_numpy(value.dtype) is not None:
            return np.asarray(value)
    if isinstance(value, str):
        value = value.encode()
    if value is None or isinstance(value, Mapping | tuple | set | Batch):
        msg = (
            f"an output must be an array, a number, a list of numbers, or bytes; got {value!r:.60}"
        )
        raise TypeError(msg)
    return as_tensor(value, layout=layout, dtype=dtype)


def _check_kinds(outputs: Sequence[NDArray[Any] | Tensor], expected: list[Kind]) -> None:
    """Raise if an item does not go with the first one."""
    if len(outputs) != len(expected):
        msg = f"the item has {len(outputs)} outputs, the first one {len(expected)}"
        raise TypeError(msg)
    for number, (output, wanted) in enumerate(zip(outputs, expected, strict=True)):
        if wanted.is_of(output):
            continue
        kind = Kind.of(output)
        if kind.dtype != wanted.dtype:
            msg = (
                f"output {number} is {kind.dtype.full_name}, that of the first item "
                f"{wanted.dtype.full_name}; pass 'dtype' to convert all of them"
            )
            raise TypeError(msg)
        if kind.ndim != wanted.ndim:
            msg = f"output {number} has {kind.ndim} axes, that of the first item {wanted.ndim}"
            raise TypeError(msg)
