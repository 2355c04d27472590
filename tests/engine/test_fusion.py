# SPDX-License-Identifier: Apache-2.0
"""Chains of deferred calls run together: the same results, without batches in between."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
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


def in_order(seen: list[tuple[str, int]]) -> dict[str, int]:
    """How many samples each operator has processed."""
    totals: dict[str, int] = {}
    for name, count in seen:
        totals[name] = totals.get(name, 0) + count
    return totals


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
}


@pytest.mark.parametrize("kind", ["jpeg", "png"])
@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.__name__)
def test_results_are_those_of_the_calls_one_by_one(
    chain: Callable[[ndd.Batch, ndd.random.RNG], ndd.Batch], kind: str, bodies: Any
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
    # In the second run, several threads took a few samples each.
    for name in CHAINS[chain]:
        assert in_order(bodies)[name] == COUNT
        assert max(count for seen, count in bodies if seen == name) <= 6
    assert states[0] == states[1]
    assert layouts[0] == layouts[1]
    for expected, found in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


def test_the_batch_is_one_buffer(bodies: Any) -> None:
    files = files_of(encoded())
    with ndd.EvalMode.deferred:
        result = evaluation(files, ndd.random.RNG())
        array = np.asarray(result)
    assert array.shape == (COUNT, 3, 32, 32)
    # No copy: the samples are parts of the array.
    first = np.asarray(result.select(0))
    assert first.ctypes.data == array.ctypes.data
    assert max(count for _, count in bodies) <= 6


def test_light_operators_on_large_batches(bodies: Any) -> None:
    data = np.random.default_rng(0).integers(0, 255, (40, 400, 400, 3), np.uint8)
    images = ndd.copy(ndd.batch(data, layout="HWC")).evaluate()

    def chain() -> ndd.Batch:
        flipped = ndd.flip(images, vertical=ndd.batch([i % 2 for i in range(40)]))
        return ndd.flip(ndd.crop(flipped, crop=[300, 200], crop_pos_x=0.0, crop_pos_y=1.0))

    bodies.clear()
    with ndd.EvalMode.deferred:
        found = np.asarray(chain())
    expected = np.where(
        (np.arange(40) % 2)[:, None, None, None], data[:, ::-1, ::-1], data[:, :, ::-1]
    )
    np.testing.assert_array_equal(found, expected[:, 100:, :200][:, :, ::-1])
    assert in_order(bodies) == {"flip": 80, "crop": 40}
    assert max(count for _, count in bodies) < 10


def test_small_batches_and_expensive_chains_are_left_alone(bodies: Any) -> None:
    images = ndd.copy(ndd.batch(np.zeros((40, 30, 30, 3), np.uint8), layout="HWC")).evaluate()
    with ndd.EvalMode.deferred:
        np.asarray(ndd.flip(ndd.flip(images)))
    assert set(bodies[-2:]) == {("flip", 40)}
    large = ndd.copy(ndd.batch(np.zeros((40, 400, 400, 3), np.uint8), layout="HWC")).evaluate()
    with ndd.EvalMode.deferred:
        np.asarray(ndd.flip(ndd.resize(large, size=[20, 20])))
    assert set(bodies[-2:]) == {("flip", 40), ("resize", 40)}


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
    assert in_order(bodies)["decoders.image"] == COUNT
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
    for mode in (ndd.EvalMode.eager, ndd.EvalMode.deferred):
        with mode:
            found.append(failure_of(make))
    assert found[0] == found[1]
    return found[1]


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


PEAK = """
import sys
import numpy as np
import daliesque as ndd

files = [np.frombuffer(b"P6 512 384 255 " + bytes(512 * 384 * 3), np.uint8)] * 64
files = ndd.batch(files).evaluate()
before = ndd.memory()
assert before.peak_bytes - before.used_bytes < 1e6
with ndd.EvalContext(num_threads=2), ndd.EvalMode[sys.argv[1]]:
    images = ndd.decoders.image(files)
    images = ndd.crop(images, crop=[380, 500])
    images = ndd.resize(images, size=[64, 64])
    images = ndd.crop_mirror_normalize(images, mean=[1.0], std=[2.0])
    images.evaluate()
print(ndd.memory().peak_bytes - before.used_bytes)
"""


def test_no_memory_for_batches_in_between() -> None:
    peaks = {}
    for mode in ("sync_cpu", "deferred"):
        done = subprocess.run(
            [sys.executable, "-c", PEAK, mode], capture_output=True, text=True, check=True
        )
        peaks[mode] = int(done.stdout)
    decoded, cropped, final = 512 * 384 * 3, 500 * 380 * 3, 64 * 64 * 3 * 4
    assert peaks["sync_cpu"] > 64 * (decoded + cropped)
    # Two threads have 16 samples each in the works; buffers are up to 1/8 too large.
    assert peaks["deferred"] < 9 / 8 * (2 * 16 * (decoded + cropped) + 64 * final) + 1e6
