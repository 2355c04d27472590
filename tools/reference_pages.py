# SPDX-License-Identifier: Apache-2.0
"""Writes a page for each operator into docs/reference/operators, from the registry.

    python tools/reference_pages.py

`docs/conf.py` calls it before each build of the site; the pages are not under version control. What
was measured comes from docs/measured: `speed.json` (benchmarks/ops.py --save) and
`differences.json` (pytest tests/oracle --differences), and from the tables of docs/coming-from,
whose rows are tests.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import gallery
import operator_table
import stubs

import daliesque as ndd
from daliesque._engine.op import Operator, registry
from daliesque._gpu.operators import body_of

sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))
from support import peer_calls

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "reference" / "operators"
MEASURED = ROOT / "docs" / "measured"
# The part of a docstring that says where we are not the reference.
_DIFFERS = re.compile(r"Differs from DALI: *(.*?)(?=\n\n|\Z)", re.DOTALL)

# The titles of the domains, in the order of the index.
DOMAINS = {
    "image_decoders": "Decoding images",
    "imread": "Decoding images",
    "audio_decoders": "Decoding audio, video and arrays",
    "video_decoders": "Decoding audio, video and arrays",
    "data_decoders": "Decoding audio, video and arrays",
    "files": "Files",
    "resize": "Resizing",
    "crop": "Cropping and padding",
    "flip": "Geometry",
    "warp": "Geometry",
    "remap": "Geometry",
    "displacement": "Geometry",
    "transforms": "Geometry",
    "color": "Color and tone",
    "tone": "Color and tone",
    "debayer": "Color and tone",
    "filters": "Filters, noise and compression",
    "noise": "Filters, noise and compression",
    "jpeg": "Filters, noise and compression",
    "compose": "Composing and erasing",
    "dropout": "Composing and erasing",
    "mixing": "Mixing samples",
    "auto_aug": "Automatic augmentation",
    "boxes": "Boxes, masks and points",
    "bbox_crop": "Boxes, masks and points",
    "masks": "Boxes, masks and points",
    "points": "Boxes, masks and points",
    "audio": "Audio",
    "spectral": "Audio",
    "video": "Sequences",
    "random": "Random numbers",
    "arithmetic": "Numbers",
    "reduce": "Numbers",
    "normalize": "Numbers",
    "lookup": "Numbers",
    "generic": "Types, shapes and copies",
    "fill": "Types, shapes and copies",
    "join": "Types, shapes and copies",
    "shape": "Types, shapes and copies",
    "slice": "Types, shapes and copies",
}


class Docstring(NamedTuple):
    """The parts of a docstring in the style of NumPy."""

    summary: str
    description: str
    parameters: dict[str, str]
    returns: str
    example: str
    differs: str


def read_docstring(text: str) -> Docstring:
    """Take a docstring apart."""
    found = _DIFFERS.search(text)
    differs = " ".join(found[1].split()) if found else ""
    text = _DIFFERS.sub("", text)
    parts = re.split(r"^(Parameters|Returns|Examples)\n-+\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    summary, _, description = parts[0].strip().partition("\n\n")
    return Docstring(
        " ".join(summary.split()),
        description.strip(),
        _read_parameters(sections.get("Parameters", "")),
        inspect.cleandoc(sections.get("Returns", "")),
        inspect.cleandoc(sections.get("Examples", "")),
        differs,
    )


def _read_parameters(text: str) -> dict[str, str]:
    """What is said about each parameter; several may share an entry."""
    text = re.sub(r",\n(?=\S)", ", ", text)
    entries = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    found = {}
    for entry in filter(str.strip, entries):
        names, _, words = entry.partition("\n")
        for name in names.split(","):
            found[name.strip().lstrip("*")] = " ".join(words.split())
    return found


def cell(text: str) -> str:
    """A text that fits into the cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def argument_list(operator: Operator, words: Docstring) -> str:
    """An entry for each argument: name, type, default, meaning."""
    texts = stubs.argument_texts(operator) | _COMMON_TYPES
    entries = []
    for argument, text in texts.items():
        kind, _, default = text.partition(" = ")
        kind = kind.removesuffix(" | None")
        shown = f", by default `{default}`" if default else ", required"
        meaning = words.parameters.get(argument) or _COMMON.get(argument, "")
        entries.append(f"`{argument}`: `{kind}`{shown}\n: {meaning or '...'}\n")
    return "\n".join(entries)


_COMMON = {
    "rng": "The generator of the random numbers; by default that of the thread.",
    "batch_size": "Make a Batch of this many samples of inputs and arguments that are none.",
    "device": '"cpu" or "gpu": where it runs; by default where the inputs are.',
}
_COMMON_TYPES = {"batch_size": "int = None", "device": "Device | str = None"}


# Names that docstrings take as known, and what to import for them.
_IMPORTS = {"ndd": "daliesque as ndd", "np": "numpy as np"}


def with_imports(text: str) -> str:
    """A text whose example begins with the imports that it needs, for copy and paste."""
    code = "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)$", text, re.MULTILINE))
    missing = [
        module
        for name, module in _IMPORTS.items()
        if re.search(rf"\b{name}\b", code) and f"as {name}" not in code
    ]
    if not missing:
        return text
    return re.sub(
        r"^( *)>>> ", rf"\1>>> import {', '.join(missing)}\n\g<0>", text, count=1, flags=re.M
    )


