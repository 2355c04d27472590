# SPDX-License-Identifier: Apache-2.0
"""Chains of deferred calls run together: the same results, without batches in between."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque import _kernels
from daliesque._engine import fusion
from daliesque._engine.op import Operator

COUNT = 24
MEAN, STD = [100.0, 110.0, 120.0], [50.0, 60.0, 70.0]


def encoded(format: str = "jpeg", count: int = COUNT) -> list[bytes]:
    generator = np.random.default_rng(1)
    files = []
    for number in range(count):
        small = generator.integers(0, 255, (9, 11, 3), np.uint8)
        image = Image.fromarray(small).resize((60 + 3 * number, 50 + 2 * number))
        file = io.BytesIO()
        image.save(file, format)
        files.append(file.getvalue())
    return files


def files_of(data: list[bytes]) -> ndd.Batch:
    return ndd.batch([np.frombuffer(file, np.uint8) for file in data]).evaluate()


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """The operators that were run, with the number of samples of each run."""
    seen: list[tuple[str, int]] = []
    run = Operator.run
    lock = threading.Lock()

    def spy(self: Operator, count: int, *rest: Any) -> Any:
        with lock:
            seen.append((self.name, count))
        return run(self, count, *rest)

    monkeypatch.setattr(Operator, "run", spy)
    with ndd.EvalContext(num_threads=2):
        yield seen


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of samples that were made sample by sample."""
    counts: list[int] = []
    finish = fusion._made

    def spy(result: Any) -> Any:
        if isinstance(result, _kernels.PlannedSamples):
            counts.append(len(result))
        return finish(result)

    monkeypatch.setattr(fusion, "_made", spy)
    return counts


