# SPDX-License-Identifier: Apache-2.0
"""What a type checker says about readers. Checked by mypy, never run."""

from collections.abc import Sequence
from typing import Any, assert_type

import daliesque as ndd
from daliesque import Batch, readers


class Pairs(readers.Reader[tuple[Batch, Batch]]):
    """A reader of one's own says what a batch consists of."""

    def open_index(self) -> int:
        """Hold ten samples."""
        return 10

    def fetch_sample(self, number: int) -> Sequence[Any]:
        """Deliver a number and its square."""
        return number, number**2


def tuples() -> None:
    """Readers that deliver a number of batches."""
    for contents, labels in readers.File(file_root="train").next_epoch(batch_size=8):
        assert_type(contents, Batch)
        assert_type(labels, Batch)
    (arrays,) = next(readers.Numpy(files=["a.npy"]).next_epoch(batch_size=8))
    assert_type(arrays, Batch)
    annotations = readers.COCO(file_root="train", annotations_file="train.json")
    assert_type(next(annotations.next_epoch(batch_size=8)), tuple[Batch, ...])
    for number, square in Pairs().next_epoch(4):
        assert_type(number + square, Batch)


def dicts() -> None:
    """Readers that name what they deliver."""
    for step in readers.Parquet(path="train.parquet").next_epoch(batch_size=8):
        assert_type(step, dict[str, Batch])
        assert_type(ndd.decoders.image(step["image"]), Batch)


def samples() -> None:
    """The constructor may have a batch size, so nothing is known here."""
    for step in readers.File(file_root="train").next_epoch():
        assert_type(step, Any)


def states() -> None:
    """States are text, and a checkpoint takes all that has one."""
    reader, rng = readers.File(file_root="train"), ndd.random.RNG(seed=1)
    assert_type(reader.get_state(), str)
    assert_type(rng.get_state(), str)
    checkpoint = ndd.checkpoint.current()
    assert_type(checkpoint, ndd.checkpoint.Checkpoint)
    assert_type(checkpoint.register(reader, "reader"), str)
    checkpoint.register(rng)
    checkpoint.register(0)  # type: ignore[arg-type]
    assert_type(ndd.EvalContext().checkpoint.names, tuple[str, ...])
