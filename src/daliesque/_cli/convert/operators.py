# SPDX-License-Identifier: Apache-2.0
"""Calls of operators, sources and functions inside graphs."""

from __future__ import annotations

import libcst as cst

from .context import Context
from .editing import (
    Commenting,
    argument,
    comments_of,
    expression,
    operand,
    source_of,
    with_argument,
    without,
)
from .kinds import Kinds
from .marks import BATCH_SIZE, FED
from .names import (
    EXECUTOR_ARGUMENTS,
    GRAPH_ARGUMENTS,
    LOOP_ARGUMENTS,
    Operator,
    find_operator,
    find_type,
)
from .scopes import Function, argument_names

# Operators that daliesque cannot have, and what to do instead.
_ABSENT = {
    "readers.sequence": "read the frames with ndd.readers.File and join them with ndd.stack",
    "sequence_reader": "read the frames with ndd.readers.File and join them with ndd.stack",
    "ssd_random_crop": "use ndd.random_bbox_crop and ndd.slice",
    "experimental.inputs.video": "use ndd.readers.Video or ndd.decoders.video",
}
# Arguments of external sources that say how to transfer, or what to expect.
_SOURCE_DETAILS = frozenset(
    {
        "dtype",
        "ndim",
        "no_copy",
        "blocking",
        "parallel",
        "prefetch_queue_depth",
        "cuda_stream",
        "use_copy_kernel",
        "repeat_last",
        "bytes_per_sample_hint",
        "name",
        "preserve",
    }
)
_SOURCE_ORDER = ("source", "num_outputs")
_FUNCTION_PATTERN = "call ndd.map(function, batch), or the function itself on batch.torch()"
# Functions of `auto_aug`: what they are called here, and their policy.
AUGMENTATIONS = {
    "auto_augment": ("auto_augment", ""),
    "auto_augment_image_net": ("auto_augment", "image_net"),
    "rand_augment": ("rand_augment", ""),
    "trivial_augment_wide": ("trivial_augment_wide", ""),
}


