# SPDX-License-Identifier: Apache-2.0
"""What is made for JAX: `jax.iterate`, batches of a loop body as global arrays.

    batches = ndd.jax.iterate(reader, transform, batch_size=1024, sharding=sharding)
    for batch in batches:
        state = train_step(state, batch)

See docs/train/jax.md.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from daliesque._loops.jax_iterator import BatchIterator as BatchIterator
    from daliesque._loops.jax_iterator import iterate as iterate

__all__: list[str] = []


def __getattr__(name: str) -> object:
    # Loads JAX, which shall not happen before somebody asks for it.
    if name in ("BatchIterator", "iterate"):
        try:
            module = _importlib.import_module("daliesque._loops.jax_iterator")
        except ModuleNotFoundError as error:
            if error.name != "jax":
                raise
            msg = "daliesque.jax: JAX is not installed. Install daliesque[jax]."
            raise ImportError(msg, name="jax") from None
        found = getattr(module, name)
        found.__module__ = "daliesque.jax"
        return found
    msg = f"module 'daliesque.jax' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return ["BatchIterator", "iterate"]
