# SPDX-License-Identifier: Apache-2.0
"""The operator decorator: a typed `def` becomes a public function.

    @op(layouts="HWC FHWC DHWC")
    def flip(images: Samples, /, *, horizontal: IntPerSample = 1) -> Samples: ...

The signature is the schema. Positional-only parameters annotated `Samples` are inputs, found on the
device that the call runs on, or `HostSamples`, found in CPU memory; keyword-only parameters are
arguments (see `args`). A parameter `rng: RandomState` makes the operator random, and a parameter
`batch_size: int` gives a body without inputs the number of samples. Bodies call the functions
for their data, `images.kernels.flip(...)`; one without inputs gets them as `kernels: Kernels`.
`frame_counts` gets the lengths of sequences whose frames a body sees as samples, `sources` where
the samples came from (None if unknown), `given` the names of the arguments that the caller gave,
whatever their defaults. The body may assume that names, types, layouts, dtypes and
batch sizes are checked; it never asks for mode, device or thread.
"""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from .. import _kernels
from .arithmetic import Operators
from .batch import Batch, check_batch_size
from .composite import composite_among
from .constants import constants
from .convert import is_array, to_samples
from .device import Device
from .device import device as to_device
from .devices import Body, DeviceBody, Results, require_backend
from .dtype import DType, from_code, full_names
from .errors import SampleError
from .files import open_files
from .foreign import advise_argument
from .frames import find_frames, refuse_frame_values, run_frames
from .interception import PASSED, intercept
from .invocation import Invocation, run_early
from .layout import Order, check_assumed, find_order
from .modes import EAGER
from .rng import draw_state
from .samples import HostSamples, Kernels, Samples, host_kernels
from .spec import OpSpec, Options, RandomState, find_layouts, read_signature
from .tensor import Tensor
from .thread_state import interception, thread
from .value import Value, agreed_count, any_remote, remote_device

__all__ = ["HostSamples", "Kernels", "Operator", "RandomState", "Samples", "op", "registry"]

registry: dict[str, Operator] = {}


