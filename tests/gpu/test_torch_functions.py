# SPDX-License-Identifier: Apache-2.0
"""What the gpu code asks of torch: functions that all accelerators have, and none that wait."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import daliesque as ndd
from daliesque._engine.op import registry
from ops.cases import CASES, Case
from test_contract import call, make_batches, make_inputs

importlib.import_module("daliesque._gpu")

PACKAGE = Path(ndd.__file__).parent
FILES = [*(PACKAGE / "_gpu").glob("*.py"), PACKAGE / "_engine" / "device_samples.py"]

# Documented for CUDA, ROCm, XPU and MPS. On MPS, sums and sorts of 64-bit integers need macOS 14,
# and nothing takes float64 (docs/operators.md says where that matters).
FUNCTIONS = set(
    """
    acos acosh add addcmul arange asin asinh atan atan2 atanh bitwise_and bitwise_not bitwise_or
    bitwise_xor cat ceil copysign cos cosh div empty eq exp fft.rfft floor fmod full full_like ge gt
    le log log10 log2 logical_and logical_not logical_or logical_xor lt matmul maximum minimum mul
    nan_to_num ne neg nn.functional.pad ones ones_like pow remainder sin sinh sqrt stack sub tan
    tanh trunc where zeros zeros_like abs
    """.split()
)
METHODS = set(
    """
    abs add all amax amin any argmax bitwise_and bitwise_left_shift bitwise_not
    bitwise_right_shift bitwise_xor ceil clamp clamp_ clone contiguous copy_ cumsum dense div
    expand expand_as flip float floor gather index_select isfinite isnan max min minimum movedim
    narrow ne new_full new_zeros permute pow prod reshape round scatter scatter_add sort sqrt
    square sum to transpose trunc view zero_
    """.split()
)
# What belongs to torch without being a function of tensors, and methods that are NumPy's here.
OTHERS = set(
    """
    Tensor as_tensor bfloat16 bool contiguous_format device dtype empty finfo float16 float32
    float64 from_numpy frombuffer iinfo int16 int32 int64 int8 uint16 uint32 uint64 uint8
    """.split()
)
ON_THE_HOST = set(
    """
    _values append argsort astype clip copy cumsum data_ptr detach diff element_size fill index item
    mean nonzero numel numpy ravel repeat select shape size split take tobytes tolist type unfold
    values
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
    assert functions - FUNCTIONS - OTHERS == set()
    assert methods - METHODS - ON_THE_HOST == set()
    for name in FUNCTIONS:
        found: Any = torch
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


# These make the host wait for the values of a tensor.
WAITING = {"_local_scalar_dense", "nonzero", "masked_select", "unique", "_unique2", "equal"}


class Recorder(TorchDispatchMode):
    """Notes the operations that torch carries out."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        del types
        self.names.add(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "gpu" in registry[case.operator].bodies],
    ids=lambda case: case.operator,
)
def test_no_operator_waits_for_the_device(case: Case) -> None:
    inputs = [batch.gpu().evaluate() for batch in make_batches(case, make_inputs(case))]
    with ndd.EvalMode.sync_cpu, Recorder() as recorder:
        call(case, inputs, device="gpu")
    assert recorder.names & WAITING == set()


def test_the_recorder_sees_waiting() -> None:
    with Recorder() as recorder:
        assert torch.ones(1).item() == 1
    assert recorder.names & WAITING
