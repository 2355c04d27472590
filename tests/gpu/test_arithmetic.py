# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and conversions on the gpu equal those on the CPU, for all types."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.arithmetic import apply
from support.compare import FUNCTION_TOLERANCE, assert_same, assert_within

pytestmark = pytest.mark.usefixtures("either_device")

TYPES = [
    *(ndd.uint8, ndd.uint16, ndd.uint32, ndd.uint64, ndd.int8, ndd.int16, ndd.int32, ndd.int64),
    *(ndd.float16, ndd.bfloat16, ndd.float32, ndd.float64, ndd.bool),
]
EXACT = "add sub mul div fdiv min max eq neq lt leq gt geq".split()
BITWISE = "bitand bitor bitxor lshift rshift".split()
FUNCTIONS = """fabs sqrt rsqrt cbrt exp log log2 log10 floor ceil sin cos tan asin acos atan sinh
cosh tanh asinh acosh atanh""".split()


def values(dtype: ndd.DType, salt: int) -> Any:
    rng = np.random.default_rng(salt)
    if dtype == ndd.bool:
        return rng.integers(0, 2, 96).astype(np.bool_)
    if dtype.kind is ndd.DType.Kind.float:
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e30, -1e30, 300]
        many = np.concatenate([special, rng.normal(0, 100, 83)])
        with np.errstate(over="ignore"):
            return rng.permutation(many).astype(dtype.numpy)
    limits = np.iinfo(dtype.numpy)
    edges = [limits.min, limits.max, 0, 1, 2, 3, max(limits.min, -1), limits.max - 1]
    wide = rng.integers(limits.min, limits.max, 44, dtype.numpy, endpoint=True)
    small = rng.integers(max(limits.min, -20), 20, 44).astype(dtype.numpy)
    return rng.permutation(np.concatenate([np.array(edges, dtype.numpy), wide, small]))


def both(name: str, *operands: Any) -> tuple[Any, Any]:
    with ndd.EvalMode.sync_cpu:
        here = np.asarray(apply(name, *(ndd.tensor(x) for x in operands)))
        there = apply(name, *(ndd.tensor(x, device="gpu") for x in operands))
    assert there.device.device_type == "gpu"
    return np.asarray(there.cpu()), here


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_casts(dtype: ndd.DType) -> None:
    for target in TYPES:
        x = values(dtype, 1)
        with np.errstate(invalid="ignore"):
            here = np.asarray(ndd.cast(ndd.tensor(x), dtype=target))
            there = np.asarray(ndd.cast(ndd.tensor(x, device="gpu"), dtype=target).cpu())
        # The native core rounds ties of float16 up, as the reference; accelerators to even.
        rtol = FUNCTION_TOLERANCE["float16"] if target == ndd.float16 else 0
        assert_within(there, here, rtol, (dtype, target))


@pytest.mark.parametrize("name", EXACT)
def test_exact_operations(name: str) -> None:
    for left, right in itertools.product(TYPES, TYPES):
        a, b = values(left, 2), values(right, 3)
        floating = ndd.DType.Kind.float in (left.kind, right.kind)
        if left == right == ndd.bool and name not in ("mul", "eq", "neq", "lt", "leq", "gt", "geq"):
            continue
        if name == "div" and not floating:
            b = np.where(b == 0, 1, b).astype(b.dtype)
        there, here = both(name, a, b)
        if here.dtype == np.float16:
            assert_within(there, here, FUNCTION_TOLERANCE["float16"], (name, left, right))
        else:
            assert_same(there, here, (name, left, right))


def test_remainders_and_powers() -> None:
    for left, right in itertools.product(TYPES, TYPES):
        if left == right == ndd.bool:
            continue
        a, b = values(left, 4), values(right, 5)
        floating = ndd.DType.Kind.float in (left.kind, right.kind)
        if not floating:
            assert_same(*both("mod", a, np.where(b == 0, 1, b).astype(b.dtype)), (left, right))
            assert_same(*both("pow", a, b), (left, right))
        else:
            there, here = both("mod", a, b)
            assert_within(there, here, FUNCTION_TOLERANCE[here.dtype.name], (left, right))
            # Large powers magnify the rounding of the base's logarithm.
            there, here = both("pow", np.abs(a), np.clip(b, -3, 3).astype(b.dtype))
            assert_within(there, here, 8 * FUNCTION_TOLERANCE[here.dtype.name], (left, right))


