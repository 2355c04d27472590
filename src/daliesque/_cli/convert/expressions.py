# SPDX-License-Identifier: Apache-2.0
"""The pass that rewrites expressions: operators, types, pipelines, their outputs, loaders."""

from __future__ import annotations

import libcst as cst

from .context import Context
from .devices import device_strings
from .editing import (
    argument,
    expression,
    is_gone,
    keyword_parameters,
    operand,
    remove_statement,
    source_of,
    with_argument,
    without,
)
from .kinds import JAX_ITERATOR, PIPELINE_RUNS, Kinds
from .marks import ACCEPTS, BATCH_SIZE, EXPORTED, LOADER, LOOP, PART
from .names import EXECUTOR_ARGUMENTS, dtype_method, find_class, find_operator
from .operators import accepted, type_expression
from .scopes import Function, argument_names, dotted_name, is_pipeline_name, pipeline_argument
from .snippets import FRAMEWORKS
from .usage import IDLE, UsageCalls, parts_of

_LOADERS = frozenset({"DALIGenericIterator", "DALIClassificationIterator", "DALIRaggedIterator"})
LOADER_ARGUMENTS = frozenset(
    {"output_map", "size", "reader_name", "auto_reset", "last_batch_padded", "last_batch_policy"}
)
_LOADER_OTHERS = frozenset({"prepare_first_batch", "sharding", "devices"})
_LOADER_DETAILS = frozenset({"dynamic_shape", "prepare_first_batch"})
_FUNCTIONS = ("torch_python_function", "jax_function")


