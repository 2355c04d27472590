# SPDX-License-Identifier: Apache-2.0
"""Everything at once, on eight threads: nothing waits for ever, and nothing is left behind."""

from __future__ import annotations

import gc
import io
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd

THREADS = 8
ROUNDS = 3


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    for label in range(2):
        (folder / str(label)).mkdir()
        for number in range(10):
            shade = np.full((20 + number, 24, 3), 10 * number + 100 * label, np.uint8)
            file = io.BytesIO()
            Image.fromarray(shade).save(file, "png")
            (folder / str(label) / f"{number}.png").write_bytes(file.getvalue())
    return folder


class Stop(Exception):
    """What a body raises to leave a loop."""


def load(root: Path, rng: ndd.random.RNG) -> Iterator[tuple[ndd.Batch, ndd.Batch]]:
    reader = ndd.readers.File(file_root=str(root), random_shuffle=True)
    for files, labels in reader.next_epoch(batch_size=4):
        images = ndd.decoders.image(files)
        images = ndd.resize(images, size=[16, 16])
        flips = ndd.random.coin_flip(batch_size=4, rng=rng)
        images = ndd.flip(images, horizontal=flips)
        yield ndd.map(lambda image: image + 1, images), labels


def check(images: ndd.Batch, labels: ndd.Batch) -> None:
    """Each image is of one shade, which its label is part of."""
    pixels = np.asarray(images)
    assert pixels.shape == (4, 16, 16, 3)
    shades = pixels[:, 0, 0, 0].astype(int) - 1
    np.testing.assert_array_equal(pixels, np.broadcast_to(pixels[:, :1, :1, :1], pixels.shape))
    np.testing.assert_array_equal(shades // 100, np.asarray(labels).ravel())


def plain(root: Path, number: int) -> None:
    with ndd.EvalContext(num_threads=1 + number % 3):
        for images, labels in load(root, ndd.random.RNG(seed=number)):
            check(images, labels)


def prefetched(root: Path, number: int) -> None:
    loop = ndd.prefetch(lambda: load(root, ndd.random.get_default_rng()), 1 + number % 3)
    assert len([check(*item) for item in loop]) == 5


def deferred(root: Path, number: int) -> None:
    with ndd.EvalMode.deferred:
        for images, labels in itertools.islice(load(root, ndd.random.RNG(seed=number)), 3):
            check(images, labels)


def left(root: Path, number: int) -> None:
    for images, labels in ndd.prefetch(lambda: load(root, ndd.random.RNG(seed=number))):
        check(images, labels)
        break
    with pytest.raises(Stop):
        _raise_in_body(root, number)


def _raise_in_body(root: Path, number: int) -> None:
    for images, labels in ndd.prefetch(lambda: load(root, ndd.random.RNG(seed=number))):
        check(images, labels)
        raise Stop


def dropped(root: Path, number: int) -> None:
    """Iterators in cycles, which the garbage collector finds on whatever thread."""
    for make in (lambda: iter(ndd.prefetch(lambda: load(root, ndd.random.RNG(seed=number)))),):
        cycle: list[Any] = [make()]
        next(cycle[0])
        cycle.append(cycle)
    reader = ndd.readers.File(file_root=str(root))
    cycle = [reader.next_epoch(batch_size=3)]
    next(cycle[0])
    cycle.append(cycle)


def views(root: Path, number: int) -> None:
    """Memory that others look at is not used again."""
    kept = []
    for images, _labels in itertools.islice(load(root, ndd.random.RNG(seed=number)), 3):
        view = images.torch()
        kept.append((view, np.from_dlpack(images.select(1)), view.clone()))
    del images
    for view, sample, copy in kept:
        assert (view == copy).all()
        assert (sample == copy[1].numpy()).all()


def captured(root: Path, number: int) -> None:
    reader = ndd.readers.File(file_root=str(root))
    steps = 0
    for files, labels in reader.next_epoch(batch_size=4, capture=True):
        images = ndd.resize(ndd.decoders.image(files), size=[16, 16])
        check(images + 1, labels)
        steps += 1
        if steps == 2 + number % 4:
            break


def sources(_root: Path, number: int) -> None:
    source = ndd.ExternalSource([np.full(3, value) for value in range(6)])

    def generate() -> Iterator[ndd.Tensor]:
        while True:
            yield source() * 2

    for value, item in zip(range(4), ndd.prefetch(generate, 3), strict=False):
        assert item.tolist() == [2 * value] * 3
    del number


JOBS: list[Callable[[Path, int], None]] = [
    plain,
    prefetched,
    deferred,
    left,
    dropped,
    views,
    captured,
    sources,
]


def descriptors() -> int:
    folder = "/proc/self/fd"
    return len(os.listdir(folder)) if os.path.isdir(folder) else 0


def settled(read: Callable[[], int], most: int) -> int:
    """What `read` returns as soon as it is at most `most`, or after some seconds."""
    deadline = time.monotonic() + 30
    while read() > most and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.02)
    return read()


