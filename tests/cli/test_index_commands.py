# SPDX-License-Identifier: Apache-2.0
"""The commands that write indices, called as those of the reference are."""

from __future__ import annotations

import io
import sys
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque import index
from daliesque._cli import index as commands
from support.record_files import (
    RECORDIO_MAGIC,
    image_record,
    write_recordio,
    write_tfrecord,
)

ROOT = Path(__file__).parent.parent.parent


def call(
    monkeypatch: pytest.MonkeyPatch, command: Callable[[], None], *arguments: Path | str
) -> None:
    monkeypatch.setattr(sys, "argv", ["command", *map(str, arguments)])
    command()


def write_tar(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for name, data in (("a.jpg", b"first"), ("a.cls", b"1"), ("b.jpg", b"2")):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def test_the_commands_are_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert sorted(scripts) == ["rec2idx", "tfrecord2idx", "wds2idx"]
    for target in scripts.values():
        module, _, function = target.partition(":")
        assert module == commands.__name__
        assert callable(getattr(commands, function))


def test_tfrecord2idx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, wanted = tmp_path / "data", tmp_path / "wanted"
    write_tfrecord(data, [b"one", b"", b"three" * 50], wanted)
    call(monkeypatch, commands.tfrecord2idx_command, data, tmp_path / "made")
    assert (tmp_path / "made").read_text() == wanted.read_text()


def test_wds2idx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "train.tar"
    write_tar(archive)
    call(monkeypatch, commands.wds2idx_command, archive, tmp_path / "made")
    lines = (tmp_path / "made").read_text().splitlines()
    assert lines[0] == "v1.2 2"
    assert lines[1] == "jpg 512 5 a.jpg cls 1536 1 a.cls"
    # Without the second argument the index is beside the archive.
    call(monkeypatch, commands.wds2idx_command, archive)
    assert (tmp_path / "train.idx").read_text().splitlines() == lines


def test_rec2idx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [
        image_record(image, [label])
        for image, label in ((b"one", 1.0), (b"1234" + RECORDIO_MAGIC + b"56", 7.0), (b"", 3.0))
    ]
    data, wanted, made = tmp_path / "data.rec", tmp_path / "wanted", tmp_path / "made"
    write_recordio([data], [records], wanted)
    call(monkeypatch, commands.rec2idx_command, data, made)
    assert made.read_text() == wanted.read_text()
    reader = ndd.readers.MXNet(path=data, index_path=made)
    assert [label.item() for _, label in reader.next_epoch()] == [1.0, 7.0, 3.0]
    index.main([str(data)])
    assert (tmp_path / "data.idx").read_text() == wanted.read_text()


def test_files_that_are_no_records(tmp_path: Path) -> None:
    for content in (b"junk" * 10, RECORDIO_MAGIC + b"\xff\0\0\0", RECORDIO_MAGIC):
        path = tmp_path / "bad.rec"
        path.write_bytes(content)
        with pytest.raises(ndd.OpError, match=r"bad\.rec.* no RecordIO file, or damaged"):
            index.rec2idx(path)


def test_wrong_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        call(monkeypatch, commands.rec2idx_command)
    assert "record" in capsys.readouterr().err
