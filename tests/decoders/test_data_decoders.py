# SPDX-License-Identifier: Apache-2.0
"""decoders.numpy and decoders.inflate."""

from __future__ import annotations

import io
from typing import Any

import imagecodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.lib import format as npy

import daliesque as ndd
from support.compare import assert_same

TYPES = ["b1", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8"]


def as_file(array: Any, version: tuple[int, int] | None = None) -> Any:
    file = io.BytesIO()
    npy.write_array(file, array, version=version)
    return np.frombuffer(file.getvalue(), np.uint8)


@given(
    st.sampled_from(TYPES),
    st.sampled_from("<>"),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5),
    st.sampled_from([(1, 0), (2, 0), (3, 0)]),
    st.sampled_from("CF"),
)
def test_numpy_files(
    dtype: str, order: str, shape: tuple[int, ...], version: tuple[int, int], memory: Any
) -> None:
    array = (np.arange(np.prod(shape)) % 100).reshape(shape).astype(order + dtype)
    # Arrays of one row are both in C and in Fortran order; NumPy writes them as C.
    file = as_file(np.array(array, order=memory), version)
    assert_same(ndd.decoders.numpy(file), array.astype(dtype))
    doubled = np.asarray(ndd.decoders.numpy(file, dtype=ndd.float64))
    assert_same(doubled, array.astype(np.float64))


def test_batches_of_numpy_files() -> None:
    arrays = [np.arange(6, dtype=np.int16).reshape(2, 3) - 3, np.zeros((4, 0), np.int16)]
    fortran = [np.asfortranarray(arrays[0]), arrays[1]]
    for samples in (arrays, fortran, fortran[::-1]):
        decoded = ndd.decoders.numpy(ndd.batch([as_file(sample) for sample in samples]))
        for made, sample in zip(decoded, samples, strict=True):
            assert_same(made, np.ascontiguousarray(sample))
    mixed = [as_file(np.float32([1.5, 300])), as_file(np.int8([-1])), as_file(np.float32([2.5]))]
    made = ndd.decoders.numpy(ndd.batch(mixed), dtype=ndd.uint8)
    assert [np.asarray(sample).tolist() for sample in made] == [[2, 255], [0], [3]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is not a NumPy file"),
        (b"\x93NUMPX\1\0", "is not a NumPy file"),
        (b"\x93NUMPY", "has the version"),
        (b"\x93NUMPY\7\0\0\0", "has the version 7"),
        (b"\x93NUMPY\1\0", "is cut short: the NumPy file ends after 8 bytes, inside the header"),
        (b"\x93NUMPY\1\0\x10\0{", "is cut short: the NumPy file ends after 11 bytes"),
        (b"\x93NUMPY\1\0\x03\0abc", "is damaged: the header"),
        (b"\x93NUMPY\1\0\x05\0{1:2}", "is damaged: the header"),
        (as_file(np.zeros(3))[:-1].tobytes(), "should have 152 bytes, .* it has 151"),
        (as_file(np.zeros(3, "c8")).tobytes(), "the type complex64, which is not supported"),
        (as_file(np.zeros(3, [("a", "f4"), ("b", "i4")])).tobytes(), "does not hold a plain array"),
        (as_file(np.zeros(3, "U5")).tobytes(), "the type <U5, which is not supported"),
    ],
)
def test_damaged_numpy_files(data: bytes, message: str) -> None:
    good = as_file(np.zeros(3))
    batch = ndd.batch([good, np.frombuffer(data, np.uint8)])
    with pytest.raises(ndd.DecodeError, match=rf"^decoders.numpy: sample 1 .*{message}"):
        ndd.decoders.numpy(batch).evaluate()


def test_numpy_files_must_agree() -> None:
    files = [
        as_file(np.zeros(3, "f4")),
        as_file(np.zeros((3, 1), "f4")),
        as_file(np.zeros(3, "f8")),
    ]
    with pytest.raises(ValueError, match=r"decoders.numpy: .* sample 0 has 1, sample 1 has 2"):
        ndd.decoders.numpy(ndd.batch(files[:2])).evaluate()
    with pytest.raises(
        ValueError, match=r"sample 0 has float32, sample 1 has float64. Give 'dtype'"
    ):
        ndd.decoders.numpy(ndd.batch(files[::2])).evaluate()
    with pytest.raises(ValueError, match=r"decoders.numpy: the input must be vectors of bytes"):
        ndd.decoders.numpy(np.zeros(3))


