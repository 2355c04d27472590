# SPDX-License-Identifier: Apache-2.0
"""Readers of records and archives against the reference library itself."""

from __future__ import annotations

import io
import random
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque.index import tfrecord2idx, wds2idx
from support.oracle import reference
from support.record_files import (
    RECORDIO_MAGIC,
    Feature,
    datum,
    example,
    image_record,
    tensor_proto,
    tensor_protos,
    write_lmdb,
    write_recordio,
    write_tfrecord,
)

dali_types = pytest.importorskip("nvidia.dali.types")
dali_tfrecord = pytest.importorskip("nvidia.dali.tfrecord")
pytestmark = pytest.mark.oracle

Make = Callable[..., Any]


def value(tensor: Any) -> Any:
    """Type, layout, shape and contents of one sample."""
    array = np.asarray(tensor.evaluate())
    return str(array.dtype), tensor.layout, array.shape, array.tobytes()


def sources(library: Any, output: Any) -> Any:
    """Where the samples of an output come from."""
    if library is ndd:
        return output.source
    codes = reference.get_property(output, key="source_info")
    if isinstance(codes, reference.Tensor):
        return bytes(np.asarray(codes.evaluate())).decode()
    return [bytes(np.asarray(code.evaluate())).decode() for code in codes.tensors]


def epochs(
    library: Any, reader: Any, count: int, batch_size: int | None, sourced: int | None
) -> Any:
    """All values of some epochs, and the source of output number `sourced` if there is one."""
    result: list[Any] = []
    for _ in range(count):
        for outputs in reader.next_epoch(batch_size=batch_size):
            names = list(outputs) if isinstance(outputs, dict) else []
            values = list(outputs.values()) if names else list(outputs)
            tensors = [out.tensors if batch_size else [out] for out in values]
            contents = [[value(tensor) for tensor in column] for column in tensors]
            source = None if sourced is None else sources(library, values[sourced])
            result.append((names, contents, source))
        result.append("end of epoch")
    return result


def assert_equal(
    make: Make,
    batch_size: int | None = 3,
    count: int = 2,
    sourced: int | None = 0,
    **arguments: Any,
) -> None:
    """`make(library, **arguments)` gives readers that deliver the same."""
    ours, theirs = make(ndd, **arguments), make(reference, **arguments)
    found = epochs(ndd, ours, count, batch_size, sourced)
    assert found == epochs(reference, theirs, count, batch_size, sourced), (batch_size, arguments)
    assert ours.get_metadata() == theirs.get_metadata()


def assert_equal_orders(make: Make, seed: int, rounds: int = 40, files: bool = True) -> None:
    """Order, shuffling, shards, padding, epoch sizes and wrap-around."""
    rng = random.Random(seed)
    for _ in range(rounds):
        shards = rng.randint(1, 4)
        arguments: dict[str, Any] = {
            "num_shards": shards,
            "shard_id": rng.randrange(shards),
            "pad_last_batch": rng.random() < 0.5,
            "enable_checkpointing": rng.random() < 0.3,
            "random_shuffle": rng.random() < 0.5,
            "initial_fill": rng.choice([1, 4, 100]),
            "seed": rng.choice([-1, 5]),
            "dont_use_mmap": rng.random() < 0.5,
        }
        if files and rng.random() < 0.5:
            arguments["shuffle_after_epoch"] = True
            if rng.random() < 0.5:
                arguments["shuffle_after_epoch_seed"] = 77
        else:
            arguments["stick_to_shard"] = rng.random() < 0.5
        assert_equal(make, rng.choice([None, 1, 3, 8]), rng.randint(1, 4), **arguments)


def random_features(rng: random.Random) -> dict[str, Feature]:
    count = rng.randint(0, 5)
    return {
        "image": [rng.randbytes(rng.choice([0, 3, 200, 5000]))],
        "label": [rng.randint(-(2**63), 2**63 - 1)],
        "box": [rng.random() for _ in range(4)],
        "boxes": [rng.random() for _ in range(4 * count)],
        "tokens": [rng.randint(0, 2 ** rng.randint(1, 40)) for _ in range(rng.randint(1, 60))],
        "unused": [b"unused"],
    }


def describe(kinds: Any) -> dict[str, Any]:
    return {
        "label": kinds.FixedLenFeature([1], kinds.int64, -1),
        "image": kinds.FixedLenFeature((), kinds.string, ""),
        "box": kinds.FixedLenFeature([2, 2], kinds.float32, 0.0),
        "boxes": kinds.VarLenFeature([4], kinds.float32, 0.0),
        "tokens": kinds.VarLenFeature(kinds.int64, 0),
    }


