# SPDX-License-Identifier: Apache-2.0
"""Whole files of every kind, of which the fuzzers make damaged ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.audio_makers import encoded, pcm, signal, wav
from support.image_makers import bmp, exif, jpeg, picture, png, png_chunk, pnm, save, tiff
from support.png_makers import Packing, filtered_png

HEIGHT, WIDTH = 37, 45
# The types of imagecodecs say bytes or bytearray; without `out` it is bytes.
CODECS: Any = imagecodecs
COLORS = np.random.default_rng(0).integers(0, 256, (256, 3), np.uint8)


def whole_files() -> dict[str, bytes]:
    """An image of each kind; the first word of a name is that of the format."""
    return jpegs() | pngs() | tiffs() | bitmaps() | others()


def audio_files() -> dict[str, bytes]:
    """Audio in the formats that are decoded natively."""
    data, bits, _ = pcm(signal(300, 2), "i16")
    files = {"wav": wav(data, bits, 2)}
    for channels in (1, 2, 3, 6):
        values = signal(9000, channels)
        files[f"ogg {channels}"] = encoded(values, 44100, "OGG", "VORBIS")
        files[f"flac {channels}"] = encoded(values[:3000], 44100, "FLAC", "PCM_16")
    files["ogg 8000"] = encoded(signal(5000, 2), 8000, "OGG", "VORBIS")
    return files


def jpegs() -> dict[str, bytes]:
    """JPEG in all the codings that are decoded natively, and one that is not."""
    color, alpha, gray = (picture(HEIGHT, WIDTH, channels) for channels in (3, 4, 1))
    deep = picture(HEIGHT, WIDTH, 3, 16)
    return {
        "jpeg": jpeg(color, exif=exif(6)),
        "jpeg 4:4:4": jpeg(color, subsampling=0, restart_marker_blocks=2),
        "jpeg gray": jpeg(gray),
        "jpeg progressive": jpeg(color, progressive=True),
        "jpeg progressive 4:4:4": jpeg(
            color, progressive=True, subsampling=0, restart_marker_blocks=2
        ),
        "jpeg progressive gray": jpeg(gray, progressive=True),
        "jpeg ycck": CODECS.jpeg8_encode(alpha, 90, colorspace="CMYK", outcolorspace="YCCK"),
        "jpeg cmyk": jpeg(alpha, mode="CMYK", restart_marker_blocks=2),
        "jpeg progressive cmyk": jpeg(alpha, mode="CMYK", progressive=True),
        "jpeg lossless": CODECS.jpeg8_encode(deep, lossless=True, bitspersample=16),
    }


def pngs() -> dict[str, bytes]:
    """PNG of several depths, with all filters and kinds of blocks."""
    color, alpha, gray = (picture(HEIGHT, WIDTH, channels) for channels in (3, 4, 1))
    deep = picture(HEIGHT, WIDTH, 3, 16)
    palette = png_chunk(b"PLTE", COLORS.tobytes())
    gamma = png_chunk(b"gAMA", (45455).to_bytes(4, "big"))
    return {
        "png": png(color, 8, 2, before=gamma),
        "png 16": png(deep, 16, 2, before=png_chunk(b"eXIf", exif(5)[6:])),
        "png filters": filtered_png(alpha, 8, 6, packing=Packing(9, pieces=3)),
        "png bits": filtered_png(gray >> 6, 2, 0, packing=Packing(strategy=4)),
        "png stored": filtered_png(gray, 8, 0, packing=Packing(level=0)),
        "png palette": png(gray, 8, 3, before=palette, interlaced=True),
        "png alpha": png(alpha, 8, 6, interlaced=True),
    }


def tiffs() -> dict[str, bytes]:
    """TIFF of several types, layouts and compressions."""
    color, alpha, gray = (picture(HEIGHT, WIDTH, channels) for channels in (3, 4, 1))
    deep = picture(HEIGHT, WIDTH, 3, 16)
    return {
        "tiff": tiff(color, 8, 2, rows_per_strip=8),
        "tiff lzw": tiff(deep, 16, 2, compression=5, rows_per_strip=8),
        "tiff deflate tiles": tiff(alpha, 8, 2, compression=8, tile=(16, 16)),
        "tiff palette": tiff(gray, 8, 3, tags={320: np.arange(768).tolist()}),
        "tiff planar": tiff(color, 8, 2, planar=True, big=True),
        "tiff bits": tiff(gray >> 7, 1, 0),
        "tiff jpeg": save(color, "TIFF", compression="jpeg"),
        "tiff float": tiff(deep.astype(np.float32), 32, 2, tags={339: [3, 3, 3], 274: [7]}),
    }


def bitmaps() -> dict[str, bytes]:
    """BMP, PNM and GIF."""
    color, alpha, gray = (picture(HEIGHT, WIDTH, channels) for channels in (3, 4, 1))
    deep = picture(HEIGHT, WIDTH, 3, 16)
    palette = np.concatenate([COLORS, np.zeros((256, 1), np.uint8)], axis=1).tobytes()
    masks = (255, 65280, 16711680)
    # Runs, a step to the right, single pixels, and the end of the row; without padding.
    runs = bytes([40, 3, 5, 7, 0, 0]), bytes([20, 53, 0, 2, 1, 0, 0, 5, 18, 52, 80, 0, 19, 7, 0, 0])
    return {
        "bmp": bmp([row.tobytes() for row in color], WIDTH, 24),
        "bmp palette": bmp([row.tobytes() for row in gray], WIDTH, 8, palette=palette),
        "bmp runs": bmp([runs[0]] * HEIGHT, WIDTH, 8, palette=palette, compression=1),
        "bmp runs of 4 bits": bmp(
            [runs[1]] * HEIGHT, WIDTH, 4, palette=palette[:64], compression=2, top_down=True
        ),
        "bmp masks": bmp([row.tobytes() for row in alpha], WIDTH, 32, compression=3, masks=masks),
        "pnm": pnm(color, 6),
        "pnm 16": pnm(deep, 6, 60000),
        "pnm text": pnm(gray, 2),
        "pnm bits": pnm(gray >> 7, 4),
        "pnm bits as text": pnm(gray >> 7, 1),
        "gif": save(color, "GIF", interlace=0),
        "gif interlaced": save(gray, "GIF", interlace=1, transparency=3),
    }


def others() -> dict[str, bytes]:
    """What other libraries decode."""
    color, alpha = picture(HEIGHT, WIDTH), picture(HEIGHT, WIDTH, 4)
    deep = picture(HEIGHT, WIDTH, 3, 16)
    return {
        "webp": save(color, "WEBP", quality=80),
        "webp lossless": save(alpha, "WEBP", lossless=True, exif=exif(6)[6:]),
        "jp2": CODECS.jpeg2k_encode(color, level=0, codecformat="jp2", reversible=True),
        "jp2 lossy": CODECS.jpeg2k_encode(deep, level=40, codecformat="j2k"),
        "avif": CODECS.avif_encode(color),
        "jxl": CODECS.jpegxl_encode(color),
    }
