# SPDX-License-Identifier: Apache-2.0
"""What the gpu code asks of torch: only what all accelerators have, by torch_operations.csv.

Here, the source is looked through; tests with a simulated device look at what is carried out.
"""

from __future__ import annotations

import ast
from pathlib import Path

import torch

import daliesque as ndd
from support.torch_operations import operations

PACKAGE = Path(ndd.__file__).parent
# Queues and transfers differ from one kind of device to the other.
DRIVERS = {"accelerator.py", "placement.py", "queues.py"}
FILES = [path for path in (PACKAGE / "_gpu").glob("*.py") if path.name not in DRIVERS]
DOCS = Path(__file__).parent.parent.parent / "docs"

# What belongs to torch without being an operation on tensors, and methods that are NumPy's here.
OTHERS = set(
    """
    Tensor as_tensor bfloat16 bool contiguous_format device dtype finfo float16 float32 float64
    from_numpy frombuffer iinfo int16 int32 int64 int8 uint16 uint32 uint64 uint8 version.cuda
    """.split()
)
ON_THE_HOST = set(
    """
    _values append argsort astype clip copy data_ptr dense diff element_size fill index item mean
    nonzero numel numpy ravel repeat shape size split stride take tobytes tolist type unfold
    untyped_storage values
    """.split()
)


def dotted(node: ast.AST) -> str | None:
    """`torch.fft.rfft` as text; None for anything but such a chain of names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


def names_used() -> tuple[set[str], set[str]]:
    """What is taken from torch, and the methods that tensors have among those called."""
    functions, methods = set(), set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute):
                name = dotted(node)
                if name is not None and name.startswith("torch."):
                    functions.add(name.removeprefix("torch."))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = dotted(node.func)
                attribute = node.func.attr
                taken = name is not None and name.startswith(("torch.", "np."))
                if not taken and hasattr(torch.Tensor, attribute):
                    methods.add(attribute)
    outer = {name.rpartition(".")[0] for name in functions}
    return functions - outer, methods


def test_functions_are_those_that_all_accelerators_have() -> None:
    functions, methods = names_used()
    known = {name for row in operations().values() for name in row.names}
    assert functions - known - OTHERS == set()
    assert methods - known - ON_THE_HOST == set()


def test_the_table_knows_torch() -> None:
    for name, row in operations().items():
        assert hasattr(torch.ops.aten, name)
        assert row.types


def test_exceptions_are_documented() -> None:
    text = (DOCS / "gpu.md").read_text()
    for row in operations().values():
        assert row.exception in text
    assert "double precision" in text
