# SPDX-License-Identifier: Apache-2.0
"""Labels as losses want them, and what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

import daliesque as ndd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("dog/a.jpg", "cat/b.jpg", "cat/c.jpg", "emu/d.jpg"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / "bat").mkdir()
    return tmp_path


def labels_of(**arguments: Any) -> ndd.Batch:
    (_, labels), *_ = ndd.readers.File(**arguments).next_epoch(batch_size=4)
    return labels


def test_labels_fit_into_a_loss(folder: Path) -> None:
    labels = labels_of(file_root=folder, label_dtype=ndd.int64, squeeze_labels=True)
    assert labels.torch().dtype == torch.int64
    assert labels.torch().tolist() == [1, 1, 2, 3]
    loss = torch.nn.functional.cross_entropy(torch.eye(4), labels.torch())
    assert loss.isfinite()


def test_labels_are_those_of_the_reference_by_default(folder: Path) -> None:
    labels = labels_of(file_root=folder)
    assert labels.dtype == ndd.int32
    assert labels.torch().tolist() == [[1], [1], [2], [3]]


@pytest.mark.parametrize("dtype", [ndd.int32, ndd.int64, ndd.float32, ndd.float64, "int64"])
def test_types_of_labels(folder: Path, dtype: Any) -> None:
    labels = labels_of(file_root=folder, label_dtype=dtype)
    assert labels.dtype == ndd.dtype(dtype)
    assert labels.tolist() == [[1], [1], [2], [3]]


def test_types_that_cannot_hold_labels_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"readers\.File: 'label_dtype' must be one of"):
        ndd.readers.File(file_root=folder, label_dtype=ndd.uint8)


@pytest.mark.parametrize("lazy", [False, True])
def test_classes_are_the_folders(folder: Path, lazy: bool) -> None:
    reader = ndd.readers.File(file_root=folder, lazy_init=lazy)
    # A folder without files has a number, too.
    assert reader.classes == ["bat", "cat", "dog", "emu"]
    assert reader.class_to_idx == {"bat": 0, "cat": 1, "dog": 2, "emu": 3}
    filtered = ndd.readers.File(file_root=folder, dir_filters="[ce]*")
    assert filtered.classes == ["cat", "emu"]


def test_files_without_folders_have_no_classes(folder: Path) -> None:
    reader = ndd.readers.File(file_root=folder, files=["cat/b.jpg"], labels=[7], lazy_init=True)
    with pytest.raises(AttributeError, match=r"readers\.File: only classes that are sub-folders"):
        reader.classes  # noqa: B018
    assert not hasattr(reader, "class_to_idx")


def coco(root: Path, **arguments: Any) -> ndd.readers.COCO:
    (root / "a.jpg").write_bytes(b"a")
    content = {
        "categories": [{"id": 18, "name": "dog", "supercategory": "animal"}, {"id": 3}]
        + [{"name": "caf\u00e9 \U0001f600", "id": 7}, {"id": 9, "name": None}],
        "images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}],
        "annotations": [{"image_id": 1, "category_id": 7, "bbox": [1, 1, 2, 2]}],
    }
    (root / "boxes.json").write_text(json.dumps(content))
    return ndd.readers.COCO(file_root=root, annotations_file=root / "boxes.json", **arguments)


def test_coco_categories(tmp_path: Path) -> None:
    reader = coco(tmp_path, lazy_init=True)
    assert reader.categories == {1: "dog", 2: "", 3: "caf\u00e9 \U0001f600", 4: ""}
    assert reader.category_ids == {1: 18, 2: 3, 3: 7, 4: 9}
    assert reader.classes == ["dog", "", "caf\u00e9 \U0001f600", ""]
    assert reader.class_to_idx["dog"] == 1
    ((_, _, labels),) = reader.next_epoch()
    assert reader.categories[labels[0].item()] == "caf\u00e9 \U0001f600"
    kept = coco(tmp_path, avoid_class_remapping=True)
    assert kept.categories == {18: "dog", 3: "", 7: "caf\u00e9 \U0001f600", 9: ""}
    assert kept.class_to_idx["dog"] == 18
    ((_, _, labels),) = kept.next_epoch()
    assert labels.tolist() == [7]


def test_preprocessed_annotations_have_no_categories(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    names: dict[str, Any] = {"save_preprocessed_annotations_dir": saved}
    coco(tmp_path, save_preprocessed_annotations=True, **names)
    reader = ndd.readers.COCO(file_root=tmp_path, preprocessed_annotations=saved)
    with pytest.raises(AttributeError, match=r"readers\.COCO: preprocessed annotations"):
        reader.classes  # noqa: B018
