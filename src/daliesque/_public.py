# SPDX-License-Identifier: Apache-2.0
"""What every public module calls at its end: `publish(globals())`."""

from __future__ import annotations

import importlib
from typing import Any

from ._suggest import missing_from


def publish(names: dict[str, Any], late: dict[str, str] | None = None) -> None:
    """Let the classes of a public module say that they are in it, as users import them.

    `late` has names that are loaded when somebody asks for them, and where they are:
    "._scene.scene", or ".readers" for the submodule `readers`. For other names that a module does
    not have, it says what to write instead. `__getattr__` is set here so that type checkers do not
    take every name for an existing one.
    """
    module = names["__name__"]
    for name in names.get("__all__", ()):
        if name in names:
            _move(names[name], module)
    if late is None:
        names["__getattr__"] = missing_from(module)
        return
    missing = missing_from(module, depth=2)

    def load(name: str) -> Any:
        if name not in late:
            missing(name)
        holder = importlib.import_module(late[name], names["__package__"])
        found = names[name] = holder if late[name] == f".{name}" else getattr(holder, name)
        _move(found, module)
        return found

    names["__getattr__"] = load
    names["__dir__"] = lambda: sorted({*names, *late})


def _move(member: object, module: str) -> None:
    if isinstance(member, type) and member.__module__.startswith("daliesque._"):
        member.__module__ = module
