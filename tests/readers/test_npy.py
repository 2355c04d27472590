# SPDX-License-Identifier: Apache-2.0
"""readers.Numpy: arrays and parts of them, compared with NumPy's own reading and indexing."""

from __future__ import annotations

import io
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from daliesque import _kernels

TYPES = "? u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8".split()


def save(path: Path, array: Any, **arguments: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.asanyarray(array), **arguments)
    return path


def read(*, batch_size: int | None = None, **arguments: Any) -> list[NDArray[Any]]:
    """The arrays of an epoch."""
    found = []
    for (step,) in ndd.readers.Numpy(**arguments).next_epoch(batch_size=batch_size):
        found += [np.array(sample) for sample in ([step] if batch_size is None else step)]
    return found


def numbers(shape: tuple[int, ...], dtype: Any = "f4", order: Any = "C") -> NDArray[Any]:
    values = np.random.default_rng(len(shape)).integers(0, 100, shape)
    return np.array(values.astype(dtype), order=order)


@pytest.mark.parametrize("dtype", [*TYPES, ">i4", ">f8", "=i2"])
def test_arrays_of_every_type_order_and_version(tmp_path: Path, dtype: str) -> None:
    array = numbers((3, 5), dtype)
    for order, version in itertools.product("CF", [(1, 0), (2, 0), (3, 0)]):
        stored = np.array(array, order=order)  # type: ignore[call-overload]
        path = save(tmp_path / f"{order}.npy", stored, version=version)
        (found,) = read(files=path)
        assert found.dtype == array.dtype.newbyteorder("=")
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (2, 3, 4), (1, 2, 1, 3, 1, 2, 2, 2)])
def test_arrays_of_every_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    for order in "CF":
        array = numbers(shape, order=order)
        path = save(tmp_path / "x.npy", array)
        for batch_size in (None, 2):
            for found in read(files=[path, path], batch_size=batch_size):
                assert found.shape == shape
                np.testing.assert_array_equal(found, array)


def test_finds_files(tmp_path: Path) -> None:
    for k, name in enumerate(["b.npy", "a.npy", "y/0.npy", "x/1.npy", "x/0.npy", "c.txt", "D.NPY"]):
        save(tmp_path / name, k)
    reader = ndd.readers.Numpy(file_root=tmp_path)
    (found,) = next(reader.next_epoch(batch_size=5))
    assert found.source == ["./a.npy", "./b.npy", "x/0.npy", "x/1.npy", "y/0.npy"]
    assert found.torch().tolist() == [1, 0, 4, 3, 2]
    assert [int(x) for x in read(file_root=tmp_path, file_filter="[cD].*")] == [6, 5]
    (tmp_path / "list").write_text("y/0.npy\n\n  \nc.txt\r\n")
    assert [int(x) for x in read(file_list=tmp_path / "list")] == [2, 5]
    assert [int(x) for x in read(files=["x/1.npy", "a.npy"], file_root=tmp_path)] == [3, 1]
    assert [int(x) for x in read(files=f"file://{tmp_path}/a.npy")] == [1]


def cut(array: NDArray[Any], begin: list[int], end: list[int], fill: Any) -> NDArray[Any]:
    """What NumPy makes of a region that may leave the array."""
    width = [
        (max(0, -low), max(0, high - extent))
        for low, high, extent in zip(begin, end, array.shape, strict=True)
    ]
    larger = np.pad(array, width, constant_values=fill)
    slices = [
        slice(low + before, high + before)
        for low, high, (before, _) in zip(begin, end, width, strict=True)
    ]
    return larger[tuple(slices)]


