# SPDX-License-Identifier: Apache-2.0
"""Fit the polynomials of `src/kernels/tensor/function_polynomials.h`, and print that file.

    python tools/fit_functions.py > src/kernels/tensor/function_polynomials.h

Needs mpmath, which torch brings along. Each polynomial stands for what is left of a function when
the first terms of its series, which are computed apart, are taken away. Most have two: a short one
for float32 and a long one for float64.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
from mpmath import mpf

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Polynomials behind the functions in functions32.simd.h and functions64.simd.h, from the lowest
// power on. Written by tools/fit_functions.py.
#pragma once

namespace daliesque::tensor {
"""

Function = Callable[[Any], Any]


class Fit(NamedTuple):
    """A polynomial of so many terms for a function in an interval."""

    dtype: str
    meaning: str
    function: Function
    low: Any
    high: Any
    terms: int


def rest_of_exp(x: Any) -> Any:
    return (mpmath.expm1(x) - x) / x**2 if abs(x) > 1e-12 else mpf(1) / 2 + x / 6


def exp_twice(x: Any) -> Any:
    return mpmath.expm1(2 * x) / x if abs(x) > 1e-12 else 2 + 2 * x


def exp2(x: Any) -> Any:
    two = mpmath.log(2)
    return (mpf(2) ** x - 1) / x if abs(x) > 1e-12 else two + two**2 / 2 * x


def slope_of_log(f: Any) -> Any:
    """log(1 + f) / f."""
    return mpmath.log(1 + f) / f if abs(f) > 1e-14 else 1 - f / 2


def rest_of_log(f: Any) -> Any:
    return (mpmath.log(1 + f) - f) / f**2 if abs(f) > 1e-12 else f / 3 - mpf(1) / 2


def odd_rest(function: Function) -> Function:
    """What an odd function that is x at first leaves, as a function of x^2."""

    def rest(z: Any) -> Any:
        x = mpmath.sqrt(z)
        return (function(x) - x) / x**3

    return rest


def rest_of_log_ratio(z: Any) -> Any:
    return 2 * odd_rest(mpmath.atanh)(z)


def rest_of_cos(z: Any) -> Any:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def rest_of_cosh(z: Any) -> Any:
    return (mpmath.cosh(mpmath.sqrt(z)) - 1) / z


def rest_of_acosh(x: Any) -> Any:
    return (mpmath.acosh(1 + x) / mpmath.sqrt(2 * x) - 1) / x


def rest_of_log2_ratio(z: Any) -> Any:
    return 2 / mpmath.log(2) * (odd_rest(mpmath.atanh)(z) - mpf(1) / 3) / z


def both(meaning: str, function: Function, low: Any, high: Any, short: int, long: int) -> list[Fit]:
    return [
        Fit("float32", meaning, function, low, high, short),
        Fit("float64", meaning, function, low, high, long),
    ]


def polynomials() -> dict[str, list[Fit]]:
    """What each name stands for; intervals are a little wider than needed."""
    tiny, wider = mpf("1e-12"), mpf("1.0001")
    half_log2 = mpmath.log(2) / 2 * wider
    below, above = (mpmath.sqrt(mpf(1) / 2) - 1) * wider, (mpmath.sqrt(2) - 1) * wider
    widest = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * wider
    quarter = (mpmath.pi / 4) ** 2 * wider
    eighth = mpmath.tan(mpmath.pi / 8) ** 2 * wider

    def log2_rest(f: Any) -> Any:
        return slope_of_log(f) / mpmath.log(2) - 1

    def log10_rest(f: Any) -> Any:
        return slope_of_log(f) / mpmath.log(10) - mpf(1) / 2

    def odd(name: str, high: Any, short: int, long: int) -> list[Fit]:
        function = odd_rest(getattr(mpmath, name))
        return both(f"({name}(x) - x) / x^3 of x^2", function, tiny, high, short, long)

    log_ratio = "(log((1 + s) / (1 - s)) - 2s) / s^3 of s^2"
    log2_ratio = "(log2((1 + s) / (1 - s)) - (2s + 2/3 s^3) / log(2)) / s^5 of s^2"
    cosine = "(cos(x) - 1 + x^2 / 2) / x^4 of x^2"
    sine_and_tangent = {
        "Sin": odd("sin", quarter, 3, 6),
        "Cos": both(cosine, rest_of_cos, tiny, quarter, 3, 6),
        "Tan": odd("tan", quarter, 7, 15),
    }
    return {
        "Exp": both("(exp(x) - 1 - x) / x^2", rest_of_exp, -half_log2, half_log2, 5, 10),
        "ExpTwice": both("(exp(2x) - 1) / x", exp_twice, -half_log2 / 2, half_log2 / 2, 6, 11),
        "Exp2": [Fit("float32", "(2^x - 1) / x", exp2, -mpf("0.5001"), mpf("0.5001"), 7)],
        "Log": [
            Fit("float32", "(log(1 + x) - x) / x^2", rest_of_log, below, above, 9),
            Fit("float64", log_ratio, rest_of_log_ratio, tiny, widest, 8),
        ],
        "Log2": [Fit("float32", "log2(1 + x) / x - 1", log2_rest, below, above, 10)],
        "Log10": [Fit("float32", "log10(1 + x) / x - 1/2", log10_rest, below, above, 10)],
        "Pow": [Fit("float32", log2_ratio, rest_of_log2_ratio, tiny, widest, 3)],
        **sine_and_tangent,
        "Atan": [odd("atan", mpf(1), 9, 0)[0], odd("atan", eighth, 0, 11)[1]],
        "Asin": odd("asin", mpf("0.25001"), 6, 13),
        "Sinh": odd("sinh", half_log2**2, 3, 5),
        "Cosh": both("(cosh(x) - 1) / x^2 of x^2", rest_of_cosh, tiny, half_log2**2, 3, 5),
        "Tanh": [odd("tanh", mpf("0.3026"), 5, 0)[0], odd("tanh", mpf("0.4226"), 0, 12)[1]],
        "Asinh": odd("asinh", mpf("0.5626"), 8, 0)[:1],
        "Acosh": [
            Fit("float32", "(acosh(1 + x) / sqrt(2x) - 1) / x", rest_of_acosh, tiny, mpf("0.5"), 5)
        ],
        "Atanh": odd("atanh", mpf("0.1112"), 5, 0)[:1],
    }


def literal(value: Any, dtype: str) -> str:
    if dtype == "float64":
        return float(value).hex()
    (rounded,) = struct.unpack("f", struct.pack("f", float(value)))
    mantissa, exponent = float(rounded).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}f"


def array(fit: Fit) -> str:
    coefficients, error = mpmath.chebyfit(fit.function, [fit.low, fit.high], fit.terms, error=True)
    values = ", ".join(literal(value, fit.dtype) for value in reversed(coefficients))
    bits = int(-mpmath.log(error, 2))
    kind = {"float32": "float", "float64": "double"}[fit.dtype]
    return (
        f"  // {fit.meaning}, wrong by less than 2^-{bits}.\n"
        f"  static constexpr {kind} {fit.dtype}[] = {{{values}}};\n"
    )


def main() -> None:
    mpmath.mp.dps = 50
    print(HEADER)
    for name, fits in polynomials().items():
        print(f"struct {name}Terms {{")
        print("".join(array(fit) for fit in fits), end="")
        print("};")
    print("\n}  // namespace daliesque::tensor")


if __name__ == "__main__":
    main()
