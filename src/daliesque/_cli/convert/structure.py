# SPDX-License-Identifier: Apache-2.0
"""The pass that makes generators with loops of the functions that defined graphs."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .context import Context, identifiers
from .dataflow import Dataflow, assigned_names, is_docstring
from .editing import (
    Commenting,
    argument,
    expression,
    keyword_parameters,
    source_of,
    statements,
)
from .marks import ACCEPTS, BATCH_SIZE, BOUND, EXPORTED, FED, LOADER, LOOP, PART
from .names import LOOP_ARGUMENTS
from .scopes import argument_names
from .stateful import Stateful

_UNTIL_END = "try:\n    pass\nexcept StopIteration:\n    return"


class Loops(Commenting):
    """Converts marked functions to generators.

    Parameters
    ----------
    context
        The script.
    data_functions
        The names of functions that take and return data of graphs.
    """

    def __init__(self, context: Context, data_functions: set[str]) -> None:
        super().__init__(context.notes)
        self._context = context
        self._data_functions = data_functions

    def leave_FunctionDef(
        self,
        original_node: cst.FunctionDef,  # noqa: ARG002
        updated_node: cst.FunctionDef,
    ) -> cst.FunctionDef:
        """A function that defined a graph."""
        marks = [d for d in updated_node.decorators if _mark_of(d) is not None]
        if not marks:
            return updated_node
        mark = _mark_of(marks[0])
        if mark is None:
            return updated_node
        others = [d for d in updated_node.decorators if d is not marks[0]]
        lines = [*updated_node.leading_lines, *marks[0].leading_lines]
        if not others:
            lines += updated_node.lines_after_decorators
        node = updated_node.with_changes(decorators=others, leading_lines=lines)
        return self._loop(node.with_changes(lines_after_decorators=[]), mark)

    def _loop(self, node: cst.FunctionDef, mark: cst.Call) -> cst.FunctionDef:
        own = {p.name.value for p in (*node.params.params, *node.params.kwonly_params)}
        taken = argument(mark, ACCEPTS)
        names = [] if taken is None else source_of(taken.value)[1:-1].split()
        bound = argument(mark, BOUND)
        own |= set() if bound is None else set(source_of(bound.value)[1:-1].split())
        added = self._arguments(mark, [n for n in LOOP_ARGUMENTS if n in names and n not in own])
        params = keyword_parameters(node.params, added)
        body = list(cst.ensure_type(node.body, cst.IndentedBlock).body)
        docstring = [body.pop(0)] if body and is_docstring(body[0]) else []
        stateful = Stateful(self._context, identifiers(node))
        setup, loop = self._split(body, own, stateful)
        text = source_of(node.body)
        before = []
        threads = statements("ndd.set_num_threads(num_threads)")
        if "num_threads" in added:
            before += threads
        if f"={self._context.rng}" in text:
            seed = "seed" if "seed" in added or "seed" in own else ""
            made = f"ndd.random.RNG({seed})" if seed else "ndd.random.get_default_rng()"
            before += statements(f"{self._context.rng} = {made}")
        after = threads if "num_threads" in own else []
        setup = [*before, *_after_leading(setup, after)]
        fed = f"{FED}[" in text
        if fed:
            setup = [*setup, *statements(f"{FED} = defaultdict(deque)")]
        for problem in stateful.problems:
            self.todo(problem)
        steps = self._steps(stateful, loop, _fed_target(loop) if fed else None)
        if stateful.asks_sources:
            ending = cst.ensure_type(statements(_UNTIL_END)[0], cst.Try)
            steps = [ending.with_changes(body=_block(steps))]
        closed = self._close(mark, node, setup, steps, stateful)
        block = node.body.with_changes(body=[*docstring, *closed])
        return node.with_changes(params=params, body=block)

    def _arguments(self, mark: cst.Call, names: list[str]) -> dict[str, str | None]:
        added: dict[str, str | None] = {}
        for name in names:
            given = argument(mark, name)
            default = None if name == "batch_size" else "None"
            added[name] = default if given is None else source_of(given.value)
        unknown = (
            argument_names(mark) - set(LOOP_ARGUMENTS) - {ACCEPTS, BOUND, EXPORTED, LOADER, PART}
        )
        if unknown or any(arg.star for arg in mark.args):
            self.todo("arguments of the decorator that are not known here: " + source_of(mark))
        return added

    def _split(
        self, body: list[cst.BaseStatement], own: set[str], stateful: Stateful
    ) -> tuple[list[cst.BaseStatement], list[cst.BaseStatement]]:
        """What happens once, and what happens in each step."""
        flow = Dataflow(body, own, self._data_functions, stateful.is_stateful)
        setup: list[cst.BaseStatement] = []
        loop: list[cst.BaseStatement] = []
        for statement in body:
            if flow.is_data(statement):
                once, each = stateful.hoist(statement, flow)
                setup += once
                loop += each
            elif not loop or flow.may_move(statement):
                setup.append(statement)
            else:
                loop.append(statement)
        return setup, loop

    def _steps(
        self, stateful: Stateful, loop: list[cst.BaseStatement], fed: str | None
    ) -> list[cst.BaseStatement]:
        """The loop around the statements of a step."""
        loop = _to_yields(loop, self)
        sources = [step for step in stateful.steps if step.is_source]
        readers = [step for step in stateful.steps if not step.is_source]
        size = "batch_size" if fed is None else f"{fed}.batch_size"
        for step in sources:
            if step.first_target is not None and step.whole_batches:
                size = f"{step.first_target}.batch_size"
                break
        loop = [_resolve_batch_size(statement, size) for statement in loop]
        if not sources and len(readers) == 1 and not stateful.inline:
            step = readers[0]
            epoch = f"{step.variable}.next_epoch(batch_size=batch_size)"
            inner = cst.For(step.target, expression(epoch), _block(loop))
            return [cst.While(cst.Name("True"), _block([inner]))]
        reads = [
            _assign(step.called_target, f"{step.variable}(batch_size=batch_size)")
            for step in readers
        ]
        loop = [*reads, *loop]
        if not sources:
            return [cst.While(cst.Name("True"), _block(loop))]
        if len(sources) == 1:
            target, data = sources[0].target, sources[0].variable
        else:
            targets = [cst.Element(_parenthesized(step.target)) for step in sources]
            target = cst.Tuple(targets, lpar=[], rpar=[])
            data = f"zip({', '.join(step.variable for step in sources)})"
        return [cst.For(target, expression(data), _block(loop))]

    def _close(
        self,
        mark: cst.Call,
        node: cst.FunctionDef,
        setup: list[cst.BaseStatement],
        steps: list[cst.BaseStatement],
        stateful: Stateful,
    ) -> list[cst.BaseStatement]:
        """The body of the function: a generator, or one inside if others ask for the reader."""
        reader = stateful.named_reader
        exported = argument(mark, EXPORTED) is not None
        fed = f"{FED}[" in source_of(node.body)
        asked = self._context.asks_loops or (reader is not None and exported) or fed
        if not asked or argument(mark, PART) is not None:
            return [*setup, *stateful.sources(""), *steps]
        self._context.needed.add("batches")
        inner = "batches"
        inside = identifiers(node)
        while inner in inside:
            inner += "_"
        function = cst.ensure_type(statements(f"def {inner}(epoch):\n    pass")[0], cst.FunctionDef)
        body = [*stateful.sources("epoch"), *steps]
        function = function.with_changes(body=_block(body))
        if setup:
            function = function.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        known = reader or stateful.any_reader
        more = "" if known is None else f", {known}"
        more += f", fed={FED}" if fed else ""
        made = f"{self._context.batches}({inner}, batch_size{more})"
        loader = argument(mark, LOADER)
        if loader is not None:
            text = str(cst.ensure_type(loader.value, cst.SimpleString).evaluated_value)
            name, _, args = text.partition("|")
            made = f"{name}({made}, {args})"
        last = statements(f"return {made}")[0]
        last = last.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        return [*setup, function, last]


def _after_leading(
    setup: list[cst.BaseStatement], added: list[cst.BaseStatement]
) -> list[cst.BaseStatement]:
    """Put statements behind the assignments of the pipeline's own arguments."""
    index = 0
    for i, statement in enumerate(setup):
        if set(assigned_names(statement)) & set(LOOP_ARGUMENTS):
            index = i + 1
    return [*setup[:index], *added, *setup[index:]]


