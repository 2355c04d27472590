# SPDX-License-Identifier: Apache-2.0
"""Runs the programs on pages: the fenced Python of a page, in order, as one program.

They run in a folder of their own, with the data of `page_data`, know the names `ndd`, `np` and
`train_step`, and find torch's CPU device as the gpu. Programs with prompts (`>>>`) must print what
the page says. A comment `<!-- skip: next -->` stands before what cannot run, with the reason. Pages
about frameworks run where these are installed, by `make test-frameworks`.

With SAVE_PICTURES in the environment, pictures that programs write and their pages show are copied
beside the pages.
"""

from __future__ import annotations

import atexit
import doctest
import functools
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parents[2]
# Which package the programs of a page need; the others need what the tests need.
FRAMEWORKS = {
    "docs/train/lightning.md": "lightning",
    "docs/train/accelerate.md": "accelerate",
    "docs/train/huggingface.md": "transformers",
    "docs/train/jax.md": "orbax",
    # Run by tests/frameworks/ray, where workers find what a page defines.
    "docs/train/ray.md": "ray",
}
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@functools.cache
def page_data() -> Path:
    """The data of all pages, made for the first of them."""
    from support.page_data import make_page_data

    folder = tempfile.mkdtemp(prefix="pages-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_page_data(Path(folder))


class _Page(ModuleType):
    """The names of a page, as those of a module: classes are pickled by the name of theirs."""

    def __init__(self, names: dict[str, Any]) -> None:
        super().__init__("page")
        self._names = names

    def __getattr__(self, name: str) -> Any:
        try:
            return self._names[name]
        except KeyError:
            raise AttributeError(name) from None


def train_step(*_batch: Any) -> None:
    """Stands for what a user does with a batch."""


def run_program(example: Example) -> None:
    """Run a program. It is in a file, since capture mode looks at the source."""
    names, text = example.namespace, str(example.parsed)
    if text.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(text, names, example.path, example.path, 0)
        test.globs = names
        # The first difference is raised as an exception, with what is expected.
        doctest.DebugRunner(verbose=False, optionflags=_FLAGS).run(test, clear_globs=False)
        return
    path = Path(names["_folder"], f"line_{example.line}.py")
    path.write_text(text)
    with warnings.catch_warnings():
        if Path(example.path).relative_to(ROOT).as_posix() in FRAMEWORKS:
            # What frameworks warn about is not ours.
            warnings.simplefilter("ignore")
        exec(compile(text, str(path), "exec", dont_inherit=True), names)


def set_up(namespace: dict[str, Any]) -> None:
    """Prepare the folder and the names of a page."""
    import daliesque as ndd
    from daliesque._engine import devices
    from daliesque._gpu import accelerator

    folder = Path(tempfile.mkdtemp(prefix="page-"))
    for entry in page_data().iterdir():
        (folder / entry.name).symlink_to(entry)
    sys.modules["page"] = _Page(namespace)
    namespace.update(__name__="page", ndd=ndd, np=np, train_step=train_step, _folder=folder)
    namespace["_before"] = (os.getcwd(), os.environ.get(accelerator.VARIABLE), devices._found)
    os.chdir(folder)
    os.environ[accelerator.VARIABLE] = "cpu"
    devices._found = None
    ndd.random.set_seed(0)


def tear_down(namespace: dict[str, Any]) -> None:
    """End what the page began, and remove its folder."""
    import daliesque as ndd
    from daliesque._engine import devices
    from daliesque._gpu import accelerator

    ndd.EvalContext.current().evaluate_all()
    if "SAVE_PICTURES" in os.environ:
        _save_pictures(namespace["_folder"], ROOT / "docs")
    folder, variable, devices._found = namespace["_before"]
    os.chdir(folder)
    if variable is None:
        del os.environ[accelerator.VARIABLE]
    else:
        os.environ[accelerator.VARIABLE] = variable
    shutil.rmtree(namespace["_folder"])
    del sys.modules["page"]
    # What is left of epochs reads ahead as long as somebody has them.
    namespace.clear()


def _save_pictures(folder: Path, docs: Path) -> None:
    for page in docs.glob("*/*.md"):
        for name in re.findall(r"!\[[^]]*\]\((\w[\w-]*\.png)\)", page.read_text()):
            if (folder / name).is_file():
                shutil.copyfile(folder / name, page.parent / name)


def collect_pages() -> Callable[..., Any]:
    """The hook by which pytest finds the pages."""
    others = [page for page, name in FRAMEWORKS.items() if importlib.util.find_spec(name) is None]
    pages = Sybil(
        parsers=[CodeBlockParser(language="python", evaluator=run_program), SkipParser()],
        path=str(ROOT),
        patterns=["README.md", "docs/*.md", "docs/*/*.md"],
        excludes=["docs/_build/**", "docs/gallery/**", "docs/reference/operators/**", *others],
        setup=set_up,
        teardown=tear_down,
    )
    return pages.pytest()
