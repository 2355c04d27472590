# SPDX-License-Identifier: Apache-2.0
"""Operators that decode images."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import _kernels
from .._engine.args import FloatPerSample, FloatsPerSample, IntsPerSample
from .._engine.convert import cast_samples, to_samples, to_stacked_numpy
from .._engine.dtype import (
    DType,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .._engine.enums import DALIImageType
from .._engine.metadata import Result
from .._engine.op import HostSamples, RandomState, Samples, op
from .._shapes.image_files import decode_images, read_headers
from .._shapes.slice_windows import SliceArguments, slice_windows
from .._shapes.windows import (
    CropArguments,
    Integers,
    Windows,
    check_attempts,
    crop_windows,
    positive_range,
)

_PIXEL_TYPES = (uint8, int8, uint16, int16, uint32, int32, float32)
_SHAPE_TYPES = (int32, uint32, int64, uint64, float32, float64)
# Decoding a byte takes this many times longer than copying it.
_DECODE_WEIGHT = 50

_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")


# Arguments of the reference's decoders that mean nothing here. They are accepted, and checked, as
# if they stood in the signature of each decoder.
def _gpu_tuning(
    *,
    affine: bool = True,
    device_memory_padding: int = 16777216,
    device_memory_padding_jpeg2k: int = 0,
    host_memory_padding: int = 8388608,
    host_memory_padding_jpeg2k: int = 0,
    hw_decoder_load: float = 0.65,
    hybrid_huffman_threshold: int = 1000000,
    preallocate_height_hint: int = 0,
    preallocate_width_hint: int = 0,
    memory_stats: bool = False,
    split_stages: bool = False,
    use_chunk_allocator: bool = False,
) -> None:
    """What tunes the decoders of NVIDIA GPUs."""


def _gpu_cache(
    *,
    cache_batch_copy: bool = True,
    cache_debug: bool = False,
    cache_size: int = 0,
    cache_threshold: int = 0,
    cache_type: str = "",
) -> None:
    """What says which decoded images stay in the memory of a GPU."""


def _ignoring(
    *declarations: Callable[..., None],
) -> Callable[[Callable[_Parameters, _Returned]], Callable[..., _Returned]]:
    """Let a body of an operator accept the parameters of other functions, and not see them."""
    ignored = [
        parameter
        for declaration in declarations
        for parameter in inspect.signature(declaration).parameters.values()
    ]

    def decorate(body: Callable[_Parameters, _Returned]) -> Callable[..., _Returned]:
        @functools.wraps(body)
        def accepting(*inputs: _Parameters.args, **arguments: _Parameters.kwargs) -> _Returned:
            for parameter in ignored:
                del arguments[parameter.name]
            return body(*inputs, **arguments)

        own = inspect.signature(body)
        parameters = [*own.parameters.values(), *ignored]
        accepting.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        extra = {parameter.name: parameter.annotation for parameter in ignored}
        accepting.__annotations__ = {**body.__annotations__, **extra}
        return accepting

    return decorate


def _decoder(name: str) -> Callable[[Callable[..., HostSamples]], Any]:
    return op(
        name=name,
        output_dtypes=_PIXEL_TYPES,
        result=Result(ndim=3, layout="HWC"),
        weight=_DECODE_WEIGHT,
        encoded=True,
        by_sample=True,
    )


@_decoder("decoders.image")
@_ignoring(_gpu_tuning, _gpu_cache)
def image(
    input: HostSamples,
    /,
    *,
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DType = uint8,
    adjust_orientation: bool = True,
    jpeg_fancy_upsampling: bool = False,
    use_fast_idct: bool = False,
    size_hint: IntsPerSample | None = None,
) -> HostSamples:
    """Decode images, given as the bytes of their files.

    Also takes bytes, the name of a file or a file opened for reading, and lists of these, of which
    a Batch is made.

    Reads JPEG of every kind, PNG, TIFF, BMP, PNM, WebP, JPEG 2000, and of GIF the first frame; with
    a suitable imagecodecs also AVIF, JPEG XL and HEIF. The result has the layout "HWC".

    Values are scaled to the range of the type: 255 of uint8 is 65535 of uint16, 32767 of int16 and
    1.0 of float32. JPEG 2000 data of 9 to 15 bits are the exception; they count as 16 bits. Alpha
    channels are dropped, not blended, unless `output_type` is ANY_DATA.

    A file that is damaged, cut short or of an unknown format raises `DecodeError`, and so does one
    with more pixels than `set_max_pixels` allows.

    Parameters
    ----------
    output_type
        Colors of the result: RGB, BGR, GRAY, YCbCr (ITU-R BT.601, computed from RGB), or ANY_DATA
        for the channels of the file: gray, with alpha, CMYK, ...; YCbCr files still become RGB.
    dtype
        Type of the result: uint8, int8, uint16, int16, uint32, int32 or float32.
    adjust_orientation
        Apply the orientation in EXIF data or a TIFF tag, so that images are upright.
    jpeg_fancy_upsampling
        Ignored: the chroma channels of a JPEG are always interpolated, as in DALI on a CPU.
    use_fast_idct
        Use a less accurate cosine transform for JPEGs without an orientation. It is not faster
        here; results equal DALI's.
    size_hint
        The height and width that are needed. A JPEG is then decoded at the smallest of the scales
        1, 1/2, 1/4 and 1/8 at which it is not smaller than that, as cosine transforms of fewer
        samples give it (like `draft` of Pillow). This is not equal to decoding all of it: after
        resizing photographs of 12 megapixels to 224x224, values differ by 0.8 of 255 on average,
        and it takes 2.6 times less time. Files of other formats come out whole.
    affine, device_memory_padding, device_memory_padding_jpeg2k, host_memory_padding,
    host_memory_padding_jpeg2k, hw_decoder_load, hybrid_huffman_threshold, preallocate_height_hint,
    preallocate_width_hint, cache_batch_copy, cache_debug, cache_size, cache_threshold, cache_type
        Ignored; they tune the decoders of NVIDIA GPUs.
    memory_stats, split_stages, use_chunk_allocator
        Ignored and obsolete.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> file = b"P6 2 1 255 " + bytes([255, 0, 0, 0, 0, 255])
    >>> pixels = ndd.decoders.image(np.frombuffer(file, np.uint8))
    >>> pixels.shape, pixels.layout
    ((1, 2, 3), 'HWC')
    >>> ndd.decoders.image([file, file]).batch_size
    2

    Differs from DALI: more files are read, and some that its decoders get wrong come out right; see
    the list in the changelog. `size_hint` is new.
    """
    return decode_images(
        input, output_type, dtype, adjust_orientation, use_fast_idct, size_hint=size_hint
    )


@_decoder("decoders.image_crop")
@_ignoring(_gpu_tuning)
def image_crop(
    input: HostSamples,
    /,
    *,
    crop: FloatsPerSample | None = None,
    crop_d: FloatPerSample = 0.0,
    crop_h: FloatPerSample = 0.0,
    crop_w: FloatPerSample = 0.0,
    crop_pos_x: FloatPerSample = 0.5,
    crop_pos_y: FloatPerSample = 0.5,
    crop_pos_z: FloatPerSample = 0.5,
    rounding: str = "round",
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DType = uint8,
    adjust_orientation: bool = True,
    jpeg_fancy_upsampling: bool = False,
    use_fast_idct: bool = False,
    size_hint: IntsPerSample | None = None,
) -> HostSamples:
    """Decode a window of given size out of each image.

    The result equals that of `decoders.image` followed by `crop`, but of a JPEG only the part that
    is needed is transformed. The window must lie inside the image.

    Parameters
    ----------
    crop, crop_h, crop_w, crop_pos_x, crop_pos_y, rounding
        Size and position of the window in the upright image, as in `crop`.
    crop_d, crop_pos_z
        Ignored: images have no depth.
    output_type, dtype, adjust_orientation, jpeg_fancy_upsampling, use_fast_idct
        As in `decoders.image`.
    size_hint
        As in `decoders.image`, for the size of the window: its position and size mean pixels of the
        image as it is stored, and what comes out is smaller.
    affine, device_memory_padding, device_memory_padding_jpeg2k, host_memory_padding,
    host_memory_padding_jpeg2k, hw_decoder_load, hybrid_huffman_threshold, preallocate_height_hint,
    preallocate_width_hint, memory_stats, split_stages, use_chunk_allocator
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> file = np.frombuffer(b"P5 6 4 255 " + bytes(range(24)), np.uint8)
    >>> ndd.decoders.image_crop(file, crop=(2, 3), crop_pos_x=0.0).shape
    (2, 3, 3)
    """
    arguments = CropArguments(
        crop, crop_d, crop_h, crop_w, crop_pos_x, crop_pos_y, crop_pos_z, rounding
    )

    def windows(sizes: Integers) -> Windows:
        return crop_windows(sizes, "HW", arguments)

    return decode_images(
        input, output_type, dtype, adjust_orientation, use_fast_idct, windows, size_hint
    )


@_decoder("decoders.image_random_crop")
@_ignoring(_gpu_tuning)
def image_random_crop(
    input: HostSamples,
    /,
    *,
    rng: RandomState,
    random_area: tuple[float, ...] = (0.08, 1.0),
    random_aspect_ratio: tuple[float, ...] = (3 / 4, 4 / 3),
    num_attempts: int = 10,
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DType = uint8,
    adjust_orientation: bool = True,
    jpeg_fancy_upsampling: bool = False,
    use_fast_idct: bool = False,
    size_hint: IntsPerSample | None = None,
) -> HostSamples:
    """Decode a window of random size, shape and position out of each image.

    The window is that of `random_crop_generator` for the same generator and the size of the upright
    image. Of a JPEG only the part that is needed is transformed.

    Parameters
    ----------
    random_area
        Lowest and highest share of the image's area.
    random_aspect_ratio
        Lowest and highest width / height.
    num_attempts
        How often to draw before the largest window is taken that the aspect ratio allows.
    output_type, dtype, adjust_orientation, jpeg_fancy_upsampling, use_fast_idct
        As in `decoders.image`.
    size_hint
        As in `decoders.image`, for the size of the window: its position and size mean pixels of the
        image as it is stored, and what comes out is smaller.
    affine, device_memory_padding, device_memory_padding_jpeg2k, host_memory_padding,
    host_memory_padding_jpeg2k, hw_decoder_load, hybrid_huffman_threshold, preallocate_height_hint,
    preallocate_width_hint, memory_stats, split_stages, use_chunk_allocator
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> file = np.frombuffer(b"P5 6 4 255 " + bytes(range(24)), np.uint8)
    >>> whole = ndd.decoders.image_random_crop(file, random_area=[1.0, 1.0],
    ...                                        random_aspect_ratio=[1.5, 1.5])
    >>> whole.shape
    (4, 6, 3)
    """
    aspect = positive_range(random_aspect_ratio, "random_aspect_ratio")
    area = positive_range(random_area, "random_area", or_zero=True)

    def windows(sizes: Integers) -> Windows:
        begins, extents = _kernels.random_crop(
            rng, sizes, aspect, area, check_attempts(num_attempts)
        )
        return Windows(*(to_stacked_numpy(part).astype(np.int64) for part in (begins, extents)))

    return decode_images(
        input, output_type, dtype, adjust_orientation, use_fast_idct, windows, size_hint
    )


@_decoder("decoders.image_slice")
@_ignoring(_gpu_tuning)
def image_slice(
    data: HostSamples,
    anchor: HostSamples | None = None,
    shape_input: HostSamples | None = None,
    /,
    *,
    start: IntsPerSample | None = None,
    rel_start: FloatsPerSample | None = None,
    end: IntsPerSample | None = None,
    rel_end: FloatsPerSample | None = None,
    shape: IntsPerSample | None = None,
    rel_shape: FloatsPerSample | None = None,
    axes: IntsPerSample | None = None,
    axis_names: str = "WH",
    normalized_anchor: bool = True,
    normalized_shape: bool = True,
    output_type: DALIImageType = DALIImageType.RGB,
    dtype: DType = uint8,
    adjust_orientation: bool = True,
    jpeg_fancy_upsampling: bool = False,
    use_fast_idct: bool = False,
    size_hint: IntsPerSample | None = None,
) -> HostSamples:
    """Decode a part of each image, given by begin and end or begin and shape.

    The result equals that of `decoders.image` followed by `slice`, but of a JPEG only the part that
    is needed is transformed. The part must lie inside the image.

    Parameters
    ----------
    anchor, shape_input, start, rel_start, end, rel_end, shape, rel_shape, normalized_anchor,
    normalized_shape
        The part of the upright image, as in `slice`.
    axes, axis_names
        The axes that these values belong to: 0 or "H", 1 or "W"; by default width and height.
    output_type, dtype, adjust_orientation, jpeg_fancy_upsampling, use_fast_idct
        As in `decoders.image`.
    size_hint
        As in `decoders.image`, for the size of the window: its position and size mean pixels of the
        image as it is stored, and what comes out is smaller.
    affine, device_memory_padding, device_memory_padding_jpeg2k, host_memory_padding,
    host_memory_padding_jpeg2k, hw_decoder_load, hybrid_huffman_threshold, preallocate_height_hint,
    preallocate_width_hint, memory_stats, split_stages, use_chunk_allocator
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> file = np.frombuffer(b"P5 6 4 255 " + bytes(range(24)), np.uint8)
    >>> ndd.decoders.image_slice(file, start=[1, 2], end=[4, 4]).shape
    (2, 3, 3)
    """
    arguments = SliceArguments(
        start,
        rel_start,
        end,
        rel_end,
        shape,
        rel_shape,
        axes,
        axis_names,
        normalized_anchor,
        normalized_shape,
    )

    def windows(sizes: Integers) -> Windows:
        return slice_windows(sizes, "HW", arguments, anchor, shape_input)

    return decode_images(
        data, output_type, dtype, adjust_orientation, use_fast_idct, windows, size_hint
    )


@op(output_dtypes=_SHAPE_TYPES, result=Result(ndim=1, shape=lambda _: [[3]]), encoded=True)
def peek_image_shape(
    input: HostSamples,
    /,
    *,
    image_type: DALIImageType = DALIImageType.RGB,
    dtype: DType = int64,
    adjust_orientation: bool = True,
) -> Samples:
    """Find the shape that an encoded image will have, without decoding it.

    The result is (height, width, channels). AVIF, JPEG XL and HEIF files have to be decoded for it.

    Parameters
    ----------
    image_type
        Colors that the image would be decoded to; they decide about the channels.
    dtype
        Type of the result: int32, uint32, int64, uint64, float32 or float64.
    adjust_orientation
        Return the shape of the upright image, as `decoders.image` does.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> file = np.frombuffer(b"P5 6 4 255 " + bytes(range(24)), np.uint8)
    >>> ndd.peek_image_shape(file).torch().tolist()
    [4, 6, 3]
    """
    files = read_headers(input, adjust_orientation)
    shapes = to_samples(files.shapes(image_type), None, None, "peek_image_shape")
    samples = shapes.as_internal().unfold()
    return cast_samples(samples, dtype)
