# SPDX-License-Identifier: Apache-2.0
"""Readers under load, on storage that fails: `python tests/support/stress_load.py`.

Four processes with eight threads each, every thread with a context of its own, read their shards of
three data sets, once each:

- local TFRecord files, which are replaced, damaged and cut short while they are read;
- the same on a file system that raises errors, is slow and delivers less than was asked for;
- files of a web server that stalls, cuts answers short and resets connections.

Then every sample is accounted for: it was delivered once, with the right contents, or it is in
`reader.errors`, once.
"""

from __future__ import annotations

import argparse
import errno
import functools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import fsspec
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import daliesque as ndd
from daliesque._readers.sources import storage
from daliesque.index import tfrecord2idx
from support.flaky_server import serve
from support.record_files import example, write_tfrecord

PROCESSES, THREADS, BATCH_SIZE = 4, 8, 256
FILES = 20
# Numbers from here on take as many bytes.
BASE = 1 << 29
# Samples of the web server are whole files, and each costs a request.
WEB_SHARE = 500
INTEGER = {"x": ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, 0)}


class FlakyFileSystem(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Local files, on a system that is often in a bad mood; some pieces are never delivered."""

    protocol = "flaky"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.rng = random.Random(os.getpid())

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        path = "/" + self._strip_protocol(path).lstrip("/")
        return {"name": path, "size": os.path.getsize(path), "type": "file"}

    def cat_file(self, path: str, start: Any = None, end: Any = None, **_: Any) -> bytes:
        path = "/" + self._strip_protocol(path).lstrip("/")
        mood = self.rng.random()
        if mood < 0.02:
            raise OSError(errno.EIO, "the disk is in a bad mood")
        if mood < 0.03:
            time.sleep(0.01)
        with open(path, "rb") as file:
            file.seek(start or 0)
            content = file.read() if end is None else file.read(end - (start or 0))
        if path.endswith("7.tfrecord") and start and start < 4096:
            raise PermissionError(errno.EACCES, "never", path)
        return content[: len(content) // 2] if 0.03 < mood < 0.05 else content


def write_records(folder: Path, samples: int) -> None:
    """Files of records with the numbers 0, 1, 2, ..., all of the same size, and indices."""
    folder.mkdir()
    for k, numbers in enumerate(np.array_split(np.arange(samples), FILES)):
        records = [example({"x": [BASE + int(number)]}) for number in numbers]
        tfrecord2idx(write_tfrecord(folder / f"{k}.tfrecord", records))


def reader_of(data: str, root: Path, shard: int) -> ndd.readers.Reader:
    options: dict[str, Any] = {
        "on_error": "skip",
        "shard_id": shard,
        "num_shards": PROCESSES * THREADS,
        "stick_to_shard": True,
        "random_shuffle": True,
    }
    if data == "web":
        url = (root / "url").read_text()
        names = [f"{url}/{path.name}" for path in sorted((root / "web").iterdir())]
        return ndd.readers.File(files=names, **options)
    paths = [root / data / f"{k}.tfrecord" for k in range(FILES)]
    names = [f"flaky://{path}" for path in paths] if data == "flaky" else list(map(str, paths))
    indices = [path.with_suffix(".idx") for path in paths]
    return ndd.readers.TFRecord(path=names, index_path=indices, features=INTEGER, **options)


def read_shard(data: str, root: Path, shard: int) -> dict[str, list[str]]:
    """The sources of the samples that were delivered, and of those that were not."""
    delivered: list[str] = []
    reader = reader_of(data, root, shard)
    for step in reader.next_epoch(batch_size=BATCH_SIZE, last_batch="partial"):
        batch = step["x"] if isinstance(step, dict) else step[0]
        valid = len(batch) if batch.valid is None else batch.valid
        sources = list(batch.source)[:valid]
        if data == "web":
            numbers = [int(bytes(np.asarray(sample)[:20])) for sample in batch][:valid]
        else:
            shifted = ndd.cast(batch - BASE, dtype=ndd.int32) + 1
            numbers = [int(np.asarray(sample)[0]) - 1 for sample in shifted][:valid]
        for source, number in zip(sources, numbers, strict=True):
            delivered.append(f"{source}|{number}")
    failed = [error.source for error in reader.errors]
    return {"delivered": delivered, "failed": failed}


def work(root: Path, process: int) -> None:
    """One of the processes: eight threads, each with a context of its own."""
    fsspec.register_implementation("flaky", FlakyFileSystem)
    storage._SILENCE = 1.0  # type: ignore[attr-defined]
    problems: list[BaseException] = []

    def run(thread: int) -> None:
        shard = process * THREADS + thread
        try:
            with ndd.EvalContext(num_threads=2):
                for data in ("local", "flaky", "web"):
                    found = read_shard(data, root, shard)
                    (root / f"{data}-{shard}.json").write_text(json.dumps(found))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def agitate(folder: Path, stop: threading.Event, counts: dict[str, int]) -> None:
    """Replace, damage and cut files short, and repair them, until it is enough."""
    rng = random.Random(1)
    paths = sorted(folder.glob("*.tfrecord"))
    contents = {path: path.read_bytes() for path in paths}

    def put(path: Path, content: bytes) -> None:
        beside = path.with_suffix(".new")
        beside.write_bytes(content)
        os.replace(beside, path)

    while not stop.wait(0.02):
        path = rng.choice(paths)
        good = contents[path]
        way = rng.choice(("replace", "damage", "truncate"))
        counts[way] = counts.get(way, 0) + 1
        if way == "replace":
            put(path, good)
        elif way == "damage":
            begin = rng.randrange(len(good))
            put(path, good[:begin] + b"\xff" * 100 + good[begin + 100 :])
        else:
            os.truncate(path, rng.randrange(len(good)))
        if way != "replace":
            stop.wait(0.01)
            put(path, good)


def account(root: Path, data: str, expected: int) -> tuple[int, int]:
    """Check that each sample was delivered once or failed once; how many did what."""
    seen: dict[str, str] = {}
    counts = {"delivered": 0, "failed": 0}
    for shard in range(PROCESSES * THREADS):
        found = json.loads((root / f"{data}-{shard}.json").read_text())
        for kind in counts:
            for entry in found[kind]:
                source, _, number = entry.partition("|")
                assert source not in seen, f"{source}: {seen[source]}, and {kind}"
                seen[source] = kind
                counts[kind] += 1
                if number:
                    assert int(number) == number_of(root, data, source, expected), entry
    assert len(seen) == expected, f"{data}: {len(seen)} of {expected} samples"
    return counts["delivered"], counts["failed"]


def number_of(root: Path, data: str, source: str, samples: int) -> int:
    """Which number the sample must hold."""
    if data == "web":
        return int(Path(source).stem)
    path, _, offset = source.removeprefix("flaky://").rpartition(" at index ")
    first, size = first_and_size(root / data / os.path.basename(path), samples)
    return first + int(offset) // size


@functools.cache
def first_and_size(path: Path, samples: int) -> tuple[int, int]:
    """The first number in a file, and the bytes of each record."""
    part = np.array_split(np.arange(samples), FILES)[int(path.stem)]
    return int(part[0]), path.stat().st_size // len(part)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--worker", type=int, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.folder, options.worker)
        return
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        web = max(64, options.samples // WEB_SHARE)
        flaky = (options.samples - web) // 4
        sizes = {"local": options.samples - web - flaky, "flaky": flaky, "web": web}
        for data in ("local", "flaky"):
            write_records(root / data, sizes[data])
        (root / "web").mkdir()
        for number in range(web):
            (root / "web" / f"{number:06d}.data").write_bytes(b"%020d" % number + bytes(200))
        run_all(root, sizes)


def run_all(root: Path, sizes: dict[str, int]) -> None:
    begin, stop, counts = time.perf_counter(), threading.Event(), dict[str, int]()
    agitator = threading.Thread(target=agitate, args=(root / "local", stop, counts))
    with serve(root / "web", break_every=7, faults=("cut", "reset", "stall", "error")) as server:
        (root / "url").write_text(server.url)
        agitator.start()
        command = [sys.executable, __file__, "--folder", str(root), "--worker"]
        workers = [subprocess.Popen([*command, str(k)]) for k in range(PROCESSES)]
        codes = [worker.wait() for worker in workers]
        broken = server.broken
    stop.set()
    agitator.join()
    assert codes == [0] * PROCESSES, codes
    lines = []
    for data, size in sizes.items():
        delivered, failed = account(root, data, size)
        lines.append(
            f"{data}: {size} samples, {delivered} delivered once, {failed} in reader.errors"
        )
    lines.append(f"changes of local files: {counts}; broken answers of the web server: {broken}")
    lines.append(f"{sum(sizes.values())} samples in {time.perf_counter() - begin:.0f} s")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
