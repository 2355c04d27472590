# SPDX-License-Identifier: Apache-2.0
"""What the source of a function says: which expression an instruction belongs to, what names mean.

Only functions are looked at: names of modules and classes may be changed by anybody.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeAlias

# What an instruction of a frame that makes a call may belong to.
Expression: TypeAlias = ast.Call | ast.BinOp | ast.AugAssign | ast.Compare | ast.Subscript
_EXPRESSIONS = (ast.Call, ast.BinOp, ast.AugAssign, ast.Compare, ast.Subscript)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef, ast.Module)

Span: TypeAlias = tuple[int, int, int, int]


class Binding(NamedTuple):
    """How a name gets its only value: as a parameter, by an expression, or else in some other way.

    `owner` is the function whose variable it is.
    """

    owner: ast.AST
    is_parameter: bool
    value: ast.expr | None


class Module:
    """The source of a file."""

    def __init__(self, tree: ast.Module) -> None:
        self._parents: dict[ast.AST, ast.AST] = {}
        # None if several expressions have the same extent.
        self._expressions: dict[Span, Expression | None] = {}
        self._bindings: dict[ast.AST, dict[str, list[Binding]]] = {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            if isinstance(node, _EXPRESSIONS):
                span = (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset)
                known = span in self._expressions
                self._expressions[span] = None if known else node  # type: ignore[index]
        for node in ast.walk(tree):
            self._collect(node)

    def expression_at(self, frame: FrameType) -> Expression | None:
        """The expression that a frame is evaluating."""
        positions = frame.f_code.co_positions()
        span = next(islice(positions, frame.f_lasti // 2, None), None)
        if span is None or None in span:
            return None
        return self._expressions.get(span)  # type: ignore[arg-type]

    def binding(self, name: ast.Name) -> Binding | None:
        """How a variable of a function gets its value, if there is only one way."""
        owner = self._owner(name.id, self._scope(name))
        if owner is None or not isinstance(owner, _FUNCTIONS):
            return None
        found = self._bindings[owner][name.id]
        return found[0] if len(found) == 1 else None

    def _scope(self, node: ast.AST) -> ast.AST:
        """The innermost function, comprehension, class or module around an expression."""
        current = node
        while not isinstance(current, ast.Module):
            child, current = current, self._parents[current]
            if isinstance(current, _FUNCTIONS) and not _is_inside(child, current):
                # Defaults and decorators belong to what is around the function.
                continue
            if isinstance(current, _COMPREHENSIONS):
                first = current.generators[0]
                if child is not first or not self._is_iterable(node, first):
                    return current
            elif isinstance(current, _SCOPES):
                return current
        return current

    def _is_iterable(self, node: ast.AST, generator: ast.comprehension) -> bool:
        """Whether a node is what a comprehension iterates over, which is evaluated outside."""
        current = node
        while current is not generator:
            if current is generator.iter:
                return True
            current = self._parents[current]
        return False

    def _owner(self, name: str, scope: ast.AST) -> ast.AST | None:
        """The scope whose variable a name is."""
        first = True
        while True:
            declared = self._bindings.get(scope, {})
            if _GLOBAL + name in declared:
                return None
            if name in declared and (first or not isinstance(scope, ast.ClassDef)):
                return scope
            if isinstance(scope, ast.Module):
                return None
            first = False
            scope = self._scope(scope)

    def _collect(self, node: ast.AST) -> None:
        """Note what a node binds."""
        for name, is_parameter, value in _bound_by(node):
            scope: ast.AST
            if isinstance(node, _FUNCTIONS) and is_parameter:
                scope = node
            else:
                scope = self._scope(node)
            if isinstance(node, ast.NamedExpr):
                while isinstance(scope, _COMPREHENSIONS):
                    scope = self._scope(scope)
            self._add(scope, name, Binding(scope, is_parameter, value))
        if isinstance(node, ast.Global):
            for name in node.names:
                self._add(self._scope(node), _GLOBAL + name, None)
        elif isinstance(node, ast.Nonlocal):
            # Whatever happens to it there, the variable is no constant of its owner.
            for name in node.names:
                scope = self._scope(self._scope(node))
                while not isinstance(scope, ast.Module):
                    self._add(scope, name, Binding(scope, False, None))
                    scope = self._scope(scope)

    def _add(self, scope: ast.AST, name: str, binding: Any) -> None:
        self._bindings.setdefault(scope, {}).setdefault(name, []).append(binding)


# Precedes the names that a function declares global.
_GLOBAL = "global "


def _is_inside(child: ast.AST, function: Any) -> bool:
    """Whether a child of a function is evaluated when the function is called."""
    body = function.body
    return child is body if isinstance(function, ast.Lambda) else child in body


def _bound_by(node: ast.AST) -> Iterator[tuple[str, bool, ast.expr | None]]:
    """Names that a node gives values to: whether as parameters, and which expressions."""
    if isinstance(node, _FUNCTIONS):
        arguments = node.args
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            yield argument.arg, True, None
        for extra in (arguments.vararg, arguments.kwarg):
            if extra is not None:
                yield extra.arg, True, None
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name, False, None
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bound_by_target(target, node.value)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield from _bound_by_target(node.target, node.value)
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id, False, node.value
    elif isinstance(node, ast.AugAssign):
        yield from _bound_by_target(node.target, None)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _bound_by_target(node.target, None)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _bound_by_target(node.optional_vars, None)
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            yield from _bound_by_target(target, None)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name, False, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, False, None
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield (alias.asname or alias.name).partition(".")[0], False, None


def _bound_by_target(
    target: ast.AST, value: ast.expr | None
) -> Iterator[tuple[str, bool, ast.expr | None]]:
    """The names in the target of an assignment, each with its part of the value."""
    if isinstance(target, ast.Name):
        yield target.id, False, value
    elif isinstance(target, ast.Starred):
        yield from _bound_by_target(target.value, None)
    elif isinstance(target, ast.Tuple | ast.List):
        for item, part in zip(target.elts, _parts(target.elts, value), strict=True):
            yield from _bound_by_target(item, part)


def _parts(targets: list[ast.expr], value: ast.expr | None) -> list[ast.expr | None]:
    """Which part of a display goes to which target; None where that is not known."""
    unknown: list[ast.expr | None] = [None] * len(targets)
    if not isinstance(value, ast.Tuple | ast.List):
        return unknown
    if any(isinstance(part, ast.Starred) for part in value.elts):
        return unknown
    stars = [at for at, target in enumerate(targets) if isinstance(target, ast.Starred)]
    if not stars:
        return list(value.elts) if len(value.elts) == len(targets) else unknown
    before, after = stars[0], len(targets) - stars[0] - 1
    if len(value.elts) < before + after:
        return unknown
    return [*value.elts[:before], None, *value.elts[len(value.elts) - after :]]


_modules: dict[str, tuple[list[str], Module | None]] = {}


def module_of(code: CodeType) -> Module | None:
    """The source of the file that a function is in, if it can be read."""
    lines = linecache.getlines(code.co_filename)
    known = _modules.get(code.co_filename)
    # Another list, if somebody has asked linecache to read the file again.
    if known is not None and known[0] is lines:
        return known[1]
    module = None
    if lines:
        try:
            module = Module(ast.parse("".join(lines)))
        except (SyntaxError, ValueError, RecursionError):
            module = None
    _modules[code.co_filename] = (lines, module)
    return module


def expression_of(frame: FrameType) -> Expression | None:
    """The expression that a frame is evaluating, if its source can be read."""
    module = module_of(frame.f_code)
    return None if module is None else module.expression_at(frame)
