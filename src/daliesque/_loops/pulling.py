# SPDX-License-Identifier: Apache-2.0
"""Takes items from what a user passes as a source: a function, an iterable, a generator.

What is accepted, and the texts of errors, are those of the reference.
"""

from __future__ import annotations

import functools
import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from .. import _kernels
from .._engine.interrupts import Steps
from .._engine.value import Value

_VERSION = 1
# Items that were taken are taken again, one by one: a larger number cannot come from a loop.
_MOST_TAKEN = 1 << 32
_NOTHING = object()
_NOT_A_SOURCE = "The `source` must be callable, iterable or a parameterless generator function."
_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_CYCLES = """Valid values are
  - "no", False or None - cycling disabled
  - "quiet", True - quietly rewind the data
  - "raise" - raise StopIteration on each rewind."""


class Puller(ABC):
    """Gives the items of a source, one after the other, and knows how many there were.

    With `cycle` "quiet" or "raise" it begins again after the last; then items are counted from
    the beginning of the pass. Whoever uses it makes sure that no two threads do at once.
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self._taken = 0
        # An item that the source gave and that is not delivered.
        self._held: Any = _NOTHING

    def prepare(self) -> tuple[Any, Steps, BaseException | None]:
        """The next item, what changes when it is taken, and what is to be raised instead.

        Until it is taken, it stays the next one. StopIteration if there is none.
        """
        if self._held is _NOTHING:
            self._hold()
        return self._held, self._taking(), None

    def _taking(self) -> Steps:
        return (setattr, (self, "_held", _NOTHING)), (setattr, (self, "_taken", self._taken + 1))

    @abstractmethod
    def _hold(self) -> None:
        """Take an item of the source, of this pass, and set `_held` to it."""

    def _hold_result(self, function: Any, *arguments: Any) -> None:
        """Set `_held` to what a function of the source returns; that counts as reading."""
        counted = functools.partial(_kernels.run_under, "ExternalSource", True, 0)
        _kernels.store_result(self, "_held", counted, function, *arguments)
        held = self._held
        samples = held._count if isinstance(held, Value) else 1
        nbytes = held.nbytes if isinstance(held, np.ndarray) else 0
        _kernels.count_calls("ExternalSource", True, 1, samples, nbytes)

    @abstractmethod
    def _rewind(self) -> Steps:
        """What goes back to the beginning, if the source can; ValueError if it cannot."""

    def _state_holders(self) -> tuple[Any, ...]:
        """What may have a state of its own."""
        return (self.source,)

    def _saved_state(self) -> Any:
        for holder in self._state_holders():
            save = getattr(holder, "state_dict", None)
            if callable(save):
                return save()
        return None

    def _load_state(self, state: Any) -> None:
        """Hand its state back to the source; the next item is the one after it."""
        for holder in self._state_holders():
            load = getattr(holder, "load_state_dict", None)
            if callable(load):
                load(state)
                return
        msg = (
            "ExternalSource: set_state: the state holds one of the source itself, but the source "
            "has no load_state_dict()."
        )
        raise ValueError(msg)

    def get_state(self) -> str:
        """Where the source is, as text."""
        own = self._saved_state()
        if own is not None and self._held is not _NOTHING:
            msg = (
                "ExternalSource: get_state: the source gave an item whose delivery was interrupted."
                " Take it first: the state of the source is after it."
            )
            raise RuntimeError(msg)
        fields = {"version": _VERSION, "taken": self._taken, "source": own}
        try:
            return json.dumps(fields, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            msg = f"ExternalSource: get_state: state_dict() must return plain data: {error}."
            raise TypeError(msg) from error

    def set_state(self, text: str) -> None:
        """Go to where a source was when `get_state` returned the text."""
        taken, own = _parse(text)
        fresh: Steps = ((setattr, (self, "_held", _NOTHING)), (setattr, (self, "_taken", 0)))
        if own is not None:
            self._load_state(own)
            _kernels.carry_out((*fresh, (setattr, (self, "_taken", taken))))
            return
        if taken < self._taken:
            _kernels.carry_out((*self._rewind(), *fresh))
        while self._taken < taken:
            try:
                if self._held is _NOTHING:
                    self._hold()
            except StopIteration:
                msg = (
                    f"ExternalSource: set_state: the state is after {taken} items; the source "
                    f"ended after {self._taken}. Give it the same data."
                )
                raise ValueError(msg) from None
            _kernels.carry_out(self._taking())


def _parse(text: str) -> tuple[int, Any]:
    where = "ExternalSource: set_state:"
    try:
        fields = json.loads(text)
        version, taken, own = fields["version"], fields["taken"], fields["source"]
        if type(taken) is not int or not 0 <= taken <= _MOST_TAKEN:
            raise ValueError(taken)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"{where} not the state of an ExternalSource: {text[:60]!r}."
        raise ValueError(msg) from error
    if version != _VERSION:
        msg = f"{where} unknown version {version!r} of the state."
        raise ValueError(msg)
    return taken, own


def _refuse_to_rewind(what: str) -> NoReturn:
    msg = (
        f"ExternalSource: set_state: {what} cannot go back. Make the ExternalSource again, or give "
        "the source state_dict() and load_state_dict()."
    )
    raise ValueError(msg)


class FunctionPuller(Puller):
    """Calls a function for each item."""

    def _hold(self) -> None:
        self._hold_result(self.source)

    def _rewind(self) -> Steps:
        _refuse_to_rewind("a function")


class IterablePuller(Puller):
    """Iterates over what `source()`, if it is a generator function, or else `source` gives."""

    def __init__(self, source: Any, begin: Callable[[], Iterator[Any]], cycle: str) -> None:
        super().__init__(source)
        self._begin = begin
        self._cycle = cycle
        self._items = begin()

    def prepare(self) -> tuple[Any, Steps, BaseException | None]:
        """As that of all; at the end of a pass the next one begins, if `cycle` says so."""
        try:
            return super().prepare()
        except StopIteration:
            if self._cycle == "no":
                raise
        again: Steps = (setattr, (self, "_items", self._begin())), (setattr, (self, "_taken", 0))
        if self._cycle == "raise":
            return None, again, StopIteration()
        _kernels.carry_out(again)
        return super().prepare()

    def _hold(self) -> None:
        self._hold_result(next, self._items)

    def _rewind(self) -> Steps:
        if self._items is self.source:
            _refuse_to_rewind("an iterator")
        return ((setattr, (self, "_items", self._begin())),)

    def _state_holders(self) -> tuple[Any, ...]:
        return (self.source, self._items)

    def _load_state(self, state: Any) -> None:
        if hasattr(self.source, "load_state_dict"):
            # As with the data loaders of torch: iteration goes on from the state.
            self.source.load_state_dict(state)
            self._items = self._begin()
        else:
            self._items = self._items if self._items is self.source else self._begin()
            super()._load_state(state)


def make_puller(source: Any, cycle: Any) -> Puller:
    """What takes items from a source."""
    chosen = _check_cycle(cycle)
    if chosen != "no" and inspect.isgenerator(source):
        msg = (
            "ExternalSource: Cannot cycle through a generator - if the generator is a result of "
            "calling a generator function, pass that function instead as `source`."
        )
        raise TypeError(msg)
    if _is_generator_function(source):
        return IterablePuller(source, lambda: iter(source()), chosen)
    try:
        return IterablePuller(source, lambda: iter(source), chosen)
    except TypeError as error:
        if "not iterable" not in str(error):
            raise
    if cycle is not None:
        msg = "ExternalSource: The argument `cycle` can only be specified if `source` is iterable."
        raise ValueError(msg)
    if not callable(source):
        msg = f"ExternalSource: {_NOT_A_SOURCE} Got {source!r:.60}."
        raise TypeError(msg)
    _check_parameters(source)
    return FunctionPuller(source)


def _check_cycle(cycle: Any) -> str:
    if cycle is None or cycle is False or cycle == "no":
        return "no"
    if cycle is True or cycle == "quiet":
        return "quiet"
    if cycle == "raise":
        return "raise"
    msg = f"ExternalSource: Invalid value {cycle!r} for the argument `cycle`. {_CYCLES}"
    raise ValueError(msg)


def _is_generator_function(source: Any) -> bool:
    """Whether calling it gives a generator: also for a partial one, and for objects."""
    if inspect.isgeneratorfunction(source):
        return True
    if isinstance(source, functools.partial):
        return _is_generator_function(source.func)
    if source is None or inspect.isfunction(source) or inspect.ismethod(source):
        return False
    return callable(source) and inspect.isgeneratorfunction(type(source).__call__)


def _check_parameters(function: Any) -> None:
    """Refuse functions that want to be called with something."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        # Some functions written in C do not say.
        return
    rule = (
        "ExternalSource: The `source` callable must accept either 0 or 1 positional arguments to "
        "indicate whether it accepts the batch or sample indexing information."
    )
    words: dict[Any, str] = {
        inspect.Parameter.VAR_POSITIONAL: "var-positional argument `*",
        inspect.Parameter.VAR_KEYWORD: "var-keyword argument `**",
        inspect.Parameter.KEYWORD_ONLY: "keyword-only argument `",
    }
    if isinstance(function, functools.partial):
        # The reference refuses these; whoever binds arguments knows what else is needed.
        parameters = [p for p in parameters if p.default is p.empty and p.kind not in _VARIADIC]
    for parameter in parameters:
        found = words.get(parameter.kind)
        if found is not None:
            msg = f"{rule} Found {found}{parameter.name}` which is not allowed."
            raise TypeError(msg)
    if len(parameters) > 1:
        msg = f"{rule} Found more than one positional argument, which is not allowed."
        raise TypeError(msg)
    if len(parameters) == 1:
        msg = (
            "ExternalSource: ndd.ExternalSource only supports callables with no parameters. Give "
            "the parameter its value with functools.partial, or use a generator function."
        )
        raise ValueError(msg)
