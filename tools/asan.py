# SPDX-License-Identifier: Apache-2.0
"""Build the whole extension with AddressSanitizer and UBSan, and run something with it.

    python tools/asan.py                       build only (`make asan`)
    python tools/asan.py tools/fuzz_ops.py     run a program
    python tools/asan.py -m pytest tests/ops   run tests (`make test-asan`)

The package in build/asan/package consists of copies of the sources and of the checked extension.
The first build takes 10 minutes on 2 cores; a report of a sanitizer ends the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "build" / "asan"
PACKAGE = BUILD / "package"
SANITIZERS = "address,undefined"
# Python's own allocations are never freed completely. Requests beyond the limit fail, as they
# would on a machine without the memory.
ADDRESS_OPTIONS = (
    "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024:"
    "detect_stack_use_after_return=0:handle_segv=1:allow_user_segv_handler=0"
)


def build() -> None:
    """Build what has changed, and put the package together."""
    environment = {"NINJA_STATUS": "[%f/%t, %w, %W left] ", **os.environ}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cmake = shutil.which("cmake", path=environment["PATH"])
    if cmake is None:
        sys.exit("cmake is missing: pip install cmake ninja")
    import nanobind

    configure = [
        *(cmake, "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja"),
        "-DCMAKE_BUILD_TYPE=Sanitize",
        f"-DDALIESQUE_SANITIZE={SANITIZERS}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
    ]
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    subprocess.run(
        [cmake, "--build", str(BUILD), "--target", "_kernels"], check=True, env=environment
    )
    copy_package()


def copy_package() -> None:
    """Make the package of copies of the sources and of the checked extension."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    folder = PACKAGE / "daliesque"
    without = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "daliesque", folder, ignore=without)
    for extension in BUILD.glob("_kernels*.so"):
        shutil.copy(extension, folder)


def environment() -> dict[str, str]:
    """What a process needs to use the checked extension."""
    libraries = []
    # libstdc++ too: otherwise exceptions thrown before it is loaded cannot be intercepted.
    for name in ("libasan.so", "libstdc++.so.6"):
        found = subprocess.run(
            [os.environ.get("CXX", "g++"), f"-print-file-name={name}"],
            check=True,
            capture_output=True,
            text=True,
        )
        libraries.append(os.path.realpath(found.stdout.strip()))
    paths = [str(PACKAGE), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "ASAN_OPTIONS": ADDRESS_OPTIONS,
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def main() -> None:
    """Build, then run Python with the arguments that are left."""
    build()
    if len(sys.argv) > 1:
        os.execve(sys.executable, [sys.executable, *sys.argv[1:]], environment())


if __name__ == "__main__":
    main()
