# SPDX-License-Identifier: Apache-2.0
"""The pass that makes functions of classes with graphs, and calls of operator objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import libcst as cst

from .context import Context, VisitsNames, identifiers
from .dataflow import is_docstring
from .editing import GONE, Commenting, expression, remove_statement, source_of, statements, tall
from .marks import BOUND, FN, PIPELINE_DEF
from .names import EXECUTOR_ARGUMENTS, PIPELINE_PARAMETERS, canonical, find_class
from .scopes import dotted_name, find_imports, parameters_of

# Calls from this length on get a line for each argument.
_LONG = 72


@dataclass
class _Objects:
    """Operator objects by the names that they have, as calls of functions."""

    calls: dict[str, cst.Call] = field(default_factory=dict)


class OperatorObjects(Commenting):
    """Converts classes with `define_graph` to decorated functions, and `ops.X()` to `fn.x`.

    Parameters
    ----------
    context
        The script.
    module
        The script's syntax tree.
    """

    def __init__(self, context: Context, module: cst.Module) -> None:
        super().__init__(context.notes)
        self._imports = find_imports(module)
        self._objects = _find_objects(module, self._imports)

    def _resolve(self, node: cst.BaseExpression) -> str | None:
        return resolve(node, self._imports)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """The call of an operator object that has a name of its own."""
        called = original_node.func
        made = self._objects.calls.get(dotted_name(called) or "")
        if isinstance(called, cst.Call) and isinstance(updated_node.func, cst.Call):
            full = self._resolve(called.func) or ""
            known = find_class(full.removeprefix("ops.")) if full.startswith("ops.") else None
            if known is not None:
                made = updated_node.func.with_changes(func=expression(f"{FN}.{known}"))
        return updated_node if made is None else _merged(made, updated_node)

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """The statement that makes an operator object."""
        name, call = assigned_call(original_node)
        if name in self._objects.calls and call is not None and self._resolve(call.func):
            return remove_statement(updated_node)
        return updated_node

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef | cst.FunctionDef:
        """A class with a graph."""
        bases = [self._resolve(arg.value) for arg in original_node.bases]
        if bases != ["Pipeline"]:
            return updated_node
        converter = _ClassConverter(updated_node, self._imports)
        function = converter.convert()
        if function is None:
            self.todo(f"a class with a graph: {converter.problem}; write its graph as a loop.")
            return updated_node
        return function


class _ClassConverter:
    """The conversion of one class."""

    def __init__(self, node: cst.ClassDef, imports: dict[str, str]) -> None:
        self._node = node
        self._imports = imports
        self._operators: dict[str, cst.Call] = {}
        self._comments: list[cst.EmptyLine] = []
        self.problem = ""

    def convert(self) -> cst.FunctionDef | None:
        """The class as a function, or None."""
        docstring = []
        methods: dict[str, cst.FunctionDef] = {}
        for statement in self._node.body.body:
            if isinstance(statement, cst.FunctionDef):
                methods[statement.name.value] = statement
            elif isinstance(statement, cst.SimpleStatementLine) and is_docstring(statement):
                docstring.append(statement)
            else:
                self.problem = "it has more than methods"
                return None
        more = methods.keys() - {"__init__", "define_graph"}
        if more or len(methods) != 2:
            self.problem = f"its methods are {', '.join(methods)}"
            return None
        setup, arguments = self._split_init(methods["__init__"])
        if arguments is None:
            self.problem = "super().__init__ was not found in __init__"
            return None
        first, *own = parameters_of(methods["__init__"].params)
        me = first.name.value
        graph = list(methods["define_graph"].body.body)
        # Arguments of operators may be attributes, too.
        variables = _Attributes(me, {})
        operators = {
            name: cst.ensure_type(made.visit(variables), cst.Call)
            for name, made in self._operators.items()
        }
        replacer = _Attributes(me, operators)
        body = [*setup, *graph]
        replaced = [statement.visit(replacer) for statement in body]
        return self._function(methods["__init__"], own, docstring, replaced, arguments)

    def _split_init(
        self, init: cst.FunctionDef
    ) -> tuple[list[cst.BaseStatement], dict[str, str] | None]:
        """What `__init__` does besides making operators, and the arguments of the pipeline."""
        setup: list[cst.BaseStatement] = []
        arguments: dict[str, str] | None = None
        for statement in init.body.body:
            call = _super_init(statement)
            if call is not None:
                arguments = _pipeline_arguments(call)
                self._carry(statement)
                continue
            target, made = assigned_call(statement)
            name = None if made is None else resolve(made.func, self._imports)
            if target and made and name and name.startswith("ops."):
                found = find_class(name.removeprefix("ops."))
                if found is not None:
                    func = expression(f"{FN}.{found}")
                    self._operators[target.partition(".")[2]] = made.with_changes(func=func)
                    self._carry(statement)
                    continue
            setup.append(statement)  # type: ignore[arg-type]
        return setup, arguments

    def _carry(self, statement: cst.CSTNode) -> None:
        """Keep the comments of a statement that goes."""
        line = cst.ensure_type(statement, cst.SimpleStatementLine)
        self._comments += [entry for entry in line.leading_lines if entry.comment is not None]
        if line.trailing_whitespace.comment is not None:
            self._comments.append(cst.EmptyLine(comment=line.trailing_whitespace.comment))

    def _function(
        self,
        init: cst.FunctionDef,
        own: list[cst.Param],
        docstring: list[cst.SimpleStatementLine],
        body: Sequence[object],
        arguments: dict[str, str],
    ) -> cst.FunctionDef:
        names = {param.name.value for param in own}
        given, before, bound = [], [], []
        for name, text in arguments.items():
            if name in EXECUTOR_ARGUMENTS or (text == name and name in names):
                continue
            if identifiers(expression(text)) & names:
                bound.append(name)
                before += statements(f"{name} = {text}")
            else:
                given.append(f"{name}={text}")
        if bound:
            given.append(f'{BOUND}="{" ".join(bound)}"')
        text = f"@{PIPELINE_DEF}({', '.join(given)})\ndef {self._node.name.value}():\n    pass"
        made = cst.ensure_type(statements(text)[0], cst.FunctionDef)
        params = init.params.with_changes(params=_without_first(init.params.params))
        if self._comments:
            gone = cst.SimpleStatementLine([cst.Expr(cst.Name(GONE))], leading_lines=self._comments)
            before.append(gone)
        block = cst.IndentedBlock([*docstring, *before, *body])  # type: ignore[list-item]
        return made.with_changes(params=params, body=block, leading_lines=self._node.leading_lines)


class _Attributes(cst.CSTTransformer):
    """Replaces `self.x(...)` by the call of an operator and `self.x` by a variable."""

    def __init__(self, me: str, operators: dict[str, cst.Call]) -> None:
        super().__init__()
        self._me = me
        self._operators = operators

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        owner, _, name = (dotted_name(original_node.func) or "").partition(".")
        made = self._operators.get(name) if owner == self._me else None
        return updated_node if made is None else _merged(made, updated_node)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        value = original_node.value
        if isinstance(value, cst.Name) and value.value == self._me:
            return updated_node.attr
        return updated_node


def resolve(node: cst.BaseExpression, imports: dict[str, str]) -> str | None:
    """The name below the reference's package that an expression stands for."""
    first, _, rest = (dotted_name(node) or "").partition(".")
    if first not in imports:
        return None
    return canonical(imports[first] + ("." + rest if rest else ""))


