# SPDX-License-Identifier: Apache-2.0
"""Proofs, from the source, that an argument has the same value in every step.

Provable are literals, what is computed from them, names that a function gives such a value once,
parameters that are called with one, the element types and enumerations of this package, and what
the user marked as invariant. Nothing of the user's program is run for a proof.
"""

from __future__ import annotations

import ast
import functools
import inspect
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .._engine.device import Device
from .._engine.dtype import DType
from .._engine.enums import DALIDataType, DALIImageType, DALIInterpType
from .._engine.invariant import invariant, is_invariant, unwrap_invariant
from .sites import distance, outside
from .source_code import Module, module_of

_PACKAGE = __name__.partition(".")[0]
_CONSTANT_TYPES = (DType, Device, DALIDataType, DALIImageType, DALIInterpType)
_PLAIN_TYPES = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis))


class _NotFound(Exception):
    """A name or attribute cannot be looked up without running something."""


class Prover:
    """Looks at expressions of the frame that makes a call, and of those that lead to it.

    `depth` is how many locations of the chain of the call the proofs so far rest on.
    """

    def __init__(self, frame: FrameType) -> None:
        self.frame = frame
        self.depth = 1

    def is_constant(self, node: ast.expr | None) -> bool:
        """Whether an expression of the frame has the same value in every step."""
        return node is not None and self._is_constant(node, self.frame)

    def _is_constant(self, node: ast.expr, frame: FrameType) -> bool:
        match node:
            case ast.Constant():
                return True
            case ast.UnaryOp(op=ast.UAdd() | ast.USub(), operand=operand):
                return self._is_constant(operand, frame)
            case ast.BinOp(left=left, right=right):
                return self._is_constant(left, frame) and self._is_constant(right, frame)
            case ast.NamedExpr(value=value) | ast.Starred(value=value):
                return self._is_constant(value, frame)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return all(self._is_constant(item, frame) for item in items)
            case ast.Name():
                return self._is_constant_name(node, frame)
            case ast.Attribute():
                return _is_of_package(node, frame) or _is_marked(node, frame)
            case ast.Call():
                return _is_marked(node, frame)
        return False

    def _is_constant_name(self, node: ast.Name, frame: FrameType) -> bool:
        try:
            value = _look_up(node, frame)
        except _NotFound:
            return False
        if is_invariant(value):
            return True
        module = module_of(frame.f_code)
        # A list may be changed by whoever else knows it.
        return module is not None and _is_immutable(value) and self._is_bound(node, frame, module)

    def _is_bound(self, node: ast.Name, frame: FrameType, module: Module) -> bool:
        """Whether a variable gets its only value from a constant expression."""
        binding = module.binding(node)
        if binding is None:
            return False
        owner = frame
        if node.id in frame.f_code.co_freevars:
            found = _owner_of(node.id, frame)
            if found is None:
                # The function has returned, and nothing else binds the name.
                return binding.is_parameter or binding.value is not None
            owner = found
        if binding.is_parameter:
            proven = self._is_passed(node.id, owner)
        elif binding.value is not None:
            proven = self._is_constant(binding.value, owner)
        else:
            return False
        self._rest_on(owner)
        return proven

    def _rest_on(self, frame: FrameType) -> None:
        self.depth = max(self.depth, distance(self.frame, frame))

    def _is_passed(self, name: str, frame: FrameType) -> bool:
        """Whether a parameter of a frame gets a constant where the function is called."""
        caller = outside(frame.f_back)
        module = None if caller is None else module_of(caller.f_code)
        if caller is None or module is None:
            return False
        call = module.expression_at(caller)
        if not isinstance(call, ast.Call) or _has_stars(call):
            return False
        try:
            function = _look_up(call.func, caller)
        except _NotFound:
            return False
        if not _runs(function, frame.f_code):
            return False
        self._rest_on(caller)
        return self._is_constant_argument(call, name, function, caller)

    def _is_constant_argument(
        self, call: ast.Call, name: str, function: Any, caller: FrameType
    ) -> bool:
        try:
            signature = inspect.signature(function, follow_wrapped=False)
            keywords = {word.arg: word.value for word in call.keywords if word.arg is not None}
            passed = signature.bind(*call.args, **keywords).arguments
        except (TypeError, ValueError):
            return False
        parameter = signature.parameters.get(name)
        if parameter is None or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            return False
        if name not in passed:
            return parameter.default is not parameter.empty
        return self._is_constant(passed[name], caller)


