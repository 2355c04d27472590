# SPDX-License-Identifier: Apache-2.0
"""Print requirements of pyproject.toml, one in a line, for `pip install -r`.

    python tools/requirements.py build run test

`build` is what building needs, `run` what the package needs; everything else names an extra. So an
environment can be filled without building the package.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(groups: list[str]) -> list[str]:
    """The requirements of several groups, without repetitions."""
    tables = tomllib.loads(PROJECT.read_text())
    known: dict[str, list[str]] = {
        **tables["project"]["optional-dependencies"],
        # Found in an environment, these two are taken instead of the system's.
        "build": [*tables["build-system"]["requires"], "cmake", "ninja"],
        "run": tables["project"]["dependencies"],
    }
    return list(dict.fromkeys(line for group in groups for line in known[group]))


if __name__ == "__main__":
    print("\n".join(requirements(sys.argv[1:])))
