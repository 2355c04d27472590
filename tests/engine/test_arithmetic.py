# SPDX-License-Identifier: Apache-2.0
"""Operators on tensors and batches against plain NumPy."""

from __future__ import annotations

import operator as op
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings

import daliesque as ndd
from support.arithmetic_calls import call, operands_for, sample_values
from support.compare import FUNCTION_TOLERANCE, assert_same, assert_within
from support.reference.arithmetic import BINARY, INEXACT, TYPES, UNARY, compute, is_float, promote

TYPE_PAIRS = [(a, b) for a in TYPES for b in TYPES]


def check(name: str, operands: list[Any]) -> None:
    """Compare one operation with the reference, or see it refused for the same types."""
    types = [operand.dtype for operand in operands]
    context = (name, *map(str, types))
    tensors = [ndd.as_tensor(operand) for operand in operands]
    try:
        expected = compute(name, *operands)
    except TypeError:
        with pytest.raises(TypeError, match="operand"):
            call(ndd, name, *tensors)
        return
    actual = call(ndd, name, *tensors)
    assert actual.dtype == ndd.dtype(expected.dtype), context
    if name in INEXACT and is_float(expected.dtype):
        tolerance = FUNCTION_TOLERANCE[expected.dtype.name]
        assert_within(np.asarray(actual), expected, tolerance, context)
    else:
        assert_same(np.asarray(actual), expected, context)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.usefixtures("instruction_set")
def test_binary_operations_on_all_types(name: str) -> None:
    for types in TYPE_PAIRS:
        check(name, operands_for(name, *types))


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.usefixtures("instruction_set")
def test_unary_operations_on_all_types(name: str) -> None:
    for dtype in TYPES:
        check(name, operands_for(name, dtype))


@pytest.mark.usefixtures("instruction_set")
def test_clamp_on_all_types() -> None:
    for a, b in TYPE_PAIRS:
        check("clamp", operands_for("clamp", a, b, b))
        check("clamp", operands_for("clamp", a, a, b))


@pytest.mark.parametrize("shift", [-1, 31, 32, 33, 63, 64, 100])
def test_shifting_out_all_bits(shift: int) -> None:
    for dtype in (np.uint32, np.int32, np.uint64, np.int64):
        if shift < 0 and np.iinfo(dtype).min == 0:
            continue
        values = sample_values(np.dtype(dtype))
        counts = np.full_like(values, shift)
        check("lshift", [values, counts])
        check("rshift", [values, counts])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8"])
def test_lowest_number_divided_by_minus_one_wraps(dtype: str) -> None:
    lowest = np.full(20, np.iinfo(dtype).min, dtype)
    check("div", [lowest, np.full(20, -1, dtype)])
    check("mod", [lowest, np.full(20, -1, dtype)])


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "?"])
@pytest.mark.parametrize("name", ["div", "mod"])
def test_integer_division_by_zero_names_the_sample(name: str, dtype: str) -> None:
    divisors = [np.ones(100, dtype) for _ in range(3)]
    divisors[2][77] = 0
    numbers = ndd.batch([np.ones(100, np.int32)] * 3)
    symbol = "//" if name == "div" else "%"
    with pytest.raises(ValueError, match=f"{symbol}: integer division by zero .sample 2"):
        call(ndd, name, numbers, ndd.batch(divisors)).evaluate()


