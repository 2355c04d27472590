# SPDX-License-Identifier: Apache-2.0
"""Python objects with a length and items as readers."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import daliesque as ndd
from support.reader_properties import assert_is_a_reader, nothing_left_behind


class Numbers(torch.utils.data.Dataset[Any]):
    """A data set of torch: an image and a label, some of which cannot be read."""

    def __init__(self, size: int = 7, bad: tuple[int, ...] = ()) -> None:
        self.size = size
        self.bad = bad

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, number: int) -> Any:
        if number in self.bad:
            msg = f"item {number} is bad"
            raise RuntimeError(msg)
        return torch.full((3, 2, 2 + number), number, dtype=torch.uint8), number


def labels(reader: ndd.readers.Python, batch_size: int) -> list[list[int]]:
    return [step[1].torch().tolist() for step in reader.next_epoch(batch_size)]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_torch_dataset(threads: int) -> None:
    def make(**options: Any) -> ndd.readers.Python:
        return ndd.readers.Python(Numbers(), num_threads=threads, **options)

    assert_is_a_reader(make, [f"Numbers[{number}]" for number in range(7)])
    images, numbers = next(make(layout=("CHW", None)).next_epoch(batch_size=3))
    assert (images.layout, numbers.layout) == ("CHW", None)
    assert images.dtype == ndd.uint8
    assert images.shape == [(3, 2, 2), (3, 2, 3), (3, 2, 4)]
    assert [np.asarray(image).flat[0] for image in images] == [0, 1, 2]
    assert numbers.torch().tolist() == [0, 1, 2]
    assert images.source == ["Numbers[0]", "Numbers[1]", "Numbers[2]"]


def test_arrays_lists_and_memory_maps(tmp_path: Path) -> None:
    array = np.arange(24, dtype=np.int16).reshape(6, 4)
    np.save(tmp_path / "array.npy", array)
    mapped = np.load(tmp_path / "array.npy", mmap_mode="r")
    for data in (array, list(array), mapped, tuple(array), array.tolist()):
        reader = ndd.readers.Python(data, layout="X")
        (batch,) = next(reader.next_epoch(batch_size=6))
        assert batch.torch().tolist() == array.tolist()
        assert batch.dtype == (ndd.int32 if isinstance(data[0], list) else ndd.int16)
        assert batch.layout == "X"


def test_batches_are_dense_and_independent() -> None:
    data = [np.zeros(2), np.zeros(2)]
    (batch,) = next(ndd.readers.Python(data).next_epoch(batch_size=2))
    data[0][:] = 7
    assert batch.torch(copy=False).tolist() == [[0, 0], [0, 0]]


def test_dicts_strings_bytes_and_pictures() -> None:
    picture = Image.new("RGB", (4, 2), (1, 2, 3))
    items = [{"image": picture, "text": "Grüße", "raw": b"ab", "boxes": [[1.5, 2]]}] * 2
    (step,) = ndd.readers.Python(items).next_epoch(batch_size=2)
    assert list(step) == ["image", "text", "raw", "boxes"]
    assert step["image"].shape == [(2, 4, 3)] * 2
    assert bytes(np.asarray(step["text"].select(0))).decode() == "Grüße"
    assert bytes(np.asarray(step["raw"].select(1))) == b"ab"
    assert step["boxes"].torch().tolist() == [[[1.5, 2.0]]] * 2
    assert step["boxes"].dtype == ndd.float32


@pytest.mark.parametrize("threads", [1, 4])
def test_bad_items(threads: int) -> None:
    def make(**options: Any) -> ndd.readers.Python:
        return ndd.readers.Python(Numbers(7, (0, 3)), num_threads=threads, **options)

    text = r'readers\.Python: cannot read "Numbers\[0\]" .*RuntimeError: item 0 is bad'
    with pytest.raises(ndd.OpError, match=text):
        labels(make(), 7)
    reader = make(on_error="skip", pad_last_batch=True)
    assert labels(reader, 5)[0] == [1, 2, 4, 5, 6]
    assert [error.source for error in reader.errors] == ["Numbers[0]", "Numbers[3]"]
    with pytest.raises(ndd.OpError, match="max_errors=1"):
        labels(make(on_error="skip", max_errors=1), 7)


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([1, None], "an output must be an array, .*; got None"),
        ([1, (2, 3)], "the item has 2 outputs, the first one 1"),
        ([1, {"a": 1}], "the item is a dict, others are not"),
        ([{"a": 1}, 2], r"a dict with the keys \['a'\]; got int"),
        ([{"a": 1}, {"b": 2}], r"a dict with the keys \['a'\]; got the keys \['b'\]"),
        ([1, ((1, 2), 3)], "an output must be an array"),
        ([1, object()], "object"),
        ([1, 2.5], "output 0 is float32, that of the first item int32; pass 'dtype'"),
        ([1, [1]], "output 0 has 1 axes, that of the first item 0"),
        ([np.zeros(2), np.zeros(2, np.uint8)], "output 0 is uint8, that of the first item float64"),
        ([1, np.array(["a"])], "<U1"),
    ],
)
def test_items_that_do_not_fit(items: list[Any], text: str) -> None:
    reader = ndd.readers.Python(items)
    with pytest.raises(ndd.OpError, match=rf'readers\.Python: cannot read "list\[1\]".*{text}'):
        next(reader.next_epoch(batch_size=2))
    skipping = ndd.readers.Python(items, on_error="replace")
    assert len(list(skipping.next_epoch(batch_size=2))) == 1
    assert [error.source for error in skipping.errors] == ["list[1]"]


def test_types() -> None:
    reader = ndd.readers.Python([(1, [2.5]), (2.5, [1])], dtype=(ndd.float32, ndd.uint8))
    numbers, lists = next(reader.next_epoch(batch_size=2))
    assert numbers.torch().tolist() == [1.0, 2.5]
    assert (numbers.dtype, lists.dtype) == (ndd.float32, ndd.uint8)
    both = ndd.readers.Python([(1, 2)], dtype="f16", layout="")
    assert [output.dtype for output in next(both.next_epoch())] == [ndd.float16] * 2


def test_layouts_that_do_not_fit() -> None:
    with pytest.raises(ndd.OpError, match="'layout' has 2 items for 1 outputs"):
        next(ndd.readers.Python([1], layout=["X", None]).next_epoch(batch_size=1))
    with pytest.raises(ndd.OpError, match="HWC"):
        next(ndd.readers.Python([np.zeros(2)], layout="HWC").next_epoch(batch_size=1))


@pytest.mark.parametrize(
    ("dataset", "options", "kind", "text"),
    [
        (iter([1]), {}, TypeError, "must have __len__ and __getitem__; got list_iterator"),
        ({0: 1}, {}, TypeError, "must have items by number; got dict"),
        ({1}, {}, TypeError, "must have __len__ and __getitem__; got set"),
        ([], {}, ValueError, "there are no samples"),
        ([1], {"num_threads": 0}, ValueError, "'num_threads': .*must be positive"),
        ([1], {"num_threads": "2"}, TypeError, "'num_threads': .*must be an integer"),
        ([1], {"layout": [5]}, TypeError, "'layout' must be"),
        ([{1: 2}], {}, TypeError, "the keys of items must be strings; got 1"),
        ([1], {"shuffle": True}, TypeError, "shuffle"),
    ],
)
def test_bad_arguments(
    dataset: Any, options: dict[str, Any], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=rf"readers\.Python: {text}|{text}"):
        ndd.readers.Python(dataset, **options)


def test_names_of_sources() -> None:
    reader = ndd.readers.Python([1, 2], source_name=lambda number: f"row {number}")
    (batch,) = next(reader.next_epoch(batch_size=2))
    assert batch.source == ["row 0", "row 1"]


def test_items_are_fetched_at_the_same_time() -> None:
    barrier = threading.Barrier(3, timeout=30)

    class Slow(Numbers):
        def __getitem__(self, number: int) -> Any:
            if threading.current_thread() is not threading.main_thread():
                barrier.wait()
            return number

    with nothing_left_behind():
        reader = ndd.readers.Python(Slow(6), num_threads=3)
        (batch,) = next(reader.next_epoch(batch_size=6))
        assert batch.torch().tolist() == list(range(6))
        del reader


def test_reading_ahead() -> None:
    fetched: list[int] = []

    class Noting(Numbers):
        def __getitem__(self, number: int) -> Any:
            fetched.append(number)
            return number

    reader = ndd.readers.Python(Noting(100), prefetch_queue_depth=3)
    epoch = reader.next_epoch(batch_size=2)
    next(epoch)
    deadline = time.monotonic() + 20
    while max(fetched) < 7 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert 7 <= max(fetched) < 20
