# SPDX-License-Identifier: Apache-2.0
"""FITS files with any header."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}


def write_raw(path: Path, bits: int, values: NDArray[Any], keywords: Mapping[str, float]) -> Path:
    """An empty primary unit, and an image that is stored as it is, with keywords as given."""
    first = [f"SIMPLE  = {'T':>20s}", f"BITPIX  = {8:20d}", f"NAXIS   = {0:20d}"]
    first += [f"EXTEND  = {'T':>20s}", "END"]
    second = ["XTENSION= 'IMAGE   '", f"BITPIX  = {bits:20d}", f"NAXIS   = {values.ndim:20d}"]
    second += [f"NAXIS{k + 1:<3d}= {n:20d}" for k, n in enumerate(values.shape[::-1])]
    second += [f"PCOUNT  = {0:20d}", f"GCOUNT  = {1:20d}"]
    second += [f"{name:<8s}= {value!r:>20s}" for name, value in keywords.items()]
    headers = [
        "".join(card.ljust(80) for card in cards).ljust(2880) for cards in (first, [*second, "END"])
    ]
    data = values.astype(TYPES[bits]).tobytes()
    padding = bytes(-len(data) % 2880)
    path.write_bytes("".join(headers).encode() + data + padding)
    return path
