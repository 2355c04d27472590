# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/peers.py`: functions, sums, comparisons and random numbers in bulk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import daliesque as ndd

from .peer_row import Array, Call, Row, pictures

COUNT = 10_000_000
Function = Callable[..., Any]


def elements(
    target: float, ours: Function, numpy: Function, torch: Function | None = None, **given: Any
) -> Row:
    """A function of ten million numbers; `low`, `high` and `dtype` say which ones."""

    def make() -> dict[str, Call]:
        dtype = given.get("dtype", np.float32)
        rng = np.random.default_rng(1)
        array = rng.uniform(given.get("low", -3), given.get("high", 3), COUNT).astype(dtype)
        tensor = ndd.tensor(array).evaluate()
        calls: dict[str, Call] = {
            "daliesque": lambda: ours(tensor).evaluate(),
            "numpy": lambda: numpy(array),
        }
        if torch is not None:
            calls["torch"] = torch_call(torch, array)
        return calls

    return Row(make, target)


def torch_call(function: Function, *arrays: Array) -> Call:
    def run() -> Any:
        import torch

        return function(torch, *(torch.from_numpy(array) for array in arrays))

    return run


def named(name: str, dtype: Any, numpy_name: str | None = None, **given: Any) -> Row:
    """A function that all libraries have, under (nearly) the same name."""
    numpy_function = getattr(np, numpy_name or name)
    return elements(
        1.0,
        getattr(ndd.math, name),
        numpy_function,
        lambda torch, x: getattr(torch, name)(x),
        dtype=dtype,
        **given,
    )


POSITIVE = {"low": 0.01, "high": 50.0}
UNIT = {"low": -0.99, "high": 0.99}
FUNCTIONS: dict[str, tuple[str | None, dict[str, float]]] = {
    "exp": (None, {"low": -20, "high": 20}),
    "log": (None, POSITIVE),
    "log2": (None, POSITIVE),
    "log10": (None, POSITIVE),
    "sin": (None, {"low": -30, "high": 30}),
    "cos": (None, {"low": -30, "high": 30}),
    "tan": (None, {"low": -30, "high": 30}),
    "asin": ("arcsin", UNIT),
    "acos": ("arccos", UNIT),
    "atan": ("arctan", {"low": -20, "high": 20}),
    "sinh": (None, {}),
    "cosh": (None, {}),
    "tanh": (None, {}),
    "asinh": ("arcsinh", {"low": -20, "high": 20}),
    "acosh": ("arccosh", {"low": 1.0, "high": 50.0}),
    "atanh": ("arctanh", UNIT),
    "sqrt": (None, POSITIVE),
    "floor": (None, {}),
    "abs": (None, {}),
}


def chain_row() -> Row:
    """Four operations, whose intermediate results nobody keeps."""

    def make() -> dict[str, Call]:
        rng = np.random.default_rng(1)
        arrays = [rng.uniform(1, 2, COUNT).astype(np.float32) for _ in range(5)]
        x, a, b, c, d = arrays
        tensors = [ndd.tensor(array).evaluate() for array in arrays]

        def ours() -> Any:
            x, a, b, c, d = tensors
            return (x * a + b - c / d).evaluate()

        return {
            "daliesque": ours,
            "numpy": lambda: x * a + b - c / d,
            "torch": torch_call(lambda _, x, a, b, c, d: x * a + b - c / d, *arrays),
        }

    return Row(make, 1.3)


def scalar_chain_row() -> Row:
    return elements(
        1.3,
        lambda x: x * 1.5 + 2.0 - x / 3.0,
        lambda x: x * np.float32(1.5) + np.float32(2) - x / np.float32(3),
        lambda _, x: x * 1.5 + 2.0 - x / 3.0,
    )


def random_row(ours: Function, numpy: Function, torch: Function, target: float = 1.0) -> Row:
    def make() -> dict[str, Call]:
        rng = np.random.default_rng(1)
        return {
            "daliesque": lambda: ours().evaluate(),
            "numpy": lambda: numpy(rng),
            "torch": torch_call(torch),
        }

    return Row(make, target)


def image_reduction(ours: Function, numpy: Function, torch: Function, dtype: Any) -> Row:
    def make() -> dict[str, Call]:
        arrays = pictures().astype(dtype)
        batch = ndd.batch(arrays, layout="HWC").evaluate()
        return {
            "daliesque": lambda: ours(batch).evaluate(),
            "numpy": lambda: numpy(arrays),
            "torch": torch_call(torch, arrays),
        }

    return Row(make, 1.0)


def mean_row() -> Row:
    def make() -> dict[str, Call]:
        arrays = pictures()
        batch = ndd.batch(arrays, layout="HWC").evaluate()

        def by_opencv() -> Any:
            import cv2

            return [cv2.mean(image) for image in arrays]

        return {
            "daliesque": lambda: ndd.reductions.mean(batch, axes=(0, 1)).evaluate(),
            "cv2": by_opencv,
        }

    return Row(make, 1.0)


