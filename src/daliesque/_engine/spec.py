# SPDX-License-Identifier: Apache-2.0
"""What an operator is: the options of its decorator and what its signature says."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, TypeAlias

from .args import Rule, TypeChoice, rule_of
from .devices import Results
from .dtype import DType
from .layout import Order, find_order
from .metadata import LIKE_FIRST, Call, Metadata, NotKnown, Result, Shapes, known_or_not
from .outputs import OutputRule
from .rng import RNGState
from .samples import HostSamples

# Marks the parameter through which a random operator gets the words its generators come from.
RandomState: TypeAlias = Annotated[RNGState, "random state"]

# Finds where the samples of the results came from.
SourceRule: TypeAlias = Callable[[Sequence[Any], dict[str, Any]], Sequence[Any] | None]


class Input(NamedTuple):
    """A positional parameter of an operator."""

    name: str
    optional: bool
    variadic: bool
    # Whether the body reads its elements itself, in CPU memory.
    on_host: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """The options of the operator decorator.

    Parameters
    ----------
    name
        The public name with its module, e.g. "decoders.image"; by default that of the function.
    layouts
        The layouts in which the body takes the first input; one without a layout is given the
        first with the right number of axes. Where a listed layout ends with "C", the engine brings
        images whose channels come first, or which have no axis of channels, to it, and results
        back: see `layout`. By default anything goes.
    dtypes
        The element types that the first input may have.
    sequences
        Run the body on the frames of sequences, whose layout begins with "F". Unless `layouts`
        lists such layouts, each one listed may be preceded by "F".
    expands_frames
        The same if any input is a sequence, or an argument differs from frame to frame.
    strided
        The body takes samples that are not C-contiguous.
    outputs
        How many results there are, or what that depends on: see `outputs`.
    result
        What is known about the results before the call has run: one `Result` for all of them, one
        for each, or a function that finds them for a call.
    output_dtypes
        The element types that the argument `dtype` may ask for.
    weight
        How expensive a byte of input is, compared with copying it.
    needs_batch
        A call needs a Batch or a batch size.
    source
        Finds the sources of the results from those of the first input and the arguments; by
        default they are the same.
    encoded
        The first input is the contents of files: names, open files and lists of them are read.
    cpu_only
        The operator does not run on other devices, although its body names no kernel that they
        lack: what it computes, it computes itself, in CPU memory.
    by_sample
        What the body makes of a sample depends on nothing but the sample, its arguments and, if the
        operator is random, its number: it may be run for a few samples of a batch at a time.
    """

    name: str = ""
    layouts: str = ""
    dtypes: tuple[DType, ...] | None = None
    sequences: bool = False
    expands_frames: bool = False
    strided: bool = False
    outputs: OutputRule = 1
    result: Result | tuple[Result, ...] | Callable[[Call], tuple[Result, ...]] = LIKE_FIRST
    output_dtypes: tuple[DType, ...] | None = None
    weight: int = 1
    needs_batch: bool = False
    source: SourceRule | None = None
    encoded: bool = False
    cpu_only: bool = False
    by_sample: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class OpSpec(Options):
    """All there is to know about an operator: its options, and what its signature says."""

    body: Callable[..., Results]
    # `layouts`, one by one, and those of sequences.
    allowed_layouts: tuple[str, ...] = ()
    # What follows is in the signature. The class has none of it, only its objects: see `Unread`.
    inputs: tuple[Input, ...] = field(default_factory=tuple)
    # What the body gets if the caller gives none; None if some are needed.
    no_inputs: tuple[None, ...] | None = field(default_factory=lambda: None)
    rules: dict[str, Rule] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    required: tuple[str, ...] = field(default_factory=tuple)
    frame_arguments: tuple[str, ...] = field(default_factory=tuple)
    is_random: bool = field(default_factory=bool)
    wants_batch_size: bool = field(default_factory=bool)
    wants_sources: bool = field(default_factory=bool)
    wants_given: bool = field(default_factory=bool)
    # Whether it wants any of these from the call.
    wants_more: bool = field(default_factory=bool)
    wants_frame_counts: bool = field(default_factory=bool)
    wants_kernels: bool = field(default_factory=bool)

    def announce(self, call: Call) -> tuple[Metadata, ...]:
        """What is known about the results of a call before it has run."""
        try:
            seen, find_counts, order = known_or_not(lambda: self._seen_by_body(call))
        except NotKnown:
            # Whether the body would see the frames of sequences is not known.
            found = self._results(call)
            return tuple(Metadata(metadata.known_dtype, None, None) for metadata in found)
        found = self._results(seen)
        if find_counts is not None:
            found = tuple(metadata.sequences(find_counts) for metadata in found)
        if order is not None and not (call.has("output_layout") and call["output_layout"]):
            found = tuple(order.announce_outside(metadata) for metadata in found)
        return found

    def _results(self, call: Call) -> tuple[Metadata, ...]:
        results = self.result
        if isinstance(results, Result):
            return (results.announce(call),)
        if not isinstance(results, tuple):
            results = results(call)
        return tuple(result.announce(call) for result in results)

    def _seen_by_body(self, call: Call) -> tuple[Call, Callable[[], Shapes] | None, Order | None]:
        """The call as the body sees it.

        With it come the numbers of frames, if these are its samples, and the order of the axes, if
        the body sees another.
        """
        inputs = list(call.inputs)
        first = inputs[0] if inputs else None
        order = None
        if first is not None and self.allowed_layouts:
            if first.layout not in self.allowed_layouts:
                order = find_order(first.layout, first.ndim, self.allowed_layouts, self.name)
                first = first.with_layout(order.outside)
                if order.outside == order.inside:
                    order = None
                else:
                    first = order.announce_inside(first)
                inputs[0] = first
        if not self.sequences and not self.expands_frames:
            return call.replaced(tuple(inputs), {}), None, order
        whole: list[Metadata] = []
        for number, metadata in enumerate(inputs):
            if metadata is not None and metadata.layout.startswith("F"):
                whole.append(metadata)
                inputs[number] = metadata.frames()
        arguments: dict[str, Metadata] = {}
        for name in self.frame_arguments:
            described = call.described(name) if call.has(name) else None
            if described is not None and described.layout.startswith("F"):
                if self.expands_frames:
                    whole.append(described)
                arguments[name] = described.frames()
        counts = (lambda: whole[0].shapes[:, :1]) if whole else None
        return call.replaced(tuple(inputs), arguments), counts, order


# Parameters that the engine provides, and the field that says so.
_PROVIDED = {
    "batch_size": "wants_batch_size",
    "sources": "wants_sources",
    "frame_counts": "wants_frame_counts",
    "kernels": "wants_kernels",
    "given": "wants_given",
}


def find_layouts(options: Options) -> tuple[str, ...]:
    """The layouts that an operator allows, one by one, and those of sequences."""
    allowed = tuple(options.layouts.split())
    if options.sequences and not any(layout.startswith("F") for layout in allowed):
        allowed += tuple("F" + layout for layout in allowed)
    return allowed


def read_signature(spec: OpSpec) -> dict[str, Any]:
    """The fields of `OpSpec` that follow from the parameters of the body."""
    found: dict[str, Any] = dict.fromkeys(("is_random", *_PROVIDED.values()), False)
    inputs: list[Input] = []
    rules: dict[str, Rule] = {}
    defaults: dict[str, Any] = {}
    required: list[str] = []
    hints = typing.get_type_hints(spec.body, include_extras=True)
    for parameter in inspect.signature(spec.body).parameters.values():
        name, kind = parameter.name, parameter.kind
        optional = parameter.default is not parameter.empty
        if kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            on_host = hints[name] in (HostSamples, HostSamples | None)
            inputs.append(Input(name, optional, kind is parameter.VAR_POSITIONAL, on_host))
        elif hints[name] is RandomState:
            found["is_random"] = True
        elif name in _PROVIDED:
            found[_PROVIDED[name]] = True
        else:
            rule = rules[name] = rule_of(hints[name])
            if not optional:
                required.append(name)
            elif parameter.default is None:
                defaults[name] = None
            else:
                defaults[name] = rule.convert(parameter.default, f"{spec.name}: '{name}'")
    if spec.output_dtypes is not None:
        rules["dtype"] = TypeChoice(spec.output_dtypes)
    return {
        **found,
        "wants_more": any(found[wanted] for wanted in _PROVIDED.values()),
        "inputs": tuple(inputs),
        "no_inputs": _absent(inputs),
        "rules": rules,
        "defaults": defaults,
        "required": tuple(required),
        "frame_arguments": tuple(name for name, rule in rules.items() if rule.per_frame),
    }


def _absent(inputs: list[Input]) -> tuple[None, ...] | None:
    if all(declared.optional and not declared.variadic for declared in inputs):
        return (None,) * len(inputs)
    return None
