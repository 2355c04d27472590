# SPDX-License-Identifier: Apache-2.0
"""How much index, order and state cost for 10**8 samples in one process.

    python benchmarks/scale.py [--samples 100000000] [NAME ...]

Each row runs in a process of its own, as one of a thousand. It shows the seconds of CPU time, of
all threads together, until the reader is open, until the first batch of a shuffled epoch is there,
and until the first batch after a state in the middle of epoch 50 was loaded into another loader;
the most memory that opening and the two batches took, on top of what the imports take, and without
pages of mapped files, which all processes share; and the bytes of the state. The last rows are what
torch's samplers take for the order alone: with them the rest of the epoch is known only when all of
it is. The last line is what the order of one batch out of a hundred times as many samples takes.
"""

from __future__ import annotations

import argparse
import json
import mmap
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch.utils.data
from million import peak_mb, write_tfrecord
from million import tfrecord as tfrecord_reader

import daliesque as ndd
from daliesque._readers.core.permutation import SampleStream

BATCH_SIZE = 256
PROCESSES = 1000
RECORD = 64
ROWS_OF_A_GROUP = 1_000_000
ROUNDS = 200


def mapped(path: Path, dtype: Any) -> Any:
    """A file as an array, for reading here and there: no more than is asked for."""
    with open(path, "rb") as file:
        memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    memory.madvise(mmap.MADV_RANDOM)
    return np.frombuffer(memory, dtype)


class Records(ndd.readers.Reader[Any]):
    """Records of one size in one file: where each of them is need not be stored."""

    def __init__(self, path: Path, **options: Any) -> None:
        self._path = path
        super().__init__(**options)

    def open_index(self) -> int:
        self._records = mapped(self._path, np.uint8).reshape(-1, RECORD)
        return len(self._records)

    def fetch(self, numbers: Any) -> ndd.readers.Fetched:
        return ndd.readers.Fetched.of([self._records[numbers]])


class Indexed(ndd.readers.Reader[Any]):
    """Records of any size; the index is a file of offsets that is mapped, not read."""

    def __init__(self, path: Path, index: Path, **options: Any) -> None:
        self._paths = path, index
        super().__init__(**options)

    def open_index(self) -> int:
        path, index = self._paths
        self._bytes, self._offsets = mapped(path, np.uint8), mapped(index, np.int64)
        return len(self._offsets) - 1

    def fetch_sample(self, number: int) -> Any:
        begin, end = self._offsets[number : number + 2]
        return self._bytes[begin:end].copy()


def write_records(root: Path, samples: int) -> None:
    """A file that is one hole."""
    with open(root / "records", "wb") as file:
        file.truncate(samples * RECORD)


def write_indexed(root: Path, samples: int) -> None:
    """The same with an index of offsets."""
    write_records(root, samples)
    with open(root / "offsets", "wb") as file:
        for begin in range(0, samples + 1, 1 << 20):
            offsets = np.arange(begin, min(samples + 1, begin + (1 << 20)), dtype=np.int64)
            file.write((offsets * RECORD).tobytes())


