# SPDX-License-Identifier: Apache-2.0
"""What the values of a pipeline-mode script are: data of a graph, outputs, pipelines, loaders.

The kinds are

- "node": data inside a graph; "nodes": several of them;
- "constant": a value that is the same for all samples of a graph;
- "pipeline", "pipelines": a pipeline that was made, or several;
- "outputs": what a pipeline delivers for one step; "batch": one of them; "sample": one of its
  samples; "array": a NumPy array;
- "arrays": several of them; inside a graph, a batch;
- "loader": an iterator for a framework;
- None: anything else.
"""

from __future__ import annotations

import libcst as cst

from .marks import FN, PIPELINE_DEF
from .names import LOOP_ARGUMENTS, canonical, dtype_method, find_operator
from .scopes import (
    Function,
    Kind,
    Scope,
    argument_names,
    dotted_name,
    find_built,
    find_imports,
    is_pipeline_name,
    parameters_of,
    pipeline_argument,
)

_MEMBER = {
    "nodes": "node",
    "pipelines": "pipeline",
    "outputs": "batch",
    "batch": "sample",
    "batches": "outputs",
    "arrays": "array",
}
_SEVERAL = {
    "node": "nodes",
    "constant": "nodes",
    "pipeline": "pipelines",
    "batch": "outputs",
    "outputs": "batches",
    "array": "arrays",
}
# Calls that return something else than data even if they are given data.
_PLAIN_CALLS = frozenset({"len", "print", "isinstance", "hasattr", "range", "str", "type", "repr"})
_CONTAINERS = frozenset({"tuple", "list", "sorted", "reversed"})
JAX_ITERATOR = "plugin.jax.data_iterator"
PIPELINE_RUNS = frozenset({"run", "outputs", "share_outputs"})


