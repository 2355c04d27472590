# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, mathematical functions and conversions on accelerators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import (
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    from_code,
    int64,
    uint64,
)
from .accelerator import require_accelerator
from .groups import Group, carrier
from .numbers import SIGN_BIT, converted, is_float, widened
from .placement import on_device
from .ragged import Rows, elements_of, elementwise, inner_axes
from .samples import DeviceSamples

Function = Callable[..., torch.Tensor]

_COMPARISONS: dict[str, Function] = {
    "eq": torch.eq,
    "neq": torch.ne,
    "lt": torch.lt,
    "leq": torch.le,
    "gt": torch.gt,
    "geq": torch.ge,
}


def arithmetic(name: str, operands: list[Any]) -> DeviceSamples:
    """Apply an element-wise operation to one to three operands, broadcasting."""
    # The native kernel checks types and layouts, and finds out those of the result.
    form = _kernels.arithmetic(name, [nothing_like(part) for part in operands])
    # Numbers need no transfer: they stay on the host, and are part of the work on the device.
    numbers = {k: _number(part) for k, part in enumerate(operands) if _is_number(part)}
    parts = [on_device(part) for k, part in enumerate(operands) if k not in numbers]
    count = max((len(part) for part in parts if len(part) != 1), default=1)
    if any(len(part) == 0 for part in parts):
        return parts[0].made([], form.ndim, form.layout, form.type_id)
    types = [part.type_id for part in operands]
    compute = _computation_type(name, types, form.type_id)

    def computed(tensors: list[torch.Tensor]) -> torch.Tensor:
        for position, number in numbers.items():
            tensors.insert(position, number)
        result = _computed(name, tensors, types, compute)
        return result if result.dtype is torch.bool else converted(result, compute, form.type_id)

    whole = next(part for part in parts if len(part) == count)
    if not whole.uniform:
        found = _computed_at_once(parts, form, computed)
        if found is not None:
            return found
    keys = [part.shape_array() for part in parts if len(part) == count]
    groups = []
    for indices in (group.indices for group in whole.split(np.concatenate(keys, 1)).groups):
        tensors = [_rows(part, indices, count, form.ndim) for part in parts]
        _check_shapes([t.shape[1:] for t in tensors], int(indices[0]), form.ndim, parts)
        data = computed(tensors)
        if len(data) != len(indices):
            data = data.expand(len(indices), *data.shape[1:]).contiguous()
        groups.append(Group(indices, data))
    return whole.made(groups, form.ndim, form.layout, form.type_id)


def _computed_at_once(
    parts: list[DeviceSamples],
    form: _kernels.Samples,
    computed: Callable[[list[torch.Tensor]], torch.Tensor],
) -> DeviceSamples | None:
    """The result for ragged samples, if the others differ from them in the last axes at most.

    These may hold one number, or vectors along the last axes, for all samples or for each.
    """
    whole = max(parts, key=lambda part: (len(part), part.ndim, part.volume))
    shapes = whole.shape_array()
    others = [
        part
        for part in parts
        if part.ndim != whole.ndim or not np.array_equal(part.shape_array(), shapes)
    ]
    # How many of the last axes the others have.
    inner = max((_inner_axes(part) for part in others), default=0)
    if whole.ndim != form.ndim or inner_axes(whole, inner) < inner:
        return None
    ends = shapes[0, whole.ndim - inner :]
    for part in others:
        own = part.shape_array()[:, max(0, part.ndim - inner) :]
        if ((own != 1) & (own != ends[inner - own.shape[1] :])).any() or not part.uniform:
            return None

    def operand(part: DeviceSamples, rows: Rows) -> torch.Tensor:
        if all(part is not other for other in others):
            (elements,) = (rows.data,) if part is whole else elements_of(part, whole, inner)
            return elements
        table = part.dense()
        shape = (1,) * (inner - part.ndim) + tuple(table.shape[1:])[-inner or table.ndim :]
        return rows.spread_tensor(table.reshape(len(table), *shape))

    return elementwise(
        whole,
        lambda rows: computed([operand(part, rows) for part in parts]),
        inner,
        form.layout,
        form.type_id,
    )


