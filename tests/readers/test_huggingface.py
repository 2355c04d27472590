# SPDX-License-Identifier: Apache-2.0
"""readers.HuggingFace, on folders as the package `datasets` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import daliesque as ndd


def save(folder: Path, parts: list[dict[str, Any]], rows: int = 3, state: bool = True) -> Path:
    """Write files in the streaming format, and what else `save_to_disk` writes."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for k, columns in enumerate(parts):
        names.append(f"data-{k:05d}-of-{len(parts):05d}.arrow")
        table = pa.table(columns)
        with pa.OSFile(str(folder / names[-1]), "wb") as file:
            with pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table, max_chunksize=rows)
    if state:
        files = [{"filename": name} for name in names]
        (folder / "state.json").write_text(json.dumps({"_data_files": files, "_split": "train"}))
        (folder / "dataset_info.json").write_text(json.dumps({"features": {}}))
    return folder


def images(first: int, count: int) -> dict[str, Any]:
    """Columns as those of a data set of images."""
    return {
        "image": [{"bytes": b"%d" % k, "path": f"{k}.jpg"} for k in range(first, first + count)],
        "label": pa.array(range(first, first + count), pa.int64()),
        "text": [f"number {k}" for k in range(first, first + count)],
        "boxes": [[[k, 1.0]] * (k % 3) for k in range(first, first + count)],
    }


def test_columns_of_saved_data_sets(tmp_path: Path) -> None:
    save(tmp_path, [images(0, 7), images(7, 4)])
    for batch_size in (None, 11):
        number = 0
        for step in ndd.readers.HuggingFace(path=tmp_path).next_epoch(batch_size=batch_size):
            assert list(step) == ["image", "label", "text", "boxes"]
            parts = [[x] if batch_size is None else list(x) for x in step.values()]
            for image, label, text, boxes in zip(*parts, strict=True):
                assert bytes(np.asarray(image)).decode() == str(number)
                assert (int(np.asarray(label)), label.dtype) == (number, ndd.int64)
                assert bytes(np.asarray(text)).decode() == f"number {number}"
                expected = [[number, 1.0]] * (number % 3)
                assert np.asarray(boxes).tolist() == expected
                number += 1
        assert number == 11


def test_chosen_columns_and_sources(tmp_path: Path) -> None:
    save(tmp_path, [images(0, 7), images(7, 4)])
    reader = ndd.readers.HuggingFace(path=tmp_path, columns=["label", "image.path"])
    step = next(reader.next_epoch(batch_size=9))
    assert list(step) == ["label", "image.path"]
    assert bytes(np.asarray(step["image.path"].tensors[8])) == b"8.jpg"
    assert step["label"].source[5:9] == [
        *(f"data-00000-of-00002.arrow at row {k}" for k in (5, 6)),
        *(f"data-00001-of-00002.arrow at row {k}" for k in (0, 1)),
    ]


def test_shuffling_is_global(tmp_path: Path) -> None:
    save(tmp_path, [images(0, 50), images(50, 50)])
    reader = ndd.readers.HuggingFace(path=tmp_path, columns=["label"], random_shuffle=True)
    for _ in range(2):
        seen = np.array([int(np.asarray(step["label"])) for step in reader.next_epoch()])
        assert sorted(seen) == list(range(100))
        assert np.abs(seen - np.arange(100)).mean() > 20


def test_split_must_be_chosen(tmp_path: Path) -> None:
    for k, split in enumerate(("train", "test")):
        save(tmp_path / split, [images(100 * k, 3)])
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    reader = ndd.readers.HuggingFace(path=tmp_path, split="test")
    assert next(reader.next_epoch(batch_size=3))["label"].torch().tolist() == [100, 101, 102]
    match = r"readers\.HuggingFace: 'split' must be one of train, test; got None\."
    with pytest.raises(ValueError, match=match):
        ndd.readers.HuggingFace(path=tmp_path)


def test_folder_without_state(tmp_path: Path) -> None:
    save(tmp_path, [images(0, 3)], state=False)
    table = pa.table(images(3, 3))
    with pa.ipc.new_file(str(tmp_path / "data-1.arrow"), table.schema) as file:
        file.write_table(table)
    reader = ndd.readers.HuggingFace(path=tmp_path, columns=["label"])
    assert next(reader.next_epoch(batch_size=6))["label"].torch().tolist() == list(range(6))


def test_rows_without_values(tmp_path: Path) -> None:
    save(tmp_path, [{"x": [1, None, 3]}])
    reader = ndd.readers.HuggingFace(path=tmp_path, on_error="skip")
    assert next(reader.next_epoch(batch_size=2))["x"].torch().tolist() == [1, 3]
    assert [Path(error.source).name for error in reader.errors] == [
        "data-00000-of-00001.arrow at row 1"
    ]


def test_missing_and_damaged_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r'HuggingFace: cannot list the folder ".*no'):
        ndd.readers.HuggingFace(path=tmp_path / "no")
    with pytest.raises(ValueError, match=r"No files found that match \*\.arrow in"):
        ndd.readers.HuggingFace(path=tmp_path)
    save(tmp_path, [images(0, 7)])
    data = tmp_path / "data-00000-of-00001.arrow"
    content = data.read_bytes()
    for damage in (b"", b"something else", content[:100], content[:-300]):
        data.write_bytes(damage)
        with pytest.raises(ndd.DecodeError, match=r'".*\.arrow": it is no Arrow file, or damaged'):
            ndd.readers.HuggingFace(path=tmp_path)
    data.unlink()
    with pytest.raises(FileNotFoundError, match=r'readers\.HuggingFace: cannot read ".*\.arrow": '):
        ndd.readers.HuggingFace(path=tmp_path)
    state = tmp_path / "state.json"
    state.write_text("{")
    with pytest.raises(ndd.DecodeError, match=r'state\.json" is damaged'):
        ndd.readers.HuggingFace(path=tmp_path)
    state.write_text("{}")
    with pytest.raises(ndd.DecodeError, match=r'state\.json" does not list the files'):
        ndd.readers.HuggingFace(path=tmp_path)
    state.write_text(json.dumps({"_data_files": [], "_indices_data_files": [{"filename": "x"}]}))
    with pytest.raises(ValueError, match=r"selection of rows\. Call flatten_indices\(\) before"):
        ndd.readers.HuggingFace(path=tmp_path)
