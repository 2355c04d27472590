# SPDX-License-Identifier: Apache-2.0
"""Data on the gpu device: how it gets there, what it looks like, and how it comes back."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import daliesque as ndd
from daliesque._gpu import accelerator
from daliesque._gpu.queues import SingleQueue

TYPES = [
    *("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "bool", "bfloat16"),
]


def array(kind: str, shape: tuple[int, ...]) -> Any:
    rng = np.random.default_rng(3)
    if kind == "bfloat16":
        return rng.normal(size=shape).astype(ml_dtypes.bfloat16)
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if kind.startswith("float"):
        return rng.normal(size=shape).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, shape, kind, endpoint=True)


def listed(data: Any) -> Any:
    """Data of the gpu as lists of numbers; `torch.Tensor.tolist` is for the CPU."""
    tensor = data if isinstance(data, torch.Tensor) else data.torch()
    return tensor.cpu().tolist()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.usefixtures("either_device")
def test_round_trip(kind: str) -> None:
    samples = [array(kind, (2, 3)), array(kind, (4, 1)), array(kind, (2, 3))]
    batch = ndd.batch(samples, layout="HW")
    there = batch.gpu()
    assert there.device == ndd.Device("gpu", 0)
    assert there.dtype == batch.dtype
    assert there.layout == "HW"
    assert there.shape == [(2, 3), (4, 1), (2, 3)]
    back = there.cpu()
    assert back.device == ndd.Device.CPU
    for sample, expected in zip(back, samples, strict=True):
        assert np.asarray(sample).dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(sample), expected)


@pytest.mark.parametrize("kind", TYPES)
def test_torch_gives_the_device_tensor_itself(kind: str) -> None:
    values = array(kind, (3, 4))
    tensor = ndd.tensor(values, device="gpu")
    shown = tensor.torch()
    assert str(shown.dtype) == f"torch.{kind}"
    assert shown.data_ptr() == tensor.torch().data_ptr()
    assert shown.data_ptr() != tensor.torch(copy=True).data_ptr()
    bits = values.view(np.uint8).reshape(-1)
    np.testing.assert_array_equal(shown.reshape(-1).view(torch.uint8).numpy(), bits)


def test_memory_is_separate() -> None:
    source = np.zeros(4, np.int32)
    tensor = ndd.as_tensor(source, device="gpu")
    source[:] = 7
    assert tensor.torch().tolist() == [0, 0, 0, 0]
    back = tensor.cpu().evaluate()
    tensor.torch().fill_(5)
    assert np.asarray(back).tolist() == [0, 0, 0, 0]


def test_one_transfer_for_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    found = accelerator.require_accelerator("test")
    sizes: list[int] = []
    upload, download = found.upload, found.download

    def counted_upload(buffer: Any, *arguments: Any) -> Any:
        sizes.append(buffer.nbytes)
        return upload(buffer, *arguments)

    def counted_download(tensor: Any, *arguments: Any) -> Any:
        sizes.append(-tensor.nbytes)
        return download(tensor, *arguments)

    monkeypatch.setattr(found, "upload", counted_upload)
    monkeypatch.setattr(found, "download", counted_download)
    ragged = ndd.batch([np.zeros((n, 5), np.float32) for n in (3, 1, 4, 1)])
    ragged.gpu().cpu().evaluate()
    assert sizes == [180, -180]


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps", "cpu"])
def test_staging_is_pinned(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[bool] = []
    monkeypatch.setattr(torch, "empty", lambda *_, pin_memory, **__: made.append(pin_memory))
    accelerator.Accelerator(kind, 1, SingleQueue(None)).staging(8)
    assert made == [kind in ("cuda", "xpu")]


def test_dense_batches_export_as_one_tensor() -> None:
    images = array("uint8", (4, 5, 6, 3))
    batch = ndd.batch(images, device="gpu", layout="HWC")
    whole = batch.torch()
    assert whole.shape == (4, 5, 6, 3)
    assert whole.data_ptr() == batch.torch().data_ptr()
    assert whole[1].data_ptr() == batch.select(1).torch().data_ptr()
    np.testing.assert_array_equal(whole.numpy(), images)
    np.testing.assert_array_equal(ndd.as_tensor(batch).torch().numpy(), images)


@pytest.mark.usefixtures("either_device")
def test_ragged_batches_pad() -> None:
    batch = ndd.batch([[1], [2, 3]], device="gpu")
    with pytest.raises(ValueError, match="differ in shape"):
        batch.torch()
    assert listed(batch.torch(pad=True)) == [[1, 0], [2, 3]]


def test_dlpack() -> None:
    tensor = ndd.tensor([1.5, 2.5], device="gpu")
    shared = torch.from_dlpack(tensor)
    assert shared.data_ptr() == tensor.torch().data_ptr()
    assert tensor.__dlpack_device__() == (1, 0)


def test_cuda_array_interface_is_that_of_torch() -> None:
    tensor = ndd.tensor([1.5], device="gpu")
    with pytest.raises(AttributeError, match="CUDA"):
        tensor.__cuda_array_interface__  # noqa: B018


class OnOtherDevice:
    """An array that says it is on an accelerator, and shows its memory as torch understands."""

    def __init__(self, values: torch.Tensor, kind: int) -> None:
        self.values = values
        self.kind = kind

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.kind, 0)

    def __dlpack__(self, **arguments: Any) -> Any:
        # What torch asks of a CUDA array, and a CPU tensor does not understand.
        arguments.pop("stream", None)
        return self.values.__dlpack__(**arguments)


def test_device_arrays_are_imported_without_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    values = torch.arange(6, dtype=torch.float32)
    monkeypatch.setattr(torch.utils.dlpack, "from_dlpack", lambda array: array.values)
    tensor = ndd.as_tensor(OnOtherDevice(values, 2))
    assert tensor.device == ndd.Device("gpu", 0)
    assert tensor.torch().data_ptr() == values.data_ptr()
    # Calls that read memory of others run at once.
    doubled = tensor * 2
    values.zero_()
    assert doubled.torch().tolist() == [0, 2, 4, 6, 8, 10]


def test_numpy_wants_cpu_memory() -> None:
    with pytest.raises(TypeError, match=r"gpu:0.*\.cpu\(\)"):
        np.asarray(ndd.tensor([1], device="gpu"))


@pytest.mark.usefixtures("either_device")
def test_values_can_be_read() -> None:
    tensor = ndd.tensor([[1, 2], [3, 4]], device="gpu")
    assert tensor[1, 0].item() == 3
    assert int(tensor[0, 1]) == 2
    assert "gpu:0" in repr(tensor)
    assert "gpu:0" in repr(ndd.batch([[1], [2, 3]], device="gpu"))


@pytest.mark.usefixtures("either_device")
def test_pickle_keeps_the_device() -> None:
    for value in (ndd.tensor([1, 2], device="gpu"), ndd.batch([[1], [2, 3]], device="gpu:1")):
        copy = pickle.loads(pickle.dumps(value))
        assert copy.device == value.device
        assert repr(copy) == repr(value)


@pytest.mark.usefixtures("either_device")
def test_other_accelerators() -> None:
    first = ndd.tensor([1, 2], device="gpu")
    second = first.gpu(1)
    assert str(second.device) == "gpu:1"
    assert listed(second) == [1, 2]
    assert second.torch().data_ptr() != first.torch().data_ptr()
    assert first.gpu(0) is first
    assert first.gpu() is first
    assert first.to_device("gpu", force_copy=True) is not first
    with ndd.Device("gpu", 1):
        assert str(ndd.tensor([1]).gpu().device) == "gpu:1"
    with ndd.EvalContext(device_id=1) as context:
        assert context.device_id == 1
        assert str(ndd.tensor([1], device="gpu").device) == "gpu:1"
    with pytest.raises(ValueError, match="invalid device id 2"):
        first.gpu(2)


@pytest.mark.usefixtures("either_device")
def test_devices_are_inferred() -> None:
    image = ndd.tensor(array("uint8", (4, 5, 3)), layout="HWC")
    assert str(ndd.flip(image.gpu()).device) == "gpu:0"
    assert str(ndd.flip(image, device="gpu").device) == "gpu:0"
    assert str(ndd.flip(image.gpu(), device="cpu").device) == "cpu"
    assert str(ndd.flip(image).device) == "cpu"
    with ndd.EvalMode.deferred:
        assert str(ndd.flip(image.gpu()).device) == "gpu:0"


@pytest.mark.usefixtures("either_device")
def test_devices_that_do_not_go_together() -> None:
    here, there = ndd.tensor([1, 2]), ndd.tensor([3, 4], device="gpu")
    with pytest.raises(ValueError, match="Cannot mix GPU and CPU"):
        here + there
    assert listed(there + 1) == [4, 5]
    assert listed(there + np.array([1, 2])) == [4, 6]
    with pytest.raises(ValueError, match=r"cat: .*gpu:0.*gpu:1"):
        ndd.cat(there, there.gpu(1))
    assert listed(ndd.cat(there, here)) == [3, 4, 1, 2]
    with pytest.raises(ValueError, match="one device"):
        ndd.batch([there, here])


def test_arguments_may_be_on_the_gpu() -> None:
    images = ndd.batch(array("uint8", (2, 2, 3, 1)), layout="HWC", device="gpu")
    flags = ndd.batch([1, 0], device="gpu")
    flipped = ndd.flip(images, horizontal=flags).torch()
    assert torch.equal(flipped[0], images.torch()[0].flip(1))
    assert torch.equal(flipped[1], images.torch()[1])


@pytest.mark.usefixtures("either_device")
def test_selection_and_indexing() -> None:
    values = array("int32", (4, 5, 6))
    batch = ndd.batch(values, device="gpu")
    for part, expected in (
        (batch.select([2, 0]), values[[2, 0]]),
        (batch.select(slice(1, 3)), values[1:3]),
        (batch.slice[1:4:2, -1], values[:, 1:4:2, -1]),
        (batch.slice[::-2], values[:, ::-2]),
        (batch.slice[ndd.batch([0, 1, 2, 3])], values[np.arange(4), np.arange(4)]),
        (batch.slice[ndd.batch([0, 1, 2, 3], device="gpu")], values[np.arange(4), np.arange(4)]),
    ):
        assert part.device == batch.device
        np.testing.assert_array_equal(listed(part), expected)
    ragged = ndd.batch([[1, 2, 3], [4, 5]], device="gpu")
    assert listed(ragged.slice[-1]) == [3, 5]
    assert listed(ragged.select(1)) == [4, 5]
    assert [int(part[0]) for part in ragged] == [1, 4]
    assert listed(ndd.Batch.broadcast([1, 2], 3, device="gpu")) == [[1, 2]] * 3
    joined = ndd.batch([ragged.select(1), ragged.select(0)])
    assert str(joined.device) == "gpu:0"
    assert joined.shape == [(2,), (3,)]


@pytest.mark.usefixtures("either_device")
def test_sequences_are_taken_apart_and_put_together() -> None:
    clips = [array("uint8", (n, 4, 5, 3)) for n in (2, 3, 2)]
    batch = ndd.batch(clips, layout="FHWC", device="gpu")
    samples = batch._data()
    back = samples.unfold().fold([2, 3, 2], "FHWC")
    for index, clip in enumerate(clips):
        np.testing.assert_array_equal(back.select([index]).exported().cpu(), clip)


def run(program: str, **environment: str) -> str:
    import os

    kept = {k: v for k, v in os.environ.items() if k != accelerator.VARIABLE}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**kept, **environment},
        check=False,
    )
    return done.stdout + done.stderr


def test_no_torch_without_a_gpu() -> None:
    program = """
