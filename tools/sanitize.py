# SPDX-License-Identifier: Apache-2.0
"""Build the native core with each sanitizer and run its own tests. Run by `make sanitize`.

The first time takes about 8 minutes on 2 cores; object files stay where tools/asan.py has them.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import asan
from fuzz_files import audio_files, whole_files

# Of which files each fuzzer makes damaged copies, and how many it decodes under AddressSanitizer.
FUZZERS = {
    "audio_fuzz": (("wav", "flac", "ogg"), 60_000),
    "jpeg_fuzz": (("jpeg",), 60_000),
    "formats_fuzz": (("png", "bmp", "pnm", "gif"), 40_000),
}


def write_files(folder: Path, kinds: tuple[str, ...]) -> None:
    """Put the files of some kinds into a folder of which damaged copies are made."""
    folder.mkdir(exist_ok=True)
    for name, data in (whole_files() | audio_files()).items():
        if name.partition(" ")[0] in kinds:
            (folder / name.replace(" ", "-").replace(":", "")).write_bytes(data)


def main() -> None:
    """Build and run everything; ends with an error as soon as a sanitizer reports one."""
    for checked in (asan.THREAD, asan.ADDRESS):
        start = time.monotonic()
        asan.build_target(checked, "native_tests")
        print(f"{checked.name}: built in {time.monotonic() - start:.0f} s", flush=True)
        programs = checked.folder / "tests" / "native"
        for test in sorted(programs.glob("*_test")):
            print(f"{checked.name}: {test.name}", flush=True)
            subprocess.run([str(test)], check=True)
    for fuzzer, (kinds, count) in FUZZERS.items():
        folder = asan.ADDRESS.folder / fuzzer
        write_files(folder, kinds)
        print(f"{asan.ADDRESS.name}: {fuzzer}", flush=True)
        subprocess.run([programs / fuzzer, folder, str(count)], check=True)


if __name__ == "__main__":
    main()
