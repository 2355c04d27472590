# SPDX-License-Identifier: Apache-2.0
"""readers.COCO against the reference library itself."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.coco_data import make_dataset
from support.oracle import reference

pytestmark = pytest.mark.oracle


def values(library: Any, batch_size: int | None, **arguments: Any) -> list[Any]:
    """Everything that two epochs deliver."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = library.readers.COCO(**arguments)
        result = []
        for _ in range(2):
            for outputs in reader.next_epoch(batch_size=batch_size):
                for output in outputs:
                    samples = [output] if batch_size is None else output.tensors
                    arrays = [np.asarray(sample.evaluate()) for sample in samples]
                    result.append([(str(a.dtype), a.shape, a.tobytes()) for a in arrays])
                    result.append([sample.layout for sample in samples])
    return result


FORMS: list[dict[str, Any]] = [
    {},
    {"polygon_masks": True},
    {"pixelwise_masks": True},
    {"image_ids": True},
    {"polygon_masks": True, "image_ids": True},
    {"pixelwise_masks": True, "image_ids": True},
    {"masks": True},
]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_random_arguments(tmp_path: Path, form: dict[str, Any]) -> None:
    rng = random.Random(1)
    for trial in range(12):
        # Runs leave polygons of the reference without a defined value.
        root = tmp_path / str(trial)
        data = make_dataset(root, 9, trial, runs="pixelwise_masks" in form, mixed=False)
        arguments = {
            "file_root": str(root),
            "annotations_file": str(root / "instances.json"),
            "ltrb": rng.random() < 0.5,
            "ratio": rng.random() < 0.5,
            "skip_empty": rng.random() < 0.5,
            "include_iscrowd": rng.random() < 0.5,
            "avoid_class_remapping": rng.random() < 0.5,
            "size_threshold": rng.choice([0.1, 3.0]),
            "random_shuffle": rng.random() < 0.5,
            **form,
        }
        if rng.random() < 0.4:
            names = [image["file_name"] for image in data["images"]]
            arguments["images"] = [rng.choice(names) for _ in range(6)]
        batch_size = rng.choice([None, 1, 4])
        assert values(ndd, batch_size, **arguments) == values(reference, batch_size, **arguments), (
            trial
        )


@pytest.mark.parametrize("form", FORMS[:-1], ids=str)
def test_preprocessed_files_are_interchangeable(tmp_path: Path, form: dict[str, Any]) -> None:
    make_dataset(tmp_path, runs="pixelwise_masks" in form, mixed=False)
    # The reference separates names by spaces when it reads them.
    text = (tmp_path / "instances.json").read_text().replace("image ", "image-")
    text = text.replace(" \\u00fc", "")
    (tmp_path / "instances.json").write_text(text)
    for path in list(tmp_path.glob("image *")):
        path.rename(tmp_path / path.name.replace("image ", "image-").replace(" \u00fc", ""))
    folders = {}
    for library in (ndd, reference):
        folders[library] = tmp_path / library.__name__
        folders[library].mkdir()
        values(
            library,
            2,
            file_root=str(tmp_path),
            annotations_file=str(tmp_path / "instances.json"),
            save_preprocessed_annotations=True,
            save_preprocessed_annotations_dir=str(folders[library]),
            **form,
        )
    files = {path.name: path.read_bytes() for path in folders[reference].iterdir()}
    assert {path.name: path.read_bytes() for path in folders[ndd].iterdir()} == files
    arguments = {
        "file_root": str(tmp_path),
        "preprocessed_annotations": str(folders[reference]),
        **form,
    }
    assert values(ndd, 3, **arguments) == values(reference, 3, **arguments)