def _inner_axes(part: DeviceSamples) -> int:
    """How many axes are left of samples without those of extent 1 in front."""
    wide = (part.shape_array() != 1).any(axis=0)
    return part.ndim - int(np.argmax(wide)) if wide.any() else 0


def _is_number(part: Any) -> bool:
    return not part.is_on_device and len(part) == 1 and part.ndim == 0


def _number(part: Any) -> torch.Tensor:
    """A number as a tensor of the host, which goes together with those of any device."""
    number = to_numpy(part).reshape(()).view(_STORED[part.itemsize]).item()
    bits = torch.full((), number, dtype=SIGNED[part.itemsize], device="cpu")
    return bits.view(carrier(part.type_id))


# Numbers are handed over as bits, whatever their type.
_STORED = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
SIGNED = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def nothing_like(samples: Any) -> _kernels.Samples:
    """No samples of the same type, layout and number of axes."""
    return _kernels.empty_uniform(samples.type_id, [0] * samples.ndim, samples.layout, 0)


def _rows(part: DeviceSamples, indices: Any, count: int, ndim: int) -> torch.Tensor:
    """The data of some samples, with axes added in front until there are `ndim`."""
    chosen = part.select(indices.tolist()) if len(part) == count else part
    data = chosen.dense()
    missing = ndim - part.ndim
    return data.reshape(len(data), *(1,) * missing, *data.shape[1:]) if missing else data


def _check_shapes(shapes: list[Any], sample: int, ndim: int, parts: list[Any]) -> None:
    for axis in range(ndim):
        if len({shape[axis] for shape in shapes} - {1}) > 1:
            shown = " and ".join(
                str(tuple(shape[ndim - part.ndim :]))
                for shape, part in zip(shapes, parts, strict=True)
            )
            msg = (
                f"the shapes {shown} cannot be broadcast together (sample {sample}): counted from "
                "the last axis, extents must be equal or 1"
            )
            raise ValueError(msg)


def _computation_type(name: str, types: list[int], result: int) -> int:
    """The type in which an operation is computed."""
    if name in _COMPARISONS:
        result = types[0]
        if types[1] != result:
            result = _kernels.arithmetic_type("min", types)
    dtype = from_code(result)
    if name == "mod" and is_float(types[0]) != is_float(types[1]):
        return float64.code if require_accelerator(name).has_double else float32.code
    return float32.code if dtype in (float16, bfloat16) else result


def _computed(
    name: str, tensors: list[torch.Tensor], types: list[int], compute: int
) -> torch.Tensor:
    """The result, in the type `compute` or as truth values."""
    if name in _COMPARISONS:
        return _compared(name, tensors, types, compute)
    operands = [_operand(t, source, compute) for t, source in zip(tensors, types, strict=True)]
    dtype = from_code(compute)
    if dtype.kind is DType.Kind.float:
        return _FLOAT[name](*operands)
    if dtype is bool_:
        return _BOOLEAN[name](*operands)
    if dtype is uint64 and name in _UNSIGNED:
        return _UNSIGNED[name](*operands)
    kind = carrier(compute)
    wide = [widened(operand, compute) for operand in operands]
    if name in _SHIFTS:
        return _SHIFTS[name](*wide, dtype).to(kind)
    return _INTEGER[name](*wide).to(kind)


def _operand(data: torch.Tensor, source: int, compute: int) -> torch.Tensor:
    """An operand in the type of the computation. A uint64 among signed numbers keeps its bits."""
    if from_code(source) is uint64 and from_code(compute) is int64:
        return data
    return converted(data, source, compute)


def _compared(
    name: str, tensors: list[torch.Tensor], types: list[int], compute: int
) -> torch.Tensor:
    unsigned = [from_code(source) is uint64 for source in types]
    if from_code(compute) in (int64, uint64) and any(unsigned):
        return _compared_with_uint64(name, tensors, types, unsigned)
    operands = [converted(t, source, compute) for t, source in zip(tensors, types, strict=True)]
    if not is_float(compute) and from_code(compute) is not bool_:
        operands = [widened(operand, compute) for operand in operands]
    return _COMPARISONS[name](*operands)