def make_tfrecords(folder: Path) -> Make:
    rng = random.Random(1)
    paths, indices = [], []
    for file, length in enumerate([3, 1, 7, 0, 4]):
        paths.append(str(folder / f"{file}.tfrecord"))
        indices.append(str(folder / f"{file}.idx"))
        packed = file % 2 == 0
        contents = [example(random_features(rng), packed) for _ in range(length)]
        write_tfrecord(Path(paths[-1]), contents, Path(indices[-1]))

    def make(library: Any, **arguments: Any) -> Any:
        features = describe(ndd.tfrecord if library is ndd else dali_tfrecord)
        return library.readers.TFRecord(
            path=paths, index_path=indices, features=features, **arguments
        )

    return make


def test_tfrecord(tmp_path: Path) -> None:
    make = make_tfrecords(tmp_path)
    assert_equal(make, None)
    assert_equal(make, 4, use_o_direct=True, dont_use_mmap=True)
    assert_equal(make, 4, read_ahead=True, lazy_init=True, prefetch_queue_depth=3)


def test_order_of_tfrecords(tmp_path: Path) -> None:
    assert_equal_orders(make_tfrecords(tmp_path), 2)


def reference_tool(name: str, *arguments: str) -> None:
    """Run a script that comes with the reference."""
    script = Path(reference.__file__).parents[4] / f"{name}.py"
    if not script.exists():
        pytest.skip(f"{name} is not installed")
    subprocess.run([sys.executable, str(script), *arguments], check=True, capture_output=True)


def make_archives(folder: Path, form: int = tarfile.GNU_FORMAT, index: str = "") -> Make:
    """Archives of samples with some of three components; with `index`, the tool that makes one."""
    rng = random.Random(4)
    paths, indices, number = [], [], 0
    for file, length in enumerate([3, 1, 7, 4]):
        paths.append(str(folder / f"{file}.tar"))
        indices.append(str(folder / f"{file}.idx"))
        with tarfile.open(paths[-1], "w", format=form) as archive:
            for _ in range(length):
                stem = f"folder/{'long/' * rng.choice([0, 9, 27])}{number}"
                for extension in rng.sample(["jpg", "PNG", "seg.cls", "txt"], rng.randint(1, 4)):
                    entry = tarfile.TarInfo(f"{stem}.{extension}")
                    entry.size = 4 * rng.choice([0, 1, 100, 2000])
                    archive.addfile(entry, io.BytesIO(rng.randbytes(entry.size)))
                number += 1
        if index == "theirs":
            reference_tool("wds2idx", paths[-1], indices[-1])
        elif index == "ours":
            wds2idx(paths[-1], indices[-1])

    def make(library: Any, **arguments: Any) -> Any:
        if index:
            arguments["index_paths"] = indices
        return library.readers.Webdataset(
            **{"paths": paths, "ext": ["jpg", "seg.cls"], **arguments}
        )

    return make


@pytest.mark.filterwarnings("ignore:.*several components")
@pytest.mark.parametrize("index", ["", "theirs", "ours"])
@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT])
def test_webdataset(tmp_path: Path, form: int, index: str) -> None:
    make = make_archives(tmp_path, form, index)
    for arguments in (
        {},
        {"missing_component_behavior": "skip"},
        {"ext": ["jpg;png", "txt", "seg.cls"], "case_sensitive_extensions": False},
        {"ext": ["jpg;PNG", "seg.cls"], "missing_component_behavior": "skip"},
        {"ext": "txt"},
    ):
        for sourced in range(1 if arguments.get("ext") == "txt" else 2):
            assert_equal(make, None, sourced=sourced, **arguments)
            assert_equal(make, 4, sourced=sourced, dont_use_mmap=True, **arguments)


def test_webdataset_types(tmp_path: Path) -> None:
    make = make_archives(tmp_path)

    def make_typed(library: Any, **arguments: Any) -> Any:
        module = ndd.types if library is ndd else dali_types
        kinds = [module.FLOAT, module.INT16]
        return make(library, dtypes=kinds, **arguments)

    assert_equal(make_typed, 5)


def test_order_of_archives(tmp_path: Path) -> None:
    assert_equal_orders(make_archives(tmp_path), 3)