def test_floating_point_division_by_zero() -> None:
    values = ndd.tensor([1.0, -1.0, 0.0])
    assert_same((values / 0).cpu(), np.array([np.inf, -np.inf, np.nan], np.float32))
    assert_same((values // 0).cpu(), np.array([np.inf, -np.inf, np.nan], np.float32))
    assert_same((values % 0).cpu(), np.full(3, np.nan, np.float32))
    assert_same((ndd.tensor([1]) / 0).cpu(), np.array([np.inf], np.float32))


def test_division_truncates_towards_zero() -> None:
    numbers, divisors = ndd.tensor([7, -7, 7, -7]), ndd.tensor([2, 2, -2, -2])
    assert np.asarray(numbers // divisors).tolist() == [3, -3, -3, 3]
    assert np.asarray(numbers % divisors).tolist() == [1, -1, 1, -1]
    assert np.asarray(ndd.tensor([7.0, -7.0]) // 2).tolist() == [3.5, -3.5]


def test_python_numbers_have_32_bits() -> None:
    small = ndd.tensor(np.array([1, 2], np.uint8))
    for value, dtype in (
        (1, ndd.int32),
        (1.5, ndd.float32),
        ([1, 2], ndd.int32),
        (True, ndd.uint8),
    ):
        assert (small + value).dtype == dtype
        assert (value + small).dtype == dtype
    assert (small + np.float64(1)).dtype == ndd.float64
    assert (small + np.int64(1)).dtype == ndd.int64
    assert (ndd.tensor(np.array([1], np.int64)) * 1.5).dtype == ndd.float32


def test_operators_with_the_tensor_on_the_right() -> None:
    values = ndd.tensor([1, 2, 4])
    assert np.asarray(10 - values).tolist() == [9, 8, 6]
    assert np.asarray(8 // values).tolist() == [8, 4, 2]
    assert np.asarray(2**values).tolist() == [2, 4, 16]
    assert np.asarray(9 % values).tolist() == [0, 1, 1]
    assert np.asarray(1 << values).tolist() == [2, 4, 16]
    assert np.asarray(3 > values).tolist() == [True, True, False]
    assert np.asarray(np.array([10, 20, 30]) - values).tolist() == [9, 18, 26]
    assert np.asarray([5, 5, 5] & values).tolist() == [1, 0, 4]
    assert np.asarray(1.0 / values).tolist() == [1.0, 0.5, 0.25]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32", "int64"])
@pytest.mark.parametrize("constant", [-(2**40), -129, -1, 0, 1, 127, 128, 255, 256, 2**31, 2**40])
def test_comparison_with_constants_in_and_out_of_range(dtype: str, constant: int) -> None:
    limits = np.iinfo(dtype)
    numbers = [limits.min, limits.min + 1, 0, 1, 127, limits.max - 1, limits.max]
    values = np.array(numbers, dtype)
    tensor, other = ndd.tensor(values), ndd.tensor(np.int64(constant))
    for compare in (op.lt, op.le, op.gt, op.ge, op.eq, op.ne):
        assert np.asarray(compare(tensor, other)).tolist() == [
            compare(number, constant) for number in numbers
        ]
        assert np.asarray(compare(other, tensor)).tolist() == [
            compare(constant, number) for number in numbers
        ]


def test_comparison_of_negative_integers_with_floats() -> None:
    numbers = ndd.tensor([-5, -5, -5])
    others = ndd.tensor([-10.0, -5.0, 3.0])
    assert np.asarray(numbers < others).tolist() == [False, False, True]
    assert np.asarray(numbers == others).tolist() == [False, True, False]
    assert np.asarray(others >= numbers).tolist() == [False, True, True]


@settings(max_examples=200, deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=6, max_side=5))
def test_broadcasting_two_operands(shapes: hnp.BroadcastableShapes) -> None:
    a, b = (np.arange(np.prod(s, dtype=int)).reshape(s) for s in shapes.input_shapes)
    for x, y in (("i4", "i4"), ("u1", "f4")):
        left, right = a.astype(x), b.astype(y)
        assert_same(np.asarray(ndd.as_tensor(left) - ndd.as_tensor(right)), left - right)


@settings(max_examples=100, deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=5, max_side=4))
def test_broadcasting_three_operands(shapes: hnp.BroadcastableShapes) -> None:
    a, b, c = (np.arange(np.prod(s, dtype=int)).reshape(s) for s in shapes.input_shapes)
    operands = [a.astype("u1"), b.astype("i2"), (c * 2).astype("f4")]
    actual = ndd.math.clamp(*(ndd.as_tensor(operand) for operand in operands))
    assert_same(np.asarray(actual), compute("clamp", *operands))


@pytest.mark.parametrize(
    "shape",
    [(3,), (1,), (), (500, 1), (1, 3), (700, 1, 1), (700, 1, 3), (500, 3), (700, 500, 1)],
)
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
def test_broadcasting_large_images(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(3)
    image = rng.integers(0, 256, (700, 500, 3)).astype(np.uint8)
    other = rng.integers(0, 256, shape).astype(dtype)
    for left, right in ((image, other), (other, image)):
        actual = ndd.as_tensor(left) - ndd.as_tensor(right)
        common = promote(left.dtype, right.dtype)
        assert_same(np.asarray(actual), left.astype(common) - right.astype(common))


def test_slow_functions_of_bytes() -> None:
    image = np.random.default_rng(4).integers(0, 256, (60, 70, 3))
    for dtype in ("u1", "i1"):
        values = image.astype(dtype)
        check("exp", [values])
        check("pow", [values, np.float32(2.5)])
        check("pow", [values, np.array([[[3]]], np.uint8)])
        check("atan2", [np.float64(0.25), values])


def test_batches_of_different_shapes() -> None:
    arrays = [np.arange(n, dtype=np.uint8) for n in (2, 0, 5)]
    batch = ndd.batch(arrays)
    for other in (np.int16(3), np.array([3], np.int16)):
        result = batch * ndd.tensor(other)
        assert isinstance(result, ndd.Batch)
        for sample, array in zip(result.tensors, arrays, strict=True):
            assert_same(np.asarray(sample), array.astype(np.int16) * np.int16(3))
    gains = ndd.batch([np.float32(i) for i in range(3)])
    for i, sample in enumerate((gains - batch).tensors):
        assert_same(np.asarray(sample), np.float32(i) - arrays[i].astype(np.float32))
    total = batch + batch
    for sample, array in zip(total.tensors, arrays, strict=True):
        assert_same(np.asarray(sample), array + array)


def test_shapes_that_do_not_broadcast() -> None:
    batch = ndd.batch([np.zeros(2), np.zeros(3)])
    with pytest.raises(ValueError, match=r"\(3,\) and \(2,\) cannot be broadcast.*sample 1"):
        (batch + ndd.tensor([1.0, 2.0])).evaluate()
    with pytest.raises(ValueError, match="batch size"):
        batch + ndd.batch([1, 2, 3])


def test_layout_of_the_result() -> None:
    image = ndd.tensor(np.zeros((2, 2, 3)), layout="HWC")
    plain = ndd.tensor(np.zeros((2, 2, 3)))
    assert (image + plain).layout == "HWC"
    assert (plain + image).layout == "HWC"
    assert (image + ndd.tensor(np.zeros((2, 3)), layout="WC")).layout == "HWC"
    assert (image < 1).layout == "HWC"
    assert (-image).layout == "HWC"
    # Nothing says what the outer axes of the result mean.
    assert (plain + ndd.tensor(np.zeros(3), layout="C")).layout is None
    with pytest.raises(ValueError, match='"HWC" and "HW" contradict'):
        (image + ndd.tensor(np.zeros((2, 3)), layout="HW")).evaluate()


def test_views_are_operands_too() -> None:
    values = ndd.tensor(np.arange(24).reshape(4, 6))
    view = values[::2, 1::2]
    assert_same(np.asarray(view + view), np.arange(24).reshape(4, 6)[::2, 1::2] * 2)


def test_operands_are_left_alone() -> None:
    array = np.arange(6, dtype=np.float32)
    values = ndd.as_tensor(array)
    (values * 2).evaluate()
    (-values).evaluate()
    assert_same(array, np.arange(6, dtype=np.float32))


@pytest.mark.parametrize("other", ["text", b"bytes", {}, {1}])
def test_things_that_are_no_operands(other: object) -> None:
    with pytest.raises(TypeError):
        ndd.tensor([1]) + other
    with pytest.raises(TypeError, match=r"math.sqrt: operands must be"):
        ndd.math.sqrt(other)


def test_enums_do_no_arithmetic() -> None:
    kinds = ndd.cast(ndd.tensor([1, 2]), dtype=ndd.InterpType)
    with pytest.raises(TypeError, match="numbers or booleans"):
        kinds + 1


def test_results_larger_than_the_caches() -> None:
    rng = np.random.default_rng(7)
    # Odd sizes, so that samples start anywhere within a cache line.
    images = [rng.integers(0, 256, (1501, 2003), np.uint8) for _ in range(3)]
    result = ndd.batch(images) * 1.5 - ndd.batch(images)
    for sample, image in zip(result.tensors, images, strict=True):
        values = image.astype(np.float32)
        assert_same(np.asarray(sample), values * np.float32(1.5) - values)


def test_zeros_keep_their_sign() -> None:
    for number in (0.0, -0.0, 0, 0.0):
        product = np.asarray(ndd.tensor([1.0]) * number)
        assert np.signbit(product[0]) == np.signbit(np.float32(number))


@pytest.mark.usefixtures("instruction_set")
def test_small_results_of_large_operands() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(size=7_000_003).astype(np.float32)
    values[::5] = 0.5
    result = ndd.as_tensor(values)
    assert_same(np.asarray(result > 0.5), values > np.float32(0.5))
    assert_same(np.asarray(result[1:] == result[:-1]), values[1:] == values[:-1])


@pytest.mark.parametrize("period", [1, 1023, 1024, 1025, 4095, 4096, 4097])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
def test_periods_as_long_as_blocks(period: int, dtype: str) -> None:
    rng = np.random.default_rng(9)
    values = rng.integers(0, 9, (5, period)).astype(dtype)
    row = rng.integers(0, 9, period).astype(dtype)
    assert_same(np.asarray(ndd.as_tensor(values) < row), values < row)
    expected = values.astype(np.float64) + row.astype(np.float64)
    assert_same(np.asarray(ndd.as_tensor(values) + row.astype(np.float64)), expected)
