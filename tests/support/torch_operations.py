# SPDX-License-Identifier: Apache-2.0
"""Reads the table of what torch offers on all accelerators."""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import NamedTuple

import torch

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
NUMBERS = [*INTEGERS, "float16", "bfloat16", "float32", "float64"]
GROUPS = {
    "any": ["bool", *NUMBERS],
    "number": NUMBERS,
    "bit": ["bool", *INTEGERS],
    "integer": INTEGERS,
}


class Operation(NamedTuple):
    """A row: the names by which it is called in Python, the types, and what to know about it."""

    names: list[str]
    types: list[torch.dtype]
    exception: str


@functools.cache
def operations() -> dict[str, Operation]:
    """The table, by names of operations."""
    text = Path(__file__).with_suffix(".csv").read_text()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    table = {}
    for row in rows:
        types = [name for word in row["types"].split() for name in GROUPS.get(word, [word])]
        table[row["operation"]] = Operation(
            [row["operation"], *row["called as"].split()],
            [getattr(torch, name) for name in types],
            row["exception"],
        )
    return table


@functools.cache
def allowed() -> set[tuple[str, torch.dtype]]:
    """Operations with types that all accelerators have them for."""
    return {(name, kind) for name, row in operations().items() for kind in row.types}
