# SPDX-License-Identifier: Apache-2.0
"""Arguments of the reference's image decoders that mean nothing here.

They are accepted, and checked, as if they stood in the signature of each decoder.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")


def gpu_tuning(
    *,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    memory_stats: bool = False,
    split_stages: bool = False,
    use_chunk_allocator: bool = False,
) -> None:
    """What tunes the decoders of NVIDIA GPUs."""


def gpu_cache(
    *,
    cache_batch_copy: bool = True,
    cache_debug: bool = False,
    cache_size: int = 0,
    cache_threshold: int = 0,
    cache_type: str = "",
) -> None:
    """What says which decoded images stay in the memory of a GPU."""


def ignoring(
    *declarations: Callable[..., None],
) -> Callable[[Callable[Parameters, Returned]], Callable[..., Returned]]:
    """Let a body of an operator accept the parameters of other functions, and not see them."""
    ignored = [
        parameter
        for declaration in declarations
        for parameter in inspect.signature(declaration).parameters.values()
    ]

    def decorate(body: Callable[Parameters, Returned]) -> Callable[..., Returned]:
        @functools.wraps(body)
        def accepting(*inputs: Parameters.args, **arguments: Parameters.kwargs) -> Returned:
            for parameter in ignored:
                del arguments[parameter.name]
            return body(*inputs, **arguments)

        own = inspect.signature(body)
        parameters = [*own.parameters.values(), *ignored]
        accepting.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        extra = {parameter.name: parameter.annotation for parameter in ignored}
        accepting.__annotations__ = {**body.__annotations__, **extra}
        return accepting

    return decorate