def test_index_of_tfrecords(tmp_path: Path) -> None:
    make_tfrecords(tmp_path)
    for file in (0, 2):
        path = tmp_path / f"{file}.tfrecord"
        assert tfrecord2idx(path, tmp_path / "ours").read_bytes() == (
            path.with_suffix(".idx").read_bytes()
        )


def make_recordio(folder: Path) -> Make:
    rng = random.Random(6)
    records = []
    for length in (3, 1, 7, 4):
        images = [rng.randbytes(rng.choice([0, 5, 8, 3000])) for _ in range(length)]
        images[0] += RECORDIO_MAGIC + rng.randbytes(rng.randint(0, 9))
        records.append(
            [image_record(image, [rng.random()] * rng.choice([1, 2, 9])) for image in images]
        )
    paths = [folder / f"{file}.rec" for file in range(len(records))]
    write_recordio(paths, records, folder / "all.idx")

    def make(library: Any, **arguments: Any) -> Any:
        files = {"path": [str(path) for path in paths], "index_path": [str(folder / "all.idx")]}
        return library.readers.MXNet(**files, **arguments)

    return make


def test_mxnet(tmp_path: Path) -> None:
    make = make_recordio(tmp_path)
    assert_equal(make, None)
    assert_equal(make, 4, read_ahead=True, lazy_init=True)


def test_order_of_recordio(tmp_path: Path) -> None:
    assert_equal_orders(make_recordio(tmp_path), 5)


def make_databases(folder: Path, reader: str, records: list[bytes], **fixed: Any) -> Make:
    paths = []
    for number, (begin, end) in enumerate(((0, 3), (3, 4), (4, len(records)))):
        path = write_lmdb(folder / f"{reader}{number}", records[begin:end], begin)
        paths.append(str(path))

    def make(library: Any, **arguments: Any) -> Any:
        return getattr(library.readers, reader)(path=paths, **fixed, **arguments)

    return make


def test_caffe(tmp_path: Path) -> None:
    rng = random.Random(7)
    records = [
        datum(rng.randbytes(rng.choice([0, 10, 1000, 20000])), rng.randint(-9, 9), encoded)
        for encoded in [True, None] * 6
    ]
    records[5] = datum(b"without a label")
    make = make_databases(tmp_path, "Caffe", records)
    assert_equal(make, None)
    assert_equal(make, 4, label_available=False)
    # The reference names sources only for images.
    assert_equal(make, 4, sourced=None, image_available=False)
    assert_equal_orders(make, 8, rounds=25, files=False)
    pixels = [datum(bytes(range(6 * k)), k, False, (3, k, 2)) for k in range(1, 9)]
    assert_equal(make_databases(tmp_path / "pixels", "Caffe", pixels), 4)


def test_caffe2(tmp_path: Path) -> None:
    rng = random.Random(9)
    label = lambda k: tensor_proto([k])  # noqa: E731
    variants: list[tuple[dict[str, Any], Callable[[int], list[bytes]]]] = [
        ({}, lambda k: [label(k)]),
        ({}, lambda k: [tensor_proto([k / 2])]),
        ({"image_available": False}, lambda k: [label(k)]),
        ({"label_type": 4}, lambda _: []),
        ({"label_type": 2}, lambda k: [tensor_proto([0.5] * (k + 1))]),
        (
            {"additional_inputs": 2},
            lambda k: [label(k), tensor_proto([1.5] * 3), tensor_proto([k, -k], long=True)],
        ),
        (
            {"additional_inputs": 1, "bbox": True},
            lambda k: [label(k), tensor_proto([k]), tensor_proto([1, 2, 3, k])],
        ),
    ]
    for number, (arguments, tensors) in enumerate(variants):
        for kind in ("text", "pixels"):
            records = []
            for k in range(1, 8):
                image = tensor_proto([rng.randbytes(30 * k)])
                if kind == "pixels":
                    image = tensor_proto(rng.randbytes(6 * k), (k, 2, 3) if k % 2 else (3 * k, 2))
                images = [image] if arguments.get("image_available", True) else []
                records.append(tensor_protos(*images, *tensors(k)))
            make = make_databases(tmp_path / f"{number}{kind}", "Caffe2", records, **arguments)
            sourced = 0 if arguments.get("image_available", True) else None
            assert_equal(make, None, sourced=sourced)
            assert_equal(make, 4, sourced=sourced, num_shards=2, shard_id=1)
