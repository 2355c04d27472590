# SPDX-License-Identifier: Apache-2.0
"""The image decoders give the reference's pixels.

Files are made here; a folder of more can be named in the variable DALIESQUE_IMAGES.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import imagecodecs
import numpy as np
import pytest

from support.compare import assert_close, assert_same
from support.image_makers import (
    Array,
    as_samples,
    bmp,
    exif,
    jpeg,
    picture,
    png,
    png_chunk,
    pnm,
    save,
    tiff,
    with_exif,
)
from support.jpeg_makers import Scan, random_frame, random_script, with_adobe, write_jpeg
from support.oracle import ours, reference

pytestmark = pytest.mark.oracle

IMAGE_TYPES = {"RGB": 0, "BGR": 1, "GRAY": 2, "YCbCr": 3, "ANY_DATA": 4}
# The reference refuses to give the channels of a CMYK file.
CMYK_TYPES = ["RGB", "BGR", "GRAY", "YCbCr"]
ELEMENT_TYPES = ["uint8", "uint16", "int16", "float32"]


def jpegs() -> dict[str, bytes]:
    color = picture(61, 83)
    files = {f"jpeg exif {o}": jpeg(color, exif=exif(o)) for o in range(1, 9)}
    return files | {
        "jpeg 4:4:4": jpeg(color, subsampling=0),
        "jpeg 4:2:2": jpeg(color, subsampling=1),
        "jpeg 4:4:0": imagecodecs.jpeg8_encode(color, 90, subsampling="440"),
        "jpeg 4:1:1": imagecodecs.jpeg8_encode(color, 90, subsampling="411"),
        "jpeg progressive": jpeg(color, progressive=True),
        "jpeg progressive oriented": jpeg(color, progressive=True, exif=exif(6)),
        "jpeg progressive 4:4:4": jpeg(color, progressive=True, subsampling=0, quality=98),
        "jpeg progressive 4:2:2": jpeg(color, progressive=True, subsampling=1, quality=30),
        "jpeg progressive restarts": jpeg(color, progressive=True, restart_marker_blocks=2),
        "jpeg restarts": jpeg(color, restart_marker_blocks=2),
        "jpeg rgb": imagecodecs.jpeg8_encode(color, 95, colorspace="RGB", outcolorspace="RGB"),
        "jpeg trailing bytes": jpeg(color) + b"more" * 50,
    }


def cmyk_jpegs() -> dict[str, bytes]:
    cmyk = picture(61, 83, 4)
    sampled = random_frame(np.random.default_rng(2), 83, 61, [0x22, 0x11, 0x11, 0x22])
    script = [Scan(range(4), 0, 0, 0, 1), *(Scan([i], 1, 63) for i in range(4))]
    progressive = write_jpeg(sampled, [*script, Scan(range(4), 0, 0, 1, 0)])
    return {
        "cmyk": jpeg(cmyk, mode="CMYK"),
        "cmyk restarts": jpeg(cmyk, mode="CMYK", restart_marker_blocks=2),
        "cmyk progressive": jpeg(cmyk, mode="CMYK", progressive=True),
        "cmyk without marker": write_jpeg(sampled, None),
        "cmyk without marker progressive": progressive,
        "ycck": imagecodecs.jpeg8_encode(cmyk, 90, colorspace="CMYK", outcolorspace="YCCK"),
        "ycck progressive": with_adobe(progressive, 2),
    }


def pngs() -> dict[str, bytes]:
    files = {}
    kinds = {0: (1, (1, 2, 4, 8, 16)), 2: (3, (8, 16)), 6: (4, (8, 16))}
    for color_type, (channels, depths) in kinds.items():
        for bits in depths:
            source = picture(33, 47, channels, bits)
            for interlaced in (False, True):
                name = f"png {color_type} {bits}" + " interlaced" * interlaced
                files[name] = png(source, bits, color_type, interlaced=interlaced)
    colors = png_chunk(b"PLTE", np.random.default_rng(0).integers(0, 256, 768, np.uint8).tobytes())
    files["png palette"] = png(picture(33, 47, 1), 8, 3, before=colors)
    clear = png_chunk(b"tRNS", bytes(range(200)))
    files["png clear palette"] = png(picture(33, 47, 1), 8, 3, before=colors + clear)
    for orientation in (2, 5, 8):
        chunk = png_chunk(b"eXIf", exif(orientation)[6:])
        files[f"png exif {orientation}"] = png(picture(33, 47), 8, 2, before=chunk)
    return files


def tiffs() -> dict[str, bytes]:
    color, deep, gray = picture(33, 47), picture(33, 47, 3, 16), picture(33, 47, 1)
    colors = np.random.default_rng(1).integers(0, 65536, 768).tolist()
    real = (deep / np.float32(50000) - np.float32(0.1)).astype(np.float32)
    return {
        "tiff": tiff(color, 8, 2),
        "tiff 16": tiff(deep, 16, 2, order=">"),
        "tiff gray": tiff(gray, 8, 1),
        "tiff gray 12": tiff(picture(33, 47, 1, 12), 12, 1),
        "tiff white is zero": tiff(gray, 8, 0),
        "tiff alpha": tiff(picture(33, 47, 4), 8, 2, tags={338: [2]}),
        "tiff 5 channels": tiff(picture(33, 47, 5), 8, 2, tags={338: [0, 0]}),
        "tiff bits": tiff(gray >> 7, 1, 1),
        "tiff float": tiff(real, 32, 2, tags={339: [3, 3, 3]}),
        "tiff lzw": tiff(color, 8, 2, compression=5, rows_per_strip=8),
        "tiff deflate tiles": tiff(deep, 16, 2, compression=8, tile=(16, 32)),
        "tiff zstd": tiff(color, 8, 2, compression=50000),
        "tiff palette": tiff(gray, 8, 3, tags={320: colors}),
        "tiff big": tiff(color, 8, 2, big=True),
        "tiff jpeg": save(color, "TIFF", compression="jpeg"),
    }


def others() -> dict[str, bytes]:
    color, alpha, gray = picture(33, 47), picture(33, 47, 4), picture(33, 47, 1)
    deep = picture(33, 47, 3, 16)
    bgr = [row[:, ::-1].tobytes() for row in color]
    words = [row.tobytes() for row in picture(33, 47, 1, 16)[..., 0]]
    jp2 = {"level": 0, "reversible": True, "codecformat": "jp2"}
    return {
        "bmp": bmp(bgr, 47, 24),
        "bmp top down": bmp(bgr, 47, 24, top_down=True),
        "bmp old header": bmp(bgr, 47, 24, header_size=12),
        "bmp gray": save(gray, "BMP"),
        "bmp 565": bmp(words, 47, 16, compression=3, masks=(0xF800, 0x7E0, 0x1F)),
        "pnm 6": pnm(color, 6),
        "pnm 6 deep": pnm(deep, 6, 65535),
        "pnm 5": pnm(gray, 5),
        "pnm 4": pnm(gray >> 7, 4),
        "pnm 3": pnm(color // 3, 3, 100),
        "pnm 2 deep": pnm(deep[..., :1], 2, 65535),
        "webp lossy": save(color, "WEBP", quality=80),
        "webp lossless": save(color, "WEBP", lossless=True),
        "webp alpha": save(alpha, "WEBP", quality=80),
        "webp oriented": save(color, "WEBP", quality=80, exif=exif(6)[6:]),
        "jp2": imagecodecs.jpeg2k_encode(color, **jp2),
        "jp2 lossy": imagecodecs.jpeg2k_encode(color, level=40, codecformat="jp2"),
        "jp2 gray": imagecodecs.jpeg2k_encode(gray[..., 0], **jp2),
        "jp2 alpha": imagecodecs.jpeg2k_encode(alpha, **jp2),
        "jp2 16": imagecodecs.jpeg2k_encode(deep, **jp2),
        "jp2 12": imagecodecs.jpeg2k_encode(deep >> 4, bitspersample=12, **jp2),
        "j2k": imagecodecs.jpeg2k_encode(color, level=0, reversible=True, codecformat="j2k"),
    }


FILES = jpegs() | pngs() | tiffs() | others()
CMYK_FILES = cmyk_jpegs()


def decode(library: ModuleType, data: bytes, **arguments: Any) -> Array:
    converted = {
        name: getattr(library, value) if name == "dtype" else value
        for name, value in arguments.items()
    }
    encoded = library.as_tensor(np.frombuffer(data, np.uint8))
    return np.asarray(library.decoders.image(encoded, **converted))


def compare(data: bytes, image_type: str, **arguments: Any) -> None:
    arguments["output_type"] = IMAGE_TYPES[image_type]
    expected = decode(reference, data, **arguments)
    assert_same(decode(ours, data, **arguments), expected, arguments)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("image_type", IMAGE_TYPES)
def test_every_format_and_color(kind: str, image_type: str) -> None:
    for dtype in ELEMENT_TYPES:
        compare(FILES[kind], image_type, dtype=dtype)


@pytest.mark.parametrize("kind", [kind for kind in FILES if "exif" in kind or "oriented" in kind])
def test_orientation_off(kind: str) -> None:
    compare(FILES[kind], "RGB", adjust_orientation=False)


@pytest.mark.parametrize("kind", jpegs())
def test_fast_transform(kind: str) -> None:
    for image_type in IMAGE_TYPES:
        for upright in (True, False):
            compare(FILES[kind], image_type, use_fast_idct=True, adjust_orientation=upright)


@pytest.mark.parametrize("seed", range(12))
def test_any_order_of_scans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    factors = [[0x22, 0x11, 0x11], [0x11, 0x11, 0x11], [0x21, 0x11, 0x11]][seed % 3]
    width, height = (int(n) for n in rng.integers(1, 70, 2))
    frame = random_frame(rng, width, height, factors)
    data = write_jpeg(frame, random_script(rng, 3), restart=seed % 4)
    for fast in (False, True):
        compare(data, "RGB", use_fast_idct=fast)


GAMMAS = {f"gamma {n}": png_chunk(b"gAMA", n.to_bytes(4, "big")) for n in (45455, 95100, 220000)}
GAMMAS["srgb"] = png_chunk(b"sRGB", b"\0")
GAMMAS["both"] = png_chunk(b"gAMA", (60000).to_bytes(4, "big")) + GAMMAS["srgb"]
GAMMAS["significant bits"] = GAMMAS["gamma 45455"] + png_chunk(b"sBIT", b"\6\5\6")


@pytest.mark.parametrize("kind", GAMMAS)
@pytest.mark.parametrize("bits", [8, 16])
def test_gamma_of_png(kind: str, bits: int) -> None:
    source = picture(33, 47, 3, bits)
    source[::3] = source[::3, :, :1]
    data = png(source, bits, 2, before=GAMMAS[kind])
    for image_type in IMAGE_TYPES:
        for dtype in ("uint8", "uint16"):
            compare(data, image_type, dtype=dtype)


@pytest.mark.parametrize("seed", range(24))
def test_unfinished_files(seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    factors = [[0x22, 0x11, 0x11], [0x11] * 3, [0x12, 0x11, 0x11], [0x22], [0x22, 0x11, 0x11, 0x22]]
    components = factors[seed % 5]
    width, height = (int(n) for n in rng.integers(20, 90, 2))
    frame = random_frame(rng, width, height, components)
    script = random_script(rng, len(components), 6)
    begun = max(i for i, scan in enumerate(script) if scan.first == 0 and scan.high == 0) + 1
    data = write_jpeg(frame, script[: int(rng.integers(begun, len(script)))])
    x, y = (int(n) for n in rng.integers(0, 20, 2))
    for fast in (False, True):
        for image_type in ("RGB", "GRAY"):
            compare(data, image_type, use_fast_idct=fast)
            compare(with_exif(data, 2 + seed % 7), image_type, use_fast_idct=fast)
        for source in (data, with_exif(data, 6)):
            encoded = np.frombuffer(source, np.uint8)
            part = {"start": [x, y], "use_fast_idct": fast}
            expected = reference.decoders.image_slice(reference.as_tensor(encoded), **part)
            assert_same(ours.decoders.image_slice(encoded, **part), np.asarray(expected))


@pytest.mark.parametrize("dtype", ["int8", "uint32", "int32"])
def test_rare_element_types(dtype: str) -> None:
    for kind in ("jpeg 4:4:4", "png 2 16", "tiff float"):
        for image_type in ("RGB", "GRAY"):
            compare(FILES[kind], image_type, dtype=dtype)


@pytest.mark.parametrize("kind", CMYK_FILES)
@pytest.mark.parametrize("image_type", CMYK_TYPES)
def test_cmyk(kind: str, image_type: str) -> None:
    for dtype in ELEMENT_TYPES:
        for fast in (False, True):
            compare(CMYK_FILES[kind], image_type, dtype=dtype, use_fast_idct=fast)


@pytest.mark.parametrize("kind", CMYK_FILES)
def test_cmyk_with_an_orientation(kind: str) -> None:
    for orientation in range(2, 9):
        data = with_exif(CMYK_FILES[kind], orientation)
        encoded = np.frombuffer(data, np.uint8)
        for image_type in CMYK_TYPES:
            for fast in (False, True):
                compare(data, image_type, use_fast_idct=fast)
            compare(data, image_type, dtype=ELEMENT_TYPES[orientation % 4])
            compare(data, image_type, adjust_orientation=False)
            number = IMAGE_TYPES[image_type]
            part = {"start": [3, 4], "end": [30, 31], "output_type": number}
            expected = reference.decoders.image_slice(reference.as_tensor(encoded), **part)
            assert_same(ours.decoders.image_slice(encoded, **part), np.asarray(expected))


@pytest.mark.parametrize("refinements", [3, 4])
def test_cmyk_of_files_with_very_many_scans(refinements: int) -> None:
    script = [Scan(range(4), 0, 0, 0, refinements)]
    script += [Scan([i], k, k) for i in range(4) for k in range(1, 64)]
    script += [Scan(range(4), 0, 0, low + 1, low) for low in reversed(range(refinements))]
    frame = random_frame(np.random.default_rng(3), 20, 9, [0x11] * 4)
    data = write_jpeg(frame, script)
    for image_type in CMYK_TYPES:
        for fast in (False, True):
            compare(data, image_type, use_fast_idct=fast)


@pytest.mark.parametrize("kind", FILES)
def test_peek(kind: str) -> None:
    encoded = np.frombuffer(FILES[kind], np.uint8)
    for number in IMAGE_TYPES.values():
        for adjust in (True, False):
            arguments = {"image_type": number, "adjust_orientation": adjust}
            expected = reference.peek_image_shape(reference.as_tensor(encoded), **arguments)
            assert_same(ours.peek_image_shape(encoded, **arguments), np.asarray(expected))


REGION_FILES = ["jpeg exif 1", "jpeg exif 6", "jpeg progressive", "png 2 8", "tiff", "webp lossy"]
REGIONS: list[tuple[str, dict[str, Any]]] = [
    ("image_crop", {"crop": (20, 30)}),
    ("image_crop", {"crop": (20.7, 30.2), "crop_pos_x": 0.0, "crop_pos_y": 1.0}),
    ("image_crop", {"crop_h": 17, "crop_w": 8, "crop_pos_x": 0.3, "rounding": "truncate"}),
    ("image_crop", {"crop_h": 0, "crop_w": 8}),
    ("image_slice", {"start": [3, 4], "end": [30, 31]}),
    ("image_slice", {"start": [3, 4], "shape": [17, 8]}),
    ("image_slice", {"rel_start": [0.1, 0.2], "rel_end": [0.77, 0.5]}),
    ("image_slice", {"rel_start": [0.13, 0.21], "rel_shape": [0.33, 0.5]}),
    ("image_slice", {"start": [4], "axes": [0]}),
    ("image_slice", {"start": [5, 6], "shape": [7, 8], "axis_names": "HW"}),
]


@pytest.mark.parametrize("kind", REGION_FILES)
@pytest.mark.parametrize(("operator", "arguments"), REGIONS, ids=str)
def test_slices_and_crops_of_every_format(
    kind: str, operator: str, arguments: dict[str, Any]
) -> None:
    encoded = np.frombuffer(FILES[kind], np.uint8)
    expected = getattr(reference.decoders, operator)(reference.as_tensor(encoded), **arguments)
    assert_same(getattr(ours.decoders, operator)(encoded, **arguments), np.asarray(expected))


@pytest.mark.parametrize(
    "kind",
    ["jpeg exif 1", "jpeg exif 6", "jpeg progressive", "jpeg progressive oriented", *CMYK_FILES],
)
def test_fast_transform_of_regions(kind: str) -> None:
    encoded = np.frombuffer((FILES | CMYK_FILES)[kind], np.uint8)
    for operator, arguments in REGIONS:
        options = {**arguments, "use_fast_idct": True}
        expected = getattr(reference.decoders, operator)(reference.as_tensor(encoded), **options)
        got = getattr(ours.decoders, operator)(encoded, **options)
        assert_same(got, np.asarray(expected), arguments)


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_slices_by_inputs(dtype: str) -> None:
    encoded = np.frombuffer(FILES["jpeg exif 6"], np.uint8)
    values = ([4, 5], [20, 10]) if dtype == "int32" else ([0.1, 0.2], [0.5, 0.25])
    inputs = [encoded, *(np.array(part, dtype) for part in values)]
    expected = reference.decoders.image_slice(*(reference.as_tensor(part) for part in inputs))
    assert_same(ours.decoders.image_slice(*inputs), np.asarray(expected))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"random_area": [0.3, 0.5], "random_aspect_ratio": [0.5, 0.6]},
        {"random_aspect_ratio": [2.0, 3.0], "num_attempts": 1},
        {"random_area": [0.0, 1.0]},
    ],
    ids=str,
)
def test_random_crops(arguments: dict[str, Any]) -> None:
    files = as_samples([FILES[kind] for kind in (*jpegs(), *REGION_FILES)])
    for seed in range(6):
        results = []
        for library in (ours, reference):
            rng = library.random.RNG(seed=seed)
            for _ in range(2):
                result = library.decoders.image_random_crop(
                    library.batch(files), rng=rng, **arguments
                )
                results.append([np.asarray(tensor) for tensor in result.tensors])
        for mine, theirs in zip(results[:2], results[2:], strict=True):
            for got, expected in zip(mine, theirs, strict=True):
                assert_same(got, expected, seed)


# What ends coded data: not a stuffed byte, nor a restart.
MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7]")


def accepted(library: ModuleType, data: bytes) -> Array | None:
    try:
        return decode(library, data)
    except RuntimeError:
        return None


@pytest.mark.parametrize(
    "kind",
    ["jpeg 4:4:4", "jpeg exif 1", "jpeg exif 6", "jpeg progressive", "ycck", "cmyk progressive"],
)
def test_truncated_files_are_refused_alike(kind: str) -> None:
    data = (FILES | CMYK_FILES)[kind]
    for size in [*range(10, len(data), len(data) // 12), len(data) - 2, len(data) - 1]:
        assert accepted(reference, data[:size]) is None
        assert accepted(ours, data[:size]) is None


@pytest.mark.parametrize(
    "kind",
    ["jpeg 4:4:4", "jpeg exif 1", "jpeg restarts", "jpeg progressive", "ycck", "cmyk progressive"],
)
def test_damaged_files_are_repaired_alike(kind: str) -> None:
    data = (FILES | CMYK_FILES)[kind]
    scan = data.rindex(b"\xff\xda") + 20
    rng = np.random.default_rng(0)
    for _ in range(30):
        changed = bytearray(data)
        changed[rng.integers(scan, len(data) - 2)] ^= 1 << int(rng.integers(0, 8))
        if MARKER.findall(changed, scan) != MARKER.findall(data, scan):
            # A new marker stops some readers and not others.
            continue
        mine, theirs = accepted(ours, bytes(changed)), accepted(reference, bytes(changed))
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert_same(mine, theirs)


FOLDER = os.environ.get("DALIESQUE_IMAGES")
MORE = sorted(path for path in Path(FOLDER).rglob("*") if path.is_file()) if FOLDER else []


@pytest.mark.skipif(not MORE, reason="DALIESQUE_IMAGES names no folder with files")
@pytest.mark.parametrize("path", MORE, ids=str)
def test_more_files(path: Path) -> None:
    data = path.read_bytes()
    for image_type in ("RGB", "GRAY", "YCbCr"):
        for dtype in ("uint8", "float32"):
            arguments = {"output_type": IMAGE_TYPES[image_type], "dtype": dtype}
            try:
                expected = decode(reference, data, **arguments)
            except RuntimeError:
                continue
            got = decode(ours, data, **arguments)
            # What the reference decodes as 16 bits may come as 8 here; the last bit differs.
            if dtype == "float32":
                assert got.shape == expected.shape
                assert_close(got, expected, "last bits")
            else:
                assert_same(got, expected, arguments)