def facts(name: str, operator: Operator) -> list[str]:
    """What the registry knows: layouts, types, frames, devices, randomness."""
    found = []
    if operator.layouts:
        layouts = ", ".join(f"`{layout}`" for layout in operator.layouts.split())
        found.append(f"Layouts: {layouts}" + (_CHANNELS if "C" in operator.layouts else ""))
    if operator.sequences or operator.expands_frames:
        found.append("Sequences: frame by frame; `ndd.per_frame` arguments may differ by frame")
    if operator.dtypes is not None:
        found.append("Types: " + ", ".join(f"`{dtype}`" for dtype in operator.dtypes))
    on_gpu = body_of(operator) is not None
    note = operator_table.NOTES.get(name, "")
    found.append("Devices: cpu" + (", gpu" + (f" ({note})" if note else "") if on_gpu else ""))
    if operator.is_random:
        found.append("Random: the same seed gives the same numbers in every mode, on any threads")
    return found


_CHANNELS = "; with channels first or without channels where that is clear"


def pictures(name: str) -> str:
    """The pictures of an operator, with the calls that made them."""
    shown = []
    for entry in gallery.entries():
        if entry.operator == name:
            shown.append(f"```python\n{entry.call}\n```\n\n![](../../gallery/{entry.file})\n")
    if shown:
        shown.insert(0, "With the images and scenes of [the gallery](../../gallery/README.md):\n")
    return "\n".join(shown)


def measured(name: str) -> str:
    """What was measured: cost, and differences from other libraries."""
    lines = []
    speed = _load("speed.json").get("rows", {}).get(name)
    if speed is not None and "samples" in speed:
        cost = speed["milliseconds"] * 1000 / speed["samples"]
        shape = "x".join(str(extent) for extent in speed["shape"]) or "one number"
        ratio = f"; {speed['ratio']:.1f} times as fast as DALI" if speed.get("ratio") else ""
        lines.append(
            f"Cost: {cost:.3g} us for a sample ({shape}), in batches of {speed['samples']} on two "
            f"threads{ratio}"
        )
    for library, found in _load("differences.json").get(name, {}).items():
        lines.append(f"Largest difference from {library}: {found}")
    return "\n".join(f"- {line}" for line in lines)


LIBRARIES = {
    "opencv": "OpenCV",
    "torchvision": "torchvision",
    "albumentations": "Albumentations",
    "librosa": "librosa",
}


def beside_others(name: str) -> str:
    """The calls of other libraries that do the same, and how far their results are."""
    rows = [
        f"| {LIBRARIES[row.page]} | {code(row.theirs)} | {code(row.ours)} | {row.stated} |"
        for row in _peer_rows()
        if outermost(row.ours) == name
    ]
    if not rows:
        return ""
    head = "| library | their call | here | largest difference |\n|---|---|---|---|\n"
    unit = "a share of the largest value" if _is_audio(name) else "in levels of 255"
    return f"Differences are {unit}; [how they were measured](../../coming-from/index.md).\n\n" + (
        head + "\n".join(rows)
    )


def outermost(call: str) -> str:
    """The operator whose result a call is."""
    return call.partition("(")[0].removeprefix("ndd.")


def code(text: str) -> str:
    """Text as code in a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def _is_audio(name: str) -> bool:
    return any(row.page in peer_calls.AUDIO for row in _peer_rows() if outermost(row.ours) == name)


@functools.cache
def _peer_rows() -> list[peer_calls.Row]:
    return [row for page in LIBRARIES for row in peer_calls.rows(page)]


def _load(name: str) -> dict[str, Any]:
    path = MEASURED / name
    return json.loads(path.read_text()) if path.is_file() else {}


def operator_page(name: str, operator: Operator) -> str:
    """The page of an operator."""
    words = read_docstring(inspect.getdoc(operator.body) or "")
    given = [f"{'*' * declared.variadic}{declared.name}" for declared in operator.inputs]
    inputs = ", ".join([*given, "..."])
    parts = [f"# {name}", words.summary, f"```python\nndd.{name}({inputs})\n```"]
    parts += [words.description] if words.description else []
    described = [
        f"- `{declared.name}`: {words.parameters[declared.name]}"
        for declared in operator.inputs
        if declared.name in words.parameters
    ]
    if described:
        parts += ["## Inputs", "\n".join(described)]
    parts += ["## Arguments", argument_list(operator, words)]
    parts += [f"## Returns\n\n{words.returns}"] if words.returns else []
    parts += ["## Example", f"```python\n{with_imports(words.example)}\n```"]
    parts += [pictures(name)]
    parts += ["## Where it runs", "\n".join(f"- {fact}" for fact in facts(name, operator))]
    numbers = measured(name)
    parts += ["## Measured", numbers] if numbers else []
    others = beside_others(name)
    parts += ["## Beside other libraries", others] if others else []
    parts += ["## Differs from DALI", words.differs] if words.differs else []
    return "\n\n".join(filter(None, parts)) + "\n"


def index_page() -> str:
    """The list of all operators, by what they are for."""
    families: dict[str, list[str]] = {title: [] for title in DOMAINS.values()}
    for name, operator in sorted(registry.items()):
        domain = operator.body.__module__.rpartition(".")[2]
        summary = read_docstring(inspect.getdoc(operator.body) or "").summary
        families[DOMAINS[domain]].append(f"| [`{name}`]({name}.md) | {cell(summary)} |")
    parts = [f"# Operators\n\nAll {len(registry)} of them, by what they are for.\n"]
    for title, rows in families.items():
        parts.append(f"## {title}\n\n| operator | |\n|---|---|\n" + "\n".join(rows) + "\n")
    names = "\n".join(sorted(registry))
    return "\n".join(parts) + f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def write_pages() -> None:
    """Write the pages; those that have not changed stay as they are."""
    TARGET.mkdir(parents=True, exist_ok=True)
    texts = {f"{name}.md": operator_page(name, operator) for name, operator in registry.items()}
    texts["index.md"] = index_page()
    for path in TARGET.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = TARGET / name
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    write_pages()
    print(f"{len(registry)} operators of daliesque {ndd.__version__}")
