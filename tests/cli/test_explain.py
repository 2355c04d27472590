# SPDX-License-Identifier: Apache-2.0
"""Pages about errors in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from daliesque._cli import main
from daliesque._engine.errors import DOCUMENTED

PAGES = Path(__file__).parents[2] / "docs" / "errors"


@pytest.mark.parametrize("name", DOCUMENTED)
def test_pages_are_installed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out == (PAGES / f"{name}.md").read_text()


@pytest.mark.parametrize(
    ("given", "page"),
    [
        ("daliesque.DecodeError", "DecodeError"),
        ("decodeerror", "DecodeError"),
        ("NotADirectoryError", "OSError"),
        ("ModuleNotFoundError", "ImportError"),
    ],
)
def test_other_names(given: str, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", given]) == 0
    assert capsys.readouterr().out.startswith(f"# {page}\n")


def test_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    text = capsys.readouterr().out
    assert all(f"[{name}]" in text for name in DOCUMENTED)
    assert "toctree" not in text


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "DecodingError"]) == 2
    assert "Did you mean DecodeError?" in capsys.readouterr().err
    assert main(["explain", "int"]) == 2
    assert "There are DecodeError, OpError" in capsys.readouterr().err
