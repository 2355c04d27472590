# SPDX-License-Identifier: Apache-2.0
"""What scripts do with pipelines and with their outputs."""

from __future__ import annotations

import libcst as cst

from .editing import argument, expression, operand, source_of
from .kinds import PIPELINE_RUNS
from .operators import OperatorCalls

_TENSOR_CLASSES = {
    "TensorCPU": "cpu",
    "TensorListCPU": "cpu",
    "TensorGPU": "gpu",
    "TensorListGPU": "gpu",
}
# Methods of pipelines that have nothing to do in a loop.
IDLE = frozenset({"build", "schedule_run", "release_outputs", "start_py_workers"})
_PIPELINE_METHODS = {
    "feed_input": "name the input, or pass the data to the loop body: ndd.as_batch(data)",
    "serialize": "there is no graph to serialize; keep the function",
    "deserialize": "there is no graph to deserialize; import the function",
    "deserialize_and_build": "there is no graph to deserialize; import the function",
    "checkpoint": "store reader.get_state() and the state of ndd.random.RNG",
    "executor_statistics": "there is no executor; use ndd.memory()",
    "reader_meta": "use get_metadata() of the reader",
    "save_graph_to_dot_file": "there is no graph; read the function",
    "set_outputs": "yield the outputs from the function with the loop",
    "is_restored_from_checkpoint": "use set_state of the reader",
}


class UsageCalls(OperatorCalls):
    """Rewrites the methods of pipelines, and those of the batches that they deliver."""

    def device_of(self, node: cst.CSTNode) -> str | None:
        """The device that a class of the reference's tensors is for."""
        return _TENSOR_CLASSES.get(self.kinds.names.get(node, ""))

    def pipeline_attribute(self, node: cst.Attribute) -> cst.BaseExpression:
        """An attribute of a pipeline."""
        name = node.attr.value
        if name in ("max_batch_size", "batch_size"):
            self.context.asks_loops = True
            return node.with_changes(attr=cst.Name("batch_size"))
        if name in IDLE | PIPELINE_RUNS:
            return node
        self.todo(f"loops have no attribute '{name}'.")
        return node

    def to_torch(self, name: str, call: cst.Call) -> cst.BaseExpression:
        """A function of the reference that makes or fills torch tensors."""
        data = call.args[0].value
        if name == "to_torch_tensor":
            copy = argument(call, "copy", 1)
            wanted = None if copy is None else source_of(copy.value)
            own = "" if wanted in (None, "False") else f"copy={wanted}"
            return expression(f"{operand(data)}.torch({own})")
        target = call.args[1].value
        return expression(f"{operand(target)}.copy_(ndd.as_tensor({source_of(data)}).torch())")

    def pipeline_method(
        self, name: str, data: cst.BaseExpression, call: cst.Call
    ) -> cst.BaseExpression:
        """A method of a pipeline."""
        if name in PIPELINE_RUNS:
            if call.args:
                return self._run_with_data(data, call)
            return expression(f"next({source_of(data)})")
        if name == "feed_input" and self.kinds.kinds.get(call.args[0].value) != "node":
            self.context.asks_loops = True
            self.context.needed.add("batches")
            return self.drop(call, {"cuda_stream", "use_copy_kernel"}, "data are copied")
        if name in ("epoch_size", "reset"):
            self.context.asks_loops = True
            self.context.needed.add("batches")
            return call.with_changes(args=[])
        if name in IDLE:
            return cst.Name("None")
        if name in _PIPELINE_METHODS:
            self.todo(f"{name}: {_PIPELINE_METHODS[name]}.")
        return call

    def _run_with_data(self, data: cst.BaseExpression, call: cst.Call) -> cst.BaseExpression:
        """`run(name=data)`."""
        call = self.drop(call, {"cuda_stream"}, "there are no streams on a CPU")
        if any(arg.keyword is None and arg.star != "**" for arg in call.args):
            self.todo("pass the data to the loop body instead: ndd.as_batch(data).")
            return call
        if not call.args:
            return expression(f"next({source_of(data)})")
        self.context.asks_loops = True
        self.context.needed.add("batches")
        fed = call.with_changes(func=cst.Attribute(data, cst.Name("feed")))
        return expression(f"next({source_of(fed)})")

    def output_method(
        self, owner: str | None, name: str, data: cst.BaseExpression, call: cst.Call
    ) -> cst.BaseExpression:
        """A method of a batch that a pipeline delivered, or of one of its samples."""
        np, text = self.context.numpy, operand(data)
        if name == "at" and len(call.args) == 1:
            return expression(f"{np}.asarray({text}.tensors[{source_of(call.args[0].value)}])")
        if name == "as_cpu" and not call.args:
            return expression(f"{text}.cpu()")
        if name == "as_array" and not call.args:
            return expression(f"{np}.asarray(ndd.as_tensor({source_of(data)}))")
        if name == "as_tensor" and not call.args:
            return expression(f"ndd.as_tensor({source_of(data)})")
        if name == "is_dense_tensor" and not call.args:
            return expression(f"(len(set({text}.shape)) == 1)")
        if name == "source_info" and not call.args:
            return expression(f"{text}.source")
        if name == "shape" and not call.args:
            # What `at` returns has a shape before it is an array.
            prefix = f"{np}.asarray("
            inner = text[len(prefix) : -1] if owner == "array" and text.startswith(prefix) else text
            return expression(f"{inner}.shape")
        if name == "layout" and not call.args and owner != "array":
            return expression(f'({text}.layout or "")')
        if name in ("copy_to_external", "as_reshaped_tensor", "data_ptr", "at_gpu"):
            self.todo(f"{name}: use ndd.as_tensor(batch), or batch.torch().")
        return call

    def builtin(self, name: str, original: cst.Call, call: cst.Call) -> cst.BaseExpression:
        """A function of Python that is given batches."""
        args = original.args
        if name == "isinstance" and len(args) == 2:
            devices = {self.device_of(part) for part in parts_of(args[1].value)}
            owner = operand(call.args[0].value)
            if len(devices) == 2 and None not in devices:
                return expression(f"isinstance({owner}, (ndd.Tensor, ndd.Batch))")
            if devices == {"cpu"} or devices == {"gpu"}:
                return expression(f'({owner}.device.device_type == "{devices.pop()}")')
        if name == "hasattr" and len(args) == 2 and source_of(args[1].value)[1:-1] == "as_cpu":
            return call.with_changes(
                args=[call.args[0], call.args[1].with_changes(value=cst.SimpleString('"cpu"'))]
            )
        return call


def parts_of(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The members of a tuple, or the expression itself."""
    return [e.value for e in node.elements] if isinstance(node, cst.Tuple) else [node]