import sys, numpy as np, daliesque as ndd
with ndd.EvalContext(num_threads=2):
    ndd.flip(np.zeros((2, 2, 3), np.uint8)).evaluate()
repr(ndd.tensor([1]) + 1)
print("torch" in sys.modules)
ndd.tensor([1]).gpu
"""
    assert run(program) == "False\n"


def test_without_torch() -> None:
    program = """
import sys; sys.modules["torch"] = None
import daliesque as ndd
ndd.tensor([1]).gpu()
"""
    text = run(program, DALIESQUE_GPU="cpu")
    assert "pip install torch" in text
    assert 'device "cpu"' in text


@pytest.mark.skipif(torch.accelerator.is_available(), reason="there is an accelerator")
def test_without_an_accelerator() -> None:
    text = run("import daliesque as ndd; ndd.tensor([1]).gpu()")
    assert "\nRuntimeError: Device('gpu'): no accelerator was found" in text
    assert 'device "cpu"' in text
    assert "DALIESQUE_GPU=cpu" in text
    program = """
import numpy as np, daliesque as ndd
image = np.zeros((2, 2, 3), np.uint8)
for call in (
    lambda: ndd.flip(image, device="gpu"),
    lambda: ndd.decoders.image(image, device="gpu"),
    lambda: ndd.tensor(image, device="gpu"),
    lambda: ndd.as_batch([image], device="gpu:1"),
    lambda: ndd.tensor(image).to_device("gpu"),
    lambda: ndd.batch([image]).gpu(1),
    lambda: ndd.EvalContext(device_id=0),
    lambda: ndd.stream(),
    lambda: ndd.set_current_stream(5),
    lambda: ndd.readers.Numpy(files=["x.npy"], device="gpu"),
):
    try:
        with ndd.EvalMode.deferred:
            call()
    except RuntimeError as error:
        print(error)
