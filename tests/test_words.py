# SPDX-License-Identifier: Apache-2.0
"""The words of the project: what the checker finds, and what it leaves alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import check_words  # noqa: E402


def words(text: str) -> list[str]:
    return [found.word for found in check_words.check_text(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the colour of a grey pixel", ["colour", "grey"]),
        ("Recoloured at its centre", ["recoloured", "centre"]),
        ("uninitialised neighbours", ["uninitialised", "neighbours"]),
        ("dequantisation, vectorised", ["dequantisation", "vectorised"]),
        ("def find_sound(place: int):", ["sound", "place"]),
        ("struct SoundBytes final", ["sound"]),
        ("const int64_t rowPlace = kRoomLeft;", ["place", "room"]),
        ("if self._turned and _GREY:", ["turned", "grey"]),
        ("// the last lap, told by himself", ["lap", "told", "himself"]),
        ("troubles and complaints", ["troubles", "complaints"]),
        ("inks are turned in turn", ["inks", "turned"]),
    ],
)
def test_words_are_found(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "return overlap(mushroom, laplacian, replaced, emplace_back)",
        "sorted in place; this takes place once; three decimal places; in-place",
        "each sample in turn; the readers in turn",
        "soundfile.SoundFile(path); file.tell()",
        "colors, gray, centers, normalize, exercise, precise, otherwise, size_t, rise",
        "std::vector initializer; license; labeled; neighbor; link; think; drink",
        "placeholder, placement, Placement, headroom, parallelism, realistic",
    ],
)
def test_other_words_are_not(text: str) -> None:
    assert words(text) == []


def test_findings_name_file_line_word_and_remedy() -> None:
    (found,) = check_words.check_text("fine\nthe last lap\n", "some/file.py")
    assert str(found) == "some/file.py:2: 'lap': pass (over the shard)"


def test_names_of_files_count(tmp_path: Path) -> None:
    path = tmp_path / "sound_makers.py"
    path.write_text("# nothing else\n")
    assert [(found.line, found.word) for found in check_words.check_file(path)] == [(0, "sound")]


def test_the_program_fails_if_there_are_findings(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text("a color\n")
    bad.write_text("a colour\n")
    command = [sys.executable, str(ROOT / "tools" / "check_words.py")]
    for path, code, printed in ((good, 0, ""), (bad, 1, "bad.md:1: 'colour': color\n")):
        result = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (code, printed)


def test_the_glossary_lists_the_words() -> None:
    """Each word that the table of the glossary replaces is one that the checker finds."""
    table = (ROOT / "docs" / "glossary.md").read_text().split("## Words that are not used")[1]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)[1:]
    assert len(rows) >= 15
    for row in rows:
        listed = [w for w in re.split(r"[, ]+", row) if w not in {"...", "and", "its"}]
        assert words(" ".join(listed)) == listed


def test_no_file_has_a_word_that_is_not_used() -> None:
    files = check_words.tracked_files()
    assert len(files) > 500
    assert [str(found) for path in files for found in check_words.check_file(path)] == []
