# SPDX-License-Identifier: Apache-2.0
"""Element-wise mathematical functions of tensors, batches, arrays and numbers.

The functions follow the rules of the operators (`+`, `*`, `<`, ...):

- The result is a Batch if any operand is one; everything else goes with each of its samples. Shapes
  broadcast as in NumPy, sample by sample. Numbers and lists of Python are int32 or float32.
- Operands meet in a common type: the wider one of two integers or of two floating-point types. A
  floating-point type wins over every integer type, whatever its width. Signed with unsigned gives
  the signed type that holds both, at most int64. bool goes with anything; float16 and bfloat16 meet
  in float32.
- Integers wrap around. `//` and `%` truncate towards zero and refuse to divide integers by zero;
  `//` of floating-point numbers is a true division, as in DALI. `/` of integers gives
  float32.
- float16 and bfloat16 are computed in float32 and rounded once.
- Comparisons give bool and are mathematically right for all integers; an integer is compared with a
  floating-point number in the latter's type.
- Bitwise operators take integers and booleans; shifts by a negative or too large count shift all
  bits out. Of the arithmetic operators, only `*` takes two booleans.
- The result has the longest of the operands' layouts, of which the others must be endings.

Differs from DALI: float16 and bfloat16 operands are accepted. Negative integers compare correctly
with floating-point numbers (DALI takes -5 for less than -10.0 and for unequal to -5.0). The lowest
int32 or int64 divided by -1 wraps around (DALI crashes). Shifts by too much are defined.
"""

from ._ops.arithmetic import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    ceil,
    clamp,
    cos,
    cosh,
    exp,
    fabs,
    floor,
    fpow,
    log,
    log2,
    log10,
    max,
    min,
    pow,
    rsqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from ._public import publish as _publish

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "clamp",
    "cos",
    "cosh",
    "exp",
    "fabs",
    "floor",
    "fpow",
    "log",
    "log2",
    "log10",
    "max",
    "min",
    "pow",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]

_publish(globals())
