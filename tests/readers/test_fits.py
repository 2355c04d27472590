# SPDX-License-Identifier: Apache-2.0
"""experimental.readers.Fits, compared with astropy and with what went into the files."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits
from numpy.typing import NDArray

import daliesque as ndd
from daliesque._codecs.fits import _value
from support.fits_data import write_raw

TYPES = "u1 i1 i2 u2 i4 u4 i8 f4 f8".split()


def write(path: Path, *images: Any) -> Path:
    units = [fits.PrimaryHDU(), *(fits.ImageHDU(image) for image in images)]
    path.parent.mkdir(parents=True, exist_ok=True)
    fits.HDUList(units).writeto(path, overwrite=True)
    return path


def read(batch_size: int | None = None, **arguments: Any) -> list[list[NDArray[Any]]]:
    """The outputs for each file of an epoch."""
    reader = ndd.experimental.readers.Fits(**arguments)
    found = []
    for step in reader.next_epoch(batch_size=batch_size):
        parts = [[output] if batch_size is None else list(output) for output in step]
        found += [list(map(np.array, row)) for row in zip(*parts, strict=True)]
    return found


def image(shape: tuple[int, ...], kind: str = "f4") -> NDArray[Any]:
    return np.random.default_rng(len(shape)).integers(0, 120, shape).astype(kind)


@pytest.mark.parametrize("kind", TYPES)
def test_images_of_every_type(tmp_path: Path, kind: str) -> None:
    expected = image((3, 4, 5), kind)
    ((found,),) = read(files=[write(tmp_path / "x.fits", expected)])
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, expected)


def test_unsigned_64_bits(tmp_path: Path) -> None:
    """They are signed in the reference too, and must fit."""
    expected = np.array([0, 1, 2**63 - 1], "u8")
    ((found,),) = read(files=[write(tmp_path / "x.fits", expected)])
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected.astype("i8"))
    with pytest.raises(ndd.DecodeError, match="bad unit 2: it has numbers that do not fit into"):
        read(files=[write(tmp_path / "x.fits", np.array([2**63], "u8"))])


@pytest.mark.parametrize(
    ("bits", "scale", "zero", "kind"),
    [
        (8, 2.0, 0.0, "i2"),
        (8, 1.0, -128.0, "i1"),
        (8, 257.0, 0.0, "u2"),
        (8, 1.0, 2.0**31, "u4"),
        (8, 0.5, 0.0, "f4"),
        (16, 1.0, 5.0, "i4"),
        (16, 0.1, 3.3, "f4"),
        (16, 1e6, 0.0, "f8"),
        (32, 1.0, 1.0, "f8"),
        (32, 0.25, 0.0, "f8"),
        (64, 2.0, 1.0, "i8"),
        (-32, 0.1, 3.0, "f4"),
        (-64, 0.1, 3.0, "f8"),
    ],
)
def test_scaling(tmp_path: Path, bits: int, scale: float, zero: float, kind: str) -> None:
    values = np.arange(20).reshape(4, 5)
    path = write_raw(tmp_path / "x.fits", bits, values, {"BSCALE": scale, "BZERO": zero})
    ((found,),) = read(files=[path])
    assert found.dtype == np.dtype(kind)
    np.testing.assert_array_equal(found, (values * np.float64(scale) + zero).astype(kind))


def test_several_units_and_files(tmp_path: Path) -> None:
    images = [[image((k + 1, 3), "i2"), image((2, 2, k + 1), "f4")] for k in range(4)]
    for k, parts in enumerate(images):
        write(tmp_path / ("sub" if k > 1 else ".") / f"{k}.fits", *parts)
    for batch_size in (None, 4):
        arguments = {"file_root": tmp_path, "hdu_indices": [3, 2], "batch_size": batch_size}
        for found, expected in zip(read(**arguments), images, strict=True):
            np.testing.assert_array_equal(found[1], expected[0])
            np.testing.assert_array_equal(found[0], expected[1])
    reader = ndd.experimental.readers.Fits(file_root=tmp_path)
    (batch,) = next(reader.next_epoch(batch_size=4))
    assert batch.source == ["./0.fits", "./1.fits", "sub/2.fits", "sub/3.fits"]


def test_primary_unit_and_gzip(tmp_path: Path) -> None:
    expected = image((3, 4))
    fits.PrimaryHDU(expected).writeto(tmp_path / "x.fits")
    ((found,),) = read(files=[tmp_path / "x.fits"], hdu_indices=1)
    np.testing.assert_array_equal(found, expected)
    packed = gzip.compress((tmp_path / "x.fits").read_bytes())
    (tmp_path / "x.fits.gz").write_bytes(packed)
    ((found,),) = read(files=[tmp_path / "x.fits.gz"], hdu_indices=[1])
    np.testing.assert_array_equal(found, expected)
    (tmp_path / "x.fits.gz").write_bytes(packed[:-20])
    with pytest.raises(ndd.DecodeError, match="the file is damaged"):
        read(files=[tmp_path / "x.fits.gz"], hdu_indices=[1])


# PLIO is for small positive integers.
TILES = [
    (method, kind)
    for method in ("RICE_1", "GZIP_1", "GZIP_2", "PLIO_1", "HCOMPRESS_1")
    for kind in ("u1", "i2", "u2", "i4", "f4")
    if not (method == "PLIO_1" and kind in ("u2", "f4"))
]


@pytest.mark.parametrize(("method", "kind"), TILES)
def test_compressed_tiles(tmp_path: Path, method: str, kind: str) -> None:
    expected = image((40, 50), kind)
    unit = fits.CompImageHDU(expected, compression_type=method, tile_shape=(16, 25))
    path = tmp_path / "x.fits"
    fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
    ((found,),) = read(files=[path])
    assert found.dtype == np.dtype(kind)
    with fits.open(path) as file:
        np.testing.assert_array_equal(found, file[1].data)


def test_tiles_without_astropy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.fits"
    unit = fits.CompImageHDU(image((40, 50), "i2"))
    fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
    monkeypatch.setitem(sys.modules, "astropy.io", None)
    match = r"experimental\.readers\.Fits: compressed images need the package astropy\. Install dal"
    with pytest.raises(ImportError, match=match):
        read(files=[path])


def whole() -> bytes:
    header = ["SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", "END"]
    second = ["XTENSION= 'IMAGE   '", "BITPIX  = 16", "NAXIS   = 1", "NAXIS1  = 3", "END"]
    blocks = ["".join(card.ljust(80) for card in cards).ljust(2880) for cards in (header, second)]
    return "".join(blocks).encode() + np.array([1, 2, 3], ">i2").tobytes().ljust(2880, b"\0")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a FITS file"),
        (b"something else", "is not a FITS file"),
        (whole()[:100], "is cut short: it ends after 100 bytes, inside the header at byte 0"),
        (whole()[:3000], "is cut short: it ends after 3000 bytes, inside the header at byte 2880"),
        (whole()[:5763], "is cut short: it ends after 5763 bytes, inside the data of a unit"),
        (whole()[:2880], "has 1 units, of which number 2 should be read"),
        (
            whole().replace(b"'IMAGE   '", b"'BINTABLE'"),
            "has a bad unit 2: it is a BINTABLE, not an",
        ),
        (whole().replace(b"NAXIS   = 1", b"NAXIS   = 0"), "has a bad unit 2: it has no image"),
        (whole().replace(b"= 16", b"= 17"), "has a bad unit 2: BITPIX is 17"),
        (whole().replace(b"NAXIS1  = 3", b"NAXIS1  = x"), "has a header without a number NAXIS1"),
        (whole().replace(b"NAXIS1  = 3", b"NAXIS1  =-3"), "has a header without a number NAXIS1"),
        (whole().replace(b"NAXIS1  = 3 ", b"NAXIS1  = -3"), "has a header with wrong extents"),
        (
            whole().replace(b"NAXIS   = 1  ", b"NAXIS   = 1.5"),
            "has a header with a wrong number of",
        ),
        (whole().replace(b"NAXIS1  = 3   ", b"NAXIS1  = 9999"), "is cut short"),
    ],
)
def test_damaged_files(tmp_path: Path, content: bytes, reason: str) -> None:
    good, bad = tmp_path / "good.fits", tmp_path / "bad.fits"
    good.write_bytes(whole())
    bad.write_bytes(content)
    ((found,),) = read(files=[good])
    assert found.tolist() == [1, 2, 3]
    reader = ndd.experimental.readers.Fits(files=[good, bad])
    with pytest.raises(ndd.DecodeError) as caught:
        next(reader.next_epoch(batch_size=2))
    start = f'experimental.readers.Fits: cannot read "{bad}" (sample 1 of the batch): the file '
    assert str(caught.value).startswith(start + reason)
    reader = ndd.experimental.readers.Fits(files=[bad, good], on_error="skip")
    (images,) = next(reader.next_epoch(batch_size=2))
    assert images.torch().tolist() == [[1, 2, 3]] * 2


def test_values_of_keywords() -> None:
    for text, value in [
        ("                   T / yes", True),
        (" 1.5D3", 1500.0),
        (" -7 / minus", -7),
        (" 'it''s / here  ' / comment", "it's / here"),
        (" ''", ""),
        (" 'open", "open"),
        (" (1, 2)", "(1, 2)"),
    ]:
        assert _value(text) == value


def test_long_headers(tmp_path: Path) -> None:
    """Headers of several blocks, with what looks like an end inside of a comment."""
    unit = fits.ImageHDU(image((2, 3)))
    for k in range(100):
        unit.header[f"KEY{k}"] = (k, "END     of a comment")
    path = tmp_path / "x.fits"
    fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
    ((found,),) = read(files=[path])
    np.testing.assert_array_equal(found, image((2, 3)))


def test_images_that_do_not_go_together(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.fits", image((2, 2))), write(tmp_path / "b.fits", image((2,)))]
    match = r'a\.fits" has float32 with 2 axes, ".*b\.fits" has float32 with 1 axes\. Read such fil'
    with pytest.raises(ValueError, match=match):
        read(files=files, batch_size=2)
    assert [found.ndim for (found,) in read(files=files)] == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "there is nothing to read. Give 'file_root' or 'files'"),
        ({"files": "x", "hdu_indices": [0]}, ValueError, "must be numbers from 1 on; got [0]"),
        ({"files": "x", "hdu_indices": []}, ValueError, "must be numbers from 1 on"),
        ({"files": "x", "hdu_indices": "a"}, TypeError, "'hdu_indices' must be a list of integers"),
        (
            {"files": "x", "dtypes": [ndd.uint8] * 2},
            ValueError,
            "a type for each of 1 units; got 2",
        ),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error) as caught:
        ndd.experimental.readers.Fits(**arguments)
    assert str(caught.value).startswith("experimental.readers.Fits: ")
    assert match in str(caught.value)
