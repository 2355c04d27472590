# SPDX-License-Identifier: Apache-2.0
"""What is known about the results of a call before it has run.

An operator says with `@op(result=Result(...))` what its results are like: element type, number of
axes, layout and, where it can, shapes. Each is a constant, or a pure function of a `Call`: the
metadata of the inputs and the arguments. Nothing here reads data that is still to be computed; what
would need it raises `NotKnown`, and whoever asks has to wait.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .dtype import DType, from_code
from .errors import OpError
from .samples import Samples

_T = TypeVar("_T")

# One row of extents for each sample, or a single one for all of them.
Shapes: TypeAlias = NDArray[np.int64]


class NotKnown(Exception):
    """Something that only the data determines."""


class FromData:
    """Marks what an operator finds out from its data only, so that asking for it waits."""


FROM_DATA: Final = FromData()


class Metadata:
    """What is known about a value: element type, number of axes, layout and shapes.

    Reading what is not known raises `NotKnown`; `known_dtype`, `known_ndim` and `known_layout` are
    None then. The layout is "" if there is none.
    """

    __slots__ = ("_find_shapes", "_shapes", "known_dtype", "known_layout", "known_ndim")

    def __init__(
        self,
        dtype: DType | None,
        ndim: int | None,
        layout: str | None,
        find_shapes: Callable[[], Shapes] | None = None,
    ) -> None:
        self.known_dtype = dtype
        self.known_ndim = ndim
        self.known_layout = layout
        self._find_shapes = find_shapes
        self._shapes: Shapes | None = None

    @classmethod
    def of(cls, samples: Samples) -> Metadata:
        """The metadata of data."""
        return cls(from_code(samples.type_id), samples.ndim, samples.layout, samples.shape_array)

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return _require(self.known_dtype)

    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""
        return _require(self.known_ndim)

    @property
    def layout(self) -> str:
        """The meaning of the axes."""
        return _require(self.known_layout)

    @property
    def shapes(self) -> Shapes:
        """The extents of each sample, or one row for all of them. Not to be changed."""
        if self._shapes is None:
            if self._find_shapes is None:
                raise NotKnown
            find, self._find_shapes = self._find_shapes, None
            self._shapes = known_or_not(find)
        return _require(self._shapes)

    def find_shapes(self) -> None:
        """Find the shapes now, if they can be known."""
        with contextlib.suppress(NotKnown):
            _ = self.shapes

    @property
    def found_shapes(self) -> Shapes | None:
        """The shapes if somebody has asked for them."""
        return self._shapes

    def with_layout(self, layout: str) -> Metadata:
        """The same with another layout."""
        return Metadata(self.known_dtype, self.known_ndim, layout, lambda: self.shapes)

    def without_shapes(self) -> Metadata:
        """The same, but shapes are not known; nothing else is kept alive by it."""
        return Metadata(self.known_dtype, self.known_ndim, self.known_layout)

    def frames(self) -> Metadata:
        """The metadata of the frames of sequences, with a row of extents for each sequence."""
        return Metadata(
            self.known_dtype, self.ndim - 1, self.layout[1:], lambda: self.shapes[:, 1:]
        )

    def sequences(self, find_counts: Callable[[], Shapes]) -> Metadata:
        """The metadata of sequences of this, whose numbers of frames `find_counts` finds."""
        ndim, layout = self.known_ndim, self.known_layout
        if layout:
            layout = "F" + layout

        def find_shapes() -> Shapes:
            counts, shapes = find_counts(), self.shapes
            rows = max(len(counts), len(shapes)) if len(counts) and len(shapes) else 0
            parts = (np.broadcast_to(part, (rows, part.shape[1])) for part in (counts, shapes))
            return np.concatenate(tuple(parts), axis=1)

        return Metadata(self.known_dtype, None if ndim is None else ndim + 1, layout, find_shapes)


def _require(known: _T | None) -> _T:
    if known is None:
        raise NotKnown
    return known


def known_or_not(find: Callable[[], Any]) -> Any:
    """What `find` finds; not known if the call has arguments that the operator will refuse."""
    try:
        return find()
    except NotKnown:
        raise
    except (ArithmeticError, AttributeError, LookupError, OpError, TypeError, ValueError):
        raise NotKnown from None


class Described(Protocol):
    """A Tensor or Batch among the arguments."""

    _samples: Samples | None

    def _metadata(self) -> Metadata:
        """What is known about it."""


class Call:
    """A call as the rules see it: the metadata of its inputs, and its arguments.

    `converters` names the arguments that are tensors or batches (or the metadata of such), and
    makes of their data what the body gets.
    """

    __slots__ = ("_arguments", "_converters", "inputs")

    def __init__(
        self,
        inputs: tuple[Metadata | None, ...],
        arguments: Mapping[str, Any],
        converters: Mapping[str, Callable[[Samples], Any]] | None = None,
    ) -> None:
        self.inputs = inputs
        self._arguments = arguments
        self._converters = converters or {}

    @property
    def input(self) -> Metadata:
        """The first input."""
        first = self.inputs[0] if self.inputs else None
        if first is None:
            raise NotKnown
        return first

    def has_input(self, number: int) -> bool:
        """Whether an optional input is given."""
        return number < len(self.inputs) and self.inputs[number] is not None

    def other(self, number: int) -> Metadata:
        """Input number `number`."""
        found = self.inputs[number]
        if found is None:
            raise NotKnown
        return found

    def has(self, name: str) -> bool:
        """Whether an argument is given, or has a default other than None."""
        return self._arguments.get(name) is not None

    def __getitem__(self, name: str) -> Any:
        """An argument as the body gets it."""
        value = self._arguments[name]
        convert = self._converters.get(name)
        if convert is None:
            return value
        samples = None if isinstance(value, Metadata) else value._samples
        if samples is None or samples.is_on_device:
            raise NotKnown
        return convert(samples)

    def described(self, name: str) -> Metadata | None:
        """The metadata of an argument that is a tensor or batch."""
        if name not in self._converters:
            return None
        value: Metadata | Described = self._arguments[name]
        return value if isinstance(value, Metadata) else value._metadata()

    def width(self, name: str) -> int:
        """How many numbers an argument has for each sample."""
        described = self.described(name)
        if described is None:
            return int(self._arguments[name].shape[1])
        shapes = described.shapes
        if len(shapes) == 0 or (shapes != shapes[:1]).any():
            raise NotKnown
        return int(shapes[0].prod())

    def replaced(
        self, inputs: tuple[Metadata | None, ...], arguments: Mapping[str, Metadata]
    ) -> Call:
        """The same call with other inputs, and some arguments known by their metadata only."""
        return Call(inputs, {**self._arguments, **arguments}, self._converters)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What a result of an operator is like.

    Parameters
    ----------
    dtype
        A type; the names of arguments, of which the first that is given decides, where "input"
        stands for the type of the first input; or a function. By default ("dtype", "input").
    ndim
        A number or a function; by default that of the first input.
    layout
        A layout or a function; by default that of the first input, or none if `ndim` is given.
    shape
        "input" for the shapes of the first input, or a function that finds them; by default they
        are not known, unless there are no axes.
    """

    dtype: DType | tuple[str | FromData, ...] | Callable[[Call], DType] = ("dtype", "input")
    ndim: int | Callable[[Call], int] | FromData | None = None
    layout: str | Callable[[Call], str] | None = None
    shape: Literal["input"] | Callable[[Call], Any] | None = None

    def announce(self, call: Call) -> Metadata:
        """What is known about the result of a call."""
        ndim = _or_none(lambda: self._find_ndim(call))
        return Metadata(
            _or_none(lambda: self._find_dtype(call)),
            ndim,
            _or_none(lambda: self._find_layout(call)),
            self._shape_finder(call, ndim),
        )

    def _find_dtype(self, call: Call) -> DType:
        rule = self.dtype
        if isinstance(rule, DType):
            return rule
        if not isinstance(rule, tuple):
            return rule(call)
        for name in rule:
            if isinstance(name, FromData):
                break
            if name == "input":
                return call.input.dtype
            if call.has(name):
                found: DType = call[name]
                return found
        raise NotKnown

    def _find_ndim(self, call: Call) -> int:
        rule = self.ndim
        if rule is None:
            return call.input.ndim
        if isinstance(rule, FromData):
            raise NotKnown
        return rule if isinstance(rule, int) else rule(call)

    def _find_layout(self, call: Call) -> str:
        rule = self.layout
        if rule is None:
            return call.input.layout if self.ndim is None else ""
        return rule if isinstance(rule, str) else rule(call)

    def _shape_finder(self, call: Call, ndim: int | None) -> Callable[[], Shapes] | None:
        rule = self.shape
        if ndim == 0:
            return lambda: np.zeros((1, 0), np.int64)
        if rule is None:
            return None
        if rule == "input":
            return lambda: call.input.shapes
        return lambda: np.asarray(rule(call), np.int64)


