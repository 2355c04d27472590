# SPDX-License-Identifier: Apache-2.0
"""Store the pictures that tests compare those of `show` with: look at each of them before a commit.

python tools/show_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.show_calls import CALLS, FOLDER


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, call in CALLS.items():
        call(FOLDER / f"{name}.png")
        print(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
