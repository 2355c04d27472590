# SPDX-License-Identifier: Apache-2.0
"""Images in FITS files. Format: https://fits.gsfc.nasa.gov/fits_standard.html"""

from __future__ import annotations

import functools
import io
import math
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pixels import CodecError

_BLOCK = 2880
_CARD = 80
_TYPES = {8: ">u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
_GZIP_MAGIC = b"\x1f\x8b"


class Header(NamedTuple):
    """The keywords of a part of a file, and how many bytes of data belong to it."""

    keywords: Mapping[str, Any]
    nbytes: int


class Unit(NamedTuple):
    """One part of a file: its header, and where its data begin."""

    header: bytes
    begin: int


class Layout(NamedTuple):
    """How an image is stored, and of which type it is when it has been scaled."""

    bits: int
    shape: tuple[int, ...]
    scale: float
    zero: float
    dtype: np.dtype[Any]
    is_compressed: bool


class Stored(NamedTuple):
    """An image that lies in the file as it is, in big-endian order."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def read(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """The image, from the contents of the file."""
        count = math.prod(self.shape)
        stored = np.frombuffer(data, self.dtype.newbyteorder(">"), count, self.offset)
        return stored.reshape(self.shape).astype(self.dtype)


def read_images(data: NDArray[np.uint8], numbers: list[int]) -> list[NDArray[Any] | Stored]:
    """The images of some units of a file, which are counted from 1, or where they are."""
    if data[:2].tobytes() == _GZIP_MAGIC:
        data = _unzipped(data)
        return [
            image.read(data) if isinstance(image, Stored) else image
            for image in read_images(data, numbers)
        ]
    units = []
    for unit in _units(data):
        units.append(unit)
        if len(units) == max(numbers):
            break
    images: list[NDArray[Any] | Stored] = []
    for number in numbers:
        if number > len(units):
            msg = f"has {len(units)} units, of which number {number} should be read"
            raise CodecError(msg)
        try:
            images.append(_read_image(data, units[number - 1], number))
        except CodecError as error:
            msg = f"has a bad unit {number}: {error}"
            raise CodecError(msg) from None
    return images


def _unzipped(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    import gzip

    try:
        return np.frombuffer(gzip.decompress(data.tobytes()), np.uint8)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"is damaged: {error}"
        raise CodecError(msg) from None


def _units(data: NDArray[np.uint8]) -> Iterator[Unit]:
    if data[:9].tobytes() != b"SIMPLE  =":
        msg = "is not a FITS file: it does not begin with SIMPLE"
        raise CodecError(msg)
    offset = 0
    # Anything may follow the last unit, but hardly ever does.
    while offset < data.size and (
        offset == 0 or data[offset : offset + 8].tobytes() == b"XTENSION"
    ):
        begin = offset
        while not _ends_header(data, begin, offset):
            offset += _BLOCK
        offset += _BLOCK
        header = data[begin:offset].tobytes()
        nbytes = _read_header(header).nbytes
        if offset + nbytes > data.size:
            msg = f"is cut short: it ends after {data.size} bytes, inside the data of a unit"
            raise CodecError(msg)
        yield Unit(header, offset)
        offset += -(-nbytes // _BLOCK) * _BLOCK


def _ends_header(data: NDArray[np.uint8], begin: int, offset: int) -> bool:
    """Whether the block at `offset` holds the end of the header that starts at `begin`."""
    block = data[offset : offset + _BLOCK].tobytes()
    if len(block) < _BLOCK:
        msg = f"is cut short: it ends after {data.size} bytes, inside the header at byte {begin}"
        raise CodecError(msg)
    end = block.find(b"END     ")
    while end >= 0 and end % _CARD:
        end = block.find(b"END     ", end + 1)
    return end >= 0


# The files of a data set often share headers.
@functools.lru_cache(maxsize=256)
def _read_header(header: bytes) -> Header:
    """The keywords that have values, and the size of the data."""
    found: dict[str, Any] = {}
    for k in range(0, len(header), _CARD):
        card = header[k : k + _CARD].decode("latin-1")
        name = card[:8].rstrip()
        if name == "END":
            break
        if card[8:10] == "= ":
            found.setdefault(name, _value(card[10:]))
    return Header(found, _data_size(found))


def _value(text: str) -> Any:
    text = text.strip()
    if text.startswith("'"):
        # A quote inside of a string is doubled.
        end = 1
        while end < len(text) and (text[end] != "'" or text[end : end + 2] == "''"):
            end += 2 if text[end : end + 2] == "''" else 1
        return text[1:end].replace("''", "'").rstrip()
    text = text.partition("/")[0].strip()
    if text in ("T", "F"):
        return text == "T"
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text.replace("D", "E").replace("d", "e"))
    except ValueError:
        return text


def _number(keywords: Mapping[str, Any], name: str, default: float | None = None) -> Any:
    value = keywords.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        msg = f"has a header without a number {name}"
        raise CodecError(msg)
    return value


def _axes(keywords: Mapping[str, Any], prefix: str = "") -> list[int]:
    """The extents of an image, the fastest axis last."""
    count = _number(keywords, f"{prefix}NAXIS")
    if not isinstance(count, int) or not 0 <= count <= 999:
        msg = f"has a header with a wrong number of axes: {count}"
        raise CodecError(msg)
    extents = [_number(keywords, f"{prefix}NAXIS{k}") for k in range(count, 0, -1)]
    if any(not isinstance(extent, int) or extent < 0 for extent in extents):
        msg = f"has a header with wrong extents: {extents}"
        raise CodecError(msg)
    return extents


def _data_size(keywords: Mapping[str, Any]) -> int:
    if not _number(keywords, "NAXIS"):
        return 0
    extents = _axes(keywords)
    if keywords.get("GROUPS") is True and extents[-1] == 0:
        extents = extents[:-1]
    elements = _number(keywords, "PCOUNT", 0) + math.prod(extents)
    size = abs(_number(keywords, "BITPIX")) // 8 * _number(keywords, "GCOUNT", 1) * elements
    if not isinstance(size, int) or not 0 <= size < 1 << 62:
        msg = "has a header with a wrong size"
        raise CodecError(msg)
    return size


@functools.lru_cache(maxsize=256)
def _read_layout(header: bytes) -> Layout:
    keywords = _read_header(header).keywords
    is_compressed = keywords.get("ZIMAGE") is True
    if not is_compressed and keywords.get("XTENSION", "IMAGE") != "IMAGE":
        msg = f"it is a {keywords.get('XTENSION')}, not an image"
        raise CodecError(msg)
    prefix = "Z" if is_compressed else ""
    shape = _axes(keywords, prefix)
    if not shape or keywords.get("GROUPS") is True:
        msg = "it has no image"
        raise CodecError(msg)
    bits = _number(keywords, f"{prefix}BITPIX")
    if bits not in _TYPES:
        msg = f"BITPIX is {bits}; known are {', '.join(map(str, _TYPES))}"
        raise CodecError(msg)
    scale = float(_number(keywords, "BSCALE", 1.0))
    zero = float(_number(keywords, "BZERO", 0.0))
    kind = _equivalent_type(bits, scale, zero)
    return Layout(bits, tuple(shape), scale, zero, kind, is_compressed)


def _read_image(data: NDArray[np.uint8], unit: Unit, number: int) -> NDArray[Any] | Stored:
    layout = _read_layout(unit.header)
    if layout.is_compressed:
        return _decompressed(data, number, layout.shape).astype(layout.dtype)
    if layout.scale == 1 and layout.zero == 0:
        return Stored(layout.dtype, layout.shape, unit.begin)
    count = math.prod(layout.shape)
    stored = np.frombuffer(data, _TYPES[layout.bits], count, unit.begin).reshape(layout.shape)
    return _scaled(stored, layout.scale, layout.zero, layout.dtype)


def _equivalent_type(bits: int, scale: float, zero: float) -> np.dtype[Any]:
    """The type that holds all scaled values, as the library CFITSIO chooses it."""
    plain = np.dtype(_TYPES[bits]).newbyteorder("=")
    if bits not in (8, 16, 32) or (scale == 1 and zero == 0):
        return plain
    unsigned = zero == 2.0**31
    if not unsigned and not (zero < 2.0**31 and zero.is_integer() and scale.is_integer()):
        return np.dtype("f4" if bits < 32 else "f8")
    limits = np.iinfo(plain.name)
    low, high = (zero + scale * float(limit) for limit in (limits.min, limits.max))
    if scale < 0:
        # This is what the library computes, though it is not the lowest value.
        low, high = zero + scale * low, low
    if low == -128 and high == 127:
        return np.dtype("i1")
    for name in ("i2", "u2", "i4", "u4"):
        range_ = np.iinfo(name)
        if range_.min <= low and high <= range_.max:
            return np.dtype(name)
    return np.dtype("f8")


def _scaled(stored: NDArray[Any], scale: float, zero: float, kind: np.dtype[Any]) -> NDArray[Any]:
    highest_bit = 1 << (8 * kind.itemsize - 1)
    same_size = stored.dtype.kind == "i" and stored.itemsize == kind.itemsize
    if scale == 1 and zero == float(highest_bit) and same_size:
        # Unsigned numbers are stored with the highest bit flipped.
        flipped = stored.astype(f"u{kind.itemsize}") ^ highest_bit
        if kind.kind == "u" or flipped.max(initial=0) < highest_bit:
            return flipped.astype(kind)
        msg = f"it has numbers that do not fit into the type {kind}"
        raise CodecError(msg)
    values = stored.astype(np.float64) * scale + zero
    if kind.kind in "iu" and values.size:
        limits = np.iinfo(kind.name)
        # The highest numbers of 64 bits are no floating-point numbers.
        if values.min() < limits.min or values.max() >= float(limits.max) + 1:
            msg = f"it has numbers that do not fit into the type {kind}"
            raise CodecError(msg)
    return values.astype(kind)


def _decompressed(data: NDArray[np.uint8], number: int, shape: tuple[int, ...]) -> NDArray[Any]:
    try:
        from astropy.io import fits
    except ImportError:
        msg = "compressed images need the package astropy. Install daliesque[fits]"
        raise ImportError(msg) from None
    try:
        with fits.open(io.BytesIO(data.tobytes()), memmap=False) as file:
            image = file[number - 1].data
    except Exception as error:
        msg = f"its tiles cannot be decompressed ({error})"
        raise CodecError(msg) from error
    if image is None or image.shape != shape:
        msg = "its tiles do not make up the image"
        raise CodecError(msg)
    return np.asarray(image)
