# SPDX-License-Identifier: Apache-2.0
"""The kernels are compiled to machine code for real devices, which needs none."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

TARGETS = {
    "A100": ("cuda", 80, 32, "cubin"),
    "H100": ("cuda", 90, 32, "cubin"),
    "MI300": ("hip", "gfx942", 64, "hsaco"),
    "RX 7900": ("hip", "gfx1100", 32, "hsaco"),
}

# Interpreted kernels cannot be compiled: this runs in a process of its own.
PROGRAM = """
import sys
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from daliesque._gpu import triton_philox

backend, architecture, warp, format = sys.argv[1:]
target = GPUTarget(backend, int(architecture) if backend == "cuda" else architecture, int(warp))
start = {"spots": "*i64", "highs": "*i64", "stride": "i32", "keys": "*i32", "low": "i64",
         "total": "i32", "columns": "i32", "BY_ROW": "constexpr", "BLOCK": "constexpr"}
kernels = [
    (triton_philox._words, {"out": "*i64", "COUNT": "constexpr"}, {"COUNT": 2, "BLOCK": 1024}),
    (triton_philox._events, {"out": "*fp32", "means": "*fp32"}, {"BLOCK": 128}),
]
for kernel, own, values in kernels:
    for by_row in (False, True):
        given = {**values, "BY_ROW": by_row}
        names = {name: number for number, name in enumerate(kernel.arg_names)}
        source = ASTSource(
            kernel,
            {name: {**start, **own}[name] for name in kernel.arg_names},
            {(names[name],): value for name, value in given.items()},
        )
        made = triton.compile(source, target=target, options={"enable_fp_fusion": False})
        print(len(made.asm[format]))
"""


@pytest.mark.parametrize("device", TARGETS)
def test_machine_code(device: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    command = [sys.executable, "-c", PROGRAM, *map(str, TARGETS[device])]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(int(size) > 1000 for size in done.stdout.split())
    assert len(done.stdout.split()) == 4