def evaluation(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.decoders.image(files)
    images = ndd.crop(images, crop=[40, 44])
    images = ndd.resize(images, size=[32, 32])
    return ndd.crop_mirror_normalize(images, mean=MEAN, std=STD)


def training(files: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.decoders.image_random_crop(files, rng=rng)
    mirror = ndd.random.coin_flip(batch_size=COUNT, rng=rng)
    images = ndd.resize(images, size=[32, 32])
    images = ndd.noise.gaussian(images, stddev=20.0, rng=rng)
    brightness = ndd.random.uniform(range=(0.5, 1.5), batch_size=COUNT, rng=rng)
    images = ndd.brightness_contrast(images, brightness=brightness)
    return ndd.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD)


def ragged(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.decoders.image(files, output_type="gray")
    return ndd.resize(images, resize_shorter=ndd.batch([20.0 + i for i in range(COUNT)]))


def views(files: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.decoders.image_slice(files, start=[1, 2], shape=[20, 30], axes=[0, 1])
    flips = ndd.random.coin_flip(batch_size=COUNT, rng=rng)
    return ndd.slice(ndd.flip(images, horizontal=flips), start=[0, 3], shape=[20, 11], axes=[0, 1])


def moves(files: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.decoders.image(files)
    images = ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=COUNT, rng=rng))
    angle = ndd.random.uniform(range=(-40, 40), batch_size=COUNT, rng=rng)
    images = ndd.rotate(images, angle=angle, keep_size=True, fill_value=7)
    images = ndd.shear_y(images, shear=0.25)
    images = ndd.warp_affine(images, matrix=[0.9, 0.2, -3, 0.1, 1, 0], size=[48, 56])
    return ndd.gaussian_blur(images, sigma=1.0)


def mirrored_last(files: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.rotate(ndd.decoders.image(files), angle=30.0)
    return ndd.flip(images, vertical=ndd.random.coin_flip(batch_size=COUNT, rng=rng))


def windows_of_moved(files: ndd.Batch, rng: ndd.random.RNG) -> ndd.Batch:
    """Of what is moved, only windows are made, wherever they begin."""
    images = ndd.resize(ndd.decoders.image(files), size=[90, 700])
    angle = ndd.random.uniform(range=(-40, 40), batch_size=COUNT, rng=rng)
    images = ndd.rotate(images, angle=angle, keep_size=True, fill_value=7)
    start = ndd.random.uniform(range=(0, 0.4), shape=[2], batch_size=COUNT, rng=rng)
    images = ndd.slice(images, start, [0.6, 0.6], axes=[0, 1])
    images = ndd.crop(ndd.shear_x(images, shear=0.3), crop=[43, 350], crop_pos_x=0.7)
    matrix = [0.9, 0.2, -3, 0.1, 1, 0]
    images = ndd.crop(
        ndd.warp_affine(images, matrix=matrix, dtype=ndd.float32), crop=[30, 33], crop_pos_x=0.9
    )
    # Not within the image.
    images = ndd.warp_affine(images, matrix=matrix, size=[31, 32])
    return ndd.slice(
        images, [3, -2], [40, 20], axes=[0, 1], out_of_bounds_policy="pad", fill_values=9
    )


CHAINS = {
    evaluation: ["decoders.image", "crop", "resize", "crop_mirror_normalize"],
    training: [
        "decoders.image_random_crop",
        "resize",
        "noise.gaussian",
        "brightness_contrast",
        "crop_mirror_normalize",
    ],
    ragged: ["decoders.image", "resize"],
    views: ["decoders.image_slice", "flip", "slice"],
    moves: ["decoders.image", "flip", "rotate", "shear_y", "warp_affine", "gaussian_blur"],
    mirrored_last: ["decoders.image", "rotate", "flip"],
    windows_of_moved: [
        "decoders.image",
        "resize",
        "rotate",
        "slice",
        "shear_x",
        "crop",
        "warp_affine",
        "crop",
        "warp_affine",
        "slice",
    ],
}


@pytest.mark.parametrize("kind", ["jpeg", "png"])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.__name__)
def test_results_are_those_of_the_calls_one_by_one(
    chain: Callable[[ndd.Batch, ndd.random.RNG], ndd.Batch], kind: str, bodies: Any, made: Any
) -> None:
    files = files_of(encoded(kind))
    results, states, layouts = [], [], []
    for mode in (ndd.EvalMode.sync_cpu, ndd.EvalMode.deferred):
        rng = ndd.random.RNG(seed=3)
        bodies.clear()
        with mode:
            result = chain(files, rng)
            results.append([np.asarray(sample) for sample in result])
            layouts.append((result.layout, result.dtype, result.source))
        states.append(rng.get_state())
    # In the second run, each body ran once, to plan, and then all samples were made.
    assert [name for name, _ in bodies if name in CHAINS[chain]] == CHAINS[chain]
    assert made == [COUNT]
    assert states[0] == states[1]
    assert layouts[0] == layouts[1]
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.usefixtures("bodies")
def test_the_batch_is_one_buffer(made: Any) -> None:
    files = files_of(encoded())
    with ndd.EvalMode.deferred:
        result = evaluation(files, ndd.random.RNG())
        array = np.asarray(result)
    assert array.shape == (COUNT, 3, 32, 32)
    # No copy: the samples are parts of the array.
    first = np.asarray(result.select(0))
    assert first.ctypes.data == array.ctypes.data
    assert made == [COUNT]


@pytest.mark.usefixtures("bodies")
def test_light_operators_on_large_batches(made: Any) -> None:
    data = np.random.default_rng(0).integers(0, 255, (40, 400, 400, 3), np.uint8)
    images = ndd.copy(ndd.batch(data, layout="HWC")).evaluate()

    def chain() -> ndd.Batch:
        flipped = ndd.flip(images, vertical=ndd.batch([i % 2 for i in range(40)]))
        return ndd.flip(ndd.crop(flipped, crop=[300, 200], crop_pos_x=0.0, crop_pos_y=1.0))

    with ndd.EvalMode.deferred:
        found = np.asarray(chain())
    expected = np.where(
        (np.arange(40) % 2)[:, None, None, None], data[:, ::-1, ::-1], data[:, :, ::-1]
    )
    np.testing.assert_array_equal(found, expected[:, 100:, :200][:, :, ::-1])
    assert made == [40]


@pytest.mark.usefixtures("bodies")
def test_small_samples_and_few_samples_are_left_alone(made: Any) -> None:
    small = ndd.copy(ndd.batch(np.zeros((40, 30, 30, 3), np.uint8), layout="HWC")).evaluate()
    few = ndd.copy(ndd.batch(np.zeros((7, 400, 400, 3), np.uint8), layout="HWC")).evaluate()
    enough = ndd.copy(ndd.batch(np.zeros((8, 400, 400, 3), np.uint8), layout="HWC")).evaluate()
    for images in (small, few, enough):
        with ndd.EvalMode.deferred:
            np.asarray(ndd.flip(ndd.flip(images)))
    assert made == [8]


def test_results_in_between_that_somebody_has(bodies: Any) -> None:
    files = files_of(encoded())
    with ndd.EvalMode.deferred:
        decoded = ndd.decoders.image(files)
        resized = ndd.resize(decoded, size=[16, 16])
        sums = ndd.reductions.sum(ndd.flip(resized), axes=[0, 1])
        bodies.clear()
        np.asarray(sums)
        # Decoded once, for both.
        shapes = decoded.shape
    assert [name for name, _ in bodies].count("decoders.image") == 1
    assert shapes[3] == (56, 69, 3)
    with ndd.EvalMode.sync_cpu:
        again = ndd.reductions.sum(
            ndd.resize(ndd.decoders.image(files), size=[16, 16]), axes=[0, 1]
        )
    np.testing.assert_array_equal(np.asarray(sums), np.asarray(again))


def failure_of(make: Callable[[], ndd.Batch]) -> tuple[type, str, list[str]]:
    with pytest.raises(Exception) as caught:
        make().evaluate().torch()
    notes = getattr(caught.value, "__notes__", [])
    return type(caught.value), str(caught.value), [note.partition(", mode")[0] for note in notes]


def common_failure_of(make: Callable[[], ndd.Batch]) -> tuple[type, str, list[str]]:
    """What goes wrong call by call, and in the same way with all calls together."""
    found = []
    for mode in (ndd.EvalMode.sync_cpu, ndd.EvalMode.eager, ndd.EvalMode.deferred):
        with mode:
            found.append(failure_of(make))
    # In the synchronous mode no note says where the call was: the traceback does.
    assert found[0][:2] == found[1][:2]
    assert found[1] == found[2]
    return found[2]


@pytest.mark.parametrize("damaged", [0, 7, 19])
def test_errors_are_those_of_the_calls_one_by_one(damaged: int) -> None:
    data = encoded()
    data[damaged] = data[damaged][:40]
    files = files_of(data)

    def chain() -> ndd.Batch:
        images = ndd.decoders.image(files)
        images = ndd.resize(images, size=[32, 32])
        return ndd.flip(images)

    failure = common_failure_of(chain)
    kind, message, notes = failure
    assert kind is ndd.DecodeError
    assert f"decoders.image: sample {damaged} " in message
    assert f"from decoders.image() at {__file__}" in notes[0]


def test_errors_of_later_calls() -> None:
    files = files_of(encoded())
    sizes = np.full((COUNT, 2), 40.0, np.float32)
    sizes[17] = 1000

    def chain() -> ndd.Batch:
        images = ndd.decoders.image(files)
        images = ndd.crop(images, crop=ndd.batch(sizes))
        return ndd.flip(images)

    failure = common_failure_of(chain)
    assert failure[1].startswith("crop: ")
    assert "17" in failure[1]


def test_several_threads_read_results_of_one_chain() -> None:
    files = files_of(encoded())
    expected = np.asarray(evaluation(files, ndd.random.RNG()))
    for _ in range(5):
        with ndd.EvalMode.deferred:
            result = evaluation(files, ndd.random.RNG())
        found: list[np.ndarray] = []
        readers = [
            threading.Thread(target=lambda r=result, f=found: f.append(np.asarray(r)))
            for _ in range(4)
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(60)
        assert len(found) == 4
        assert all((array == expected).all() for array in found)


def few_pixels(image: np.ndarray) -> np.ndarray:
    return image[:1]


def sequences(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    """Images that become sequences of one frame each, whose frames are processed one by one."""
    images = ndd.resize(ndd.decoders.image(files), size=[40, 40])
    frames = ndd.reshape(images, shape=[1, 40, 40, 3], layout="FHWC")
    return ndd.flip(ndd.brightness(ndd.flip(frames), brightness=0.5))


def planes(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    """Operators on a layout whose axes they have to move."""
    images = ndd.resize(ndd.decoders.image(files), size=[40, 40])
    images = ndd.crop_mirror_normalize(images, mean=[1.0], std=[2.0])
    return ndd.color_twist(ndd.flip(images), saturation=0.5)


def several_results(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    images, sizes = ndd.resize(ndd.decoders.image(files), size=[40, 40], save_attrs=True)
    return ndd.flip(images) * sizes.slice[0]


def python(files: ndd.Batch, _rng: ndd.random.RNG) -> ndd.Batch:
    images = ndd.resize(ndd.decoders.image(files), size=[40, 40])
    return ndd.flip(ndd.map(few_pixels, ndd.flip(images), dtype=ndd.uint8))


@pytest.mark.parametrize("chain", [sequences, planes, several_results, python])
def test_calls_that_cannot_be_planned(
    chain: Callable[[ndd.Batch, ndd.random.RNG], ndd.Batch],
) -> None:
    files, found = files_of(encoded()), []
    for mode in (ndd.EvalMode.sync_cpu, ndd.EvalMode.deferred):
        with ndd.EvalContext(num_threads=2), mode:
            found.append(np.asarray(chain(files, ndd.random.RNG())))
    np.testing.assert_array_equal(*found, strict=True)


HEIGHT, WIDTH, THREADS, BATCH = 384, 512, 2, 64


def large_files(kind: str) -> list[np.ndarray]:
    image = np.random.default_rng(2).integers(0, 255, (HEIGHT // 8, WIDTH // 8, 3), np.uint8)
    file = io.BytesIO()
    Image.fromarray(image).resize((WIDTH, HEIGHT)).save(file, kind)
    return [np.frombuffer(file.getvalue(), np.uint8)] * BATCH


def four_calls(files: ndd.Batch) -> ndd.Batch:
    images = ndd.decoders.image(files)
    images = ndd.crop(images, crop=[380, 500])
    images = ndd.resize(images, size=[64, 64])
    return ndd.crop_mirror_normalize(images, mean=[1.0], std=[2.0])


DECODED, CROPPED, RESIZED = HEIGHT * WIDTH * 3, 500 * 380 * 3, 64 * 64 * 3


def peak_of(run: Callable[[], Any]) -> tuple[int, int]:
    """How many buffers, of how many bytes, there are at once besides those from before."""
    before = ndd.memory(release=True, reset_peak=True)
    run()
    after = ndd.memory()
    return after.peak_buffers - before.used_buffers, after.peak_bytes - before.used_bytes


@pytest.mark.pool
@pytest.mark.parametrize("kind", ["jpeg", "png", "ppm"])
def test_buffers_in_between(kind: str) -> None:
    files = ndd.batch(large_files(kind)).evaluate()
    peaks = {}
    for mode in (ndd.EvalMode.sync_cpu, ndd.EvalMode.deferred):
        with ndd.EvalContext(num_threads=THREADS), mode:
            peaks[mode] = peak_of(lambda: four_calls(files).evaluate())
    buffers, nbytes = peaks[ndd.EvalMode.sync_cpu]
    assert nbytes > BATCH * (DECODED + CROPPED)
    # The batch of the result, and of each thread a sample before and after an operator.
    buffers, nbytes = peaks[ndd.EvalMode.deferred]
    assert buffers <= 1 + 2 * THREADS
    assert nbytes < 9 / 8 * (BATCH * RESIZED * 4 + THREADS * (DECODED + CROPPED)) + (2 << 20)


@pytest.mark.pool
def test_buffers_in_between_under_capture() -> None:
    """All buffers of a loop: what the reader holds, results ahead of the body, and few others."""
    reader = ndd.readers.Python(large_files("jpeg") * 4)
    peaks = {}
    for capture, mode in ((False, ndd.EvalMode.sync_cpu), (True, ndd.EvalMode.eager)):
        with ndd.EvalContext(num_threads=THREADS), mode:
            # Once before: the first step is traced, and makes all batches.
            for (files,) in reader.next_epoch(batch_size=BATCH, capture=capture):
                four_calls(files).evaluate()

            def epoch(capture: bool = capture) -> None:
                for (files,) in reader.next_epoch(batch_size=BATCH, capture=capture):
                    four_calls(files).evaluate()

            peaks[capture] = peak_of(epoch)
    assert peaks[False][1] > BATCH * (DECODED + CROPPED)
    results = 4 * BATCH * RESIZED * 4
    assert peaks[True][1] < 9 / 8 * (results + THREADS * (DECODED + CROPPED)) + (16 << 20)


@pytest.mark.parametrize("capture", [False, True])
def test_no_result_in_between_has_a_buffer(
    capture: bool, monkeypatch: pytest.MonkeyPatch, made: Any
) -> None:
    # A number that nothing else has that may still run ahead.
    count, steps, buffers, run = 41, 4, [], Operator.run

    def spy(self: Operator, size: int, *rest: Any) -> Any:
        result = run(self, size, *rest)
        if size == count and not isinstance(result, _kernels.PlannedSamples):
            buffers.append(self.name)
        return result

    monkeypatch.setattr(Operator, "run", spy)
    source = ndd.ExternalSource([ndd.batch(large_files("jpeg")[:count])] * steps)
    with ndd.EvalContext(num_threads=THREADS), ndd.EvalMode.deferred:
        if capture:
            for files in source.captured(batch_size=count):
                four_calls(files).evaluate()
        else:
            for _ in range(steps):
                four_calls(source()).evaluate()
    assert buffers == []
    # One buffer in each step: that of the last result.
    assert made.count(count) == steps