"""
    lines = run(program).splitlines()
    assert len(lines) == 10
    for line in lines:
        assert "no accelerator was found on this machine; use the device " in line
        assert "DALIESQUE_GPU=cpu" in line
    text = run("import daliesque as ndd; ndd.Device('gpu')", DALIESQUE_GPU="cuda")
    assert "DALIESQUE_GPU must be unset or 'cpu' or 'cpu:<number of devices>'; got 'cuda'" in text


def test_threads_may_ask_at_the_same_time() -> None:
    barrier = threading.Barrier(4)
    seen: list[Any] = []

    def ask() -> None:
        barrier.wait()
        with ndd.EvalMode.sync_cpu:
            seen.append(ndd.zeros(shape=[2], device="gpu").torch().tolist())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[0.0, 0.0]] * 4
    assert np.asarray(ndd.zeros(shape=[2])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["uint8", "float64", "bool", "bfloat16"])
def test_large_and_strided_samples(kind: str) -> None:
    """They are copied for the transfer by several threads."""
    rng = np.random.default_rng(5)
    wide = rng.integers(0, 2, (3, 700, 300, 4))
    for arrays in ([wide[0], wide[1, ::2], wide[2, :1], wide[0, :0]], list(wide), [wide[0].T] * 2):
        batch = ndd.batch(arrays, dtype=getattr(ndd, kind))
        back = batch.gpu().cpu()
        for found, expected in zip(back, arrays, strict=True):
            values = np.asarray(ndd.cast(found, dtype=ndd.int64))
            np.testing.assert_array_equal(values, expected)
    base = np.ascontiguousarray(wide[0].astype(np.uint8))
    views = [base[::3], base[:, ::2]]
    for found, expected in zip(ndd.as_batch(views).gpu().cpu(), views, strict=True):
        np.testing.assert_array_equal(np.asarray(found), expected)