@pytest.mark.parametrize("order", ["C", "F", ">"])
def test_regions(tmp_path: Path, order: str) -> None:
    """Random regions; the last extent makes runs that are read one by one and together."""
    rng = np.random.default_rng(5)
    for trial in range(60):
        ndim = rng.integers(1, 5)
        shape = rng.integers(1, 9, ndim)
        shape[-1] *= rng.choice([1, 1, 30, 3000])
        array = numbers(tuple(shape), "i4")
        stored = array.astype(">i4") if order == ">" else np.array(array, order=order)  # type: ignore[call-overload]
        path = save(tmp_path / "x.npy", stored)
        begin = (rng.random(ndim) * (shape + 1)).astype(int)
        end = begin + (rng.random(ndim) * (shape + 1 - begin)).astype(int)
        inside = cut(array, begin.tolist(), end.tolist(), 0)
        (found,) = read(files=path, roi_start=begin.tolist(), roi_end=end.tolist())
        np.testing.assert_array_equal(found, inside, err_msg=str(trial))
        (found,) = read(files=path, roi_start=begin, roi_shape=ndd.tensor(end - begin))
        np.testing.assert_array_equal(found, inside)
        begin = begin - rng.integers(0, 4, ndim)
        end = end + rng.integers(0, 4, ndim)
        outside = {"files": path, "roi_start": begin, "roi_end": end}
        (found,) = read(**outside, out_of_bounds_policy="pad", fill_value=-7)
        np.testing.assert_array_equal(found, cut(array, begin.tolist(), end.tolist(), -7))
        (found,) = read(**outside, out_of_bounds_policy="trim_to_shape")
        slices = tuple(slice(max(0, a), max(0, b)) for a, b in zip(begin, end, strict=True))
        np.testing.assert_array_equal(found, array[slices])


def test_relative_regions_and_axes(tmp_path: Path) -> None:
    array = numbers((10, 8, 6))
    path = save(tmp_path / "x.npy", array)
    for arguments, expected in [
        ({"rel_roi_start": 0.5}, array[5:, 4:, 3:]),
        ({"rel_roi_end": [0.2, 0.5, 1.0]}, array[:2, :4]),
        ({"rel_roi_start": [0.1, 0.25, 0], "rel_roi_shape": [0.5, 0.5, 0.5]}, array[1:6, 2:6, :3]),
        ({"roi_start": [3, 2], "roi_axes": [2, 0]}, array[2:, :, 3:]),
        ({"roi_end": 3, "roi_axes": [-1]}, array[..., :3]),
        ({"roi_start": [], "roi_end": [2, 2, 2]}, array[:2, :2, :2]),
        ({"roi_start": 2, "rel_roi_end": [0.5, 0.5, 0.5]}, array[2:5, 2:4, 2:3]),
        ({"roi_axes": [0]}, array),
    ]:
        (found,) = read(files=path, **arguments)
        np.testing.assert_array_equal(found, expected)


def test_fill_is_rounded_and_clamped(tmp_path: Path) -> None:
    arguments = {"roi_end": 2, "out_of_bounds_policy": "pad"}
    for dtype, fill, expected in [
        ("u1", -3, 0),
        ("u1", 2.5, 3),
        ("i1", 1e9, 127),
        ("f4", 0.3, 0.3),
    ]:
        path = save(tmp_path / "x.npy", np.ones(1, dtype))
        (found,) = read(files=path, fill_value=fill, **arguments)
        np.testing.assert_array_equal(found, np.array([1, expected], dtype))


def test_batches_of_different_orders_and_shapes(tmp_path: Path) -> None:
    arrays = [numbers((2 + k, 9 - k), order="CF"[k % 2]) for k in range(6)]
    for k, array in enumerate(arrays):
        save(tmp_path / f"{k}.npy", array.astype(">f4") if k == 3 else array)
    for found, array in zip(read(file_root=tmp_path, batch_size=6), arrays, strict=True):
        np.testing.assert_array_equal(found, array)
    padded = {"roi_shape": [5, 5], "out_of_bounds_policy": "pad", "batch_size": 6}
    for found, array in zip(read(file_root=tmp_path, **padded), arrays, strict=True):
        np.testing.assert_array_equal(found, cut(array, [0, 0], [5, 5], 0))


def test_more_files_than_can_be_open(tmp_path: Path) -> None:
    path = save(tmp_path / "x.npy", numbers((3, 2)))
    other = save(tmp_path / "y.npy", numbers((3, 2)) + 1)
    found = read(files=[path, other] * 1500, batch_size=3000)
    assert len(found) == 3000
    np.testing.assert_array_equal(found[2999], np.load(other))
    found = read(files=[path, other] * 1500, batch_size=3000, roi_end=[2, 1])
    np.testing.assert_array_equal(found[2999], np.load(other)[:2, :1])


