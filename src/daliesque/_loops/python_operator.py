# SPDX-License-Identifier: Apache-2.0
"""Operators whose body is a Python function of the user that processes one sample.

A call takes the same way as that of any other operator: the function below that calls the user's
for each sample is the body. It runs them on the Python threads of the context.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import Rule
from .._engine.batch import Batch
from .._engine.context import EvalContext
from .._engine.convert import cast_samples, join_samples, to_numpy, to_samples
from .._engine.device import Device
from .._engine.device import device as to_device
from .._engine.devices import DeviceBody, Results
from .._engine.dtype import DType, from_code
from .._engine.dtype import dtype as to_dtype
from .._engine.errors import InternalError, SampleError
from .._engine.layout import check_layout
from .._engine.metadata import FROM_DATA, Call, NotKnown, Result
from .._engine.op import Operator
from .._engine.rng import RNGState
from .._engine.samples import HostSamples, Samples
from .._engine.spec import Input
from .._engine.tensor import Tensor
from .._engine.thread_state import thread
from .._engine.value import any_remote
from .per_output import spread

# How expensive a call is: always worth waking the background thread for.
_WEIGHT = 1 << 21
# How the body gets the context of the call. No argument of a function has such a name.
_CONTEXT = " context"
# What a call has for itself.
_RESERVED = ("batch_size", "device")


class Output(NamedTuple):
    """What is known about a result of the function; None is for what its data decides."""

    dtype: DType | None
    ndim: int | None
    layout: str | None

    def announced(self) -> Result:
        """The same as a declaration."""
        return Result(
            dtype=(FROM_DATA,) if self.dtype is None else self.dtype,
            ndim=FROM_DATA if self.ndim is None else self.ndim,
            layout=_not_known if self.layout is None else self.layout,
        )


def _not_known(_call: Call) -> str:
    raise NotKnown


def declare_outputs(
    where: str, num_outputs: Any, dtype: Any, ndim: Any, layout: Any
) -> list[Output]:
    """What the user says about the results, checked, for each of them."""
    if not isinstance(num_outputs, int) or isinstance(num_outputs, bool):
        msg = f"{where}: 'num_outputs' must be an integer; got {num_outputs!r}."
        raise TypeError(msg)
    if num_outputs < 1:
        msg = f"{where}: 'num_outputs' must be positive; got {num_outputs}."
        raise ValueError(msg)
    columns = (
        spread(where, name, value, num_outputs)
        for name, value in (("dtype", dtype), ("ndim", ndim), ("layout", layout))
    )
    return [_declare(where, *row) for row in zip(*columns, strict=True)]


def _declare(where: str, dtype: Any, ndim: Any, layout: Any) -> Output:
    if layout is not None:
        if not isinstance(layout, str):
            msg = f"{where}: 'layout' must be a string; got {layout!r}."
            raise TypeError(msg)
        ndim = len(layout) if ndim is None and layout else ndim
        check_layout(layout, len(layout) if ndim is None else ndim, where)
    if ndim is not None and (not isinstance(ndim, int) or isinstance(ndim, bool) or ndim < 0):
        msg = f"{where}: 'ndim' must be an integer that is not negative; got {ndim!r}."
        raise ValueError(msg)
    return Output(None if dtype is None else to_dtype(dtype), ndim, layout)


class Constant(NamedTuple):
    """An argument that is the same for all samples."""

    value: Any

    def of_sample(self, _index: int) -> Any:
        return self.value


class PerSampleArgument(NamedTuple):
    """An argument that was given as a Tensor or Batch."""

    samples: HostSamples

    def of_sample(self, index: int) -> Any:
        array = to_numpy(self.samples, index if len(self.samples) > 1 else 0)
        # Functions that take numbers often refuse arrays.
        return array.item() if array.ndim == 0 else _readonly(array)


class AnyRule(Rule):
    """Whatever a function takes; tensors and batches differ from sample to sample."""

    per_sample = True

    def convert(self, value: Any, where: str) -> Constant:  # noqa: ARG002
        return Constant(value)

    def from_samples(self, samples: HostSamples, where: str) -> PerSampleArgument:  # noqa: ARG002
        return PerSampleArgument(samples)


_ANY = AnyRule()


class AnyName(dict[str, Rule]):
    """The arguments of a function that does not say which ones it takes."""

    def get(self, name: str, default: Any = None) -> Rule:  # noqa: ARG002
        return _ANY


class PythonOperator(Operator):
    """An operator that calls a Python function for each sample."""

    # Nobody knows what the function looks at.
    is_pure = False

    def _find_device(
        self, device: Any, inputs: tuple[Any, ...]
    ) -> tuple[Device | None, DeviceBody | None, tuple[Any, ...]]:
        chosen = to_device(device)
        if any_remote(inputs) or (chosen is not None and chosen.device_type != "cpu"):
            msg = (
                f"{self.name}: Python functions get arrays in CPU memory. Move the inputs there "
                "with .cpu(), and the results with .gpu()."
            )
            raise ValueError(msg)
        return chosen, None, inputs

    def _provide(
        self,
        arguments: dict[str, Any],
        count: int,
        source: Any,
        given: dict[str, Any],
        on_gpu: bool,
    ) -> None:
        super()._provide(arguments, count, source, given, on_gpu)
        arguments[_CONTEXT] = EvalContext.current()


def make_operator(
    function: Callable[..., Any],
    name: str,
    outputs: list[Output],
    writable: bool,
    inputs: tuple[Input, ...],
    rules: dict[str, Rule],
    required: tuple[str, ...] = (),
    is_random: bool = False,
) -> PythonOperator:
    """The operator that calls `function` for each sample."""
    results = tuple(output.announced() for output in outputs)
    return PythonOperator(
        name=name,
        body=functools.partial(_body, function, outputs, writable, name),
        inputs=inputs,
        rules=rules,
        required=required,
        is_random=is_random,
        wants_batch_size=True,
        wants_more=True,
        outputs=len(outputs),
        result=results[0] if len(results) == 1 else results,
        weight=_WEIGHT,
        strided=True,
        cpu_only=True,
    )


def _body(
    function: Callable[..., Any],
    outputs: list[Output],
    writable: bool,
    name: str,
    /,
    *inputs: HostSamples | None,
    batch_size: int,
    rng: RNGState | None = None,
    **arguments: Any,
) -> Results:
    """Call the function for each sample and put the results together."""
    context: EvalContext = arguments.pop(_CONTEXT)
    given = list(inputs)
    while given and given[-1] is None:
        # Left out: the function has a default for it.
        given.pop()
    rows: list[tuple[Samples, ...]] = [()] * batch_size

    def call(index: int) -> None:
        arrays = [None if part is None else _array(part, index, writable) for part in given]
        keywords = {key: value.of_sample(index) for key, value in arguments.items()}
        if rng is not None:
            keywords["rng"] = generator(rng, index)
        rows[index] = _take_row(_called(function, index, arrays, keywords), outputs, index)

    # Whatever thread calls the function is part of the call, and inside of its context.
    context.python_threads.run(
        lambda index: _kernels.call_inside(thread.contexts, context, call, index), batch_size
    )
    parts = tuple(
        _join([row[number] for row in rows], output, number, name, len(outputs))
        for number, output in enumerate(outputs)
    )
    return parts[0] if len(parts) == 1 else parts


def _called(
    function: Callable[..., Any], index: int, arrays: list[Any], keywords: dict[str, Any]
) -> Any:
    try:
        return function(*arrays, **keywords)
    except InternalError:
        raise
    except Exception as error:
        raise SampleError(index, _raised(error)) from error


def generator(state: RNGState, index: int) -> np.random.Generator:
    """NumPy's generator for one sample of a call."""
    words = _kernels.Philox(state)
    seed = np.random.SeedSequence([words.next() for _ in range(4)], spawn_key=(index,))
    return np.random.Generator(np.random.Philox(seed))


