# SPDX-License-Identifier: Apache-2.0
"""The inputs and arguments that `fuzz_ops.py` makes calls of, as source text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from support.case_inputs import Case
from support.cases import CASES
from support.contract import make_batches, make_inputs

Array = NDArray[Any]
_T = TypeVar("_T")

SMALL = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 5.0, 0.25, 10.0, 90.0)
ODD_FLOATS = (
    *("float('nan')", "float('inf')", "-float('inf')", "1e38", "-1e38", "1e-45", "1e300"),
    *("-0.0", "1e-7", "2.0**31", "-2.0**31", "1e9", "-1e9", "4294967296.5", "256.0", "1e18"),
)
ODD_INTEGERS = (
    *("0", "-1", "-2", "255", "256", "-129", "2**15", "2**31 - 1", "-2**31", "2**31", "2**32"),
    *("2**62", "2**63", "-2**63", "10**20", "True", "1.5"),
)
TYPES = (
    *("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "?"),
    *(">u2", ">f4", ">i8", ">f8"),
)
LAYOUTS = ("", "HWC", "HW", "CHW", "FHWC", "FCHW", "DHWC", "FDHWC", "C", "F", "W", "FHW", "HWCF")
WORDS = ("''", "'HWC'", "'H'", "'WH'", "'C'", "'zzz'", "'\\0'", "'pad'", "'constant'", "'é'")
EXTENTS = (0, 1, 2, 3, 4, 5, 7, 8, 17)
LENGTHS = (0, 1, 2, 3, 4, 6, 9, 12, 5, 17)


def data(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Numbers of any size; for types of floating point, some that are none."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    raw = rng.integers(0, 256, int(np.prod(shape)) * kind.itemsize, np.uint8)
    if kind.kind == "b":
        raw &= 1
    elif seed % 2:
        return (raw[:: kind.itemsize].reshape(shape) / (200 if kind.kind == "f" else 1)).astype(
            kind
        )
    return raw.view(kind).reshape(shape)


def misaligned(array: Array) -> Array:
    """The same at an odd address."""
    memory = np.empty(array.nbytes + 1, np.uint8)[1:]
    moved = memory.view(array.dtype) if array.nbytes else memory[:0].view(array.dtype)
    moved = moved.reshape(array.shape)
    moved[...] = array
    return moved


def every_second(array: Array) -> Array:
    """The same with a gap behind each element."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array


def repeated(array: Array) -> Array:
    """The first element again and again, with strides of 0."""
    first = array.reshape(-1)[:1]
    return np.broadcast_to(first.reshape((1,) * array.ndim) if first.size else array, array.shape)


def vectors(rows: list[list[float]]) -> Any:
    """A batch of float32 vectors."""
    import daliesque as ndd

    with np.errstate(over="ignore"):
        return ndd.batch([np.array(row, np.float32) for row in rows])


@functools.cache
def _inputs(operator: str) -> list[Any]:
    case = next(case for case in CASES if case.operator == operator)
    return make_batches(case, make_inputs(case))


def case_input(operator: str, position: int) -> Any:
    """An input of the contract suite."""
    return _inputs(operator)[position]


HELPERS: dict[str, Callable[..., Any]] = {
    "data": data,
    "misaligned": misaligned,
    "every_second": every_second,
    "repeated": repeated,
    "case_input": case_input,
    "vectors": vectors,
}