@pytest.mark.parametrize("dtype", TYPES[:-1], ids=str)
def test_angles_and_real_powers(dtype: ndd.DType) -> None:
    a, b = values(dtype, 10), values(dtype, 11)
    for name, x, y in (
        ("atan2", a, b),
        ("fpow", np.abs(np.clip(a, 0, 9)), np.clip(b, 0, 3)),
    ):
        there, here = both(name, x.astype(dtype.numpy), y.astype(dtype.numpy))
        assert_within(there, here, 8 * FUNCTION_TOLERANCE[here.dtype.name], (name, dtype))


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operations(name: str) -> None:
    integers = [dtype for dtype in TYPES if dtype.kind is not ndd.DType.Kind.float]
    for left, right in itertools.product(integers, integers):
        assert_same(*both(name, values(left, 6), values(right, 7)), (name, left, right))


@pytest.mark.parametrize("dtype", TYPES[:-1], ids=str)
def test_unary_functions(dtype: ndd.DType) -> None:
    x = values(dtype, 8)
    for name in ("plus", "minus", "abs"):
        assert_same(*both(name, x), (name, dtype))
    if dtype.kind is not ndd.DType.Kind.float:
        assert_same(*both("bitnot", x), dtype)
    small = np.clip(x, 0, 1) if dtype.kind is not ndd.DType.Kind.float else np.tanh(x)
    for name in FUNCTIONS:
        argument = small.astype(dtype.numpy) if name in ("asin", "acos", "atanh") else x
        if name in ("sinh", "cosh"):
            # Close to where they overflow, torch's functions do so earlier.
            argument = np.clip(x, 0, 80).astype(dtype.numpy)
        with np.errstate(all="ignore"):
            there, here = both(name, argument)
        # Far from zero, libraries differ in how they reduce angles.
        assert_within(there, here, 4 * FUNCTION_TOLERANCE[here.dtype.name], (name, dtype))


def test_clamp() -> None:
    for dtype in TYPES[:-1]:
        x = values(dtype, 9)
        assert_same(*both("clamp", x, dtype.numpy.type(3), dtype.numpy.type(17)), dtype)


def test_broadcasting() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 1, 3)).astype(np.float32), rng.normal(size=(5, 1)).astype(np.float32)
    assert_same(*both("add", a, b))
    ragged = [rng.normal(size=(n, 2)).astype(np.float32) for n in (3, 1, 4)]
    others = [rng.normal(size=n).astype(np.float32) for n in (2, 1, 2)]
    here = ndd.batch(ragged) * ndd.batch(others)
    there = ndd.batch(ragged, device="gpu") * ndd.batch(others, device="gpu")
    assert there.shape == here.shape
    for x, y in zip(there, here, strict=True):
        assert_same(x.cpu(), y)
    one = ndd.tensor(others[0], device="gpu") - ndd.batch(ragged, device="gpu")
    for x, y in zip(one, ndd.tensor(others[0]) - ndd.batch(ragged), strict=True):
        assert_same(x.cpu(), y)
    with pytest.raises(ValueError, match=r"operator \+: .*\(2,\) and \(3,\) cannot be broadcast"):
        (ndd.tensor([1, 2], device="gpu") + ndd.tensor([1, 2, 3], device="gpu")).evaluate()
    with pytest.raises(TypeError, match="operator &"):
        ndd.tensor([1.0], device="gpu") & 1


def test_division_by_zero_gives_zero() -> None:
    x = ndd.tensor([7, -7], device="gpu")
    assert_same((x // 0).cpu(), np.zeros(2, np.int32))
    assert_same((x % 0).cpu(), np.zeros(2, np.int32))


def test_numbers_need_no_transfer(monkeypatch: pytest.MonkeyPatch) -> None:
    from daliesque._gpu import accelerator

    x = ndd.tensor([1, 2], device="gpu").evaluate()
    monkeypatch.delattr(accelerator.Accelerator, "upload")
    assert_same((x * 3 + 1).cpu(), np.array([4, 7], np.int32))
    assert_same((x * -0.5).cpu(), np.array([-0.5, -1.0], np.float32))
