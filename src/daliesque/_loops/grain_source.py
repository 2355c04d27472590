# SPDX-License-Identifier: Apache-2.0
"""The samples of a reader by their numbers, as grain asks for them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._engine.device import Device
from .._engine.tensor import Tensor
from .._readers.core.base import Reader
from .._readers.python import Python
from .loader_arguments import make_reader

_WHERE = "grain.Source"


class Source:
    """The samples of a reader as a `RandomAccessDataSource` of grain.

    An item is what the reader delivers for one sample: a tuple of tensors, a dict if the outputs
    have names, or the only output by itself. It knows its `source`, which errors of operators name.
    Grain decides about order and shards; arguments of the reader for these have no effect. With
    `on_error="skip"` a sample that cannot be read is None, which grain leaves out.

    Parameters
    ----------
    reader
        A reader; or a class of readers, whose arguments follow as keywords.
    **arguments
        Arguments of the class of readers.

    Examples
    --------
    >>> class Squares(ndd.readers.Reader):
    ...     def open_index(self):
    ...         return 5
    ...     def fetch_sample(self, number):
    ...         return number**2
    >>> source = ndd.grain.Source(Squares)
    >>> len(source), source[3].item()
    (5, 9)
    """

    def __init__(self, reader: Any, **arguments: Any) -> None:
        self._reader: Reader[Any] = make_reader(_WHERE, reader, Python, arguments)
        if self._reader._device != Device.CPU:
            msg = f"{_WHERE}: the reader must deliver CPU data; got {self._reader._device}."
            raise ValueError(msg)

    def __len__(self) -> int:
        return self._reader._order.size

    def __getitem__(self, index: Any) -> Any:
        return self._getitems([index])[0]

    def _getitems(self, indices: Sequence[Any]) -> list[Any]:
        """Several items, which are read together; grain looks for this method."""
        numbers = [self._checked(index) for index in indices]
        reader = self._reader
        if not numbers:
            return []
        outputs, errors = reader._fetch_checked(np.array(numbers, np.int64))
        for index, error in errors.items():
            if reader._bad_samples.policy == "raise":
                name = reader._full_name(numbers[index])
                raise reader._bad_samples.explain(name, error, None)
        good = [index for index in range(len(numbers)) if index not in errors]
        names = reader._sources([numbers[index] for index in good], len(outputs))
        items: list[Any] = [None] * len(numbers)
        for row, index in enumerate(good):
            values = [
                Tensor._of(samples.sample(row), (name[row],))
                for samples, name in zip(outputs, names, strict=True)
            ]
            items[index] = self._shaped(values)
        return items

    def _shaped(self, values: list[Tensor]) -> Any:
        names = self._reader.output_names
        if names is not None:
            return dict(zip(names, values, strict=True))
        return values[0] if len(values) == 1 else tuple(values)

    def _checked(self, index: Any) -> int:
        try:
            number = operator.index(index)
        except TypeError:
            msg = f"{_WHERE}: the number of a sample must be an integer; got {index!r:.60}."
            raise TypeError(msg) from None
        if not 0 <= number < len(self):
            msg = f"{_WHERE}: there is no sample {number}; there are {len(self)}."
            raise IndexError(msg)
        return number

    def __repr__(self) -> str:
        # Grain stores it to see whether a state fits.
        reader = self._reader
        return f"Source({reader.operator}: {reader._order.size} samples)"