class OperatorCalls(Commenting):
    """Rewrites the calls that make up graphs.

    Parameters
    ----------
    context
        The script.
    kinds
        The kinds of its expressions.
    """

    def __init__(self, context: Context, kinds: Kinds) -> None:
        super().__init__(context.notes)
        self.context = context
        self.kinds = kinds

    def drop(self, call: cst.Call, names: set[str] | frozenset[str], why: str) -> cst.Call:
        """Take arguments out of a call and say so."""
        dropped = [a for a in call.args if a.keyword is not None and a.keyword.value in names]
        for arg in dropped:
            self.keep_comments(comments_of(arg))
            text = source_of(arg.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()
            self.notes.change(f"left out {text}: {why}")
        return without(call, dropped)

    def operator_call(self, name: str, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        """The call of an operator of `fn`."""
        if name == "external_source":
            return self._source(original, call)
        if name in ("python_function", "dl_tensor_python_function"):
            return self._python_function(name, call)
        if name == "constant":
            return self._constant_operator(call)
        if name == "shapes":
            return self.shape_batch(call.args[0].value, argument(call, "dtype"))
        operator = find_operator(name)
        if operator is None:
            advice = _ABSENT.get(name, "there is no such operator; see docs/coverage.md")
            self.todo(f"fn.{name}: {advice}.")
            return call
        call = call.with_changes(func=expression(f"ndd.{operator.name}"))
        call = self._positional(operator, call)
        if not operator.is_reader:
            call = self._array_inputs(original, call)
        unused = GRAPH_ARGUMENTS - ({"name"} if operator.is_reader else set())
        call = self.drop(call, unused, "it concerns the executor of graphs")
        if operator.is_reader:
            return self._reader(call)
        call = self._seed(operator, original, call)
        self._check_arguments(name, operator, call)
        call = self._batch_size(operator, original, call)
        return self._input_sets(original, call)

    def _positional(self, operator: Operator, call: cst.Call) -> cst.Call:
        """Let arguments with the names of inputs be positional: ours have no such names."""
        if operator.is_reader:
            return call
        args = [
            arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            if arg.keyword is not None
            and arg.keyword.value in ("data", "input", "inputs")
            and arg.keyword.value not in operator.parameters
            else arg
            for arg in call.args
        ]
        return call.with_changes(args=args)

    def _array_inputs(self, original: cst.Call, call: cst.Call) -> cst.Call:
        """Arrays as inputs are constants of the graph."""
        args = [
            new.with_changes(value=self.as_constant(old.value, new.value))
            if old.keyword is None and not old.star
            else new
            for old, new in zip(original.args, call.args, strict=True)
        ]
        return call.with_changes(args=args)

    def as_constant(
        self, original: cst.BaseExpression, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """An array in a graph, in the type that constants have there; a list of them is a batch."""
        if self.kinds.kinds.get(original) == "arrays":
            return expression(f"ndd.as_batch({source_of(updated)})")
        if self.kinds.kinds.get(original) != "array" or _has_known_type(updated):
            return updated
        self.context.needed.add("constant")
        return expression(f"{self.context.constant}({source_of(updated)})")

    def _check_arguments(self, name: str, operator: Operator, call: cst.Call) -> None:
        """Mark arguments that the operator does not have here."""
        if operator.is_open:
            return
        for unknown in sorted(argument_names(call) - operator.parameters):
            self.todo(f"fn.{name}: there is no argument '{unknown}' here.")

    def _reader(self, call: cst.Call) -> cst.Call:
        device = argument(call, "device")
        if device is not None and _string(device.value) == "mixed":
            return self.drop(call, {"device"}, "readers deliver CPU data")
        return call

    def _seed(self, operator: Operator, original: cst.Call, call: cst.Call) -> cst.Call:
        """Draws of an operator's own seed, or of the pipeline's."""
        if not operator.is_random:
            return call
        seed = argument(call, "seed")
        if seed is not None:
            inside = self.kinds.inside.get(original)
            if inside is not None and inside.is_pipeline:
                call = without(call, [seed])
                return with_argument(call, "rng", f"ndd.random.RNG({source_of(seed.value)})")
            call = self.drop(call, {"seed"}, "a function has no generator of its own")
        if self.context.seeded:
            return with_argument(call, "rng", self.context.rng)
        return call

    def _batch_size(self, operator: Operator, original: cst.Call, call: cst.Call) -> cst.Call:
        kinds = {self.kinds.kinds.get(arg.value) for arg in original.args}
        makes = operator.generates or operator.is_random
        if not makes or kinds & {"node", "nodes"} or "batch_size" in argument_names(call):
            return call
        return with_argument(call, "batch_size", BATCH_SIZE)

    def _input_sets(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        """`op([a, b])` applies the operator to each of them."""
        if not original.args or self.kinds.kinds.get(original) != "nodes":
            return call
        first = call.args[0]
        if first.star or self.kinds.kinds.get(original.args[0].value) != "nodes":
            return call
        inner = call.with_changes(args=[first.with_changes(value=cst.Name("each")), *call.args[1:]])
        return expression(f"[{source_of(inner)} for each in {source_of(first.value)}]")

    # Sources and functions

    def _source(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        source = argument(call, "source", 0)
        if source is None or source_of(source.value) == "None":
            return self._fed(original, call)
        args = []
        for i, arg in enumerate(call.args):
            if arg.keyword is None and not arg.star and i < len(_SOURCE_ORDER):
                arg = arg.with_changes(keyword=cst.Name(_SOURCE_ORDER[i]))
            args.append(arg)
        call = call.with_changes(args=args)
        if "parallel" in argument_names(call):
            self.notes.change("external sources run in this process instead of in workers")
        call = self.drop(call, _SOURCE_DETAILS, "external_batches finds out by itself")
        call = _tight(call)
        first = argument(call, "source")
        if first is not None and first is call.args[0]:
            bare = first.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            call = call.with_changes(args=[bare, *call.args[1:]])
        if "batch_size" not in argument_names(call):
            call = with_argument(call, "batch_size", "batch_size")
        self.context.needed.add("source")
        return call.with_changes(func=cst.Name(self.context.source))

    def _fed(self, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        """Data that come from `feed_input` or as an argument of `run`."""
        name, inside = argument(call, "name"), self.kinds.inside.get(original)
        known = inside is not None and inside.is_pipeline
        if name is None or not known or argument(call, "num_outputs") is not None:
            self.todo(
                "external data without a source: make this an argument of the loop body, and pass "
                "ndd.as_batch(data) where the script has feed_input or run(name=data)."
            )
            return call
        self.context.needed |= {"batches", "fed"}
        parts = [argument(call, key) for key in ("dtype", "layout", "device")]
        texts = [
            source_of(p.with_changes(comma=cst.MaybeSentinel.DEFAULT)).strip()
            for p in parts
            if p is not None
        ]
        repeated = argument(call, "repeat_last")
        if repeated is not None and source_of(repeated.value) != "False":
            self.todo("repeat_last: feed the data of the step before again, where there are none.")
        dropped = _SOURCE_DETAILS - {"dtype", "name"}
        self.drop(call, dropped, "data are copied when they are fed")
        more = "".join(f", {text}" for text in texts)
        return expression(f"ndd.batch({FED}[{source_of(name.value)}].popleft(){more})")

    def _python_function(self, name: str, call: cst.Call) -> cst.BaseExpression:
        function = argument(call, "function")
        inputs = [source_of(arg.value) for arg in call.args if arg.keyword is None]
        whole_batches = argument(call, "batch_processing")
        simple = (
            name == "python_function"
            and function is not None
            and inputs
            and (whole_batches is None or source_of(whole_batches.value) == "False")
            and argument(call, "device") is None
        )
        if not simple or function is None:
            self.todo(f"fn.{name}: {_FUNCTION_PATTERN}.")
            return call
        texts = [source_of(function.value), *inputs]
        for theirs, ours in (("num_outputs", "num_outputs"), ("output_layouts", "layout")):
            given = argument(call, theirs)
            if given is not None:
                texts.append(f"{ours}={source_of(given.value)}")
        return expression(f"ndd.map({', '.join(texts)})")

    def numba_function(self, call: cst.Call) -> cst.BaseExpression:
        """A function that fills arrays: a helper makes the arrays."""
        device = argument(call, "device")
        if device is not None and _string(device.value) != "cpu":
            self.todo("numba_function on a gpu: launch the kernel on the tensors of batch.torch().")
            return call
        self.context.needed.add("numba")
        dropped = {"in_types", "ins_ndim", "device"}
        call = self.drop(call, dropped, "arrays know their types and axes")
        return call.with_changes(func=cst.Name(self.context.numba))

    def automatic_augmentation(self, name: str, call: cst.Call) -> cst.BaseExpression | None:
        """A function of `auto_aug`, if it is one of those that take images."""
        found = AUGMENTATIONS.get(name.rpartition(".")[2])
        if found is None:
            return None
        function, policy = found
        call = call.with_changes(func=expression(f"ndd.auto_aug.{function}"))
        if policy:
            call = with_argument(call, "policy_name", f'"{policy}"')
        if argument(call, "seed") is None and self.context.seeded:
            call = with_argument(call, "rng", self.context.rng)
        return call

    def _constant_operator(self, call: cst.Call) -> cst.BaseExpression:
        value = argument(call, "fdata") or argument(call, "idata")
        shape, dtype = argument(call, "shape"), argument(call, "dtype")
        if value is None:
            self.todo("fn.constant: use ndd.as_tensor(value, dtype=...).")
            return call
        text = source_of(value.value)
        if shape is not None:
            np = self.context.numpy
            text = f"{np}.broadcast_to({np}.asarray({text}), {source_of(shape.value)})"
        default = "ndd.float32" if argument(call, "fdata") else "ndd.int32"
        kept = default if dtype is None else source_of(dtype.value)
        return expression(f"ndd.as_tensor({text}, dtype={kept})")

    def constant(self, call: cst.Call) -> cst.BaseExpression:
        """The call of `types.Constant`."""
        value = argument(call, "value", 0)
        if value is None:
            self.todo("Constant: use ndd.as_tensor(value, dtype=...).")
            return call
        shape = argument(call, "shape", 2)
        text = source_of(value.value)
        if shape is not None:
            np = self.context.numpy
            text = f"{np}.broadcast_to({np}.asarray({text}), {source_of(shape.value)})"
        named = {"dtype": argument(call, "dtype", 1), "layout": argument(call, "layout", 3)}
        named["device"] = argument(call, "device")
        more = "".join(f", {k}={source_of(v.value)}" for k, v in named.items() if v is not None)
        if not more and not _has_known_type(value.value):
            self.context.needed.add("constant")
            return expression(f"{self.context.constant}({text})")
        return expression(f"ndd.as_tensor({text}{more})")

    def shape_batch(self, data: cst.BaseExpression, dtype: cst.Arg | None) -> cst.BaseExpression:
        """The shapes of a batch's samples, as a batch."""
        kept = "ndd.int64" if dtype is None else source_of(dtype.value)
        return expression(f"ndd.as_batch({operand(data)}.shape, dtype={kept})")

    # Functions of the script

    def own_call(self, function: Function, original: cst.Call, call: cst.Call) -> cst.Call:
        """The call of a function of the script: one that makes a pipeline, or a part of one."""
        if function.is_pipeline:
            return self.pipeline_call(function, call)
        inside = self.kinds.inside.get(original)
        if inside is None or not inside.in_graph or not function.needs_batch_size:
            return call
        if function.is_stateful:
            kinds = {self.kinds.kinds.get(arg.value) for arg in original.args}
            if kinds & {"node", "nodes"}:
                self.todo("this function has a reader of its own: make it before the loop.")
            if "batch_size" in argument_names(call):
                return call
            return with_argument(call, "batch_size", "batch_size")
        if "batch_size" not in argument_names(call):
            call = with_argument(call, "batch_size", BATCH_SIZE)
        rng = self.context.rng
        if function.draws and self.context.seeded and rng not in argument_names(call):
            call = with_argument(call, rng, rng)
        return call

    def pipeline_call(self, function: Function | None, call: cst.Call) -> cst.Call:
        """The call that makes a pipeline."""
        own = set() if function is None else _parameter_names(function)
        unused = EXECUTOR_ARGUMENTS - own
        if argument(call, "checkpoint") is not None and "checkpoint" in unused:
            self.todo("a checkpoint: use set_state of the reader and of ndd.random.RNG.")
        call = self.drop(call, unused, "it concerns the executor of graphs")
        if function is not None and "device_id" not in own | accepted(function, set()):
            call = self.drop(call, {"device_id"}, "data go to the current device")
        return call


def accepted(function: Function, given: set[str]) -> set[str]:
    """The pipeline arguments that a loop takes, if its decorator is given some."""
    if function.used_as_value or not function.called or function.passes_unknown:
        return set(LOOP_ARGUMENTS)
    useful = {"num_threads", "seed"} & (given | function.passed)
    if not function.draws:
        useful -= {"seed"} - function.passed
    return {"batch_size"} | useful | function.used_arguments


def type_expression(name: str) -> cst.BaseExpression | None:
    """A member of the reference's `types`, as an expression."""
    found = find_type(name)
    return None if found is None else expression(found)


def _parameter_names(function: Function) -> set[str]:
    params = function.node.params
    return {p.name.value for p in (*params.posonly_params, *params.params, *params.kwonly_params)}


def _has_known_type(node: cst.BaseExpression) -> bool:
    """Whether a value is a number, or an array of a type that constants keep."""
    if isinstance(node, cst.UnaryOperation):
        node = node.expression
    if isinstance(node, cst.BaseNumber | cst.List | cst.Tuple):
        return True
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in ("float32", "int32", "uint8", "int8", "int16", "uint16")


def _string(node: cst.BaseExpression) -> str | None:
    return str(node.evaluated_value) if isinstance(node, cst.SimpleString) else None


def _tight(call: cst.Call) -> cst.Call:
    """Give arguments that got names no space around the equals sign."""
    tight = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    args = [a if a.keyword is None else a.with_changes(equal=tight) for a in call.args]
    return call.with_changes(args=args)
