# SPDX-License-Identifier: Apache-2.0
"""Operators on the shape of ragged batches and of strided views, alone and in chains: as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from support.compare import assert_close, assert_same

MODES = [ndd.EvalMode.deferred, ndd.EvalMode.eager, ndd.EvalMode.sync_cpu]
REDUCTIONS = ["sum", "min", "max", "mean", "mean_square", "rms"]
Arrays = list[Any]


@st.composite
def batches(draw: Any, least_axes: int = 1, least_extent: int = 0) -> Arrays:
    """One to four arrays of different shapes, in any order of memory.

    The values are small integers, so that sums are exact in every type.
    """
    dtype = draw(st.sampled_from(["uint8", "int16", "int32", "int64", "float32"]))
    ndim = draw(st.integers(least_axes, 4))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    extents = st.lists(st.integers(least_extent, 5), min_size=ndim, max_size=ndim)
    arrays = []
    for shape in draw(st.lists(extents, min_size=1, max_size=4)):
        steps = tuple(slice(None, None, draw(st.sampled_from([1, 1, 2, -1]))) for _ in shape)
        source = rng.integers(0, 10, [2 * extent for extent in shape]).astype(dtype)
        cut = tuple(slice(extent) for extent in shape)
        arrays.append(source[steps][cut])
    return arrays


def assert_alike(batch: Any, expected: Arrays) -> None:
    assert len(batch.tensors) == len(expected)
    for sample, array in zip(batch.tensors, expected, strict=True):
        assert_same(sample, array)


@given(batches(), st.data())
@settings(max_examples=80)
def test_slice(arrays: Arrays, data: Any) -> None:
    """Parts along some axes, different in each sample, cut off where they leave the array."""
    ndim = arrays[0].ndim
    axes = data.draw(st.lists(st.integers(0, ndim - 1), min_size=1, unique=True))
    bounds = st.lists(
        st.tuples(st.integers(-3, 7), st.integers(0, 5)), min_size=len(axes), max_size=len(axes)
    )
    parts = [data.draw(bounds) for _ in arrays]
    starts = [[start for start, _ in part] for part in parts]
    lengths = [[length for _, length in part] for part in parts]
    ends = np.add(starts, lengths).tolist()
    second = data.draw(st.sampled_from([{"shape": lengths}, {"end": ends}]))
    result = ndd.slice(
        ndd.as_batch(arrays),
        start=ndd.batch(starts),
        axes=[axis - ndim * data.draw(st.booleans()) for axis in axes],
        out_of_bounds_policy="trim_to_shape",
        **{name: ndd.batch(values) for name, values in second.items()},
    )
    expected = []
    for array, part in zip(arrays, parts, strict=True):
        window = [slice(None)] * ndim
        for axis, (start, length) in zip(axes, part, strict=True):
            window[axis] = slice(max(start, 0), max(start + length, 0))
        expected.append(array[tuple(window)])
    assert_alike(result, expected)


@given(batches(least_extent=1), st.integers(0, 4), st.data())
@settings(max_examples=60)
def test_cat_and_stack(arrays: Arrays, more: int, data: Any) -> None:
    ndim = arrays[0].ndim
    axis = data.draw(st.integers(-ndim, ndim - 1))
    inputs = [arrays]
    for _ in range(more):
        lengths = [data.draw(st.integers(0, array.shape[axis])) for array in arrays]
        inputs.append(
            [array.take(range(n), axis) for array, n in zip(arrays, lengths, strict=True)]
        )
    joined = [np.concatenate(parts, axis) for parts in zip(*inputs, strict=True)]
    assert_alike(ndd.cat(*map(ndd.as_batch, inputs), axis=axis), joined)
    axis = data.draw(st.integers(-ndim, ndim))
    stacked = [np.stack([array] * (more + 1), axis) for array in arrays]
    assert_alike(ndd.stack(*[ndd.as_batch(arrays)] * (more + 1), axis=axis), stacked)


@given(batches(), st.data())
@settings(max_examples=60)
def test_transpose_and_reshape(arrays: Arrays, data: Any) -> None:
    ndim = arrays[0].ndim
    order = data.draw(st.permutations(range(ndim)))
    transposed = [array.transpose(order) for array in arrays]
    batch = ndd.transpose(ndd.as_batch(arrays), perm=order)
    assert_alike(batch, transposed)
    first = data.draw(st.integers(0, ndim - 1))
    last = data.draw(st.integers(first, ndim - 1))
    shapes = [
        [*a.shape[:first], int(np.prod(a.shape[first : last + 1])), *a.shape[last + 1 :]]
        for a in transposed
    ]
    merged = ndd.reshape(batch, shape=ndd.batch(shapes))
    assert_alike(merged, [a.reshape(shape) for a, shape in zip(transposed, shapes, strict=True)])
    assert_alike(ndd.reshape(merged, shape=ndd.batch([a.shape for a in transposed])), transposed)


def numpy_reduction(name: str, array: Any, axes: tuple[int, ...], keep: bool) -> Any:
    if name in ("min", "max"):
        return getattr(array, name)(axis=axes, keepdims=keep)
    if name == "sum":
        kind = array.dtype.kind
        return array.sum(axis=axes, keepdims=keep, dtype="f4" if kind == "f" else kind + "8")
    terms = array.astype(np.float64) ** (1 if name == "mean" else 2)
    mean = terms.mean(axis=axes, keepdims=keep)
    return (np.sqrt(mean) if name == "rms" else mean).astype(np.float32)


@given(batches(least_extent=1), st.sampled_from(REDUCTIONS), st.booleans(), st.data())
@settings(max_examples=150)
def test_reductions(arrays: Arrays, name: str, keep: bool, data: Any) -> None:
    ndim = arrays[0].ndim
    axes = data.draw(st.lists(st.integers(0, ndim - 1), min_size=1, unique=True))
    layout = "ABCD"[:ndim]
    which = data.draw(
        st.sampled_from([{"axes": axes}, {"axis_names": "".join(layout[k] for k in axes)}])
    )
    batch = ndd.as_batch(arrays, layout=layout)
    result = getattr(ndd.reductions, name)(batch, keep_dims=keep, **which)
    for sample, array in zip(result.tensors, arrays, strict=True):
        expected = numpy_reduction(name, array, tuple(axes), keep)
        assert np.asarray(sample).dtype == expected.dtype
        assert_close(sample, expected, "two roundings")


@given(batches(least_extent=1), st.integers(0, 1), st.booleans(), st.data())
@settings(max_examples=60)
def test_variance_around_a_mean_for_each_sample(
    arrays: Arrays, ddof: int, keep: bool, data: Any
) -> None:
    axes = tuple(data.draw(st.lists(st.integers(0, arrays[0].ndim - 1), min_size=1, unique=True)))
    means = [array.mean(axis=axes, keepdims=keep, dtype=np.float32) for array in arrays]
    arguments: dict[str, Any] = {"axes": list(axes), "ddof": ddof, "keep_dims": keep}
    inputs = ndd.as_batch(arrays), ndd.as_batch(means)
    variance = ndd.reductions.variance(*inputs, **arguments)
    deviation = ndd.reductions.std_dev(*inputs, **arguments)
    for k, array in enumerate(arrays):
        if np.prod([array.shape[axis] for axis in axes]) <= ddof:
            continue
        wide = array.astype(np.float64)
        expected = wide.var(axis=axes, keepdims=keep, ddof=ddof)
        assert_close(variance.tensors[k], expected, "variance of large values")
        assert_close(deviation.tensors[k], np.sqrt(expected), "deviation of large values")


def window(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim - 1))
    start = data.draw(st.integers(0, min(a.shape[axis] for a in arrays)))
    cut = (slice(None),) * axis + (slice(start, None),)
    return ndd.slice(batch, start=[start], axes=[axis]), [a[cut] for a in arrays]


def reversed_view(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim - 1))
    key = (slice(None),) * axis + (slice(None, None, -1),)
    return batch.slice[key], [a[key] for a in arrays]


def transposed(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    order = data.draw(st.permutations(range(arrays[0].ndim)))
    return ndd.transpose(batch, perm=order), [a.transpose(order) for a in arrays]


def flattened(batch: Any, arrays: Arrays, _data: Any) -> tuple[Any, Arrays]:
    return ndd.reshape(batch, shape=ndd.batch([[a.size] for a in arrays])), [
        a.reshape(-1) for a in arrays
    ]


def doubled(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim - 1))
    return ndd.cat(batch, batch, axis=axis), [np.concatenate([a, a], axis) for a in arrays]


def stacked(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim))
    return ndd.stack(batch, batch, axis=axis), [np.stack([a, a], axis) for a in arrays]


def padded(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim - 1))
    most = max(a.shape[axis] for a in arrays)
    widths = [[(0, (most - a.shape[k]) * (k == axis)) for k in range(a.ndim)] for a in arrays]
    expected = [np.pad(a, w, constant_values=3) for a, w in zip(arrays, widths, strict=True)]
    return ndd.pad(batch, axes=[axis], fill_value=3), expected


def reduced(batch: Any, arrays: Arrays, data: Any) -> tuple[Any, Arrays]:
    axis = data.draw(st.integers(0, arrays[0].ndim - 1))
    if any(a.shape[axis] == 0 for a in arrays):
        return batch, arrays
    return ndd.reductions.max(batch, axes=[axis], keep_dims=True), [
        a.max(axis=axis, keepdims=True) for a in arrays
    ]


STEPS: list[Callable[[Any, Arrays, Any], tuple[Any, Arrays]]] = [
    window,
    reversed_view,
    transposed,
    flattened,
    doubled,
    stacked,
    padded,
    reduced,
]


@given(batches(), st.sampled_from(MODES), st.lists(st.sampled_from(STEPS), max_size=6), st.data())
@settings(max_examples=400)
def test_chains(arrays: Arrays, mode: ndd.EvalMode, steps: list[Any], data: Any) -> None:
    """What one operator leaves (views, strides, gaps, empty samples) suits the next."""
    with mode:
        batch = ndd.as_batch(arrays)
        for step in steps:
            batch, arrays = step(batch, arrays, data)
        assert_alike(batch, arrays)
