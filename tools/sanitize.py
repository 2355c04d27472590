# SPDX-License-Identifier: Apache-2.0
"""Build the native core with each sanitizer and run its own tests. Run by `make sanitize`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SANITIZERS = {
    "thread": "-fsanitize=thread -DDALIESQUE_NO_FORK",
    "address": "-fsanitize=address,undefined -fno-sanitize-recover=all",
}


def main() -> None:
    tools = [str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(tools)}
    cmake = shutil.which("cmake", path=environment["PATH"])
    if cmake is None:
        sys.exit("cmake is missing: pip install cmake ninja")
    for name, flags in SANITIZERS.items():
        build = ROOT / "build" / f"sanitize-{name}"
        configure = [
            *(cmake, "-S", str(ROOT), "-B", str(build), "-G", "Ninja"),
            "-DDALIESQUE_NATIVE_TESTS=ON",
            "-DCMAKE_BUILD_TYPE=Sanitize",
            f"-DCMAKE_CXX_FLAGS=-O1 -g -fno-omit-frame-pointer {flags}",
        ]
        subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
        subprocess.run([cmake, "--build", str(build), "-j2"], check=True, env=environment)
        for test in sorted((build / "tests" / "native").glob("*_test")):
            print(f"{name}: {test.name}", flush=True)
            subprocess.run([str(test)], check=True)


if __name__ == "__main__":
    main()