def _compared_with_uint64(
    name: str, tensors: list[torch.Tensor], types: list[int], unsigned: list[bool]
) -> torch.Tensor:
    """As exact integers: first by whether they exceed what int64 holds, then by their bits."""
    bits = [widened(t, source).to(torch.int64) for t, source in zip(tensors, types, strict=True)]
    low = [
        value.bitwise_xor(SIGN_BIT) if plain else torch.where(value < 0, SIGN_BIT, value ^ SIGN_BIT)
        for value, plain in zip(bits, unsigned, strict=True)
    ]
    # A negative number is less than every unsigned one, zero included.
    below = [
        torch.zeros_like(value, dtype=torch.bool) if plain else value < 0
        for value, plain in zip(bits, unsigned, strict=True)
    ]
    less = below[0] & ~below[1] | (~below[0] & ~below[1] & (low[0] < low[1]))
    less |= below[0] & below[1] & (bits[0] < bits[1])
    equal = (bits[0] == bits[1]) & (below[0] == below[1]) & (low[0] == low[1])
    results = {
        "eq": equal,
        "neq": ~equal,
        "lt": less,
        "leq": less | equal,
        "gt": ~(less | equal),
        "geq": ~less,
    }
    return results[name]


def _minimum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Of two operands of which one is NaN, the second one comes out."""
    return torch.where(a < b, a, b)


def _maximum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(a > b, a, b)


def _clamped(a: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    return torch.where(a <= low, low, torch.where(a >= high, high, a))


def _absolute(a: torch.Tensor) -> torch.Tensor:
    return torch.where(a < 0, -a, a)


def _cube_root(a: torch.Tensor) -> torch.Tensor:
    root = torch.copysign(a.abs().pow(1.0 / 3.0), a)
    # One step of Newton's method makes up for the inexact exponent.
    better = root - (root * root * root - a) / (3.0 * root * root)
    return torch.where((root == 0) | ~root.isfinite(), root, better)


def _real_power(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(b == 2, a * a, torch.pow(a, b))


_FLOAT: dict[str, Function] = {
    "plus": lambda a: a,
    "minus": torch.neg,
    "abs": _absolute,
    "fabs": torch.abs,
    "sqrt": torch.sqrt,
    "rsqrt": lambda a: 1.0 / torch.sqrt(a),
    "cbrt": _cube_root,
    "exp": torch.exp,
    "log": torch.log,
    "log2": torch.log2,
    "log10": torch.log10,
    "floor": torch.floor,
    "ceil": torch.ceil,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "tanh": torch.tanh,
    "asinh": torch.asinh,
    "acosh": torch.acosh,
    "atanh": torch.atanh,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "fdiv": torch.div,
    "mod": torch.fmod,
    "min": _minimum,
    "max": _maximum,
    "pow": _real_power,
    "fpow": _real_power,
    "atan2": torch.atan2,
    "clamp": _clamped,
}


def _divided(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Cut off towards zero. Division by zero gives zero: an error would have to wait for it."""
    safe = torch.where((b == 0) | (b == -1), torch.ones_like(b), b)
    quotient = torch.div(a, safe, rounding_mode="trunc")
    return torch.where(b == 0, torch.zeros_like(a), torch.where(b == -1, -a, quotient))


