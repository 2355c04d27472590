# SPDX-License-Identifier: Apache-2.0
"""Look for exceptions that would end the process (`make check-exceptions`).

An exception that leaves a destructor, a function that is `noexcept` or the entry of a thread calls
std::terminate. clang-tidy's bugprone-exception-escape follows the calls of each such function of
`src/kernels`; here it takes whatever it cannot see, allocations among them, to throw. Entries of
threads are `noexcept`, so that it looks at them, and this program makes sure that they are. Where a
function cannot throw for a reason that the check does not know, a NOLINT comment names the reason.

Takes about 3 minutes on 2 cores.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "src" / "kernels"
FOLDER = ROOT / "build" / "tidy"
CLANG_TIDY = str(Path(sys.executable).parent / "clang-tidy")
CHECK = "bugprone-exception-escape"
CONFIGURATION = {
    "Checks": f"-*,{CHECK}",
    "CheckOptions": {f"{CHECK}.TreatFunctionsWithoutSpecificationAsThrowing": "OnlyUndefined"},
    "HeaderFilterRegex": "src/kernels/",
}
# What clang does not know.
FOREIGN_OPTIONS = ("--param=", "-fvect-cost-model")
THREAD_ENTRY = re.compile(
    r"std::thread\(\[this\] \{ (\w+)\(\); \}|emplace_back\(\[this\] \{ (\w+)\(\)"
)


def list_commands() -> list[str]:
    """Write how each source is compiled, as clang-tidy wants to know it, and return the sources."""
    import nanobind

    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    configure = [
        *("cmake", "-S", str(ROOT), "-B", str(FOLDER), "-G", "Ninja"),
        *("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_UNITY_BUILD=OFF"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind.cmake_dir()}"),
    ]
    environment = {**os.environ, "PATH": path}
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    database = FOLDER / "compile_commands.json"
    commands = json.loads(database.read_text())
    for entry in commands:
        words = entry["command"].split()
        entry["command"] = " ".join(w for w in words if not w.startswith(FOREIGN_OPTIONS))
    database.write_text(json.dumps(commands))
    return sorted({entry["file"] for entry in commands if entry["file"].startswith(str(SOURCES))})


def open_entries() -> list[str]:
    """Functions that threads begin with and that are not `noexcept`."""
    found = []
    for source in sorted(SOURCES.rglob("*.cpp")):
        text = source.read_text()
        threads = text.count("std::thread(") + text.count("workers.emplace_back(")
        entries = [name for pair in THREAD_ENTRY.findall(text) for name in pair if name]
        if len(entries) != threads:
            found.append(f"{source}: a thread begins with something that has no name")
        for name in entries:
            if f"void {name}() noexcept" not in text:
                found.append(f"{source}: {name}() is where a thread begins: make it noexcept")
    return found


def findings_of(source: str) -> str:
    """What clang-tidy says about a source; nothing is fine."""
    command = [
        *(CLANG_TIDY, "--quiet", "-p", str(FOLDER), f"--config={json.dumps(CONFIGURATION)}"),
        *(
            "--extra-arg=-Wno-unknown-warning-option",
            "--extra-arg=-Wno-ignored-optimization-argument",
        ),
        source,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 and not done.stdout:
        return done.stderr
    return done.stdout if ": warning: " in done.stdout or ": error: " in done.stdout else ""


def main() -> None:
    """Print what is found, and how much was looked at."""
    if not Path(CLANG_TIDY).exists():
        sys.exit("clang-tidy is missing: make check-exceptions")
    found = open_entries()
    sources = list_commands()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found += [text for text in pool.map(findings_of, sources) if text]
    print(*found, sep="\n", end="\n" if found else "")
    text = "".join(path.read_text() for path in SOURCES.rglob("*") if path.suffix in (".cpp", ".h"))
    print(
        f"{len(sources)} sources with {text.count('noexcept')} mentions of noexcept and "
        f"{len(re.findall(r'~[A-Z]', text))} of destructors: {len(found)} findings, "
        f"{text.count(f'NOLINTNEXTLINE({CHECK})')} functions excepted for a reason."
    )
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
