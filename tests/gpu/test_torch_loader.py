# SPDX-License-Identifier: Apache-2.0
"""`pytorch.DataLoader` and accelerators: who moves tensors there, and when."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import torch

import daliesque as ndd
from daliesque.pytorch import DataLoader
from support.loops import Pictures, augmented_pair

pytestmark = pytest.mark.usefixtures("either_device")


def on_gpu(images: ndd.Batch, labels: ndd.Batch) -> dict[str, Any]:
    return {"image": ndd.flip(images.gpu(), horizontal=1), "label": labels}


def expected() -> list[tuple[torch.Tensor, torch.Tensor]]:
    loader = DataLoader(Pictures(9), batch_size=4)
    return [(images.flip(2), labels) for images, labels in loader]


@pytest.mark.parametrize("prefetch", [0, 2])
def test_tensors_stay_where_the_transform_has_put_them(prefetch: int) -> None:
    gpu = ndd.batch([1]).gpu().torch().device
    for batch, (images, labels) in zip(
        DataLoader(Pictures(9), on_gpu, batch_size=4, prefetch=prefetch), expected(), strict=True
    ):
        assert batch["image"].device == gpu
        assert batch["label"].device.type == "cpu"
        assert torch.equal(batch["image"].cpu(), images)
        assert torch.equal(batch["label"], labels)


@pytest.mark.parametrize("device", ["gpu", "cpu"])
def test_tensors_are_moved(device: str) -> None:
    """Ours and those of torch and NumPy, also back from the gpu."""

    def transform(images: ndd.Batch, labels: ndd.Batch) -> Any:
        made = on_gpu(images, labels)
        return {**made, "torch": torch.arange(3), "array": labels.torch().numpy(), "text": "a"}

    target = ndd.batch([1]).to_device(device).torch().device
    loader = DataLoader(Pictures(9), transform, batch_size=4, device=device, mask=True)
    for batch, (images, labels) in zip(loader, expected(), strict=True):
        assert batch.pop("text") == "a"
        assert {tensor.device for tensor in batch.values()} == {target}
        assert torch.equal(batch["image"].cpu(), images)
        assert torch.equal(batch["array"].cpu(), labels)
        assert batch["torch"].cpu().tolist() == [0, 1, 2]
        assert batch["valid"].cpu().all()


def test_batches_of_ours_are_moved() -> None:
    loader = DataLoader(Pictures(9), batch_size=4, device="gpu", output="ndd")
    images, _ = next(iter(loader))
    assert isinstance(images, ndd.Batch)
    assert images.device == ndd.Device("gpu")


def test_ragged_batches_are_refused_before_they_are_moved() -> None:
    items = [torch.zeros(k + 1) for k in range(4)]
    with pytest.raises(ValueError, match=r"different shapes: \(1,\), \(2,\)"):
        next(iter(DataLoader(items, lambda x: x, batch_size=4, device="gpu")))


def test_the_device_is_pickled() -> None:
    loader = DataLoader(Pictures(9), augmented_pair, batch_size=3, device="gpu")
    images, _ = next(iter(pickle.loads(pickle.dumps(loader))))
    assert torch.equal(images.cpu(), next(iter(loader))[0].cpu())