def _remainder(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(b == 0, torch.zeros_like(a), a - _divided(a, b) * b)


def _power(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Squares and multiplies, wrapping around; negative exponents give 0."""
    result, square = torch.ones_like(a + b, dtype=torch.int64), a.to(torch.int64)
    rest = b.to(torch.int64)
    for _ in range(_BITS[b.dtype]):
        result = torch.where(rest.bitwise_and(1) != 0, result * square, result)
        square = square * square
        rest = rest.bitwise_right_shift(1)
    return torch.where(b < 0, torch.zeros_like(result), result)


# An exponent of more bits than these has overflowed the result long before.
_BITS = {torch.int32: 32, torch.int64: 63}

_INTEGER: dict[str, Function] = {
    "plus": lambda a: a,
    "minus": torch.neg,
    "bitnot": torch.bitwise_not,
    "abs": _absolute,
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": _divided,
    "mod": _remainder,
    "min": _minimum,
    "max": _maximum,
    "pow": _power,
    "clamp": _clamped,
    "bitand": torch.bitwise_and,
    "bitor": torch.bitwise_or,
    "bitxor": torch.bitwise_xor,
}

_BOOLEAN: dict[str, Function] = {
    "mul": torch.logical_and,
    "bitnot": torch.logical_not,
    "bitand": torch.logical_and,
    "bitor": torch.logical_or,
    "bitxor": torch.logical_xor,
    "lshift": lambda a, b: torch.logical_and(a, torch.ones_like(b)),
    "rshift": lambda a, b: torch.logical_and(a, torch.logical_not(b)),
    "min": torch.logical_and,
    "max": torch.logical_or,
}


def _unsigned_less(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a.bitwise_xor(SIGN_BIT) < b.bitwise_xor(SIGN_BIT)


def _unsigned_divided(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The quotient of the halved dividend, doubled, is at most one too small."""
    safe = torch.where(b == 0, torch.ones_like(b), b)
    positive = torch.where(safe < 0, torch.ones_like(b), safe)
    half = a.bitwise_right_shift(1).bitwise_and(2**63 - 1)
    quotient = torch.div(half, positive, rounding_mode="trunc") * 2
    quotient = quotient + (~_unsigned_less(a - quotient * positive, positive)).to(torch.int64)
    large = (~_unsigned_less(a, safe)).to(torch.int64)
    return torch.where(b == 0, torch.zeros_like(a), torch.where(safe < 0, large, quotient))


def _unsigned_remainder(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.where(b == 0, torch.zeros_like(a), a - _unsigned_divided(a, b) * b)


def _unsigned_power(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    odd = torch.where(b < 0, b.bitwise_and(2**63 - 1), b)
    high = _power(_power(a, torch.full_like(a, 2**62)), torch.full_like(a, 2))
    return torch.where(b < 0, _power(a, odd) * high, _power(a, odd))


def _unsigned_clamped(a: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
    upper = torch.where(_unsigned_less(a, high), a, high)
    return torch.where(_unsigned_less(low, a), upper, low)


_UNSIGNED: dict[str, Function] = {
    "abs": lambda a: a,
    "div": _unsigned_divided,
    "mod": _unsigned_remainder,
    "min": lambda a, b: torch.where(_unsigned_less(a, b), a, b),
    "max": lambda a, b: torch.where(_unsigned_less(b, a), a, b),
    "pow": _unsigned_power,
    "clamp": _unsigned_clamped,
}


def _outside(b: torch.Tensor, dtype: DType) -> torch.Tensor:
    return (b < 0) | (b >= dtype.bits)


def _left_shift(a: torch.Tensor, b: torch.Tensor, dtype: DType) -> torch.Tensor:
    """Shifts by a negative or too large count behave as if all bits were shifted out."""
    count = b.clamp(0, dtype.bits - 1)
    return torch.where(_outside(b, dtype), torch.zeros_like(a), a.bitwise_left_shift(count))


def _right_shift(a: torch.Tensor, b: torch.Tensor, dtype: DType) -> torch.Tensor:
    count = torch.where(_outside(b, dtype), torch.full_like(b, dtype.bits - 1), b)
    if dtype.kind is DType.Kind.signed:
        return a.bitwise_right_shift(count)
    shifted = a.bitwise_right_shift(count)
    if dtype is uint64:
        # The shift of the carrier repeats the highest bit, which is no sign.
        kept = torch.full_like(a, -1).bitwise_left_shift((64 - count).clamp(0, 63)).bitwise_not()
        shifted = torch.where(count == 0, a, shifted.bitwise_and(kept))
    return torch.where(_outside(b, dtype), torch.zeros_like(a), shifted)


_SHIFTS: dict[str, Function] = {"lshift": _left_shift, "rshift": _right_shift}
