# SPDX-License-Identifier: Apache-2.0
"""Readers, external sources and generators: what a loop makes once and uses in each step."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .context import Context
from .dataflow import Dataflow
from .editing import argument, expression, source_of, statements, with_argument
from .names import delivers_one
from .scopes import argument_names, dotted_name

Hoisted = tuple[list[cst.BaseStatement], list[cst.BaseStatement]]


@dataclass
class Step:
    """What a step begins with: the data of a reader or source, and where they go."""

    target: cst.BaseAssignTargetExpression
    # The variable that holds the reader, or the call that makes the source.
    variable: str
    is_source: bool
    whole_batches: bool = True

    @property
    def called_target(self) -> cst.BaseAssignTargetExpression:
        """What takes the result of a call of the reader, which is not a tuple of one."""
        target = self.target
        if isinstance(target, cst.Tuple) and len(target.elements) == 1:
            only = target.elements[0].value
            assert isinstance(only, cst.BaseAssignTargetExpression)
            return only
        return target

    @property
    def first_target(self) -> str | None:
        """The name of the first batch."""
        target: cst.BaseExpression = self.target
        while isinstance(target, cst.Tuple | cst.List):
            target = target.elements[0].value
        return target.value if isinstance(target, cst.Name) else None


class Stateful:
    """Finds what is made once, gives it names and takes it out of the steps.

    Parameters
    ----------
    context
        The script.
    used
        The names that the function uses.
    """

    def __init__(self, context: Context, used: set[str]) -> None:
        self._context = context
        self._used = set(used)
        self.steps: list[Step] = []
        # Whether steps ask a reader for data in the middle of something.
        self.inline = False
        # Whether steps ask a source, which may come to its end.
        self.asks_sources = False
        self.problems: list[str] = []
        self.named_reader: str | None = None
        self.any_reader: str | None = None
        self._sources: list[tuple[str, cst.Call]] = []
        self._comments: dict[str, list[cst.EmptyLine]] = {}

    def is_stateful(self, call: cst.Call) -> bool:
        """Whether a call makes a reader, a source or a generator of random numbers."""
        return self._is_reader(call) or self._is_source(call) or self._is_rng(call)

    def _is_reader(self, call: cst.Call) -> bool:
        parts = (dotted_name(call.func) or "").split(".")
        return len(parts) > 2 and parts[0] == "ndd" and parts[-2] == "readers"

    def _is_source(self, call: cst.Call) -> bool:
        name = dotted_name(call.func) or ""
        return name == self._context.source or name.removeprefix("self.") in self._context.parts

    def _is_rng(self, call: cst.Call) -> bool:
        return dotted_name(call.func) == "ndd.random.RNG"

    def _name(self, base: str) -> str:
        name, number = base, 2
        while name in self._used:
            name, number = f"{base}{number}", number + 1
        self._used.add(name)
        return name

    def hoist(self, statement: cst.BaseStatement, flow: Dataflow) -> Hoisted:
        """What of a statement happens once, and what in each step."""
        if not self._contains(statement):
            return [], [statement]
        if isinstance(statement, cst.If) and not flow.is_data(statement.test):
            return self._hoist_if(statement, flow)
        if isinstance(statement, cst.SimpleStatementLine):
            whole = self._hoist_assignment(statement)
            if whole is not None:
                return whole
        elif not isinstance(statement, cst.If):
            self.problems.append(
                "a reader or source inside a block: make it once, before the loop."
            )
        return self._hoist_inner(statement)

    def _contains(self, node: cst.CSTNode) -> bool:
        found = []
        test = self.is_stateful

        class Finder(cst.CSTVisitor):
            def visit_Call(self, node: cst.Call) -> None:
                if test(node):
                    found.append(node)

        node.visit(Finder())
        return bool(found)

    def _hoist_assignment(self, line: cst.SimpleStatementLine) -> Hoisted | None:
        """`a, b = ndd.readers.File(...)` as a whole."""
        small = line.body[0]
        if isinstance(small, cst.Return) and isinstance(small.value, cst.Call):
            return self._hoist_returned(line, small.value)
        if len(line.body) != 1 or not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return None
        call, target = small.value, small.targets[0].target
        if not isinstance(call, cst.Call) or not (self._is_reader(call) or self._is_source(call)):
            return None
        if self._contains_inside(call):
            return None
        if self._is_source(call):
            return self._hoist_source(line, call, target)
        once, variable = self._make_reader(call)
        operator = dotted_name(call.func) or ""
        if not isinstance(target, cst.Tuple | cst.List) and _is_single(operator, call):
            target = cst.Tuple([cst.Element(target, comma=cst.Comma())])
        self.steps.append(Step(_bare(target), variable, is_source=False))
        lines, behind = line.leading_lines, line.trailing_whitespace
        return [once.with_changes(leading_lines=lines, trailing_whitespace=behind)], []

    def _hoist_returned(self, line: cst.SimpleStatementLine, call: cst.Call) -> Hoisted | None:
        """`return ndd.readers.File(...)`."""
        name = cst.Name(self._name("outputs"))
        assign = line.with_changes(body=[cst.Assign([cst.AssignTarget(name)], call)])
        found = self._hoist_assignment(assign)
        if found is None:
            return None
        once, each = found
        return once, [*each, cst.SimpleStatementLine([cst.Return(name)])]

    def _contains_inside(self, call: cst.Call) -> bool:
        return any(self._contains(arg) for arg in call.args)

    def _hoist_source(
        self,
        line: cst.SimpleStatementLine,
        call: cst.Call,
        target: cst.BaseAssignTargetExpression,
    ) -> Hoisted:
        batch = argument(call, "batch")
        whole = batch is None or source_of(batch.value) == "True"
        whole = whole and dotted_name(call.func) == self._context.source
        variable = self._name("source")
        once: list[cst.BaseStatement] = []
        if dotted_name(call.func) == self._context.source and call.args:
            first = call.args[0]
            if first.keyword is None and isinstance(first.value, cst.Call):
                # One object for all epochs.
                held = self._name("data")
                once = statements(f"{held} = {source_of(first.value)}")
                call = call.with_changes(
                    args=[first.with_changes(value=cst.Name(held)), *call.args[1:]]
                )
        self._sources.append((variable, call))
        self.steps.append(Step(_bare(target), variable, is_source=True, whole_batches=whole))
        comments = [entry for entry in line.leading_lines if entry.comment is not None]
        if comments:
            self._comments[variable] = comments
        return once, []

    def _make_reader(self, call: cst.Call) -> tuple[cst.SimpleStatementLine, str]:
        variable = self._name("reader")
        if "name" in argument_names(call) and self.named_reader is None:
            self.named_reader = variable
        self.any_reader = self.any_reader or variable
        target = cst.AssignTarget(cst.Name(variable))
        return cst.SimpleStatementLine([cst.Assign([target], call)]), variable

    def _hoist_inner(self, statement: cst.BaseStatement) -> Hoisted:
        """Calls in the middle of a statement."""
        once: list[cst.BaseStatement] = []
        owner = self

        class Replace(cst.CSTTransformer):
            def leave_Call(
                self, original_node: cst.Call, updated_node: cst.Call
            ) -> cst.BaseExpression:
                if owner._is_rng(original_node):
                    variable = owner._name("own_rng")
                    once.extend(statements(f"{variable} = {source_of(updated_node)}"))
                    return cst.Name(variable)
                if owner._is_reader(original_node):
                    made, variable = owner._make_reader(updated_node)
                    once.append(made)
                    owner.inline = True
                    return expression(f"{variable}(batch_size=batch_size)")
                if owner._is_source(original_node):
                    variable = owner._name("source")
                    owner._sources.append((variable, updated_node))
                    owner.asks_sources = True
                    return expression(f"next({variable})")
                return updated_node

        changed: cst.BaseStatement = statement.visit(Replace())  # type: ignore[assignment]
        return once, [changed]

    def _hoist_if(self, node: cst.If, flow: Dataflow) -> Hoisted:
        """A choice between readers, which happens before the steps and in each of them."""
        before = len(self.steps)
        once: list[cst.BaseStatement] = []
        each: list[cst.BaseStatement] = []
        for statement in node.body.body:
            first, then = self.hoist(statement, flow)  # type: ignore[arg-type]
            once += first
            each += [*self._inline_steps(before), *then]
        orelse_once: cst.If | cst.Else | None = None
        orelse_each: cst.If | cst.Else | None = None
        if isinstance(node.orelse, cst.If):
            first, then = self._hoist_if(node.orelse, flow)
            orelse_once = cst.ensure_type(first[0], cst.If) if first else None
            orelse_each = cst.ensure_type(then[0], cst.If) if then else None
        elif node.orelse is not None:
            inner_once: list[cst.BaseStatement] = []
            inner_each: list[cst.BaseStatement] = []
            for statement in node.orelse.body.body:
                first, then = self.hoist(statement, flow)  # type: ignore[arg-type]
                inner_once += first
                inner_each += [*self._inline_steps(before), *then]
            orelse_once = cst.Else(cst.IndentedBlock(inner_once)) if inner_once else None
            orelse_each = cst.Else(cst.IndentedBlock(inner_each)) if inner_each else None
        setup = [node.with_changes(body=cst.IndentedBlock(once), orelse=orelse_once)]
        bare = node.with_changes(leading_lines=[], body=cst.IndentedBlock(each), orelse=orelse_each)
        return (
            setup if once or orelse_once is not None else [],  # type: ignore[return-value]
            [bare] if each or orelse_each is not None else [],
        )

    def _inline_steps(self, before: int) -> list[cst.BaseStatement]:
        """Steps that belong to a branch, as statements."""
        result: list[cst.BaseStatement] = []
        while len(self.steps) > before:
            step = self.steps.pop(before)
            value = (
                f"next({step.variable})"
                if step.is_source
                else (f"{step.variable}(batch_size=batch_size)")
            )
            target = step.target if step.is_source else step.called_target
            assign = cst.Assign([cst.AssignTarget(target)], expression(value))
            result.append(cst.SimpleStatementLine([assign]))
            self.inline = True
            self.asks_sources |= step.is_source
        return result

    def sources(self, epoch: str) -> list[cst.BaseStatement]:
        """The statements that make the sources; they belong to the generator."""
        result: list[cst.BaseStatement] = []
        for variable, call in self._sources:
            if epoch and dotted_name(call.func) == self._context.source:
                call = with_argument(call, "epoch", epoch)
            assign = cst.Assign([cst.AssignTarget(cst.Name(variable))], call)
            lines = self._comments.get(variable, [])
            result.append(cst.SimpleStatementLine([assign], leading_lines=lines))
        return result


def _is_single(name: str, call: cst.Call) -> bool:
    """Whether a reader delivers one output."""
    return delivers_one(name, argument_names(call))


def _bare(target: cst.BaseAssignTargetExpression) -> cst.BaseAssignTargetExpression:
    """A target without parentheses, as `for` likes it."""
    if isinstance(target, cst.Tuple) and len(target.elements) > 1:
        return target.with_changes(lpar=[], rpar=[])
    return target
