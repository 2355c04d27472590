# SPDX-License-Identifier: Apache-2.0
"""Images decoded for the gpu device, on the CPU or by a library there."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._gpu import accelerator
from support.image_makers import as_samples, jpeg, png

RNG = np.random.default_rng(5)
FILES = [
    jpeg(RNG.integers(0, 256, (20, 31, 3), np.uint8)),
    png(RNG.integers(0, 256, (16, 24, 3), np.uint8), 8, 2),
    jpeg(RNG.integers(0, 256, (33, 18, 3), np.uint8)),
]


def test_decoded_on_the_cpu(caplog: pytest.LogCaptureFixture) -> None:
    encoded = ndd.batch(as_samples(FILES))
    with caplog.at_level(logging.DEBUG, "daliesque"):
        there = ndd.decoders.image(encoded, device="gpu").evaluate()
    assert "3 images decoded on the CPU and uploaded" in caplog.text
    assert str(there.device) == "gpu:0"
    for a, b in zip(there.cpu(), ndd.decoders.image(encoded), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    # Files that are on the device, which makes no sense, still work.
    same = ndd.decoders.image(encoded.gpu())
    assert str(same.device) == "cpu"


def test_one_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    found = accelerator.require_accelerator("test")
    sizes: list[int] = []
    upload = found.upload

    def counted(buffer: Any, *arguments: Any) -> Any:
        sizes.append(buffer.nbytes)
        return upload(buffer, *arguments)

    monkeypatch.setattr(found, "upload", counted)
    ndd.decoders.image(ndd.batch(as_samples(FILES)), device="gpu").evaluate()
    assert sizes == [3 * (20 * 31 + 16 * 24 + 33 * 18)]


def test_decoded_by_a_library(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from daliesque._gpu import image_decoders

    seen: list[list[bytes]] = []

    def library(files: list[bytes], device: torch.device, stream: int) -> list[torch.Tensor]:
        assert stream == 0
        seen.append(files)
        images = [np.asarray(ndd.decoders.image(np.frombuffer(f, np.uint8))) for f in files]
        return [torch.tensor(image, device=device) for image in images]

    monkeypatch.setattr(image_decoders, "device_decoder", lambda _kind: ("a library", library))
    encoded = ndd.batch(as_samples(FILES))
    with caplog.at_level(logging.DEBUG, "daliesque"):
        there = ndd.decoders.image(encoded, device="gpu")
        assert there.shape == [(20, 31, 3), (16, 24, 3), (33, 18, 3)]
    assert "2 images decoded by a library, 1 on the CPU" in caplog.text
    assert seen == [[FILES[0], FILES[2]]]
    assert there.layout == "HWC"
    for a, b in zip(there.cpu(), ndd.decoders.image(encoded), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    # Other kinds of output are the CPU's.
    gray = ndd.decoders.image(encoded, device="gpu", output_type=ndd.types.GRAY)
    assert gray.shape[0] == (20, 31, 1)
    assert len(seen) == 1


def test_what_a_library_cannot_decode_is_decoded_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from daliesque._gpu import image_decoders

    def library(files: list[bytes], device: torch.device, stream: int) -> list[Any]:
        del stream
        image = np.asarray(ndd.decoders.image(np.frombuffer(files[0], np.uint8)))
        return [torch.tensor(image, device=device), None]

    monkeypatch.setattr(image_decoders, "device_decoder", lambda _kind: ("a library", library))
    encoded = ndd.batch(as_samples(FILES))
    with caplog.at_level(logging.DEBUG, "daliesque"):
        there = ndd.decoders.image(encoded, device="gpu").evaluate()
    assert "1 images decoded by a library, 2 on the CPU" in caplog.text
    for a, b in zip(there.cpu(), ndd.decoders.image(encoded), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


class Codec:
    """nvImageCodec, as far as it is used."""

    streams: ClassVar[list[int]] = []

    class Decoder:
        def __init__(self, device_id: int) -> None:
            assert device_id == 1

        def decode(self, files: list[bytes], cuda_stream: int) -> list[Any]:
            Codec.streams.append(cuda_stream)
            return [torch.full((2, 2, 3), len(file)) if file else None for file in files]


class Pictures:
    """torchvision.io, as far as it is used: channels come first."""

    class ImageReadMode:
        RGB = 3

    @staticmethod
    def decode_jpeg(files: list[torch.Tensor], mode: int, device: torch.device) -> list[Any]:
        assert mode == 3
        if any(len(file) < 2 for file in files):
            msg = "broken"
            raise RuntimeError(msg)
        return [torch.zeros((3, len(file), 5), device=device) for file in files]


def test_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    from daliesque._gpu import image_decoders

    monkeypatch.setattr(
        image_decoders.importlib,
        "import_module",
        lambda name: {"nvidia.nvimgcodec": Codec, "torchvision.io": Pictures}[name],
    )
    codec, device = image_decoders._nvimgcodec(), torch.device("cuda", 1)
    image, missing = codec([b"abc", b""], device, 77)
    assert image is not None
    assert image.unique().tolist() == [3]
    assert missing is None
    assert Codec.streams == [77]
    pictures, cpu = image_decoders._torchvision(), torch.device("cpu")
    (image,) = pictures([b"abc"], cpu, 77)
    assert image is not None
    assert image.shape == (3, 5, 3)
    assert pictures([b"abc", b"d"], cpu, 77) == [None, None]


def test_imread(tmp_path: Path) -> None:
    file = tmp_path / "image.jpg"
    file.write_bytes(FILES[0])
    there = ndd.imread(str(file), device="gpu")
    assert str(there.device) == "gpu:0"
    np.testing.assert_array_equal(there.cpu(), ndd.imread(str(file)))


def test_errors_name_the_file() -> None:
    broken = ndd.batch([np.frombuffer(FILES[0], np.uint8), np.zeros(9, np.uint8)])
    with pytest.raises(ndd.DecodeError, match=r"decoders.image: sample 1"):
        ndd.decoders.image(broken, device="gpu").evaluate()


def test_libraries_are_for_cuda_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from daliesque._gpu import image_decoders

    assert image_decoders.device_decoder("cpu") is None
    assert image_decoders.device_decoder("mps") is None
    image_decoders.device_decoder.cache_clear()
    for version, expected in (("13.0", ("nvImageCodec", None)), (None, None)):
        monkeypatch.setattr(torch.version, "cuda", version)
        monkeypatch.setitem(image_decoders._LIBRARIES, "nvImageCodec", lambda: None)
        assert image_decoders.device_decoder("cuda") == expected
        image_decoders.device_decoder.cache_clear()
