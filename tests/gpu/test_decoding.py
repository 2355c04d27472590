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
from daliesque import _kernels
from daliesque._engine.errors import InternalError
from daliesque._gpu import accelerator, staging
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


@pytest.mark.parametrize("dtype", [ndd.uint8, ndd.uint16, ndd.float32])
@pytest.mark.parametrize("files", [FILES, FILES[:1] * 3, FILES[1:] + FILES[1:]])
def test_decoded_into_memory_for_the_transfer(
    dtype: ndd.DType, files: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = ndd.batch(as_samples(files))
    for arguments in ({}, {"output_type": ndd.types.GRAY}, {"output_type": ndd.types.ANY_DATA}):
        expected = ndd.decoders.image(encoded, dtype=dtype, **arguments).evaluate()
        with monkeypatch.context() as patched:
            # Nothing is copied on the host.
            patched.setattr(staging.Staged, "take", None)
            there = ndd.decoders.image(encoded, device="gpu", dtype=dtype, **arguments).evaluate()
        for a, b in zip(there.cpu(), expected, strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_memory_must_fit_the_images() -> None:
    encoded = ndd.batch(as_samples(FILES[:1])).evaluate()._data()
    headers = _kernels.ImageHeaders(encoded)
    window = np.array([[0, 0, 20, 31]])

    def decode(memory: Any) -> Any:
        code = ndd.uint8.code
        return _kernels.decode_images(
            encoded,
            headers,
            window,
            np.ones(1, np.int64),
            ndd.types.RGB,
            code,
            fast_idct=False,
            decode_other=lambda *_: None,
            memory=memory,
        )

    for wrong in (np.zeros((20, 30, 3), np.uint8), np.zeros((20, 31, 3), np.int8)):
        kind = ndd.DType.from_fw_type(wrong.dtype).code
        with pytest.raises(InternalError, match="the memory does not fit the images"):
            decode(_kernels.wrap_buffers([wrong], kind, "HWC"))
    right = np.zeros((20, 31, 3), np.uint8)
    decode(_kernels.wrap_buffers([right], ndd.uint8.code, "HWC"))
    (expected,) = ndd.decoders.image(ndd.batch(as_samples(FILES[:1])))
    np.testing.assert_array_equal(right, np.asarray(expected))


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
    assert "2 images by a library, 1 on the CPU" in caplog.text
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
    assert "1 images by a library, 2 on the CPU" in caplog.text
    for a, b in zip(there.cpu(), ndd.decoders.image(encoded), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


class Codec:
    """nvImageCodec, as far as it is used."""

    streams: ClassVar[list[int]] = []

    class Decoder:
        def __init__(self, device_id: int, options: str) -> None:
            assert device_id == 1
            # Chroma between samples, as on the CPU; its default is the nearest sample.
            assert options == ":fancy_upsampling=1"

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
    monkeypatch.setattr(image_decoders.torch, "as_tensor", lambda image, **_: image)
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


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """A library that decodes what it is given; returns the files that it has seen."""
    from daliesque._gpu import image_decoders

    seen: list[list[bytes]] = []

    def decode(files: list[bytes], device: torch.device, stream: int) -> list[Any]:
        del stream
        seen.append(files)
        images: list[Any] = []
        for file in files:
            try:
                pixels = np.asarray(ndd.decoders.image(np.frombuffer(file, np.uint8)))
            except ndd.DecodeError:
                images.append(None)
            else:
                images.append(torch.tensor(pixels, device=device))
        return images

    monkeypatch.setattr(image_decoders, "device_decoder", lambda _kind: ("a library", decode))
    return seen


@pytest.mark.parametrize("damaged", [1, 2, 4])
def test_errors_name_the_file_beside_a_library(library: Any, damaged: int, tmp_path: Path) -> None:
    """Files of which some are decoded elsewhere keep their numbers and names."""
    files = [FILES[0], FILES[1], FILES[2], FILES[0], FILES[2]]
    files[damaged] = files[damaged][: len(files[damaged]) // 2]
    for number, file in enumerate(files):
        (tmp_path / f"{number}.image").write_bytes(file)
    names = [str(tmp_path / f"{number}.image") for number in range(5)]
    with pytest.raises(ndd.DecodeError, match=rf"sample {damaged}.*{damaged}\.image"):
        ndd.decoders.image(names, device="gpu").evaluate()
    assert library


def test_limits_of_pixels_hold_for_libraries(library: list[list[bytes]]) -> None:
    large = jpeg(np.zeros((40, 50, 3), np.uint8))
    encoded = ndd.batch(as_samples([FILES[0], large, FILES[1]]))
    before = ndd.decoders.set_max_pixels(40 * 50 - 1)
    try:
        with pytest.raises(ndd.DecodeError, match=r"sample 1 has 40 x 50 pixels, more than the"):
            ndd.decoders.image(encoded, device="gpu").evaluate()
    finally:
        ndd.decoders.set_max_pixels(before)
    assert library == []


def test_memory_of_libraries_is_copied(library: Any) -> None:
    """Memory that is not torch's own is not protected when it is used in another stream."""
    from daliesque._gpu.samples import DeviceSamples

    encoded = ndd.batch(as_samples([FILES[0], FILES[2], FILES[1], FILES[0]]))
    there = ndd.decoders.image(encoded, device="gpu").evaluate()
    data = there._data()
    assert isinstance(data, DeviceSamples)
    assert len({group.data.untyped_storage()._cdata for group in data.groups}) == 1
    for a, b in zip(there.cpu(), ndd.decoders.image(encoded), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert library


def test_libraries_are_for_cuda_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from daliesque._gpu import image_decoders

    assert image_decoders.device_decoder("cpu") is None
    assert image_decoders.device_decoder("mps") is None
    for version, expected in (("13.0", ("nvImageCodec", None)), (None, None)):
        monkeypatch.setattr(torch.version, "cuda", version)
        monkeypatch.setitem(image_decoders._LIBRARIES, "nvimgcodec", ("nvImageCodec", lambda: None))
        assert image_decoders.device_decoder("cuda") == expected


def test_colors_do_not_depend_on_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """torchvision does not interpolate chroma: it is used if somebody asks for it only."""
    from daliesque._gpu import image_decoders

    def missing() -> Any:
        raise ImportError

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    libraries = image_decoders._LIBRARIES
    monkeypatch.setitem(libraries, "nvimgcodec", ("nvImageCodec", missing))
    monkeypatch.setitem(libraries, "torchvision", ("torchvision", lambda: None))
    assert image_decoders.device_decoder("cuda") is None
    monkeypatch.setenv(image_decoders.VARIABLE, "torchvision")
    assert image_decoders.device_decoder("cuda") == ("torchvision", None)
    monkeypatch.setenv(image_decoders.VARIABLE, "cpu")
    assert image_decoders.device_decoder("cuda") is None
    monkeypatch.setenv(image_decoders.VARIABLE, "nvimgcodec")
    with pytest.raises(RuntimeError, match=r"decoders.image: .*=nvimgcodec.*not installed"):
        image_decoders.device_decoder("cuda")
    monkeypatch.setenv(image_decoders.VARIABLE, "gpu")
    with pytest.raises(ValueError, match=r"must be unset or one of 'cpu', 'nvimgcodec'"):
        image_decoders.device_decoder("cuda")