class Values:
    """Makes one call of an operator."""

    def __init__(self, rng: np.random.Generator, case: Case) -> None:
        from daliesque._engine.op import registry

        self.rng = rng
        self.case = case
        self.operator = registry[case.operator]
        self.count = _inputs(case.operator)[0].batch_size if _inputs(case.operator) else 3
        self.ndim: int | None = None
        self.changed = False

    def pick(self, choices: Sequence[_T]) -> _T:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    # Inputs.

    def inputs(self) -> tuple[str, ...]:
        base = _inputs(self.case.operator)
        count = len(base)
        if self.chance(0.05):
            count = max(0, count + self.pick((-1, 1)))
        self.changed = self.chance(0.5)
        if self.changed:
            self.count = self.pick((0, 1, 1, 2, 3))
        return tuple(self._input(base, position) for position in range(count))

    def _input(self, base: list[Any], position: int) -> str:
        if position >= len(base):
            position = len(base) - 1
        if not self.changed and not self.chance(0.1):
            if position < 0:
                return self._array(self._shape(2), "f4")
            return f"case_input({self.case.operator!r}, {position})"
        samples = base[position] if position >= 0 else None
        ndim = samples.ndim if samples is not None and self.chance(0.75) else self.pick(range(10))
        dtype = self.pick(TYPES)
        if samples is not None and self.chance(0.7):
            dtype = np.asarray(samples.tensors[0]).dtype.str
        layout = (samples.layout or "") if samples is not None else ""
        if self.chance(0.3) or len(layout) not in (0, ndim):
            fitting = [name for name in LAYOUTS if len(name) in (0, ndim)]
            layout = self.pick(fitting if self.chance(0.9) else LAYOUTS)
        suffix = f", layout={layout!r}" if layout else ""
        if self.chance(0.15):
            return self._array(self._shape(ndim), dtype)
        if self.chance(0.15):
            return f"ndd.tensor({self._array(self._shape(ndim), dtype)}{suffix})"
        count = self.count if self.chance(0.95) else self.pick((0, 1, 2, 3, 4))
        if count == 0:
            return f"ndd.as_batch({self._array((0, *self._shape(ndim)), dtype)}{suffix})"
        shape = self._shape(ndim)
        arrays = []
        for _ in range(count):
            arrays.append(self._array(self._shape(ndim) if self.chance(0.5) else shape, dtype))
        make = self.pick(("batch", "as_batch"))
        return f"ndd.{make}([{', '.join(arrays)}]{suffix})"

    def _shape(self, ndim: int) -> tuple[int, ...]:
        most = 9 if ndim < 5 else 4
        shape = [self.pick(EXTENTS[:most]) for _ in range(ndim)]
        if self.chance(0.7):
            shape = [extent or 3 for extent in shape]
        if shape and self.chance(0.6):
            shape[-1] = self.pick((1, 2, 3, 3, 4))
        return tuple(shape)

    def _array(self, shape: Sequence[int], dtype: str) -> str:
        text = f"data({tuple(shape)}, {dtype!r}, {int(self.rng.integers(4))})"
        if self.chance(0.1):
            text = f"{self.pick(('misaligned', 'every_second', 'repeated'))}({text})"
        return text

    # Arguments.

    def arguments(self) -> dict[str, str]:
        rules = self.operator.rules
        found: dict[str, str] = {}
        given = {
            **self.case.arguments,
            **{name: values[0] for name, values in self.case.per_sample.items()},
        }
        for name, rule in rules.items():
            if name in given and not self.chance(0.3):
                text = self._known(given[name])
                if text is not None:
                    found[name] = text
                    continue
            if name in self.operator.required or self.chance(min(0.5, 1.5 / len(rules))):
                found[name] = self._value(rule)
        if not self.operator.inputs or self.chance(0.03):
            choices = ("3", "1", "0") if self.chance(0.9) else ("2**40", "-1", "2**62", "2")
            found["batch_size"] = self.pick(choices)
        if self.operator.is_random and self.chance(0.7):
            found["rng"] = "ndd.random.RNG(seed=5)"
        return found

    def _known(self, value: Any) -> str | None:
        """The text of an argument of the contract suite."""
        if isinstance(value, np.ndarray):
            return f"np.array({value.tolist()!r}, {value.dtype.str!r})"
        text = repr(value)
        if text.startswith("<") or "array(" in text or "\n" in text:
            from daliesque import DType

            return f"ndd.{value}" if isinstance(value, DType) else None
        if text.startswith("dtype("):
            return f"np.{text}"
        return text

    def _value(self, rule: Any) -> str:
        kind = type(rule).__name__
        if self.chance(0.03):
            return self.pick(("None", "'text'", "[]", "{}", "[[1], [1, 2]]", "object()", "b''"))
        if kind == "PerSample":
            return self._numbers(rule.dtype.kind, rule.vector)
        if kind == "NumberLists":
            return self._numbers("f", True)
        if kind == "StringPerSample":
            return self.pick(WORDS)
        if kind == "TypeChoice" or "daliesque type" in getattr(rule, "expected", ""):
            return self.pick([f"ndd.{name}" for name in ("uint8", "float32", "float16", "int64")])
        expected = getattr(rule, "expected", "")
        if "list of" in expected:
            if "string" in expected:
                return f"[{self.pick(WORDS)}]"
            return self._list("i" if "integers" in expected else "f")
        if "string" in expected:
            return self.pick(WORDS)
        if "True" in expected:
            return self.pick(("True", "False", "2"))
        if "one of" in expected:
            return self.pick(("0", "1", "2", "3", "5", "99", "-1"))
        if expected == "":
            return self._arrays()
        return self._number("i" if "integer" in expected else "f")

    def _number(self, kind: str) -> str:
        if self.chance(0.5):
            value = self.pick(SMALL)
            return repr(int(value) if kind in "ib" else value)
        if kind == "b":
            return self.pick(("True", "False", "2"))
        return self.pick(ODD_INTEGERS if kind == "i" else ODD_FLOATS + ODD_INTEGERS)

    def _list(self, kind: str, length: int | None = None) -> str:
        length = self.pick(LENGTHS) if length is None else length
        return f"[{', '.join(self._number(kind) for _ in range(length))}]"

    def _numbers(self, kind: str, vector: bool) -> str:
        length = self.pick(LENGTHS) if vector or self.chance(0.05) else 1
        if self.chance(0.4):
            return self._list(kind, length) if vector else self._number(kind)
        dtype = self.pick(TYPES) if self.chance(0.3) else {"i": "i4", "f": "f4", "b": "?"}[kind]
        shape: tuple[int, ...] = (length,) if vector else ()
        if self.chance(0.1):
            shape = self._shape(self.pick(range(4)))
        way = self.pick(("numpy", "tensor", "batch", "batch", "ragged", "frames"))
        if way == "numpy":
            return self._array(shape, dtype)
        if way == "tensor":
            return f"ndd.tensor({self._array(shape, dtype)})"
        count = self.count if self.chance(0.9) else self.pick((0, 1, 2, 4))
        if count == 0:
            return f"ndd.as_batch({self._array((0, *shape), dtype)})"
        if way == "frames":
            arrays = [
                self._array((self.pick((0, 1, 2, 3, 5)), *shape), dtype) for _ in range(count)
            ]
            layout = "F" + "ABCD"[: len(shape)]
            return f"ndd.batch([{', '.join(arrays)}], layout={layout!r})"
        if vector and self.chance(0.6):
            rows = [self._list(kind, length) for _ in range(count)]
            return f"vectors([{', '.join(rows)}])"
        shapes = [shape] * count
        if way == "ragged" and vector:
            shapes = [(self.pick(LENGTHS),) for _ in range(count)]
        return f"ndd.batch([{', '.join(self._array(each, dtype) for each in shapes)}])"

    def _arrays(self) -> str:
        """An argument that holds an array for each sample."""
        shape = self._shape(self.pick((0, 1, 1, 2, 2, 3)))
        dtype = self.pick(("f4", "i4", "u1"))
        if self.chance(0.4) or self.count == 0:
            return self._array(shape, dtype) if self.chance(0.5) else self._list("f")
        arrays = [self._array(shape, dtype) for _ in range(self.count)]
        return f"ndd.batch([{', '.join(arrays)}])"
