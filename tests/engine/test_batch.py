# SPDX-License-Identifier: Apache-2.0
"""Batch: construction, selection, slicing, stacking, printing."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import daliesque as ndd
from daliesque import _kernels
from daliesque._engine.convert import to_numpy
from daliesque._engine.samples import host


def values(batch: ndd.Batch) -> list[Any]:
    return [np.asarray(t).tolist() for t in batch]


def test_list_of_arrays() -> None:
    arrays = [np.ones((2, 3), np.uint8), np.zeros((4, 1), np.uint8)]
    copied, wrapped = ndd.batch(arrays, layout="HW"), ndd.as_batch(arrays)
    arrays[0][0, 0] = 9
    assert copied.shape == [(2, 3), (4, 1)]
    assert copied.batch_size == 2
    assert copied.layout == "HW"
    assert copied.dtype == ndd.uint8
    assert copied.ndim == 2
    assert np.asarray(copied.tensors[0])[0, 0] == 1
    assert np.asarray(wrapped.tensors[0])[0, 0] == 9


def test_array_is_split_along_its_outermost_axis() -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    batch = ndd.as_batch(array, layout="HW")
    assert batch.shape == [(2, 3)] * 4
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(batch)), array)
    assert np.shares_memory(np.asarray(ndd.as_tensor(batch)), array)
    strided = ndd.as_batch(array[::-1, :, ::2])
    np.testing.assert_array_equal(np.asarray(ndd.as_tensor(strided)), array[::-1, :, ::2])


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        ([1, 2, 3], ndd.int32, [()] * 3),
        ([1.0, 2.0], ndd.float32, [()] * 2),
        ([[1, 2], [3]], ndd.int32, [(2,), (1,)]),
        ((np.float64([1]), np.float64([1, 2])), ndd.float64, [(1,), (2,)]),
        (range(3), ndd.int32, [()] * 3),
        ((np.zeros(k, np.uint8) for k in (1, 2)), ndd.uint8, [(1,), (2,)]),
    ],
)
def test_kinds_of_lists(data: Any, dtype: ndd.DType, shape: list[tuple[int, ...]]) -> None:
    batch = ndd.batch(data)
    assert batch.dtype == dtype
    assert batch.shape == shape


def test_tensors_as_batch_share_memory() -> None:
    tensors = [ndd.tensor(np.full(3, k)) for k in range(4)]
    batch = ndd.as_batch(tensors)
    for tensor, sample in zip(tensors, batch, strict=True):
        assert np.shares_memory(np.asarray(tensor), np.asarray(sample))
    copied = ndd.batch(tensors)
    assert not np.shares_memory(np.asarray(copied.tensors[0]), np.asarray(tensors[0]))
    assert values(copied) == values(batch)


def test_unevaluated_tensors_as_batch() -> None:
    with ndd.EvalMode.deferred:
        batch = ndd.as_batch([ndd.tensor([1, 2]) + 1, ndd.tensor([3]) * 2])
        assert batch.batch_size == 2
    assert values(batch) == [[2, 3], [6]]


def test_batch_without_samples() -> None:
    with pytest.raises(ValueError, match="batch: Element type must be specified"):
        ndd.batch([])
    empty = ndd.batch([], dtype=ndd.float32, layout="HW")
    assert (empty.batch_size, empty.shape, empty.ndim) == (0, [], 2)
    assert empty.dtype == ndd.float32
    assert (empty + 1).shape == []
    assert empty.torch().shape == (0, 0, 0)


def test_unequal_samples() -> None:
    with pytest.raises(ValueError, match="sample 0 has 1 and sample 1 has 2"):
        ndd.batch([np.zeros(2), np.zeros((2, 2))])
    assert ndd.batch([np.zeros(2, np.uint8), np.ones(2, np.float32)]).dtype == ndd.uint8


@pytest.mark.parametrize(
    ("data", "error"),
    [(5, TypeError), ([None], TypeError), (np.float32(1), ValueError), (None, ValueError)],
)
def test_unusable_data_is_refused(data: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"[Bb]atch:"):
        ndd.batch(data) if data is not None else ndd.Batch(data)


def test_batches_do_not_nest() -> None:
    batch = ndd.batch([1, 2])
    with pytest.raises(ValueError, match="list of Batch"):
        ndd.batch([batch, batch])


def test_conversion() -> None:
    batch = ndd.batch([[1.5], [300.0]], layout="X")
    assert values(ndd.batch(batch, dtype=ndd.uint8)) == [[2], [255]]
    assert ndd.as_batch(batch, dtype=ndd.uint8).layout == "X"
    assert ndd.as_batch(batch) is batch
    assert ndd.as_batch(batch, layout="Y").layout == "Y"
    assert batch.layout == "X"
    assert ndd.batch(batch) is not batch


def test_broadcast() -> None:
    batch = ndd.Batch.broadcast(np.array([1, 2, 3]), 5)
    assert batch.shape == [(3,)] * 5
    assert values(batch) == [[1, 2, 3]] * 5
    assert ndd.Batch.broadcast([1, 2], 2, dtype=ndd.float16).dtype == ndd.float16
    assert values(ndd.Batch.broadcast(ndd.tensor([4]), 2)) == [[4], [4]]
    assert ndd.Batch.broadcast(1, 0).batch_size == 0
    with pytest.raises(ValueError, match="got a Batch"):
        ndd.Batch.broadcast(batch, 2)
    with pytest.raises(ValueError, match="negative"):
        ndd.Batch.broadcast(1, -1)


def test_select() -> None:
    batch = ndd.batch([[k] * (k + 1) for k in range(5)])
    single = batch.select(2)
    assert isinstance(single, ndd.Tensor)
    assert np.asarray(single).tolist() == [2, 2, 2]
    assert np.asarray(batch.select(-1)).tolist() == [4] * 5
    assert values(batch.select(slice(1, 4, 2))) == [[1, 1], [3, 3, 3, 3]]
    assert values(batch.select([3, 0, 3])) == [[3] * 4, [0], [3] * 4]
    assert batch.select(...) is batch
    assert batch.select([]).batch_size == 0
    with pytest.raises(IndexError, match="5 is not the number of a sample; there are 5"):
        batch.select(5)
    with pytest.raises(TypeError, match="number, a slice or a list"):
        batch.select("a")


def test_tensors_are_indexed_like_a_list() -> None:
    batch = ndd.batch([1, 2, 3, 4])
    assert len(batch.tensors) == 4
    assert batch.tensors[1].item() == 2
    assert batch.tensors[-1].item() == 4
    assert [t.item() for t in batch.tensors[1:3]] == [2, 3]
    assert [t.item() for t in batch.tensors[[3, 0]]] == [4, 1]
    assert [t.item() for t in batch.tensors.tolist()] == [1, 2, 3, 4]
    assert values(batch.tensors[1:].as_batch()) == [2, 3, 4]
    with pytest.raises(IndexError):
        batch.tensors[4]


def test_no_getitem_and_no_dlpack() -> None:
    batch = ndd.batch([[1, 2], [3, 4]])
    with pytest.raises(TypeError, match=r"select.*\.slice"):
        batch[0]
    assert not hasattr(batch, "__dlpack__")


def test_slice() -> None:
    batch = ndd.batch([[1, 2, 3], [4, 5, 6, 7]], layout="X")
    assert values(batch.slice[0]) == [1, 4]
    assert values(batch.slice[-2:]) == [[2, 3], [6, 7]]
    assert values(batch.slice[::-1]) == [[3, 2, 1], [7, 6, 5, 4]]
    assert values(batch.slice[ndd.batch([0, 3])]) == [1, 7]
    assert values(batch.slice[ndd.batch([0, 1]) : ndd.batch([2, 4]) : 1]) == [[1, 2], [5, 6, 7]]
    assert values(batch.slice[ndd.tensor(1) :]) == [[2, 3], [5, 6, 7]]
    assert batch.slice[0].layout is None
    assert batch.slice[:] is batch
    assert batch.slice[...] is batch


def test_slice_is_a_view() -> None:
    batch = ndd.batch(np.zeros((2, 4, 4), np.uint8))
    part = batch.slice[1:3, 2]
    assert np.shares_memory(np.asarray(part.tensors[1]), np.asarray(batch.tensors[1]))


def test_bad_slices() -> None:
    batch = ndd.batch([[1, 2, 3], [4]])
    with pytest.raises(IndexError, match=r"Index 2 is out of range for axis 0.*\(sample 1\)"):
        batch.slice[2]
    with pytest.raises(ValueError, match="Inconsistent batch size: 3 != 2"):
        batch.slice[ndd.batch([0, 0, 0])]
    with pytest.raises(TypeError, match="integer"):
        batch.slice[ndd.batch([0.5, 0.5])].evaluate()
    with pytest.raises(TypeError, match="cannot be indexed by a Batch"):
        ndd.tensor([1, 2])[ndd.batch([0, 1])]


@settings(max_examples=50)
@given(data=st.data())
def test_slice_equals_numpy(data: st.DataObject) -> None:
    ndim = data.draw(st.integers(1, 3))
    shapes = data.draw(
        st.lists(hnp.array_shapes(min_dims=ndim, max_dims=ndim, max_side=5), min_size=1, max_size=4)
    )
    arrays = [np.arange(np.prod(shape), dtype=np.int32).reshape(shape) for shape in shapes]
    smallest = tuple(min(shape[axis] for shape in shapes) for axis in range(ndim))
    key = data.draw(hnp.basic_indices(smallest, allow_newaxis=False))
    result = ndd.as_batch(arrays).slice[key]
    for sample, array in zip(result, arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(sample), array[key])


@settings(max_examples=50)
@given(data=st.data())
def test_slice_with_one_index_for_each_sample(data: st.DataObject) -> None:
    arrays = [
        np.arange(n * 3).reshape(n, 3)
        for n in data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    ]
    starts = [data.draw(st.integers(-8, 8)) for _ in arrays]
    stops = [data.draw(st.integers(-8, 8)) for _ in arrays]
    steps = [data.draw(st.sampled_from([-2, -1, 1, 2])) for _ in arrays]
    result = ndd.as_batch(arrays).slice[ndd.batch(starts) : ndd.batch(stops) : ndd.batch(steps), 1]
    for sample, array, a, b, c in zip(result, arrays, starts, stops, steps, strict=True):
        np.testing.assert_array_equal(np.asarray(sample), array[a:b:c, 1])


def test_as_tensor() -> None:
    batch = ndd.batch(np.arange(6, dtype=np.int32).reshape(2, 3), layout="X")
    stacked = ndd.as_tensor(batch)
    assert stacked.shape == (2, 3)
    assert stacked.layout == "NX"
    assert np.shares_memory(np.asarray(stacked), np.asarray(batch.tensors[0]))
    assert not np.shares_memory(np.asarray(ndd.tensor(batch)), np.asarray(batch.tensors[0]))
    assert ndd.as_tensor(batch, layout="AB").layout == "AB"
    assert ndd.as_tensor(batch, dtype=ndd.float32).dtype == ndd.float32


def test_ragged_as_tensor() -> None:
    ragged = ndd.batch([[1, 2], [3]])
    with pytest.raises(ValueError, match=r"\(2,\) \(sample 0\) and \(1,\) \(sample 1\).*pad=True"):
        ndd.as_tensor(ragged).evaluate()
    padded = ndd.as_tensor(ragged, pad=True)
    assert np.asarray(padded).tolist() == [[1, 2], [3, 0]]
    images = ndd.batch([np.ones((2, 3, 2), np.uint8), np.ones((4, 1, 2), np.uint8)])
    expected = np.zeros((2, 4, 3, 2), np.uint8)
    expected[0, :2, :3] = 1
    expected[1, :4, :1] = 1
    np.testing.assert_array_equal(np.asarray(ndd.tensor(images, pad=True)), expected)


def test_pickle() -> None:
    batch = ndd.batch([[1, 2], [3]], dtype=ndd.int16, layout="X")
    again = pickle.loads(pickle.dumps(batch))
    assert values(again) == values(batch)
    assert again.dtype == ndd.int16
    assert again.layout == "X"


def test_repr() -> None:
    text = repr(ndd.batch([[1, 2], [3]]))
    assert text == (
        "Batch(\n"
        "    [[1 2],\n"
        "     [3]],\n"
        "    dtype=i32,\n"
        '    device="cpu",\n'
        "    num_samples=2,\n"
        "    shape=[(2,), (1,)])"
    )
    assert repr(ndd.batch([1, 2])).startswith("Batch(\n    [1, 2],\n")
    many = repr(ndd.batch(np.zeros((1000, 300, 300))))
    assert len(many) < 5000
    assert "num_samples=1000" in many
    failed = ndd.batch([1, 2]) // ndd.batch([[1, 2], [1, 2]]).slice[:0]
    assert isinstance(repr(failed), str)
    assert "<128 tensors of a Batch>" == repr(ndd.batch(np.zeros(128)).tensors)


def test_source_travels() -> None:
    batch = ndd.Batch._of(ndd.batch([[1], [2], [3]])._data(), ("a", "b", "c"))
    assert batch.source == ["a", "b", "c"]
    assert (batch + 1).source == ["a", "b", "c"]
    assert ndd.cast(batch, dtype=ndd.float32).source == ["a", "b", "c"]
    assert batch.select(1).source == "b"
    assert batch.select([2, 0]).source == ["c", "a"]
    assert [t.source for t in batch] == ["a", "b", "c"]
    assert ndd.as_batch(list(batch)).source == ["a", "b", "c"]
    assert ndd.batch([1]).source is None


def test_samples_of_several_parts() -> None:
    """Views and copies of chosen samples, and those between two of them."""
    arrays = [[np.full(k, 10 * part + k) for k in (3, 0, 5)] for part in (1, 2)]
    parts = [host(ndd.as_batch(part)._data()) for part in arrays]
    which, at = np.array([1, 0, 1, 1, 0]), np.array([2, 0, 1, 0, 2])
    expected = [[25] * 5, [13] * 3, [], [23] * 3, [15] * 5]
    for copied in (False, True):
        chosen = _kernels.Samples.pick(parts, which, at, copied)
        assert [to_numpy(chosen, k).tolist() for k in range(5)] == expected
        assert chosen.packed == copied
        between = chosen.between(1, 4)
        assert [to_numpy(between, k).tolist() for k in range(3)] == expected[1:4]
    assert len(parts[0].between(2, 2)) == 0
    for begin, end in ((-1, 2), (2, 1), (0, 4)):
        with pytest.raises(ndd.InternalError):
            parts[0].between(begin, end)
    for wrong in ([2], [-1]):
        with pytest.raises(ndd.InternalError):
            _kernels.Samples.pick(parts, np.array(wrong), np.array([0]), True)
        with pytest.raises(ndd.InternalError):
            _kernels.Samples.pick(parts, np.array([0]), np.array([3 * wrong[0]]), True)
