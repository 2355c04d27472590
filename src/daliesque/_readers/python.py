# SPDX-License-Identifier: Apache-2.0
"""Any Python object with a length and items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from .._engine.args import rule_of
from .._engine.device import DeviceLike
from .._engine.tensor import as_tensor
from .._engine.threads import check_thread_count, run_on_threads
from .core.base import Reader
from .core.hooks import collect_samples
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched

# Items that are looked at to find out whether they are dicts, if some of them cannot be read.
_MOST_PROBED = 16


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
        self._layouts = layout
        if layout is not None and not isinstance(layout, str):
            where = f"{self.operator}: 'layout'"
            self._layouts = [
                None if item is None else rule_of(str).convert(item, where) for item in layout
            ]
        self._named_by = source_name
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        size = len(self._dataset)
        for number in range(min(size, _MOST_PROBED)):
            try:
                item = self._dataset[number]
            except Exception:
                # Reported when it is to be delivered.
                continue
            if isinstance(item, Mapping):
                self.output_names = tuple(item)
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
        outputs = self._split(self._dataset[number])
        layouts = self._layouts
        if layouts is None or isinstance(layouts, str):
            layouts = (layouts,) * len(outputs)
        elif len(layouts) != len(outputs):
            msg = f"'layout' has {len(layouts)} items for {len(outputs)} outputs"
            raise ValueError(msg)
        return tuple(map(_to_output, outputs, layouts))

    def _split(self, item: Any) -> Sequence[Any]:
        """The outputs of an item."""
        names = self.output_names
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

    def source_name(self, number: int) -> str:
        if self._named_by is not None:
            return self._named_by(number)
        return f"{type(self._dataset).__name__}[{number}]"


def _to_output(value: Any, layout: str | None) -> Any:
    """An output as readers take it."""
    if isinstance(value, str):
        value = value.encode()
    if value is None or isinstance(value, Mapping | tuple | set):
        msg = (
            f"an output must be an array, a number, a list of numbers, or bytes; got {value!r:.60}"
        )
        raise TypeError(msg)
    if layout is not None or isinstance(value, list):
        return as_tensor(value, layout=layout)
    if isinstance(value, bytes | bytearray | memoryview):
        return np.frombuffer(value, np.uint8)
    return value