def _array(samples: HostSamples, index: int, writable: bool) -> NDArray[Any]:
    array = to_numpy(samples, index)
    return array.copy() if writable else _readonly(array)


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    # Others may use the same memory.
    array.flags.writeable = False
    return array


def _raised(error: Exception) -> str:
    text = str(error).rstrip(".")
    reason = f"raised {type(error).__name__}" + (f": {text}" if text else "")
    if isinstance(error, ValueError) and "read-only" in text:
        reason += ". Pass writable=True to give the function arrays that it may change"
    return reason


def _take_row(result: Any, outputs: list[Output], index: int) -> tuple[Samples, ...]:
    """The outputs of one sample."""
    count = len(outputs)
    if count == 1:
        if isinstance(result, tuple):
            reason = (
                f"gave a tuple of {len(result)} results instead of one. Pass "
                f"num_outputs={len(result)}, or return an array"
            )
            raise SampleError(index, reason)
        return (_take(result, outputs[0], index, ""),)
    if not isinstance(result, tuple | list) or len(result) != count:
        got = f"{len(result)}" if isinstance(result, tuple | list) else _describe(result)
        raise SampleError(index, f"gave {got} instead of {count} results in a tuple")
    return tuple(
        _take(part, output, index, f" for output {number}")
        for number, (part, output) in enumerate(zip(result, outputs, strict=True))
    )


