# SPDX-License-Identifier: Apache-2.0
"""Which statements of a graph's function concern data, and which only prepare."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import libcst as cst

from .context import VisitsNames
from .marks import BATCH_SIZE
from .scopes import dotted_name

# Names below `ndd` whose calls prepare something instead of making data.
_PREPARING = ("ndd.types", "ndd.tfrecord", "ndd.random.RNG", "ndd.dtype", "ndd.as_tensor")


def is_docstring(node: cst.BaseStatement) -> bool:
    """Whether a statement is nothing but a string."""
    if not isinstance(node, cst.SimpleStatementLine):
        return False
    small = node.body[0]
    return isinstance(small, cst.Expr) and isinstance(
        small.value, cst.SimpleString | cst.ConcatenatedString
    )


def assigned_names(node: cst.CSTNode) -> list[str]:
    """The names that a statement assigns, once for each time, without those of inner functions."""
    finder = _Names()
    node.visit(finder)
    return finder.stored


class _Names(VisitsNames):
    """Names that are stored, loaded and changed in place, and what is called."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[str] = []
        self.loaded: set[str] = set()
        self.changed: list[str] = []
        self.calls: list[cst.Call] = []
        self.returns = False

    def _store(self, target: cst.BaseExpression) -> None:
        if isinstance(target, cst.Name):
            self.stored.append(target.value)
        elif isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._store(element.value)
        elif isinstance(target, cst.Subscript | cst.Attribute):
            base: cst.BaseExpression = target
            while isinstance(base, cst.Subscript | cst.Attribute):
                base = base.value
            if isinstance(base, cst.Name):
                self.changed.append(base.value)

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        self._store(node.target)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        self._store(node.target)
        if isinstance(node.target, cst.Name):
            self.loaded.add(node.target.value)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._store(node.target)

    def visit_For(self, node: cst.For) -> None:
        self._store(node.target)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        self._store(node.target)

    def visit_AsName(self, node: cst.AsName) -> None:
        self._store(node.name)

    def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:
        self.stored.append(node.name.value)
        inner = _Names()
        node.body.visit(inner)
        self.loaded |= inner.loaded - set(inner.stored)
        return False

    def visit_Return(self, node: cst.Return) -> None:  # noqa: ARG002
        self.returns = True

    def visit_Name(self, node: cst.Name) -> None:
        self.loaded.add(node.value)

    def visit_Call(self, node: cst.Call) -> None:
        self.calls.append(node)

    def visit_Expr(self, node: cst.Expr) -> None:
        call = node.value
        if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute):
            self._store(call.func)


class Dataflow:
    """Finds what depends on data.

    Parameters
    ----------
    body
        The statements of the function.
    own
        The names of its parameters.
    data_functions
        The names of functions that take and return data.
    is_stateful
        Whether a call makes a reader or another source of data.
    """

    def __init__(
        self,
        body: Sequence[cst.BaseStatement],
        own: set[str],
        data_functions: set[str],
        is_stateful: Callable[[cst.Call], bool],
    ) -> None:
        self._own = own
        self._functions = set(data_functions)
        self._is_stateful = is_stateful
        self._found = {statement: self._names(statement) for statement in body}
        self._assigned = Counter(
            name for found in self._found.values() for name in (*found.stored, *found.changed)
        )
        self._data: set[str] = {BATCH_SIZE}
        before = -1
        while len(self._data) != before:
            before = len(self._data)
            for statement in body:
                self._spread(statement)

    @staticmethod
    def _names(node: cst.CSTNode) -> _Names:
        found = _Names()
        node.visit(found)
        return found

    def _spread(self, statement: cst.BaseStatement) -> None:
        found = self._found[statement]
        if isinstance(statement, cst.FunctionDef):
            inner = self._names(statement.body)
            if any(self._makes_data(call) for call in inner.calls):
                self._functions.add(statement.name.value)
            return
        if self._touches(found):
            self._data |= {*found.stored, *found.changed} - self._loop_variables(statement)

    @staticmethod
    def _loop_variables(statement: cst.CSTNode) -> set[str]:
        if isinstance(statement, cst.For) and isinstance(statement.target, cst.Name):
            return {statement.target.value}
        return set()

    def _makes_data(self, call: cst.Call) -> bool:
        name = dotted_name(call.func) or ""
        if self._is_stateful(call) or name in self._functions:
            return True
        if name.startswith("self.") and name.removeprefix("self.") in self._functions:
            return True
        return name.startswith("ndd.") and not name.startswith(_PREPARING)

    def _touches(self, found: _Names) -> bool:
        if found.returns or any(self._makes_data(call) for call in found.calls):
            return True
        return bool(self._data & (found.loaded | set(found.stored)))

    def is_data(self, node: cst.CSTNode) -> bool:
        """Whether a statement or expression makes, takes or returns data."""
        if isinstance(node, cst.FunctionDef):
            return bool(self._data & (self._names(node).loaded - {BATCH_SIZE}))
        found = self._found.get(node)  # type: ignore[call-overload]
        return self._touches(self._names(node) if found is None else found)

    def may_move(self, statement: cst.BaseStatement) -> bool:
        """Whether a statement that prepares may do so once, before all steps."""
        found = self._found[statement]
        names = {*found.stored, *found.changed}
        return all(self._assigned[name] == 1 for name in names) and not names & self._own
