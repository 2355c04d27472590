# SPDX-License-Identifier: Apache-2.0
"""`ray.read`: the rows of a loop in one process, whatever the number of tasks is."""

from __future__ import annotations

import collections
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import ray
import ray.data

import daliesque as ndd
import daliesque.ray as ndr
from support.ray_data import (
    SAMPLES,
    Broken,
    Numbered,
    augment,
    decode,
    describe_worker,
    digest,
    refuse_some,
    write_jpegs,
)

pytestmark = pytest.mark.usefixtures("cluster")


def rows_of(dataset: Any) -> list[dict[str, Any]]:
    """All rows of an epoch, with arrays."""
    rows: list[dict[str, Any]] = []
    for table in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        columns = {
            name: table[name].to_pylist()
            if pa.types.is_struct(table[name].type)
            else [np.asarray(sample) for sample in ndd.as_batch(table[name])]
            for name in table.column_names
        }
        rows += [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    return rows


def contents(rows: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Where each row came from, and what is in it."""
    return [
        (row["source"]["file"], *(digest(v) for k, v in row.items() if k != "source"))
        for row in rows
    ]


def in_one_process(
    reader: Any, body: Any, epoch: int = 0, batch_size: int = 8, **options: Any
) -> list[tuple[str, ...]]:
    """The same rows by a loop in this process, without Ray."""
    loader = ndd.pytorch.DataLoader(
        reader, _with_names(body), batch_size=batch_size, output="ndd", **options
    )
    loader.set_epoch(epoch)
    rows = []
    for names, made in loader:
        columns = [[np.asarray(sample) for sample in batch] for batch in made.values()]
        rows += [
            (name, *(digest(value) for value in values))
            for name, *values in zip(names, *columns, strict=True)
        ]
    return rows


def _with_names(body: Any) -> Any:
    return lambda *batches: (list(batches[0].source), body(*batches))


@pytest.mark.parametrize("shards", [1, 2, 3, 4, 5])
def test_any_number_of_tasks_makes_the_same_rows(shards: int, ordered: Any, tmp_path: Path) -> None:
    write_jpegs(tmp_path, 26)
    options = {"file_root": str(tmp_path)}
    expected = in_one_process(ndd.readers.File(**options), decode, shuffle=True, seed=5)
    dataset = ndr.read(
        ndd.readers.File,
        batch_size=8,
        transform=decode,
        seed=5,
        shuffle=True,
        shards=shards,
        num_cpus=1,
        **options,
    )
    assert dataset.count() == 26
    found = contents(rows_of(dataset))
    assert found == expected
    ordered.preserve_order = False
    second = in_one_process(ndd.readers.File(**options), decode, 1, shuffle=True, seed=5)
    assert second != expected
    assert collections.Counter(contents(rows_of(dataset))) == collections.Counter(second)


def test_rows_do_not_depend_on_the_batch_size() -> None:
    by_batch_size = [
        sorted(contents(rows_of(ndr.read(Numbered, batch_size=size, transform=augment, seed=3))))
        for size in (4, 7, 50)
    ]
    assert by_batch_size[0] == by_batch_size[1] == by_batch_size[2]
    assert len(set(by_batch_size[0])) == SAMPLES


def test_columns_and_schema() -> None:
    dataset = ndr.read(Numbered, batch_size=8, transform=augment, num_cpus=1)
    assert dataset.schema().names == ["image", "label", "noise", "source"]
    assert "shape=(4, 4, 3), dtype=uint8" in str(dataset.schema())
    row = dataset.take(1)[0]
    assert row["image"].shape == (4, 4, 3)
    assert row["source"] == {"file": "sample 0", "row": 0, "epoch": row["source"]["epoch"]}
    plain = ndr.read(Numbered, batch_size=8, num_cpus=1, source=None)
    assert plain.schema().names == ["data", "label"]
    assert [row["label"] for row in plain.take(3)] == [0, 1, 2]
    other = ndr.read(Numbered(7), batch_size=8, num_cpus=1, source="origin")
    assert other.schema().names == ["data", "label", "origin"]


def test_each_execution_is_an_epoch() -> None:
    dataset = ndr.read(Numbered, batch_size=8, shuffle=True, seed=2, num_cpus=1, epoch=4)
    orders = []
    for expected in (4, 5, 6):
        rows = rows_of(dataset)
        assert {row["source"]["epoch"] for row in rows} == {expected}
        assert sorted(row["source"]["row"] for row in rows) == list(range(SAMPLES))
        by_row = sorted(rows, key=lambda row: row["source"]["row"])
        orders.append([int(row["label"]) for row in by_row])
    assert all(sorted(order) == list(range(SAMPLES)) for order in orders)
    assert orders[0] != orders[1] != orders[2]
    again = ndr.read(Numbered, batch_size=16, shuffle=True, seed=2, num_cpus=2, epoch=5)
    rows = sorted(rows_of(again), key=lambda row: row["source"]["row"])
    assert [int(row["label"]) for row in rows] == orders[1]


@pytest.mark.parametrize("num_cpus", [1, 2])
def test_a_worker_has_as_many_threads_as_cpus(num_cpus: int) -> None:
    dataset = ndr.read(
        Numbered, batch_size=16, transform=describe_worker, num_cpus=num_cpus, source=None
    )
    table = pa.concat_tables(dataset.iter_batches(batch_size=None, batch_format="pyarrow"))
    for name in ("threads", "native", "python", "cpus"):
        assert set(table[name].to_pylist()) == {num_cpus}, name
    assert set(table["cache"].to_pylist()) == {0}
    limits = set(table["limit"].to_pylist())
    assert max(limits) <= ndd.memory().total_limit_bytes * num_cpus


def test_blocks_consist_of_whole_batches() -> None:
    def large(images: ndd.Batch, labels: ndd.Batch) -> Any:
        return {"image": ndd.resize(images, size=[256, 256]), "label": labels}

    dataset = ndr.read(Numbered, samples=64, batch_size=8, transform=large, num_cpus=1, shards=2)
    batch_bytes = 8 * 256 * 256 * 3
    assert dataset.context.target_max_block_size >= 2 * batch_bytes
    # As if batches were large: a block is complete with the second one.
    dataset.context.target_max_block_size = batch_bytes + batch_bytes // 2
    sizes = [
        block.num_rows for block in dataset.iter_batches(batch_size=None, batch_format="pyarrow")
    ]
    assert sum(sizes) == 64
    assert len(sizes) == 4
    assert all(size % 8 == 0 for size in sizes)


def test_batches_of_any_kind_go_through() -> None:
    def kinds(images: ndd.Batch, labels: ndd.Batch) -> Any:
        flags = labels < 3
        return {
            "ragged": ndd.resize(images, resize_x=labels % 3 + 1, resize_y=2),
            "encoded": ndd.cast(ndd.stack(labels, labels), dtype=ndd.uint8),
            "flag": flags,
            "flags": ndd.stack(flags, flags),
            "half": ndd.cast(labels, dtype=ndd.float16),
            "brain": ndd.cast(ndd.stack(labels, labels), dtype=ndd.bfloat16),
            "text": [f"sample {label}" for label in labels.tolist()],
            "array": np.stack([np.asarray(label) for label in labels]),
        }

    dataset = ndr.read(Numbered, samples=10, batch_size=4, transform=kinds, num_cpus=1, shards=1)
    found: dict[str, list[Any]] = collections.defaultdict(list)
    for batch in ndr.iter_torch(dataset, batch_size=5):
        for name, value in batch.items():
            found[name] += list(value)
    assert [tuple(image.shape) for image in found["ragged"]] == [
        (2, number % 3 + 1, 3) for number in range(10)
    ]
    assert all((image == number).all() for number, image in enumerate(found["ragged"]))
    assert [value.tolist() for value in found["encoded"]] == [[n, n] for n in range(10)]
    assert [bool(value) for value in found["flag"]] == [n < 3 for n in range(10)]
    assert [value.tolist() for value in found["flags"]] == [[n < 3] * 2 for n in range(10)]
    assert [float(value) for value in found["half"]] == list(range(10))
    assert str(found["brain"][0].dtype) == "torch.bfloat16"
    assert [value.tolist() for value in found["brain"]] == [[n, n] for n in range(10)]
    assert found["text"] == [f"sample {number}" for number in range(10)]
    assert [int(value) for value in found["array"]] == list(range(10))


@pytest.mark.parametrize("splits", [1, 2, 3])
@pytest.mark.parametrize("last_batch", ["partial", "pad", "drop"])
def test_the_last_batches(splits: int, last_batch: Any) -> None:
    dataset = ndr.read(
        Numbered, batch_size=4, num_cpus=1, shards=2, splits=splits, last_batch=last_batch
    )
    rows = rows_of(dataset)
    step = 4 * splits
    expected = {
        "partial": SAMPLES,
        "pad": -(-SAMPLES // step) * step,
        "drop": SAMPLES // step * step,
    }[last_batch]
    assert len(rows) == expected == dataset.count()
    counted = [row for row in rows if row.get("valid", True)]
    indices = [row["source"]["row"] for row in counted]
    assert sorted(indices) == list(range(min(expected, SAMPLES)))
    assert [int(row["label"]) for row in counted] == indices
    if last_batch == "pad":
        assert all(row["source"]["row"] == -1 for row in rows if not row["valid"])


@pytest.mark.parametrize("shards", [1, 3])
def test_samples_that_cannot_be_read_are_left_out(shards: int) -> None:
    errors = ndr.Errors()
    dataset = ndr.read(
        Broken,
        batch_size=4,
        transform=augment,
        seed=1,
        num_cpus=1,
        shards=shards,
        errors=errors,
        on_error="skip",
    )
    rows = rows_of(dataset)
    good = [number for number in range(SAMPLES) if number % 10 != 7]
    assert sorted(int(row["label"]) for row in rows) == good
    assert sorted(row["source"]["row"] for row in rows) == good
    # Random numbers of a sample do not depend on whether others can be read.
    whole = {
        int(row["label"]): row
        for row in rows_of(ndr.read(Numbered, batch_size=4, transform=augment, seed=1, num_cpus=1))
    }
    some = [row for row in rows if row["source"]["row"] % 4 == 0]
    assert all(digest(row["image"]) == digest(whole[int(row["label"])]["image"]) for row in some)
    rows_of(dataset)
    assert [fault.source for fault in errors.list()] == [f"sample {n}" for n in (17, 27, 37, 7)]
    assert errors.list()[0].kind == "OSError"
    assert "no sample 17 today" in errors.list()[0].message
    assert len(errors) == 4
    with pytest.raises(OSError, match="no sample 7 today"):
        ndr.read(Broken, batch_size=64, num_cpus=1)


def test_samples_that_the_body_refuses_are_left_out() -> None:
    errors = ndr.Errors()
    dataset = ndr.read(
        Numbered,
        batch_size=8,
        transform=refuse_some,
        num_cpus=1,
        shards=2,
        errors=errors,
        on_error="skip",
    )
    labels = sorted(int(row["label"]) for row in rows_of(dataset))
    assert labels == [number for number in range(SAMPLES) if number % 10 != 3]
    assert [fault.source for fault in errors.list()] == [f"sample {n}" for n in (13, 23, 3, 33)]
    assert "no threes" in errors.list()[0].message


def test_damaged_files_are_left_out(tmp_path: Path) -> None:
    write_jpegs(tmp_path, 12)
    bad = tmp_path / "class1" / "004.jpg"
    bad.write_bytes(bad.read_bytes()[:200])
    errors = ndr.Errors()
    dataset = ndr.read(
        ndd.readers.File,
        file_root=str(tmp_path),
        batch_size=5,
        transform=decode,
        num_cpus=2,
        errors=errors,
        on_error="skip",
    )
    files = sorted(Path(row["source"]["file"]).name for row in rows_of(dataset))
    assert files == [f"{n:03}.jpg" for n in range(12) if n != 4]
    assert [Path(fault.source).name for fault in errors.list()] == ["004.jpg"]


def test_a_split_loses_nothing() -> None:
    dataset = ndr.read(
        Numbered, batch_size=4, num_cpus=1, shards=3, splits=2, last_batch="pad", shuffle=True
    )

    @ray.remote(num_cpus=0)
    def consume(iterator: Any) -> list[list[int]]:
        steps = []
        for batch in iterator.iter_batches(batch_size=4, batch_format="pyarrow"):
            valid = batch["valid"].to_pylist()
            steps.append([n for n, ok in zip(batch["label"].to_pylist(), valid, strict=True) if ok])
        return steps

    for _ in range(2):
        parts = dataset.streaming_split(2, equal=True)
        first, second = ray.get([consume.remote(part) for part in parts])
        assert len(first) == len(second) == 6
        assert sorted(itertools.chain(*first, *second)) == list(range(SAMPLES))
