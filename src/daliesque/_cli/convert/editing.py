# SPDX-License-Identifier: Apache-2.0
"""Small edits of syntax trees that keep the formatting."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import libcst as cst

MARK = "# daliesque:"
_WIDTH = 88


def source_of(node: cst.CSTNode) -> str:
    """The text of a part of a program."""
    return cst.Module(body=[]).code_for_node(node)


def expression(text: str) -> cst.BaseExpression:
    """Parse an expression."""
    return cst.parse_expression(text)


def statements(text: str) -> list[cst.BaseStatement]:
    """Parse statements."""
    return list(cst.parse_module(textwrap.dedent(text)).body)


def operand(node: cst.BaseExpression) -> str:
    """The text of an expression, fit to be followed by a dot or bracket."""
    atoms = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.BaseString, cst.List, cst.Dict)
    text = source_of(node)
    return text if isinstance(node, atoms) or node.lpar else f"({text})"


def argument(call: cst.Call, name: str, position: int | None = None) -> cst.Arg | None:
    """A call's argument by name, or by position."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    if position is not None and position < len(call.args):
        arg = call.args[position]
        if arg.keyword is None and not any(a.star for a in call.args[: position + 1]):
            return arg
    return None


def comments_of(arg: cst.Arg) -> list[str]:
    """The comments behind an argument."""
    found: list[str] = []

    class Finder(cst.CSTVisitor):
        def visit_Comment(self, node: cst.Comment) -> None:
            found.append(node.value)

    if isinstance(arg.comma, cst.Comma):
        arg.comma.visit(Finder())
    arg.whitespace_after_arg.visit(Finder())
    return found


def without(call: cst.Call, dropped: Collection[cst.Arg]) -> cst.Call:
    """A call without some of its arguments."""
    kept = [arg for arg in call.args if not any(arg is other for other in dropped)]
    if len(kept) == len(call.args):
        return call
    if kept and kept[-1] is not call.args[-1]:
        last = call.args[-1]
        kept[-1] = kept[-1].with_changes(
            comma=last.comma, whitespace_after_arg=last.whitespace_after_arg
        )
    if not kept:
        return call.with_changes(args=[], whitespace_before_args=cst.SimpleWhitespace(""))
    return call.with_changes(args=kept)


def with_argument(call: cst.Call, name: str, value: cst.BaseExpression | str) -> cst.Call:
    """A call with one more keyword argument, in the style of the others."""
    if isinstance(value, str):
        value = expression(value)
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = cst.Arg(value, keyword=cst.Name(name), equal=tight)
    if not call.args:
        return call.with_changes(args=[new])
    *others, last = call.args
    between: cst.BaseParenthesizableWhitespace = cst.SimpleWhitespace(" ")
    if others and isinstance(others[-1].comma, cst.Comma):
        between = others[-1].comma.whitespace_after
    elif isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        between = call.whitespace_before_args
    between = _without_comments(between)
    # What stands behind the last argument (a closing line, a trailing comma) stays last.
    new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    last = last.with_changes(
        comma=cst.Comma(whitespace_after=between),
        whitespace_after_arg=cst.SimpleWhitespace(""),
    )
    return call.with_changes(args=[*others, last, new])


def _without_comments(
    space: cst.BaseParenthesizableWhitespace,
) -> cst.BaseParenthesizableWhitespace:
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return space
    return space.with_changes(
        first_line=cst.TrailingWhitespace(newline=space.first_line.newline), empty_lines=[]
    )


def keyword_parameters(params: cst.Parameters, added: dict[str, str | None]) -> cst.Parameters:
    """Parameters with more keyword-only ones, with their defaults; known names are left alone."""
    known = {p.name.value for p in (*params.posonly_params, *params.params, *params.kwonly_params)}
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = []
    for name, default in added.items():
        if name in known:
            continue
        if default is None:
            new.append(cst.Param(cst.Name(name)))
        else:
            new.append(cst.Param(cst.Name(name), default=expression(default), equal=tight))
    if not new:
        return params
    new.sort(key=lambda param: param.default is not None)
    star = params.star_arg
    if not isinstance(star, cst.Param | cst.ParamStar):
        star = cst.ParamStar()
    first = list(params.params)
    if first and params.star_kwarg is None and not params.kwonly_params:
        last = first[-1].comma
        if isinstance(last, cst.Comma) and not isinstance(
            last.whitespace_after, cst.SimpleWhitespace
        ):
            # One parameter on each line, with a comma behind the last.
            between = first[-2].comma if len(first) > 1 else last
            between = between if isinstance(between, cst.Comma) else cst.Comma()
            first[-1] = first[-1].with_changes(comma=between)
            if isinstance(star, cst.ParamStar):
                star = star.with_changes(comma=between)
            new = [param.with_changes(comma=between) for param in new]
            new[-1] = new[-1].with_changes(comma=last)
        else:
            first[-1] = first[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return params.with_changes(
        params=first, star_arg=star, kwonly_params=[*params.kwonly_params, *new]
    )


def tall(call: cst.Call) -> cst.Call:
    """A call with a line for each argument."""
    line = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace("    "))
    end = cst.ParenthesizedWhitespace(indent=True)
    args = [arg.with_changes(comma=cst.Comma(whitespace_after=line)) for arg in call.args]
    args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=end))
    return call.with_changes(args=args, whitespace_before_args=line)