def _has_stars(call: ast.Call) -> bool:
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(word.arg is None for word in call.keywords)


def _runs(function: Any, code: CodeType) -> bool:
    """Whether calling a function runs some code, and nothing of the user's before."""
    if isinstance(function, MethodType):
        return _runs(function.__func__, code)
    if isinstance(function, functools.partial):
        return _runs(function.func, code)
    return isinstance(function, FunctionType) and function.__code__ is code


def _owner_of(name: str, frame: FrameType) -> FrameType | None:
    """The frame whose variable a nested function uses, if it has not returned."""
    current = frame.f_back
    while current is not None and name not in current.f_code.co_cellvars:
        current = current.f_back
    return current


def _is_immutable(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(_is_immutable(item) for item in value)
    return isinstance(value, _PLAIN_TYPES + _CONSTANT_TYPES)


def _look_up(node: ast.expr, frame: FrameType) -> Any:
    """What a name, or an attribute of something with a name, stands for."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Attribute):
        return _attribute(_look_up(node.value, frame), node.attr)
    raise _NotFound


def _attribute(owner: Any, name: str) -> Any:
    """An attribute, as far as it can be found without running what the user defined."""
    if is_invariant(owner):
        raise _NotFound
    try:
        found = inspect.getattr_static(owner, name)
    except AttributeError:
        raise _NotFound from None
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, classmethod):
        return MethodType(found.__func__, owner if isinstance(owner, type) else type(owner))
    if isinstance(found, FunctionType):
        return found if isinstance(owner, type | ModuleType) else MethodType(found, owner)
    if isinstance(found, type | ModuleType | functools.partial) or _is_immutable(found):
        return found
    raise _NotFound


def _is_anchor(value: Any) -> bool:
    """Whether what is below a value belongs to this package."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] == _PACKAGE
    return isinstance(value, type) and issubclass(value, _CONSTANT_TYPES)


def _is_of_package(node: ast.Attribute, frame: FrameType) -> bool:
    """Whether an attribute path leads from a module to a constant of this package."""
    path: list[str] = []
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        path.insert(0, root.attr)
        root = root.value
    try:
        value = _look_up(root, frame)
        anchored = _is_anchor(value)
        if not anchored and not isinstance(value, ModuleType):
            return False
        for name in path:
            value = _attribute(value, name)
            anchored = anchored or _is_anchor(value)
    except _NotFound:
        return False
    return anchored and isinstance(value, _CONSTANT_TYPES)


def _is_marked(node: ast.expr, frame: FrameType) -> bool:
    """Whether an expression is marked: `invariant(...)`, or an attribute of what is marked."""
    try:
        match node:
            case ast.Name():
                return is_invariant(_look_up(node, frame))
            case ast.Call(func=function):
                return _look_up(function, frame) is invariant
            case ast.NamedExpr(value=value):
                return _is_marked(value, frame)
            case ast.Attribute(value=value, attr=name):
                special = name.startswith("__") and name.endswith("__")
                return not special and _is_marked(value, frame)
    except _NotFound:
        return False
    return False


def frozen(value: Any) -> Any:
    """A constant, as nobody else can change it."""
    value = unwrap_invariant(value)
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(frozen(item) for item in value)
    if kind is dict:
        return {frozen(key): frozen(item) for key, item in value.items()}
    return value.copy() if kind is np.ndarray else value


def equal(value: Any, constant: Any) -> bool:
    """Whether a value is the constant that was traced, of the same types throughout."""
    value = unwrap_invariant(value)
    if value is constant:
        return True
    kind = type(value)
    if kind is not type(constant):
        return False
    if kind is list or kind is tuple:
        pairs = zip(value, constant, strict=False)
        return len(value) == len(constant) and all(equal(*pair) for pair in pairs)
    if kind is dict:
        same = value.keys() == constant.keys()
        return same and all(equal(item, constant[key]) for key, item in value.items())
    try:
        if kind is np.ndarray:
            return value.dtype == constant.dtype and bool(np.array_equal(value, constant))
        return (value == constant) is True
    except Exception:
        return False
