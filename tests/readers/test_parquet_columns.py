# SPDX-License-Identifier: Apache-2.0
"""Columns of Parquet files that are decoded natively, compared with what Arrow reads."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from daliesque._readers.sources import row_groups

ROWS = 300
KINDS: dict[str, Any] = {
    "bool": pa.bool_(),
    **{kind: getattr(pa, kind)() for kind in ("int8", "int16", "int32", "int64")},
    **{kind: getattr(pa, kind)() for kind in ("uint8", "uint16", "uint32", "uint64")},
    **{kind: getattr(pa, kind)() for kind in ("float16", "float32", "float64")},
    **{kind: getattr(pa, kind)() for kind in ("binary", "large_binary", "string", "large_string")},
    "binary(7)": pa.binary(7),
    "date32": pa.date32(),
    "time32": pa.time32("ms"),
    "time64": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "image": pa.struct([("bytes", pa.binary()), ("path", pa.string())]),
}
# Stored in another unit than they are read in.
CONVERTED: dict[str, Any] = {"timestamp": pa.timestamp("s"), "time32": pa.time32("s")}


def values(kind: Any, rng: np.random.Generator, distinct: int) -> pa.Array:
    """Random values, of which there are some different ones."""
    if pa.types.is_struct(kind):
        contents = values(pa.binary(), rng, distinct).to_pylist()
        return pa.array([{"bytes": each, "path": None} for each in contents], kind)
    chosen = rng.integers(0, distinct, ROWS)
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([rng.bytes(7) for _ in range(distinct)], kind).take(chosen)
    if pa.types.is_boolean(kind):
        return pa.array(rng.integers(0, 2, ROWS).astype(bool))
    if pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return pa.array(rng.integers(0, 86_000, ROWS), width).view(kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        numbers = rng.integers(0, 2**63 if pa.types.is_integer(kind) else 60_000, distinct)
        return pa.array(numbers.astype(kind.to_pandas_dtype())[chosen], kind)
    texts = ["".join(rng.choice(list("abé"), rng.integers(0, 40))) for _ in range(distinct)]
    return pa.array(texts).cast(kind).take(chosen)


def expected(column: Any) -> list[np.ndarray]:
    """The samples of a column, made with Arrow and NumPy."""
    column = column.combine_chunks()
    if pa.types.is_struct(column.type):
        column = column.field("bytes")
    if pa.types.is_temporal(column.type):
        column = column.view(pa.int32() if column.type.bit_width == 32 else pa.int64())
    if column.type in (pa.string(), pa.large_string()):
        column = column.cast(pa.large_binary())
    if pa.types.is_fixed_size_binary(column.type) or not hasattr(column.type, "to_pandas_dtype"):
        return [np.frombuffer(value, np.uint8) for value in column.to_pylist()]
    if column.type in (pa.binary(), pa.large_binary()):
        return [np.frombuffer(value, np.uint8) for value in column.to_pylist()]
    return list(column.to_numpy(zero_copy_only=False))


def check(path: Path, **arguments: Any) -> None:
    """Compare an epoch with the table."""
    table = pq.read_table(path)
    wanted = {name: expected(table.column(name)) for name in table.column_names}
    begin = 0
    reader = ndd.readers.Parquet(path=path, **arguments)
    for step in reader.next_epoch(batch_size=47, last_batch="partial"):
        for name, output in step.items():
            for k, sample in enumerate(output):
                found, value = np.array(sample), wanted[name][begin + k]
                assert found.dtype == value.dtype, name
                np.testing.assert_array_equal(found, value, name)
        begin += len(output)
    assert begin == len(table)


@pytest.fixture
def natively(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading by Arrow an error."""

    def refuse(_slices: Any, number: int) -> Any:
        msg = f"row group {number} is not decoded natively"
        raise AssertionError(msg)

    monkeypatch.setattr(row_groups.Slices, "_decode_by_arrow", refuse)


@pytest.mark.usefixtures("natively")
@pytest.mark.parametrize("page_version", ["1.0", "2.0"])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip"])
@pytest.mark.parametrize("dictionary", [False, True])
def test_all_types(tmp_path: Path, codec: str, page_version: str, dictionary: bool) -> None:
    rng = np.random.default_rng(5)
    columns = {name: values(kind, rng, 40) for name, kind in KINDS.items()}
    fields = [
        pa.field(name, kind, nullable=k % 2 == 0) for k, (name, kind) in enumerate(KINDS.items())
    ]
    table = pa.table(list(columns.values()), pa.schema(fields))
    pq.write_table(
        table,
        tmp_path / "x.parquet",
        row_group_size=130,
        compression=codec,
        use_dictionary=dictionary,
        data_page_version=page_version,
        data_page_size=300,
        write_batch_size=10,
    )
    check(tmp_path / "x.parquet")


@pytest.mark.usefixtures("natively")
def test_dictionaries_that_are_given_up(tmp_path: Path) -> None:
    """Writers go on with plain values if a dictionary gets too large."""
    rng = np.random.default_rng(6)
    columns = {"x": [rng.bytes(rng.integers(0, 3000)) for _ in range(ROWS)], "n": range(ROWS)}
    limits = {"dictionary_pagesize_limit": 20_000, "data_page_size": 9_000, "write_batch_size": 7}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=170, **limits)
    check(tmp_path / "x.parquet")


