# SPDX-License-Identifier: Apache-2.0
"""What is printed for an error: the user's lines, and where to read about it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import daliesque as ndd
from daliesque._engine.errors import DOCUMENTED, PAGES, page_of

ROOT = Path(__file__).parents[2]
HINT = "DALIESQUE_TRACEBACK=full shows all frames"
BEGIN = """
import numpy as np
import daliesque as ndd

images = ndd.batch(np.zeros((2, 8, 8, 3), np.uint8), layout="HWC")
"""
LATE = """
def augment(batch):
    return ndd.decoders.image(batch)

broken = augment(ndd.batch([np.frombuffer(b"no image", np.uint8)]).evaluate())
print("made")
broken.numpy()
"""


def see(name: str) -> str:
    return f"See docs/errors/{name}.md, or run: python -m daliesque explain {name}"


def printed(program: str, tmp_path: Path, **variables: str) -> str:
    """What a program that fails writes to the standard error output."""
    path = tmp_path / "program.py"
    path.write_text(BEGIN + program)
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1
    return done.stderr.replace(str(path), "program.py")


def test_wrong_call(tmp_path: Path) -> None:
    text = printed("ndd.flip(images, sideways=1)\n", tmp_path)
    assert text == (
        "Traceback (most recent call last):\n"
        '  File "program.py", line 6, in <module>\n'
        "    ndd.flip(images, sideways=1)\n"
        "TypeError: flip() got an unexpected keyword argument 'sideways'. "
        + text.partition("'sideways'. ")[2].partition("\n")[0]
        + f"\n{HINT}\n{see('TypeError')}\n"
    )


def test_failure_in_the_background_shows_the_call(tmp_path: Path) -> None:
    """The line that made the call, with the columns of the call, then where it was read."""
    lines = printed(LATE, tmp_path).splitlines()
    assert lines[:4] == [
        "Traceback (most recent call last):",
        '  File "program.py", line 8, in augment',
        "    return ndd.decoders.image(batch)",
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^",
    ]
    assert lines[4].startswith("daliesque.DecodeError: decoders.image: sample 0")
    assert lines[5:] == [
        "from decoders.image() at program.py:8, in augment, mode eager",
        "read at program.py:12, in <module>",
        HINT,
        see("DecodeError"),
    ]


def test_all_frames_if_asked_for(tmp_path: Path) -> None:
    text = printed(LATE, tmp_path, DALIESQUE_TRACEBACK="full")
    assert "_engine" in text
    assert "The above exception was the direct cause" in text
    assert text.rstrip().endswith(see("DecodeError"))


def test_code_of_the_user_inside_of_ours_stays(tmp_path: Path) -> None:
    program = """
class Mine(ndd.readers.Reader):
    def open_index(self):
        return self.helper()
    def fetch_sample(self, number):
        return number
    def helper(self):
        return {}["missing"]
Mine()
"""
    text = printed(program, tmp_path)
    frames = re.findall(r"in (\w+|<module>)$", text, re.MULTILINE)
    assert frames == ["<module>", "open_index", "helper"]
    assert "KeyError: 'missing'" in text
    # An error of the user's own code is in no page of ours.
    assert "docs/errors" not in text


def test_faults_of_ours_and_errors_of_others_are_shown_whole(tmp_path: Path) -> None:
    fault = "images._data().slice(np.zeros((5, 3), np.int64), [False], '')\n"
    assert "daliesque.InternalError" in printed(fault, tmp_path)
    text = printed("def f():\n    1 / 0\nf()\n", tmp_path)
    assert text.count("File") == 2
    assert "DALIESQUE_TRACEBACK" not in text


def test_hooks_of_others_still_print(tmp_path: Path) -> None:
    program = """
import sys
print_error = sys.excepthook
def mine(kind, error, traceback):
    sys.stderr.write("mine\\n")
    print_error(kind, error, traceback)
sys.excepthook = mine
ndd.flip(images, sideways=1)
"""
    text = printed(program, tmp_path)
    assert text.startswith("mine\n")
    assert see("TypeError") in text
    assert "_engine" not in text


def test_the_exception_keeps_its_frames() -> None:
    from daliesque._show.tracebacks import shortened

    with pytest.raises(TypeError) as caught:
        ndd.flip(ndd.batch([1]), sideways=1)  # type: ignore[call-overload]
    error = caught.value
    before = error.__traceback__
    with shortened(error) as short:
        assert error.__traceback__ is short
        assert short is not before
    assert error.__traceback__ is before
    assert not hasattr(error, "__notes__")


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("colors", "nocolor")
shell.run_cell("import numpy as np, daliesque as ndd")
shell.run_cell("ndd.flip(ndd.batch([1]), sideways=1)")
print("=====")
shell.run_cell('''files = ndd.batch([np.frombuffer(b"no image", np.uint8)]).evaluate()
broken = ndd.decoders.image(files)''')
shell.run_cell("broken.numpy()")
print("=====")
shell.run_cell("1 / 0")
"""


def test_notebooks(tmp_path: Path) -> None:
    pytest.importorskip("IPython")
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        cwd=tmp_path,
    )
    call, late, other = done.stdout.split("=====")
    assert "ndd.flip(ndd.batch([1]), sideways=1)" in call
    assert "TypeError: flip() got an unexpected keyword argument" in call
    assert see("TypeError") in call
    assert "broken = ndd.decoders.image(files)" in late
    assert "DecodeError: decoders.image: sample 0" in late
    assert see("DecodeError") in late
    for text in (call, late):
        assert "site-packages" not in text
        assert "_engine" not in text
    assert "ZeroDivisionError" in other
    assert "daliesque" not in other


def test_every_class_has_a_page() -> None:
    pages = {path.stem: path.read_text() for path in (ROOT / PAGES).glob("*.md")}
    index = pages.pop("index")
    assert set(pages) == set(DOCUMENTED)
    for name, text in pages.items():
        headings = re.findall(r"^##? (.*)$", text, re.MULTILINE)
        assert headings == [name, "Cause", "Example", "Fix"]
        assert f"[{name}]({name}.md)" in index
    public = {
        name
        for name in ndd.__all__
        if isinstance(kind := getattr(ndd, name), type) and issubclass(kind, BaseException)
    }
    assert public <= set(pages)


def test_addresses() -> None:
    assert page_of(ndd.DecodeError) == see("DecodeError")
    assert page_of(NotADirectoryError) == see("OSError")
    assert page_of(UnicodeDecodeError) == see("ValueError")
    assert page_of(KeyError) == "See docs/errors/index.md"
    assert ndd.OpError("x").__notes__ == [see("OpError")]
