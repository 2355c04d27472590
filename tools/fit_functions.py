# SPDX-License-Identifier: Apache-2.0
"""Fit the polynomials of `src/kernels/tensor/function_polynomials.h`, and print that file.

    python tools/fit_functions.py > src/kernels/tensor/function_polynomials.h

Needs mpmath, which torch brings along. Each polynomial stands for what is left of a function when
the first terms of its series, which are computed apart, are taken away. There are two of each: a
short one for float32, whose arithmetic is that of float64 and which only needs some bits more than
the result has, and a long one for float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import mpf

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// Polynomials behind the functions in functions.simd.cpp, from the lowest power on. Written by
// tools/fit_functions.py.
#pragma once

namespace daliesque::tensor {

/// `float32` has the terms that a float32 result needs, `float64` those that a float64 one does.
"""


def rest_of_exp(x: Any) -> Any:
    return (mpmath.expm1(x) - x) / x**2 if abs(x) > 1e-12 else mpf(1) / 2 + x / 6


def rest_of_log(z: Any) -> Any:
    s = mpmath.sqrt(z)
    return (mpmath.log((1 + s) / (1 - s)) - 2 * s) / s**3


def rest_of_sin(z: Any) -> Any:
    x = mpmath.sqrt(z)
    return (mpmath.sin(x) - x) / x**3


def rest_of_cos(z: Any) -> Any:
    return (mpmath.cos(mpmath.sqrt(z)) - 1 + z / 2) / z**2


def rest_of_atan(z: Any) -> Any:
    x = mpmath.sqrt(z)
    return (mpmath.atan(x) - x) / x**3


def rest_of_asin(z: Any) -> Any:
    x = mpmath.sqrt(z)
    return (mpmath.asin(x) - x) / x**3


def polynomials() -> list[tuple[str, str, Callable[[Any], Any], Any, Any, int, int]]:
    """Name, meaning, function, interval, and how many terms float32 and float64 take."""
    half_log2 = mpmath.log(2) / 2 * mpf("1.0001")
    widest = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * mpf("1.0001")
    quarter = (mpmath.pi / 4) ** 2 * mpf("1.0001")
    eighth = mpmath.tan(mpmath.pi / 8) ** 2 * mpf("1.0001")
    tiny = mpf("1e-12")
    return [
        ("Exp", "(exp(x) - 1 - x) / x^2", rest_of_exp, -half_log2, half_log2, 6, 10),
        ("Log", "(log((1 + s) / (1 - s)) - 2s) / s^3 of s^2", rest_of_log, tiny, widest, 5, 8),
        ("Sin", "(sin(x) - x) / x^3 of x^2", rest_of_sin, tiny, quarter, 4, 6),
        ("Cos", "(cos(x) - 1 + x^2 / 2) / x^4 of x^2", rest_of_cos, tiny, quarter, 4, 6),
        ("Atan", "(atan(x) - x) / x^3 of x^2", rest_of_atan, tiny, eighth, 6, 11),
        ("Asin", "(asin(x) - x) / x^3 of x^2", rest_of_asin, tiny, mpf("0.25001"), 7, 13),
    ]


def array(name: str, function: Callable[[Any], Any], low: Any, high: Any, terms: int) -> str:
    coefficients, error = mpmath.chebyfit(function, [low, high], terms, error=True)
    values = ", ".join(float(value).hex() for value in reversed(coefficients))
    bits = int(-mpmath.log(error, 2))
    return (
        f"  // Wrong by less than 2^-{bits}.\n  static constexpr double {name}[] = {{{values}}};\n"
    )


def main() -> None:
    mpmath.mp.dps = 50
    print(HEADER, end="")
    for name, meaning, function, low, high, short, long in polynomials():
        print(f"struct {name}Terms {{  // {meaning}")
        print(array("float32", function, low, high, short), end="")
        print(array("float64", function, low, high, long), end="")
        print("};")
    print("\n}  // namespace daliesque::tensor")


if __name__ == "__main__":
    main()