def resolve_batch_sizes(module: cst.Module) -> cst.Module:
    """Let what still asks for the batch size take that of the function; name what is fed."""
    used = identifiers(module)
    fed = next(name for name in ("fed", "fed_data", "_fed_data") if name not in used)
    module = cst.ensure_type(module.visit(_Renaming(FED, fed)), cst.Module)
    return cst.ensure_type(module.visit(_Renaming(BATCH_SIZE, "batch_size")), cst.Module)


def _fed_target(loop: list[cst.BaseStatement]) -> str | None:
    """The variable of the first data that a step is fed."""
    for statement in loop:
        text = source_of(statement).strip()
        name, equals, value = text.partition(" = ")
        if equals and name.isidentifier() and f"ndd.batch({FED}[" in value:
            return name
    return None


class _Renaming(cst.CSTTransformer):
    def __init__(self, name: str, text: str) -> None:
        super().__init__()
        self._name = name
        self._text = text

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return expression(self._text) if original_node.value == self._name else updated_node


def _resolve_batch_size(statement: cst.BaseStatement, text: str) -> cst.BaseStatement:
    resolved: cst.BaseStatement = statement.visit(_Renaming(BATCH_SIZE, text))  # type: ignore[assignment]
    return resolved


def _mark_of(decorator: cst.Decorator) -> cst.Call | None:
    call = decorator.decorator
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Name) and call.func.value == LOOP:
        return call
    return None


