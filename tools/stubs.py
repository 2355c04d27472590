# SPDX-License-Identifier: Apache-2.0
"""Write the type stubs that are committed.

- `_kernels.pyi`: the native module, by nanobind's generator;
- `_engine/kernels.pyi`: those of its functions that operators find through their data, as a
  Protocol that tables of functions for other devices satisfy, too;
- a `.pyi` beside every public module that offers operators, with what a decorator cannot express:
  a Batch in gives a Batch out, otherwise a Tensor comes out; and the number of results, where it
  depends on the call, follows from the arguments.

Run by `make stubs`; a test compares what this makes with what is committed. Nothing in a stub is
ever executed.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from nanobind.stubgen import StubGen

from daliesque import _kernels
from daliesque._engine.args import FilterPerSample, Fixed, PerSample, Rule, StringPerSample
from daliesque._engine.op import registry
from daliesque._engine.outputs import Given, OnePer
from daliesque._engine.spec import OpSpec
from daliesque._ops import arithmetic as math_functions
from daliesque._scene.operators import EVERY_PART, GEOMETRIES, PHOTOMETRIC

PACKAGE = Path(__file__).parent.parent / "src" / "daliesque"
HEADER = "# SPDX-License-Identifier: Apache-2.0\n# Written by tools/stubs.py.\n"


def native_stub() -> str:
    """The stub of the native module."""
    error = _kernels.InternalError
    shown, error.__module__ = error.__module__, _kernels.__name__
    try:
        # Under its public name, it would be taken for an import from there.
        generator = StubGen(_kernels)
        generator.put(_kernels)
        text: str = generator.get()
    finally:
        error.__module__ = shown
    for bare, typed in SLOTS.items():
        text = text.replace(bare, typed)
    return HEADER + text


# Of these methods the generator knows no types: they are slots of a class, not functions.
SLOTS = {
    "__call__(self, /, *args, **kwargs):": "__call__(self, *args: Any, **kwargs: Any) -> Any:",
    "__get__(self, instance, owner=None, /):": "__get__(self, item: Any, owner: Any = ...) -> Any:",
}


# What an input, or an argument that may differ from sample to sample, accepts in a call that gives
# a Tensor; everywhere else a Batch is welcome, too.
SINGLE = "ArrayLike | Tensor"
ANYTHING = "ArrayLike | Tensor | Batch"


class Overload(NamedTuple):
    """One way to call an operator, for any number of results."""

    batch_size: str
    first: str
    takes_batches: bool
    results: tuple[str, ...]


# Neither the class nor the number of the results is known.
UNKNOWN = Overload("int | None = None", "", True, ("Tensor", "Batch"))
# Functions that are about CPU memory itself: files, buffers, other libraries' pixels.
HOST_FUNCTIONS = {
    "copy_rows",
    "decode_images",
    "export_arrow_array",
    "from_dlpack",
    "lz4_decompress",
    "numpy_view",
    "paint_coco_masks",
    "parse_datums",
    "parse_recordio",
    "parse_tensors",
    "random_bbox_crop",
    "random_crop",
    "read_big_endian",
    "read_listed_files",
    "read_named_files",
    "read_npy_contents",
    "read_npy_files",
    "to_dlpack",
    "wrap_buffer",
    "wrap_buffers",
    "write_pixels",
    "write_video_frame",
}


class _PlainArrays(ast.NodeTransformer):
    """Arrays without what nanobind notes about their memory."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node.value) == "Annotated" and isinstance(node.slice, ast.Tuple):
            return node.slice.elts[0]
        return self.generic_visit(node)


