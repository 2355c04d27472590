# SPDX-License-Identifier: Apache-2.0
"""What subclasses of `Reader` supply: whether it is there, and whether it can be used."""

from __future__ import annotations

import functools
import operator as operators
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ..._engine.batch import Batch
from ..._engine.convert import to_batch_samples, to_samples
from ..._engine.dtype import from_numpy
from ..._engine.errors import InternalError
from ..._engine.invariant import unwrap_invariants
from ..._engine.samples import host
from ..._engine.tensor import Tensor
from .order import Numbers
from .source import Fetched

Init = TypeVar("Init", bound=Callable[..., None])

# No fault of a sample: they come out whatever `on_error` says.
_NOT_OF_SAMPLES = (InternalError, ImportError)


def then_open(init: Init) -> Init:
    """An `__init__` of a reader after which the index is opened, unless another one is running.

    The arguments of the outermost one are remembered: they are what is pickled.

    So a subclass may set its fields before or after it calls `super().__init__()`.
    """

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        args, kwargs = unwrap_invariants(args), unwrap_invariants(kwargs)
        depth = self._running_inits
        self._running_inits = depth + 1
        if depth == 0:
            self._arguments = (args, kwargs)
        try:
            init(self, *args, **kwargs)
        finally:
            self._running_inits = depth
        if depth == 0:
            self._finish_init()

    __init__._opens_index = True  # type: ignore[attr-defined]
    return cast(Init, __init__)


def check_hooks(kind: type, base: type) -> None:
    """Raise TypeError if a class does not override what it must."""

    def has(name: str) -> bool:
        return getattr(kind, name) is not getattr(base, name)

    missing = [] if has("open_index") else ["open_index(self)"]
    if not has("fetch_sample") and not has("fetch"):
        missing.append("fetch_sample(self, number)")
    if missing:
        msg = f"{kind.__name__}: a reader must define {' and '.join(missing)}."
        raise TypeError(msg)


def check_size(operator: str, size: Any) -> int:
    """What `open_index` returned, if that can be a number of samples."""
    try:
        number = operators.index(size)
    except TypeError:
        msg = f"{operator}: open_index must return the number of samples; got {size!r:.60}."
        raise TypeError(msg) from None
    if number < 0:
        msg = f"{operator}: open_index must not return a negative number; got {number}."
        raise ValueError(msg)
    return number


def check_fetched(operator: str, fetched: Any, count: int, names: Sequence[str] | None) -> Fetched:
    """What `fetch` returned for `count` samples, if it can be used."""
    if not isinstance(fetched, Fetched):
        msg = (
            f"{operator}: fetch must return a readers.Fetched, as Fetched.of([...]) makes it; got "
            f"{_describe(fetched)}."
        )
        raise TypeError(msg)
    outputs, errors = fetched
    if any(not 0 <= index < count for index in errors):
        msg = f"{operator}: fetch must number errors from 0 to {count - 1}; got {list(errors)}."
        raise ValueError(msg)
    good = count - len(errors)
    for index, samples in enumerate(outputs):
        if len(samples) != good:
            msg = (
                f"{operator}: fetch must return {good} samples for each output: all of {count} "
                f"without the {len(errors)} in 'errors'; got {len(samples)} for output {index}."
            )
            raise ValueError(msg)
    if good and not outputs:
        msg = f"{operator}: fetch returned no outputs for {good} samples."
        raise ValueError(msg)
    if good and names is not None and len(outputs) != len(names):
        msg = f"{operator}: fetch returned {len(outputs)} outputs, but output_names is {names}."
        raise ValueError(msg)
    return fetched


def collect_samples(
    operator: str,
    fetch_sample: Callable[[int], Any],
    numbers: Numbers,
    names: Sequence[str] | None,
) -> Fetched:
    """The outputs for some samples, fetched one after the other."""
    rows: list[tuple[Any, ...]] = []
    errors: dict[int, Exception] = {}
    count = None if names is None else len(names)
    for index, number in enumerate(numbers.tolist()):
        try:
            row = _to_row(operator, fetch_sample(number))
            count = len(row) if count is None else count
            if len(row) != count:
                msg = f"fetch_sample returned {len(row)} outputs instead of {count}"
                raise TypeError(msg)
        except _NOT_OF_SAMPLES:
            raise
        except Exception as error:
            errors[index] = error
        else:
            rows.append(row)
    columns = zip(*rows, strict=True)
    return Fetched(
        tuple(host(to_batch_samples(column, None, None, operator)) for column in columns), errors
    )


def fetch_skipping(fetch: Callable[[Numbers], Fetched], numbers: Numbers) -> Fetched:
    """Fetch samples together; if that raises, find out which of them are to blame."""
    try:
        return fetch(numbers)
    except _NOT_OF_SAMPLES:
        raise
    except Exception as error:
        together = error
    errors: dict[int, Exception] = {}
    for index in range(len(numbers)):
        try:
            fetch(numbers[index : index + 1])
        except _NOT_OF_SAMPLES:
            raise
        except Exception as error:
            errors[index] = error
    if not errors:
        # Each of them is good, but they do not go together.
        raise together
    good = [index for index in range(len(numbers)) if index not in errors]
    if not good:
        return Fetched((), errors)
    outputs, others = fetch(numbers[good])
    errors |= {good[index]: error for index, error in others.items()}
    return Fetched(outputs, dict(sorted(errors.items())))


def _to_row(operator: str, value: Any) -> tuple[Any, ...]:
    """The outputs of one sample, each as an array or as samples."""
    values = value if isinstance(value, tuple) else (value,)
    if not values:
        msg = "fetch_sample returned an empty tuple; it needs at least one output"
        raise TypeError(msg)
    return tuple(_to_output(operator, part) for part in values)


def _to_output(operator: str, value: Any) -> Any:
    if type(value) is np.ndarray and from_numpy(value.dtype) is not None:
        # Arrays of one type are joined faster.
        return value
    if value is None or isinstance(value, str | list | Mapping | Batch):
        msg = (
            "fetch_sample must return an array, a Tensor, a number or bytes, or a tuple of these "
            f"for several outputs; got {_describe(value)}"
        )
        raise TypeError(msg)
    is_tensor = isinstance(value, Tensor)
    samples = value._data() if is_tensor else to_samples(value, None, None, operator)
    if samples.is_on_device:
        msg = f"fetch_sample must return data on the CPU; got {_describe(value)}"
        raise TypeError(msg)
    return samples


def _describe(value: Any) -> str:
    if isinstance(value, Tensor | Batch):
        return f"a {type(value).__name__} on {value.device}"
    return f"{value!r:.60}" if value is None else f"{type(value).__name__} {value!r:.60}"
