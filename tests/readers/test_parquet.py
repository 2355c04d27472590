# SPDX-License-Identifier: Apache-2.0
"""readers.Parquet, compared with what went into the tables."""

from __future__ import annotations

import datetime
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import daliesque as ndd
from daliesque._readers.sources import row_groups


def write(path: Path, columns: dict[str, Any], rows: int = 4, **arguments: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, row_group_size=rows, **arguments)
    return path


def read(batch_size: int | None = None, **arguments: Any) -> list[dict[str, np.ndarray]]:
    """The samples of an epoch, as arrays."""
    found = []
    for step in ndd.readers.Parquet(**arguments).next_epoch(batch_size=batch_size):
        samples = {
            name: [output] if batch_size is None else list(output) for name, output in step.items()
        }
        rows = zip(*samples.values(), strict=True)
        found += [dict(zip(samples, map(np.array, row), strict=True)) for row in rows]
    return found


def numbered(path: Path, first: int, count: int, rows: int = 4) -> Path:
    """A file whose column "x" counts from `first`."""
    return write(path, {"x": range(first, first + count)}, rows)


CONTENTS = [b"abc", b"", b"\0" * 5000, "é".encode(), b"x", b"yz", b"?"]
NUMBERS = [3, 1, 4, 1, 5, 9, 2]


@pytest.mark.parametrize("batch_size", [None, 7])
@pytest.mark.parametrize(
    "kind", "bool u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8".split(), ids=lambda kind: str(kind)
)
def test_columns_of_numbers(tmp_path: Path, kind: str, batch_size: int | None) -> None:
    values = np.array(NUMBERS).astype(kind)
    path = write(tmp_path / "x.parquet", {"x": values})
    found = read(path=path, batch_size=batch_size)
    for sample, value in zip(found, values, strict=True):
        assert sample["x"].shape == ()
        assert sample["x"].dtype == np.dtype(kind)
        assert sample["x"] == value


@pytest.mark.parametrize("kind", ["binary", "large_binary", "string", "large_string", "dictionary"])
def test_columns_of_bytes(tmp_path: Path, kind: str) -> None:
    if kind == "dictionary":
        column = pa.array(CONTENTS, pa.binary()).dictionary_encode()
    else:
        column = pa.array(CONTENTS, getattr(pa, kind)())
    path = write(tmp_path / "x.parquet", {"x": column}, 3)
    for batch_size in (None, 7):
        found = [sample["x"] for sample in read(path=path, batch_size=batch_size)]
        assert [sample.dtype for sample in found] == [np.uint8] * 7
        assert [bytes(sample) for sample in found] == CONTENTS


def test_fixed_size_bytes(tmp_path: Path) -> None:
    column = pa.array([b"abc", b"def"], pa.binary(3))
    path = write(tmp_path / "x.parquet", {"x": column})
    assert [bytes(sample["x"]) for sample in read(path=path, batch_size=2)] == [b"abc", b"def"]


