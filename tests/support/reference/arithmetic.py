# SPDX-License-Identifier: Apache-2.0
"""The rules of arithmetic and type conversion in plain NumPy and Python integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.dtype(f"{sign}{size}") for sign in "ui" for size in (1, 2, 4, 8)]
FLOATS = [np.dtype("f2"), BFLOAT16, np.dtype("f4"), np.dtype("f8")]
TYPES = [np.dtype(bool), *INTEGERS, *FLOATS]

UNARY = (
    "minus bitnot abs fabs sqrt rsqrt cbrt exp log log2 log10 floor ceil sin cos tan asin acos "
    "atan sinh cosh tanh asinh acosh atanh"
).split()
COMPARISONS = "eq neq lt leq gt geq".split()
BITWISE = "bitand bitor bitxor lshift rshift".split()
BINARY = [*"add sub mul fdiv div mod min max pow fpow atan2".split(), *COMPARISONS, *BITWISE]
# Results that depend on a library function are compared with a tolerance.
INEXACT = set(
    "cbrt exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "pow fpow atan2".split()
)
_GIVES_REAL = (set(UNARY) - {"minus", "bitnot", "abs"}) | {"fdiv", "fpow", "atan2"}


def is_float(dtype: np.dtype[Any]) -> bool:
    return dtype in FLOATS


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which two types meet."""
    if a == b or b.kind == "b":
        return a
    if a.kind == "b":
        return b
    if is_float(a) and is_float(b):
        if a.itemsize == b.itemsize:
            return np.dtype("f4")
        return max(a, b, key=lambda t: t.itemsize)
    if is_float(a) or is_float(b):
        return a if is_float(a) else b
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.itemsize)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    return np.dtype(f"i{min(8, max(signed.itemsize, 2 * unsigned.itemsize))}")


def result_type(name: str, *types: np.dtype[Any]) -> np.dtype[Any]:
    """The type of the result; TypeError where the operation is not defined."""
    if (name in BITWISE or name == "bitnot") and any(is_float(t) for t in types):
        raise TypeError(name)
    arithmetic = name not in COMPARISONS and name not in BITWISE and name != "bitnot"
    if arithmetic and name != "mul" and all(t.kind == "b" for t in types):
        raise TypeError(name)
    if name in COMPARISONS:
        return np.dtype(bool)
    common = types[0]
    for other in types[1:]:
        common = promote(common, other)
    return np.dtype("f4") if name in _GIVES_REAL and not is_float(common) else common


def round_to_half(values: Array) -> Array:
    """Nearest float16, ties away from zero (NumPy rounds ties to even)."""
    wide = values.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        nearest = values.astype(np.float16)
        # From an even neighbor, a tie lies halfway to the neighbor of larger magnitude.
        larger = np.nextafter(nearest, np.copysign(np.float16(np.inf), wide.astype(np.float16)))
        middle = (nearest.astype(np.float64) + larger.astype(np.float64)) / 2
        tie = np.isfinite(larger) & (wide == middle)
    return np.where(tie, larger, nearest)


def _finish(values: Array, dtype: np.dtype[Any]) -> Array:
    if dtype == np.float16:
        return round_to_half(values.astype(np.float32))
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _wrap(values: Array, dtype: np.dtype[Any]) -> Array:
    """Python integers modulo 2^bits; booleans are true unless 0."""
    if dtype.kind == "b":
        return (values != 0).astype(bool)
    bits = 8 * dtype.itemsize
    wrapped = values % (1 << bits)
    if dtype.kind == "i":
        wrapped = wrapped - (wrapped >> (bits - 1)) * (1 << bits)
    return wrapped.astype(dtype)


def _exactly(values: Array) -> Array:
    """Python integers, which do not overflow."""
    return values.astype(int).astype(object) if values.dtype.kind == "b" else values.astype(object)


def _quotient(a: int, b: int) -> int:
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def _shift(a: int, b: int, bits: int, left: bool) -> int:
    if not 0 <= b < bits:
        return 0 if left or a >= 0 else -1
    return a << b if left else a >> b


