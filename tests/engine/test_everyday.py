# SPDX-License-Identifier: Apache-2.0
"""What users of NumPy and PyTorch expect of tensors and batches."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, default_collate

import daliesque as ndd

IMAGE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def encoded(pixels: Any = IMAGE) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def test_length_of_a_batch() -> None:
    assert len(ndd.batch([[1], [2, 3]])) == 2
    empty = ndd.batch([], dtype=ndd.uint8)
    assert len(empty) == 0
    # `if batch:` has always been true, as in the reference.
    assert empty


def test_numpy_of_a_tensor() -> None:
    source = np.arange(6, dtype=np.int16).reshape(2, 3)
    tensor = ndd.as_tensor(source)
    assert np.shares_memory(tensor.numpy(), source)
    assert not np.shares_memory(tensor.numpy(copy=True), source)
    np.testing.assert_array_equal((tensor + 1).numpy(), source + 1)


def test_numpy_of_a_batch() -> None:
    images = ndd.batch([IMAGE, IMAGE + 1], layout="HWC")
    for array in (images.numpy(), np.asarray(images), np.stack(list(images))):
        np.testing.assert_array_equal(array, np.stack([IMAGE, IMAGE + 1]))
        assert array.dtype == np.uint8
    assert np.asarray(images, dtype=np.float32).dtype == np.float32
    assert np.mean(images) == 9
    ragged = ndd.batch([[1], [2, 3]])
    np.testing.assert_array_equal(ragged.numpy(pad=True), [[1, 0], [2, 3]])
    with pytest.raises(ValueError, match=r"\(1,\) .* \(2,\) .*batch\.numpy\(pad=True\)"):
        np.asarray(ragged)
    with pytest.raises(ValueError, match=r"Batch\.numpy: .*Pass pad=True"):
        ragged.numpy()


def test_arrays_and_batches_make_batches() -> None:
    batch = ndd.batch([[1, 2], [3, 4]])
    result = np.array([10, 20]) * batch
    assert isinstance(result, ndd.Batch)
    assert result.tolist() == [[10, 40], [30, 80]]


def test_lists() -> None:
    assert ndd.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert ndd.tensor(0.5).tolist() == 0.5
    assert ndd.batch([[1], [2, 3]]).tolist() == [[1], [2, 3]]
    assert ndd.tensor([1, 2], dtype=ndd.bfloat16).tolist() == [1.0, 2.0]


def test_to() -> None:
    tensor, batch = ndd.tensor([1]), ndd.batch([1])
    assert tensor.to("cpu") is tensor
    assert batch.to(ndd.Device.CPU) is batch
    with pytest.raises(ValueError, match="invalid device type 'tpu'"):
        tensor.to("tpu")


def test_reversed_axes() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    tensor = ndd.tensor(array, layout="HWC")
    np.testing.assert_array_equal(tensor.T, array.T)
    assert tensor.T.layout == "CWH"
    assert tensor.T.shape == (4, 3, 2)
    assert ndd.tensor(3).T.item() == 3
    np.testing.assert_array_equal(tensor[:, 1:].T, array[:, 1:].T)


def test_format_specifications() -> None:
    assert f"{ndd.tensor(1.23456):.2f}" == "1.23"
    assert f"{ndd.tensor(7):04d}" == "0007"
    assert f"{ndd.tensor([1.23456, 2]):.1f}" == "[1.2 2.0]"
    tensor = ndd.tensor([1])
    assert f"{tensor}" == str(tensor)


def test_pillow_takes_tensors() -> None:
    np.testing.assert_array_equal(np.asarray(Image.fromarray(np.asarray(ndd.tensor(IMAGE)))), IMAGE)
    decoded = ndd.decoders.image(encoded())
    np.testing.assert_array_equal(np.asarray(Image.fromarray(decoded.numpy())), IMAGE)


def test_default_collate() -> None:
    tensors = [ndd.tensor([1, 2]), ndd.tensor([3, 4])]
    assert default_collate(tensors).tolist() == [[1, 2], [3, 4]]
    pairs = default_collate([(tensor, {"label": 5}) for tensor in tensors])
    assert pairs[0].tolist() == [[1, 2], [3, 4]]
    assert pairs[1]["label"].tolist() == [5, 5]
    assert default_collate([ndd.batch([1, 2]), ndd.batch([3, 4])]).tolist() == [[1, 2], [3, 4]]


def flipped(number: int) -> ndd.Tensor:
    return ndd.flip(ndd.tensor(np.full((2, 2, 1), number, np.uint8), layout="HWC"))


def test_workers_of_a_data_loader_deliver_tensors() -> None:
    class Images(torch.utils.data.Dataset[ndd.Tensor]):
        def __len__(self) -> int:
            return 4

        def __getitem__(self, number: int) -> ndd.Tensor:
            return flipped(number)

    loader = DataLoader(Images(), batch_size=2, num_workers=1, multiprocessing_context="fork")
    batches = [batch[:, 0, 0, 0].tolist() for batch in loader]
    assert batches == [[0, 1], [2, 3]]


@pytest.mark.parametrize("imports", ["daliesque, torch", "torch, daliesque"])
def test_the_order_of_imports_does_not_matter(imports: str) -> None:
    program = f"""
