# SPDX-License-Identifier: Apache-2.0
"""Batches of encoded images: headers, windows, pixels.

PNG, BMP, PNM, GIF and most JPEG files are read and decoded by the native module, all of a batch at
once. Other files go one by one through the codecs of `_codecs`, which the same native threads call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import DType
from .._engine.enums import DALIImageType
from .._engine.errors import DecodeError, OpError, SampleError
from .._engine.samples import HostSamples
from .windows import Integers, Windows

ImageKind: TypeAlias = _kernels.EncodedImage.Kind
_CHANNELS_OF = {DALIImageType.GRAY: 1, DALIImageType.ANY_DATA: 0}


class _Limit:
    max_pixels = 1 << 28


def set_max_pixels(max_pixels: int) -> int:
    """Set how many pixels an image may have, and return the previous limit.

    Decoders refuse larger ones with a `DecodeError` before they reserve memory: a file of some
    kilobytes can claim an image of gigabytes. The limit at start is 2**28, e.g. 16384 x 16384. A
    pixel with more than four channels counts as several.

    Parameters
    ----------
    max_pixels
        The new limit, at least 1.

    Examples
    --------
    >>> import daliesque as ndd
    >>> previous = ndd.decoders.set_max_pixels(100_000_000)
    >>> ndd.decoders.set_max_pixels(previous)
    100000000
    """
    if not isinstance(max_pixels, int) or isinstance(max_pixels, bool):
        msg = f"decoders.set_max_pixels: 'max_pixels' must be an integer; got {max_pixels!r}."
        raise TypeError(msg)
    if max_pixels < 1:
        msg = f"decoders.set_max_pixels: 'max_pixels' must be positive; got {max_pixels}."
        raise ValueError(msg)
    previous = _Limit.max_pixels
    _Limit.max_pixels = max_pixels
    return previous


def max_pixels() -> int:
    """How many pixels an image may have."""
    return _Limit.max_pixels


class ImageFiles(NamedTuple):
    """Encoded images whose headers have been read.

    `codecs` holds bytes, format and header of those that the native module does not read.
    """

    encoded: HostSamples
    headers: _kernels.ImageHeaders
    codecs: dict[int, Any]

    def shapes(self, image_type: DALIImageType) -> Integers:
        """Height, width and channels that each image has as `image_type`, upright."""
        shapes: Integers = self.headers.upright_shapes()
        count = _CHANNELS_OF.get(image_type, 3)
        if count:
            shapes[:, 2] = count
        return shapes


def read_headers(encoded: HostSamples, adjust_orientation: bool) -> ImageFiles:
    """Read the headers of all images."""
    if encoded.ndim != 1 or encoded.type_id != 0:
        msg = (
            "encoded images must be one-dimensional arrays of uint8; got "
            f"{encoded.ndim} dimensions. Pass the bytes of the files."
        )
        raise ValueError(msg)
    headers = _kernels.ImageHeaders(encoded)
    broken = headers.find(ImageKind.broken)
    codecs: dict[int, Any] = {}
    for index in headers.find(ImageKind.other):
        if broken and broken[0] < index:
            break
        codecs[index] = _read_other_header(encoded, index)
        _, _, header = codecs[index]
        headers.set(index, header.height, header.width, header.channels, header.orientation)
    if broken:
        raise SampleError(broken[0], headers[broken[0]].fault, DecodeError)
    if not adjust_orientation:
        headers.ignore_orientation()
    return ImageFiles(encoded, headers, codecs)


def _read_other_header(encoded: HostSamples, index: int) -> tuple[bytes, Any, Any]:
    # Imported here because this loads codec libraries, which most programs never need.
    from .._codecs.formats import read_header
    from .._codecs.pixels import CodecError

    data = to_numpy(encoded, index).tobytes()
    try:
        found, header = read_header(data, _Limit.max_pixels)
    except CodecError as error:
        raise SampleError(index, str(error), DecodeError) from error.__cause__
    return data, found, header


def decode_images(
    encoded: HostSamples,
    image_type: DALIImageType,
    dtype: DType,
    adjust_orientation: bool,
    fast_idct: bool,
    choose_windows: Callable[[Integers], Windows] | None = None,
    size_hint: NDArray[np.int32] | None = None,
    allocate: Callable[[Integers], HostSamples] | None = None,
) -> HostSamples:
    """Decode a part of each image, or all of it.

    `choose_windows` gets the sizes of the upright images, and returns windows inside of them. JPEGs
    are made smaller as long as the windows have the height and width in `size_hint`. `allocate`
    gets the shapes of the results, and returns memory for them.
    """
    if size_hint is not None and (size_hint.shape[1] != 2 or (size_hint < 1).any()):
        msg = f"'size_hint' must be a height and a width of 1 or more; got {size_hint.tolist()}."
        raise ValueError(msg)
    if len(encoded) == 0:
        return _kernels.empty_uniform(dtype.code, [0, 0, 0], "HWC", 0)
    files = read_headers(encoded, adjust_orientation)
    check_pixels(files.headers)
    sizes = files.headers.upright_shapes()[:, :2]
    windows = np.concatenate([np.zeros_like(sizes), sizes], axis=1)
    if choose_windows is not None:
        chosen = choose_windows(sizes)
        windows[:, :2], windows[:, 2:] = chosen.anchors, chosen.extents
        _check_windows(windows, sizes)
    reductions = np.ones(len(encoded), np.int64)
    if size_hint is not None:
        windows, reductions = _kernels.reduce_windows(files.headers, windows, size_hint)
    codecs = _OtherCodecs(files, windows, reductions, image_type)
    memory = None
    if allocate is not None:
        shapes = files.shapes(image_type)
        shapes[:, :2] = windows[:, 2:]
        memory = allocate(shapes)
    return _kernels.decode_images(
        encoded,
        files.headers,
        windows,
        reductions,
        image_type,
        dtype.code,
        fast_idct=fast_idct,
        decode_other=codecs.decode,
        memory=memory,
    )


def check_pixels(headers: _kernels.ImageHeaders) -> None:
    """Refuse images so large that they are probably meant to exhaust memory."""
    index = headers.find_too_large(_Limit.max_pixels)
    if index is not None:
        image = headers[index]
        # Memory is what matters, so a pixel of many channels counts as several of four.
        wide = f" of {image.channels} channels" if image.channels > 4 else ""
        reason = (
            f"has {image.height} x {image.width} pixels{wide}, more than the limit of "
            f"{_Limit.max_pixels}. decoders.set_max_pixels raises it"
        )
        raise SampleError(index, reason, DecodeError)


def _check_windows(windows: Integers, sizes: Integers) -> None:
    begins, extents = windows[:, :2], windows[:, 2:]
    wrong = ((begins < 0) | (begins + extents > sizes) | (extents < 1)).any(axis=1)
    if wrong.any():
        index = int(np.argmax(wrong))
        (top, left), (bottom, right) = begins[index], begins[index] + extents[index]
        height, width = sizes[index].tolist()
        fault = "is empty" if (extents[index] < 1).any() else "leaves the image"
        reason = (
            f"has {height} x {width} pixels; the window of rows [{top}, {bottom}) and columns "
            f"[{left}, {right}) {fault}"
        )
        raise SampleError(index, reason, OpError)


class _OtherCodecs(NamedTuple):
    """Decodes what the native module did not, among it damaged files that a library may repair."""

    files: ImageFiles
    windows: Integers
    reductions: Integers
    image_type: DALIImageType

    def decode(self, out: HostSamples, index: int, failure: _kernels.DecodeFailure | None) -> None:
        """Decode one image into a batch of one; `failure` is that of the native module."""
        from .._codecs.pixels import CodecError

        if failure is not None and failure.is_final:
            raise SampleError(index, failure.reason, DecodeError)
        try:
            array, gray_rule = self._pixels(index)
        except CodecError as error:
            reason = (failure.reason if failure is not None else "") or str(error)
            raise SampleError(index, reason, DecodeError) from error.__cause__
        except MemoryError as error:
            reason = f"needs more memory than there is: {error}"
            raise SampleError(index, reason, DecodeError) from error
        header = self.files.headers[index]
        promised = [header.height, header.width, header.channels]
        # Only ANY_DATA needs all channels.
        axes = 3 if self.image_type is DALIImageType.ANY_DATA else 2
        if array.ndim != 3 or list(array.shape[:axes]) != promised[:axes]:
            reason = (
                f"is damaged: its header promises {promised} rows, columns and channels, but it "
                f"holds {list(array.shape)}"
            )
            raise SampleError(index, reason, DecodeError)
        _kernels.write_pixels(
            out,
            index=0,
            pixels=np.ascontiguousarray(_shrink(array, int(self.reductions[index]))),
            gray_rule=gray_rule,
            orientation=header.orientation,
            window=self.windows[index].tolist(),
            image_type=self.image_type,
        )

    def _pixels(self, index: int) -> Any:
        from .._codecs import jpeg
        from .._codecs.pixels import ImageHeader, Wanted

        wanted = {DALIImageType.GRAY: Wanted.GRAY, DALIImageType.ANY_DATA: Wanted.ALL}.get(
            self.image_type, Wanted.COLOR
        )
        if index in self.files.codecs:
            data, found, header = self.files.codecs[index]
            orientation = self.files.headers[index].orientation
            return found.decode(data, header._replace(orientation=orientation), wanted)
        stored = self.files.headers[index]
        header = ImageHeader(stored.height, stored.width, stored.channels, stored.orientation)
        return jpeg.decode(to_numpy(self.files.encoded, index).tobytes(), header, wanted)


def _shrink(pixels: Any, reduction: int) -> Any:
    """Means of squares: for a JPEG that the native module would have made smaller."""
    if reduction == 1:
        return pixels
    pads = [(0, -extent % reduction) for extent in pixels.shape[:2]]
    padded = np.pad(pixels, [*pads, (0, 0)], mode="edge")
    height, width = (extent // reduction for extent in padded.shape[:2])
    squares = padded.reshape(height, reduction, width, reduction, -1)
    return np.rint(squares.mean(axis=(1, 3))).astype(pixels.dtype)
