# SPDX-License-Identifier: Apache-2.0
"""Running scripts that were written for the reference, unedited."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from ._suggest import missing_from

_REFERENCE = "nvidia.dali"
# Where a name below the reference's package is found here.
_MODULES = {
    "nvidia.dali.types": "daliesque.types",
    "nvidia.dali.tfrecord": "daliesque.tfrecord",
    "nvidia.dali.experimental.dynamic": "daliesque",
}


class as_dali:
    """Make `import nvidia.dali.experimental.dynamic` import daliesque.

    Call it once at the start of a program, or use it as a context manager that undoes it in the
    end. It raises RuntimeError if the real package has been imported already.

    Examples
    --------
    >>> import daliesque
    >>> with daliesque.as_dali():
    ...     import nvidia.dali.experimental.dynamic as ndd
    ...     print(ndd is daliesque)
    True
    """

    def __init__(self) -> None:
        real = sys.modules.get(_REFERENCE)
        if real is not None and not getattr(real, "__daliesque__", False):
            msg = "as_dali: the real nvidia.dali is imported already. Call as_dali() before that."
            raise RuntimeError(msg)
        self._added: list[str] = []
        self._parent = sys.modules.get("nvidia")
        for name in ("nvidia", _REFERENCE, "nvidia.dali.experimental"):
            if name not in sys.modules:
                package = ModuleType(name, "Stands in for the reference; see daliesque.as_dali.")
                package.__path__ = []
                package.__getattr__ = missing_from(name)  # type: ignore[method-assign]
                package.__daliesque__ = True  # type: ignore[attr-defined]
                self._register(name, package)
        for name, ours in _MODULES.items():
            self._register_tree(name, ours)

    def _register_tree(self, name: str, ours: str) -> None:
        """Register a module and its public submodules under another name."""
        module = importlib.import_module(ours)
        self._register(name, module)
        if ours == "daliesque":
            for public in module.__all__:
                getattr(module, public)  # loads it
            for known in [key for key in sys.modules if key.startswith("daliesque.")]:
                tail = known.removeprefix("daliesque.")
                if not any(part.startswith("_") for part in tail.split(".")):
                    self._register(f"{name}.{tail}", sys.modules[known])

    def _register(self, name: str, module: ModuleType) -> None:
        if name in sys.modules:
            return
        sys.modules[name] = module
        self._added.append(name)
        parent, _, child = name.rpartition(".")
        holder = sys.modules.get(parent)
        if holder is not None and not hasattr(holder, child):
            setattr(holder, child, module)

    def __enter__(self) -> as_dali:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for name in self._added:
            sys.modules.pop(name, None)
        if self._parent is not None and hasattr(self._parent, "dali"):
            del self._parent.dali
