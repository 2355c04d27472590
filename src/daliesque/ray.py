# SPDX-License-Identifier: Apache-2.0
"""What is made for Ray Data: `import daliesque.ray as ndr`.

    dataset = ndr.read(ndd.readers.File, file_root="train", batch_size=64, transform=body, seed=1)
    for batch in ndr.iter_torch(dataset, batch_size=64):
        ...

See docs/train/ray.md. Needs Ray: `pip install daliesque[ray]`.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from daliesque._ray.errors import Errors as Errors
    from daliesque._ray.errors import SampleFault as SampleFault
    from daliesque._ray.read import read as read
    from daliesque._ray.torch_iterator import TorchIterator as TorchIterator
    from daliesque._ray.torch_iterator import iter_torch as iter_torch
    from daliesque._ray.transform import Transform as Transform

__all__: list[str] = []

_MODULES = {
    "Errors": "errors",
    "SampleFault": "errors",
    "TorchIterator": "torch_iterator",
    "Transform": "transform",
    "iter_torch": "torch_iterator",
    "read": "read",
}


def __getattr__(name: str) -> object:
    # Loads Ray, which shall not happen before somebody asks for it.
    if name in _MODULES:
        try:
            module = _importlib.import_module(f"daliesque._ray.{_MODULES[name]}")
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if missing not in ("pandas", "pyarrow", "pydantic", "ray"):
                raise
            msg = f"daliesque.ray: {missing} is not installed. Install daliesque[ray]."
            raise ImportError(msg, name=missing) from None
        found = getattr(module, name)
        found.__module__ = "daliesque.ray"
        return found
    msg = f"module 'daliesque.ray' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return list(_MODULES)