def lowest(read: Callable[[], int]) -> int:
    """The lowest of what `read` returns within a second."""
    gc.collect()
    found = []
    for _ in range(20):
        found.append(read())
        time.sleep(0.05)
    return min(found)


def run_all(root: Path) -> list[BaseException]:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for round_number in range(ROUNDS):
                for offset in range(len(JOBS)):
                    JOBS[(number + offset) % len(JOBS)](root, number + round_number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    return failures


def test_everything_at_once(root: Path) -> None:
    # What is made once and stays: pools, codecs, the threads of the default context.
    for number, job in enumerate(JOBS):
        job(root, number)
    threads, files = lowest(threading.active_count), lowest(descriptors)
    for failure in run_all(root):
        raise failure
    assert settled(threading.active_count, threads) <= threads
    assert settled(descriptors, files) <= files


INTERRUPTED = """
import gc, os, random, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_stress
import daliesque as ndd

root, delays = Path(sys.argv[2]), random.Random(int(sys.argv[3]))
for job in test_stress.JOBS:
    job(root, 1)
begun, done = threading.Event(), threading.Event()

def interrupt():
    # Not while threads are being started.
    begun.wait()
    for _ in range(25):
        if done.wait(delays.expovariate(60)):
            return
        os.kill(os.getpid(), signal.SIGINT)

def guarded(job, number):
    try:
        job(root, number)
    except (KeyboardInterrupt, test_stress.Stop):
        return False
    return True

helpers = [threading.Thread(target=lambda n=n: [job(root, n) for job in test_stress.JOBS])
           for n in range(3)]
sender = threading.Thread(target=interrupt)
for thread in (*helpers, sender):
    thread.start()
number = 0
while sender.is_alive():
    try:
        begun.set()
        while sender.is_alive():
            number += 1
            guarded(test_stress.JOBS[number % len(test_stress.JOBS)], number)
    except KeyboardInterrupt:
        pass
signal.signal(signal.SIGINT, signal.SIG_IGN)
done.set()
for thread in helpers:
    thread.join(60)
    assert not thread.is_alive()
for job in test_stress.JOBS:
    job(root, 7)
print("done")
"""


def run_program(program: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(Path(__file__).parent), *arguments],
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.mark.parametrize("seed", range(2))
def test_keyboard_interrupt(root: Path, seed: int) -> None:
    assert run_program(INTERRUPTED, str(root), str(seed)) == "done"


EXITING = """
import sys, threading
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_stress
import daliesque as ndd

root = Path(sys.argv[2])
loops = []
for number in range(3):
    loops.append(iter(ndd.prefetch(
        lambda: test_stress.load(root, ndd.random.RNG(seed=number)))))
    next(loops[-1])
epoch = ndd.readers.File(file_root=str(root)).next_epoch(batch_size=2)
pending = ndd.resize(ndd.decoders.image(next(epoch)[0]), size=[500, 500])
for number in range(4):
    threading.Thread(
        target=test_stress.plain, args=(root, number), daemon=number % 2 == 0).start()
print("done")
"""


def test_interpreter_exit(root: Path) -> None:
    assert run_program(EXITING, str(root)) == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_fork_while_others_work(root: Path) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            while not stop.is_set():
                JOBS[number % len(JOBS)](root, number)
                number += 1
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    codes = []
    for _ in range(4):
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(60)
                plain(root, 5)
                prefetched(root, 5)
                code = 0
            finally:
                os._exit(code)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stop.set()
    for thread in threads:
        thread.join(60)
    assert codes == [0] * 4
    assert failures == []