def with_extents(shapes: Shapes, axis: int, extents: Any) -> Shapes:
    """Shapes with other extents along an axis: one for all samples, or one for each."""
    column = np.atleast_1d(np.asarray(extents, np.int64))
    rows = len(column) if len(shapes) == 1 else len(shapes)
    changed = np.broadcast_to(shapes, (rows, shapes.shape[1])).copy()
    changed[:, axis] = column
    return changed


def _or_none(find: Callable[[], Any]) -> Any:
    try:
        return known_or_not(find)
    except NotKnown:
        return None


# Type, axes and layout of the first input, in the type that the argument "dtype" asks for.
LIKE_FIRST: Final = Result()

# What a call announces: given the metadata of the inputs and the arguments, that of each result.
Announce: TypeAlias = Callable[[Call], tuple[Metadata, ...]]


def announce_as(result: Result) -> Announce:
    """How calls announce their only result that are not calls of an operator."""
    return lambda call: (result.announce(call),)


def mismatch(announced: Metadata, samples: Samples) -> str | None:
    """How data differs from what was announced about it, if it does."""
    found: Iterable[tuple[str, Any, Any]] = (
        ("dtype", announced.known_dtype, from_code(samples.type_id)),
        ("ndim", announced.known_ndim, samples.ndim),
        ("layout", announced.known_layout, samples.layout),
    )
    for name, promised, delivered in found:
        if promised is not None and promised != delivered:
            return f"{name} {promised!r} was announced, {delivered!r} delivered"
    shapes = announced.found_shapes
    if shapes is not None:
        rows = samples.shape_array()
        if not np.array_equal(np.broadcast_to(shapes, rows.shape), rows):
            return f"the shapes {shapes.tolist()} were announced, {rows.tolist()} delivered"
    return None
