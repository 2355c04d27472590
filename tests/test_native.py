# SPDX-License-Identifier: Apache-2.0
"""Rules that keep the native core layered."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# What each folder of native code may include, besides itself and core.
NATIVE_FOLDERS: dict[str, set[str]] = {
    "core": set(),
    "random": set(),
    "tensor": set(),
    "image": {"random", "tensor"},
    "resize": set(),
    "jpeg": set(),
    "decode": {"jpeg"},
    "boxes": {"random"},
    "files": {"tensor"},
    "records": {"files"},
    "audio": {"files"},
}


def native_files() -> list[Path]:
    return [p for p in (ROOT / "src" / "kernels").rglob("*") if p.suffix in {".h", ".cpp"}]


def test_native_includes_point_downwards() -> None:
    kernels = ROOT / "src" / "kernels"
    assert {p.name for p in kernels.iterdir() if p.is_dir()} == {*NATIVE_FOLDERS, "bind"}
    for path in native_files():
        folder = path.relative_to(kernels).parts[0]
        assert folder != path.name, f"{path.name} lies in no folder"
        if folder == "bind":
            continue
        included = re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE)
        missing = [name for name in included if not (kernels / name).is_file()]
        assert missing == [], f"{path.name}: includes are written from src/kernels"
        wrong = {name.split("/")[0] for name in included} - NATIVE_FOLDERS[folder]
        assert wrong <= {folder, "core"}, f"{path.relative_to(kernels)} includes {wrong}"


def test_namespaces_follow_folders() -> None:
    kernels = ROOT / "src" / "kernels"
    for path in native_files():
        folder = path.relative_to(kernels).parts[0]
        opened = set(re.findall(r"^namespace (daliesque[\w:]*) \{", path.read_text(), re.MULTILINE))
        if folder not in {"bind", "core"}:
            allowed = (f"daliesque::{folder}", f"daliesque::{folder}::")
            wrong = {n for n in opened if n != allowed[0] and not n.startswith(allowed[1])}
            assert wrong == set(), f"{path.relative_to(kernels)} opens {wrong}"


def test_kernels_know_no_python() -> None:
    for path in native_files():
        if "bind" not in path.parts:
            text = path.read_text()
            assert "Python.h" not in text
            assert "nanobind" not in text


def vector_objects() -> list[tuple[Path, str]]:
    """Objects compiled for more than the least processor, with their namespace.

    There may be several builds in build/; of files that are gone, objects may remain.
    """
    kernels = ROOT / "src" / "kernels"
    found = []
    for source in kernels.glob("*/*.simd.cpp"):
        folder = source.parent.name
        namespace = "daliesque" if folder == "core" else f"daliesque::{folder}"
        for isa in ("avx2", "avx512"):
            pattern = f"*/src/kernels/{folder}/CMakeFiles/{folder}_{isa}.dir/{source.name}.o"
            builds = [p for p in (ROOT / "build").glob(pattern) if "sanitize" not in str(p)]
            found += [(path, f"{namespace}::{isa}::") for path in builds]
    return found


@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("nm") is None or not (ROOT / "build").is_dir(),
    reason="needs nm, and a build in this folder for x86-64",
)
def test_vector_objects_define_nothing_that_others_define() -> None:
    """The rule of core/simd.h."""
    objects = vector_objects()
    sources = list((ROOT / "src" / "kernels").glob("*/*.simd.cpp"))
    assert len(objects) > len(sources), "built from here: pip install . or CMake"
    for path, namespace in objects:
        command = ["nm", "-C", "--defined-only", "--extern-only", str(path)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        symbols = [line.split(maxsplit=2)[2] for line in listed.splitlines() if line]
        assert symbols != []
        # What an instance of a template returns stands before its name.
        foreign = [s for s in symbols if namespace not in s.split("(")[0]]
        assert foreign == [], path.name
