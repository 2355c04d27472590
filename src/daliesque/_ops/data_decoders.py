# SPDX-License-Identifier: Apache-2.0
"""Decoders of arrays: NumPy files and compressed data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._codecs.npy import Header, read_header
from .._codecs.pixels import CodecError
from .._engine.args import IntListsPerSample, Ints64PerSample
from .._engine.convert import cast_samples, to_numpy
from .._engine.dtype import DType, from_code, from_numpy, int64, uint8
from .._engine.errors import DecodeError, SampleError
from .._engine.metadata import FROM_DATA, Call, NotKnown, Result, Shapes
from .._engine.op import HostSamples, op
from .shape import check_letters


def _check_bytes(samples: HostSamples) -> None:
    if samples.ndim != 1 or samples.type_id != uint8.code:
        found = from_code(samples.type_id)
        msg = (
            f"the input must be vectors of bytes (uint8);"
            f" got {samples.ndim} axes of {found.full_name}."
        )
        raise ValueError(msg)


# The files themselves say what they hold.
@op(
    name="decoders.numpy",
    encoded=True,
    result=Result(dtype=("dtype", FROM_DATA), ndim=FROM_DATA, layout=""),
)
def numpy(data: HostSamples, /, *, dtype: DType | None = None) -> HostSamples:
    """Decode the contents of .npy files.

    Parameters
    ----------
    data
        The bytes of a file for each sample. All arrays must have the same number of axes and,
        unless `dtype` is given, the same type.
    dtype
        Convert to this type, rounding and clamping.

    Differs from DALI: all versions of the format and both byte orders are read.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import io
    >>> file = io.BytesIO()
    >>> np.save(file, np.array([[1, 2], [3, 4]], np.int16))
    >>> ndd.decoders.numpy(file.getvalue()).torch().tolist()
    [[1, 2], [3, 4]]
    """
    _check_bytes(data)
    if len(data) == 0:
        code = uint8.code if dtype is None else dtype.code
        return _kernels.empty_uniform(code, [], "", 0)
    headers = _read_headers(data)
    first = headers[0]
    for sample, header in enumerate(headers):
        if header is first:
            continue
        if len(header.shape) != len(first.shape):
            msg = (
                f"all arrays must have the same number of axes; sample 0 has {len(first.shape)}, "
                f"sample {sample} has {len(header.shape)}."
            )
            raise ValueError(msg)
        if dtype is None and header.dtype.newbyteorder("=") != first.dtype.newbyteorder("="):
            msg = (
                f"all arrays must have one type; sample 0 has {first.dtype}, sample {sample} has "
                f"{header.dtype}. Give 'dtype'."
            )
            raise ValueError(msg)
    kinds: dict[tuple[np.dtype[np.generic], bool], list[int]] = {}
    for sample, header in enumerate(headers):
        kinds.setdefault((header.dtype, header.fortran_order), []).append(sample)
    parts = [_decode_alike(data, headers, samples, dtype) for samples in kinds.values()]
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate(list(kinds.values())))
    return _kernels.join(parts).select(order.tolist())


def _read_headers(data: HostSamples) -> list[Header]:
    """The header of each file; neighbors with the same one share it."""
    headers: list[Header] = []
    last, total = b"", -1
    for sample in range(len(data)):
        content = to_numpy(data, sample)
        if not last or content[: len(last)].tobytes() != last:
            headers.append(_read_header(content, sample))
            last = content[: headers[-1].offset].tobytes()
            total = headers[-1].offset + headers[-1].nbytes
        else:
            headers.append(headers[-1])
        if content.size != total:
            reason = f"should have {total} bytes, as its header says; it has {content.size}"
            raise SampleError(sample, reason, DecodeError)
    return headers


def _read_header(content: NDArray[np.uint8], sample: int) -> Header:
    try:
        header = read_header(content)
    except CodecError as error:
        raise SampleError(sample, str(error), DecodeError) from None
    if from_numpy(header.dtype.newbyteorder("=")) is None:
        reason = f"holds elements of the type {header.dtype}, which is not supported"
        raise SampleError(sample, reason, DecodeError)
    return header


def _decode_alike(
    data: HostSamples, headers: list[Header], samples: list[int], dtype: DType | None
) -> HostSamples:
    """HostSamples that have one type and order of elements."""
    first = headers[samples[0]]
    found = from_numpy(first.dtype.newbyteorder("="))
    assert found is not None
    ranges = [(headers[k].offset, headers[k].nbytes, 1) for k in samples]
    content = data.select(samples).slice(np.array(ranges, np.int64), [False], "").copy()
    if not first.dtype.isnative:
        for k in range(len(samples)):
            to_numpy(content, k).view(first.dtype).byteswap(inplace=True)
    shapes = np.array([headers[k].shape for k in samples], np.int64).reshape(len(samples), -1)
    ndim = len(first.shape)
    if first.fortran_order:
        reversed_axes = content.reshape(found.code, np.ascontiguousarray(shapes[:, ::-1]), "")
        arrays = _kernels.transpose(reversed_axes, list(range(ndim))[::-1], "")
    else:
        arrays = content.reshape(found.code, shapes, "")
    return arrays if dtype is None else cast_samples(arrays, dtype)


def _is_chunked(call: Call) -> bool:
    return call.has("chunk_offsets") or call.has("chunk_sizes")


def _inflated_layout(call: Call) -> str:
    layout: str = call["layout"]
    return call["sequence_axis_name"] + layout if layout and _is_chunked(call) else layout


def _inflated_shapes(call: Call) -> Shapes:
    if _is_chunked(call):
        raise NotKnown
    shapes: Shapes = call["shape"]
    return shapes


@op(
    name="decoders.inflate",
    result=Result(
        ndim=lambda call: call.width("shape") + _is_chunked(call),
        layout=_inflated_layout,
        shape=_inflated_shapes,
    ),
)
def inflate(
    input: HostSamples,
    /,
    *,
    shape: Ints64PerSample,
    algorithm: str = "LZ4",
    check_output_size: bool = False,
    chunk_offsets: IntListsPerSample | None = None,
    chunk_sizes: IntListsPerSample | None = None,
    dtype: DType = uint8,
    layout: str = "",
    sequence_axis_name: str = "F",
) -> HostSamples:
    """Decompress arrays that were compressed as a whole, or in chunks such as frames.

    Parameters
    ----------
    input
        Compressed bytes: LZ4 blocks without a frame.
    shape
        The shape of a decompressed chunk. With several chunks, their number becomes the extent of
        an additional first axis. A chunk with less data is filled up with zeros.
    algorithm
        Only "LZ4" is supported.
    check_output_size
        Accepted for compatibility: a chunk with more data than fits is always an error.
    chunk_offsets
        Where the chunks of a sample begin. If `chunk_sizes` is not given, each ends where the next
        one begins.
    chunk_sizes
        The sizes of the chunks in bytes. If `chunk_offsets` is not given, they follow each other.
    dtype
        The type of the elements.
    layout
        The layout of a chunk.
    sequence_axis_name
        The letter of the additional axis, if there are chunks and a layout.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import imagecodecs
    >>> packed = imagecodecs.lz4_encode(bytes([1, 2] * 50), header=False)
    >>> ndd.decoders.inflate(packed, shape=[50, 2]).shape
    (50, 2)
    """
    del check_output_size
    _check_bytes(input)
    if algorithm.lower() != "lz4":
        msg = f"'algorithm' must be 'LZ4'; got {algorithm!r}."
        raise ValueError(msg)
    if len(sequence_axis_name) != 1:
        msg = f"'sequence_axis_name' must be a single letter; got {sequence_axis_name!r}."
        raise ValueError(msg)
    if dtype.kind in (DType.Kind.enum, DType.Kind.bool):
        msg = f"'dtype' must be a number type; got {dtype.full_name}."
        raise ValueError(msg)
    if shape.size and shape.min() < 0:
        msg = f"'shape' must not be negative; got {shape[(shape < 0).any(axis=1)][0].tolist()}."
        raise ValueError(msg)
    check_letters(layout, shape.shape[1])
    lengths = input.shape_array()[:, 0]
    if (lengths == 0).any():
        raise SampleError(int(np.argmax(lengths == 0)), "is empty", DecodeError)
    chunked = chunk_offsets is not None or chunk_sizes is not None
    offsets, sizes = _chunks(lengths, chunk_offsets, chunk_sizes)
    shapes = np.broadcast_to(shape, (len(input), shape.shape[1]))
    if chunked:
        counts = np.array([len(part) for part in offsets], np.int64).reshape(-1, 1)
        shapes = np.concatenate([counts, shapes], axis=1)
        layout = sequence_axis_name + layout if layout else ""
    out = _kernels.empty(dtype.code, np.ascontiguousarray(shapes), layout, len(input))
    if len(input):
        failure = _kernels.lz4_decompress(out, input, _vectors(offsets), _vectors(sizes))
        if failure is not None:
            sample, chunk, reason = failure
            which = f"chunk {chunk} " if chunked else ""
            raise SampleError(sample, f"cannot be decompressed: {which}{reason}", DecodeError)
    return out


def _vectors(parts: list[NDArray[np.int64]]) -> HostSamples:
    return _kernels.wrap_buffers(parts, int64.code, "")


def _chunks(
    lengths: NDArray[np.int64], chunk_offsets: HostSamples | None, chunk_sizes: HostSamples | None
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """Begin and size of each chunk of each sample."""
    count = len(lengths)
    offsets = _lists(chunk_offsets, count)
    sizes = _lists(chunk_sizes, count)
    if offsets is None:
        if sizes is None:
            return [np.zeros(1, np.int64)] * count, [row.reshape(1) for row in lengths.copy()]
        offsets = [np.cumsum(size) - size for size in sizes]
    elif sizes is None:
        sizes = [np.diff(part, append=end) for part, end in zip(offsets, lengths, strict=True)]
    for sample, (part, size) in enumerate(zip(offsets, sizes, strict=True)):
        if len(part) != len(size):
            msg = (
                f"'chunk_offsets' and 'chunk_sizes' must be equally many; got {len(part)} and "
                f"{len(size)} (sample {sample})."
            )
            raise ValueError(msg)
        if (part < 0).any() or (size <= 0).any() or (part + size > lengths[sample]).any():
            msg = (
                f"'chunk_offsets' and 'chunk_sizes' must name parts of the {lengths[sample]} bytes "
                f"of the sample; got {part.tolist()} and {size.tolist()} (sample {sample})."
            )
            raise ValueError(msg)
    return offsets, sizes


def _lists(values: HostSamples | None, count: int) -> list[NDArray[np.int64]] | None:
    if values is None:
        return None
    found = [to_numpy(values, k) for k in range(len(values))]
    return found * count if len(found) == 1 else found
