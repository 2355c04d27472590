# SPDX-License-Identifier: Apache-2.0
"""Arrow data that cannot be a batch, and how long shared memory lives."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import daliesque as ndd
from daliesque import _kernels


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (pa.array([1, None, 3]), ValueError, r"as_batch: row 1 .* missing value .*drop_null"),
        (pa.array([[1], None]), ValueError, "row 1"),
        (pa.array([[1], [2, None]]), ValueError, "row 1"),
        (pa.array([[[1], None]]), ValueError, "row 0"),
        (pa.array([b"a", None], pa.binary_view()), ValueError, "row 1"),
        (pa.chunked_array([[1, 2], [3, None]]), ValueError, "row 3"),
        (pa.array([[[1, 2], [3]]]), ValueError, "lists inside of a row differ in length"),
        (pa.array([["ab", "c"]]), ValueError, "differ in length"),
        (pa.table({"a": [1], "b": [2]}), ValueError, r"columns 'a', 'b'\. Pass one of them"),
        (pa.array([{"a": 1}]), ValueError, "columns 'a'"),
        (pa.nulls(2), TypeError, "an Arrow array of nulls holds neither numbers nor bytes"),
        (pa.array([1], pa.decimal128(5, 2)), TypeError, "decimals"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), TypeError, "maps"),
        (pa.array([["a"]], pa.list_(pa.string_view())), ValueError, "lists of binary or string"),
        (
            pa.RunEndEncodedArray.from_arrays([2], [5]),
            TypeError,
            "run-end encoded values .* Cast",
        ),
    ],
    ids=lambda value: str(getattr(value, "type", ""))[:40] or None,
)
def test_what_does_not_fit(data: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ndd.as_batch(data)


def test_arrays_that_contradict_themselves() -> None:
    offsets = pa.py_buffer(np.array([0, 9, 3], np.int32))
    values = pa.array([1, 2, 3])
    lists = pa.Array.from_buffers(pa.list_(pa.int64()), 2, [None, offsets], children=[values])
    with pytest.raises(ValueError, match="a list ends after its elements"):
        ndd.as_batch(lists)
    with pytest.raises(ValueError, match="negative length"):
        ndd.as_batch(lists[1:])
    views = np.zeros(16, np.uint8)
    views.view(np.int32)[:] = [100, 0, 3, 0]
    view = pa.Array.from_buffers(pa.binary_view(), 1, [None, pa.py_buffer(views)])
    with pytest.raises(ValueError, match="leads out of its buffer"):
        ndd.as_batch(view)
    shapes = {"data": pa.array([[1, 2, 3]]), "shape": pa.array([[2, 2]])}
    tensors = pa.StructArray.from_arrays(list(shapes.values()), list(shapes))
    with pytest.raises(ValueError, match=r"contradict their shapes: .*\(3,\) to \(2, 2\)"):
        ndd.as_batch(tensors)


def test_too_many_elements_for_the_offsets() -> None:
    sample = ndd.zeros(shape=[1 << 16, 2, 4], dtype=ndd.uint8)
    large = ndd.Batch.broadcast(sample, 2)
    assert ndd.as_batch(pa.array(large.select([0]))).shape == [(1 << 16, 2, 4)]
    # Offsets alone decide, so that the test needs no memory of that size.
    many = ndd.Batch.broadcast(sample, 1 << 13)._data()
    with pytest.raises(_kernels.InternalError, match="packed"):
        _kernels.export_arrow_array(many, _kernels.ArrowForm.lists)


def test_a_capsule_can_be_used_once() -> None:
    _, array = ndd.batch([1, 2]).__arrow_c_array__()
    _kernels.import_arrow_array(array)
    with pytest.raises(ValueError, match="has been used already"):
        _kernels.import_arrow_array(array)
    with pytest.raises(TypeError, match="not a capsule named arrow_array"):
        _kernels.import_arrow_array(object())


class Memory(bytearray):
    """Bytes that can be watched."""


def watched_batch() -> tuple[ndd.Batch, weakref.ref[Memory]]:
    """A batch of sevens, and whether its memory is still there."""
    memory = Memory(np.full(2000, 7, np.int32).tobytes())
    values = np.frombuffer(memory, np.int32).reshape(2, 1000)
    return ndd.as_batch(values), weakref.ref(memory)


def test_memory_lives_as_long_as_any_user() -> None:
    batch, alive = watched_batch()
    array = pa.array(batch)
    del batch
    gc.collect()
    assert array.storage.flatten().to_pylist() == [7] * 2000
    child = array.storage.flatten()
    del array
    gc.collect()
    assert child.to_pylist() == [7] * 2000
    assert alive() is not None
    del child
    gc.collect()
    assert alive() is None
    # A capsule that nobody takes releases what it holds.
    batch, alive = watched_batch()
    capsules = batch.__arrow_c_array__()
    del batch
    gc.collect()
    assert alive() is not None
    del capsules
    gc.collect()
    assert alive() is None


def test_arrow_data_live_as_long_as_any_sample() -> None:
    memory = Memory(np.arange(1000, dtype=np.int64).tobytes())
    alive = weakref.ref(memory)
    array = pa.Array.from_buffers(pa.int64(), 1000, [None, pa.py_buffer(memory)])
    batch = ndd.as_batch(array)
    del array, memory
    gc.collect()
    sample = batch.tensors[999]
    del batch
    gc.collect()
    assert alive() is not None
    assert sample.item() == 999
    del sample
    gc.collect()
    assert alive() is None


def test_the_last_user_may_be_a_thread_of_its_own() -> None:
    """Who drops the last reference need not hold the lock of the interpreter."""
    gone = threading.Event()
    memory = Memory(np.ones(1 << 20, np.float32).tobytes())
    weakref.finalize(memory, gone.set)
    array = pa.Array.from_buffers(pa.float32(), 1 << 20, [None, pa.py_buffer(memory)])
    result = ndd.as_batch(array) + 1
    for _ in range(20):
        result = result * 1
    del array, memory
    gc.collect()
    assert result.evaluate().numpy()[-1] == 2
    gc.collect()
    assert gone.wait(10)


PROGRAM = """
import numpy as np, pyarrow as pa, daliesque as ndd
kept = pa.array(ndd.batch(np.ones((64, 1 << 14), np.float32)))
batch = ndd.as_batch(pa.array(np.ones(1 << 20, np.float32)))
memory = bytearray(1 << 22)
array = pa.Array.from_buffers(pa.float32(), 1 << 20, [None, pa.py_buffer(memory)])
pending = [ndd.as_batch(array) + number for number in range(20)]
del array
class Kept:
    def __del__(self):
        self.held = None
keeper = Kept()
keeper.held = (kept, batch, pending)
import sys
sys.exit(7)
"""


def test_programs_end_with_arrow_data_in_use() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (7, b"")


def test_streams_that_fail() -> None:
    def batches() -> Any:
        yield pa.record_batch({"a": [1]})
        msg = "the source is gone"
        raise OSError(msg)

    reader = pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), batches())
    with pytest.raises(ValueError, match="the source is gone"):
        ndd.as_batch(reader)
