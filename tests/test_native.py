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
    "codecs": set(),
    "decode": {"codecs", "jpeg"},
    "boxes": {"random"},
    "files": {"tensor"},
    "records": {"files"},
    "parquet": {"codecs", "files"},
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


def internal_names(text: str) -> set[str]:
    """What a file defines in unnamed namespaces or as static: functions, types and constants."""
    text = re.sub(r"//(?! namespace$).*|DALIESQUE_INLINE ", "", text, flags=re.MULTILINE)
    bodies = re.findall(r"^namespace \{\n(.*?)^\}  // namespace$", text, re.MULTILINE | re.DOTALL)
    names = set(re.findall(r"^static [^=;(\n]*?\b(\w+)\(", text, re.MULTILINE))
    for body in bodies:
        types = r"^(?:struct |class |enum class |using (?=\w+ =))(\w+)"
        names |= set(re.findall(types, body, re.MULTILINE))
        for line in re.findall(r"^constexpr [^;]*;", body, re.MULTILINE):
            names |= set(re.findall(r"\b(k[A-Z]\w*)(?:\[\w*\])? ?[={]", line))
        functions = r"^(?!template|using|struct|class|enum|static)[a-zA-Z][^=;(\n]*?\b(\w+)\("
        names |= set(re.findall(functions, body, re.MULTILINE))
    return names


def test_sources_of_a_folder_can_be_compiled_together() -> None:
    """As builds without a compiler cache do: a name that two files define for themselves would be
    ambiguous there, or choose the other file's overload."""
    assert internal_names(
        "namespace {\n\nconstexpr int kA = 1, kB = 2;\nstruct C {\n  int d;\n};\nusing E = C;\n"
        "template <class T>\nT f(T x) {\n  return g(x);\n}\n\n}  // namespace\n"
        "static void h() {}\nvoid i() {}\n"
    ) == {"kA", "kB", "C", "E", "f", "h"}
    for folder in sorted({path.parent for path in native_files()}):
        apart = re.findall(
            r"\((\S+) PROPERTIES SKIP_UNITY", (folder / "CMakeLists.txt").read_text()
        )
        owners: dict[tuple[str, str, str], str] = {}
        for path in sorted(folder.glob("*.cpp")):
            text = path.read_text()
            namespace = re.findall(r"^namespace (daliesque[\w:]*)", text, re.MULTILINE)
            kind = "simd" if path.name.endswith(".simd.cpp") else "plain"
            for name in internal_names(text) if path.name not in apart else ():
                owner = owners.setdefault((kind, namespace[0], name), path.name)
                assert owner == path.name, f"{folder.name}: {owner}, {path.name} define {name}"


def vector_objects() -> list[tuple[Path, str]]:
    """Objects compiled for more than the least processor, with their namespace.

    There may be several builds in build/, of single files or of folders; of files that are gone,
    objects may remain.
    """
    found = []
    sources = list((ROOT / "src" / "kernels").glob("*/*.simd.cpp"))
    for folder in sorted({source.parent for source in sources}):
        names = {f"{source.name}.o" for source in sources if source.parent == folder}
        namespace = "daliesque" if folder.name == "core" else f"daliesque::{folder.name}"
        for isa in ("avx2", "avx512"):
            pattern = f"*/src/kernels/{folder.name}/CMakeFiles/{folder.name}_{isa}.dir/**/*.o"
            objects = [
                path
                for path in (ROOT / "build").glob(pattern)
                if (path.name in names or path.parent.name == "Unity")
                and not re.search("sanitize|san/", str(path))
            ]
            assert objects or isa == "avx512", f"{folder.name}: built with pip install . or CMake"
            found += [(path, f"{namespace}::{isa}::") for path in objects]
    return found


@pytest.mark.skipif(
    platform.machine() != "x86_64" or shutil.which("nm") is None or not (ROOT / "build").is_dir(),
    reason="needs nm, and a build in this folder for x86-64",
)
def test_vector_objects_define_nothing_that_others_define() -> None:
    """The rule of core/simd.h."""
    for path, namespace in vector_objects():
        command = ["nm", "-C", "--defined-only", "--extern-only", str(path)]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        symbols = [line.split(maxsplit=2)[2] for line in listed.splitlines() if line]
        assert symbols != []
        # What an instance of a template returns stands before its name.
        foreign = [s for s in symbols if namespace not in s.split("(")[0]]
        assert foreign == [], path.name
