# SPDX-License-Identifier: Apache-2.0
"""The pass that makes functions of `with pipeline:` blocks."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .context import Context
from .editing import Commenting, expression, remove_statement, source_of, statements
from .kinds import Kinds
from .marks import PIPELINE_DEF
from .names import PIPELINE_PARAMETERS
from .scopes import dotted_name


class Blocks(Commenting):
    """Converts blocks that define a graph to decorated functions, which the other passes know.

    Parameters
    ----------
    context
        The script.
    kinds
        The kinds of its expressions.
    """

    def __init__(self, context: Context, kinds: Kinds) -> None:
        super().__init__(context.notes)
        self._kinds = kinds
        self._loop_variables: list[str] = []
        self._depth = 0

    def visit_For(self, node: cst.For) -> None:
        """Remember the variables that functions made in the loop must bind."""
        names = [node.target] if isinstance(node.target, cst.Name) else []
        if isinstance(node.target, cst.Tuple):
            names = [e.value for e in node.target.elements if isinstance(e.value, cst.Name)]
        self._loop_variables += [name.value for name in names]

    def leave_For(self, original_node: cst.For, updated_node: cst.For) -> cst.For:
        """Forget them."""
        count = 1 if isinstance(original_node.target, cst.Name) else 0
        if isinstance(original_node.target, cst.Tuple):
            elements = original_node.target.elements
            count = sum(isinstance(e.value, cst.Name) for e in elements)
        if count:
            del self._loop_variables[-count:]
        return updated_node

    def leave_Module(self, original_node: cst.Module, updated_node: cst.Module) -> cst.Module:
        """The statements of the module."""
        body = self._body(original_node.body, updated_node.body)
        return updated_node.with_changes(body=body)

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        """Count how deep the statements are."""
        del node
        self._depth += 1

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        """The statements of a block."""
        body = self._body(original_node.body, updated_node.body)
        self._depth -= 1
        return updated_node.with_changes(body=body)

    def _body(
        self, original: Sequence[cst.BaseStatement], updated: Sequence[cst.BaseStatement]
    ) -> list[cst.BaseStatement]:
        body = list(updated)
        made: dict[str, tuple[int, cst.Call]] = {}
        i = 0
        while i < len(body):
            statement = body[i]
            name, call = self._construction(statement)
            if name is not None and call is not None:
                made[name] = (i, call)
            if isinstance(statement, cst.With) and len(statement.items) == 1:
                item = statement.items[0]
                name, call = self._opened(item)
                made_at = None
                if name is not None and call is None and name in made:
                    made_at, call = made.pop(name)
                if name is not None and call is not None:
                    new = self._function(name, call, statement, body, i)
                    if new is not None:
                        body[i : i + 1] = new
                        if made_at is not None:
                            removed = remove_statement(
                                cst.ensure_type(body[made_at], cst.SimpleStatementLine)
                            )
                            if isinstance(removed, cst.SimpleStatementLine):
                                body[made_at] = removed
                            else:
                                del body[made_at]
                                i -= 1
                        i += len(new) - 1
            i += 1
        del original
        return body

    def _is_pipeline(self, node: cst.BaseExpression) -> bool:
        if not isinstance(node, cst.Call):
            return False
        dotted = dotted_name(node.func)
        if dotted is None:
            return False
        first, _, rest = dotted.partition(".")
        full = self._kinds.imports.get(first, first) + ("." + rest if rest else "")
        return full.startswith("nvidia.dali") and full.endswith(".Pipeline")

    def _construction(self, node: cst.BaseStatement) -> tuple[str | None, cst.Call | None]:
        """The name and the call of `pipe = Pipeline(...)`."""
        if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
            return None, None
        small = node.body[0]
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return None, None
        if not self._is_pipeline(small.value):
            return None, None
        return dotted_name(small.targets[0].target), cst.ensure_type(small.value, cst.Call)

    def _opened(self, item: cst.WithItem) -> tuple[str | None, cst.Call | None]:
        """The name of the pipeline that a block defines, and the call that makes it, if any."""
        if self._is_pipeline(item.item):
            name = "pipe" if item.asname is None else dotted_name(item.asname.name)
            return name, cst.ensure_type(item.item, cst.Call)
        return dotted_name(item.item), None

    def _function(
        self,
        name: str,
        call: cst.Call,
        block: cst.With,
        body: list[cst.BaseStatement],
        index: int,
    ) -> list[cst.BaseStatement] | None:
        """The block as a function, and the statement that calls it."""
        inside = list(block.body.body)
        found = _take_outputs(inside, name)  # type: ignore[arg-type]
        if found is None:
            rest = body[index + 1 :]
            found = _take_outputs(rest, name)
            if found is None:
                self.todo(f"{name}.set_outputs was not found: yield the outputs of this block.")
                return None
            body[index + 1 :] = rest
        function = name.rpartition(".")[2] + "_batches"
        bound = ", ".join(f"{v}={v}" for v in dict.fromkeys(self._loop_variables))
        text = f"@{PIPELINE_DEF}({_arguments(call)})\ndef {function}({bound}):\n    pass"
        node = cst.ensure_type(statements(text)[0], cst.FunctionDef)
        returned = found.with_changes(body=[cst.Return(_outputs_of(found))])
        gap = [cst.EmptyLine(indent=False)] * (0 if self._depth else 2)
        lines = [*gap, *(line for line in block.leading_lines if line.comment is not None)]
        node = node.with_changes(
            body=block.body.with_changes(body=[*inside, returned]), leading_lines=lines
        )
        made = statements(f"{name} = {function}()")[0]
        return [node, made.with_changes(leading_lines=gap or [cst.EmptyLine(indent=False)])]


def _arguments(call: cst.Call) -> str:
    """The arguments of `Pipeline(...)`, all with names."""
    parts = []
    for i, arg in enumerate(call.args):
        value = source_of(arg.value)
        if arg.star:
            parts.append(f"{arg.star}{value}")
        elif arg.keyword is not None:
            parts.append(f"{arg.keyword.value}={value}")
        elif i < len(PIPELINE_PARAMETERS):
            parts.append(f"{PIPELINE_PARAMETERS[i]}={value}")
    return ", ".join(parts)


def _take_outputs(body: list[cst.BaseStatement], name: str) -> cst.SimpleStatementLine | None:
    """Take `pipe.set_outputs(...)` out of some statements."""
    for i, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            continue
        small = statement.body[0]
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            if dotted_name(small.value.func) == f"{name}.set_outputs":
                del body[i]
                return statement
    return None


def _outputs_of(line: cst.SimpleStatementLine) -> cst.BaseExpression:
    call = cst.ensure_type(cst.ensure_type(line.body[0], cst.Expr).value, cst.Call)
    elements: list[cst.BaseElement] = []
    for arg in call.args:
        kind = cst.StarredElement if arg.star else cst.Element
        elements.append(kind(arg.value, comma=arg.comma))
    if len(elements) == 1 and isinstance(elements[0], cst.Element):
        return expression(f"({source_of(call.args[0].value)},)")
    left = cst.LeftParen(whitespace_after=call.whitespace_before_args)
    right = cst.RightParen()
    return cst.Tuple(elements, lpar=[left], rpar=[right])
