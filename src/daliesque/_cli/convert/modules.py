# SPDX-License-Identifier: Apache-2.0
"""The pass that puts imports in order and adds the helpers that a script needs."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from . import snippets
from .context import Context, VisitsNames
from .editing import (
    GONE,
    MARK,
    comment_lines,
    is_gone,
    remove_statement,
    settle,
    source_of,
    statements,
)
from .names import DYNAMIC_MODE, canonical
from .scopes import dotted_name


def finish_imports(module: cst.Module, context: Context) -> cst.Module:
    """Drop imports of the reference that nothing needs; import daliesque; add helpers.

    Parameters
    ----------
    module
        The converted program.
    context
        What it needs.
    """
    used = _used_names(module)
    remover = _Remover(used, is_complete=MARK not in module.code)
    module = cst.ensure_type(module.visit(remover), cst.Module)
    wanted = ["import daliesque as ndd"]
    helpers = _helpers(context)
    code = module.code + "".join(helpers)
    if f"{context.numpy}." in code and not _imports_numpy(module):
        wanted.insert(0, f"import numpy as {context.numpy}")
    modules = [line for need in sorted(context.needed) for line in snippets.IMPORTS.get(need, ())]
    lines = [node for node in module.body if isinstance(node, cst.SimpleStatementLine)]
    known = {source_of(small) for line in lines for small in line.body}
    wanted = [*(line for line in dict.fromkeys(modules) if line not in known), *wanted]
    body: list[cst.BaseStatement] = list(module.body)
    index = _first_removed(body)
    new = [s for line in wanted for s in statements(line)]
    if index < len(body) and is_gone(body[index]):
        gone = cst.ensure_type(body[index], cst.SimpleStatementLine)
        new[0] = new[0].with_changes(leading_lines=gone.leading_lines)
        body[index] = gone.with_changes(leading_lines=[])
    body[index:index] = new
    if helpers:
        end = index + len(new)
        while end < len(body) and _is_import(body[end]):
            end += 1
        added = [s for text in helpers for s in _spaced(text)]
        if end < len(body):
            body[end] = _after_helper(body[end])
        body[end:end] = added
    settled, rest = settle(body)
    return module.with_changes(body=settled, footer=[*rest, *module.footer])


def _imports_numpy(module: cst.Module) -> bool:
    """Whether the imports that a program begins with have NumPy."""
    started = False
    for node in module.body:
        if _is_import(node):
            started = True
            line = cst.ensure_type(node, cst.SimpleStatementLine)
            for small in line.body:
                if isinstance(small, cst.Import) and any(
                    dotted_name(alias.name) == "numpy" for alias in small.names
                ):
                    return True
        elif started and isinstance(node, cst.BaseCompoundStatement):
            return False
    return False


def _helpers(context: Context) -> list[str]:
    found = []
    if "batches" in context.needed:
        found.append(snippets.batches(context.batches))
    if "source" in context.needed:
        found.append(snippets.source(context.source))
    if "constant" in context.needed:
        found.append(snippets.constant(context.constant, context.numpy))
    if "numba" in context.needed:
        found.append(snippets.filling(context.numba, context.numpy))
    for framework in snippets.FRAMEWORKS:
        if framework in context.needed:
            found.append(snippets.loader(framework, context.loader, context.numpy))
    return found


def _spaced(text: str) -> list[cst.BaseStatement]:
    made = statements(text)
    return [s.with_changes(leading_lines=[cst.EmptyLine()] * 2) for s in made]


def _after_helper(node: cst.BaseStatement) -> cst.BaseStatement:
    lines = list(node.leading_lines)  # type: ignore[attr-defined]
    while lines and lines[0].comment is None:
        lines.pop(0)
    return node.with_changes(leading_lines=[cst.EmptyLine()] * 2 + lines)


def _is_import(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.SimpleStatementLine) and (
        is_gone(node) or all(isinstance(s, cst.Import | cst.ImportFrom) for s in node.body)
    )


def _first_removed(body: Sequence[cst.CSTNode]) -> int:
    """Where the first import of the reference was; otherwise where imports may begin."""
    for i, node in enumerate(body):
        if is_gone(node):
            return i
    start = 0
    for i, node in enumerate(body):
        if isinstance(node, cst.SimpleStatementLine):
            small = node.body[0]
            future = isinstance(small, cst.ImportFrom) and (
                small.module is not None and dotted_name(small.module) == "__future__"
            )
            docstring = i == 0 and isinstance(small, cst.Expr)
            if future or docstring:
                start = i + 1
    return start


class _Remover(cst.CSTTransformer):
    """Removes imports of the reference whose names are no longer used.

    Parameters
    ----------
    used
        The names that the program uses.
    is_complete
        Whether nothing is marked as left to do: then imports that stay are.
    """

    def __init__(self, used: set[str], *, is_complete: bool) -> None:
        super().__init__()
        self._used = used
        self._is_complete = is_complete

    def leave_IndentedBlock(
        self,
        original_node: cst.IndentedBlock,  # noqa: ARG002
        updated_node: cst.IndentedBlock,
    ) -> cst.IndentedBlock:
        """A block that may have had nothing but imports."""
        body, rest = settle(updated_node.body)
        return updated_node.with_changes(
            body=body or statements("pass"), footer=[*rest, *updated_node.footer]
        )

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,  # noqa: ARG002
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine:
        body = [self._kept(small) for small in updated_node.body]
        kept = [small for small in body if small is not None]
        if self._is_complete and any(map(_needs_reference, kept)):
            lines = comment_lines("something below still needs this import.")
            updated_node = updated_node.with_changes(
                leading_lines=[*updated_node.leading_lines, *lines]
            )
        if len(kept) == len(updated_node.body):
            if all(a is b for a, b in zip(kept, updated_node.body, strict=True)):
                return updated_node
        if kept:
            return updated_node.with_changes(body=kept)
        removed = remove_statement(updated_node)
        if isinstance(removed, cst.SimpleStatementLine):
            return removed
        return updated_node.with_changes(body=[cst.Expr(cst.Name(GONE))])

    def _kept(self, node: cst.BaseSmallStatement) -> cst.BaseSmallStatement | None:
        if isinstance(node, cst.Import):
            names = [
                _of_daliesque(a)
                for a in node.names
                if not self._is_unused(dotted_name(a.name) or "", a)
            ]
            if any(a is not b for a, b in zip(names, node.names, strict=False)):
                node = node.with_changes(names=names)
        elif isinstance(node, cst.ImportFrom):
            if node.relative or node.module is None or isinstance(node.names, cst.ImportStar):
                return node
            prefix = dotted_name(node.module)
            names = [
                a for a in node.names if not self._is_unused(f"{prefix}.{dotted_name(a.name)}", a)
            ]
        else:
            return node
        if not names:
            return None
        if isinstance(node.names, cst.ImportStar) or len(names) == len(node.names):
            return node
        names[-1] = names[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return node.with_changes(names=names)

    def _is_unused(self, full: str, alias: cst.ImportAlias) -> bool:
        if alias.asname is not None:
            local = dotted_name(alias.asname.name)
        else:
            local = (dotted_name(alias.name) or "").partition(".")[0]
        if full == DYNAMIC_MODE and local == "ndd":
            return True
        return canonical(full) is not None and local not in self._used


def _of_daliesque(alias: cst.ImportAlias) -> cst.ImportAlias:
    """The import of the reference's dynamic mode by a name of its own is one of daliesque."""
    if dotted_name(alias.name) != DYNAMIC_MODE or alias.asname is None:
        return alias
    return alias.with_changes(name=cst.Name("daliesque"))


def _needs_reference(node: cst.BaseSmallStatement) -> bool:
    if isinstance(node, cst.Import):
        return any(canonical(dotted_name(alias.name) or "") is not None for alias in node.names)
    if isinstance(node, cst.ImportFrom) and node.module is not None and not node.relative:
        return canonical(dotted_name(node.module) or "") is not None
    return False


def _used_names(module: cst.Module) -> set[str]:
    """The names that a program uses, without those of attributes, arguments and imports."""
    found: set[str] = set()

    class Finder(VisitsNames):
        def visit_Import(self, node: cst.Import) -> bool:  # noqa: ARG002
            return False

        def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:  # noqa: ARG002
            return False

        def visit_Name(self, node: cst.Name) -> None:
            found.add(node.value)

    module.visit(Finder())
    return found