def test_columns_of_nested_lists(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    vectors = [rng.integers(0, 9, n).tolist() for n in (3, 0, 1, 5, 2, 0, 4)]
    shapes = [(2, 3), (0, 0), (1, 1), (4, 2), (3, 1), (1, 0), (2, 2)]
    matrices = [rng.random(shape).tolist() for shape in shapes]
    cubes = [rng.random((2, 1, n)).astype("f4") for n in (1, 2, 3, 1, 2, 3, 0)]
    path = write(
        tmp_path / "x.parquet",
        {
            "vector": vectors,
            "matrix": pa.array(matrices, pa.list_(pa.list_(pa.float64()))),
            "cube": pa.array(
                [c.tolist() for c in cubes], pa.list_(pa.list_(pa.large_list(pa.float32())))
            ),
            "fixed": pa.array([[k, k] for k in range(7)], pa.list_(pa.int16(), 2)),
        },
        3,
    )
    for batch_size in (None, 7):
        for k, sample in enumerate(read(path=path, batch_size=batch_size)):
            assert sample["vector"].tolist() == vectors[k]
            assert sample["matrix"].shape == shapes[k]
            assert sample["matrix"].tolist() == matrices[k]
            np.testing.assert_array_equal(sample["cube"], cubes[k])
            assert sample["cube"].shape == cubes[k].shape
            assert sample["fixed"].tolist() == [k, k]


def test_images_and_fields(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.jpg").write_bytes(b"from a file")
    images = [
        {"bytes": b"abc", "path": None},
        {"bytes": None, "path": "elsewhere.jpg"},
        {"bytes": b"", "path": "no/such"},
    ]
    info = [{"size": {"width": k, "height": 7}} for k in range(3)]
    path = write(tmp_path / "x.parquet", {"image": images, "info": info, "label": [5, 6, 7]})
    found = read(path=path, columns=["label", "image", "info.size.width"], batch_size=3)
    assert list(found[0]) == ["label", "image", "info.size.width"]
    assert [bytes(sample["image"]) for sample in found] == [b"abc", b"from a file", b""]
    assert [int(sample["info.size.width"]) for sample in found] == [0, 1, 2]


def test_columns_of_dates_and_times(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 2, 3, 4, 5)
    columns = {"at": pa.array([day], pa.timestamp("ms")), "on": pa.array([day.date()], pa.date32())}
    (sample,) = read(path=write(tmp_path / "x.parquet", columns))
    assert int(sample["at"]) == 1577934245000
    assert int(sample["on"]) == 18263


def test_files_and_folders(tmp_path: Path) -> None:
    paths = [numbered(tmp_path / f"{name}.parquet", 10 * k, 5) for k, name in enumerate("ba")]
    numbered(tmp_path / "sub" / "c.parquet", 20, 2)
    (tmp_path / "notes.txt").write_text("")
    expected = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert [int(s["x"]) for s in read(path=paths)] == expected
    assert [int(s["x"]) for s in read(path=tmp_path)] == expected[5:] + expected[:5] + [20, 21]
    reader = ndd.readers.Parquet(path=paths)
    (batch,) = next(reader.next_epoch(batch_size=7)).values()
    assert batch.source[3:] == [
        *(f"{paths[0]} at row {k}" for k in (3, 4)),
        *(f"{paths[1]} at row {k}" for k in (0, 1)),
    ]


def test_shuffling_keeps_row_groups_together(tmp_path: Path) -> None:
    path = numbered(tmp_path / "x.parquet", 0, 24, rows=4)
    reader = ndd.readers.Parquet(path=path, shuffle_after_epoch=True)
    orders = []
    for _ in range(3):
        order = [int(np.asarray(step["x"])) for step in reader.next_epoch()]
        groups = np.array(order).reshape(6, 4)
        assert (groups == groups[:, :1] + np.arange(4)).all()
        orders.append(order)
    assert len({tuple(order) for order in orders}) == 3


@pytest.mark.parametrize("shuffle", [False, True])
def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shuffle: bool) -> None:
    """One large row group is decoded in slices; drawn rows come from few of them."""
    monkeypatch.setattr(row_groups, "_SLICE_BYTES", 200_000)
    monkeypatch.setattr(row_groups, "_KEPT_BYTES", 600_000)
    rows = 3000
    data = [bytes([k % 256]) * 10_000 for k in range(rows)]
    columns = {"x": range(rows), "y": data}
    pages = {"data_page_size": 100_000, "write_batch_size": 16, "compression": "none"}
    path = write(tmp_path / "x.parquet", columns, rows, **pages, use_dictionary=False)
    decoded = 0
    original = row_groups.Slices._decode

    def counting(self: Any, number: int) -> Any:
        nonlocal decoded
        decoded += 1
        return original(self, number)

    monkeypatch.setattr(row_groups.Slices, "_decode", counting)
    reader = ndd.readers.Parquet(path=path, random_shuffle=shuffle, initial_fill=50)
    pool = pa.default_memory_pool()
    before, most, seen = pool.bytes_allocated(), 0, []
    for step in reader.next_epoch(batch_size=10):
        numbers = step["x"].torch().tolist()
        assert [bytes(np.asarray(s)) for s in step["y"]] == [data[k] for k in numbers]
        seen += numbers
        most = max(most, pool.bytes_allocated() - before)
    assert sorted(seen) == list(range(rows))
    assert (seen != sorted(seen)) == shuffle
    assert most < 6_000_000
    assert decoded == 1


def test_missing_values(tmp_path: Path) -> None:
    lists = pa.array([[[1], [2]], [[1], [2, 3]], [[1], None], [[None]], [[4]]])
    path = write(tmp_path / "x.parquet", {"x": [1, None, 3, 4, 5], "y": ["a", "b", None, "d", "e"]})
    reader = ndd.readers.Parquet(path=path)
    match = r"readers\.Parquet: cannot read \".* at row 1\" \(sample 1 .*: there is no value in col"
    with pytest.raises(ndd.OpError, match=match):
        next(reader.next_epoch(batch_size=5))
    reader = ndd.readers.Parquet(path=path, on_error="skip")
    assert next(reader.next_epoch(batch_size=3))["x"].torch().tolist() == [1, 4, 5]
    assert [error.source[-5:] for error in reader.errors] == ["row 1", "row 2"]
    path = write(tmp_path / "y.parquet", {"x": lists, "n": range(5)})
    reader = ndd.readers.Parquet(path=path, on_error="skip")
    step = next(reader.next_epoch(batch_size=2))
    assert step["n"].torch().tolist() == [0, 4]
    assert [np.asarray(sample).tolist() for sample in step["x"]] == [[[1], [2]], [[4]]]
    assert len(reader.errors) == 3
    assert "the lists in column 'x' have different lengths" in str(reader.errors[0].exception)


def test_damaged_files(tmp_path: Path) -> None:
    good = numbered(tmp_path / "good.parquet", 0, 8, rows=4)
    bad = tmp_path / "bad.parquet"
    for content in (b"", b"PAR1", b"no Parquet at all", good.read_bytes()[:-9]):
        bad.write_bytes(content)
        with pytest.raises(ndd.DecodeError, match=r'Parquet: cannot read ".*bad\.parquet"'):
            ndd.readers.Parquet(path=bad)
        reader = ndd.readers.Parquet(path=[bad, good], on_error="skip")
        assert reader.get_metadata()["epoch_size"] == 8
        assert [error.source for error in reader.errors] == [str(bad)]
    content = bytearray(good.read_bytes())
    offset = pq.ParquetFile(good).metadata.row_group(1).column(0).file_offset or 0
    offset = offset or pq.ParquetFile(good).metadata.row_group(1).column(0).data_page_offset
    content[offset : offset + 30] = b"\xff" * 30
    bad.write_bytes(content)
    reader = ndd.readers.Parquet(path=bad)
    steps = reader.next_epoch(batch_size=4)
    assert next(steps)["x"].torch().tolist() == [0, 1, 2, 3]
    with pytest.raises(ndd.DecodeError, match=r"at row 4\" .*: row group 1 is damaged"):
        next(steps)
    reader = ndd.readers.Parquet(path=bad, on_error="skip")
    assert next(reader.next_epoch(batch_size=6))["x"].torch().tolist() == [0, 1, 2, 3, 0, 1]
    assert len(reader.errors) == 4


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"path": []}, ValueError, "'path' must not be empty"),
        ({"path": "no/such.parquet"}, FileNotFoundError, 'cannot read "no/such.parquet": No such'),
        ({"columns": ["z"]}, ValueError, "there is no column 'z'. There are: x, y."),
        ({"columns": ["y.z"]}, ValueError, "column 'y' has no field 'z'; it is a struct<a: int64"),
        ({"columns": ["y"]}, ValueError, "column 'y' is a struct<a: int64>; a struct without a fi"),
        ({"columns": []}, ValueError, "there are no columns"),
        ({"columns": [3]}, TypeError, "'columns' must be a list of strings"),
        ({}, ValueError, "column 'y' is a struct"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    path = write(tmp_path / "x.parquet", {"x": [1], "y": [{"a": 1}]})
    with pytest.raises(error) as caught:
        ndd.readers.Parquet(**{"path": path, **arguments})
    assert str(caught.value).startswith("readers.Parquet: ")
    assert match in str(caught.value)


def test_files_that_differ(tmp_path: Path) -> None:
    first = numbered(tmp_path / "a.parquet", 0, 3)
    second = write(tmp_path / "b.parquet", {"x": ["text"]})
    with pytest.raises(ValueError, match=r"column 'x' of \".*b\.parquet\" is not as in \".*a\.par"):
        ndd.readers.Parquet(path=[first, second])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"No files found that match \*\.parquet in \".*empty"):
        ndd.readers.Parquet(path=tmp_path / "empty")


