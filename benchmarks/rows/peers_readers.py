# SPDX-License-Identifier: Apache-2.0
"""Rows of `benchmarks/peers.py`: epochs of readers, over data that the system holds in memory."""

from __future__ import annotations

import atexit
import functools
import tempfile
from pathlib import Path

import numpy as np

import daliesque as ndd

from .peer_row import Call, Row

BATCH = 256
TABLE_ROWS, ROW_BYTES = 30_000, 2048
SMALL_FILES, FILE_BYTES = 100_000, 200


def new_folder() -> Path:
    """A folder that vanishes with the process."""
    made = tempfile.TemporaryDirectory()
    atexit.register(made.cleanup)
    return Path(made.name)


@functools.cache
def table() -> Path:
    """A Parquet file of binary values and labels, as data sets of images are."""
    import pyarrow
    import pyarrow.parquet

    path = new_folder() / "data.parquet"
    data = np.random.default_rng(0).integers(0, 256, (TABLE_ROWS, ROW_BYTES), np.uint8)
    columns = {"image": [row.tobytes() for row in data], "label": np.arange(TABLE_ROWS)}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=1000)
    return path


def parquet(shuffled: bool) -> dict[str, Call]:
    """All rows of a file in batches; a peer that shuffles has to hold the whole table."""
    path = table()
    reader = ndd.readers.Parquet(path=path, random_shuffle=shuffled)

    def ours() -> None:
        for step in reader.next_epoch(batch_size=BATCH):
            for column in step.values():
                column.evaluate()

    def arrow() -> None:
        import pyarrow.parquet

        file = pyarrow.parquet.ParquetFile(path)
        for _ in file.iter_batches(BATCH, use_threads=False):
            pass

    def arrow_shuffled() -> None:
        import pyarrow.parquet

        whole = pyarrow.parquet.read_table(path, use_threads=False).combine_chunks()
        order = np.random.default_rng(1).permutation(len(whole))
        for begin in range(0, len(whole), BATCH):
            whole.take(order[begin : begin + BATCH])

    return {"daliesque": ours, "pyarrow": arrow_shuffled if shuffled else arrow}


@functools.cache
def small_files() -> Path:
    """A folder of files of some hundred bytes, in a hundred sub-folders."""
    root = new_folder()
    for number in range(SMALL_FILES):
        path = root / f"{number % 100:02d}" / f"{number:06d}.bin"
        if number < 100:
            path.parent.mkdir()
        path.write_bytes(number.to_bytes(4, "little") * (FILE_BYTES // 4))
    return root


def files() -> dict[str, Call]:
    root = small_files()
    reader = ndd.readers.File(file_root=root, file_filters="*.bin")
    paths = sorted(map(str, root.glob("*/*.bin")))

    def ours() -> None:
        for contents, labels in reader.next_epoch(batch_size=BATCH):
            contents.evaluate()
            labels.evaluate()

    def opened() -> None:
        for begin in range(0, len(paths), BATCH):
            contents = []
            for path in paths[begin : begin + BATCH]:
                with open(path, "rb") as file:
                    contents.append(np.frombuffer(file.read(), np.uint8))

    return {"daliesque": ours, "builtins": opened}


ROWS: dict[str, Row] = {
    "Parquet 30k x 2KB": Row(lambda: parquet(shuffled=False)),
    "Parquet 30k x 2KB shuffled": Row(lambda: parquet(shuffled=True), 2.0),
    "File 100k x 200B": Row(files, 2.0),
}
