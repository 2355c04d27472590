# SPDX-License-Identifier: Apache-2.0
"""Readers as data sources of grain."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import grain
import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from support.every_reader import CASES
from support.jax_data import Counted


def folder_of_images(path: Path) -> Path:
    for number in range(6):
        name = path / "ab"[number % 2] / f"{number}.png"
        name.parent.mkdir(exist_ok=True)
        Image.new("RGB", (5 + number, 4), (number * 10, 0, 0)).save(name)
    return path


def test_it_is_a_data_source() -> None:
    source = ndd.grain.Source(Counted())
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    assert len(source) == 37
    image, label = source[np.int64(5)]
    assert image.shape == (6, 4, 3)
    assert label.item() == 5
    assert image.source == "sample 5"
    assert repr(source) == repr(ndd.grain.Source(Counted()))
    for index, error in [(37, IndexError), (-1, IndexError), ("a", TypeError)]:
        with pytest.raises(error, match=r"grain\.Source"):
            source[index]


def test_a_pipeline_of_grain(tmp_path: Path) -> None:
    source = ndd.grain.Source(ndd.readers.File, file_root=str(folder_of_images(tmp_path)))

    def load(sample: Any) -> Any:
        encoded, label = sample
        image = ndd.resize(ndd.decoders.image(encoded), size=[4, 4])
        return {"image": image.numpy(), "label": label.numpy()}

    dataset = grain.MapDataset.source(source).seed(3).shuffle().map(load).batch(2)
    batches = list(dataset)
    assert [batch["image"].shape for batch in batches] == [(2, 4, 4, 3)] * 3
    labels = np.concatenate([batch["label"] for batch in batches]).ravel().tolist()
    assert sorted(labels) == [0, 0, 0, 1, 1, 1]
    reds = np.concatenate([batch["image"][:, 0, 0, 0] for batch in batches]).tolist()
    assert sorted(reds) == [0, 10, 20, 30, 40, 50]
    iterator = iter(dataset.to_iter_dataset())
    next(iterator)
    state, rest = iterator.get_state(), list(iterator)
    again = iter(dataset.to_iter_dataset())
    again.set_state(state)
    for one, other in zip(again, rest, strict=True):
        np.testing.assert_array_equal(one["image"], other["image"])


def test_items_are_read_together() -> None:
    reader = Counted()
    calls = []
    fetch = reader.fetch
    reader.fetch = lambda numbers: calls.append(numbers.tolist()) or fetch(numbers)  # type: ignore[method-assign]
    items = ndd.grain.Source(reader)._getitems([4, 2, 30])
    assert calls == [[4, 2, 30]]
    assert [label.item() for _, label in items] == [4, 2, 30]
    assert ndd.grain.Source(reader)._getitems([]) == []


def test_bad_samples(tmp_path: Path) -> None:
    root = folder_of_images(tmp_path)
    (root / "a" / "2.png").write_bytes(b"no image")
    source = ndd.grain.Source(ndd.readers.File, file_root=str(root), on_error="skip")
    assert source[1] is None
    dataset = grain.MapDataset.source(source).map(lambda sample: sample[1].item())
    assert list(dataset.to_iter_dataset()) == [0, 0, 1, 1, 1]
    (root / "a" / "0.png").unlink()
    strict = ndd.grain.Source(ndd.readers.File(file_root=str(root)))
    (root / "b" / "1.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"1\.png.* on_error=\"skip\""):
        strict[2]


def test_it_can_be_pickled() -> None:
    source = pickle.loads(pickle.dumps(ndd.grain.Source(Counted(9))))
    assert len(source) == 9
    assert source[8][1].item() == 8


@pytest.mark.parametrize("name", CASES)
def test_every_reader_from_many_threads(name: str, tmp_path: Path) -> None:
    """Grain reads with many threads at once."""
    source = ndd.grain.Source(CASES[name][1](tmp_path).make())
    count = len(source)

    def contents(item: Any) -> list[bytes]:
        values = item.values() if isinstance(item, dict) else item
        values = values if isinstance(item, tuple | dict) else (item,)
        return [np.asarray(value).tobytes() for value in values]

    expected = [contents(source[number]) for number in range(count)]
    failures: list[Any] = []

    def read(first: int) -> None:
        for step in range(2 * count):
            number = (first + step) % count
            try:
                if contents(source[number]) != expected[number]:
                    failures.append(number)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=read, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
