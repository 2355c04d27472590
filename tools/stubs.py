# SPDX-License-Identifier: Apache-2.0
"""Write the type stubs that are committed.

- `_kernels.pyi`: the native module, by nanobind's generator;
- a `.pyi` beside every public module that offers operators, with what a decorator cannot express:
  a Batch in gives a Batch out, a Tensor (or array) in gives a Tensor out.

Run by `make stubs`; a test compares what this makes with what is committed. Nothing in a stub is
ever executed.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

from nanobind.stubgen import StubGen

from daliesque import _kernels
from daliesque._engine.args import Fixed, PerSample, Rule, StringPerSample
from daliesque._engine.op import registry
from daliesque._engine.spec import OpSpec

PACKAGE = Path(__file__).parent.parent / "src" / "daliesque"
HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Written by tools/stubs.py.\n"


def native_stub() -> str:
    """The stub of the native module."""
    generator = StubGen(_kernels)
    generator.put(_kernels)
    return HEADER + generator.get()


def annotation_text(annotation: Any) -> str:
    """The source form of a fixed argument's annotation."""
    if typing.get_origin(annotation) is not None and not isinstance(annotation, type):
        return (
            str(annotation)
            .replace("daliesque._engine.dtype.", "")
            .replace("daliesque._engine.enums.", "")
        )
    name = getattr(annotation, "__name__", str(annotation))
    return {"DALIImageType": "DALIImageType", "DALIInterpType": "DALIInterpType"}.get(name, name)


def argument_type(rule: Rule, annotation: Any) -> str:
    """What a user may pass for an argument."""
    if isinstance(rule, StringPerSample):
        return "str | Tensor | Batch"
    if isinstance(rule, PerSample):
        scalar = {"f": "float", "i": "int", "b": "bool"}[rule.dtype.kind]
        single = f"Sequence[{scalar}] | {scalar}" if rule.vector else scalar
        return f"{single} | ArrayLike | Tensor | Batch"
    if not isinstance(rule, Fixed):
        return "ArrayLike | Tensor | Batch"
    text = annotation_text(annotation)
    if text.startswith("list["):
        inner = text.removeprefix("list[").partition("]")[0]
        inner = "DTypeLike" if inner == "DType" else inner
        optional = " | None" if "None" in text else ""
        return f"Sequence[{inner}] | {inner}{optional}"
    return text.replace("DType", "DTypeLike")


def default_text(value: Any) -> str:
    """A default as source."""
    if value is None or isinstance(value, bool | int | float | str | list | tuple):
        return f"{type(value).__name__}.{value.name}" if hasattr(value, "name") else repr(value)
    return "..."


def operator_stub(name: str, spec: OpSpec) -> str:
    """The overloads of one operator."""
    body = spec.bodies["cpu"]
    hints = typing.get_type_hints(body, include_extras=True)
    keywords = []
    for parameter in inspect.signature(body).parameters.values():
        if parameter.name not in spec.rules:
            continue
        kind = argument_type(spec.rules[parameter.name], hints[parameter.name])
        if parameter.default is parameter.empty:
            keywords.append(f"{parameter.name}: {kind}")
        else:
            kind = kind if "None" in kind else f"{kind} | None"
            keywords.append(f"{parameter.name}: {kind} = {default_text(parameter.default)}")
    if spec.is_random:
        keywords.append("rng: RNG | None = None")
    single = spec.outputs == 1
    lines = []
    for first, batch_size, result in _overloads(spec):
        inputs = []
        for position, declared in enumerate(spec.inputs):
            kind = first if position == 0 else "ArrayLike | Tensor | Batch"
            if declared.variadic:
                inputs.append(f"*{declared.name}: {kind}")
            elif declared.optional and kind != "Batch":
                inputs.append(f"{declared.name}: {kind} | None = None")
            else:
                inputs.append(f"{declared.name}: {kind}")
        variadic = any(declared.variadic for declared in spec.inputs)
        if inputs and not variadic:
            inputs.append("/")
        inputs.append("*") if not variadic else None
        common = [f"batch_size: {batch_size}", "device: DeviceLike | None = None"]
        output = result if single else f"tuple[{result}, ...]"
        arguments = ", ".join([*inputs, *common, *keywords])
        lines.append(f"@overload\ndef {name}({arguments}) -> {output}: ...")
    return "\n".join(lines)


