# SPDX-License-Identifier: Apache-2.0
"""Multiplication and addition with a single rounding, as processors have it, on accelerators.

torch has no such operation: whether a multiplication and an addition are rounded once or twice
depends on the device. Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved
algorithms using rounding to odd" (IEEE Transactions on Computers 57, 2008).
"""

from __future__ import annotations

import torch

# Cuts a number of 53 bits into halves whose products are exact (Dekker, 1971).
_SPLITTER = float((1 << 27) + 1)


def fused_single(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a * b + c of numbers in double precision that single precision holds, rounded to that.

    The product is exact in double precision, and the sum is rounded to odd: so the second rounding
    sees on which side of a tie the exact sum is.
    """
    return _odd_sum(a * b, c).to(torch.float32)


def fused_double(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """a * b + c in double precision; without overflow and underflow on the way."""
    product, rest = _product(a, b)
    low, lowest = _sum(c, rest)
    high, middle = _sum(product, low)
    return high + _odd_sum(lowest, middle)


def _sum(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rounded sum, and what was lost by rounding (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The rounded product, and what was lost by rounding (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    rest = a_high * b_high - product
    return product, ((rest + a_high * b_low) + a_low * b_high) + a_low * b_low


def _halves(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high


def _odd_sum(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The sum; if it is not exact, the one of its two neighbors whose last bit is one."""
    total, lost = _sum(a, b)
    bits, inexact = total.view(torch.int64), lost.ne(0)
    # One less where the exact sum is nearer to zero: the bits of a number cut off, not rounded.
    opposite = lost.view(torch.int64).bitwise_xor(bits).bitwise_right_shift(63)
    return (
        torch.addcmul(bits, opposite, inexact.to(torch.int64))
        .bitwise_or(inexact)
        .view(torch.float64)
    )
