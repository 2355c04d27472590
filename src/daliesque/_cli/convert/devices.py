# SPDX-License-Identifier: Apache-2.0
"""Which strings of a script name devices."""

from __future__ import annotations

import libcst as cst

from .kinds import Kinds
from .scopes import dotted_name, parameters_of


def device_strings(module: cst.Module, kinds: Kinds) -> set[cst.CSTNode]:
    """The strings "mixed" that mean a device, judged by the names that they are given to."""
    finder = _Finder(kinds)
    module.visit(finder)
    return finder.found


class _Finder(cst.CSTVisitor):
    def __init__(self, kinds: Kinds) -> None:
        super().__init__()
        self._kinds = kinds
        self.found: set[cst.CSTNode] = set()

    def _collect(self, name: str | None, value: cst.CSTNode | None) -> None:
        if value is None or name is None or "device" not in name.lower():
            return
        found = self.found

        class Strings(cst.CSTVisitor):
            def visit_SimpleString(self, node: cst.SimpleString) -> None:
                if node.evaluated_value == "mixed":
                    found.add(node)

        value.visit(Strings())

    def visit_Arg(self, node: cst.Arg) -> None:
        self._collect(None if node.keyword is None else node.keyword.value, node.value)

    def visit_Param(self, node: cst.Param) -> None:
        self._collect(node.name.value, node.default)

    def visit_Assign(self, node: cst.Assign) -> None:
        for target in node.targets:
            self._collect(dotted_name(target.target), node.value)

    def visit_For(self, node: cst.For) -> None:
        self._collect(dotted_name(node.target), node.iter)

    def visit_CompFor(self, node: cst.CompFor) -> None:
        self._collect(dotted_name(node.target), node.iter)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        if isinstance(node.key, cst.SimpleString):
            self._collect(str(node.key.evaluated_value), node.value)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        sides = [node.left, *(part.comparator for part in node.comparisons)]
        for side in sides:
            for other in sides:
                if other is not side:
                    self._collect(dotted_name(side), other)

    def visit_Call(self, node: cst.Call) -> None:
        function = self._kinds.callees.get(node)
        if function is None:
            return
        names = [param.name.value for param in parameters_of(function.node.params)]
        if isinstance(node.func, cst.Attribute):
            names = names[1:]
        for name, arg in zip(names, node.args, strict=False):
            if arg.keyword is None and not arg.star:
                self._collect(name, arg.value)
