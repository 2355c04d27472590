# SPDX-License-Identifier: Apache-2.0
"""Python functions in a loop: `map` calls one for each sample, `operator` makes one an operator."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

from .._engine.batch import Batch
from .._engine.dtype import DTypeLike
from .._engine.spec import Input
from .python_operator import (
    PythonOperator,
    declare_outputs,
    make_operator,
    name_of,
    read_signature,
)


@overload
def map(
    fn: Callable[..., Any],
    first: Batch,
    /,
    *inputs: Any,
    num_outputs: Literal[1] = 1,
    dtype: DTypeLike | None = None,
    ndim: int | None = None,
    layout: str | None = None,
    writable: bool = False,
    batch_size: int | None = None,
) -> Batch: ...
@overload
def map(
    fn: Callable[..., Any],
    first: Batch,
    /,
    *inputs: Any,
    num_outputs: int,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    batch_size: int | None = None,
) -> tuple[Batch, ...]: ...
@overload
def map(
    fn: Callable[..., Any],
    /,
    *inputs: Any,
    num_outputs: int = 1,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    batch_size: int | None = None,
) -> Any: ...
def map(
    fn: Callable[..., Any],
    /,
    *inputs: Any,
    num_outputs: int = 1,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    batch_size: int | None = None,
) -> Any:
    """Call a Python function for each sample.

    It is called on the Python threads of the context, as many as kernels use: functions that
    release the interpreter's lock, as most of NumPy, OpenCV and SciPy do, run at the same time. The
    call is asynchronous like that of an operator, and the results are in the order of the samples.
    What the function raises comes out as an `OpError` that names the sample and its source.

    Parameters
    ----------
    fn
        The function. It gets a NumPy array for each input, and returns a new array (of any
        library), a Tensor, a number or bytes; or a tuple of these. Operators that it calls run at
        once.
    *inputs
        Batches, tensors, or anything that operators take.
    num_outputs
        How many results the function returns.
    dtype
        The element type that results are converted to; by default they keep theirs, and all samples
        must agree. One for all outputs, or a sequence with one for each.
    ndim
        The number of axes that results must have, likewise; by default samples must agree.
    layout
        The layout of results, likewise; by default that of returned tensors.
    writable
        Give the function copies that it may change. By default arrays are read-only views.
    batch_size
        How many samples, if no input is a Batch.

    Examples
    --------
    >>> import numpy as np
    >>> images = ndd.batch([np.full((2, 3), 5), np.full((4, 1), 7)])
    >>> ndd.map(lambda image: image.sum(), images, dtype=ndd.int32).torch().tolist()
    [30, 28]
    """
    if not callable(fn):
        msg = f"map: 'fn' must be a function; got {fn!r}."
        raise TypeError(msg)
    where = f"map({name_of(fn)})"
    outputs = declare_outputs(where, num_outputs, dtype, ndim, layout)
    declared = (Input("inputs", False, True, True),) if inputs else ()
    made = make_operator(fn, where, outputs, writable, declared, {})
    return made.invoke(inputs, batch_size, None, {})


@overload
def operator(fn: Callable[..., Any], /) -> Callable[..., Any]: ...
@overload
def operator(
    *,
    num_outputs: int = 1,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@overload
def operator(
    fn: Callable[..., Any],
    /,
    *,
    num_outputs: int = 1,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    name: str | None = None,
) -> Callable[..., Any]: ...
def operator(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    num_outputs: int = 1,
    dtype: DTypeLike | Sequence[DTypeLike | None] | None = None,
    ndim: int | Sequence[int | None] | None = None,
    layout: str | Sequence[str | None] | None = None,
    writable: bool = False,
    name: str | None = None,
) -> Any:
    """Make an operator of a Python function that processes one sample; a decorator.

    Calls take positional inputs, of which the function gets NumPy arrays, and keyword arguments:
    a Tensor or Batch among these has a value for each sample, which the function gets as a number
    or an array; everything else it gets as it is. Calls also take `batch_size`. They are checked,
    run and fail as those of all operators; see `map` for the function and its results.

    A function with a keyword-only parameter `rng` makes a random operator: it gets a
    `numpy.random.Generator` for each sample. Calls take an `ndd.random.RNG` as `rng`, by default
    that of the thread, and for the same seed the numbers are the same whatever the threads.

    Parameters
    ----------
    fn
        The function.
    num_outputs, dtype, ndim, layout, writable
        See `map`.
    name
        What messages begin with, by default the name of the function.

    Examples
    --------
    >>> import numpy as np
    >>> @ndd.operator(dtype=ndd.float32)
    ... def scale(image, *, factor=1.0):
    ...     return image * factor
    >>> images = ndd.batch([[1.0, 2.0], [3.0]])
    >>> for image in scale(images, factor=ndd.batch([2.0, 10.0])):
    ...     print(np.asarray(image).tolist())
    [2.0, 4.0]
    [30.0]
    """
    if fn is None:
        return functools.partial(
            operator,
            num_outputs=num_outputs,
            dtype=dtype,
            ndim=ndim,
            layout=layout,
            writable=writable,
            name=name,
        )
    if not callable(fn):
        msg = f"operator: expected a function; got {fn!r}."
        raise TypeError(msg)
    where = name or name_of(fn)
    outputs = declare_outputs(where, num_outputs, dtype, ndim, layout)
    made = make_operator(fn, where, outputs, writable, *read_signature(fn, where))
    return _public(fn, made)


def _public(fn: Callable[..., Any], made: PythonOperator) -> Callable[..., Any]:
    """The function that users call."""

    def call(*inputs: Any, batch_size: Any = None, device: Any = None, **arguments: Any) -> Any:
        return made.invoke(inputs, batch_size, device, arguments)

    functools.update_wrapper(call, fn)
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return call
    parameters = list(signature.parameters.values())
    extra = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in ("batch_size", "device")
    ]
    takes_any = bool(parameters) and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD
    end = len(parameters) - takes_any
    parameters = [*parameters[:end], *extra, *parameters[end:]]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return call
