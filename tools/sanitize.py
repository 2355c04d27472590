# SPDX-License-Identifier: Apache-2.0
"""Build the native core with each sanitizer and run its own tests. Run by `make sanitize`.

The first time takes about 6 minutes on 2 cores; object files stay in build/sanitize-*.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fuzz_decoders import whole_files

ROOT = Path(__file__).parent.parent
SANITIZERS = {
    "thread": "-fsanitize=thread -DDALIESQUE_NO_FORK",
    "address": "-fsanitize=address,undefined -fno-sanitize-recover=all",
}
# How many damaged JPEG files to decode under AddressSanitizer.
DAMAGED = 200_000


def write_jpegs(folder: Path) -> None:
    """Put the JPEG files into a folder of which damaged copies are made."""
    folder.mkdir(exist_ok=True)
    for name, data in whole_files().items():
        if name.startswith("jpeg ") or name == "jpeg":
            (folder / name.replace(" ", "-").replace(":", "")).write_bytes(data)


def main() -> None:
    """Build and run everything; ends with an error as soon as a sanitizer reports one."""
    tools = [str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        "NINJA_STATUS": "[%f/%t, %w, %W left] ",
        **os.environ,
        "PATH": os.pathsep.join(tools),
    }
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
        start = time.monotonic()
        subprocess.run([cmake, "--build", str(build)], check=True, env=environment)
        print(f"{name}: built in {time.monotonic() - start:.0f} s", flush=True)
        for test in sorted((build / "tests" / "native").glob("*_test")):
            print(f"{name}: {test.name}", flush=True)
            subprocess.run([str(test)], check=True)
        if name == "address":
            write_jpegs(build / "jpegs")
            fuzz = build / "tests" / "native" / "jpeg_fuzz"
            print(f"{name}: jpeg_fuzz", flush=True)
            subprocess.run([fuzz, build / "jpegs", str(DAMAGED)], check=True)


if __name__ == "__main__":
    main()
