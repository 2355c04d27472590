# SPDX-License-Identifier: Apache-2.0
"""Which instructions of the processor the native code uses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from daliesque import _kernels


@contextmanager
def use_instructions(name: str) -> Iterator[None]:
    """Run with the widest vectors there are ("vector"), narrower ones ("avx2") or "portable"."""
    _kernels.set_simd_enabled(name != "portable", avx512=name != "avx2")
    try:
        yield
    finally:
        _kernels.set_simd_enabled(True)
