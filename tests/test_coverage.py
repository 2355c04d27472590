# SPDX-License-Identifier: Apache-2.0
"""Every operator of the reference is there, with all its arguments and defaults.

`data/reference_operators.json` holds the names, arguments and defaults of release 2.4.0. What is
missing, and nothing else, is listed in `docs/coverage.md` with the reason.
"""

from __future__ import annotations

import inspect
import json
import operator
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.op import registry
from daliesque._readers.core.options import DEFAULTS
from support.compare import assert_close

ROOT = Path(__file__).parent.parent
REFERENCE: dict[str, Any] = json.loads(
    (ROOT / "tests" / "data" / "reference_operators.json").read_text()
)
# A random operator takes `rng` in place of a seed.
REPLACED = {"seed"}


def listed_as_missing() -> set[str]:
    text, _, _ = (ROOT / "docs" / "coverage.md").read_text().partition("## Other names")
    return set(re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE))


def exists(name: str) -> bool:
    found: object = ndd
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


def test_what_is_missing_is_listed() -> None:
    assert {name for name in REFERENCE if not exists(name)} == listed_as_missing()


def test_every_operator_has_a_benchmark() -> None:
    """Readers have benchmarks of their own."""
    measured = set()
    for table in ("operators", "audio"):
        rows = runpy.run_path(str(ROOT / "benchmarks" / "rows" / f"{table}.py"))["ROWS"]
        measured |= {name.split(" ")[0] for name in rows}
    operators = {name for name, facts in REFERENCE.items() if exists(name) and not facts["reader"]}
    assert operators <= measured


PRESENT = sorted(name for name in REFERENCE if name in registry)


@pytest.mark.parametrize("name", PRESENT)
def test_arguments(name: str) -> None:
    spec = registry[name]
    for argument, facts in REFERENCE[name]["arguments"].items():
        if argument in REPLACED:
            assert spec.is_random, f"{name}: '{argument}'"
            continue
        assert argument in spec.rules, f"{name}: '{argument}' is missing"
        if facts.get("per_sample"):
            assert spec.rules[argument].per_sample, f"{name}: '{argument}' is per sample"


@pytest.mark.parametrize("name", PRESENT)
def test_defaults(name: str) -> None:
    spec = registry[name]
    for argument, facts in REFERENCE[name]["arguments"].items():
        default, ours = facts.get("default"), spec.defaults.get(argument)
        if argument in REPLACED or default is None or ours is None:
            continue
        if isinstance(default, bool | int | float):
            assert_close(np.ravel(ours)[0], default, "defaults", argument)
        elif isinstance(default, list) and default and not isinstance(default[0], str):
            assert_close(np.ravel(ours), default, "defaults", argument)


READERS = sorted(name for name, facts in REFERENCE.items() if facts.get("reader") and exists(name))


@pytest.mark.parametrize("name", READERS)
def test_arguments_and_defaults_of_readers(name: str) -> None:
    reader = operator.attrgetter(name)(ndd)
    parameters = inspect.signature(reader).parameters
    ours = {key: value.default for key, value in parameters.items()} | DEFAULTS
    for argument, facts in REFERENCE[name]["arguments"].items():
        assert argument in ours, f"{name}: '{argument}' is missing"
        default = facts.get("default")
        if default is not None and ours[argument] is not None:
            wanted = tuple(default) if isinstance(default, list) else default
            if isinstance(default, str) and not isinstance(ours[argument], str):
                # A type, an image type or a filter, by its name.
                wanted = getattr(ndd.types, default)
                wanted = ndd.dtype(wanted) if isinstance(ours[argument], ndd.DType) else wanted
            assert ours[argument] == wanted, f"{name}: '{argument}'"