def test_files_behind_urls(tmp_path: Path) -> None:
    import fsspec

    path = numbered(tmp_path / "x.parquet", 0, 9)
    fsspec.filesystem("memory").pipe(f"/{tmp_path.name}/x.parquet", path.read_bytes())
    for url in (f"memory://{tmp_path.name}/x.parquet", f"memory://{tmp_path.name}"):
        assert [int(sample["x"]) for sample in read(path=url, batch_size=3)] == list(range(9))


def test_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.compute", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    match = r"readers\.Parquet needs the package pyarrow\. Install daliesque\[parquet\]\."
    with pytest.raises(ImportError, match=match):
        ndd.readers.Parquet(path="x")


@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_that_fail_among_rows_that_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shuffle: bool
) -> None:
    """Of slices in which values are missing, rows are drawn late, or skipped."""
    monkeypatch.setattr(row_groups, "_SLICE_BYTES", 2_000)
    monkeypatch.setattr(row_groups, "_KEPT_BYTES", 6_000)
    rows = 500
    values = [None if k % 7 == 3 else str(k) * 30 for k in range(rows)]
    path = write(tmp_path / "x.parquet", {"n": range(rows), "y": values}, 120)
    good = [k for k in range(rows) if k % 7 != 3]
    reader = ndd.readers.Parquet(
        path=path, random_shuffle=shuffle, initial_fill=100, on_error="skip", seed=5
    )
    seen = []
    for step in reader.next_epoch(batch_size=9, last_batch="partial"):
        numbers = step["n"].torch().tolist()
        found = [bytes(np.asarray(sample)).decode() for sample in step["y"]]
        assert found == [values[k] for k in numbers]
        seen += numbers
    assert sorted(set(seen)) == good
    assert (list(dict.fromkeys(seen)) != good) == shuffle
    assert len(reader.errors) == rows - len(good)


