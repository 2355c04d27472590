# SPDX-License-Identifier: Apache-2.0
"""`ray.Transform`: loop bodies on columns of any data set."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import ray.data
from PIL import Image

import daliesque as ndd
import daliesque.ray as ndr
from daliesque._ray.table import from_column, to_table
from support.ray_data import KilledOnce, decode, describe_worker, digest, jpeg, write_jpegs

pytestmark = pytest.mark.usefixtures("cluster")

COUNT = 24
OPTIONS: dict[str, Any] = {"batch_size": 8, "batch_format": "pyarrow", "num_cpus": 1}


def images(folder: Path, blocks: int = 2) -> Any:
    """A data set of encoded files, from a table."""
    path = folder / "images.parquet"
    if not path.exists():
        rows = {"bytes": [jpeg(n) for n in range(COUNT)], "label": np.arange(COUNT)}
        pq.write_table(pa.table(rows), path)
    return ray.data.read_parquet(str(path), override_num_blocks=blocks)


def contents(dataset: Any) -> collections.Counter[tuple[str, str]]:
    return collections.Counter(
        (str(row["label"]), digest(row["image"])) for row in dataset.take_all()
    )


def plain(jpegs: ndd.Batch, labels: ndd.Batch) -> Any:
    return {"image": ndd.resize(ndd.decoders.image(jpegs), size=[20, 20]), "label": labels}


def test_a_column_of_files(tmp_path: Path) -> None:
    made = images(tmp_path).map_batches(
        ndr.Transform(plain, jpegs="bytes", labels="label"), **OPTIONS
    )
    rows = {int(row["label"]): row["image"] for row in made.take_all()}
    assert sorted(rows) == list(range(COUNT))
    expected = ndd.resize(ndd.decoders.image([jpeg(n) for n in range(COUNT)]), size=[20, 20])
    for number, sample in enumerate(expected):
        np.testing.assert_array_equal(rows[number], np.asarray(sample))


def test_binary_files(tmp_path: Path) -> None:
    write_jpegs(tmp_path, 9)
    files = ray.data.read_binary_files(str(tmp_path), include_paths=True)
    transform = ndr.Transform(
        lambda jpegs: {"size": ndd.peek_image_shape(jpegs)}, jpegs="bytes", keep="path"
    )
    for row in files.map_batches(transform, **OPTIONS).take_all():
        with Image.open(row["path"]) as image:
            assert row["size"].tolist() == [image.height, image.width, 3]


def test_blocks_are_cut_for_the_body(tmp_path: Path) -> None:
    def counted(jpegs: ndd.Batch, labels: ndd.Batch) -> Any:
        made = decode(jpegs, labels)
        return {**made, "rows": [len(jpegs)] * len(jpegs)}

    def run(transform: Any, size: int | None) -> Any:
        options = {**OPTIONS, "batch_size": size}
        return images(tmp_path, blocks=1).map_batches(transform, **options)

    columns: dict[str, Any] = {"jpegs": "bytes", "labels": "label"}
    cut = run(ndr.Transform(counted, batch_size=7, **columns), None)
    assert [row["rows"] for row in cut.take_all()] == [7] * 21 + [3] * 3
    assert contents(cut) == contents(run(ndr.Transform(decode, **columns), 7))


def test_batches_of_a_block_may_lose_samples() -> None:
    contents = [jpeg(0), b"no image", b"no image", b"none", jpeg(4)]
    transform = ndr.Transform(
        lambda jpegs: {"image": ndd.decoders.image(jpegs)},
        batch_size=2,
        keep=["bytes"],
        on_error="skip",
        jpegs="bytes",
    )
    made = transform(pa.table({"bytes": contents}))
    assert [part["bytes"].to_pylist() for part in made] == [[jpeg(0)], [jpeg(4)]]


def test_random_numbers_follow_from_seed_epoch_and_contents(tmp_path: Path) -> None:
    def run(**options: Any) -> Any:
        transform = ndr.Transform(decode, jpegs="bytes", labels="label", **options)
        return contents(images(tmp_path).map_batches(transform, **OPTIONS))

    first = run(seed=1)
    assert run(seed=1) == first
    assert len({value for _, value in first}) == COUNT
    assert run(seed=2) != first
    assert run(seed=1, epoch=1) != first


def test_an_actor_pool_whose_process_is_killed(tmp_path: Path) -> None:
    expected = contents(
        images(tmp_path).map_batches(
            ndr.Transform(decode, jpegs="bytes", labels="label", seed=1), **OPTIONS
        )
    )
    flag = tmp_path / "killed"
    made = images(tmp_path).map_batches(
        ndr.Transform,
        fn_constructor_args=(KilledOnce(decode, str(flag), 11),),
        fn_constructor_kwargs={"jpegs": "bytes", "labels": "label", "seed": 1},
        compute=ray.data.ActorPoolStrategy(size=1),
        **OPTIONS,
    )
    assert contents(made) == expected
    assert flag.exists()


def test_a_task_whose_process_is_killed(tmp_path: Path) -> None:
    transform = ndr.Transform(decode, jpegs="bytes", labels="label", seed=1)
    expected = contents(images(tmp_path).map_batches(transform, **OPTIONS))
    flag = tmp_path / "killed"
    killed = ndr.Transform(KilledOnce(decode, str(flag), 20), jpegs="bytes", labels="label", seed=1)
    assert contents(images(tmp_path).map_batches(killed, **OPTIONS)) == expected
    assert flag.exists()


@pytest.mark.parametrize("num_cpus", [1, 2])
def test_threads(num_cpus: int) -> None:
    rows = ray.data.from_items([{"image": np.zeros((2, 2)), "label": n} for n in range(16)])
    transform = ndr.Transform(describe_worker, images="image", labels="label")
    made = rows.map_batches(transform, **{**OPTIONS, "num_cpus": num_cpus}).take_all()
    for name in ("threads", "native", "python", "cpus"):
        assert {row[name] for row in made} == {num_cpus}, name


def test_samples_that_are_refused(tmp_path: Path) -> None:
    rows = [{"bytes": jpeg(n) if n % 5 != 2 else b"no image", "label": n} for n in range(12)]
    errors = ndr.Errors()
    transform = ndr.Transform(
        plain, jpegs="bytes", labels="label", on_error="skip", errors=errors, keep=["label"]
    )
    with pytest.raises(ValueError, match="which is also to be kept"):
        transform(pa.table({"bytes": [jpeg(0)], "label": [0]}))
    transform = ndr.Transform(
        lambda jpegs: {"image": ndd.resize(ndd.decoders.image(jpegs), size=[5, 5])},
        jpegs="bytes",
        on_error="skip",
        errors=errors,
        keep=["label"],
    )
    made = ray.data.from_items(rows).map_batches(transform, **OPTIONS)
    assert sorted(row["label"] for row in made.take_all()) == [n for n in range(12) if n % 5 != 2]
    assert {fault.kind for fault in errors.list()} == {"DecodeError"}
    strict = ndr.Transform(plain, jpegs="bytes", labels="label")
    with pytest.raises(Exception, match="DecodeError"):
        ray.data.from_items(rows).map_batches(strict, **OPTIONS).take_all()
    assert tmp_path.exists()


def test_columns_are_not_copied() -> None:
    seen: dict[str, int] = {}

    def remember(jpegs: ndd.Batch, tensors: ndd.Batch) -> Any:
        seen["jpegs"] = jpegs._data().pointer(0)
        seen["tensors"] = tensors._data().pointer(0)
        made = ndd.cast(tensors, dtype=ndd.float64) + 1
        ragged = ndd.batch([np.ones((2, 3)), np.ones((5, 1))])
        seen["made"], seen["ragged"] = made._data().pointer(0), ragged._data().pointer(0)
        return {"made": made, "ragged": ragged}

    values = np.arange(20, dtype=np.float32).reshape(2, 10)
    table = to_table({"t": ndd.as_batch(values), "b": [b"first", b"second one"]}, "test")
    made = ndr.Transform(remember, jpegs="b", tensors="t")(table)
    assert seen["jpegs"] == table["b"].chunk(0).buffers()[2].address
    assert seen["tensors"] == values.ctypes.data
    for name in ("made", "ragged"):
        back = from_column(made[name], made.schema.field(name))
        assert back._data().pointer(0) == seen[name]
    assert (
        from_column(made["made"], made.schema.field("made")).numpy().tolist()
        == (values.astype(np.float64) + 1).tolist()
    )


def test_dicts_of_arrays_are_rows_as_well() -> None:
    transform = ndr.Transform(plain, jpegs="bytes", labels="label")
    objects = np.array([jpeg(0), jpeg(1)], object)
    made = transform({"bytes": objects, "label": np.array([5, 6])})
    assert made["label"].to_pylist() == [5, 6]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ndr.Transform(5, a="b"), TypeError, "'body' must be a function"),
        (lambda: ndr.Transform(plain), TypeError, "say which columns"),
        (lambda: ndr.Transform(plain, jpegs=3), TypeError, "'jpegs' must be the name of a column"),
        (lambda: ndr.Transform(plain, jpegs="b", on_error="x"), ValueError, "'on_error' must be"),
        (lambda: ndr.Transform(plain, jpegs="b", seed=-1), ValueError, "'seed' must be at least 0"),
        (lambda: ndr.Transform(plain, jpegs="b", batch_size=0), ValueError, "'batch_size' must be"),
        (
            lambda: ndr.Transform(plain, jpegs="x", labels="label")(pa.table({"label": [1]})),
            KeyError,
            r"no column 'x'\. There are: 'label'",
        ),
        (
            lambda: ndr.Transform(lambda a: len(a) + 4, a="a")(pa.table({"a": [1]})),
            TypeError,
            "must return a dict of batches, one for each column; got int 5",
        ),
        (
            lambda: ndr.Transform(lambda a: {"b": a.select([0])}, a="a")(pa.table({"a": [1, 2]})),
            ValueError,
            "a row for each of the 2 samples; 'transform' returned 1",
        ),
        (lambda: ndr.Transform(lambda a: a, a="a")([1]), TypeError, "batch_format='pyarrow'"),
    ],
)
def test_what_is_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