def test_large_files_are_read_in_pieces(tmp_path: Path) -> None:
    array = np.arange(3_000_001, dtype="i8")
    path = save(tmp_path / "x.npy", array)
    for found in read(files=[path, path], batch_size=2):
        np.testing.assert_array_equal(found, array)


def test_header_cache_notices_changes(tmp_path: Path) -> None:
    path = save(tmp_path / "x.npy", numbers((3, 2)))
    reader = ndd.readers.Numpy(files=[path], cache_header_information=True)
    for array in (
        numbers((3, 2)),
        numbers((5, 4)),
        numbers((2,), "u1"),
        numbers((4, 5), "f8", "F"),
    ):
        save(path, array)
        for _ in range(2):
            ((found,),) = reader.next_epoch()
            np.testing.assert_array_equal(np.asarray(found), array)


def test_header_cache(tmp_path: Path) -> None:
    """A header that stays in memory is not read again, unless the file shows a change."""
    path = save(tmp_path / "x.npy", numbers((3, 2)))
    os.utime(path, (1e9, 1e9))
    cache = _kernels.NpyHeaderCache(-1.0)
    arguments = (os.fsencode(path), np.array([len(str(path))]), np.array([0]), b"", cache, None)
    arrays, _ = _kernels.read_npy_files(*arguments)
    assert arrays.shapes == [(3, 2)]
    save(path, numbers((2, 3)))
    arrays, _ = _kernels.read_npy_files(*arguments)
    assert arrays.shapes == [(2, 3)]


def header(text: str, version: int = 1) -> bytes:
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode()


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }",
        "{'shape':(2,),'fortran_order':False,'descr':'<i2'}",
        '{"descr": "<i2", "fortran_order": False, "shape": (2L,)}  \n',
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }" + " " * 5000 + "\n",
    ],
)
def test_headers_that_are_written_differently(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.npy"
    path.write_bytes(header(text) + np.array([5, 6], "<i2").tobytes())
    (found,) = read(files=path)
    assert found.ravel().tolist() == [5, 6]


def damaged(text: str) -> bytes:
    return header(text) + bytes(100)


WHOLE = io.BytesIO()
np.save(WHOLE, np.arange(100.0))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is not a NumPy file"),
        (b"PK\3\4" + bytes(500), "the file is not a NumPy file"),
        (WHOLE.getvalue()[:6], "the version ? of the NumPy format"),
        (WHOLE.getvalue()[:11], "ends after 11 bytes, inside the header"),
        (WHOLE.getvalue()[:100], "ends after 100 bytes, inside the header"),
        (WHOLE.getvalue()[:-1], "its header promises 928 bytes"),
        (header("{}", 9), "has the version 9 of the NumPy format"),
        (damaged("{'descr': '<f4', 'fortran_order': False}"), "cannot be read"),
        (damaged("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"), "a plain array"),
        (damaged("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}"), "a plain array"),
        (damaged("{'descr': '<f4', 'fortran_order': False, 'shape': (1"), "cannot be read"),
        (damaged(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(10**6,) * 4}}}"), "promis"),
        (damaged("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}"), "type complex64"),
        (damaged("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "type object"),
        (damaged("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"), "a plain"),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, reason: str) -> None:
    good = save(tmp_path / "good.npy", np.arange(3))
    bad = tmp_path / "bad.npy"
    bad.write_bytes(content)
    reader = ndd.readers.Numpy(files=[good, bad])
    with pytest.raises(ndd.DecodeError) as caught:
        next(reader.next_epoch(batch_size=2))
    start = f'readers.Numpy: cannot read "{bad}" (sample 1 of the batch): the file '
    assert str(caught.value).startswith(start)
    assert reason in str(caught.value)
    reader = ndd.readers.Numpy(files=[bad, good, bad], on_error="skip")
    (arrays,) = next(reader.next_epoch(batch_size=3))
    assert arrays.source == [str(good)] * 3
    assert [error.source for error in reader.errors] == [str(bad)] * 2


def test_arrays_that_do_not_go_together(tmp_path: Path) -> None:
    files = [save(tmp_path / "a.npy", numbers((2, 2))), save(tmp_path / "b.npy", numbers((2,)))]
    with pytest.raises(ValueError, match=r'a\.npy" has 2, ".*b\.npy" has 1\. Read such files wit'):
        read(files=files, batch_size=2)
    assert [found.ndim for found in read(files=files)] == [2, 1]
    save(files[1], numbers((2, 2), "u1"))
    with pytest.raises(ValueError, match=r"must have the same type; .* has float32, .* has uint8"):
        read(files=files, batch_size=2)
    assert [found.dtype for found in read(files=files)] == ["f4", "u1"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"roi_start": [1, 1, 1]}, "a number for each of 2 axes, or one for all; it has 3"),
        ({"roi_start": [4, 0], "roi_end": [3, 1]}, "ends before it begins, at 4 of axis 0"),
        ({"roi_shape": -1}, "'roi_shape' must not be negative; got -1"),
        ({"roi_start": [0, -2]}, r"begins at -2 of axis 1, leaves the array of shape (12, 5); out"),
        ({"roi_end": [13, 1]}, "begins at 0 of axis 0, leaves the array"),
        ({"roi_start": 1, "roi_axes": [2]}, "axis 2 of 'roi_axes' does not exist in an array of 2"),
        ({"roi_start": 1, "roi_axes": [1, -1]}, "axis -1 of 'roi_axes' is named twice"),
    ],
)
def test_regions_that_do_not_fit(tmp_path: Path, arguments: dict[str, Any], reason: str) -> None:
    bad = save(tmp_path / "a.npy", numbers((12, 5)))
    with pytest.raises(ndd.OpError) as caught:
        read(files=bad, **arguments)
    assert str(caught.value).startswith(f'readers.Numpy: cannot read "{bad}": ')
    assert reason in str(caught.value)


