# SPDX-License-Identifier: Apache-2.0
"""Writes SKILL.md and llms.txt from the pages of the documentation and the registry.

python tools/assistant_pages.py
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import reference_pages
import stubs

from daliesque import readers
from daliesque._engine.op import Operator, registry

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SECTIONS = ("learn", "train", "recipes", "faster", "errors", "coming-from", "inside")
HEADER = """---
name: daliesque
description: Write data loading and augmentation with daliesque (import daliesque as ndd): \
readers, decoders and operators for images, audio, video, boxes and masks in plain Python loops.
---

"""


def signature(name: str, operator: Operator) -> str:
    """A call in one line, with the defaults, and what it does."""
    inputs = [f"{'*' * declared.variadic}{declared.name}" for declared in operator.inputs]
    arguments = []
    for argument, text in stubs.argument_texts(operator).items():
        default = text.partition(" = ")[2]
        arguments.append(f"{argument}={default}" if default else argument)
    words = reference_pages.read_docstring(inspect.getdoc(operator.body) or "")
    separator = ["/", "*"] if inputs and arguments else ["*"] if arguments else []
    return f"- `ndd.{name}({', '.join([*inputs, *separator, *arguments])})`: {words.summary}"


def skill() -> str:
    """The text of SKILL.md."""
    page = (DOCS / "assistants.md").read_text()
    page = page.replace("# For assistants\n\n", "# daliesque\n\n").replace(
        "`SKILL.md` in the repository holds this page and all signatures; `llms.txt` lists the"
        " pages.",
        "All signatures are at the end.",
    )
    calls = [signature(name, operator) for name, operator in sorted(registry.items())]
    classes = []
    for name in readers.__all__:
        kind = getattr(readers, name)
        summary = (inspect.getdoc(kind) or "").partition("\n")[0]
        if inspect.isclass(kind):
            classes.append(f"- `ndd.readers.{name}`: {summary}")
    return (
        f"{HEADER}{page}\n## Readers\n\n" + "\n".join(classes) + "\n\n## Operators\n\nAll take "
        "`batch_size=None` and `device=None` as well.\n\n" + "\n".join(calls) + "\n"
    )


def first_sentence(page: Path) -> tuple[str, str]:
    """The title of a page, and its first sentence."""
    text = page.read_text()
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    begin = r"^# .+\n+(?:## .+\n+)?(?:```.*?```\n+)?"
    body = re.search(begin + r"([A-Z`].+?[.:])(?:\s|$)", text, re.MULTILINE)
    return (title[1] if title else page.stem), (body[1] if body else "").rstrip(":")


def llms() -> str:
    """The text of llms.txt."""
    lines = [
        "# daliesque",
        "",
        "> Imperative data loading and augmentation for deep learning, with the API of DALI's "
        "dynamic mode, on any CPU.",
        "",
        "- [SKILL.md](SKILL.md): rules, idioms, mistakes and all signatures on one page.",
    ]
    pages = {"Guides": sorted(DOCS.glob("*.md"))}
    pages |= {name.capitalize(): sorted((DOCS / name).glob("*.md")) for name in SECTIONS}
    for section, paths in pages.items():
        lines += ["", f"## {section}", ""]
        for path in paths:
            title, sentence = first_sentence(path)
            if (
                path.name not in ("index.md", "operators.md")
                and "{include}" not in path.read_text()
            ):
                lines.append(f"- [{title}]({path.relative_to(ROOT)}): {sentence}")
    return "\n".join(lines) + "\n"


def write_pages() -> None:
    """Write both files."""
    (ROOT / "SKILL.md").write_text(skill())
    (ROOT / "llms.txt").write_text(llms())


if __name__ == "__main__":
    write_pages()
