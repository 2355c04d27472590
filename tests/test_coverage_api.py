# SPDX-License-Identifier: Apache-2.0
"""All public names of the reference besides operators: modules, functions, classes, arguments.

`data/reference_api.json` holds those of release 2.4.0. What is missing, and nothing else, is listed
in `docs/coverage.md`; `test_coverage.py` compares operators and readers.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import daliesque as ndd
from daliesque._readers.core.options import DEFAULTS

ROOT = Path(__file__).parent.parent
REFERENCE: dict[str, Any] = json.loads((ROOT / "tests" / "data" / "reference_api.json").read_text())
MISSING = object()


def find(name: str) -> Any:
    """What a public name stands for, or MISSING."""
    module, _, _ = name.rpartition(".")
    try:
        importlib.import_module(f"daliesque.{module}".rstrip("."))
    except ModuleNotFoundError:
        return MISSING
    return functools.reduce(lambda o, part: getattr(o, part, MISSING), name.split("."), ndd)


def missing_arguments(name: str, function: Any, wanted: list[str]) -> Iterator[str]:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:
        return
    ours = [p for p in parameters if p != "self"]
    anything = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    for argument in wanted:
        if argument not in ours and not anything:
            yield f"{name}({argument})"


def is_there(cls: Any, name: str) -> bool:
    """Whether a class has a member, also one that only its objects have."""
    return hasattr(cls, name) or name in getattr(cls, "__annotations__", {})


def missing_members(name: str, cls: Any, facts: dict[str, Any]) -> Iterator[str]:
    for method, wanted in facts["methods"].items():
        if method == "__init__":
            # The options of readers are not in the signature.
            options = DEFAULTS if name == "readers.Reader" else ()
            yield from missing_arguments(name, cls, [a for a in wanted if a not in options])
        elif not is_there(cls, method):
            yield f"{name}.{method}"
        else:
            yield from missing_arguments(f"{name}.{method}", getattr(cls, method), wanted)
    for member in [*facts["properties"], *facts["special_methods"]]:
        if not is_there(cls, member):
            yield f"{name}.{member}"


def missing() -> set[str]:
    """Everything that the reference has and daliesque has not."""
    found: set[str] = set()
    for module in REFERENCE["modules"]:
        try:
            importlib.import_module(f"daliesque.{module}")
        except ModuleNotFoundError:
            found.add(module)
    for name, wanted in REFERENCE["functions"].items():
        function = find(name)
        found |= {name} if function is MISSING else set(missing_arguments(name, function, wanted))
    for name, facts in REFERENCE["classes"].items():
        cls = find(name)
        found |= {name} if cls is MISSING else set(missing_members(name, cls, facts))
    return {name for name in found if name.rpartition(".")[0] not in found}


def listed_as_missing() -> set[str]:
    text = (ROOT / "docs" / "coverage.md").read_text()
    _, _, names = text.partition("## Other names")
    return set(re.findall(r"^\| `([^`]+)` \|", names, re.MULTILINE))


def test_what_is_missing_is_listed() -> None:
    assert missing() == listed_as_missing()


def test_enumerations_have_the_numbers_of_the_reference() -> None:
    for name, members in REFERENCE["enums"].items():
        ours = getattr(ndd.types, name)
        assert {member.name: member.value for member in ours} == members


def test_element_types() -> None:
    for name in REFERENCE["dtypes"]:
        assert isinstance(getattr(ndd, name), ndd.DType)
