# SPDX-License-Identifier: Apache-2.0
"""Write the type stubs that are committed: the native module's.

Run by `make stubs`; a test compares what this writes with what is committed.
"""

from __future__ import annotations

import sys
from pathlib import Path

from nanobind.stubgen import StubGen

import daliesque._kernels as kernels

TARGET = Path(__file__).parent.parent / "src" / "daliesque" / "_kernels.pyi"


def native_stub() -> str:
    """The stub of the native module."""
    generator = StubGen(kernels)
    generator.put(kernels)
    return "# SPDX-License-Identifier: Apache-2.0\n" + generator.get()


if __name__ == "__main__":
    text = native_stub()
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text() == text else "the stub is out of date: run `make stubs`")
    TARGET.write_text(text)
