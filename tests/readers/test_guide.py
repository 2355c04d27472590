# SPDX-License-Identifier: Apache-2.0
"""The programs in docs/readers.md run, and their readers are readers like ours."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.reader_properties import assert_is_a_reader

GUIDE = Path(__file__).parents[2] / "docs" / "readers.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
COUNT = 7


def run(*programs: str) -> dict[str, Any]:
    """What programs define, one after the other."""
    names: dict[str, Any] = {}
    for program in programs:
        exec(compile(program, str(GUIDE), "exec"), names)
    return names


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with seven images and labels, which is the current one."""
    images = np.random.default_rng(0).integers(0, 256, (COUNT, 5, 4), np.uint8)
    for name, array in (
        ("train-images-idx3-ubyte", images),
        ("train-labels-idx1-ubyte", np.arange(COUNT, dtype=np.uint8)),
    ):
        header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
        (tmp_path / name).write_bytes(header + array.tobytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_reader_is_short() -> None:
    assert len(PROGRAMS[0].splitlines()) <= 50


def test_mnist(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = run(PROGRAMS[0], PROGRAMS[1])
    # Three samples of seven are in the first shard.
    assert capsys.readouterr().out == "HW u8 [(), (), (), ()]\n"
    assert len(names["state"]) < 300
    images = folder / "train-images-idx3-ubyte"
    labels = folder / "train-labels-idx1-ubyte"

    def make(**options: Any) -> ndd.readers.Reader:
        reader: ndd.readers.Reader = names["Mnist"](images, labels, **options)
        return reader

    assert_is_a_reader(make, [f"{images} at {number}" for number in range(COUNT)])
    expected = np.frombuffer(images.read_bytes()[16:], np.uint8).reshape(COUNT, 5, 4)
    outputs, numbers = next(make().next_epoch(COUNT))
    np.testing.assert_array_equal(outputs.torch().numpy(), expected)
    assert numbers.torch().tolist() == list(range(COUNT))


def test_mnist_with_bad_files(folder: Path) -> None:
    mnist = run(PROGRAMS[0])["Mnist"]
    images = folder / "train-images-idx3-ubyte"
    labels = folder / "train-labels-idx1-ubyte"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        mnist(images, folder / "nowhere")
    with pytest.raises(ValueError, match="is no IDX file of 1 axes"):
        mnist(images, images)
    content = bytearray(labels.read_bytes())
    content[8 + 2] = 77
    labels.write_bytes(content)
    reader = mnist(images, labels, on_error="skip", pad_last_batch=True)
    (_, numbers) = next(reader.next_epoch(6))
    assert numbers.torch().tolist() == [0, 1, 3, 4, 5, 6]
    with pytest.raises(ndd.OpError, match=r"^Mnist: cannot read .* at 2.*the label is 77"):
        list(mnist(images, labels).next_epoch())


def test_squares() -> None:
    squares = run(PROGRAMS[0], PROGRAMS[2])["Squares"]
    reader = squares(on_error="skip", pad_last_batch=True)
    (numbers,) = next(reader.next_epoch(4))
    assert numbers.torch().tolist() == [0, 4, 16, 36]
    assert [error.source for error in reader.errors] == ["sample 1", "sample 3", "sample 5"]
