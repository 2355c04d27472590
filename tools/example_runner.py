# SPDX-License-Identifier: Apache-2.0
"""Run the cells of an example and write what its pipelines, or its loops, delivered.

    python tools/example_runner.py TARGET [argument of the example ...] < cells.json

For `converted_examples.py`, in the Python that has the reference and in the one that has daliesque:
needs nothing but NumPy. TARGET.npz gets the batches ("output 0", "output 1", ...) and the arrays
among the variables, sample by sample; TARGET.json says for each output which operators of the graph
before it draw random numbers.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import json
import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np

_BATCHES = ("TensorListCPU", "Batch", "CapturedBatch")
_TENSORS = ("TensorCPU", "Tensor", "ndarray")
# What draws or plays is not needed, where it is missing.
_SHOWING = ("matplotlib", "librosa", "simpleaudio", "IPython")
_PARTS = ("", ".pyplot", ".gridspec", ".patches", ".display", ".image", ".collections")


def samples(value: Any, depth: int = 0) -> list[np.ndarray[Any, Any]] | None:
    """The samples of a batch, or of a list of batches and arrays; None if it is something else."""
    if type(value).__name__ in _BATCHES:
        parts = [value.at(i) for i in range(len(value))] if hasattr(value, "at") else list(value)
        return [np.asarray(part) for part in parts]
    if type(value).__name__ in _TENSORS:
        return [np.asarray(value)]
    if isinstance(value, tuple | list) and value and depth < 2:
        found = []
        for part in value:
            inner = samples(part, depth + 1)
            if inner is None:
                return None
            found += inner
        return found
    return None


class Outputs:
    """The batches that pipelines or loops have delivered."""

    def __init__(self) -> None:
        self.batches: list[list[np.ndarray[Any, Any]]] = []
        self.causes: list[list[str]] = []
        self._busy = 0

    def keep(self, batches: Any, causes: list[list[str]] | None = None) -> None:
        """Note what a step has delivered."""
        batches = batches if isinstance(batches, tuple) else (batches,)
        if not all(type(part).__name__ in _BATCHES for part in batches):
            return
        self.batches += [samples(part) or [] for part in batches]
        self.causes += causes or [[] for _ in batches]

    def kept(self, loop: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        """A generator function whose results are noted."""

        @functools.wraps(loop)
        def wrapped(*given: Any, **named: Any) -> Iterator[Any]:
            steps = loop(*given, **named)
            while True:
                # Loops may have parts that are generators, too; what these yield is no output.
                self._busy += 1
                try:
                    batches = next(steps)
                except StopIteration:
                    return
                finally:
                    self._busy -= 1
                if not self._busy:
                    self.keep(batches)
                yield batches

        return wrapped

    def watched(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of the reference's pipelines whose results are noted."""

        @functools.wraps(method)
        def wrapped(pipeline: Any, *given: Any, **named: Any) -> Any:
            self._busy += 1
            try:
                made = method(pipeline, *given, **named)
            finally:
                self._busy -= 1
            if not self._busy and made is not None:
                self.keep(tuple(made), [random_operators(node) for node in nodes_of(pipeline)])
            return made

        return wrapped


def nodes_of(pipeline: Any) -> list[Any]:
    """The nodes of the graph that a pipeline delivers."""
    return list(getattr(pipeline, "_graph_outputs", None) or ())


def random_operators(node: Any) -> list[str]:
    """The operators before a node that draw random numbers, and the readers that shuffle."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting = [node]
    while waiting:
        operator = getattr(waiting.pop(), "source", None)
        if operator is None or id(operator) in seen:
            continue
        seen.add(id(operator))
        waiting += operator.inputs
        text = str(operator.spec)
        name = text.split()[2].rstrip(":")
        is_reader = name.startswith("readers__") or name.endswith("Reader")
        if is_reader:
            shuffles = any(
                f"{key}: True" in text for key in ("random_shuffle", "shuffle_after_epoch")
            )
            found |= {f"{name} shuffles"} if shuffles else set()
        elif schema_of(name).HasRandomSeedArg():
            found.add(name)
    return sorted(found)


@functools.cache
def schema_of(name: str) -> Any:
    """The reference's description of an operator."""
    return importlib.import_module("nvidia.dali.backend").GetSchema(name)


class Loops(ast.NodeTransformer):
    """Lets generators of a program note what they yield."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Decorate a generator function."""
        self.generic_visit(node)
        if node.name != "external_batches" and _yields(node):
            node.decorator_list.insert(0, ast.Name("__kept__", ast.Load()))
        return node


def _yields(node: ast.AST) -> bool:
    inner = (ast.FunctionDef, ast.Lambda)
    parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, inner)]
    return isinstance(node, ast.Yield) or any(map(_yields, parts))


def _probe(path: str) -> dict[str, Any]:
    """What `ffmpeg.probe` says of a video, as far as examples ask."""
    av = importlib.import_module("av")
    with av.open(str(path)) as file:
        rate = file.streams.video[0].base_rate
        return {
            "streams": [
                {"codec_type": "video", "r_frame_rate": f"{rate.numerator}/{rate.denominator}"}
            ]
        }


def replace_missing() -> None:
    """Replace modules that only draw, play or describe files."""
    for name in _SHOWING:
        if importlib.util.find_spec(name) is None:
            for part in _PARTS:
                sys.modules[name + part] = MagicMock(version_info=(9, 0))
    if importlib.util.find_spec("ffmpeg") is None:
        module = types.ModuleType("ffmpeg")
        module.probe = _probe  # type: ignore[attr-defined]
        sys.modules["ffmpeg"] = module


def main() -> None:
    """Run the cells that come on standard input."""
    target = Path(sys.argv.pop(1))
    outputs = Outputs()
    replace_missing()
    if importlib.util.find_spec("nvidia") is not None:
        pipeline = importlib.import_module("nvidia.dali.pipeline").Pipeline
        for method in ("run", "share_outputs", "outputs"):
            setattr(pipeline, method, outputs.watched(getattr(pipeline, method)))
        # The reference asks torch for a CUDA stream even if tensors are in CPU memory.
        described: Any = importlib.import_module("nvidia.dali.types")
        described._get_default_stream_for_array = lambda _array: None
    # The example finds modules beside it, as a program of its own would.
    sys.path[0] = ""
    # What an example draws in Python, before and after conversion, is then the same.
    random.seed(0)
    np.random.seed(0)
    names: dict[str, Any] = {"__name__": "__main__", "__kept__": outputs.kept}
    for number, cell in enumerate(json.loads(sys.stdin.read())):
        file = Path(f"cell_{number}.py")
        file.write_text(cell)
        program = ast.fix_missing_locations(Loops().visit(ast.parse(cell, str(file))))
        exec(compile(program, str(file), "exec"), names)
    listed = [(f"output {number}", parts) for number, parts in enumerate(outputs.batches)]
    listed += [(k, samples(v) or []) for k, v in names.items() if not k.startswith("_")]
    found: dict[str, Any] = {
        f"{name}/{index}": part
        for name, parts in listed
        for index, part in enumerate(parts)
        if part.dtype.kind in "fiub"
    }
    np.savez(target.with_suffix(".npz"), **found)
    target.with_suffix(".json").write_text(json.dumps(outputs.causes))


if __name__ == "__main__":
    main()
