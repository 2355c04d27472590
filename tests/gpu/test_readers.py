# SPDX-License-Identifier: Apache-2.0
"""Readers that deliver to the gpu device."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.io import fits

import daliesque as ndd
from daliesque._engine.convert import to_numpy
from daliesque._gpu import accelerator, staging
from support.video_makers import numbered


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


@pytest.fixture
def videos(tmp_path: Path) -> list[str]:
    """Two videos of different size."""
    for number, size in enumerate([(64, 96), (96, 128)]):
        (tmp_path / f"{number}.mp4").write_bytes(numbered(12, size=size))
    return sorted(map(str, tmp_path.glob("*.mp4")))


def assert_delivers_the_same(names: list[str], **options: Any) -> None:
    """On the gpu as on the CPU."""
    readers = [
        ndd.readers.Video(filenames=names, sequence_length=3, device=device, **options)
        for device in ("cpu", "gpu")
    ]
    count = 0
    for (here,), (there,) in zip(*(r.next_epoch(batch_size=4) for r in readers), strict=True):
        count += 1
        assert str(there.device) == "gpu:0"
        for found, expected in zip(there.cpu(), here, strict=True):
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    assert count == 2


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_videos_are_decoded_into_memory_for_the_transfer(
    videos: list[str], kind: str, monkeypatch: pytest.MonkeyPatch, simulate: Any
) -> None:
    if kind != "cpu":
        simulate(kind)
    # Nothing is copied on the host.
    monkeypatch.setattr(staging.Staged, "take", None)
    assert_delivers_the_same(videos)
    gc.collect()
    assert staging._lent == {}


ARRAYS = {
    "sizes": [np.arange(6 * n, dtype=np.float32).reshape(n, 6) for n in (3, 1, 4)],
    "bytes": [np.full((2, 5, 3), n, np.uint8) for n in range(5)],
    "swapped": [np.arange(8, dtype=">i4"), np.arange(3, dtype=">i4")],
    "numbers": [np.array(n, np.int64) for n in range(3)],
    "empty": [np.ones((2, 3)), np.ones((0, 3)), np.ones((1, 3))],
}


def assert_arrays_are_delivered(folder: Path, arrays: list[Any], **options: Any) -> None:
    for number, array in enumerate(arrays):
        np.save(folder / f"{number}.npy", array)
    reader = ndd.readers.Numpy(file_root=str(folder), device="gpu", **options)
    (batch,) = next(iter(reader.next_epoch(batch_size=len(arrays))))
    assert str(batch.device) == "gpu:0"
    for found, expected in zip(batch.cpu(), arrays, strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_into_memory_for_the_transfer(
    tmp_path: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch, simulate: Any
) -> None:
    if kind != "cpu":
        simulate(kind)
    monkeypatch.setattr(staging.Staged, "take", None)
    assert_arrays_are_delivered(tmp_path, ARRAYS[name])
    gc.collect()
    assert staging._lent == {}


def test_arrays_that_have_to_be_rearranged(tmp_path: Path) -> None:
    arrays = [np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(8.0).reshape(2, 4)]
    assert_arrays_are_delivered(tmp_path, arrays)


def test_arrays_beside_damaged_files(tmp_path: Path) -> None:
    arrays = [np.full((2, 2), number, np.float32) for number in range(3)]
    for number, array in enumerate(arrays):
        np.save(tmp_path / f"{number}.npy", array)
    (tmp_path / "1.npy").write_bytes(b"none")
    reader = ndd.readers.Numpy(file_root=str(tmp_path), device="gpu", on_error="skip")
    (batch,) = next(iter(reader.next_epoch(batch_size=2)))
    np.testing.assert_array_equal(batch.torch().numpy(), [arrays[0], arrays[2]])


def test_other_memory_if_there_is_none_for_the_transfer(
    videos: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory, calls = accelerator.Accelerator.staging, []

    def refuse_some(self: Any, count: int) -> Any:
        calls.append(count)
        if len(calls) < 3:
            msg = "out of pinned memory"
            raise RuntimeError(msg)
        return memory(self, count)

    monkeypatch.setattr(accelerator.Accelerator, "staging", refuse_some)
    assert_delivers_the_same(videos)
    assert len(calls) > 2


def test_parts_of_memory_for_the_transfer() -> None:
    """Samples that are left out, or delivered twice."""
    lent = staging.lend(ndd.uint8.code, np.full((3, 2), 5), "", ndd.device("gpu:0"))
    assert lent is not None
    for number in range(3):
        to_numpy(lent, number)[...] = number
    for chosen in ([0, 1, 2], [1], [2, 0], [0, 1, 1]):
        moved = ndd.Batch._of(lent.select(chosen)).gpu()
        assert [int(np.asarray(array)[0, 0]) for array in moved.cpu()] == chosen