def kernels_stub(native: str) -> str:
    """The Protocol of the functions that take or make samples on any device."""
    methods = []
    for node in ast.parse(native).body:
        if not isinstance(node, ast.FunctionDef) or node.name in HOST_FUNCTIONS:
            continue
        _PlainArrays().visit(node)
        signature = (
            f"({ast.unparse(node.args)}) -> {ast.unparse(node.returns or ast.Constant(None))}"
        )
        if re.search(r"\bSamples\b", signature):
            methods.append(f"    def {node.name}(self, {signature[1:]}: ...")
    defined = [node.name for node in ast.parse(native).body if isinstance(node, ast.ClassDef)]
    classes = [name for name in defined if name != "Samples"]
    imports = [
        "from collections.abc import Sequence",
        "from typing import Annotated, Any, Protocol",
        "import numpy",
        "import numpy.typing",
        "from numpy.typing import NDArray",
        f"from .._kernels import {', '.join(classes)}",
        "from .samples import Samples",
    ]
    head = ["class Kernels(Protocol):", '    """The functions for data on a device."""']
    return "\n".join([HEADER, *imports, *head, *methods]) + "\n"


def annotation_text(annotation: Any) -> str:
    """The source form of a fixed argument's annotation."""
    if typing.get_origin(annotation) is not None and not isinstance(annotation, type):
        return (
            str(annotation)
            .replace("daliesque._engine.dtype.", "")
            .replace("daliesque._engine.enums.", "")
            .replace("daliesque.DType", "DType")
        )
    return str(getattr(annotation, "__name__", annotation))


def argument_type(rule: Rule, annotation: Any) -> str:
    """What a user may pass for an argument."""
    if isinstance(rule, StringPerSample):
        return "str | Tensor | Batch"
    if isinstance(rule, FilterPerSample):
        return f"DALIInterpType | str | {ANYTHING}"
    if isinstance(rule, PerSample):
        scalar = {"f": "float", "i": "int", "b": "bool"}[rule.dtype.kind]
        single = f"Sequence[{scalar}] | {scalar}" if rule.vector else scalar
        return f"{single} | {ANYTHING}"
    if not isinstance(rule, Fixed):
        return ANYTHING
    text = annotation_text(annotation)
    container = re.match(r"(?:list|tuple)\[(\w+)", text)
    if container is not None:
        inner = "DTypeLike" if container[1] == "DType" else container[1]
        optional = " | None" if "None" in text else ""
        return f"Sequence[{inner}] | {inner}{optional}"
    text = re.sub(r"(DALI\w+)", r"\1 | str", text)
    return text.replace("DType", "DTypeLike")


