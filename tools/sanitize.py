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

from fuzz_files import whole_files

ROOT = Path(__file__).parent.parent
SANITIZERS = {
    "thread": "-fsanitize=thread -DDALIESQUE_NO_FORK",
    "address": "-fsanitize=address,undefined -fno-sanitize-recover=all",
}
# Of which files each fuzzer makes damaged copies, and how many it decodes under AddressSanitizer.
FUZZERS = {
    "jpeg_fuzz": (("jpeg",), 60_000),
    "formats_fuzz": (("png", "bmp", "pnm", "gif"), 40_000),
}


def write_files(folder: Path, kinds: tuple[str, ...]) -> None:
    """Put the files of some kinds into a folder of which damaged copies are made."""
    folder.mkdir(exist_ok=True)
    for name, data in whole_files().items():
        if name.partition(" ")[0] in kinds:
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
            for fuzzer, (kinds, count) in FUZZERS.items():
                write_files(build / fuzzer, kinds)
                print(f"{name}: {fuzzer}", flush=True)
                program = build / "tests" / "native" / fuzzer
                subprocess.run([program, build / fuzzer, str(count)], check=True)


if __name__ == "__main__":
    main()