import {imports}
from torch.utils.data import default_collate
print(default_collate([daliesque.tensor([1]), daliesque.tensor([2])]).tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[[1], [2]]\n"


def test_decoders_take_bytes_names_and_files(tmp_path: Path) -> None:
    path = tmp_path / "image.png"
    path.write_bytes(encoded())
    with path.open("rb") as file:
        singles = [encoded(), bytearray(encoded()), str(path), path, file, io.BytesIO(encoded())]
        for single in singles:
            image = ndd.decoders.image(single)
            assert isinstance(image, ndd.Tensor)
            np.testing.assert_array_equal(image, IMAGE)
    assert ndd.decoders.image(path).source == str(path)
    flat = ndd.tensor(encoded(IMAGE[:1]))
    several = ndd.decoders.image([path, encoded(IMAGE[1:]), flat, np.asarray(flat)])
    assert isinstance(several, ndd.Batch)
    assert several.source == [str(path), None, None, None]
    assert [image.shape[0] for image in several] == [2, 1, 1, 1]
    assert ndd.peek_image_shape([path, path]).tolist() == [[2, 3, 3]] * 2
    with pytest.raises(FileNotFoundError, match=r"missing\.png"):
        ndd.decoders.image(str(tmp_path / "missing.png"))
    with pytest.raises(TypeError, match=r"decoders\.image: input 'input': .*binary mode"):
        ndd.decoders.image(io.StringIO("text"))  # type: ignore[call-overload]


def test_inputs_as_one_list() -> None:
    a, b = ndd.tensor([1, 2]), ndd.tensor([3])
    assert ndd.cat([a, b]).tolist() == [1, 2, 3]
    assert ndd.cat((a, np.array([3], np.int32))).tolist() == [1, 2, 3]
    assert ndd.stack([a, a], axis=1).tolist() == [[1, 1], [2, 2]]
    batches = [ndd.batch([[1], [2]]), ndd.batch([[3], [4]])]
    joined = ndd.cat(batches)
    assert isinstance(joined, ndd.Batch)
    assert joined.tolist() == [[1, 3], [2, 4]]
    # A list of numbers is an array, as ever.
    assert ndd.cat([1, 2]).tolist() == [1, 2]
    assert ndd.cat([1, 2], [3]).tolist() == [1, 2, 3]


def test_lists_of_numbers_are_not_rounded() -> None:
    promoted = ndd.batch([[1, 2], [0.5, 2.5]])
    assert promoted.dtype == ndd.float32
    assert promoted.tolist() == [[1.0, 2.0], [0.5, 2.5]]
    assert ndd.batch([True, 2]).tolist() == [1, 2]
    assert ndd.as_batch([1, 2.5]).tolist() == [1.0, 2.5]
    assert ndd.batch([[1], [2]]).dtype == ndd.int32
    # Arrays have types: that of the first counts.
    assert ndd.batch([np.array([1], np.int32), [2.7]]).tolist() == [[1], [3]]


def test_an_image_prints_a_few_lines() -> None:
    image = ndd.tensor(np.arange(100 * 90 * 3).reshape(100, 90, 3), layout="HWC")
    text = repr(image)
    assert len(text.splitlines()) < 20
    assert "[[[    0 ...     2]" in text
    assert "26999]]]" in text
    assert "shape=(100, 90, 3)" in text


def test_calls_on_arrays_of_the_user_are_done_when_they_return() -> None:
    image = np.zeros((400, 400, 3), np.uint8)
    wrapped = (image, ndd.as_tensor(image, layout="HWC"), ndd.as_batch([image], layout="HWC"))
    for value in wrapped:
        result = ndd.flip(value)
        image[:] += 1
        # What was changed after the call is not in its result.
        assert np.asarray(result).max() == image[0, 0, 0] - 1


def test_a_batch_of_images_prints_a_few_lines() -> None:
    images = ndd.batch([np.full((64, 64, 3), value, np.uint8) for value in range(20)], layout="HWC")
    text = repr(images)
    assert text.count("\n") < 15
    assert "[[[19 19 19 ... 19 19 19]]]" in text
    assert "num_samples=20" in text
    assert repr(ndd.batch([[[1, 2], [3, 4]]])).startswith("Batch(\n    [[[1 2]\n      [3 4]]],")
