# SPDX-License-Identifier: Apache-2.0
"""Element-wise mathematical functions."""

from __future__ import annotations

from typing import TypeAlias

from numpy.typing import ArrayLike

from .._engine.arithmetic import apply
from .._engine.batch import Batch
from .._engine.tensor import Tensor

Operand: TypeAlias = Tensor | Batch | ArrayLike

# For capture mode: a call in this module is that of whoever called the function.
_HANDS_ON_CALLS = True


def _call(name: str, *operands: Operand) -> Tensor | Batch:
    result: Tensor | Batch = apply(name, *operands)
    if result is NotImplemented:
        kinds = ", ".join(type(operand).__name__ for operand in operands)
        msg = f"math.{name}: operands must be tensors, batches, arrays or numbers; got {kinds}."
        raise TypeError(msg)
    return result


def sqrt(input: Operand) -> Tensor | Batch:
    """Compute the square root.

    Negative numbers give NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.sqrt([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return _call("sqrt", input)


def rsqrt(input: Operand) -> Tensor | Batch:
    """Compute the reciprocal of the square root.

    Zero gives infinity, negative numbers NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.rsqrt([4.0, 0.25])).tolist()
    [0.5, 2.0]

    Differs from DALI: computed as `1 / sqrt(input)`. DALI refines an estimate of the processor for
    float32, which loses the last bit and makes the results for 0 and infinity NaN.
    """
    return _call("rsqrt", input)


def cbrt(input: Operand) -> Tensor | Batch:
    """Compute the cube root.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.cbrt([8.0, -27.0])).tolist()
    [2.0, -3.0]
    """
    return _call("cbrt", input)


def exp(input: Operand) -> Tensor | Batch:
    """Compute the exponential function.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.exp([0.0, -0.0])).tolist()
    [1.0, 1.0]
    """
    return _call("exp", input)


def log(input: Operand) -> Tensor | Batch:
    """Compute the natural logarithm.

    Zero gives minus infinity, negative numbers NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.log([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    return _call("log", input)


def log2(input: Operand) -> Tensor | Batch:
    """Compute the logarithm to base 2.

    Zero gives minus infinity, negative numbers NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.log2([8, 1])).tolist()
    [3.0, 0.0]
    """
    return _call("log2", input)


def log10(input: Operand) -> Tensor | Batch:
    """Compute the logarithm to base 10.

    Zero gives minus infinity, negative numbers NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.log10([1000, 1])).tolist()
    [3.0, 0.0]
    """
    return _call("log10", input)


def abs(input: Operand) -> Tensor | Batch:
    """Compute the absolute value, in the type of the input.

    The lowest number of a signed type has no positive counterpart and stays as it is; so does a
    negative zero.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.abs([-3, 4])).tolist()
    [3, 4]
    """
    return _call("abs", input)


def fabs(input: Operand) -> Tensor | Batch:
    """Compute the absolute value as a floating-point number.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.fabs([-3, 4])).tolist()
    [3.0, 4.0]
    """
    return _call("fabs", input)


def floor(input: Operand) -> Tensor | Batch:
    """Round down to a whole number.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.floor([1.7, -1.2])).tolist()
    [1.0, -2.0]
    """
    return _call("floor", input)


def ceil(input: Operand) -> Tensor | Batch:
    """Round up to a whole number.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.ceil([1.2, -1.7])).tolist()
    [2.0, -1.0]
    """
    return _call("ceil", input)


def sin(input: Operand) -> Tensor | Batch:
    """Compute the sine of an angle in radians.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.sin([0.0])).tolist()
    [0.0]
    """
    return _call("sin", input)


def cos(input: Operand) -> Tensor | Batch:
    """Compute the cosine of an angle in radians.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.cos([0.0])).tolist()
    [1.0]
    """
    return _call("cos", input)


def tan(input: Operand) -> Tensor | Batch:
    """Compute the tangent of an angle in radians.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.tan([0.0])).tolist()
    [0.0]
    """
    return _call("tan", input)


def asin(input: Operand) -> Tensor | Batch:
    """Compute the inverse sine, in radians.

    Numbers outside of [-1, 1] give NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.asin([0.0])).tolist()
    [0.0]
    """
    return _call("asin", input)


def acos(input: Operand) -> Tensor | Batch:
    """Compute the inverse cosine, in radians.

    Numbers outside of [-1, 1] give NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.acos([1.0])).tolist()
    [0.0]
    """
    return _call("acos", input)


def atan(input: Operand) -> Tensor | Batch:
    """Compute the inverse tangent, in radians.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.atan([0.0])).tolist()
    [0.0]
    """
    return _call("atan", input)


def sinh(input: Operand) -> Tensor | Batch:
    """Compute the hyperbolic sine.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.sinh([0.0])).tolist()
    [0.0]
    """
    return _call("sinh", input)


def cosh(input: Operand) -> Tensor | Batch:
    """Compute the hyperbolic cosine.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.cosh([0.0])).tolist()
    [1.0]
    """
    return _call("cosh", input)


def tanh(input: Operand) -> Tensor | Batch:
    """Compute the hyperbolic tangent.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.tanh([0.0, 100.0])).tolist()
    [0.0, 1.0]
    """
    return _call("tanh", input)


def asinh(input: Operand) -> Tensor | Batch:
    """Compute the inverse hyperbolic sine.

    Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.asinh([0.0])).tolist()
    [0.0]
    """
    return _call("asinh", input)


def acosh(input: Operand) -> Tensor | Batch:
    """Compute the inverse hyperbolic cosine.

    Numbers below 1 give NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.acosh([1.0])).tolist()
    [0.0]
    """
    return _call("acosh", input)


def atanh(input: Operand) -> Tensor | Batch:
    """Compute the inverse hyperbolic tangent.

    Numbers outside of [-1, 1] give NaN. Integers give float32; other types are kept.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.atanh([0.0, 1.0])).tolist()
    [0.0, inf]
    """
    return _call("atanh", input)


def min(left: Operand, right: Operand) -> Tensor | Batch:
    """Take the smaller of two elements, in their common type.

    Where either is NaN, the result is `right`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.min([1, 5], 3)).tolist()
    [1, 3]
    """
    return _call("min", left, right)


def max(left: Operand, right: Operand) -> Tensor | Batch:
    """Take the larger of two elements, in their common type.

    Where either is NaN, the result is `right`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.max([1, 5], 3)).tolist()
    [3, 5]
    """
    return _call("max", left, right)


def pow(base: Operand, exponent: Operand) -> Tensor | Batch:
    """Raise `base` to a power, in the common type of both; the same as `base ** exponent`.

    Integers wrap around, and negative integer exponents give 0. Use `fpow` for fractions.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.pow([2, 3], 2)).tolist()
    [4, 9]
    """
    return _call("pow", base, exponent)


def fpow(base: Operand, exponent: Operand) -> Tensor | Batch:
    """Raise to a power as floating-point numbers.

    Integers give float32; otherwise the result has the common type.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.fpow(2, [-1, 3])).tolist()
    [0.5, 8.0]
    """
    return _call("fpow", base, exponent)


def atan2(x: Operand, y: Operand) -> Tensor | Batch:
    """Compute the angle, in radians, whose tangent is `x / y`, in the quadrant of the signs.

    Mind the order: the first operand is the sine side. Integers give float32; otherwise the
    result has the common type.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.atan2([0.0], [1.0])).tolist()
    [0.0]
    """
    return _call("atan2", x, y)


def clamp(value: Operand, lo: Operand, hi: Operand) -> Tensor | Batch:
    """Limit `value` to the range from `lo` to `hi`, in the common type of all three.

    NaN stays NaN; if `lo` exceeds `hi`, the result is `hi`.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import numpy as np
    >>> np.asarray(ndd.math.clamp([-1, 5, 300], 0, 255)).tolist()
    [0, 5, 255]
    """
    return _call("clamp", value, lo, hi)
