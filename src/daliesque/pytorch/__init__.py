# SPDX-License-Identifier: Apache-2.0
"""What is made for PyTorch: `pytorch.DataLoader`, and `pytorch.nodes` for torchdata.

    loader = ndd.pytorch.DataLoader(reader, transform, batch_size=64, seed=1)
    for images, labels in loader:
        ...

See docs/train/pytorch.md and docs/train/distributed.md.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from daliesque._loops.torch_loader import DataLoader as DataLoader

    from . import nodes as nodes

__all__: list[str] = []


def __getattr__(name: str) -> object:
    # Loads torch, which shall not happen before somebody asks for it.
    if name == "nodes":
        return _importlib.import_module("daliesque.pytorch.nodes")
    if name == "DataLoader":
        module = _importlib.import_module("daliesque._loops.torch_loader")
        module.DataLoader.__module__ = "daliesque.pytorch"
        return module.DataLoader
    msg = f"module 'daliesque.pytorch' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return ["DataLoader", "nodes"]
