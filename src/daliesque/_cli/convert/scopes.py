# SPDX-License-Identifier: Apache-2.0
"""Functions, scopes and names of a script."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from .names import LOOP_ARGUMENTS

Kind = str | None


@dataclass
class Function:
    """What is known about a function of the script."""

    node: cst.FunctionDef | cst.Lambda
    is_pipeline: bool = False
    in_graph: bool = False
    parameters: dict[str, Kind] = field(default_factory=dict)
    returns: Kind = None
    called: int = 0
    used_as_value: bool = False
    # Whether it is one that delivers batches to a framework; the decorator's name.
    is_loader: bool = False
    # Whether it makes readers or other sources of data.
    is_stateful: bool = False
    # Whether it has operators that need the batch size, or that draw random numbers.
    needs_batch_size: bool = False
    draws: bool = False
    calls: set[str] = field(default_factory=set)
    # Names of pipeline arguments that calls in the script pass.
    passed: set[str] = field(default_factory=set)
    passes_unknown: bool = False
    # Names of pipeline arguments that the body asks the current pipeline for.
    used_arguments: set[str] = field(default_factory=set)

    def inherit(self, called: Function) -> bool:
        """Need what a function needs that this one calls; return whether that is new."""
        before = (self.needs_batch_size, self.draws, self.is_stateful, self.in_graph)
        self.needs_batch_size |= called.needs_batch_size
        self.draws |= called.draws
        self.is_stateful |= called.is_stateful
        self.in_graph |= called.is_stateful
        return before != (self.needs_batch_size, self.draws, self.is_stateful, self.in_graph)


@dataclass
class Scope:
    """The names of a module, class or function."""

    names: dict[str, Kind] = field(default_factory=dict)
    parent: Scope | None = None
    function: Function | None = None
    # Names that were assigned something else than an import.
    hidden: set[str] = field(default_factory=set)

    def look_up(self, name: str) -> Kind:
        """The kind of a name here or further out."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def hides(self, name: str) -> bool:
        """Whether a name is not what was imported under it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.hidden:
                return True
            scope = scope.parent
        return False


def dotted_name(node: cst.BaseExpression) -> str | None:
    """The name `a.b.c` that an expression consists of, or None."""
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    return ".".join([node.value, *reversed(parts)])


def find_imports(module: cst.Module) -> dict[str, str]:
    """The full names of everything that a module imports, by the names that it gets."""
    found: dict[str, str] = {}

    class Finder(cst.CSTVisitor):
        def visit_Import(self, node: cst.Import) -> None:
            for alias in node.names:
                name = dotted_name(alias.name) or ""
                if alias.asname is not None:
                    found[cst.ensure_type(alias.asname.name, cst.Name).value] = name
                else:
                    found[name.partition(".")[0]] = name.partition(".")[0]

        def visit_ImportFrom(self, node: cst.ImportFrom) -> None:
            if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
                return
            prefix = dotted_name(node.module)
            for alias in node.names:
                name = dotted_name(alias.name) or ""
                local = alias.asname.name if alias.asname is not None else alias.name
                found[cst.ensure_type(local, cst.Name).value] = f"{prefix}.{name}"

    module.visit(Finder())
    return found


def find_built(module: cst.Module) -> set[str]:
    """The variables that are built and run without arguments, as nothing but pipelines are."""
    called: dict[str, set[str]] = {"build": set(), "run": set()}

    class Finder(cst.CSTVisitor):
        def visit_Call(self, node: cst.Call) -> None:
            func = node.func
            if isinstance(func, cst.Attribute) and not node.args:
                if func.attr.value in called and isinstance(func.value, cst.Name):
                    called[func.attr.value].add(func.value.value)

    module.visit(Finder())
    return called["build"] & called["run"]


def argument_names(call: cst.Call) -> set[str]:
    """The names of a call's keyword arguments."""
    return {arg.keyword.value for arg in call.args if arg.keyword is not None}


def pipeline_argument(node: cst.Attribute, names: dict[cst.CSTNode, str]) -> str | None:
    """The argument of a pipeline that `Pipeline.current().device_id` and the like mean."""
    value = node.value
    if not isinstance(value, cst.Call) or names.get(value.func) != "Pipeline.current":
        return None
    name = node.attr.value.lstrip("_")
    name = "batch_size" if name == "max_batch_size" else name
    return name if name in LOOP_ARGUMENTS else None


def is_pipeline_name(node: cst.BaseExpression) -> bool:
    """Whether a variable is called after a pipeline: `pipe`, `self.train_pipeline`."""
    name = (dotted_name(node) or "").rpartition(".")[2].lower()
    return "pipe" in name


def parameters_of(params: cst.Parameters) -> Iterator[cst.Param]:
    """The parameters that can be passed by name or position, in order."""
    yield from params.posonly_params
    yield from params.params
    yield from params.kwonly_params