@given(hnp.arrays(np.uint8, st.integers(0, 300)), st.data())
def test_damaged_bytes_never_crash(noise: Any, data: Any) -> None:
    file = as_file(np.arange(20, dtype=np.int32)).copy()
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, file.size - 1))] = data.draw(st.integers(0, 255))
    for content in (file, noise):
        try:
            ndd.decoders.numpy(content).evaluate()
        except (ndd.DecodeError, ValueError):
            pass


def compress(data: bytes) -> Any:
    return np.frombuffer(imagecodecs.lz4_encode(data, header=False), np.uint8)


@given(
    st.sampled_from(["uint8", "int16", "float32", "float64"]),
    hnp.array_shapes(min_dims=1, max_dims=3, max_side=40),
    st.integers(1, 300),
)
def test_inflate(dtype: str, shape: tuple[int, ...], period: int) -> None:
    array = (np.arange(np.prod(shape)) % period).astype(dtype).reshape(shape)
    packed = compress(array.tobytes())
    result = ndd.decoders.inflate(packed, shape=shape, dtype=ndd.dtype(array.dtype))
    assert_same(result, array)


def chunked(lengths: list[int]) -> tuple[Any, list[list[Any]], Any, Any]:
    frames = [[np.full((4, 5), 10 * n + k, np.int16) for k in range(n)] for n in lengths]
    packed = [[compress(frame.tobytes()) for frame in video] for video in frames]
    data = ndd.batch([np.concatenate([np.zeros(0, np.uint8), *video]) for video in packed])
    sizes = [np.array([part.size for part in video], np.int32) for video in packed]
    offsets = [np.cumsum(size, dtype=np.int32) - size for size in sizes]
    return data, frames, offsets, sizes


@pytest.mark.parametrize("given_arguments", ["offsets", "sizes", "both"])
def test_chunks(given_arguments: str) -> None:
    data, frames, offsets, sizes = chunked([3, 1, 4])
    arguments: dict[str, Any] = {}
    if given_arguments != "sizes":
        arguments["chunk_offsets"] = ndd.batch(offsets)
    if given_arguments != "offsets":
        arguments["chunk_sizes"] = ndd.batch(sizes)
    result = ndd.decoders.inflate(
        data, shape=[4, 5], dtype=ndd.int16, layout="HW", sequence_axis_name="T", **arguments
    )
    assert result.layout == "THW"
    for made, video in zip(result, frames, strict=True):
        assert_same(made, np.stack(video))


def test_short_data_are_filled_up() -> None:
    result = ndd.decoders.inflate(compress(b"\1\2\3"), shape=[5])
    assert np.asarray(result).tolist() == [1, 2, 3, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": [3, -1]}, "'shape' must not be negative"),
        ({"algorithm": "zip"}, "'algorithm' must be 'LZ4'; got 'zip'"),
        ({"layout": "ABC"}, "'layout' needs 1 letters"),
        ({"dtype": ndd.bool}, "'dtype' must be a number type"),
        ({"sequence_axis_name": ""}, "'sequence_axis_name' must be a single letter"),
        ({"chunk_offsets": [0, 99]}, "must name parts of the 5 bytes"),
        ({"chunk_offsets": [3, 1]}, "must name parts of the 5 bytes"),
        ({"chunk_sizes": [3, 4]}, "must name parts of the 5 bytes"),
        ({"chunk_sizes": [0, 4]}, "must name parts of the 5 bytes"),
        ({"chunk_offsets": [0], "chunk_sizes": [1, 1]}, "must be equally many; got 1 and 2"),
    ],
)
def test_inflate_argument_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^decoders.inflate: .*{message}"):
        ndd.decoders.inflate(compress(b"1234"), **{"shape": [4], **arguments})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\x40123", "is cut short"),
        (b"\xf0", "is cut short"),
        (b"\x1012345", "damaged|cut short"),
        (b"\x101\x00\x00\x00", "refers to data before its beginning"),
        (b"\x101\x05\x00\x00", "refers to data before its beginning"),
        (b"\x1f1\x01\x00", "is cut short"),
        (b"\xf0\x10" + b"x" * 31, "more data than 'shape' and 'dtype' allow"),
        (b"\x1f1\x01\x00\xff\x00\x00", "more data than 'shape' and 'dtype' allow"),
    ],
)
def test_damaged_blocks(data: bytes, message: str) -> None:
    with pytest.raises(ndd.DecodeError, match=rf"^decoders.inflate: sample 0 .*({message})"):
        ndd.decoders.inflate(np.frombuffer(data, np.uint8), shape=[20])


@given(hnp.arrays(np.uint8, st.integers(1, 200)))
def test_noise_never_crashes(noise: Any) -> None:
    try:
        ndd.decoders.inflate(noise, shape=[1000]).evaluate()
    except ndd.DecodeError:
        pass
