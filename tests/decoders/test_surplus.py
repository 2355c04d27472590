# SPDX-License-Identifier: Apache-2.0
"""PNG files with data that no image needs: they are passed over, whatever they would expand to."""

from __future__ import annotations

import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEIGHT, WIDTH = 20, 24
# One mebibyte of zeros for each of these; a gigabyte takes about a megabyte in the file.
GIGABYTE = 1024
# Decodes the files that it is given, with so little memory that no gigabyte fits into it.
DECODE = """
import resource, sys
import numpy as np
import daliesque as ndd
resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29))
for path in sys.argv[1:]:
    print(np.asarray(ndd.decoders.image(path)).sum(dtype=np.int64))
"""


def chunk(name: bytes, contents: bytes) -> bytes:
    check = zlib.crc32(name + contents)
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)


def pixels() -> NDArray[np.uint8]:
    return np.random.default_rng(5).integers(0, 256, (HEIGHT, WIDTH, 3), np.uint8)


def rows(interlaced: bool) -> bytes:
    """The pixels as a PNG stores them, without filters."""
    image, parts = pixels(), []
    steps = [(0, 0, 1, 1)]
    if interlaced:
        steps = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4)]
        steps += [(0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    for column, row, across, down in steps:
        parts += [b"\0" + line.tobytes() for line in image[row::down, column::across]]
    return b"".join(parts)


def png(
    *, surplus: int = 0, interlaced: bool = False, before: bytes = b"", after: bytes = b""
) -> bytes:
    """A PNG with so many mebibytes of zeros after its pixels, in the same stream."""
    packer = zlib.compressobj(9)
    stream = packer.compress(rows(interlaced))
    for _ in range(surplus):
        stream += packer.compress(bytes(1 << 20))
    stream += packer.flush()
    form = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, interlaced)
    half = len(stream) // 2
    data = chunk(b"IDAT", stream[:half]) + chunk(b"IDAT", stream[half:])
    return SIGNATURE + chunk(b"IHDR", form) + before + data + after + chunk(b"IEND", b"")


CASES = {
    "in the stream": png(surplus=GIGABYTE),
    "in the stream of an interlaced image": png(surplus=GIGABYTE, interlaced=True),
    "empty chunks": png(before=chunk(b"teXt", b"") * 100_000),
    "empty chunks of pixels": png(after=chunk(b"IDAT", b"") * 100_000),
    "in a chunk": png(before=chunk(b"teXt", bytes(1 << 24))),
    "compressed text": png(before=chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(1 << 28), 9))),
    "after the end": png() + bytes(1 << 24),
}


def test_surplus_is_not_expanded(tmp_path: Path) -> None:
    """In a process without the memory for it; libpng would also write a warning."""
    paths = []
    for name, content in CASES.items():
        paths.append(tmp_path / f"{name}.png")
        paths[-1].write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", DECODE, *map(str, paths)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(pixels().sum(dtype=np.int64))] * len(paths)
    assert done.stderr == ""


@pytest.mark.parametrize("name", CASES)
def test_the_pixels_are_right(name: str) -> None:
    decoded = ndd.decoders.image(CASES[name])
    np.testing.assert_array_equal(np.asarray(decoded), pixels())


def test_pixels_that_are_missing_are_noticed() -> None:
    """Also in a file that has enough bytes for them."""
    form = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    short = zlib.compress(rows(False)[:-1]) + bytes(1 << 20)
    data = chunk(b"IHDR", form) + chunk(b"IDAT", short) + chunk(b"IEND", b"")
    with pytest.raises(ndd.DecodeError, match="PNG"):
        ndd.decoders.image(SIGNATURE + data).evaluate()


def test_image_data_in_too_many_pieces_is_refused() -> None:
    pieces = (chunk(b"IDAT", b"") + chunk(b"teXt", b"")) * 5000
    with pytest.raises(ndd.DecodeError, match="more than 4096 pieces of image data"):
        ndd.decoders.image(png(before=pieces)).evaluate()
