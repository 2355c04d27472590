# SPDX-License-Identifier: Apache-2.0
"""Print requirements of pyproject.toml, one in a line, for `pip install -r`.

    python tools/requirements.py build run test

`build` is what building needs, `run` what the package needs; everything else names an extra or a
dependency group. So an environment can be filled without building the package. After `--floors`,
what the package and its extras need is asked for in the lowest version that they admit.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(groups: list[str]) -> list[str]:
    """The requirements of several groups, without repetitions."""
    tables = tomllib.loads(PROJECT.read_text())
    known: dict[str, list[str]] = {
        **tables["project"]["optional-dependencies"],
        **tables["dependency-groups"],
        # Found in an environment, these two are taken instead of the system's.
        "build": [*tables["build-system"]["requires"], "cmake", "ninja"],
        "run": tables["project"]["dependencies"],
    }
    return list(dict.fromkeys(line for group in groups for line in known[group]))


# Extras for those who work on the package.
_TOOLS = ("test", "docs", "lint")


def floors(groups: list[str]) -> list[str]:
    """The same in the lowest versions; tools of the tests and of the build keep theirs."""
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    own = requirements(["run", *(name for name in extras if name not in _TOOLS)])
    lowest = {line: line.replace(">=", "==") for line in own}
    for line in lowest:
        if re.fullmatch(r"[\w.\[\]-]+>=[\d.]+", line) is None:
            msg = f"pyproject.toml: {line!r} states no lowest version"
            raise ValueError(msg)
    return [lowest.get(line, line) for line in requirements(groups)]


if __name__ == "__main__":
    wanted = sys.argv[1:]
    choose = requirements
    if wanted[:1] == ["--floors"]:
        wanted, choose = wanted[1:], floors
    print("\n".join(choose(wanted)))