def one_hot_row() -> Row:
    def make() -> dict[str, Call]:
        labels = np.random.default_rng(1).integers(0, 256, (32, 64))
        batch = ndd.batch(labels.astype(np.int32)).evaluate()

        def by_torch(torch: Any, values: Any) -> Any:
            return torch.nn.functional.one_hot(values, 256).to(torch.float32)

        def by_torch_integers(torch: Any, values: Any) -> Any:
            return torch.nn.functional.one_hot(values, 256)

        def by_numpy() -> Array:
            out = np.zeros((32, 64, 256), np.float32)
            np.put_along_axis(out, labels[..., None], 1, axis=2)
            return out

        return {
            "daliesque": lambda: ndd.one_hot(batch, num_classes=256).evaluate(),
            "numpy": by_numpy,
            "torch": torch_call(by_torch, labels),
            "torch-i64*": torch_call(by_torch_integers, labels),
        }

    return Row(make, 1.0)


SHAPE = (100_000,)
ROWS: dict[str, Row] = {
    **{
        f"1e7 {short} {name}": named(name, dtype, other, **given)
        for short, dtype in (("f32", np.float32), ("f64", np.float64))
        for name, (other, given) in FUNCTIONS.items()
    },
    **{
        f"1e7 {short} pow 2.5": elements(
            1.0,
            lambda x, dtype=dtype: ndd.math.pow(x, dtype(2.5)),
            lambda x, dtype=dtype: np.power(x, dtype(2.5)),
            lambda torch, x: torch.pow(x, 2.5),
            dtype=dtype,
            **POSITIVE,
        )
        for short, dtype in (("f32", np.float32), ("f64", np.float64))
    },
    "1e7 f32 cbrt": elements(1.0, ndd.math.cbrt, np.cbrt),
    "1e7 f32 atan2": elements(
        1.0,
        lambda x: ndd.math.atan2(x, x + 1),
        lambda x: np.arctan2(x, x + np.float32(1)),
        lambda torch, x: torch.atan2(x, x + 1),
    ),
    "1e7 f32 rsqrt": elements(
        1.0, ndd.math.rsqrt, lambda x: 1 / np.sqrt(x), lambda torch, x: torch.rsqrt(x), **POSITIVE
    ),
    "1e7 f32 sum": elements(1.0, ndd.reductions.sum, np.sum, lambda torch, x: torch.sum(x)),
    "1e7 f32 mean": elements(1.0, ndd.reductions.mean, np.mean, lambda torch, x: torch.mean(x)),
    "1e7 f32 max": elements(1.0, ndd.reductions.max, np.max, lambda torch, x: torch.max(x)),
    "1e7 f32 min": elements(1.0, ndd.reductions.min, np.min, lambda torch, x: torch.min(x)),
    "1e7 i32 sum": elements(
        1.0, ndd.reductions.sum, np.sum, lambda torch, x: torch.sum(x), dtype=np.int32, high=100
    ),
    "1e7 f32 std": elements(
        1.0,
        lambda x: ndd.reductions.std_dev(x, ndd.reductions.mean(x)),
        np.std,
        lambda torch, x: torch.std(x, correction=0),
    ),
    "1e7 f32 x > 1": elements(1.0, lambda x: x > 1, lambda x: x > 1, lambda _, x: x > 1),
    "1e7 f32 x == 1": elements(1.0, lambda x: x == 1, lambda x: x == 1, lambda _, x: x == 1),
    "1e7 i32 x > 1": elements(
        1.0, lambda x: x > 1, lambda x: x > 1, lambda _, x: x > 1, dtype=np.int32
    ),
    "1e7 u8 x > 1": elements(
        1.0, lambda x: x > 1, lambda x: x > 1, lambda _, x: x > 1, dtype=np.uint8, low=0
    ),
    "1e7 f32 x + y": elements(1.0, lambda x: x + x, lambda x: x + x, lambda _, x: x + x),
    "1e7 f32 clamp": elements(
        1.0,
        lambda x: ndd.math.clamp(x, np.float32(-1), np.float32(1)),
        lambda x: np.clip(x, np.float32(-1), np.float32(1)),
        lambda torch, x: torch.clamp(x, -1, 1),
    ),
    "1e7 f32 x*a+b-c/d": chain_row(),
    "1e7 f32 x*1.5+2-x/3": scalar_chain_row(),
    "mean u8 images axes HW": mean_row(),
    "max u8 images": image_reduction(
        ndd.reductions.max,
        lambda x: x.reshape(32, -1).max(axis=1),
        lambda torch, x: torch.amax(x.reshape(32, -1), 1),
        np.uint8,
    ),
    "sum f32 images axis 0": image_reduction(
        lambda x: ndd.reductions.sum(x, axes=(0,)),
        lambda x: x.sum(axis=1),
        lambda torch, x: torch.sum(x, 1),
        np.float32,
    ),
    "one_hot 32x64 to 256": one_hot_row(),
    "random.normal 32x100k": random_row(
        lambda: ndd.random.normal(shape=SHAPE, batch_size=32),
        lambda rng: rng.standard_normal((32, *SHAPE), np.float32),
        lambda torch: torch.randn((32, *SHAPE)),
    ),
    "random.uniform 32x100k": random_row(
        lambda: ndd.random.uniform(shape=SHAPE, batch_size=32),
        lambda rng: rng.random((32, *SHAPE), np.float32),
        lambda torch: torch.rand((32, *SHAPE)),
    ),
}