def _take(value: Any, output: Output, index: int, where: str) -> Samples:
    """One result as samples."""
    if value is None or isinstance(value, str | list | tuple | Mapping | Batch):
        reason = f"gave {_describe(value)}{where}: expected an array, a Tensor, a number or bytes"
        raise SampleError(index, reason)
    try:
        if isinstance(value, Tensor):
            samples = value._data()
        else:
            samples = to_samples(value, output.dtype, None, "map")
        if samples.is_on_device:
            raise SampleError(index, f"gave data on a gpu{where}: expected data on the CPU")
        if output.dtype is not None:
            samples = cast_samples(samples, output.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        text = str(error).removeprefix("map: ").rstrip(".")
        raise SampleError(index, f"gave {_describe(value)}{where}: {text}") from error
    if output.ndim is not None and samples.ndim != output.ndim:
        reason = f"gave {samples.ndim} axes{where}: expected {output.ndim}"
        raise SampleError(index, reason)
    return samples if output.layout is None else samples.with_layout(output.layout)


def _describe(value: Any) -> str:
    return "None" if value is None else f"{type(value).__name__} {value!r:.60}"


def _join(parts: list[Samples], output: Output, number: int, name: str, count: int) -> Samples:
    """The results of all samples as one dense copy: nobody else can change it."""
    if not parts:
        if output.dtype is None:
            msg = f"{name}: the batch is empty, so that only 'dtype' can say the type of results."
            raise ValueError(msg)
        layout = output.layout or ""
        return _kernels.empty_uniform(output.dtype.code, [0] * (output.ndim or 0), layout, 0)
    where = f" for output {number}" if count > 1 else ""
    first = parts[0]
    for index, part in enumerate(parts):
        if part.type_id != first.type_id:
            own, other = (from_code(each.type_id).full_name for each in (part, first))
            kinds = f"{own}{where}, but sample 0 gave {other}"
            raise SampleError(index, f"gave {kinds}. Pass 'dtype' to convert all results")
        if part.ndim != first.ndim:
            raise SampleError(
                index, f"gave {part.ndim} axes{where}, but sample 0 gave {first.ndim}"
            )
        if part.layout != first.layout:
            kinds = f"the layout {part.layout!r}{where}, but sample 0 gave {first.layout!r}"
            raise SampleError(index, f"gave {kinds}. Pass 'layout'")
    return join_samples(parts, None, name).copy()


def name_of(function: Callable[..., Any]) -> str:
    """What to call a function in messages."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def read_signature(
    function: Callable[..., Any], name: str
) -> tuple[tuple[Input, ...], dict[str, Rule], tuple[str, ...], bool]:
    """Inputs, arguments, the names of arguments that are needed, and whether it is random.

    Positional parameters are inputs; those that have defaults, or are keyword-only, are arguments.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        # Some functions written in C do not say.
        return (Input("input", False, True, True),), AnyName(), (), False
    inputs: list[Input] = []
    rules: dict[str, Rule] = {}
    required: list[str] = []
    for parameter in parameters:
        key, kind = parameter.name, parameter.kind
        if key in _RESERVED and kind is not parameter.POSITIONAL_ONLY:
            msg = (
                f"{name}: operators have an argument '{key}' already. Give that of the function "
                "another name."
            )
            raise ValueError(msg)
        optional = parameter.default is not parameter.empty
        if kind is parameter.VAR_POSITIONAL:
            inputs.append(Input(key, False, True, True))
        elif kind is parameter.VAR_KEYWORD:
            rules = AnyName(rules)
        elif kind is parameter.KEYWORD_ONLY:
            if key != "rng":
                rules[key] = _ANY
                required += [] if optional else [key]
        else:
            inputs.append(Input(key, optional, False, True))
            if optional and kind is not parameter.POSITIONAL_ONLY:
                rules[key] = _ANY
    is_random = any(p.name == "rng" and p.kind is p.KEYWORD_ONLY for p in parameters)
    return tuple(inputs), rules, tuple(required), is_random
