# SPDX-License-Identifier: Apache-2.0
"""Lists, manifests, annotations and tables name files below their folder, and no others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import daliesque as ndd
from daliesque._readers.sources.storage import is_below
from support.audio_makers import pcm, signal, wav
from support.fits_data import write_raw
from support.video_makers import numbered

Make = Callable[..., ndd.readers.Reader]


def contents(kind: str) -> bytes:
    """A file that the reader can read."""
    if kind == "NemoAsr":
        data, bits, _ = pcm(signal(400, 1, seed=1), "i16")
        return wav(data, bits, 1, 8000)
    return numbered(5, "mjpeg-avi") if kind == "Video" else b"contents"


def write(kind: str, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    if kind == "Numpy":
        with path.open("wb") as file:
            np.save(file, np.arange(3))
    elif kind == "Fits":
        write_raw(path, 16, np.zeros((9, 9)), {})
    elif kind == "HuggingFace":
        table = pa.table({"x": [1]})
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table)
    else:
        path.write_bytes(contents(kind))


def listed(kind: Callable[..., Any], suffix: str = "", **arguments: Any) -> Callable[..., Make]:
    def make(root: Path, names: list[str]) -> Make:
        path = root / "list.txt"
        path.write_text("".join(f"{name}{suffix}\n" for name in names))
        return lambda **options: kind(file_list=path, **arguments, **options)

    return make


def coco(root: Path, names: list[str]) -> Make:
    images = [{"id": k, "file_name": name, "width": 9, "height": 9} for k, name in enumerate(names)]
    boxes = [{"image_id": k, "category_id": 1, "bbox": [1, 1, 3, 3]} for k in range(len(names))]
    annotations = root / "boxes.json"
    lists = {"images": images, "annotations": boxes, "categories": [{"id": 1}]}
    annotations.write_text(json.dumps(lists))
    return lambda **options: ndd.readers.COCO(
        file_root=root, annotations_file=annotations, **options
    )


def nemo(root: Path, names: list[str]) -> Make:
    manifest = root / "manifest.json"
    # Relative to the working directory.
    entries = [json.dumps({"audio_filepath": os.path.join(root, name)}) for name in names]
    manifest.write_text("\n".join(entries))
    return lambda **options: ndd.readers.NemoAsr(manifest_filepaths=manifest, **options)


def parquet(root: Path, names: list[str]) -> Make:
    path = root / "table.parquet"
    pq.write_table(pa.table({"x": [{"bytes": None, "path": name} for name in names]}), path)
    return lambda **options: ndd.readers.Parquet(path=path, **options)


def huggingface(root: Path, names: list[str]) -> Make:
    files = [{"filename": name} for name in names]
    (root / "state.json").write_text(json.dumps({"_data_files": files}))
    return lambda **options: ndd.readers.HuggingFace(path=root, **options)


READERS: dict[str, Callable[..., Make]] = {
    "File": listed(ndd.readers.File, " 0"),
    "Numpy": listed(ndd.readers.Numpy),
    "Fits": listed(ndd.experimental.readers.Fits),
    "Video": listed(ndd.readers.Video, " 0", sequence_length=5),
    "COCO": coco,
    "NemoAsr": nemo,
    "Parquet": parquet,
    "HuggingFace": huggingface,
}


# To some readers, a "file://" is a name like any other.
WAYS = [(kind, way) for kind in READERS for way in ("absolute", "above", "through a link")]
WAYS += [(kind, "file URL") for kind in ("File", "Numpy", "Fits", "COCO")]


@pytest.mark.parametrize(("kind", "way"), WAYS)
def test_names_that_lead_elsewhere(tmp_path: Path, kind: str, way: str) -> None:
    root, secret = tmp_path / "root", tmp_path / "elsewhere" / "secret"
    write(kind, root / "inside")
    write(kind, secret)
    (tmp_path / "elsewhere" / "sub").mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere" / "sub")
    name = {
        "absolute": str(secret),
        "above": "../elsewhere/secret",
        # By its letters this is inside.
        "through a link": "link/../secret",
        "file URL": f"file://{secret}",
    }[way]
    make = READERS[kind](root, ["inside", name])
    with pytest.raises((ndd.OpError, ValueError), match=r"outside of .*allow_outside=True"):
        list(make().next_epoch(batch_size=2))
    reader = make(on_error="skip", pad_last_batch=True)
    sources = {
        source
        for step in reader.next_epoch(batch_size=1)
        for output in (step.values() if isinstance(step, dict) else step)
        for source in output.source
    }
    assert sources
    assert not any("secret" in source or "row 1" in source for source in sources)
    assert any("outside of" in str(error.exception) for error in reader.errors)
    trusting = make(allow_outside=True)
    assert trusting.get_metadata()["epoch_size"] == 2
    list(trusting.next_epoch(batch_size=2))


@pytest.mark.parametrize("kind", READERS)
def test_absolute_names_inside_are_read(tmp_path: Path, kind: str) -> None:
    root = tmp_path / "root"
    write(kind, root / "inside")
    reader = READERS[kind](root, [str(root / "inside")])()
    assert len(list(reader.next_epoch(batch_size=1))) == 1


@pytest.mark.parametrize(
    ("folder", "name", "below"),
    [
        ("/data", "a/b.jpg", True),
        ("/data", "./a.jpg", True),
        ("/data", "a..jpg", True),
        ("/data", "..a/b.jpg", True),
        ("/data", "100%.jpg", True),
        ("/data", "%2e%2e/b.jpg", True),
        ("/data", "/data/a.jpg", True),
        ("/data", "//data/a.jpg", True),
        ("/data/", "/data/sub/../a.jpg", True),
        ("/data", "file:///data/a.jpg", True),
        ("file:///data", "a.jpg", True),
        ("/", "/etc/passwd", True),
        ("", "a.jpg", True),
        ("/data", "../a.jpg", False),
        ("/data", "a/../../b.jpg", False),
        ("/data", "/data2/a.jpg", False),
        ("/data", "/data/../etc/passwd", False),
        ("/data", "file:///etc/passwd", False),
        ("/data", "http://host/a.jpg", False),
        ("/data", "simplecache::http://host/a.jpg", False),
        ("", "/etc/passwd", False),
        ("", "../a.jpg", False),
        ("http://host/data", "a.jpg", True),
        ("http://host/data", "100%25.jpg", True),
        ("http://host/data", "http://host/data/a.jpg", True),
        ("http://host/data", "http://host/data2/a.jpg", False),
        ("http://host/data", "http://other/a.jpg", False),
        ("http://host/data", "../a.jpg", False),
        ("http://host/data", "%2e%2E/a.jpg", False),
        ("http://host/data", "http://host/data/../a.jpg", False),
        ("http://host/data", "file:///etc/passwd", True),
    ],
)
def test_below(folder: str, name: str, below: bool) -> None:
    assert is_below(folder, name) == below


def test_names_that_the_program_gives_are_trusted(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "a.jpg").write_bytes(b"a")
    names = ["../a.jpg", str(tmp_path / "a.jpg")]
    reader = ndd.readers.File(file_root=tmp_path / "root", files=names)
    assert len(list(reader.next_epoch(batch_size=1))) == 2
