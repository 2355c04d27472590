# SPDX-License-Identifier: Apache-2.0
"""Build the wheel that `make` installs into its environments: build/wheel/daliesque-*.whl.

The build backend is called directly, in this environment: object files are kept between builds and
the progress of the compiler is visible.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from scikit_build_core import build

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "build" / "wheel"


def main() -> None:
    """Build it in place of an older one."""
    os.chdir(ROOT)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ.setdefault("NINJA_STATUS", "[%f/%t, %w, %W left] ")
    TARGET.mkdir(parents=True, exist_ok=True)
    for old in TARGET.glob("*.whl"):
        old.unlink()
    print(
        f"Building the native extension on {os.cpu_count()} cores. The first time takes about 2 "
        "minutes on 2 idle cores; later only what changed is compiled.",
        flush=True,
    )
    start = time.monotonic()
    name = build.build_wheel(str(TARGET))
    print(f"build/wheel/{name} in {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
