# SPDX-License-Identifier: Apache-2.0
"""The states of several objects, in one text.

The text is that of the reference: `{"version": 2, "states": {name: {"state": ..., "type": ...}}}`
with the state as text and the name of the object's class.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from .checkpoint_files import NumberedFiles
from .file_size import read_file

_VERSION = 2
# Names that are made up begin with this.
_UNNAMED = "__op_"
# What begins so holds the rest as JSON: a state that is no text by nature.
_JSON = "json:"


@runtime_checkable
class HasState(Protocol):
    """An object like a reader or an RNG. Text of its state must do for `set_state`."""

    def get_state(self) -> Any: ...
    def set_state(self, value: Any, /) -> None: ...


@runtime_checkable
class HasStateDict(Protocol):
    """An object in the manner of torch. Its state consists of dicts, lists, text and numbers."""

    def state_dict(self) -> dict[str, Any]: ...
    def load_state_dict(self, state_dict: Any, /) -> Any: ...


Stateful: TypeAlias = HasState | HasStateDict


class Entry(NamedTuple):
    """A state, and the name of the class of the object it belongs to, if that is known."""

    state: Any
    type_name: str | None = None


class Checkpoint:
    """The states of readers, generators of random numbers and other objects.

    Objects are registered; `collect` takes their states, `serialize` and `save` write them. After
    `deserialize` or `load`, objects that are registered continue where those of the same name
    were, at any moment: also readers that have been used, in the middle of an epoch, with another
    batch size, number of threads or number of shards.

    An object needs the methods `get_state` and `set_state`, or `state_dict` and `load_state_dict`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> rng = ndd.random.RNG(seed=1234)
    >>> checkpoint = ndd.checkpoint.Checkpoint()
    >>> checkpoint.register(rng, "augmentations")
    'augmentations'
    >>> checkpoint.collect()
    >>> text = checkpoint.serialize()
    >>> rng()
    546353992
    >>> other = ndd.checkpoint.Checkpoint()
    >>> other.deserialize(text)
    >>> other.register(again := ndd.random.RNG(), "augmentations")
    'augmentations'
    >>> again()
    546353992
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all objects and states."""
        self._objects: dict[str, Stateful] = {}
        self._states: dict[str, Entry] = {}
        # The names of states that were set or loaded and not given to an object yet.
        self._dirty: set[str] = set()
        self._complete = False
        self._loaded = False
        self._next_number: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the states are those of the last `collect`."""
        return self._complete

    @property
    def is_loaded(self) -> bool:
        """Whether the states come from `load` or `deserialize`."""
        return self._loaded

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the registered objects."""
        return tuple(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

    def __contains__(self, name: object) -> bool:
        return str(name) in self._objects

    def __repr__(self) -> str:
        return f"<Checkpoint of {', '.join(self._objects) or 'no objects'}>"

    def register(self, op: Stateful, name: str | None = None) -> str:
        """Add an object and return its name; if there is a state for it, the object gets it.

        Parameters
        ----------
        op
            A reader, an RNG, or anything else with `get_state` and `set_state`, or `state_dict`
            and `load_state_dict`.
        name
            The name of its state. An object of that name is replaced. Without a name it is
            "__op_0", "__op_1" and so on, in the order of registration; an object that is
            registered already keeps its name.

        Raises
        ------
        KeyError
            If there are loaded states, but none of that name.
        RuntimeError
            If the object has another name, or is a new one after `collect`.
        TypeError
            If the state, or the object of that name, belongs to another class.
        """
        if not isinstance(op, HasState | HasStateDict):
            msg = (
                "Checkpoint.register: 'op' must have the methods get_state and set_state, or "
                f"state_dict and load_state_dict; got {type(op).__name__}."
            )
            raise TypeError(msg)
        known = next((key for key, value in self._objects.items() if value is op), None)
        if name is None:
            name = f"{_UNNAMED}{len(self._objects)}" if known is None else known
        else:
            _check_name(name, known)
        if name in self._objects:
            self._check_replaced(name, op)
        else:
            self._check_new(name)
        self._apply(name, op)
        self._objects[name] = op
        return name

    def _check_replaced(self, name: str, op: Stateful) -> None:
        present = type(self._objects[name])
        if present is not type(op):
            msg = (
                f"Checkpoint.register: Cannot replace operator {name!r} of type "
                f"{present.__qualname__!r} by one of type {type(op).__qualname__!r}."
            )
            raise TypeError(msg)

    def _check_new(self, name: str) -> None:
        if self._complete:
            msg = (
                f"Checkpoint.register: cannot add {name!r}: the states were completed by collect()."
                " Register all objects before, or call clear()."
            )
            raise RuntimeError(msg)
        if self._loaded and name not in self._states:
            msg = (
                f"Checkpoint.register: Loaded checkpoint has no state for {name!r}; it has "
                f"{sorted(self._states)}. Register the same names, or as many objects without."
            )
            raise KeyError(msg)

    def _apply(self, name: str, op: Stateful) -> None:
        """Give an object the state that is meant for it, if there is one."""
        if name not in self._dirty:
            return
        state, type_name = self._states[name]
        if type_name is not None and type_name != type(op).__qualname__:
            msg = (
                f"Checkpoint: Type mismatch for {name!r}: the state is that of a {type_name!r}; "
                f"the object is a {type(op).__qualname__!r}."
            )
            raise TypeError(msg)
        if isinstance(state, str) and state.startswith(_JSON):
            try:
                state = json.loads(state.removeprefix(_JSON))
            except (ValueError, RecursionError) as error:
                msg = f"Checkpoint: the state of {name!r} is no JSON text: {error}."
                raise ValueError(msg) from None
        if isinstance(op, HasState):
            op.set_state(state)
        else:
            op.load_state_dict(state)
        self._dirty.discard(name)

    def get_state(self, name: str) -> Any:
        """Return the state that was collected, loaded or set for a registered object, or None.

        Parameters
        ----------
        name
            The name of the object.
        """
        if name not in self:
            msg = f"Checkpoint.get_state: there is no object {name!r}; the names are {self.names}."
            raise KeyError(msg)
        entry = self._states.get(str(name))
        return None if entry is None else entry.state

    def set_state(self, name: str, value: Any, op_type: type | str | None = None) -> None:
        """Set the state of one object; it gets it with `restore`, or when it is registered.

        Parameters
        ----------
        name
            The name of the object, which may be registered later.
        value
            The state: what the object's `get_state` or `state_dict` returns, or its text.
        op_type
            The class that the object must have, or its name.
        """
        if self._complete and name not in self:
            msg = f"Checkpoint.set_state: there is no object {name!r}; the names are {self.names}."
            raise KeyError(msg)
        if isinstance(op_type, type):
            op_type = op_type.__qualname__
        elif not isinstance(op_type, str | None):
            msg = f"Checkpoint.set_state: 'op_type' must be a class or its name; got {op_type!r}."
            raise TypeError(msg)
        self._states[str(name)] = Entry(value, op_type)
        self._dirty.add(str(name))

    def collect(self) -> None:
        """Take the states of all registered objects."""
        self._check_extra("collect")
        states: dict[str, Entry] = {}
        for name, op in self._objects.items():
            state = op.get_state() if isinstance(op, HasState) else op.state_dict()
            states[name] = Entry(_to_text(name, state), type(op).__qualname__)
        self._states = states
        self._dirty = set()
        self._complete, self._loaded = True, False

    def restore(self) -> None:
        """Give all objects the states that were loaded or set since they were registered.

        Raises RuntimeError unless there is a state for each object and an object for each state.
        Does nothing if there are no states.
        """
        if not self._states:
            return
        self._check_extra("restore")
        missing = sorted(set(self._objects) - set(self._states))
        if missing:
            msg = f"Checkpoint.restore: the states are incomplete: there are none for {missing}."
            raise RuntimeError(msg)
        for name in sorted(self._dirty):
            self._apply(name, self._objects[name])

    def _check_extra(self, method: str) -> None:
        extra = sorted(set(self._states) - set(self._objects))
        if extra:
            msg = (
                f"Checkpoint.{method}: there are states with no corresponding registered ops: "
                f"{extra}. Register these first, or call clear()."
            )
            raise RuntimeError(msg)

    def serialize(self) -> str:
        """Return all states as JSON text."""
        if not self._states:
            msg = "Checkpoint.serialize: the checkpoint is empty. Call collect() first."
            raise RuntimeError(msg)
        states = {
            name: {"state": _to_text(name, state), "type": type_name}
            for name, (state, type_name) in self._states.items()
        }
        return json.dumps({"version": _VERSION, "states": states})

    def deserialize(self, data: str) -> None:
        """Take the states from text that `serialize` returned, here or in the reference.

        Objects get them with `restore`, or when they are registered.

        Parameters
        ----------
        data
            The text, also of an older version.
        """
        self._states = _parse(data)
        self._dirty = set(self._states)
        self._complete, self._loaded = False, True

    def save(self, filename: str) -> str:
        """Write the states to a new file and return its path.

        The file appears with all its contents or not at all, whatever ends the process.

        Parameters
        ----------
        filename
            A format string with the field `seq`, e.g. "state_{seq:04d}.json": the number after the
            last one in use.
        """
        files = NumberedFiles(os.fspath(filename))
        text = self.serialize()
        number = self._next_number
        if number is None:
            last = files.last()
            number = 0 if last is None else last[0] + 1
        number = files.add(number, text)
        self._next_number = number + 1
        return files.path(number)

    def load(self, filename: str) -> str:
        """Read the states from the file with the highest number and return its path.

        Parameters
        ----------
        filename
            A format string with the field `seq`; see `save`.
        """
        last = NumberedFiles(os.fspath(filename)).last()
        if last is None:
            msg = f"Checkpoint.load: no file matches {str(filename)!r}."
            raise FileNotFoundError(msg)
        number, path = last
        try:
            self.deserialize(read_file(path).decode())
        except ValueError as error:
            msg = f'Checkpoint.load: cannot read "{path}": {error}'
            raise ValueError(msg) from error
        self._next_number = number + 1
        return path


def _check_name(name: str, known: str | None) -> None:
    if not isinstance(name, str):
        msg = f"Checkpoint.register: 'name' must be text; got {name!r}."
        raise TypeError(msg)
    if not name or name.startswith(_UNNAMED):
        msg = (
            f"Checkpoint.register: 'name' must not be empty or start with {_UNNAMED!r}; got "
            f"{name!r}."
        )
        raise ValueError(msg)
    if known is not None and known != name:
        msg = f"Checkpoint.register: the object is registered as {known!r} already; got {name!r}."
        raise RuntimeError(msg)


def _to_text(name: str, state: Any) -> str:
    """A state as text; values without a text of their own as JSON."""
    if isinstance(state, bytes):
        return state.decode()
    if state is None or isinstance(state, dict | list | tuple | bool | int | float):
        _check_plain(name, state)
        return _JSON + json.dumps(state, separators=(",", ":"))
    return str(state)


def _check_plain(name: str, value: Any) -> None:
    """Raise TypeError if JSON would change a value."""
    if isinstance(value, dict) and all(type(key) is str for key in value):
        for part in value.values():
            _check_plain(name, part)
    elif isinstance(value, list | tuple):
        for part in value:
            _check_plain(name, part)
    elif value is not None and type(value) not in (str, bool, int, float):
        msg = (
            f"Checkpoint: the state of {name!r} must consist of dicts with text as keys, lists, "
            f"text and numbers; it has {value!r:.60}."
        )
        raise TypeError(msg)


def _parse(data: str) -> dict[str, Entry]:
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        msg = f"Invalid checkpoint: not JSON text: {error}."
        raise ValueError(msg) from None
    states = payload.get("states") if isinstance(payload, dict) else None
    if not isinstance(states, dict):
        msg = 'Invalid checkpoint: it must be an object with the entry "states", an object.'
        raise ValueError(msg)
    version = payload.get("version")
    if version not in (1, _VERSION):
        msg = f"Invalid checkpoint: unknown version {version!r}; known are 1 and {_VERSION}."
        raise ValueError(msg)
    return {name: _parse_entry(name, entry, version) for name, entry in states.items()}


def _parse_entry(name: str, entry: Any, version: int) -> Entry:
    if version == 1 and isinstance(entry, str):
        # The first version had no types.
        return Entry(entry)
    if version == 1 or not isinstance(entry, dict) or "state" not in entry:
        form = "text" if version == 1 else 'an object with the entry "state"'
        msg = f"Invalid checkpoint entry for {name!r}: in version {version} it must be {form}."
        raise ValueError(msg)
    type_name = entry.get("type")
    if not isinstance(type_name, str | None):
        msg = f"Invalid `type` of the checkpoint entry for {name!r}: it must be text or null."
        raise ValueError(msg)
    return Entry(str(entry["state"]), type_name)