def default_text(value: Any) -> str:
    """A default as source."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, bool | int | float | str | list | tuple):
        return repr(value)
    return "..."


def with_default(kind: str, default: str) -> str:
    """The annotation of an optional argument; an explicit None stands for the default."""
    return f"{kind if 'None' in kind else kind + ' | None'} = {default}"


def operator_stub(name: str, spec: OpSpec) -> str:
    """The overloads of one operator."""
    keywords = argument_texts(spec)
    inputs = {
        position: f"{ANYTHING} | None = None" if declared.optional else ANYTHING
        for position, declared in enumerate(spec.inputs)
    }
    if spec.encoded:
        inputs[0] = "FileLike | Tensor | Batch"
    lines = []
    for replaced_inputs, replaced, results in output_variants(spec, keywords):
        is_open = results.endswith("tuple[T, ...]")
        for overload in [UNKNOWN] if is_open else overloads(spec, keywords):
            positional = input_list(spec, {**inputs, **replaced_inputs}, overload.first)
            named = [f"{argument}: {kind}" for argument, kind in {**keywords, **replaced}.items()]
            common = [f"batch_size: {overload.batch_size}", "device: DeviceLike | None = None"]
            arguments = ", ".join([*positional, *common, *named])
            if not overload.takes_batches:
                arguments = arguments.replace(" | Batch", "")
            output = " | ".join(results.replace("T", result) for result in overload.results)
            lines.append(f"def {name}({arguments}) -> {output}: ...")
    for replaced_inputs, replaced, output in scene_variants(spec, keywords):
        positional = input_list(spec, {**inputs, **replaced_inputs}, "Scene")
        named = [f"{argument}: {kind}" for argument, kind in {**keywords, **replaced}.items()]
        common = ["batch_size: int | None = None", "device: DeviceLike | None = None"]
        arguments = ", ".join([*positional, *common, *named])
        lines.append(f"def {name}({arguments}) -> {output}: ...")
    return lines[0] if len(lines) == 1 else "\n".join(f"@overload\n{line}" for line in lines)


def argument_texts(spec: OpSpec) -> dict[str, str]:
    """The annotation and default of each argument."""
    body = spec.body
    hints = typing.get_type_hints(body, include_extras=True)
    texts = {}
    for parameter in inspect.signature(body).parameters.values():
        if parameter.name in spec.rules:
            kind = argument_type(spec.rules[parameter.name], hints[parameter.name])
            if parameter.default is not parameter.empty:
                kind = with_default(kind, default_text(parameter.default))
            texts[parameter.name] = kind
    if spec.is_random:
        texts["rng"] = "RNG | None = None"
    return texts


def input_list(spec: OpSpec, kinds: dict[int, str], first: str) -> list[str]:
    """The positional parameters, up to the beginning of the keywords."""
    texts = []
    for position, declared in enumerate(spec.inputs):
        star = "*" if declared.variadic else ""
        kind = first if position == 0 and first else kinds[position]
        texts.append(f"{star}{declared.name}: {kind}")
    if any(declared.variadic for declared in spec.inputs):
        return texts
    return [*texts, "/", "*"] if texts else ["*"]


def overloads(spec: OpSpec, keywords: dict[str, str]) -> list[Overload]:
    """A Tensor comes out unless a Batch goes in or a batch size is given."""
    sized = Overload("int", "", True, ("Batch",))
    if spec.needs_batch and not spec.inputs:
        return [sized]
    found = [Overload("None = None", "", False, ("Tensor",))]
    if spec.inputs:
        lists = " | Files" if spec.encoded else ""
        lists = " | Sequence[Batch]" if spec.inputs[0].variadic else lists
        found.append(Overload("None = None", "Batch" + lists, True, ("Batch",)))
    if spec.inputs or any("Batch" in kind for kind in keywords.values()):
        # A Batch may be among the other inputs or the arguments, or a value may be either.
        found.append(Overload("None = None", "", True, ("Tensor", "Batch")))
    return [*found, sized]


def scene_variants(
    spec: OpSpec, keywords: dict[str, str]
) -> list[tuple[dict[int, str], dict[str, str], str]]:
    """Inputs, arguments and results of calls with a scene, if scenes go through an operator."""
    if spec.name == "random_crop_generator":
        return [({}, {}, "tuple[Tensor | Batch, Tensor | Batch]")]
    if spec.name == "copy_paste":
        # A scene has masks itself.
        return [({1: "None = None", 2: "None = None"}, {}, "Scene")]
    if spec.name == "random_bbox_crop":
        wanted = "output_bbox_indices"
        return [
            ({}, {wanted: "Literal[False] | None = False"}, "Scene"),
            ({}, {wanted: "Literal[True]"}, "tuple[Scene, Tensor | Batch]"),
        ]
    if spec.name not in {*GEOMETRIES, *PHOTOMETRIC, *EVERY_PART}:
        return []
    return [
        (inputs, replaced, results.replace("T", "Scene", 1).replace("T", "Tensor | Batch"))
        for inputs, replaced, results in output_variants(spec, keywords)
        if not results.endswith("tuple[T, ...]")
    ]


def output_variants(
    spec: OpSpec, keywords: dict[str, str]
) -> list[tuple[dict[int, str], dict[str, str], str]]:
    """Inputs and arguments that decide about the number of results, and the results with T."""
    rule = spec.outputs
    if isinstance(rule, int):
        return [({}, {}, result_text(rule))]
    if isinstance(rule, OnePer):
        several = "tuple[int, int, *tuple[int, ...]]"
        return [
            ({}, {rule.argument: "int"}, "T"),
            ({}, {rule.argument: several}, "tuple[T, T, *tuple[T, ...]]"),
            ({}, {rule.argument: "Sequence[int]"}, "T | tuple[T, ...]"),
        ]
    variants = []
    for count, present in rule.variants():
        inputs: dict[int, str] = {}
        arguments: dict[str, str] = {}
        for extra, holds in zip(rule.extras, present, strict=True):
            if isinstance(extra, Given):
                inputs[extra.position] = ANYTHING if holds else "None = None"
            else:
                values = extra.present if holds else extra.absent
                kind = f"Literal[{', '.join(map(repr, values))}]"
                default = keywords[extra.argument].rpartition(" = ")[2]
                is_default = default in map(repr, values)
                arguments[extra.argument] = with_default(kind, default) if is_default else kind
        variants.append((inputs, arguments, result_text(count)))
    # The value is only known when the program runs.
    open_result = "tuple[T, ...]" if rule.least > 1 else "T | tuple[T, ...]"
    return [*variants, ({}, {}, open_result)]


def result_text(count: int) -> str:
    """So many results, each of type T."""
    return "T" if count == 1 else f"tuple[{', '.join('T' * count)}]"


def function_stub(name: str, function: Callable[..., Any]) -> str:
    """The overloads of a function of numbers: a Batch comes out if one goes in."""
    parameters = list(inspect.signature(function).parameters)
    # All are single; the first that is a Batch, with anything else; nothing is known.
    ways = [([SINGLE] * len(parameters), "Tensor")]
    for position in range(len(parameters)):
        kinds = [ANYTHING] * len(parameters)
        kinds[position] = "Batch"
        ways.append((kinds, "Batch"))
    ways.append(([ANYTHING] * len(parameters), "Tensor | Batch"))
    lines = []
    for kinds, result in ways:
        pairs = zip(parameters, kinds, strict=True)
        arguments = ", ".join(f"{parameter}: {kind}" for parameter, kind in pairs)
        lines.append(f"@overload\ndef {name}({arguments}) -> {result}: ...")
    return "\n".join(lines)


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
            member = getattr(module, public, None)
            spec = getattr(member, "spec", None)
            if spec is not None and id(spec) in by_spec:
                stubs.append(operator_stub(public, spec))
            elif inspect.isfunction(member) and member.__module__ == math_functions.__name__:
                stubs.append(function_stub(public, member))
            else:
                source = "." * node.level + (node.module or "")
                kept.append(f"from {source} import {alias.name} as {public}")
    if not stubs:
        return None
    kept += late_imports(module)
    up = "." * (1 + len(prefix.split(".")) if prefix and _is_package(module) else 1)
    if prefix and not _is_package(module):
        up = "." * len(prefix.split("."))
    imports = [
        "import builtins",
        "from collections.abc import Sequence",
        "from typing import Literal, overload",
        "from numpy.typing import ArrayLike",
        f"from {up}_engine.batch import Batch",
        f"from {up}_engine.device import DeviceLike",
        f"from {up}_engine.dtype import DTypeLike",
        f"from {up}_engine.enums import DALIDataType, DALIImageType, DALIInterpType",
        f"from {up}_engine.files import FileLike, Files",
        f"from {up}_engine.rng import RNG",
        f"from {up}_engine.tensor import Tensor",
        f"from {up}_scene.scene import Scene",
    ]
    names = ", ".join(repr(name) for name in module.__all__)
    text = "\n".join(stubs)
    if not prefix:
        # Here `bool` is an element type.
        text = re.sub(r"\bbool\b(?!_)", "builtins.bool", text)
    return "\n".join([HEADER, *imports, *kept, f"__all__ = [{names}]", text]) + "\n"


def late_imports(module: ModuleType) -> list[str]:
    """Imports of what a module loads when somebody asks for it."""
    load = vars(module)["__getattr__"]
    late = inspect.getclosurevars(load).nonlocals.get("late", {})
    return [
        f"from {'.' if path == f'.{name}' else path} import {name} as {name}"
        for name, path in late.items()
    ]


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
            cwd=PACKAGE.parent.parent,
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
    native = native_stub()
    stubs = {PACKAGE / "_kernels.pyi": native}
    stubs[PACKAGE / "_engine" / "kernels.pyi"] = formatted(kernels_stub(native))
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
