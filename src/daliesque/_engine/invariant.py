# SPDX-License-Identifier: Apache-2.0
"""Values that a user promises not to change: `ndd.capture.invariant`.

`invariant(value)` is an object that behaves like the value and carries the promise. Operators and
readers see the value itself; capture-mode loops see the promise first. Attributes that are read
through the object carry the promise on, methods get the object as `self`, and what special methods
return (`value + 1`, `value[0]`) is ordinary.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast

from .thread_state import interception

T = TypeVar("T")


class Invariant:
    """Stands for a value. Each type of values has a subclass, with its special methods."""

    __slots__ = ("__value",)

    _of_type: type

    def __init__(self, value: Any) -> None:
        object.__setattr__(self, "_Invariant__value", value)

    def __getattribute__(self, name: str) -> Any:
        value = _value_of(self)
        found = getattr(value, name)
        if _is_special(name):
            return found
        if isinstance(found, MethodType) and found.__self__ is value:
            return MethodType(found.__func__, self)
        return invariant(found)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(_value_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_value_of(self), name)


def _value_of(marked: Invariant) -> Any:
    return object.__getattribute__(marked, "_Invariant__value")


def _is_special(name: str) -> bool:
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


# What belongs to the object that stands for the value: how it is made, what it is made of, and how
# it is copied, which would lose the promise.
_OWN = frozenset(
    f"__{name}__"
    for name in (
        "new init del init_subclass subclasshook class_getitem mro_entries prepare "
        "getattribute getattr setattr delattr "
        "class dict doc module name qualname annotations slots weakref base bases mro "
        "copy deepcopy reduce reduce_ex getstate setstate getnewargs getnewargs_ex getinitargs "
        "replace"
    ).split()
)


def _forward(name: str) -> Callable[..., Any]:
    """A special method that calls that of the value, and hands it plain values, too."""
    # What is stored, or passed to a function of the user, stays as it is.
    keeps = {"__call__": 0, "__setitem__": 1, "__set__": 1}.get(name)

    def method(self: Invariant, *args: Any, **kwargs: Any) -> Any:
        value = _value_of(self)
        found = _bound(value, name)
        end = len(args) if keeps is None else keeps
        plain = [unwrap_invariants(arg) for arg in args[:end]]
        if keeps is None:
            kwargs = {key: unwrap_invariants(arg) for key, arg in kwargs.items()}
        return found(*plain, *args[end:], **kwargs)

    method.__name__ = name
    return method


def _bound(value: Any, name: str) -> Any:
    """A special method as the interpreter finds it: on the type, whatever the object has."""
    for base in type(value).__mro__:
        if name in vars(base):
            definition = vars(base)[name]
            if value is None:
                # A descriptor takes None for "no object".
                return functools.partial(definition, None)
            bind = getattr(type(definition), "__get__", None)
            return definition if bind is None else bind(definition, value, type(value))
    raise AttributeError(name)


@functools.cache
def _proxy_type(kind: type) -> type[Invariant]:
    methods: dict[str, Any] = {"__slots__": (), "_of_type": kind}
    for base in reversed(kind.__mro__):
        for name, definition in vars(base).items():
            if _is_special(name) and name not in _OWN:
                if definition is None:
                    methods[name] = None
                elif callable(definition) or hasattr(definition, "__get__"):
                    methods[name] = _forward(name)
    return type(f"Invariant[{kind.__name__}]", (Invariant,), methods)


def invariant(value: T) -> T:
    """Promise that a value does not change between the steps of a capture-mode loop.

    Calls whose arguments cannot be proven constant from the source (names of modules, attributes,
    results of functions) are captured if these are marked. The promise is not checked. An argument
    that was marked in the first step must be marked in all others.

    The result behaves like the value: attributes are marked as well, methods work, and operators
    and other special methods return ordinary values. It is another object, though, and of another
    type.

    Parameters
    ----------
    value
        Anything.

    Examples
    --------
    >>> size = ndd.capture.invariant([8, 8])
    >>> size[0], ndd.capture.is_invariant(size)
    (8, True)
    >>> ndd.resize(np.zeros((4, 4, 3), np.uint8), size=size).shape
    (8, 8, 3)
    """
    if is_invariant(value):
        return value
    interception.on = interception.marks = True
    kind: type = type(value)
    return cast(T, _proxy_type(kind)(value))


def is_invariant(value: object) -> bool:
    """Whether a value is marked by `invariant`.

    Parameters
    ----------
    value
        Anything.

    Examples
    --------
    >>> ndd.capture.is_invariant(3), ndd.capture.is_invariant(ndd.capture.invariant(3))
    (False, True)
    """
    return issubclass(type(value), Invariant)


def unwrap_invariant(value: T) -> T:
    """Return the value that was marked; anything else as it is.

    Parameters
    ----------
    value
        Anything.

    Examples
    --------
    >>> type(ndd.capture.unwrap_invariant(ndd.capture.invariant(3)))
    <class 'int'>
    """
    return cast(T, _value_of(value)) if isinstance(value, Invariant) else value


def unwrap_invariants(value: T) -> T:
    """Return a value without marks, also inside of lists, tuples and dicts.

    Containers without marks are returned as they are, others are copied.

    Parameters
    ----------
    value
        Anything.

    Examples
    --------
    >>> ndd.capture.unwrap_invariants([ndd.capture.invariant(3), (4,)])
    [3, (4,)]
    """
    plain: Any = unwrap_invariant(value)
    kind = type(plain)
    if kind is type(Invariant) and issubclass(plain, Invariant):
        return cast(T, plain._of_type)
    if kind is list or kind is tuple:
        items = [unwrap_invariants(item) for item in plain]
        same = all(new is old for new, old in zip(items, plain, strict=True))
        return cast(T, plain if same else kind(items))
    if kind is dict:
        pairs = [(unwrap_invariants(key), unwrap_invariants(item)) for key, item in plain.items()]
        olds = plain.items()
        same = all(a is c and b is d for (a, b), (c, d) in zip(pairs, olds, strict=True))
        return cast(T, plain if same else dict(pairs))
    if kind is slice:
        bounds = plain.start, plain.stop, plain.step
        news = unwrap_invariants(bounds)
        return plain if news is bounds else cast(T, slice(*news))
    return cast(T, plain)
