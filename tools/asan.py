# SPDX-License-Identifier: Apache-2.0
"""Build the whole extension with sanitizers, and run something with it.

    python tools/asan.py                       build only (`make asan`)
    python tools/asan.py tools/fuzz_ops.py     run a program
    python tools/asan.py -m pytest tests/ops   run tests (`make test-asan`)
    python tools/asan.py --thread -m pytest    with ThreadSanitizer (`make test-tsan`)

That is AddressSanitizer and UBSan, or ThreadSanitizer. The package in build/asan/package (or tsan)
consists of copies of the sources and of the checked extension. The first build takes 3 minutes on
2 cores; a report of a sanitizer ends the process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
# Python's own allocations are never freed completely. Requests beyond the limit fail, as they
# would on a machine without the memory.
ADDRESS_OPTIONS = (
    "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=1024:"
    "detect_stack_use_after_return=0:handle_segv=1:allow_user_segv_handler=0"
)
SUPPRESSIONS = ROOT / "tools" / "tsan.txt"
THREAD_OPTIONS = f"halt_on_error=1:exitcode=66:suppressions={SUPPRESSIONS}"


class Checked(NamedTuple):
    """A build: its name, what it is compiled with, the library that must be loaded first."""

    name: str
    sanitizers: str
    library: str

    @property
    def folder(self) -> Path:
        return ROOT / "build" / self.name

    @property
    def package(self) -> Path:
        return self.folder / "package"


ADDRESS = Checked("asan", "address,undefined", "libasan.so")
THREAD = Checked("tsan", "thread", "libtsan.so")


def build(checked: Checked) -> None:
    """Build what has changed of the extension, and put the package together."""
    build_target(checked, "_kernels")
    copy_package(checked)


def build_target(checked: Checked, target: str) -> None:
    """Build what has changed of a target: the extension, or the native tests."""
    environment = {"NINJA_STATUS": "[%f/%t, %w, %W left] ", **os.environ}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cmake = shutil.which("cmake", path=environment["PATH"])
    if cmake is None:
        sys.exit("cmake is missing: pip install cmake ninja")
    import nanobind

    configure = [
        *(cmake, "-S", str(ROOT), "-B", str(checked.folder), "-G", "Ninja"),
        "-DCMAKE_BUILD_TYPE=Sanitize",
        "-DDALIESQUE_NATIVE_TESTS=ON",
        f"-DDALIESQUE_SANITIZE={checked.sanitizers}",
        f"-DPython_EXECUTABLE={sys.executable}",
        f"-Dnanobind_DIR={nanobind.cmake_dir()}",
    ]
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    command = [cmake, "--build", str(checked.folder), "--target", target]
    subprocess.run(command, check=True, env=environment)


def copy_package(checked: Checked) -> None:
    """Make the package of copies of the sources and of the checked extension."""
    shutil.rmtree(checked.package, ignore_errors=True)
    folder = checked.package / "daliesque"
    without = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "daliesque", folder, ignore=without)
    for extension in checked.folder.glob("_kernels*.so"):
        shutil.copy(extension, folder)


def environment(checked: Checked) -> dict[str, str]:
    """What a process needs to use the checked extension."""
    libraries = []
    # libstdc++ too: otherwise exceptions thrown before it is loaded cannot be intercepted.
    for name in (checked.library, "libstdc++.so.6"):
        found = subprocess.run(
            [os.environ.get("CXX", "g++"), f"-print-file-name={name}"],
            check=True,
            capture_output=True,
            text=True,
        )
        libraries.append(os.path.realpath(found.stdout.strip()))
    paths = [str(checked.package), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "ASAN_OPTIONS": ADDRESS_OPTIONS,
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "TSAN_OPTIONS": THREAD_OPTIONS,
    }


def main() -> None:
    """Build, then run Python with the arguments that are left."""
    checked, arguments = ADDRESS, sys.argv[1:]
    if arguments[:1] == ["--thread"]:
        checked, arguments = THREAD, arguments[1:]
    build(checked)
    command = [sys.executable, *arguments]
    if checked is THREAD:
        # It wants its own map of the address space, which random addresses may disturb.
        command = ["setarch", "-R", *command]
    if arguments:
        os.execvpe(command[0], command, environment(checked))


if __name__ == "__main__":
    main()