def write_parquet(root: Path, samples: int) -> None:
    """Row groups of a million rows each."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("number", pyarrow.int64())])
    with pyarrow.parquet.ParquetWriter(root / "data.parquet", schema, compression="zstd") as writer:
        for begin in range(0, samples, ROWS_OF_A_GROUP):
            rows = pyarrow.array(np.arange(begin, min(samples, begin + ROWS_OF_A_GROUP)))
            writer.write_table(pyarrow.table([rows], schema), ROWS_OF_A_GROUP)


def no_files(root: Path, samples: int) -> None:
    """The data set is computed."""


# What writes the files, and what opens them.
ROWS: dict[str, tuple[Callable[[Path, int], None], Callable[[Path, int], Any]]] = {
    "range as a data set": (no_files, lambda _, n: range(n)),
    "records of one size": (write_records, lambda root, _: Records(root / "records")),
    "records, mapped index": (
        write_indexed,
        lambda root, _: Indexed(root / "records", root / "offsets"),
    ),
    "Parquet": (
        write_parquet,
        lambda root, _: ndd.readers.Parquet(
            path=root / "data.parquet", columns=["number"], random_shuffle=True
        ),
    ),
    # Its index is text, and the records must be real: a tenth, 2 GB.
    "a tenth: TFRecord": (
        lambda root, n: write_tfrecord(root, n // 10),
        lambda root, _: tfrecord_reader(root, random_shuffle=True),
    ),
}


def own_mb() -> float:
    """The most memory that this process had so far, without the pages of files that it has now."""
    found = re.search(r"RssFile:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return peak_mb() - int(found[1]) * 1024 / 1e6


def make_loader(opened: Any) -> Any:
    """A loader for process 3 of 1000. Readers of archives say themselves how to shuffle."""
    archive = isinstance(opened, ndd.readers.Parquet | ndd.readers.TFRecord)
    shuffle = None if archive else True
    return ndd.pytorch.DataLoader(
        opened, batch_size=BATCH_SIZE, shuffle=shuffle, output="ndd", rank=3, world_size=PROCESSES
    )


def first_batch(loader: Any) -> None:
    """Wait for a batch."""
    batch = next(iter(loader))
    values = next(iter(batch.values())) if isinstance(batch, dict) else batch[0]
    assert np.asarray(values).nbytes > 0
    assert 0 < values.batch_size <= BATCH_SIZE


def run(name: str, root: Path, samples: int) -> None:
    """Print a line about one of the readers."""
    loaded = own_mb()
    start = time.process_time()
    opened = ROWS[name][1](root, samples)
    loader = make_loader(opened)
    samples = loader.num_samples
    times = [time.process_time() - start]
    start = time.process_time()
    first_batch(loader)
    times.append(time.process_time() - start)
    state = {**loader.state_dict(), "epoch": 50, "begin": 50 * samples, "taken": samples // 2}
    other = make_loader(opened)
    start = time.process_time()
    other.load_state_dict(state)
    first_batch(other)
    times.append(time.process_time() - start)
    show(name, times, own_mb() - loaded, len(json.dumps(state)))


def show(name: str, times: list[float], memory: float, state: int | None) -> None:
    cells = "".join(f"{seconds:12.3f}" for seconds in times)
    print(f"{name:24s}{cells}{memory:12.0f}{'' if state is None else state:>12}", flush=True)


def run_peer(name: str, samples: int) -> None:
    """Print a line about a sampler of torch."""
    loaded = own_mb()
    data: Any = range(samples)
    start = time.process_time()
    if name == "RandomSampler":
        sampler: Any = torch.utils.data.RandomSampler(data)
    else:
        sampler = torch.utils.data.DistributedSampler(data, PROCESSES, 3)
    times = [time.process_time() - start]
    start = time.process_time()
    indices = iter(sampler)
    for _ in range(BATCH_SIZE):
        next(indices)
    times.append(time.process_time() - start)
    # In the middle of an epoch: what was done is skipped.
    skipped = samples // 2 if name == "RandomSampler" else samples // 2 // PROCESSES
    start = time.process_time()
    indices = iter(sampler)
    for _ in range(skipped):
        next(indices)
    times.append(time.process_time() - start)
    show(name, times, own_mb() - loaded, None)


def show_order(samples: int) -> None:
    """Print how long it takes to say which samples a batch has, all over an epoch."""
    stream = SampleStream(samples, samples, seed=1)
    stream.between(0, BATCH_SIZE)
    start = time.process_time()
    for number in range(ROUNDS):
        begin = number * (samples // ROUNDS)
        stream.between(begin, begin + BATCH_SIZE)
    milliseconds = (time.process_time() - start) / ROUNDS * 1e3
    print(f"order of {BATCH_SIZE} out of {samples:.0e} samples: {milliseconds:.3f} ms")


PEERS = ("RandomSampler", "DistributedSampler")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[*ROWS, *PEERS])
    parser.add_argument("--samples", type=int, default=100_000_000)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.root:
        (name,) = options.names
        if name in PEERS:
            run_peer(name, options.samples)
        else:
            run(name, options.root, options.samples)
        return
    titles = ["open s", "batch s", "resumed s", "MB", "state bytes"]
    print(f"{'':24s}" + "".join(f"{title:>12s}" for title in titles), flush=True)
    statuses = []
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder:
            if name in ROWS:
                ROWS[name][0](Path(folder), options.samples)
            command = [sys.executable, __file__, name, "--samples", str(options.samples)]
            done = subprocess.run([*command, "--root", folder], check=False)
            statuses.append(done.returncode)
    show_order(100 * options.samples)
    sys.exit(any(statuses))


if __name__ == "__main__":
    main()
