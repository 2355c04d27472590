# SPDX-License-Identifier: Apache-2.0
"""The page that `inspect` writes."""

from __future__ import annotations

import base64
import io
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import daliesque as ndd

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
RED, BLUE = (200, 30, 30), (30, 30, 200)


class Page(HTMLParser):
    """What a page holds: the text of each section, and its pictures."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.pictures: list[list[Any]] = []
        self.addresses: list[str] = []
        self.head = ""
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.sections.append("")
            self.pictures.append([])
        for name, value in attrs:
            if name in ("src", "href") and value is not None:
                head, _, data = value.partition(",")
                if head == "data:image/png;base64":
                    picture = Image.open(io.BytesIO(base64.b64decode(data)))
                    self.pictures[-1].append(np.asarray(picture.convert("RGB")))
                else:
                    self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        if self.sections:
            self.sections[-1] += data
        else:
            self.head += data


def halves(count: int = 4) -> ndd.Batch:
    """Images whose upper half is red and whose lower half is blue."""
    images = np.empty((count, 64, 96, 3), np.uint8)
    images[:, :32], images[:, 32:] = RED, BLUE
    return ndd.batch(images, layout="HWC")


def test_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "steps.html"
    images, choices = halves(), ndd.batch([1, 0, 1, 0])
    with ndd.inspect(path, samples=2):
        flipped = ndd.flip(images, horizontal=0, vertical=choices)
        flipped.evaluate()
    page = Page(path)
    assert len(page.sections) == 1
    text = page.sections[0]
    assert text.startswith("1. flip")
    assert "test_inspect.py" in text
    assert "flipped = ndd.flip(images, horizontal=0, vertical=choices)" in text
    assert "vertical = [1, 0, ...] for each sample" in text
    assert "64x96x3 u8 HWC, 30 to 200" in text
    before, same, after, kept = page.pictures[0]
    assert before.shape == (64, 96, 3)
    assert np.array_equal(before, images.tensors[0].numpy())
    assert np.array_equal(after, before[::-1])
    assert np.array_equal(kept, same)
    assert page.addresses == []


def test_each_line_once(tmp_path: Path) -> None:
    with ndd.inspect(tmp_path / "steps.html"):
        for _ in range(5):
            bright = halves() * 1.25
            ndd.cast(bright, dtype=ndd.uint8).evaluate()
    page = Page(tmp_path / "steps.html")
    assert [text[:7] for text in page.sections] == ["1. oper", "2. cast"]
    assert "8 later calls of the same lines" in page.head


@pytest.mark.parametrize("mode", ["eager", "deferred", "sync_cpu"])
def test_modes(mode: str, tmp_path: Path) -> None:
    images = halves()
    with ndd.inspect(tmp_path / "steps.html"), ndd.EvalMode[mode]:
        small = ndd.resize(ndd.flip(images, vertical=1), size=[32, 48])
        small.evaluate()
    page = Page(tmp_path / "steps.html")
    assert len(page.sections) == 2
    for pictures in page.pictures:
        assert len(pictures) == 6
    assert tuple(page.pictures[1][3][5, 5]) == BLUE


def test_what_nobody_reads_is_not_computed(tmp_path: Path) -> None:
    with ndd.inspect(tmp_path / "steps.html"), ndd.EvalMode.deferred:
        flipped = ndd.flip(halves().evaluate())
    assert flipped._samples is None
    page = Page(tmp_path / "steps.html")
    assert "not computed: nothing has asked for the result" in page.sections[0]


def test_loops_ahead(tmp_path: Path) -> None:
    class Images(ndd.readers.Reader):
        def open_index(self) -> int:
            return 8

        def fetch_sample(self, number: int) -> Any:
            return np.full((16, 16, 3), number, np.uint8)

    def load(capture: bool = False) -> Any:
        for (images,) in Images().next_epoch(batch_size=2, capture=capture):
            yield ndd.flip(images, vertical=1)

    for name, loop in (("ahead", ndd.prefetch(load)), ("capture", load(True))):
        with ndd.inspect(tmp_path / f"{name}.html"):
            for batch in loop:
                batch.evaluate()
        page = Page(tmp_path / f"{name}.html")
        assert len(page.sections) == 1
        assert "yield ndd.flip(images, vertical=1)" in page.sections[0]
        # Dark images of values 0 and 1, before and after.
        assert len(page.pictures[0]) == 4


def test_scenes_and_files_and_failures(tmp_path: Path) -> None:
    box = [[10, 10, 40, 20]]
    with ndd.inspect(tmp_path / "steps.html"):
        scene = ndd.Scene(image=halves(1).tensors[0], boxes=box, labels=[3])
        ndd.flip(scene, horizontal=1).evaluate()
        files = ndd.batch([np.frombuffer(b"no image", np.uint8)])
        with pytest.raises(ndd.DecodeError):
            ndd.decoders.image(files).evaluate()
        with pytest.raises(TypeError):
            ndd.flip(halves(), sideways=1)  # type: ignore[call-overload]
    page = Page(tmp_path / "steps.html")
    assert [text[:7] for text in page.sections] == ["1. flip", "2. deco", "3. flip"]
    before, after = page.pictures[0]
    # The left edge of the box is at 10; mirrored, its right edge is at 86.
    assert tuple(before[15, 10]) == tuple(after[15, 86]) == (230, 75, 53)
    assert "a file of 8 bytes" in page.sections[1]
    assert "DecodeError: decoders.image: sample 0" in page.sections[1]
    assert "unexpected keyword argument 'sideways'" in page.sections[2]


def test_limits(tmp_path: Path) -> None:
    with ndd.inspect(tmp_path / "steps.html", samples=1, calls=1, size=32):
        ndd.flip(halves()).evaluate()
        ndd.copy(halves()).evaluate()
    page = Page(tmp_path / "steps.html")
    assert len(page.sections) == 1
    assert len(page.pictures[0]) == 2
    assert page.pictures[0][0].shape == (21, 32, 3)
    assert "1 more lines with calls" in page.head
    with pytest.raises(ValueError, match="'samples' must be a positive integer; got 0"):
        ndd.inspect(tmp_path / "steps.html", samples=0)
    with pytest.raises(FileNotFoundError), ndd.inspect(tmp_path / "no" / "steps.html"):
        pass


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_page_in_a_browser(tmp_path: Path) -> None:
    page, picture = tmp_path / "steps.html", tmp_path / "picture.png"
    with ndd.inspect(page):
        ndd.flip(halves(), vertical=1).evaluate()
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu"]
    options = [f"--screenshot={picture}", "--window-size=700,500", page.as_uri()]
    subprocess.run([*command, *options], check=True, capture_output=True, timeout=120)
    pixels = np.asarray(Image.open(picture).convert("RGB"), int)
    for color in (RED, BLUE):
        found = np.abs(pixels - color).max(axis=-1) <= 10
        # Half of three images, before and after.
        assert 0.98 < found.sum() / (6 * 32 * 96) <= 1
    rows = np.flatnonzero((np.abs(pixels - RED).max(axis=-1) <= 10).sum(axis=1) > 200)
    assert len(rows) == 64
