# SPDX-License-Identifier: Apache-2.0
"""Exception classes, and how the failure of an asynchronous call reaches the user.

A call that fails in the background is remembered as a `Failure`. Whoever reads its result gets an
exception of the same class and text; its `__cause__` is the original, whose traceback shows the
line of the user's program that made the call.
"""

from __future__ import annotations

import ast
import copy
import itertools
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from types import CodeType, TracebackType
from typing import NamedTuple, NoReturn

# A fault of the library itself; native code raises it too.
from .._kernels import InternalError as InternalError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# Where the pages about errors are: one for each of these classes.
PAGES = "docs/errors"
DOCUMENTED = (
    *("DecodeError", "OpError", "InternalError", "TypeError", "ValueError", "IndexError"),
    *("AttributeError", "FileNotFoundError", "OSError", "ImportError", "MemoryError"),
    "RuntimeError",
)


def documented(kind: type[BaseException]) -> str | None:
    """The name of the class of errors, or of one that it is made of, that there is a page about."""
    return next((base.__name__ for base in kind.__mro__ if base.__name__ in DOCUMENTED), None)


def page_of(kind: type[BaseException]) -> str:
    """Where to read about a class of errors."""
    name = documented(kind)
    if name is None:
        return f"See {PAGES}/index.md"
    return f"See {PAGES}/{name}.md, or run: python -m daliesque explain {name}"


class OpError(RuntimeError):
    """An operator met data it cannot process."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.add_note(page_of(type(self)))


class DecodeError(OpError):
    """Encoded data (an image, audio, a video) is damaged or of an unknown kind."""


class SampleError(Exception):
    """A body cannot process one sample: `reason` continues a sentence about it.

    The engine, which knows the operator and where the sample came from, makes an error of class
    `kind` of it.
    """

    def __init__(self, index: int, reason: str, kind: type[OpError] = OpError) -> None:
        super().__init__(index, reason, kind)
        self.index = index
        self.reason = reason
        self.kind = kind

    def explained(self, operator: str, source: Sequence[object] | None) -> OpError:
        """The error for the user."""
        name = source[self.index] if source is not None and self.index < len(source) else None
        shown = "" if name is None else f' ("{name}")'
        return self.kind(f"{operator}: sample {self.index}{shown} {self.reason}.")


class CallSite(NamedTuple):
    """A position in the user's program: code object and instruction offset."""

    code: CodeType
    instruction: int

    @property
    def line(self) -> int:
        """Line number; computed only when somebody wants to see it."""
        for begin, end, line in self.code.co_lines():
            if begin <= self.instruction < end and line is not None:
                return line
        return self.code.co_firstlineno

    def __str__(self) -> str:
        return f"{os.path.basename(self.code.co_filename)}:{self.line}"


_new_tuple = tuple.__new__


def call_site() -> CallSite:
    """The innermost frame outside of this package."""
    # The callers are `start`, and what called that.
    frame = sys._getframe(3)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        outer = frame.f_back
        if outer is None:
            break
        frame = outer
    # The short way to make one: every call of an operator does.
    return _new_tuple(CallSite, (frame.f_code, frame.f_lasti))


def user_site() -> CallSite | None:
    """The innermost frame outside of this package; None in threads that have none."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_PACKAGE):
        outer = frame.f_back
        if outer is None:
            return None
        frame = outer
    if frame.f_code.co_filename == threading.__file__:
        return None
    return CallSite(frame.f_code, frame.f_lasti)


def is_engine_file(name: str) -> bool:
    """Whether a file of code belongs to this package."""
    return name.startswith(_PACKAGE)


class Failure(NamedTuple):
    """A call that went wrong: what was raised, by which operator, called from where."""

    exception: BaseException
    operator: str
    site: CallSite | None
    mode: str


def raise_failure(failure: Failure) -> NoReturn:
    """Raise what a failed call left behind, at the reader's line."""
    original = failure.exception
    try:
        fresh = copy.copy(original)
        rebuilt = type(fresh) is type(original) and str(fresh) == str(original)
    except Exception:
        rebuilt = False
    if failure.site is None or not rebuilt:
        raise original
    site = failure.site
    fresh.__cause__ = fresh.__context__ = fresh.__traceback__ = None
    fresh.__notes__ = [
        f"from {failure.operator}() at {site.code.co_filename}:{site.line}, "
        f"in {site.code.co_name}, mode {failure.mode}",
        page_of(type(fresh)),
    ]
    raise fresh from original.with_traceback(_site_traceback(site))


def _site_traceback(site: CallSite) -> TracebackType | None:
    """A traceback with one entry: the call site.

    Frames cannot be made from Python, so a one-line program is compiled that claims to stand where
    the call stood, and is run to get its frame.
    """
    tree = ast.parse("raise LookupError")
    # Printed tracebacks mark the columns of the call.
    positions = next(itertools.islice(site.code.co_positions(), site.instruction // 2, None), ())
    first, last, left, right = (*positions, None, None, None, None)[:4]
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr):
            node.lineno, node.end_lineno = first or site.line, last or site.line
            node.col_offset, node.end_col_offset = left or 0, right or 0
    program = compile(tree, site.code.co_filename, "exec").replace(co_name=site.code.co_name)
    try:
        exec(program, {})
    except LookupError as error:
        entry = error.__traceback__.tb_next if error.__traceback__ else None
        if entry is not None:
            return TracebackType(None, entry.tb_frame, entry.tb_lasti, site.line)
    return None


def same_class(exception: Exception, message: str) -> Exception:
    """An exception of the same class, if it is one that users expect, with another text."""
    fresh: Exception
    if isinstance(exception, OSError):
        fresh = type(exception)(message)
        # Setting the file's name as well would put the system's text in place of the message.
        fresh.errno = exception.errno
    else:
        fresh = (type(exception) if isinstance(exception, OpError) else OpError)(message)
    fresh.__cause__ = exception
    return fresh


def join_names(names: Iterable[object]) -> str:
    """Quote and join alternatives: 'a', 'b' or 'c'."""
    quoted = [repr(name) for name in names]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " or " + quoted[-1]