def test_regions_that_do_not_fit_are_skipped(tmp_path: Path) -> None:
    files = [save(tmp_path / f"{k}.npy", numbers((k + 1,))) for k in range(4)]
    reader = ndd.readers.Numpy(files=files, roi_end=2, on_error="skip")
    (arrays,) = next(reader.next_epoch(batch_size=3))
    assert arrays.source == [str(file) for file in files[1:]]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "there is nothing to read. Give 'file_root' or 'files'"),
        ({"files": ["x"], "file_list": "y"}, ValueError, "'files' and 'file_list' exclude"),
        ({"files": []}, ValueError, "'files' must not be empty"),
        ({"file_root": "no/such"}, FileNotFoundError, 'cannot list the folder "no/such": No such'),
        ({"file_list": "no/such"}, FileNotFoundError, "cannot read 'file_list' \"no/such\": No"),
        ({"file_root": ".", "file_filter": "*.xyz"}, ValueError, "No files found that match *.xyz"),
        ({"files": "x", "roi_start": 1, "rel_roi_start": 1.0}, ValueError, "exclude each other"),
        ({"files": "x", "roi_end": 1, "rel_roi_shape": 1.0}, ValueError, "exclude each other"),
        ({"files": "x", "roi_start": 1.5}, ValueError, "'roi_start' must be a list of integers"),
        ({"files": "x", "roi_start": "a"}, TypeError, "'roi_start' must be a list of integers"),
        ({"files": "x", "roi_axes": "a"}, TypeError, "'roi_axes' must be a list of integers"),
        ({"files": "x", "out_of_bounds_policy": "wrap"}, ValueError, "'pad' or 'trim_to_shape'"),
        ({"files": "x", "fill_value": "a"}, TypeError, "'fill_value' must be a number"),
        ({"files": "x", "use_o_direct": True}, ValueError, "needs dont_use_mmap=True"),
        ({"files": "x", "file_filter": 3}, TypeError, "'file_filter' must be"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error) as caught:
        ndd.readers.Numpy(**arguments)
    assert str(caught.value).startswith("readers.Numpy: ")
    assert match in str(caught.value)


def test_batches_of_regions_are_refused() -> None:
    with pytest.raises(ValueError, match="'roi_start' is the same for all samples; got a Batch"):
        ndd.readers.Numpy(files="x", roi_start=ndd.batch([[1], [2]]))