@pytest.mark.usefixtures("natively")
def test_samples_can_be_changed(tmp_path: Path) -> None:
    """Values of a dictionary that several rows have are copied."""
    pq.write_table(pa.table({"x": [b"abc", b"xyz", b"abc", b"abc"]}), tmp_path / "x.parquet")
    reader = ndd.readers.Parquet(path=tmp_path / "x.parquet")
    for _ in range(2):
        samples = [np.asarray(sample) for sample in next(reader.next_epoch(batch_size=4))["x"]]
        assert [bytes(sample) for sample in samples] == [b"abc", b"xyz", b"abc", b"abc"]
        samples[0][:] = 0
        assert [bytes(sample) for sample in samples[1:]] == [b"xyz", b"abc", b"abc"]


@pytest.mark.usefixtures("natively")
def test_rows_behind_others(tmp_path: Path) -> None:
    """A shard begins amid a row group."""
    rng = np.random.default_rng(7)
    contents = [rng.bytes(50) for _ in range(ROWS)]
    columns = {"x": contents, "n": range(ROWS)}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet", data_page_size=500)
    seen = []
    for shard in range(3):
        reader = ndd.readers.Parquet(path=tmp_path / "x.parquet", shard_id=shard, num_shards=3)
        for step in reader.next_epoch(batch_size=10, last_batch="partial"):
            numbers = step["n"].torch().tolist()
            assert [bytes(np.asarray(s)) for s in step["x"]] == [contents[n] for n in numbers]
            seen += numbers
    assert seen == list(range(ROWS))


def test_what_arrow_converts(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    columns = {name: values(kind, rng, 9) for name, kind in CONVERTED.items()}
    columns["date64"] = pa.array(rng.integers(0, 9, ROWS) * 86_400_000).view(pa.date64())
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    check(tmp_path / "x.parquet")


def test_names_with_dots(tmp_path: Path) -> None:
    struct = pa.array([{"b": k} for k in range(ROWS)])
    pq.write_table(pa.table({"a": struct, "a.b": range(5, ROWS + 5)}), tmp_path / "x.parquet")
    reader = ndd.readers.Parquet(path=tmp_path / "x.parquet", columns=["a.b"])
    found = next(reader.next_epoch(batch_size=ROWS))["a.b"].torch().tolist()
    assert found == list(range(5, ROWS + 5))


TABLES = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32),
        "kinds": st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=4, unique=True),
        "distinct": st.integers(1, ROWS),
        "nulls": st.sampled_from([0.0, 0.0, 0.01, 0.5]),
        "codec": st.sampled_from(["none", "snappy", "gzip", "zstd", "lz4", "brotli"]),
        "group": st.integers(1, ROWS),
        "page": st.sampled_from([1, 100, 1000, 1 << 20]),
        "version": st.sampled_from(["1.0", "2.0"]),
        "dictionary": st.sampled_from([0, 50, 1000, 1 << 20]),
        "slice": st.sampled_from([100, 3000, 1 << 20]),
    }
)


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_random_tables(given: dict[str, Any]) -> None:
    """Whatever is not decoded natively, as missing values are, comes from Arrow."""
    rng = np.random.default_rng(given["seed"])
    columns = {"row": pa.array(range(ROWS))}
    missing = np.zeros(ROWS, bool)
    for name in given["kinds"]:
        column = values(KINDS[name], rng, given["distinct"])
        nulls = rng.random(ROWS) < given["nulls"]
        missing |= nulls
        columns[name] = (
            pa.array(column.to_pylist(), column.type, mask=nulls) if nulls.any() else column
        )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_groups, "_SLICE_BYTES", given["slice"])
        path = Path(folder, "x.parquet")
        pq.write_table(
            pa.table(columns),
            path,
            row_group_size=given["group"],
            compression=given["codec"],
            data_page_version=given["version"],
            data_page_size=given["page"],
            write_batch_size=10,
            use_dictionary=given["dictionary"] > 0,
            dictionary_pagesize_limit=max(1, given["dictionary"]),
        )
        if not missing.any():
            check(path)
            return
        if missing.all():
            return
        table = pq.read_table(path)
        wanted = {name: expected(table.column(name).filter(~missing)) for name in columns}
        reader = ndd.readers.Parquet(path=path, on_error="skip")
        step = next(reader.next_epoch(batch_size=int((~missing).sum())))
        for name, output in step.items():
            for sample, value in zip(output, wanted[name], strict=True):
                np.testing.assert_array_equal(np.array(sample), value, name)


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip"])
def test_damaged_pages(tmp_path: Path, codec: str) -> None:
    """Damage is an error, or other values: Arrow finds the same in what it can read."""
    rng = np.random.default_rng(9)
    columns = {"x": [rng.bytes(30) for _ in range(40)], "n": range(40)}
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table(columns), path, compression=codec, row_group_size=20)
    whole = path.read_bytes()
    end = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for _ in range(150):
        content = bytearray(whole)
        for at in rng.integers(4, end, 3):
            content[at] = rng.integers(0, 256)
        path.write_bytes(content)
        try:
            table = pq.read_table(path, use_threads=False)
        except (OSError, pa.ArrowException):
            table = None
        reader = ndd.readers.Parquet(path=path)
        error = ""
        with contextlib.closing(reader.next_epoch()) as epoch:
            try:
                found = [bytes(np.asarray(step["x"])) for step in epoch]
            except ndd.DecodeError as raised:
                error = str(raised)
        if error:
            assert "is damaged" in error or "rows instead of" in error
            assert table is None, error
        elif table is not None:
            assert found == table.column("x").to_pylist()
