# SPDX-License-Identifier: Apache-2.0
"""The conversion of one program, pass by pass."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import libcst as cst

from .blocks import Blocks
from .classes import OperatorObjects
from .context import Context
from .editing import MARK, settle
from .expressions import Expressions
from .kinds import Kinds
from .modules import finish_imports
from .structure import Loops, resolve_batch_sizes


@dataclass
class Result:
    """A converted program.

    Parameters
    ----------
    text
        The program.
    changes
        What was left out or changed without leaving anything to do, with how often.
    """

    text: str
    changes: dict[str, int] = field(default_factory=dict)

    @property
    def work(self) -> list[tuple[int, str]]:
        """What is left to do: the numbers of lines and the comments there."""
        return find_work(self.text)


def find_work(text: str) -> list[tuple[int, str]]:
    """The comments of a program that say what is left to do."""
    found: list[tuple[int, str]] = []
    open_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith(MARK):
            found.append((number, stripped.removeprefix(MARK).strip()))
            open_comment = True
        elif open_comment and stripped.startswith("#   "):
            last, message = found[-1]
            found[-1] = (last, f"{message} {stripped[4:]}")
        else:
            open_comment = False
    return found


def is_pipeline_mode(text: str) -> bool:
    """Whether a program uses the reference outside its dynamic mode."""
    return any(
        "nvidia.dali" in line and "experimental.dynamic" not in line for line in text.splitlines()
    )


def convert_text(text: str) -> Result:
    """Convert a program.

    Parameters
    ----------
    text
        The program. SyntaxError if it is none.
    """
    try:
        module = cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        msg = f"line {error.raw_line}: {error.message}"
        raise SyntaxError(msg) from error
    if not is_pipeline_mode(text):
        return Result(text)
    try:
        return _converted(module)
    except Exception as error:
        # Whatever is wrong with the converter, the user gets a program that compiles.
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        note = f"{MARK} this program was left as it is, because of a fault of the converter: {what}"
        return Result(f"{note}\n{text}")


def _converted(module: cst.Module) -> Result:
    context = Context()
    module = _desugar(module, context)
    kinds = Kinds(module)
    context.choose_names(module, kinds)
    context.seeded = _is_seeded(kinds)
    module = _visit(module, Expressions(context, module, kinds))
    data_functions = {
        name
        for name, group in kinds.functions.items()
        if any(f.in_graph and not f.is_pipeline for f in group)
    }
    context.parts = {
        name
        for name, group in kinds.functions.items()
        if any(f.is_stateful and f.in_graph and not f.is_pipeline for f in group)
    }
    module = cst.parse_module(_settled(module).code)
    module = _visit(module, Loops(context, data_functions))
    module = resolve_batch_sizes(module)
    module = finish_imports(_settled(module), context)
    result = Result(module.code, context.notes.changes)
    with warnings.catch_warnings(action="ignore"):
        compile(result.text, "<converted>", "exec", dont_inherit=True)
    return result


def _desugar(module: cst.Module, context: Context) -> cst.Module:
    """Let all graphs be defined by decorated functions."""
    module = _visit(module, OperatorObjects(context, module))
    module = cst.parse_module(_settled(module).code)
    module = _visit(module, Blocks(context, Kinds(module)))
    return cst.parse_module(_settled(module).code)


def _is_seeded(kinds: Kinds) -> bool:
    for group in kinds.functions.values():
        for function in group:
            if not function.is_pipeline:
                continue
            node = cst.ensure_type(function.node, cst.FunctionDef)
            if "seed" in function.passed:
                return True
            for decorator in node.decorators:
                call = decorator.decorator
                if isinstance(call, cst.Call) and any(
                    a.keyword is not None and a.keyword.value == "seed" for a in call.args
                ):
                    return True
    return False


def _visit(module: cst.Module, transformer: cst.CSTTransformer) -> cst.Module:
    return cst.ensure_type(module.visit(transformer), cst.Module)


class _Settle(cst.CSTTransformer):
    """Moves the comments of removed statements to the next ones."""

    def leave_Module(
        self,
        original_node: cst.Module,  # noqa: ARG002
        updated_node: cst.Module,
    ) -> cst.Module:
        body, rest = settle(updated_node.body)
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])

    def leave_IndentedBlock(
        self,
        original_node: cst.IndentedBlock,  # noqa: ARG002
        updated_node: cst.IndentedBlock,
    ) -> cst.IndentedBlock:
        body, rest = settle(updated_node.body)
        return updated_node.with_changes(body=body, footer=[*rest, *updated_node.footer])


def _settled(module: cst.Module) -> cst.Module:
    return _visit(module, _Settle())
