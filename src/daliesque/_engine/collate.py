# SPDX-License-Identifier: Apache-2.0
"""Makes torch's `default_collate` take tensors and batches, without importing torch."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .batch import Batch
from .tensor import Tensor

_MODULE = "torch.utils.data._utils.collate"


def teach_torch() -> None:
    """Add our classes to those that torch collates: now, or when it is imported."""
    module = sys.modules.get(_MODULE)
    if module is not None:
        _add_classes(module)
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds nothing itself; lets `_add_classes` run after the one module it waits for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            _add_classes(module)

        loader.exec_module = exec_module
        return spec


def _add_classes(module: ModuleType) -> None:
    """Let the module stack our values as it stacks torch's, in shared memory in a worker."""

    def collate(values: Sequence[Tensor | Batch], *, collate_fn_map: Any = None) -> Any:
        converted = [value.torch() for value in values]
        return module.collate(converted, collate_fn_map=collate_fn_map)

    known = getattr(module, "default_collate_fn_map", None)
    if known is not None:
        known.update({Tensor: collate, Batch: collate})
