# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in files: numbers, patterns, and processes that end while they save."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque.checkpoint import Checkpoint

SCRIPT = Path(__file__).parents[1] / "support" / "kill_saves.py"
KILLS = 200


def of_seed(seed: int) -> Checkpoint:
    checkpoint = Checkpoint()
    checkpoint.register(ndd.random.RNG(seed=seed), "rng")
    checkpoint.collect()
    return checkpoint


def loaded_draw(pattern: str | Path) -> int:
    checkpoint, rng = Checkpoint(), ndd.random.RNG(seed=999)
    checkpoint.load(str(pattern))
    checkpoint.register(rng, "rng")
    return rng()


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("state_{seq:04d}.json", ["state_0000.json", "state_0001.json"]),
        ("{seq}", ["0", "1"]),
        ("[a-z]_{seq}*.bin", ["[a-z]_0*.bin", "[a-z]_1*.bin"]),
        ("{{x}}{seq:>4}", ["{x}   0", "{x}   1"]),
        ("{seq:02x}.json", ["00.json", "01.json"]),
        ("run/{seq}/state.json", ["run/0/state.json", "run/1/state.json"]),
    ],
)
def test_patterns(pattern: str, names: list[str], tmp_path: Path) -> None:
    path = str(tmp_path / pattern)
    # Each by an object of its own, which looks for a number.
    assert of_seed(1).save(path) == str(tmp_path / names[0])
    assert of_seed(2).save(path) == str(tmp_path / names[1])
    assert loaded_draw(path) == ndd.random.RNG(seed=2)()
    files = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file())
    assert files == sorted(names)


def test_numbers_go_on(tmp_path: Path) -> None:
    pattern = str(tmp_path / "{seq}.json")
    checkpoint = of_seed(1)
    assert [Path(checkpoint.save(pattern)).name for _ in range(11)][-1] == "10.json"
    (tmp_path / "11.json").write_text("another's")
    assert Path(checkpoint.save(pattern)).name == "12.json"
    assert (tmp_path / "11.json").read_text() == "another's"
    again = Checkpoint()
    assert Path(again.load(pattern)).name == "12.json"
    again.register(ndd.random.RNG(), "rng")
    assert Path(again.save(pattern)).name == "13.json"


def test_hexadecimal_numbers_are_ordered(tmp_path: Path) -> None:
    checkpoint = of_seed(1)
    pattern = str(tmp_path / "{seq:x}.json")
    for _ in range(17):
        last = checkpoint.save(pattern)
    assert Path(last).name == "10.json"
    assert Checkpoint().load(pattern) == last


@pytest.mark.parametrize("pattern", ["state.json", "{seq}{seq}", "{other}", "{seq}_{0}", "{", "{}"])
def test_patterns_need_one_field(pattern: str, tmp_path: Path) -> None:
    for method in (of_seed(1).save, Checkpoint().load):
        with pytest.raises(ValueError, match=r"'filename' must .*seq|'filename' must be a format"):
            method(str(tmp_path / pattern))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_loaded(tmp_path: Path) -> None:
    pattern = str(tmp_path / "state_{seq}.json")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        Checkpoint().load(pattern)
    (tmp_path / "state_3.json").write_text("{")
    with pytest.raises(ValueError, match=r'cannot read ".*state_3\.json": Invalid checkpoint'):
        Checkpoint().load(pattern)


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = str(tmp_path / "{seq}.json")
    of_seed(1).save(pattern)

    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        of_seed(2).save(pattern)
    assert [path.name for path in tmp_path.iterdir()] == ["0.json"]
    assert loaded_draw(pattern) == ndd.random.RNG(seed=1)()


def test_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: str) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    of_seed(4).save(str(tmp_path / "{seq}.json"))
    assert loaded_draw(tmp_path / "{seq}.json") == ndd.random.RNG(seed=4)()
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes that were forked")
def test_kills_leave_a_checkpoint(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), str(KILLS), "1"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    saved, unfinished = map(int, result.stdout.split())
    # Some of the kills came after a save, and some in the middle of one.
    assert saved > 0
    assert unfinished > 0