def _block(body: Sequence[cst.BaseStatement]) -> cst.IndentedBlock:
    """A block that does not begin with empty lines."""
    body = list(body) or statements("pass")
    lines = list(body[0].leading_lines)  # type: ignore[attr-defined]
    while lines and lines[0].comment is None:
        lines.pop(0)
    body[0] = body[0].with_changes(leading_lines=lines)
    return cst.IndentedBlock(body)


def _assign(target: cst.BaseAssignTargetExpression, value: str) -> cst.BaseStatement:
    assign = cst.Assign([cst.AssignTarget(target)], expression(value))
    return cst.SimpleStatementLine([assign])


def _parenthesized(target: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(target, cst.Tuple) and not target.lpar:
        return target.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return target


def _to_yields(
    body: Sequence[cst.BaseStatement], notes: Commenting, tail: bool = True
) -> list[cst.BaseStatement]:
    """Let statements yield what they returned, and go on with the next step."""
    result: list[cst.BaseStatement] = []
    for i, statement in enumerate(body):
        last = tail and i == len(body) - 1
        if isinstance(statement, cst.SimpleStatementLine):
            result += _yield_line(statement, last)
        elif isinstance(statement, cst.If):
            result.append(_yield_if(statement, notes, last))
        elif isinstance(statement, cst.With):
            inner = _to_yields(statement.body.body, notes, last)  # type: ignore[arg-type]
            result.append(statement.with_changes(body=statement.body.with_changes(body=inner)))
        else:
            if isinstance(statement, cst.For | cst.While | cst.Try) and _returns(statement):
                notes.todo("a return inside this loop: yield the outputs instead.")
            result.append(statement)
    return result


def _yield_line(line: cst.SimpleStatementLine, last: bool) -> list[cst.BaseStatement]:
    returned = line.body[-1]
    if not isinstance(returned, cst.Return):
        return [line]
    value = cst.Tuple([]) if returned.value is None else returned.value
    new = line.with_changes(body=[*line.body[:-1], cst.Expr(cst.Yield(value))])
    return [new] if last else [new, *statements("continue")]


def _yield_if(node: cst.If, notes: Commenting, last: bool) -> cst.If:
    body = node.body.with_changes(
        body=_to_yields(node.body.body, notes, last)  # type: ignore[arg-type]
    )
    orelse = node.orelse
    if isinstance(orelse, cst.If):
        orelse = _yield_if(orelse, notes, last)
    elif orelse is not None:
        inner = _to_yields(orelse.body.body, notes, last)  # type: ignore[arg-type]
        orelse = orelse.with_changes(body=orelse.body.with_changes(body=inner))
    return node.with_changes(body=body, orelse=orelse)


def _returns(node: cst.CSTNode) -> bool:
    found = []

    class Finder(cst.CSTVisitor):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> bool:  # noqa: ARG002
            return False

        def visit_Return(self, node: cst.Return) -> None:
            found.append(node)

    node.visit(Finder())
    return bool(found)