def _integers(name: str, dtype: np.dtype[Any], operands: list[Array]) -> Array:
    bits = 8 * dtype.itemsize
    functions: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": _quotient,
        "mod": lambda a, b: a - _quotient(a, b) * b,
        "min": min,
        "max": max,
        "pow": lambda a, b: pow(a, b, 1 << bits) if b >= 0 else 0,
        "clamp": lambda value, lo, hi: min(max(value, lo), hi),
        "minus": lambda a: -a,
        "abs": abs,
        "bitnot": (lambda a: 1 - a) if dtype.kind == "b" else (lambda a: ~a),
        "bitand": lambda a, b: a & b,
        "bitor": lambda a, b: a | b,
        "bitxor": lambda a, b: a ^ b,
        "lshift": lambda a, b: _shift(a, b, bits, True),
        "rshift": lambda a, b: _shift(a, b, bits, False),
    }
    function = np.frompyfunc(functions[name], len(operands), 1)
    return _wrap(np.asarray(function(*operands), object), dtype)


_COMPARE: dict[str, Callable[..., Any]] = {
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "leq": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "geq": lambda a, b: a >= b,
}

_REAL: dict[str, Callable[..., Array]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
    "div": lambda a, b: a / b,
    "mod": np.fmod,
    "min": lambda a, b: np.where(a < b, a, b),
    "max": lambda a, b: np.where(a > b, a, b),
    "pow": np.power,
    "fpow": np.power,
    "atan2": np.arctan2,
    "minus": lambda a: -a,
    "abs": lambda a: np.where(a < 0, -a, a),
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


def _clamp(value: Array, lo: Array, hi: Array) -> Array:
    raised = np.where(value < lo, lo, value)
    return np.where(raised > hi, hi, raised)


def compute(name: str, *operands: Array) -> Array:
    """Apply an operation; TypeError where it is not defined for the types."""
    types = [operand.dtype for operand in operands]
    result = result_type(name, *types)
    with np.errstate(all="ignore"):
        if name in COMPARISONS:
            if any(is_float(t) for t in types):
                common = _computation(promote(*types))
                return _COMPARE[name](*(operand.astype(common) for operand in operands))
            return _COMPARE[name](*(_exactly(operand) for operand in operands)).astype(bool)
        if not is_float(result):
            # Operands are converted first, which matters for uint64 beyond int64.
            converted = [_exactly(operand.astype(result)) for operand in operands]
            return _integers(name, result, converted)
        common = _computation(result)
        if name == "mod" and is_float(types[0]) != is_float(types[1]):
            common = np.dtype("f8")
        converted = [operand.astype(common) for operand in operands]
        if name in INEXACT:
            converted = [operand.astype(np.float64) for operand in converted]
        function = _clamp if name == "clamp" else _REAL.get(name) or getattr(np, name)
        return _finish(np.asarray(function(*converted)), result)


def _computation(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype("f4") if is_float(dtype) and dtype.itemsize == 2 else dtype


def cast(values: Array, dtype: np.dtype[Any]) -> Array:
    """Convert: round half away from zero, clamp to the range, NaN to 0 (and to true)."""
    if is_float(dtype):
        with np.errstate(over="ignore"):
            through = values.astype(np.float32) if dtype.itemsize == 2 else values
            return _finish(through, dtype)
    if is_float(values.dtype):
        wide = values.astype(np.float64)
        rounded = np.copysign(np.floor(np.abs(wide)), wide)
        with np.errstate(invalid="ignore"):
            rounded += np.where(np.abs(wide - rounded) >= 0.5, np.sign(wide), 0)
        if dtype.kind == "b":
            return rounded != 0
        limits = np.iinfo(dtype)
        exact = [
            0 if v != v else limits.max if v >= limits.max else int(max(v, limits.min))
            for v in rounded.ravel().tolist()
        ]
        return np.array(exact, object).reshape(values.shape).astype(dtype)
    if dtype.kind == "b":
        return values != 0
    exact_values = _exactly(values)
    limits = np.iinfo(dtype)
    clamped = [min(max(v, limits.min), limits.max) for v in exact_values.ravel().tolist()]
    return np.array(clamped, object).reshape(values.shape).astype(dtype)
