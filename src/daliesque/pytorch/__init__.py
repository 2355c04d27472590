# SPDX-License-Identifier: Apache-2.0
"""What is made for PyTorch: `pytorch.nodes`, for torchdata."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from . import nodes as nodes

__all__: list[str] = []


def __getattr__(name: str) -> object:
    # Loads torch, which shall not happen before somebody asks for it.
    if name == "nodes":
        return _importlib.import_module("daliesque.pytorch.nodes")
    msg = f"module 'daliesque.pytorch' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return ["nodes"]
