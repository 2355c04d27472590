# SPDX-License-Identifier: Apache-2.0
"""`python -m daliesque view`."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
import subprocess
import tarfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from daliesque._cli import main
from daliesque._cli.progress import Progress
from support.record_files import example, write_tfrecord

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# Name, label, (width, height), format.
FILES = [
    ("a", "cat", (320, 200), "JPEG"),
    ("b", "cat", (200, 320), "PNG"),
    ("c", "dog", (64, 64), "JPEG"),
]


def encoded(size: tuple[int, int], kind: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, (200, 30, 30)).save(out, kind)
    return out.getvalue()


class Page(HTMLParser):
    """What a page holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[Image.Image] = []
        self.addresses: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("src", "href") and value is not None:
                head, _, data = value.partition(",")
                if head == "data:image/jpeg;base64":
                    self.pictures.append(Image.open(io.BytesIO(base64.b64decode(data))))
                else:
                    self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        self.words += data + "\n"


def view(data: Path, *options: str) -> tuple[int, Page]:
    page = data.parent / "page.html"
    code = main(["view", str(data), "-o", str(page), *options])
    return code, Page(page.read_text())


def check(page: Page) -> None:
    assert [picture.size for picture in page.pictures] == [(160, 100), (100, 160), (64, 64)]
    assert page.addresses == []
    for text in ("cat\n2\n", "dog\n1\n", "JPEG\n2\n", "PNG\n1\n", "3\nsamples", "0\nbroken"):
        assert text in page.words
    reds = np.asarray(page.pictures[0].convert("RGB"), int).reshape(-1, 3)
    assert np.abs(reds - (200, 30, 30)).max() <= 8


def test_folder(tmp_path: Path) -> None:
    for name, label, size, kind in FILES:
        folder = tmp_path / "set" / label
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.{kind.lower()}").write_bytes(encoded(size, kind))
    (tmp_path / "set" / "notes.txt").write_text("not an image")
    code, page = view(tmp_path / "set")
    assert code == 0
    check(page)


def test_links_to_folders_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "disk" / "cat").mkdir(parents=True)
    (tmp_path / "disk" / "cat" / "a.png").write_bytes(encoded((64, 64), "PNG"))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "cat").symlink_to(tmp_path / "disk" / "cat")
    (tmp_path / "disk" / "cat" / "again").symlink_to(tmp_path / "set")
    code, page = view(tmp_path / "set")
    assert code == 0
    assert len(page.pictures) == 1
    assert "cat\n1\n" in page.words


def test_archive(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "set.tar", "w") as archive:
        for name, label, size, kind in FILES:
            ending = "jpg" if kind == "JPEG" else "png"
            for file, data in ((f"{name}.{ending}", encoded(size, kind)), (f"{name}.cls", label)):
                content = data if isinstance(data, bytes) else data.encode()
                member = tarfile.TarInfo(file)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    code, page = view(tmp_path / "set.tar")
    assert code == 0
    check(page)


def test_tfrecord(tmp_path: Path) -> None:
    rows = [
        example({"image/encoded": [encoded(size, kind)], "image/class/text": [label.encode()]})
        for _, label, size, kind in FILES
    ]
    write_tfrecord(tmp_path / "set.tfrecord", rows)
    code, page = view(tmp_path / "set.tfrecord")
    assert code == 0
    check(page)


def test_parquet(tmp_path: Path) -> None:
    images = [{"bytes": encoded(size, kind), "path": name} for name, _, size, kind in FILES]
    table = pa.table({"image": images, "label": [label for _, label, _, _ in FILES]})
    pq.write_table(table, tmp_path / "set.parquet")
    code, page = view(tmp_path / "set.parquet")
    assert code == 0
    check(page)


def test_coco_draws_boxes(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(encoded((100, 100), "PNG"))
    content = {
        "images": [{"id": 1, "file_name": "x.png"}, {"id": 2, "file_name": "gone.png"}],
        "annotations": [{"image_id": 1, "bbox": [20, 30, 40, 50], "category_id": 7}],
        "categories": [{"id": 7, "name": "kite"}],
    }
    (tmp_path / "set.json").write_text(json.dumps(content))
    code, page = view(tmp_path / "set.json")
    assert code == 1
    assert "kite\n1\n" in page.words
    assert "gone.png\nNo such file or directory" in page.words
    pixels = np.asarray(page.pictures[0].convert("RGB"), int)
    # The right edge is far from the name in the corner.
    assert np.abs(pixels[60, 60] - (230, 75, 53)).max() <= 30


def test_broken_files_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    good = encoded((64, 64), "JPEG")
    (folder / "good.jpg").write_bytes(good)
    (folder / "cut.jpg").write_bytes(good[: len(good) // 3])
    (folder / "empty.png").write_bytes(b"")
    code, page = view(folder)
    assert code == 1
    assert "2\nbroken" in page.words
    assert "cut.jpg" in page.words
    assert "empty.png" in page.words
    assert len(page.pictures) == 1


def test_thumbnails_and_samples_are_limited(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02d}.jpg").write_bytes(encoded((32, 32), "JPEG"))
    assert len(view(folder, "--thumbnails", "5")[1].pictures) == 5
    assert "7\nsamples" in view(folder, "--most", "7")[1].words


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "there is no file or folder"),
        ("notes.txt", "is of no known kind"),
        ("broken.json", "is not in the format of COCO"),
        ("empty", "no images were found"),
    ],
)
def test_errors(
    name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "broken.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    assert main(["view", str(tmp_path / name), "-o", str(tmp_path / "page.html")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_page_in_a_browser(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(encoded((100, 80), "PNG"))
    page = tmp_path / "page.html"
    assert main(["view", str(tmp_path), "-o", str(page)]) == 0
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu"]
    picture = tmp_path / "picture.png"
    options = [f"--screenshot={picture}", "--window-size=400,800", page.as_uri()]
    subprocess.run([*command, *options], check=True, capture_output=True, timeout=120)
    pixels = np.asarray(Image.open(picture).convert("RGB"), int)
    red = np.abs(pixels - (200, 30, 30)).max(axis=-1) <= 10
    # All of the three, whole, in a window as narrow as a phone.
    assert 0.95 < red.sum() / (3 * 100 * 80) <= 1


def test_progress_is_silent_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("files", 10) as progress:
        progress.advance(10)
    assert capsys.readouterr().err == ""


def test_progress_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("daliesque._cli.progress._INTERVAL", 0)
    with Progress("files", 10) as progress:
        progress.advance(5)
    text = capsys.readouterr().err
    assert re.search(r"\[#{15}\.{15}\] 5 of 10 files, \d+ s left", text)