def _overloads(spec: OpSpec) -> list[tuple[str, str, str]]:
    """First input, batch_size and result of each overload."""
    if not spec.inputs:
        return [("", "int", "Batch"), ("", "None = None", "Tensor")]
    return [
        ("Batch", "int | None = None", "Batch"),
        ("ArrayLike | Tensor", "int", "Batch"),
        ("ArrayLike | Tensor", "None = None", "Tensor"),
    ]


def module_stub(module: ModuleType) -> str | None:
    """The stub of a public module, or None if it offers no operators."""
    prefix = module.__name__.removeprefix("daliesque").removeprefix(".")
    by_spec = {id(spec): spec for spec in registry.values()}
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text())
    kept: list[str] = []
    stubs: list[str] = []
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            public = alias.asname or alias.name
            spec = getattr(getattr(module, public, None), "spec", None)
            if spec is not None and id(spec) in by_spec:
                stubs.append(operator_stub(public, spec))
            else:
                source = "." * node.level + (node.module or "")
                kept.append(f"from {source} import {alias.name} as {public}")
    if not stubs:
        return None
    up = "." * (1 + len(prefix.split(".")) if prefix and _is_package(module) else 1)
    if prefix and not _is_package(module):
        up = "." * len(prefix.split("."))
    imports = [
        "import builtins",
        "from collections.abc import Sequence",
        "from typing import overload",
        "from numpy.typing import ArrayLike",
        f"from {up}_engine.batch import Batch",
        f"from {up}_engine.device import DeviceLike",
        f"from {up}_engine.dtype import DTypeLike",
        f"from {up}_engine.enums import DALIDataType, DALIImageType, DALIInterpType",
        f"from {up}_engine.rng import RNG",
        f"from {up}_engine.tensor import Tensor",
    ]
    names = ", ".join(repr(name) for name in module.__all__)
    text = "\n".join(stubs)
    if not prefix:
        # Here `bool` is an element type.
        text = re.sub(r"\bbool\b(?!_)", "builtins.bool", text)
    return "\n".join([HEADER, *imports, *kept, f"__all__ = [{names}]", text]) + "\n"


def _is_package(module: ModuleType) -> bool:
    return (module.__file__ or "").endswith("__init__.py")


def formatted(text: str) -> str:
    """The text as ruff formats it, without unused or duplicate imports."""
    beside = str(Path(sys.executable).parent)
    ruff = shutil.which("ruff", path=os.pathsep.join([beside, os.environ["PATH"]]))
    assert ruff is not None, "ruff is needed to write stubs"
    for command in (
        ["check", "--quiet", "--fix-only", "--select", "F401,F811,I", "--unsafe-fixes"],
        ["format", "--quiet"],
    ):
        done = subprocess.run(
            [ruff, *command, "--stdin-filename", "stub.pyi", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=PACKAGE,
        )
        text = done.stdout
    return text


def public_modules() -> list[ModuleType]:
    """The package and its public modules."""
    names = [
        str(path.relative_to(PACKAGE.parent).with_suffix("")).replace("/", ".")
        for path in PACKAGE.rglob("*.py")
        if not any(part.startswith("_") and part != "__init__.py" for part in path.parts[-4:])
    ]
    names = sorted(name.removesuffix(".__init__") for name in names)
    return [importlib.import_module(name) for name in names]


def all_stubs() -> dict[Path, str]:
    """Every stub file and what should be in it."""
    stubs = {PACKAGE / "_kernels.pyi": native_stub()}
    for module in public_modules():
        text = module_stub(module)
        if text is not None:
            tail = module.__name__.split(".")[1:]
            path = PACKAGE.joinpath(*tail)
            path = path / "__init__.pyi" if _is_package(module) else path.with_suffix(".pyi")
            stubs[path] = formatted(text)
    return stubs


if __name__ == "__main__":
    # What the registry says about operators goes into the docs, too.
    import operator_table

    generated = {**all_stubs(), operator_table.TARGET: operator_table.table()}
    for target, content in generated.items():
        target.write_text(content)
        print(target.relative_to(PACKAGE.parent.parent))
