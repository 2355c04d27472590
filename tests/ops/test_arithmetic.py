# SPDX-License-Identifier: Apache-2.0
"""The functions of daliesque.math: values of mathematics, signatures, kinds of operands."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import (
    FUNCTION_TOLERANCE,
    FUNCTION_UNITS,
    assert_same,
    assert_units,
    assert_within,
)
from support.instruction_sets import use_instructions

Array = NDArray[Any]

SAME_NAME = "sqrt exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh atanh".split()
ARGUMENTS = np.array([0.0625, 0.125, 0.25, 0.3, 0.5, 0.75, 0.9], np.float64)


@pytest.mark.parametrize("name", SAME_NAME)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_one_number(name: str, dtype: str) -> None:
    function: Callable[[float], float] = getattr(math, name)
    arguments = ARGUMENTS.astype(dtype)
    expected = np.array([function(float(x)) for x in arguments]).astype(dtype)
    assert_within(
        np.asarray(getattr(ndd.math, name)(arguments)), expected, FUNCTION_TOLERANCE[dtype]
    )


# NumPy's names, and how large arguments may be without an overflow in float32.
FUNCTIONS = {
    **dict.fromkeys(["exp", "sinh", "cosh"], 85.0),
    **dict.fromkeys(["log", "log2", "log10", "sin", "cos", "tan", "tanh", "cbrt"], 1e30),
    **dict.fromkeys(["asin", "acos", "atanh"], 1.0),
    **dict.fromkeys(["atan", "asinh", "acosh"], 1e30),
}
# The same for float64.
LARGE = {
    **dict.fromkeys(["exp", "sinh", "cosh"], 709.7),
    **dict.fromkeys(["log", "log2", "log10", "tanh", "cbrt", "atan", "asinh", "acosh"], 1e300),
}
EDGES = [0.0, 1.0, 0.5, 2.0, 1e-45, 1e-40, 1e-10, 0.7071067811865476, 100.0, 1000.0, 710.0]


def numbers_up_to(limit: float, dtype: str) -> Array:
    """Numbers of all magnitudes and both signs, edges of domains, infinities and NaN."""
    rng = np.random.default_rng(5)
    evenly = rng.uniform(0, min(limit, 50), 20_000)
    magnitudes = np.exp2(rng.uniform(-60, math.log2(limit) if limit > 1 else 0, 20_001))
    # Next to the limit, where parts of results could overflow.
    magnitudes[:2_000] = rng.uniform(0.95, 1, 2_000) * limit
    positive = np.concatenate([evenly, magnitudes, EDGES, [math.inf]])
    return np.concatenate([positive, -positive, [math.nan]]).astype(dtype)


def in_wide_arithmetic(name: str, *operands: Array) -> Array:
    """What NumPy finds with more bits, rounded once."""
    names = {"a" + f: "arc" + f for f in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
    wide = np.float64 if operands[0].dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        found = getattr(np, names.get(name, name))(*(x.astype(wide) for x in operands))
        return np.asarray(found.astype(operands[0].dtype))


def units_for(dtype: str) -> int:
    """Where there are no more bits than those of float64, NumPy errs as well."""
    exact = dtype == "float32" or np.finfo(np.longdouble).nmant > 52
    return FUNCTION_UNITS if exact else FUNCTION_UNITS + 1


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_err_by_one_unit_at_most(name: str, dtype: str) -> None:
    limits = FUNCTIONS | LARGE if dtype == "float64" else FUNCTIONS
    arguments = numbers_up_to(limits[name], dtype)
    expected = in_wide_arithmetic(name, arguments)
    results = []
    for instructions in ("vector", "avx2", "portable"):
        with use_instructions(instructions):
            results.append(np.asarray(getattr(ndd.math, name)(arguments)))
        assert_units(results[-1], expected, units_for(dtype), (name, instructions))
    for result in results[1:]:
        assert_same(result, results[0], name)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_do_not_depend_on_neighbors(name: str, dtype: str) -> None:
    """Values that take a slower way do so one by one, or with the rest of their block."""
    special = numbers_up_to(1e30, dtype)[::97]
    function = getattr(ndd.math, name)
    alone = np.asarray(function(special))
    among = np.full((len(special), 300), 1.25 if name == "acosh" else 0.25, dtype)
    among[:, 77] = special
    assert_same(np.asarray(function(among))[:, 77], alone, name)
    assert_units(alone, in_wide_arithmetic(name, special), units_for(dtype), name)
    assert_same(np.asarray(function(special[:0])), special[:0], name)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("log10", ["0x1.554356p+0", "0x1.66edcep+0"]),
        ("asin", ["0x1.14d4cap-1", "0x1.16cbf4p-1"]),
        ("asinh", ["0x1.14b388p-1", "0x1.18a8aap+0", "0x1.28f7cap+0"]),
        ("atanh", ["0x1.fffffep-1", "0x1.ffffep-1", "0x1.ffffe2p-1"]),
        ("cosh", ["0x1.00171ep+3", "0x1.fe515p+2"]),
        ("tan", ["0x1.2efa28p+1", "0x1.50f76cp+16"]),
    ],
)
def test_numbers_next_to_the_limit_of_error(name: str, numbers: list[str]) -> None:
    """Of all numbers of float32, these are among the hardest."""
    arguments = np.array([float.fromhex(number) for number in numbers], np.float32)
    found = np.asarray(getattr(ndd.math, name)(arguments))
    assert_units(found, in_wide_arithmetic(name, arguments), FUNCTION_UNITS, name)


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"acosh"}))
def test_zeros_keep_their_sign(name: str) -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for dtype in (np.float32, np.float64):
        found = np.asarray(getattr(ndd.math, name)(zeros.astype(dtype)))
        expected = in_wide_arithmetic(name, zeros.astype(dtype))
        assert np.array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_two_numbers(dtype: str) -> None:
    rng = np.random.default_rng(6)
    angles = numbers_up_to(1e30, dtype)
    pairs = {
        "atan2": (angles, rng.permutation(angles)),
        "pow": (np.abs(numbers_up_to(100, dtype)), rng.uniform(-12, 12, 80_027).astype(dtype)),
    }
    if dtype == "float64":
        # The largest and smallest results that there are.
        pairs["fpow"] = (np.exp2(rng.uniform(-1000, 1000, 80_000)), rng.uniform(-1.1, 1.1, 80_000))
    for name, (left, right) in pairs.items():
        left, right = left[:80_000], right[:80_000]
        expected = in_wide_arithmetic({"atan2": name}.get(name, "power"), left, right)
        results = []
        for instructions in ("vector", "avx2", "portable"):
            with use_instructions(instructions):
                results.append(np.asarray(getattr(ndd.math, name)(left, right)))
            assert_units(results[-1], expected, units_for(dtype), (name, instructions))
        assert_same(results[1], results[0], name)
        assert_same(results[2], results[0], name)


def test_functions_that_numpy_names_otherwise() -> None:
    values = np.array([1.0, 1.5, 8.0, 27.0], np.float64)
    assert_within(
        np.asarray(ndd.math.cbrt(values)), values ** (1 / 3), FUNCTION_TOLERANCE["float64"]
    )
    assert_within(ndd.math.rsqrt(values), values**-0.5, FUNCTION_TOLERANCE["float64"])
    expected = np.array([math.acosh(x) for x in values])
    assert_within(ndd.math.acosh(values), expected, FUNCTION_TOLERANCE["float64"])


def test_rounding_functions() -> None:
    values = np.array([-2.5, -0.5, 0.5, 2.5, 1e9], np.float32)
    assert_same(np.asarray(ndd.math.floor(values)), np.floor(values))
    assert_same(np.asarray(ndd.math.ceil(values)), np.ceil(values))
    assert_same(np.asarray(ndd.math.fabs(values)), np.abs(values))


def test_edges_of_domains() -> None:
    def of(name: str, *values: float) -> list[float]:
        return np.asarray(getattr(ndd.math, name)(np.array(values, np.float32))).tolist()

    assert of("log", 0.0, 1.0) == [-math.inf, 0.0]
    assert of("rsqrt", 0.0, math.inf, 4.0) == [math.inf, 0.0, 0.5]
    assert all(math.isnan(x) for x in of("sqrt", -1.0, math.nan))
    assert all(math.isnan(x) for x in of("acos", 1.5, -1.5))
    assert of("atanh", 1.0, -1.0) == [math.inf, -math.inf]
    assert math.copysign(1, of("abs", -0.0)[0]) == -1
    assert math.copysign(1, of("fabs", -0.0)[0]) == 1


def test_minimum_and_maximum_with_nan_take_the_second() -> None:
    left, right = np.array([np.nan, 1], np.float32), np.array([1, np.nan], np.float32)
    for function in (ndd.math.min, ndd.math.max):
        assert_same(np.asarray(function(left, right)), right)


def test_clamp() -> None:
    values = np.array([-5, 0.5, 7, np.nan], np.float32)
    clamped = np.asarray(ndd.math.clamp(values, 0, 1))
    assert_same(clamped, np.array([0, 0.5, 1, np.nan], np.float32))
    # The upper limit has the last word.
    assert np.asarray(ndd.math.clamp([1, 5, 9], 7, 2)).tolist() == [2, 2, 2]


def test_powers() -> None:
    assert np.asarray(ndd.math.pow([2, 3, -2, 2], [3, 2, 3, -1])).tolist() == [8, 9, -8, 0]
    assert np.asarray(ndd.math.fpow(2, [-1, 10])).tolist() == [0.5, 1024.0]
    assert ndd.math.fpow(2, 3).dtype == ndd.float32
    assert np.asarray(ndd.math.pow([2.0, 9.0], 0.5)).tolist() == pytest.approx([2**0.5, 3.0])


def test_atan2_takes_the_sine_side_first() -> None:
    angle = np.asarray(ndd.math.atan2([1.0, -1.0], [0.0, -1.0])).tolist()
    assert angle == pytest.approx([math.pi / 2, -3 * math.pi / 4])


def test_kinds_of_operands_and_results() -> None:
    assert isinstance(ndd.math.sqrt(4), ndd.Tensor)
    assert isinstance(ndd.math.sqrt(ndd.batch([1.0, 4.0])), ndd.Batch)
    assert isinstance(ndd.math.max(3, ndd.batch([1.0, 4.0])), ndd.Batch)
    result = ndd.math.clamp(ndd.batch([1, 5]), ndd.tensor(2), ndd.batch([9, 3]))
    assert [np.asarray(sample).item() for sample in result.tensors] == [2, 3]


@pytest.mark.parametrize("name", ndd.math.__all__)
def test_operands_go_by_position_or_name(name: str) -> None:
    function = getattr(ndd.math, name)
    parameters = inspect.signature(function).parameters
    one = np.ones(3, np.float32)
    by_name = function(**dict.fromkeys(parameters, one))
    by_position = function(*(one for _ in parameters))
    assert_same(np.asarray(by_name), np.asarray(by_position))
