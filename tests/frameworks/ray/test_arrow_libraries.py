# SPDX-License-Identifier: Apache-2.0
"""Polars, DuckDB and Ray take batches as columns and give columns that are batches."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from ray.data.extensions import ArrowTensorArray

import daliesque as ndd

TYPES = [np.uint8, np.int16, np.int64, np.float32, np.float64]


def address(batch: ndd.Batch, sample: int = 0) -> int:
    return batch._data().pointer(sample)


@pytest.mark.parametrize("dtype", TYPES)
def test_polars_shares_dense_batches(dtype: Any) -> None:
    values = np.arange(5 * 4 * 3).reshape(5, 4, 3).astype(dtype)
    batch = ndd.batch(values, layout="HW")
    series = pl.Series("image", batch)
    assert series.ext.storage().to_numpy().reshape(5, 4, 3).tolist() == values.tolist()
    back = ndd.as_batch(series)
    np.testing.assert_array_equal(back.numpy(), values)
    assert back.layout == "HW"
    assert address(back) == address(batch)


@pytest.mark.parametrize("dtype", TYPES)
def test_polars_shares_ragged_batches(dtype: Any) -> None:
    values = [np.arange(6).reshape(2, 3).astype(dtype), np.arange(20).reshape(4, 5).astype(dtype)]
    batch = ndd.batch(values)
    back = ndd.as_batch(pl.Series("image", batch))
    assert address(back, 1) == address(batch, 1)
    for ours, theirs in zip(back, values, strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)


def test_polars_shares_encoded_batches() -> None:
    contents = [b"\x01" * 100, b"short", b"\x03" * 5000]
    batch = ndd.batch([np.frombuffer(content, np.uint8) for content in contents])
    series = pl.Series("jpeg", batch)
    assert series.dtype == pl.Binary
    assert series.to_list() == contents
    back = ndd.as_batch(series)
    assert [bytes(sample.numpy()) for sample in back] == contents
    assert address(back, 2) == address(batch, 2)


def test_columns_of_polars() -> None:
    frame = pl.DataFrame(
        {
            "number": [3, 1, 2],
            "text": ["a", "a longer text than fits into a view", ""],
            "list": [[1.0], [], [2.0, 3.0]],
            "class": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        }
    )
    assert ndd.as_batch(frame["number"]).tolist() == [3, 1, 2]
    texts = [bytes(sample.numpy()).decode() for sample in ndd.as_batch(frame["text"])]
    assert texts == frame["text"].to_list()
    assert ndd.as_batch(frame["list"]).tolist() == [[1.0], [], [2.0, 3.0]]
    classes = [bytes(sample.numpy()) for sample in ndd.as_batch(frame["class"])]
    assert classes == [b"x", b"y", b"x"]
    rows = ndd.as_batch(pl.Series(np.arange(12.0).reshape(3, 4)))
    assert rows.numpy().tolist() == np.arange(12.0).reshape(3, 4).tolist()
    with pytest.raises(ValueError, match="Pass one of them"):
        ndd.as_batch(frame)
    with pytest.raises(ValueError, match="row 1 of the Arrow array has a missing value"):
        ndd.as_batch(pl.Series([1, None]))


def test_duckdb_reads_batches() -> None:
    contents = [b"\x01" * 100, b"short", b"\x03" * 5000]
    rows_of_batches = pa.table(
        {
            "jpeg": pa.array(ndd.batch([np.frombuffer(c, np.uint8) for c in contents])),
            "label": pa.array(ndd.batch(np.array([5, 6, 7], np.int64))),
            "box": pa.array(ndd.batch(np.arange(12, dtype=np.float32).reshape(3, 4))).storage,
            "ragged": pa.array(ndd.batch([[1, 2], [3], []], dtype=ndd.int32)).storage,
        }
    )
    assert rows_of_batches.num_rows == 3
    query = "select octet_length(jpeg), label, box[2], ragged.data from rows_of_batches"
    rows = duckdb.sql(query).fetchall()
    assert rows == [(100, 5, 1.0, [1, 2]), (5, 6, 5.0, [3]), (5000, 7, 9.0, [])]


def test_results_of_duckdb() -> None:
    found = duckdb.sql(
        "select unnest([3, 1]) as n, unnest(['ab'::blob, 'cde'::blob]) as b, "
        "[1, 2, 3]::float[3] as v, unnest([[1], [2, 3]]) as l"
    )
    table = found.to_arrow_table()
    assert ndd.as_batch(table["n"]).tolist() == [3, 1]
    assert [bytes(sample.numpy()) for sample in ndd.as_batch(table["b"])] == [b"ab", b"cde"]
    assert ndd.as_batch(table["v"]).numpy().tolist() == [[1, 2, 3], [1, 2, 3]]
    assert ndd.as_batch(table["l"]).tolist() == [[1], [2, 3]]
    with pytest.raises(ValueError, match="columns 'n', 'b', 'v', 'l'"):
        ndd.as_batch(found)


def test_tensors_of_ray_are_shared() -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    dense = ArrowTensorArray.from_numpy(values)
    assert address(ndd.as_batch(dense)) == values.ctypes.data
    np.testing.assert_array_equal(ndd.as_batch(dense).numpy(), values)
    np.testing.assert_array_equal(ndd.as_batch(dense[1:3]).numpy(), values[1:3])
    samples = [np.ones((2, 3), np.int16), np.zeros((1, 5), np.int16)]
    ragged = np.empty(2, object)
    ragged[:] = samples
    batch = ndd.as_batch(ArrowTensorArray.from_numpy(ragged))
    assert batch.shape == [(2, 3), (1, 5)]
    assert batch.tolist() == [sample.tolist() for sample in samples]
    flags = ndd.as_batch(ArrowTensorArray.from_numpy(np.array([[True, False], [False, True]])))
    assert flags.tolist() == [[True, False], [False, True]]