@pytest.mark.parametrize("arguments", [{}, {"random_shuffle": True, "initial_fill": 90}])
@pytest.mark.parametrize("policy", ["skip", "replace"])
def test_bad_rows_in_batches_that_are_read_together(
    tmp_path: Path, arguments: dict[str, Any], policy: str
) -> None:
    """They come as if each batch was read by itself, and nothing is read twice."""
    values = [None if k % 97 == 50 else b"%d" % k * (k % 30) for k in range(1500)]
    path = write(tmp_path / "x.parquet", {"n": range(1500), "y": values}, 400)

    def found(**more: Any) -> tuple[list[Any], list[Any]]:
        reader = ndd.readers.Parquet(path=path, on_error=policy, seed=3, **arguments, **more)
        steps = [
            (
                step["n"].torch().tolist(),
                [bytes(np.asarray(sample)) for sample in step["y"]],
                list(step["n"].source),
            )
            for step in reader.next_epoch(batch_size=20)
        ]
        return steps, [(error.source, str(error.exception)) for error in reader.errors]

    steps, errors = found()
    assert (steps, errors) == found(prefetch_queue_depth=1)
    assert len(errors) == values.count(None)
    for numbers, contents, sources in steps:
        assert contents == [values[k] for k in numbers]
        assert sources == [f"{path} at row {k}" for k in numbers]


@pytest.mark.parametrize("fill", [1, 3000])
def test_rows_of_many_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: int) -> None:
    """Rows that are drawn from far away are copied before all of their slices are in memory."""
    monkeypatch.setattr(row_groups, "_SLICE_BYTES", 2_000)
    monkeypatch.setattr(row_groups, "_KEPT_BYTES", 10_000)
    values = [b"%d" % k * (k % 40) for k in range(3000)]
    path = write(tmp_path / "x.parquet", {"n": range(3000), "y": values}, 100)
    reader = ndd.readers.Parquet(
        path=path, random_shuffle=True, initial_fill=fill, shuffle_after_epoch=True
    )
    seen = []
    for step in reader.next_epoch(batch_size=100):
        numbers = step["n"].torch().tolist()
        assert [bytes(np.asarray(sample)) for sample in step["y"]] == [values[k] for k in numbers]
        seen += numbers
    assert sorted(seen) == list(range(3000))
    assert seen != sorted(seen)


def test_rows_that_name_files_among_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_groups, "_SLICE_BYTES", 300)
    for k in range(0, 60, 7):
        (tmp_path / f"{k}.bin").write_bytes(b"file %d" % k)
    images = [
        {"bytes": None, "path": f"{k}.bin"} if k % 7 == 0 else {"bytes": b"%d" % k, "path": None}
        for k in range(60)
    ]
    (tmp_path / "14.bin").unlink()
    path = write(tmp_path / "x.parquet", {"image": images, "n": range(60)}, 40)
    reader = ndd.readers.Parquet(path=path, random_shuffle=True, initial_fill=20, on_error="skip")
    seen = {}
    for step in reader.next_epoch(batch_size=8, last_batch="partial"):
        contents = [bytes(np.asarray(sample)) for sample in step["image"]]
        seen |= dict(zip(step["n"].torch().tolist(), contents, strict=True))
    expected = {k: b"%d" % k if k % 7 else b"file %d" % k for k in range(60) if k != 14}
    assert seen == expected
    assert 'cannot read "14.bin"' in str(reader.errors[0].exception)


def test_batches_outlive_their_reader(tmp_path: Path) -> None:
    """A batch shares memory with others; names of rows are pickled as text."""
    path = numbered(tmp_path / "x.parquet", 0, 12, rows=6)
    steps = list(ndd.readers.Parquet(path=path).next_epoch(batch_size=4))
    copied = pickle.loads(pickle.dumps(steps[1]["x"]))
    assert copied.source == [f"{path} at row {k}" for k in (4, 5, 6, 7)]
    assert [step["x"].torch().tolist() for step in steps] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
    ]
