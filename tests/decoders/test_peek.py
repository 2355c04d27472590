# SPDX-License-Identifier: Apache-2.0
"""peek_image_shape and imread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from daliesque import types
from support.compare import assert_same
from support.image_decoding import decode
from support.image_makers import as_samples, exif, jpeg, picture, png, pnm, save, tiff


def files() -> dict[str, bytes]:
    color, alpha, gray = picture(20, 30), picture(20, 30, 4), picture(20, 30, 1)
    return {
        "jpeg": jpeg(color),
        "oriented": jpeg(color, exif=exif(6)),
        "progressive": jpeg(color, progressive=True, exif=exif(8)),
        "gray jpeg": jpeg(gray),
        "cmyk": imagecodecs.jpeg8_encode(alpha, colorspace="CMYK", outcolorspace="CMYK"),
        "png": png(alpha, 8, 6),
        "gray alpha png": png(alpha[..., :2], 8, 4),
        "tiff": tiff(alpha, 8, 2, tags={274: [5]}),
        "bmp": save(color, "BMP"),
        "gray bmp": save(gray, "BMP"),
        "pnm": pnm(gray, 5),
        "webp": save(alpha, "WEBP"),
        "jpeg2000": imagecodecs.jpeg2k_encode(alpha, codecformat="jp2"),
        "gif": save(color, "GIF"),
        "jpegxl": imagecodecs.jpegxl_encode(color),
        "avif": imagecodecs.avif_encode(color),
    }


@pytest.mark.parametrize("kind", files())
@pytest.mark.parametrize("adjust", [True, False])
@pytest.mark.parametrize("image_type", ["RGB", "GRAY", "ANY_DATA"])
def test_peek_returns_the_decoded_shape(kind: str, adjust: bool, image_type: str) -> None:
    data = files()[kind]
    wanted = getattr(types, image_type)
    shape = ndd.peek_image_shape(
        np.frombuffer(data, np.uint8), image_type=wanted, adjust_orientation=adjust
    )
    decoded = decode(data, output_type=wanted, adjust_orientation=adjust)
    assert_same(shape, np.array(decoded.shape, np.int64))


def test_peek_needs_no_pixels() -> None:
    for kind, headers in {"jpeg": 640, "bmp": 60, "pnm": 30, "webp": 40, "tiff": 400}.items():
        data = np.frombuffer(files()[kind][:headers], np.uint8)
        assert np.asarray(ndd.peek_image_shape(data)).tolist() in ([20, 30, 3], [30, 20, 3])


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_peek_types(dtype: str) -> None:
    batch = ndd.batch(as_samples(list(files().values())))
    shapes = ndd.peek_image_shape(batch, dtype=getattr(ndd, dtype))
    assert shapes.layout is None
    expected = [[20, 30, 3]] * len(files())
    for index in (1, 2, 7):
        expected[index] = [30, 20, 3]
    np.testing.assert_array_equal(shapes.torch().numpy(), np.array(expected, dtype))


def write_files(folder: Path) -> list[Path]:
    paths = []
    for name, data in files().items():
        paths.append(folder / f"{name}.img")
        paths[-1].write_bytes(data)
    return paths


def test_imread(tmp_path: Path) -> None:
    paths = write_files(tmp_path)
    single = ndd.imread(paths[0])
    assert isinstance(single, ndd.Tensor)
    assert single.source == str(paths[0])
    assert_same(single, decode(paths[0].read_bytes()))
    assert_same(ndd.imread(str(paths[0])), single)
    batch = ndd.imread(paths, output_type=types.GRAY, dtype=ndd.float32)
    assert isinstance(batch, ndd.Batch)
    assert batch.source == [str(path) for path in paths]
    for path, tensor in zip(paths, batch.tensors, strict=True):
        data = path.read_bytes()
        assert_same(tensor, decode(data, output_type=types.GRAY, dtype=ndd.float32))


def test_imread_of_paths_in_tensors(tmp_path: Path) -> None:
    paths = write_files(tmp_path)[:3]
    names = [np.frombuffer(str(path).encode(), np.uint8) for path in paths]
    expected = decode(paths[0].read_bytes())
    assert_same(ndd.imread(ndd.tensor(names[0])), expected)
    assert ndd.imread(ndd.batch(names)).batch_size == 3
    assert_same(ndd.imread((ndd.tensor(names[0]), paths[1])).select(0), expected)


def test_imread_applies_the_orientation_only_if_asked_to(tmp_path: Path) -> None:
    path = tmp_path / "oriented.jpg"
    path.write_bytes(files()["oriented"])
    assert ndd.imread(path).shape == (30, 20, 3)
    assert ndd.imread(path, adjust_orientation=False).shape == (20, 30, 3)


def test_imread_failures(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        ndd.imread([write_files(tmp_path)[0], tmp_path / "missing.jpg"]).evaluate()
    with pytest.raises(IsADirectoryError):
        ndd.imread(tmp_path).evaluate()
    (tmp_path / "empty.jpg").write_bytes(b"")
    with pytest.raises(ndd.DecodeError, match=r'sample 0 \(".*empty.jpg"\) is empty'):
        ndd.imread(tmp_path / "empty.jpg").evaluate()


@pytest.mark.parametrize("paths", [5, None, {"a": 1}, [5], [None]])
def test_imread_wrong_paths(paths: Any) -> None:
    with pytest.raises(TypeError, match="imread: "):
        ndd.imread(paths)


def test_imread_of_nothing() -> None:
    assert ndd.imread([]).shape == []
