# SPDX-License-Identifier: Apache-2.0
"""`python -m daliesque bench`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd
from daliesque._cli import main
from daliesque._cli.bench import contestants, files, measuring
from daliesque._cli.bench.chart import OTHERS, OURS, draw_chart
from daliesque._cli.bench.contestants import CONTESTANTS, image_paths
from support.compare import assert_close

# A stand-in for a peer: as much of torchvision as the contestant uses.
TORCHVISION = """
from pathlib import Path
import numpy, torch
from PIL import Image
class datasets:
    class ImageFolder:
        def __init__(self, root, steps):
            self.paths, self.steps = sorted(Path(root).glob("*/*")), steps
        def __len__(self):
            return len(self.paths)
        def __getitem__(self, index):
            return self.steps(Image.open(self.paths[index])), 0
class transforms:
    Resize = RandomResizedCrop = RandomHorizontalFlip = ToTensor = Normalize = lambda *_: None
    def Compose(steps):
        return lambda image: torch.from_numpy(numpy.array(image.convert("RGB").resize((224, 224))))
"""


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    (folder / "inner").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(6):
        pixels = rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)
        name = f"{number}.jpg" if number % 2 else f"inner/{number}.png"
        Image.fromarray(pixels).save(folder / name)
    (folder / "cut.jpg").write_bytes((folder / "1.jpg").read_bytes()[:300])
    (folder / "notes.txt").write_text("no image")
    return folder


def bench(folder: Path, *options: str) -> int:
    quick = ["--rounds", "1", "--seconds", "0.01", "--batch", "2", "--threads", "1"]
    return main(["bench", str(folder), "-o", str(folder.parent / "chart.png"), *quick, *options])


def test_the_loops_run_on_any_folder(
    images: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (images.parent / "peers" / "torchvision").mkdir(parents=True)
    (images.parent / "peers" / "torchvision" / "__init__.py").write_text(TORCHVISION)
    monkeypatch.setenv("PYTHONPATH", str(images.parent / "peers"))
    monkeypatch.syspath_prepend(images.parent / "peers")
    for name in ("daliesque, prefetch", "libjpeg-turbo decode alone"):
        monkeypatch.delitem(CONTESTANTS, name)
    report = images.parent / "numbers.json"
    assert bench(images, "--json", str(report)) == 0
    out, err = capsys.readouterr()
    assert "1 images cannot be decoded, left out" in err
    for job in ("eval", "train"):
        assert re.search(rf"^{job} .*\ndaliesque +\d+ +1\.00x", out, re.MULTILINE)
    assert out.count("torchvision + DataLoader") == 2
    numbers = json.loads(report.read_text())
    # Six images that can be decoded are repeated for eight batches of two.
    assert numbers["images"] == 16
    for name in ("daliesque: eval", "daliesque: train", "torchvision + DataLoader: train"):
        (run,) = numbers["runs"][name]
        assert run["rate"] > 0
        assert run["first"] > 0
    assert "DALI, pipeline" in numbers["left_out"] or "DALI, pipeline: eval" in numbers["runs"]
    with Image.open(images.parent / "chart.png") as chart:
        assert chart.width > 1000


def test_batches_are_arrays_without_torch(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (images / "cut.jpg").unlink()
    monkeypatch.setattr(contestants, "has_torch", lambda: False)
    before = ndd.get_num_threads()
    try:
        task = contestants.Task(str(images), "eval", threads=1, batch=3)
        (made,) = contestants.imperative(task, "daliesque")()
    finally:
        ndd.set_num_threads(before)
    assert isinstance(made, np.ndarray)
    assert (made.shape, made.dtype) == ((3, 3, 224, 224), np.float32)


def test_who_fails_is_left_out(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "CONTESTANTS", {"daliesque": CONTESTANTS["daliesque"]})
    folder = images.parent / "links"
    folder.mkdir()
    results = measuring.compete(
        ["daliesque"], str(folder), threads=1, batch=2, seconds=0.01, rounds=2
    )
    assert results.found == {}
    assert "readers.File" in results.left_out["daliesque"]


@pytest.mark.parametrize(
    ("name", "message"), [("nothing", "is not a folder"), ("empty", "no images were found in")]
)
def test_errors(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert bench(tmp_path / name) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "chart.png").exists()


def test_few_of_many_images(images: Path) -> None:
    assert len(files.find_images(images, 100)) == 7
    few = files.find_images(images, 3)
    assert len(few) == 3
    assert few[0] == files.find_images(images, 100)[0]


def test_links(images: Path, tmp_path: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    paths = files.without_broken(files.find_images(images, 100), lambda _: None)
    assert files.link_images(paths, folder, 9) == 9
    linked = image_paths(str(folder))
    assert len(linked) == 9
    assert {Path(path).resolve() for path in linked} == set(paths)


def test_bars_are_as_long_as_the_numbers(tmp_path: Path) -> None:
    rates: dict[str, dict[str, float]] = {
        "daliesque": {"eval": 1000.0, "train": 500.0},
        "peer": {"eval": 250.0, "train": 400.0},
        "another": {"eval": 10.0},
    }
    draw_chart(rates, "title", tmp_path / "chart.png")
    with Image.open(tmp_path / "chart.png") as chart:
        pixels = np.asarray(chart.convert("RGB"))

    def bars(color: Any) -> list[int]:
        """The lengths of bars, from top to bottom and left to right."""
        rows = (pixels == color).all(axis=-1)
        found = []
        for row in range(1, len(rows)):
            if rows[row].any() and not rows[row - 1].any():
                edges = np.flatnonzero(np.diff(np.pad(rows[row + 5].astype(int), 1)))
                found += [int(b - a) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        return found

    # A panel is 660 pixels wide.
    assert_close(bars(OURS), [660, 660], "lengths in pixels")
    assert_close(bars(OTHERS), [165, 528, 6.6], "lengths in pixels")