class Operator(OpSpec):
    """An operator that can be called."""

    # Whether results depend on the arguments, and on random numbers, alone.
    is_pure = True

    @property
    def __wrapped__(self) -> Callable[..., Results]:
        return self.body

    @property
    def __signature__(self) -> inspect.Signature:
        """What users see: inputs, `batch_size` and `device`, then the arguments."""
        positional, keywords = [], []
        for parameter in inspect.signature(self.body).parameters.values():
            bare = parameter.replace(annotation=parameter.empty)
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
                positional.append(bare)
            elif parameter.name in self.rules:
                keywords.append(bare)
        common = ["batch_size", "device"] + (["rng"] if self.is_random else [])
        extra = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in common
        ]
        return inspect.Signature([*positional, *extra, *keywords])

    @functools.cached_property
    def _codes(self) -> frozenset[int]:
        """The numbers of the types that the input may have."""
        return frozenset(dtype.code for dtype in self.dtypes or ())

    @functools.cached_property
    def plans(self) -> _kernels.PlanTable | None:
        """What the kernels of earlier calls did, if calls differ only in their arguments."""
        varied = self.is_random or self.wants_more or self.encoded or self.expands_frames
        if not self.by_sample or varied or len(self.inputs) != 1 or self.inputs[0].variadic:
            return None
        return _kernels.PlanTable(self.body, self.defaults, (DType, enum.Enum), constants)

    def invoke(
        self,
        raw_inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        """Make a call: check, convert, run or queue, and return the promised results."""
        if interception.on:
            result = intercept(self, raw_inputs, batch_size, device, given)
            if result is not PASSED:
                return result
        count = None if batch_size is None else check_batch_size(batch_size, self.name)
        inputs: tuple[Any, ...]
        if (
            count is None
            and len(raw_inputs) == 1 == len(self.inputs)
            and isinstance(raw_inputs[0], Value)
        ):
            value = raw_inputs[0]  # by far the most frequent call
            inputs, source = raw_inputs, value._source
            if isinstance(value, Batch):
                count = value._count
            pending, data = value._pending, value._samples  # in this order: see `_data`
            remote = pending.is_remote if pending else data is not None and data.is_on_device
        elif not raw_inputs and self.no_inputs is not None:
            inputs, source, remote = self.no_inputs, None, False
        else:
            composite = composite_among(raw_inputs)
            if composite is not None:
                return composite._through(self, raw_inputs, batch_size, device, given)
            inputs, count, source = self._take_inputs(raw_inputs, count)
            remote = any_remote(inputs)
        chosen = on_gpu = None
        if remote or device is not None:
            chosen, on_gpu, inputs = self._find_device(device, inputs)
            if on_gpu is not None and on_gpu.is_for_cpu and _is_for_one_thread():
                return _all_on(chosen, self.invoke(raw_inputs, batch_size, Device.CPU, given))
        arguments = self.defaults.copy()
        if self.is_random:
            arguments["rng"] = draw_state(given.pop("rng", None), self.name)
        converters = None
        if given or self.required:
            converters, count = self._take_arguments(given, arguments, count)
        if count is None and self.needs_batch:
            raise self._unsized()
        kind, samples = (Tensor, 1) if count is None else (Batch, count)
        if self.wants_more:
            self._provide(arguments, samples, source, given, on_gpu is not None)
        outputs = self.outputs
        if not isinstance(outputs, int):
            outputs = outputs.count(self.name, inputs, arguments)
        method, body = (self.run, self.body) if on_gpu is None else (self.run_on_gpu, on_gpu.body)
        run: Body = functools.partial(method, samples, source, body)
        if source is not None:
            source = self._find_source(source, samples, arguments)
        modes = thread.modes
        mode = modes[-1] if modes else EAGER
        call = (self.name, run, inputs, arguments, converters)
        error = None
        if on_gpu is None:
            results, error = run_early(mode, self.weight, *call)
            if results is not None:
                return _all_of(kind, results, source, outputs)
        invocation = Invocation(*call, self.announce, self.weight, chosen)
        invocation.start(mode, on_gpu is not None, error)
        return _all_promised(kind, invocation, outputs, samples, source)

    def _find_source(self, source: Any, count: int, arguments: dict[str, Any]) -> Any:
        """Where the samples of the results came from."""
        source = source if len(source) == count else tuple(source) * count
        return source if self.source is None else self.source(source, arguments)

    def _provide(
        self,
        arguments: dict[str, Any],
        count: int,
        source: Any,
        given: dict[str, Any],
        on_gpu: bool,
    ) -> None:
        """Add what the body wants to know besides inputs and arguments."""
        if self.wants_batch_size:
            arguments["batch_size"] = count
        if self.wants_kernels:
            kernels = require_backend(self.name).kernels if on_gpu else host_kernels
            arguments["kernels"] = kernels
        if self.wants_given:
            nones = [name for name, value in given.items() if value is None]
            arguments["given"] = frozenset(given).difference(nones)
        if self.wants_sources:
            arguments["sources"] = source

    def _find_device(
        self, device: Any, inputs: tuple[Any, ...]
    ) -> tuple[Device | None, DeviceBody | None, tuple[Any, ...]]:
        """Where to run (`device`, or where the data is), the body for it, and the inputs there."""
        chosen = to_device(device)
        remote = any_remote(inputs)
        if not remote and (chosen is None or chosen.device_type == "cpu"):
            return chosen, None, inputs
        on_gpu = require_backend(self.name).body_of(self)
        host_inputs = frozenset() if on_gpu is None else on_gpu.host_inputs
        if chosen is None:
            data = [value for i, value in enumerate(inputs) if i not in host_inputs]
            chosen = remote_device(self.name, data) or Device.CPU
        if chosen.device_type == "cpu":
            on_gpu = None
        elif on_gpu is None:
            msg = (
                f"{self.name}: the operator does not run on the device {str(chosen)!r}. Move its "
                "inputs to the CPU with .cpu()."
            )
            raise ValueError(msg)
        moved = []
        for position, value in enumerate(inputs):
            target = Device.CPU if position in host_inputs else chosen
            moved.append(None if value is None else _moved(value, target))
        return chosen, on_gpu, tuple(moved)

    def _take_inputs(
        self, raw_inputs: tuple[Any, ...], count: int | None
    ) -> tuple[tuple[Any, ...], int | None, Any]:
        variadic = bool(self.inputs) and self.inputs[-1].variadic
        if variadic and len(raw_inputs) == 1 and _is_list_of_arrays(raw_inputs[0]):
            raw_inputs = tuple(raw_inputs[0])
        if len(raw_inputs) > len(self.inputs) and not variadic:
            msg = (
                f"{self.name}: takes {self._input_count()}; got {len(raw_inputs)}. Arguments are "
                "given by their names."
            )
            raise TypeError(msg)
        inputs: list[Any] = []
        source = None
        for position, value in enumerate(raw_inputs):
            declared = self.inputs[min(position, len(self.inputs) - 1)]
            if isinstance(value, Value):
                if isinstance(value, Batch):
                    count = agreed_count(value, count, self.name, f"'{declared.name}'")
                if source is None:
                    source = value._source
            elif value is not None:
                where = f"{self.name}: input '{declared.name}'"
                if self.encoded and position == 0:
                    value = open_files(value, where)
                if isinstance(value, Value):
                    source = value._source
                    if isinstance(value, Batch):
                        count = agreed_count(value, count, self.name, f"'{declared.name}'")
                else:
                    value = to_samples(value, None, None, where)
            elif not declared.optional:
                msg = f"{self.name}: the input '{declared.name}' must not be None."
                raise TypeError(msg)
            inputs.append(value)
        for declared in self.inputs[len(raw_inputs) :]:
            if declared.variadic:
                if not raw_inputs:
                    msg = f"{self.name}: at least one input is needed."
                    raise TypeError(msg)
            elif not declared.optional:
                msg = f"{self.name}: the input '{declared.name}' is missing."
                raise TypeError(msg)
            else:
                inputs.append(None)
        return tuple(inputs), count, source

    def _input_count(self) -> str:
        most = len(self.inputs)
        least = sum(not declared.optional for declared in self.inputs)
        if least == most:
            return "no inputs" if most == 0 else "1 input" if most == 1 else f"{most} inputs"
        return f"{least} to {most} inputs"

    def _take_arguments(
        self, given: dict[str, Any], arguments: dict[str, Any], count: int | None
    ) -> tuple[dict[str, Any] | None, int | None]:
        """Put the converted arguments into `arguments`; tensors are converted when they exist."""
        converters: dict[str, Any] | None = None
        for name, value in given.items():
            rule = self.rules.get(name)
            if rule is None:
                raise self._unknown(name)
            if value is None:
                continue
            where = f"{self.name}: '{name}'"
            if isinstance(value, Operators):
                # Bodies read arguments in CPU memory.
                value = value._to_device(Device.CPU, False)
            if isinstance(value, Value) and rule.per_sample:
                if isinstance(value, Batch):
                    count = agreed_count(value, count, self.name, f"'{name}'")
                arguments[name] = value
                if converters is None:
                    converters = {}
                converters[name] = functools.partial(rule.from_samples, where=where)
            else:
                arguments[name] = rule.convert(value, where)
        for name in self.required:
            if name not in arguments:
                msg = f"{self.name}: the argument '{name}' is missing."
                raise TypeError(msg)
        return converters, count

    def _unsized(self) -> ValueError:
        name = self.name
        return ValueError(
            f"{name}: 'batch_size' must be given, because {name} has no input to say it."
        )

    def _unknown(self, name: str) -> TypeError:
        import difflib

        known = [*self.rules, "batch_size", "device"] + (["rng"] if self.is_random else [])
        ours = advise_argument(name, known)
        close = [ours] if ours else difflib.get_close_matches(name, known, 1)
        advice = f"Did you mean '{close[0]}'?" if close else f"It takes {', '.join(known)}."
        return TypeError(f"{self.name}() got an unexpected keyword argument '{name}'. {advice}")

    def run_on_gpu(
        self,
        count: int,
        source: Sequence[Any] | None,
        body: Callable[..., Results],
        inputs: list[Samples | None],
        arguments: dict[str, Any],
    ) -> Results:
        """As `run`, on an accelerator; results that were made on the CPU are moved there."""
        backend = require_backend(self.name)
        results = self.run(count, source, body, inputs, arguments)
        if isinstance(results, tuple):
            return tuple(backend.on_device(part) for part in results)
        return backend.on_device(results)

    def run(
        self,
        count: int,
        source: Sequence[Any] | None,
        body: Callable[..., Results],
        inputs: list[Samples | None],
        arguments: dict[str, Any],
    ) -> Results:
        """Run a body on the data of `count` samples; `source` says where each came from."""
        plans = self.plans if body is self.body else None
        if plans is not None:
            try:
                planned = plans.run(inputs, count, arguments)
            except Exception:
                # It goes wrong again below, where it is explained.
                planned = None
            if planned is not None:
                return planned
        prepared: list[Samples | None] = []
        for samples in inputs:
            if samples is not None:
                if not samples.contiguous and not self.strided:
                    samples = samples.copy()
                if len(samples) != count:
                    samples = samples.select([0] * count)
            prepared.append(samples)
        if count == 0:
            arguments = self._without_rows(arguments)
        first = prepared[0] if prepared else None
        order = None
        # Frames of sequences are looked for unless it is plain that there are none.
        framed = self.sequences or self.expands_frames
        if first is not None:
            layout = first.layout
            if self.allowed_layouts and layout not in self.allowed_layouts:
                order = self._arrange(prepared)
            elif len(prepared) == 1 and not self.expands_frames:
                framed = framed and layout[:1] == "F"
            if self.dtypes is not None:
                self._check_dtype(first)
        results = self._run_body(prepared, arguments, count, source, body, framed)
        if order is None and plans is not None and not framed and first is not None:
            plans.note(first, arguments)
        if order is None or arguments.get("output_layout"):
            return results
        if isinstance(results, tuple):
            return tuple(order.leave(part) for part in results)
        return order.leave(results)

    def _arrange(self, inputs: list[Samples | None]) -> Order | None:
        """Bring images to a layout that the body takes; returns how, if their axes were moved."""
        first = inputs[0]
        assert first is not None
        order = find_order(first.layout, first.ndim, self.allowed_layouts, self.name)
        if not first.layout:
            check_assumed(order, first, self.name)
            first = inputs[0] = first.with_layout(order.outside)
        if order.outside == order.inside:
            return None
        for position, samples in enumerate(inputs):
            # What follows a variadic parameter's first input is of its kind.
            declared = self.inputs[min(position, len(self.inputs) - 1)]
            if position and not declared.variadic:
                break
            if samples is not None and samples.ndim == len(order.outside):
                contiguous = samples if samples.contiguous else samples.copy()
                inputs[position] = order.enter(contiguous)
        return order

    def _run_body(
        self,
        prepared: list[Samples | None],
        arguments: dict[str, Any],
        count: int,
        source: Sequence[Any] | None,
        body: Callable[..., Results],
        framed: bool,
    ) -> Results:
        """Run a body on checked inputs, or on the frames of those that may be sequences."""
        try:
            if framed:
                counts = find_frames(self, prepared, arguments, count)
                if counts is not None:
                    return run_frames(self, prepared, arguments, counts, body)
            if self.frame_arguments and (self.sequences or self.expands_frames):
                refuse_frame_values(self, arguments)
            return body(*prepared, **arguments)
        except SampleError as error:
            raise error.explained(self.name, source) from error.__cause__
        except ValueError as error:
            if str(error).startswith(self.name):
                raise
            msg = f"{self.name}: {error}"
            raise ValueError(msg) from None
        except MemoryError as error:
            if "bad_alloc" not in str(error):
                raise
            msg = f"{self.name}: there is not enough memory."
            raise MemoryError(msg) from None

    def _without_rows(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments for an empty batch, in which those without values have a row all the same.

        How wide such an argument would have been is not known; only its default, or that it holds
        one number for each sample, says so.
        """
        changed = dict(arguments)
        for name, value in arguments.items():
            if name in self.rules and isinstance(value, np.ndarray) and len(value) == 0:
                default = self.defaults.get(name)
                if default is not None:
                    changed[name] = default
                elif value.ndim == 1:
                    changed[name] = np.ones(1, value.dtype)
        return changed

    def _check_dtype(self, samples: Samples) -> None:
        assert self.dtypes is not None
        if samples.type_id not in self._codes:
            dtype = from_code(samples.type_id)
            names = full_names(self.dtypes)
            msg = (
                f"{self.name}: the type {dtype.full_name} is not supported. Cast to one of {names}."
            )
            raise ValueError(msg)


def _is_list_of_arrays(value: Any) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(item, Value) or is_array(item) for item in value)


def _all_of(kind: type[Value], results: Results, source: Any, outputs: int) -> Any:
    """The values with the results of a call that has run."""
    if outputs == 1 and not isinstance(results, tuple):
        return kind._of(results, source)
    parts = results if isinstance(results, tuple) else (results,)
    values = tuple(kind._of(part, source) for part in parts)
    return values[0] if outputs == 1 else values


def _all_promised(
    kind: type[Value], invocation: Invocation, outputs: int, count: int, source: Any
) -> Any:
    """The values that a call is going to have made."""
    if outputs == 1:
        return kind._promised(invocation, 0, count, source)
    return tuple(kind._promised(invocation, i, count, source) for i in range(outputs))


def _all_on(device: Device | None, results: Any) -> Any:
    if isinstance(results, tuple):
        return tuple(part.to_device(device) for part in results)
    return results.to_device(device)


def _is_for_one_thread() -> bool:
    """Whether work on devices waits for its reader: what is done on the CPU should not."""
    return not require_backend("device").queues.is_thread_safe


def _moved(value: Operators[Any] | Samples, device: Device) -> Operators[Any] | Samples:
    """A value on a device; itself if it is there."""
    if not isinstance(value, Operators):
        tensor: Tensor = Tensor._of(value)
        return value if tensor.device == device else tensor._to_device(device, False)
    return value._to_device(device, False)


class Unread(Operator):
    """An operator that nobody has used yet: the first who asks makes it an `Operator`.

    A program uses few operators, and reading all signatures would take longer than all else that
    is done when the package is imported.
    """

    def __init__(self, body: Callable[..., Results], options: Options) -> None:
        given = vars(options) | {
            "name": options.name or body.__name__,
            "body": body,
            "allowed_layouts": find_layouts(options),
        }
        _set(self, given)

    def __getattr__(self, name: str) -> Any:
        """Read the signature if it says what is asked for; several threads may do so at once."""
        if name not in _IN_SIGNATURE:
            msg = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg, name=name, obj=self)
        _set(self, read_signature(self))
        _set(self, {"__class__": Operator})
        return getattr(self, name)


_IN_SIGNATURE = {part.name for part in fields(OpSpec)} - {part.name for part in fields(Options)}


def _set(operator: Operator, values: dict[str, Any]) -> None:
    """Set attributes of an object that is frozen."""
    for name, value in values.items():
        object.__setattr__(operator, name, value)


class op(Options):
    """Makes an operator of a typed function; the parameters are those of `Options`."""

    def __call__(self, body: Callable[..., Results]) -> Any:
        operator = Unread(body, self)
        registry[operator.name] = operator

        @functools.wraps(body, updated=())
        def call(*inputs: Any, batch_size: Any = None, device: Any = None, **arguments: Any) -> Any:
            return operator.invoke(inputs, batch_size, device, arguments)

        call.spec = operator  # type: ignore[attr-defined]
        # Leads `inspect` to the signature, and on to the body.
        call.__wrapped__ = operator  # type: ignore[assignment]
        call.__annotations__ = {}
        return call