class Kinds:
    """The kinds of all expressions of a module.

    Parameters
    ----------
    module
        The module. Functions are looked at several times, until what is known about their
        parameters and results no longer changes.
    """

    def __init__(self, module: cst.Module) -> None:
        self.imports = find_imports(module)
        self.imports |= {PIPELINE_DEF: "nvidia.dali.pipeline_def", FN: "nvidia.dali.fn"}
        self.kinds: dict[cst.CSTNode, Kind] = {}
        # What names of the reference's package stand for, at their uses.
        self.names: dict[cst.CSTNode, str] = {}
        # The function that each call, subscript and name is in.
        self.inside: dict[cst.CSTNode, Function | None] = {}
        self.callees: dict[cst.CSTNode, Function] = {}
        self.functions: dict[str, list[Function]] = {}
        self._by_node: dict[cst.CSTNode, Function] = {}
        self._attributes: dict[str, Kind] = {}
        self._built = find_built(module)
        scope = Scope()
        for _ in range(4):
            # Functions see what is assigned to global names after them.
            scope = Scope(names=dict(scope.names))
            self._block(module.body, scope)
        self._spread_needs()

    def function_of(self, node: cst.CSTNode) -> Function | None:
        """What is known about a function, given its definition."""
        return self._by_node.get(node)

    def _spread_needs(self) -> None:
        """Let functions need what the functions need that they call."""
        everything = [f for group in self.functions.values() for f in group]
        changed = True
        while changed:
            changed = False
            for function in everything:
                for name in function.calls:
                    for called in self.functions.get(name, ()):
                        if not called.is_pipeline:
                            changed |= function.inherit(called)

    # Statements

    def _block(self, body: object, scope: Scope) -> None:
        if isinstance(body, cst.IndentedBlock | cst.SimpleStatementSuite):
            body = body.body
        for statement in body:  # type: ignore[attr-defined]
            self._statement(statement, scope)

    def _statement(self, node: cst.CSTNode, scope: Scope) -> None:
        method = getattr(self, f"_on_{type(node).__name__}", None)
        if method is not None:
            method(node, scope)
        else:
            self._children(node, scope)

    def _children(self, node: cst.CSTNode, scope: Scope) -> None:
        for child in node.children:
            if isinstance(child, cst.BaseExpression):
                self.kind(child, scope)
            elif isinstance(child, cst.BaseStatement | cst.BaseSmallStatement):
                self._statement(child, scope)
            elif isinstance(child, cst.IndentedBlock | cst.SimpleStatementSuite):
                self._block(child, scope)
            else:
                self._children(child, scope)

    def _on_Import(self, node: cst.CSTNode, scope: Scope) -> None:
        pass

    _on_ImportFrom = _on_Import

    def _on_Assign(self, node: cst.Assign, scope: Scope) -> None:
        kind = self.kind(node.value, scope)
        for target in node.targets:
            self._bind(target.target, kind, scope)

    def _on_AnnAssign(self, node: cst.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self._bind(node.target, self.kind(node.value, scope), scope)

    def _on_AugAssign(self, node: cst.AugAssign, scope: Scope) -> None:
        old, new = self.kind(node.target, scope), self.kind(node.value, scope)
        self._bind(node.target, "node" if "node" in (old, new) else old, scope)

    def _on_For(self, node: cst.For, scope: Scope) -> None:
        self._bind_members(node.target, node.iter, scope, scope)
        self._block(node.body, scope)
        if node.orelse is not None:
            self._block(node.orelse.body, scope)

    def _on_With(self, node: cst.With, scope: Scope) -> None:
        for item in node.items:
            kind = self.kind(item.item, scope)
            if item.asname is not None:
                self._bind(item.asname.name, kind, scope)
        self._block(node.body, scope)

    def _on_Return(self, node: cst.Return, scope: Scope) -> None:
        kind = None if node.value is None else self.kind(node.value, scope)
        if scope.function is not None and kind is not None:
            scope.function.returns = kind

    def _on_ClassDef(self, node: cst.ClassDef, scope: Scope) -> None:
        for part in (*node.decorators, *node.bases, *node.keywords):
            self._children(part, scope)
        self._block(node.body, Scope(parent=scope))

    def _on_FunctionDef(self, node: cst.FunctionDef, scope: Scope) -> None:
        function = self._by_node.get(node)
        if function is None:
            function = self._by_node[node] = Function(node)
            self.functions.setdefault(node.name.value, []).append(function)
        for decorator in node.decorators:
            self.kind(decorator.decorator, scope)
            if self._decorates_pipeline(decorator):
                function.is_pipeline = function.in_graph = True
            if self._decorates_pipeline(decorator, JAX_ITERATOR):
                function.is_pipeline = function.in_graph = function.is_loader = True
        self._body(node.params, node.body, function, scope)
        scope.names.pop(node.name.value, None)
        scope.hidden.add(node.name.value)

    def _decorates_pipeline(self, decorator: cst.Decorator, name: str = "pipeline_def") -> bool:
        named = decorator.decorator
        if isinstance(named, cst.Call):
            named = named.func
        return self.names.get(named) == name

    def _body(
        self, params: cst.Parameters, body: cst.BaseSuite, function: Function, scope: Scope
    ) -> None:
        inner = Scope(parent=scope, function=function)
        for param in parameters_of(params):
            inner.names[param.name.value] = function.parameters.get(param.name.value)
            inner.hidden.add(param.name.value)
            if param.default is not None:
                self.kind(param.default, scope)
        self._block(body, inner)

    def _bind_members(
        self, target: cst.BaseExpression, data: cst.BaseExpression, outer: Scope, inner: Scope
    ) -> None:
        """Bind the variables of a loop, also of one over `enumerate` or `zip`."""
        kind = self.kind(data, outer)
        name = dotted_name(data.func) if isinstance(data, cst.Call) else None
        if name in ("enumerate", "zip") and isinstance(target, cst.Tuple):
            args = cst.ensure_type(data, cst.Call).args
            kinds = [_MEMBER.get(self.kinds.get(arg.value) or "") for arg in args]
            if name == "enumerate":
                kinds = [None, *kinds]
            for element, member in zip(target.elements, kinds, strict=False):
                self._bind(element.value, member, inner)
            return
        self._bind(target, _MEMBER.get(kind or ""), inner)

    def _bind(self, target: cst.BaseExpression, kind: Kind, scope: Scope) -> None:
        if isinstance(target, cst.Name):
            scope.names[target.value] = kind
            scope.hidden.add(target.value)
        elif isinstance(target, cst.Tuple | cst.List):
            member = "node" if kind == "node" else _MEMBER.get(kind or "")
            for element in target.elements:
                starred = isinstance(element, cst.StarredElement)
                self._bind(element.value, kind if starred else member, scope)
        elif isinstance(target, cst.Attribute):
            self.kind(target.value, scope)
            if kind is not None:
                self._attributes[target.attr.value] = kind
        elif isinstance(target, cst.Subscript):
            self.kind(target, scope)

    # Expressions

    def kind(self, node: cst.BaseExpression, scope: Scope) -> Kind:
        """Find out the kind of an expression, and of all its parts."""
        method = getattr(self, f"_kind_{type(node).__name__}", None)
        if method is not None:
            found: Kind = method(node, scope)
        else:
            self._children(node, scope)
            found = None
        self.kinds[node] = found
        self.inside[node] = scope.function
        return found

    def _resolve(self, node: cst.BaseExpression, scope: Scope) -> str | None:
        """The name below the reference's package that an expression stands for."""
        dotted = dotted_name(node)
        if dotted is None:
            return None
        first, _, rest = dotted.partition(".")
        if first not in self.imports or scope.hides(first):
            return None
        return canonical(self.imports[first] + ("." + rest if rest else ""))

    def _kind_Name(self, node: cst.Name, scope: Scope) -> Kind:
        name = self._resolve(node, scope)
        if name is not None:
            self.names[node] = name
            return None
        if node.value in self._built and scope.look_up(node.value) is None:
            return "pipeline"
        for function in self.functions.get(node.value, ()):
            if scope.look_up(node.value) is None:
                function.used_as_value = True
        return scope.look_up(node.value)

    def _kind_Attribute(self, node: cst.Attribute, scope: Scope) -> Kind:
        name = self._resolve(node, scope)
        if name is not None:
            self.names[node] = name
            return None
        self.kind(node.value, scope)
        asked = pipeline_argument(node, self.names)
        if asked is not None and scope.function is not None:
            scope.function.used_arguments.add(asked)
            scope.function.needs_batch_size |= asked == "batch_size"
        return self._attributes.get(node.attr.value)

    def _kind_Subscript(self, node: cst.Subscript, scope: Scope) -> Kind:
        outer = self.kind(node.value, scope)
        for element in node.slice:
            self._children(element, scope)
        if outer in ("node", "constant"):
            return outer
        whole = any(isinstance(e.slice, cst.Slice) for e in node.slice)
        return outer if whole and outer != "batch" else _MEMBER.get(outer or "")

    def _join(self, kinds: list[Kind]) -> Kind:
        for wanted in ("node", "constant", "batch", "sample", "array"):
            if wanted in kinds:
                return wanted
        return None

    def _kind_BinaryOperation(self, node: cst.BinaryOperation, scope: Scope) -> Kind:
        kinds = [self.kind(node.left, scope), self.kind(node.right, scope)]
        several = [kind for kind in kinds if kind in ("nodes", "pipelines", "outputs")]
        return several[0] if several else self._join(kinds)

    def _kind_UnaryOperation(self, node: cst.UnaryOperation, scope: Scope) -> Kind:
        return self._join([self.kind(node.expression, scope)])

    def _kind_BooleanOperation(self, node: cst.BooleanOperation, scope: Scope) -> Kind:
        return self._join([self.kind(node.left, scope), self.kind(node.right, scope)])

    def _kind_Comparison(self, node: cst.Comparison, scope: Scope) -> Kind:
        kinds = [self.kind(node.left, scope)]
        kinds += [self.kind(part.comparator, scope) for part in node.comparisons]
        identity = (cst.Is, cst.IsNot, cst.In, cst.NotIn)
        if any(isinstance(part.operator, identity) for part in node.comparisons):
            return None
        return self._join(kinds)

    def _kind_IfExp(self, node: cst.IfExp, scope: Scope) -> Kind:
        self.kind(node.test, scope)
        body, orelse = self.kind(node.body, scope), self.kind(node.orelse, scope)
        return body or orelse

    def _kind_Tuple(self, node: cst.Tuple | cst.List, scope: Scope) -> Kind:
        found = None
        for element in node.elements:
            kind = self.kind(element.value, scope)
            several = kind if isinstance(element, cst.StarredElement) else _SEVERAL.get(kind or "")
            found = found or several
        return found

    _kind_List = _kind_Tuple

    def _kind_Dict(self, node: cst.Dict, scope: Scope) -> Kind:
        found = None
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                self.kind(element.key, scope)
            found = found or _SEVERAL.get(self.kind(element.value, scope) or "")
        return found

    def _comprehension(self, node: cst.CompFor, scope: Scope) -> Scope:
        inner = Scope(parent=scope, function=scope.function)
        self._bind_members(node.target, node.iter, scope, inner)
        for condition in node.ifs:
            self.kind(condition.test, inner)
        return inner if node.inner_for_in is None else self._comprehension(node.inner_for_in, inner)

    def _kind_ListComp(self, node: cst.BaseSimpleComp, scope: Scope) -> Kind:
        inner = self._comprehension(node.for_in, scope)
        return _SEVERAL.get(self.kind(node.elt, inner) or "")

    _kind_GeneratorExp = _kind_ListComp
    _kind_SetComp = _kind_ListComp

    def _kind_DictComp(self, node: cst.DictComp, scope: Scope) -> Kind:
        inner = self._comprehension(node.for_in, scope)
        self.kind(node.key, inner)
        return _SEVERAL.get(self.kind(node.value, inner) or "")

    def _kind_NamedExpr(self, node: cst.NamedExpr, scope: Scope) -> Kind:
        kind = self.kind(node.value, scope)
        self._bind(node.target, kind, scope)
        return kind

    def _kind_Lambda(self, node: cst.Lambda, scope: Scope) -> Kind:
        function = self._by_node.get(node)
        if function is None:
            function = self._by_node[node] = Function(node, used_as_value=True)
            self.functions.setdefault(f"<lambda {len(self._by_node)}>", []).append(function)
        function.in_graph = function.in_graph or bool(scope.function and scope.function.in_graph)
        inner = Scope(parent=scope, function=function)
        for param in parameters_of(node.params):
            inner.names[param.name.value] = None
            inner.hidden.add(param.name.value)
        self.kind(node.body, inner)
        if scope.function is not None:
            scope.function.needs_batch_size |= function.needs_batch_size
            scope.function.draws |= function.draws
        return None

    # Calls

    def _kind_Call(self, node: cst.Call, scope: Scope) -> Kind:
        functions = self._called(node, scope)
        if not functions or not isinstance(node.func, cst.Name):
            self.kind(node.func, scope)
        kinds = [self.kind(arg.value, scope) for arg in node.args]
        if functions:
            return self._kind_of_own(node, functions, kinds, scope)
        name = self.names.get(node.func)
        if name is not None:
            return self._kind_of_reference(node, name, kinds, scope)
        if isinstance(node.func, cst.Attribute):
            self._note_append(node.func, kinds, scope)
            found = self._kind_of_method(node.func, scope)
            if found is not None:
                return None if found == "nothing" else found
        if isinstance(node.func, cst.Name):
            if node.func.value in _CONTAINERS and kinds:
                return kinds[0]
            if node.func.value in ("dict", "SimpleNamespace"):
                return next((_SEVERAL[kind] for kind in kinds if kind in _SEVERAL), None)
            if node.func.value in _PLAIN_CALLS:
                return None
            if self._looks_like_pipeline(node):
                return "pipeline"
        in_graph = scope.function is not None and scope.function.in_graph
        if in_graph and {"node", "nodes"} & set(kinds):
            return "node"
        first = (dotted_name(node.func) or "").partition(".")[0]
        return "array" if self.imports.get(first) == "numpy" else None

    def _note_append(self, func: cst.Attribute, kinds: list[Kind], scope: Scope) -> None:
        """A list that gets members is one of them."""
        several = _SEVERAL.get(kinds[-1] or "") if kinds else None
        if func.attr.value in ("append", "insert", "extend") and several is not None:
            if isinstance(func.value, cst.Name) and scope.look_up(func.value.value) is None:
                scope.names[func.value.value] = several

    def _called(self, node: cst.Call, scope: Scope) -> list[Function]:
        """The script's functions that a call may mean."""
        func = node.func
        if isinstance(func, cst.Name) and scope.look_up(func.value) is None:
            return self.functions.get(func.value, [])
        if isinstance(func, cst.Attribute):
            found = self.functions.get(func.attr.value, [])
            if dotted_name(func.value) in ("self", "cls"):
                return found
            if self._resolve(func, scope) is None:
                return [function for function in found if function.is_pipeline]
        return []

    def _looks_like_pipeline(self, node: cst.Call) -> bool:
        """Whether a function of another module is called the way pipelines are made."""
        return len(argument_names(node) & set(LOOP_ARGUMENTS[:3])) >= 2

    def _kind_of_own(
        self, node: cst.Call, functions: list[Function], kinds: list[Kind], scope: Scope
    ) -> Kind:
        function = functions[-1]
        self.callees[node] = function
        for function in functions:
            function.called += 1
            function.passed |= argument_names(node)
            function.passes_unknown |= any(arg.star == "**" for arg in node.args)
            self._pass(node, function, kinds)
            in_graph = scope.function is not None and scope.function.in_graph
            function.in_graph |= in_graph and bool({"node", "nodes"} & set(kinds))
        if function.is_pipeline:
            return "loader" if function.is_loader else "pipeline"
        if scope.function is not None and isinstance(function.node, cst.FunctionDef):
            scope.function.calls.add(function.node.name.value)
        return function.returns

    def _pass(self, node: cst.Call, function: Function, kinds: list[Kind]) -> None:
        params = [p.name.value for p in parameters_of(function.node.params)]
        if isinstance(node.func, cst.Attribute) and params[:1] in (["self"], ["cls"]):
            params = params[1:]
        for i, (arg, kind) in enumerate(zip(node.args, kinds, strict=True)):
            name = arg.keyword.value if arg.keyword is not None else None
            if name is None and not arg.star and i < len(params):
                name = params[i]
            if name is not None and kind is not None:
                function.parameters[name] = kind

    def _kind_of_reference(
        self, node: cst.Call, name: str, kinds: list[Kind], scope: Scope
    ) -> Kind:
        if name.startswith("fn."):
            return self._kind_of_operator(node, name.removeprefix("fn."), kinds, scope)
        if name.startswith("math."):
            return self._join(kinds)
        if name == "types.Constant":
            return "constant"
        if name == "Pipeline":
            return "pipeline"
        if name.startswith("plugin.") and name.endswith("Iterator"):
            return "loader"
        if name.startswith("auto_aug.") and scope.function is not None:
            scope.function.in_graph = scope.function.draws = True
        return "node" if name.startswith(("plugin.", "auto_aug.")) and "node" in kinds else None

    def _kind_of_operator(self, node: cst.Call, name: str, kinds: list[Kind], scope: Scope) -> Kind:
        function = scope.function
        if function is not None:
            function.in_graph = True
        has_node = bool({"node", "nodes", "arrays"} & set(kinds))
        operator = find_operator(name)
        if name == "external_source" or (operator is not None and operator.is_reader):
            if function is not None:
                function.is_stateful = function.needs_batch_size = True
        if name == "external_source":
            single = "num_outputs" not in argument_names(node)
            return "node" if single else "nodes"
        if operator is None:
            return "constant" if name == "constant" else "node"
        if operator.is_reader:
            single = operator.is_single(argument_names(node))
            return "node" if single else "nodes"
        made = operator.generates or operator.is_random
        if function is not None:
            function.needs_batch_size |= made and not has_node
            function.draws |= operator.is_random
        if node.args and not node.args[0].star and kinds[0] == "nodes":
            return "nodes"
        return "node" if has_node or made or "constant" not in kinds else "constant"

    def _kind_of_method(self, func: cst.Attribute, scope: Scope) -> Kind:
        owner, name = self.kinds.get(func.value), func.attr.value
        if owner == "constant" and dtype_method(name):
            return "constant"
        if name in ("at", "as_array"):
            return "array"
        if name in ("as_cpu", "cpu", "gpu") and owner in ("node", "batch", "sample", "constant"):
            return owner
        if name == "as_cpu":
            return "batch"
        if name == "as_tensor":
            return "sample"
        if name in PIPELINE_RUNS and (owner == "pipeline" or is_pipeline_name(func.value)):
            return "outputs"
        if owner == "node":
            return "nothing" if name == "get" else "node"
        if name == "values" and owner in ("nodes", "outputs"):
            return owner
        in_graph = scope.function is not None and scope.function.in_graph
        return None if in_graph else "nothing" if owner is not None else None
