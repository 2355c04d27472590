# SPDX-License-Identifier: Apache-2.0
"""experimental.readers.Fits against the reference library itself.

The reference reads FITS files into page-locked memory, which needs a driver that is not there; an
environment variable, which must be set before it is loaded, keeps it from that.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.fits_data import TYPES, write_raw

pytest.importorskip("nvidia.dali.experimental.dynamic")
fits = pytest.importorskip("astropy.io.fits")
pytestmark = pytest.mark.oracle

READ = """
import json, sys
import numpy as np
import nvidia.dali.experimental.dynamic as dali
found = []
for call in json.load(sys.stdin):
    try:
        steps = dali.experimental.readers.Fits(**call).next_epoch()
        found.append([[(str(a.dtype), a.shape, a.tobytes().hex()) for a in
                      (np.asarray(x.evaluate()) for x in step)] for step in steps])
    except RuntimeError:
        found.append(None)
print(json.dumps(found))
"""


def read_reference(calls: list[dict[str, Any]]) -> list[Any]:
    done = subprocess.run(
        [sys.executable, "-c", READ],
        input=json.dumps(calls),
        env={**os.environ, "DALI_RESTRICT_PINNED_MEM": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return list(json.loads(done.stdout.splitlines()[-1]))


def read(call: dict[str, Any]) -> Any:
    try:
        return [
            [
                [str(a.dtype), list(a.shape), a.tobytes().hex()]
                for a in (np.asarray(output.evaluate()) for output in step)
            ]
            for step in ndd.experimental.readers.Fits(**call).next_epoch()
        ]
    except RuntimeError:
        return None


def assert_equal(calls: list[dict[str, Any]]) -> None:
    for call, expected in zip(calls, read_reference(calls), strict=True):
        assert read(call) == expected, call


def test_scaling(tmp_path: Path) -> None:
    scales = [1.0, 2.0, 0.5, -1.0, -3.0, 100.0, 257.0, 1e6, 0.1]
    zeros = [0.0, -128.0, 127.0, 32768.0, 2.0**31, 2.0**63, 5.0, 0.5, 1e10, -1e10, 3.3]
    calls = []
    for bits, scale, zero in itertools.product(TYPES, scales, zeros):
        if bits == 64 and zero == 2.0**63 and scale != 1:
            continue  # numbers that do not fit are wrong there
        path = tmp_path / f"{bits} {scale} {zero}.fits"
        write_raw(path, bits, np.arange(12).reshape(3, 4), {"BSCALE": scale, "BZERO": zero})
        calls.append({"files": [str(path)]})
    assert_equal(calls)


@pytest.mark.parametrize("kind", "u1 i1 i2 u2 i4 u4 i8 f4 f8".split())
def test_images_of_every_type(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 100, shape).astype(kind) for shape in ((5,), (2, 3), (2, 3, 4, 5))]
    units = [fits.PrimaryHDU(images[0]), *(fits.ImageHDU(image) for image in images[1:])]
    for name in ("a.fits", "b.fits", "sub/c.fits"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        fits.HDUList(units).writeto(tmp_path / name)
    root = str(tmp_path)
    assert_equal(
        [
            {"file_root": root},
            {"file_root": root, "hdu_indices": [3, 1, 2], "random_shuffle": True},
            {"file_root": root, "hdu_indices": [4]},
            {"file_root": root, "file_filter": "[bc].fits", "hdu_indices": [1]},
        ]
    )


def test_compressed_tiles(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    calls = []
    for method, kind in itertools.product(
        ["RICE_1", "GZIP_1", "GZIP_2", "PLIO_1", "HCOMPRESS_1"], "u1 i2 u2 i4 f4 f8".split()
    ):
        if method == "PLIO_1" and kind in ("u2", "f4", "f8"):
            continue
        image = rng.normal(50, 10, (40, 50)).astype(kind)
        for options in ({}, {"quantize_method": 1, "dither_seed": 7}):
            path = tmp_path / f"{method}{kind}{len(options)}.fits"
            unit = fits.CompImageHDU(image, compression_type=method, tile_shape=(16, 25), **options)
            fits.HDUList([fits.PrimaryHDU(), unit]).writeto(path)
            calls.append({"files": [str(path)]})
    assert_equal(calls)