def assigned_call(node: cst.CSTNode) -> tuple[str | None, cst.Call | None]:
    """The name and the call of a statement `name = call(...)`."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None, None
    small = node.body[0]
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None, None
    if not isinstance(small.value, cst.Call):
        return None, None
    return dotted_name(small.targets[0].target), small.value


def _find_objects(module: cst.Module, imports: dict[str, str]) -> _Objects:
    """Variables that are assigned an operator object once, and then only called."""
    found = _Objects()
    several: set[str] = set()

    class Finder(cst.CSTVisitor):
        def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
            name, call = assigned_call(node)
            if name is None or call is None or "." in name:
                return
            if name in found.calls:
                several.add(name)
            full = resolve(call.func, imports) or ""
            known = find_class(full.removeprefix("ops.")) if full.startswith("ops.") else None
            if known is not None:
                found.calls[name] = call.with_changes(func=expression(f"{FN}.{known}"))

    module.visit(Finder())
    for name in several | _passed_on(module):
        found.calls.pop(name, None)
    return found


def _passed_on(module: cst.Module) -> set[str]:
    """Variables that are used otherwise than by calling them."""
    called: set[cst.CSTNode] = set()
    found: set[str] = set()

    class Finder(VisitsNames):
        def visit_Call(self, node: cst.Call) -> None:
            called.add(node.func)

        def visit_AssignTarget(self, node: cst.AssignTarget) -> bool:
            return not isinstance(node.target, cst.Name)

        def visit_Param(self, node: cst.Param) -> bool:
            if node.default is not None:
                node.default.visit(self)
            return False

        def visit_Name(self, node: cst.Name) -> None:
            if node not in called:
                found.add(node.value)

    module.visit(Finder())
    return found


def _merged(made: cst.Call, call: cst.Call) -> cst.Call:
    """The call of a function: the inputs of one call, the arguments of both."""
    given = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    kept = [a for a in made.args if a.keyword is None or a.keyword.value not in given]
    positional = [a for a in call.args if a.keyword is None]
    named = [a for a in call.args if a.keyword is not None]
    args = [*positional, *[a for a in kept if a.keyword is not None], *named]
    args = [
        arg.with_changes(
            comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace("")
        )
        for arg in args
    ]
    merged = cst.Call(made.func, args)
    return merged if len(source_of(merged)) < _LONG else tall(merged)


def _super_init(node: cst.CSTNode) -> cst.Call | None:
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return None
    small = node.body[0]
    if not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    func = small.value.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "__init__":
        return None
    if isinstance(func.value, cst.Call) and dotted_name(func.value.func) == "super":
        return small.value
    if (dotted_name(func.value) or "").rpartition(".")[2] == "Pipeline":
        return small.value.with_changes(args=small.value.args[1:])
    return None


def _pipeline_arguments(call: cst.Call) -> dict[str, str]:
    found: dict[str, str] = {}
    for i, arg in enumerate(call.args):
        if arg.keyword is not None:
            found[arg.keyword.value] = source_of(arg.value)
        elif not arg.star and i < len(PIPELINE_PARAMETERS):
            found[PIPELINE_PARAMETERS[i]] = source_of(arg.value)
    return found


def _without_first(params: Iterable[cst.Param]) -> list[cst.Param]:
    return list(params)[1:]