class Expressions(UsageCalls):
    """Rewrites all expressions; loops keep the shape of functions until the next pass."""

    def __init__(self, context: Context, module: cst.Module, kinds: Kinds) -> None:
        super().__init__(context, kinds)
        self._heads: set[cst.CSTNode] = set()
        self._pipelines: list[Function | None] = []
        self._quotes: list[str] = []
        self._asked: set[cst.CSTNode] = set()
        self._devices = device_strings(module, kinds)

    # Names

    def visit_Call(self, node: cst.Call) -> None:
        """Leave the name of what is called to `leave_Call`, and the classes of `isinstance`."""
        self._heads.add(node.func)
        if isinstance(node.func, cst.Name) and node.func.value == "isinstance":
            for arg in node.args[1:]:
                self._heads |= {part for part in parts_of(arg.value) if self.device_of(part)}

    def visit_Decorator(self, node: cst.Decorator) -> None:
        """Leave decorators that make pipelines to `leave_FunctionDef`."""
        call = node.decorator
        made = call.func if isinstance(call, cst.Call) else call
        if self.kinds.names.get(made) in (None, "pipeline_def", JAX_ITERATOR):
            self._heads |= {call, made}

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """A name that was imported from the reference."""
        return self._named(original_node, updated_node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Remember what asks the current pipeline for an argument."""
        if pipeline_argument(node, self.kinds.names) is not None:
            self._asked.add(node.value)

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """A name below the reference's package, or an attribute of a pipeline."""
        asked = pipeline_argument(original_node, self.kinds.names)
        if asked is not None:
            inside = self.kinds.inside.get(original_node)
            if inside is not None and not inside.is_pipeline and asked != "batch_size":
                self.todo(f"pass '{asked}' to this function.")
            return cst.Name(asked)
        owner = self.kinds.kinds.get(original_node.value)
        if owner == "pipeline" and original_node not in self._heads:
            return self.pipeline_attribute(updated_node)
        return self._named(original_node, updated_node)

    def _named(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        name = self.kinds.names.get(original)
        if name is None or original in self._heads:
            return updated
        found = self._expression_for(name)
        if found is None:
            self.todo(_absent(name, source_of(original)))
            return updated
        return found

    def _expression_for(self, name: str) -> cst.BaseExpression | None:
        head, _, rest = name.partition(".")
        if head == "fn":
            operator = find_operator(rest) if rest else None
            if operator is not None:
                return expression(f"ndd.{operator.name}")
            return expression(f"ndd.{rest}") if rest in ("readers", "random") else None
        if head == "types":
            return type_expression(rest) if rest else expression("ndd.types")
        if head in ("math", "tfrecord"):
            return expression(f"ndd.{name}")
        if head == "LastBatchPolicy" and rest:
            return cst.SimpleString(f'"{rest.lower()}"')
        framework, _, last = name.removeprefix("plugin.").partition(".")
        if name.startswith("plugin.") and last in _LOADERS and framework in FRAMEWORKS:
            return self._loader_name(framework)
        return None

    # Strings

    def leave_SimpleString(
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.BaseExpression:
        """The device "mixed" is the gpu."""
        if original_node in self._devices:
            quote = updated_node.quote
            return updated_node.with_changes(value=f"{quote}gpu{quote}")
        return updated_node

    def visit_FormattedString(self, node: cst.FormattedString) -> None:
        """Remember the quotes that expressions inside may not have."""
        self._quotes.append(node.start.lstrip("rRfFbB")[0])

    def leave_FormattedString(
        self, original_node: cst.FormattedString, updated_node: cst.FormattedString
    ) -> cst.FormattedString:
        """Forget them."""
        del original_node
        self._quotes.pop()
        return updated_node

    def leave_FormattedStringExpression(
        self,
        original_node: cst.FormattedStringExpression,
        updated_node: cst.FormattedStringExpression,
    ) -> cst.FormattedStringExpression:
        """New strings inside a formatted string have other quotes than that."""
        quote = self._quotes[-1]
        text = source_of(updated_node.expression)
        if quote not in text or text == source_of(original_node.expression):
            return updated_node
        other = "'" if quote == '"' else '"'
        return updated_node.with_changes(expression=expression(text.replace(quote, other)))

    # Calls

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """The call of an operator, of a method of pipelines or outputs, or of a function."""
        kinds = self.kinds
        name = kinds.names.get(original_node.func)
        if name is not None:
            return self._reference_call(name, original_node, updated_node)
        function = kinds.callees.get(original_node)
        if function is not None:
            return self.own_call(function, original_node, updated_node)
        if isinstance(original_node.func, cst.Attribute):
            return self._method(original_node, original_node.func, updated_node)
        if isinstance(original_node.func, cst.Name):
            if kinds.kinds.get(original_node) == "pipeline":
                return self.pipeline_call(None, updated_node)
            return self.builtin(original_node.func.value, original_node, updated_node)
        return updated_node

    def _reference_call(self, name: str, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        if name.startswith("fn."):
            return self.operator_call(name.removeprefix("fn."), original, call)
        if name == "types.Constant":
            return self.constant(call)
        if name in ("types.to_dali_type", "types.to_numpy_type"):
            return call.with_changes(func=expression("ndd.dtype"))
        if name == "Pipeline.current":
            if original in self._asked:
                return call
            self.todo("there is no current pipeline: pass what is needed as arguments.")
            return call
        if name in ("pipeline_def", JAX_ITERATOR) and original in self._heads:
            return call
        last = name.rpartition(".")[2]
        if last == "numba_function":
            return self.numba_function(call)
        if name.startswith("auto_aug."):
            augmented = self.automatic_augmentation(name, call)
            if augmented is not None:
                return augmented
        if last in ("to_torch_tensor", "feed_ndarray"):
            return self.to_torch(last, call)
        if last in _FUNCTIONS:
            self.todo(f"{last}: call the function here, on the samples of batch.tensors.")
            return call
        found = self._expression_for(name)
        if found is None or name.startswith("LastBatchPolicy"):
            self.todo(_absent(name, _source_name(name)))
            return call
        call = call.with_changes(func=found)
        return self._loader(call) if name.startswith("plugin.") else call

    def _loader_name(self, framework: str) -> cst.BaseExpression:
        self.context.needed |= {"batches", framework}
        self.context.asks_loops = True
        return cst.Name(self.context.loader)

    def _loader(self, call: cst.Call) -> cst.BaseExpression:
        if argument(call, "output_types") is not None:
            self.todo("outputs that are no dense tensors: take the samples of batch.tensors.")
        return self.drop(
            _last_batch(call), _LOADER_DETAILS, "batches are delivered when they are ready"
        )

    def _method(
        self, original: cst.Call, func: cst.Attribute, call: cst.Call
    ) -> cst.BaseExpression:
        owner, name = self.kinds.kinds.get(func.value), func.attr.value
        updated = call.func
        data = updated.value if isinstance(updated, cst.Attribute) else func.value
        if owner == "pipeline" or (
            owner is None and is_pipeline_name(func.value) and name in (*IDLE, *PIPELINE_RUNS)
        ):
            return self.pipeline_method(name, data, call)
        if owner == "constant" and dtype_method(name):
            return _constant_of_type(data, str(dtype_method(name)))
        inside = self.kinds.inside.get(original)
        if inside is not None and inside.in_graph and owner in ("node", "constant"):
            if name == "shape":
                return self.shape_batch(data, argument(call, "dtype"))
            if name == "get":
                return data
            return call
        return self.output_method(owner, name, data, call)

    def leave_Subscript(
        self, original_node: cst.Subscript, updated_node: cst.Subscript
    ) -> cst.BaseExpression:
        """Indices inside each sample, or of samples; or the number of samples of a reader."""
        kind = self.kinds.kinds.get(original_node.value)
        attribute = {"node": "slice", "batch": "tensors"}.get(kind or "")
        if attribute is not None and not _is_key(original_node):
            value = cst.Attribute(updated_node.value, cst.Name(attribute))
            return updated_node.with_changes(value=value)
        called = original_node.value
        if (
            isinstance(called, cst.Call)
            and isinstance(called.func, cst.Attribute)
            and self.kinds.kinds.get(called.func.value) == "pipeline"
            and called.func.attr.value == "epoch_size"
        ):
            return updated_node.value
        return updated_node

    # Statements

    def leave_If(self, original_node: cst.If, updated_node: cst.If) -> cst.If:
        """Branches that depend on data."""
        if self._depends_on_data(original_node.test):
            self.todo(
                "this branch is taken per sample: compute both sides and combine them with the "
                "mask, e.g. mask * a + (1 - mask) * b, or loop over the samples of .tensors."
            )
        return updated_node

    def leave_While(self, original_node: cst.While, updated_node: cst.While) -> cst.While:
        """Loops that depend on data."""
        if self._depends_on_data(original_node.test):
            self.todo("this loop depends on data: loop over the samples of .tensors.")
        return updated_node

    def leave_IfExp(self, original_node: cst.IfExp, updated_node: cst.IfExp) -> cst.IfExp:
        """Conditional expressions that depend on data."""
        if self._depends_on_data(original_node.test):
            self.todo("this condition is per sample: combine both sides with the mask.")
        return updated_node

    def leave_BinaryOperation(
        self, original_node: cst.BinaryOperation, updated_node: cst.BinaryOperation
    ) -> cst.BinaryOperation:
        """Arithmetic with arrays, which are constants of the graph."""
        inside = self.kinds.inside.get(original_node)
        kinds = self.kinds.kinds
        if inside is None or not inside.in_graph or kinds.get(original_node) != "node":
            return updated_node
        return updated_node.with_changes(
            left=self.as_constant(original_node.left, updated_node.left),
            right=self.as_constant(original_node.right, updated_node.right),
        )

    def visit_Comparison(self, node: cst.Comparison) -> None:
        """Leave classes that types are compared with to `leave_Comparison`."""
        if _type_of(node.left) is not None:
            for part in node.comparisons:
                if self.device_of(part.comparator):
                    self._heads.add(part.comparator)

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        """`type(x) == TensorListGPU`."""
        if _type_of(original_node.left) is None or len(original_node.comparisons) != 1:
            return updated_node
        part = original_node.comparisons[0]
        device, owner = self.device_of(part.comparator), _type_of(updated_node.left)
        if device is None or owner is None:
            return updated_node
        equal = isinstance(part.operator, cst.Equal | cst.Is)
        sign = "==" if equal else "!="
        return expression(f'{operand(owner)}.device.device_type {sign} "{device}"')

    def leave_BooleanOperation(
        self, original_node: cst.BooleanOperation, updated_node: cst.BooleanOperation
    ) -> cst.BaseExpression:
        """`and`, `or` of data."""
        if self._depends_on_data(original_node):
            self.todo("`and`, `or` of data: use & and | on booleans.")
        return updated_node

    def _depends_on_data(self, test: cst.BaseExpression) -> bool:
        inside = self.kinds.inside.get(test)
        return inside is not None and inside.in_graph and self.kinds.kinds.get(test) == "node"

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        """What a pipeline returns is a tuple of batches."""
        inside = self._pipelines[-1] if self._pipelines else None
        if inside is None or updated_node.value is None or original_node.value is None:
            return updated_node
        value = self._outputs(original_node.value, updated_node.value)
        space = cst.SimpleWhitespace(" ")
        return updated_node.with_changes(value=value, whitespace_after_return=space)

    def _outputs(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        kind = self.kinds.kinds.get(original)
        if isinstance(original, cst.Tuple | cst.List) and isinstance(updated, cst.Tuple | cst.List):
            pairs = zip(original.elements, updated.elements, strict=True)
            elements = [
                cst.Element(self._output(old.value, new.value), comma=new.comma)
                if isinstance(new, cst.Element)
                else new
                for old, new in pairs
            ]
            if isinstance(updated, cst.Tuple):
                return updated.with_changes(elements=elements)
            return cst.Tuple(elements) if len(elements) > 1 else _single(elements[0].value)
        if kind in ("node", "constant"):
            return _single(self._output(original, updated))
        if isinstance(updated, cst.ListComp):
            return expression(f"tuple({source_of(updated)})")
        if kind == "nodes":
            return updated
        text = source_of(updated)
        return expression(f"(outputs if isinstance(outputs := {text}, tuple) else (outputs,))")

    def _output(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        plain = isinstance(original, cst.BaseNumber | cst.BaseString | cst.List)
        if self.kinds.kinds.get(original) != "constant" and not plain:
            return updated
        return expression(f"ndd.Batch.broadcast({source_of(updated)}, {BATCH_SIZE})")

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """Statements that have nothing to do in a loop."""
        small = original_node.body[0]
        if len(updated_node.body) == 1 and _assigns_itself(updated_node.body[0]):
            return remove_statement(updated_node)
        if len(original_node.body) != 1 or not isinstance(small, cst.Expr):
            return updated_node
        call = small.value
        while isinstance(call, cst.ListComp):
            call = call.elt
        return remove_statement(updated_node) if self._is_idle(call) else updated_node

    def _is_idle(self, call: cst.BaseExpression) -> bool:
        """Whether a call has nothing to do in a loop."""
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            return False
        owner = self.kinds.kinds.get(call.func.value)
        known = owner == "pipeline" or is_pipeline_name(call.func.value)
        return known and call.func.attr.value in IDLE

    def leave_For(
        self,
        original_node: cst.For,  # noqa: ARG002
        updated_node: cst.For,
    ) -> cst.For | cst.RemovalSentinel | cst.SimpleStatementLine:
        """Loops over pipelines that have nothing left to do."""
        body = updated_node.body.body
        if all(is_gone(statement) for statement in body) and not updated_node.orelse:
            if not any(line.comment for line in updated_node.leading_lines) and not body:
                return cst.RemoveFromParent()
            line = cst.parse_statement("pass")
            lines = [*updated_node.leading_lines]
            for statement in body:
                lines += cst.ensure_type(statement, cst.SimpleStatementLine).leading_lines
            kept = cst.ensure_type(line, cst.SimpleStatementLine).with_changes(leading_lines=lines)
            removed = remove_statement(kept)
            return (
                removed if isinstance(removed, cst.SimpleStatementLine) else cst.RemoveFromParent()
            )
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """Remember whether returns are those of a pipeline."""
        function = self.kinds.function_of(node)
        self._pipelines.append(function if function and function.is_pipeline else None)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        """Mark loops; let functions of graphs have the arguments that they need."""
        self._pipelines.pop()
        function = self.kinds.function_of(original_node)
        if function is None:
            return updated_node
        if function.is_pipeline:
            return self._mark(function, original_node, updated_node)
        if function.is_stateful and function.in_graph:
            mark = expression(f'{LOOP}({ACCEPTS}="batch_size", {PART}=True)')
            decorators = [*updated_node.decorators, cst.Decorator(mark)]
            return updated_node.with_changes(decorators=decorators)
        if not function.in_graph or not function.needs_batch_size:
            return updated_node
        return self._with_parameters(function, updated_node)

    def _mark(
        self, function: Function, original: cst.FunctionDef, updated: cst.FunctionDef
    ) -> cst.FunctionDef:
        decorators = []
        for old, new in zip(original.decorators, updated.decorators, strict=True):
            call = new.decorator
            named = old.decorator.func if isinstance(old.decorator, cst.Call) else old.decorator
            if self.kinds.names.get(named) in ("pipeline_def", JAX_ITERATOR):
                if not isinstance(call, cst.Call):
                    call = cst.Call(cst.Name(LOOP))
                call = call.with_changes(func=cst.Name(LOOP))
                call = self.drop(call, EXECUTOR_ARGUMENTS, "it concerns the executor of graphs")
                names = accepted(function, argument_names(call))
                if function.is_loader:
                    call = self._loader_mark(call)
                if "device_id" not in names:
                    call = self.drop(call, {"device_id"}, "data go to the current device")
                call = with_argument(call, ACCEPTS, f'"{" ".join(sorted(names))}"')
                if not function.called:
                    call = with_argument(call, EXPORTED, "True")
                new = new.with_changes(decorator=call)
            decorators.append(new)
        return updated.with_changes(decorators=decorators)

    def _loader_mark(self, call: cst.Call) -> cst.Call:
        """The decorator of a function that makes loaders: their arguments as one string."""
        if argument(call, "sharding") is not None or argument(call, "devices") is not None:
            self.todo("several devices: make one loader for each process, with its own shard.")
        args = [a for a in call.args if a.keyword is None or a.keyword.value in LOADER_ARGUMENTS]
        text = ", ".join(
            source_of(a.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip() for a in args
        )
        name = source_of(self._loader_name("jax"))
        others = [a for a in call.args if a in args or _is_named(a, _LOADER_OTHERS)]
        return with_argument(without(call, others), LOADER, repr(f"{name}|{text}"))

    def _with_parameters(self, function: Function, node: cst.FunctionDef) -> cst.FunctionDef:
        if function.used_as_value:
            self.todo("this function needs the argument 'batch_size' wherever it is called.")
        names = ["batch_size"]
        if function.draws and self.context.seeded:
            names.append(self.context.rng)
        return node.with_changes(params=keyword_parameters(node.params, dict.fromkeys(names)))


def _constant_of_type(data: cst.BaseExpression, dtype: str) -> cst.BaseExpression:
    """`as_tensor(value).uint16()` with the type as an argument."""
    if isinstance(data, cst.Call) and "dtype" not in argument_names(data):
        text = source_of(data)
        return expression(f"{text[:-1]}, dtype=ndd.{dtype})")
    return expression(f"ndd.cast({source_of(data)}, dtype=ndd.{dtype})")


def _type_of(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What the type is asked of in `type(x)`."""
    if isinstance(node, cst.Call) and dotted_name(node.func) == "type" and len(node.args) == 1:
        return node.args[0].value
    return None


def _is_key(node: cst.Subscript) -> bool:
    """Whether a subscript is a string, so that what it belongs to is no data."""
    index = node.slice[0].slice
    return isinstance(index, cst.Index) and isinstance(index.value, cst.BaseString)


def _is_named(arg: cst.Arg, names: frozenset[str]) -> bool:
    return arg.keyword is not None and arg.keyword.value in names


def _assigns_itself(node: cst.BaseSmallStatement) -> bool:
    if not isinstance(node, cst.Assign) or len(node.targets) != 1:
        return False
    target = node.targets[0].target
    return (
        isinstance(target, cst.Name)
        and isinstance(node.value, cst.Name)
        and target.value == node.value.value
    )


def _single(value: cst.BaseExpression) -> cst.BaseExpression:
    return expression(f"({source_of(value)},)")


def _source_name(name: str) -> str:
    return f"nvidia.dali.{name}"


def _absent(name: str, text: str) -> str:
    """What to say about a name of the reference, as it stands in the script."""
    if name.endswith(".autoserialize"):
        return f"{text}: there is no graph to serialize; keep the function."
    known = find_class(name.removeprefix("ops.")) if name.startswith("ops.") else None
    operator = None if known is None else find_operator(known)
    if operator is None:
        return f"{text} has no counterpart here."
    if operator.is_reader:
        return f"{text}: make ndd.{operator.name}(...) before the loop."
    inputs = "" if operator.generates else "data, "
    return f"{text}: call ndd.{operator.name}({inputs}...) where this object is called."


def _last_batch(call: cst.Call) -> cst.Call:
    """`fill_last_batch` of older releases is one of the policies for the last batch."""
    old = argument(call, "fill_last_batch")
    if old is None:
        return call
    call, text = without(call, [old]), source_of(old.value)
    if argument(call, "last_batch_policy") is not None:
        return call
    policies = {"True": '"fill"', "None": '"fill"', "False": '"partial"'}
    chosen = policies.get(text, f'"fill" if {text} else "partial"')
    return with_argument(call, "last_batch_policy", chosen)