def comment_lines(message: str, mark: str = MARK) -> list[cst.EmptyLine]:
    """A comment of as many lines as needed."""
    lines = textwrap.wrap(f"{mark} {message}".strip(), _WIDTH, break_long_words=False)
    first, *others = lines
    return [
        cst.EmptyLine(comment=cst.Comment(line))
        for line in [first, *(f"#   {other}" for other in others)]
    ]


@dataclass
class Notes:
    """What a conversion has to say."""

    # Changes that leave nothing to do, each with the number of times it happened.
    changes: dict[str, int] = field(default_factory=dict)

    def change(self, message: str) -> None:
        """Remember something that the reader of the summary may want to know."""
        self.changes[message] = self.changes.get(message, 0) + 1


class Commenting(cst.CSTTransformer):
    """A transformer whose methods can attach comments to the statement that they work on."""

    def __init__(self, notes: Notes) -> None:
        super().__init__()
        self.notes = notes
        self._stack: list[list[cst.EmptyLine]] = [[]]

    def todo(self, message: str) -> None:
        """Mark the statement as work that is left, once for each message."""
        lines = comment_lines(message)
        known = {line.comment.value for line in self._stack[-1] if line.comment is not None}
        if lines[0].comment is not None and lines[0].comment.value not in known:
            self._stack[-1] += lines

    def keep_comments(self, texts: Sequence[str]) -> None:
        """Put comments above the statement if what they belong to is gone."""
        self._stack[-1] += [cst.EmptyLine(comment=cst.Comment(text)) for text in texts]

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Begin a statement."""
        if isinstance(node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            self._stack.append([])
        return super().on_visit(node)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        """End a statement: write what was noted above it."""
        result = super().on_leave(original_node, updated_node)
        if not isinstance(original_node, cst.SimpleStatementLine | cst.BaseCompoundStatement):
            return result
        lines = self._stack.pop()
        if isinstance(result, cst.FlattenSentinel):
            nodes = list(result)
            nodes[0] = nodes[0].with_changes(leading_lines=[*_leading(nodes[0]), *lines])
            return cst.FlattenSentinel(nodes)
        if not isinstance(result, cst.CSTNode) or not lines:
            return result
        return result.with_changes(leading_lines=[*_leading(result), *lines])


def _leading(node: cst.CSTNode) -> Sequence[cst.EmptyLine]:
    lines: Sequence[cst.EmptyLine] = node.leading_lines  # type: ignore[attr-defined]
    return lines


def remove_statement(
    node: cst.SimpleStatementLine,
) -> cst.SimpleStatementLine | cst.RemovalSentinel:
    """Take a statement out; if it carries comments, a statement without effect stays for them."""
    has_comments = any(line.comment is not None for line in node.leading_lines)
    if not has_comments and node.trailing_whitespace.comment is None:
        return cst.RemoveFromParent()
    return node.with_changes(body=[cst.Expr(cst.Name(GONE))])


# A statement that only carries comments, until `settle` moves them to the next statement.
GONE = "__gone__"


def settle(
    body: Sequence[cst.BaseStatement],
) -> tuple[list[cst.BaseStatement], list[cst.EmptyLine]]:
    """Move the comments of removed statements to the next one.

    Returns the statements and the comments that are left after the last.
    """
    result: list[cst.BaseStatement] = []
    carried: list[cst.EmptyLine] = []
    for statement in body:
        if is_gone(statement):
            line = cst.ensure_type(statement, cst.SimpleStatementLine)
            if any(entry.comment is not None for entry in line.leading_lines):
                carried += line.leading_lines
            if line.trailing_whitespace.comment is not None:
                carried.append(cst.EmptyLine(comment=line.trailing_whitespace.comment))
            continue
        if carried:
            statement = statement.with_changes(leading_lines=[*carried, *_leading(statement)])
            carried = []
        result.append(statement)
    return result, carried


def is_gone(node: cst.CSTNode) -> bool:
    """Whether a statement is one that `remove_statement` left."""
    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    small = node.body[0]
    return (
        isinstance(small, cst.Expr)
        and isinstance(small.value, cst.Name)
        and small.value.value == GONE
    )
