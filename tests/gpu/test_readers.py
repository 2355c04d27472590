# SPDX-License-Identifier: Apache-2.0
"""Readers that deliver to the gpu device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits

import daliesque as ndd


def test_numpy_files(tmp_path: Path) -> None:
    arrays = [np.full((2, 3), number, np.float32) for number in range(4)]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
    reader = ndd.readers.Numpy(file_root=str(tmp_path), device="gpu")
    (batch,) = next(iter(reader.next_epoch(batch_size=4)))
    assert str(batch.device) == "gpu:0"
    np.testing.assert_array_equal(batch.torch().numpy(), arrays)
    (tensor,) = next(iter(reader.next_epoch(batch_size=None)))
    assert str(tensor.device) == "gpu:0"


def test_fits_files(tmp_path: Path) -> None:
    image = np.arange(12, dtype=np.float32).reshape(3, 4)
    units = [fits.PrimaryHDU(), fits.ImageHDU(image)]
    fits.HDUList(units).writeto(tmp_path / "x.fits")
    reader = ndd.experimental.readers.Fits(files=[str(tmp_path / "x.fits")], device="gpu")
    (batch,) = next(iter(reader.next_epoch(batch_size=1)))
    assert str(batch.device) == "gpu:0"
    np.testing.assert_array_equal(batch.torch().numpy(), image[None])


def test_readers_of_files_deliver_to_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "file.jpg").write_bytes(b"content")
    with pytest.raises(ValueError, match=r"readers.File: Invalid device .gpu.*\.gpu\(\)"):
        ndd.readers.File(file_root=str(tmp_path), device="gpu")


def test_hooks_return_cpu_data() -> None:
    class Wrong(ndd.readers.Reader):
        def open_index(self) -> int:
            return 2

        def fetch_sample(self, _number: int) -> ndd.Tensor:
            return ndd.tensor([1, 2], device="gpu")

    with pytest.raises(ndd.OpError, match="return data on the CPU; got a Tensor on gpu:0"):
        next(Wrong().next_epoch(batch_size=2))
    with pytest.raises(TypeError, match="output 1 must be on the CPU; got gpu:0"):
        ndd.readers.Fetched.of([[1, 2], ndd.batch([1, 2], device="gpu")])
