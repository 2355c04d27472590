# SPDX-License-Identifier: Apache-2.0
"""What the names of pipeline mode are called in daliesque."""

from __future__ import annotations

import inspect
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import daliesque

_PACKAGE = "nvidia.dali"
# Modules of the reference that only lead to names of its top level.
_TRANSPARENT = ("pipeline.experimental.", "pipeline.", "data_node.", "tensors.", "backend.")
DYNAMIC_MODE = f"{_PACKAGE}.experimental.dynamic"
_FRAMEWORKS = ("pytorch", "jax", "paddle", "mxnet", "tf")

# Operators of pipeline mode that have another name here.
_RENAMED = {
    "audio_decoder": "decoders.audio",
    "image_decoder": "decoders.image",
    "image_decoder_crop": "decoders.image_crop",
    "image_decoder_random_crop": "decoders.image_random_crop",
    "image_decoder_slice": "decoders.image_slice",
    "coin_flip": "random.coin_flip",
    "uniform": "random.uniform",
    "normal_distribution": "random.normal",
    "transform_translation": "transforms.translation",
    "fast_resize_crop_mirror": "resize_crop_mirror",
    "experimental.inflate": "decoders.inflate",
    "caffe_reader": "readers.caffe",
    "caffe2_reader": "readers.caffe2",
    "coco_reader": "readers.coco",
    "file_reader": "readers.file",
    "mxnet_reader": "readers.mxnet",
    "nemo_asr_reader": "readers.nemo_asr",
    "numpy_reader": "readers.numpy",
    "tfrecord_reader": "readers.tfrecord",
    "video_reader": "readers.video",
    "video_reader_resize": "readers.video_resize",
}
# Readers that deliver one output unless one of the arguments asks for more.
_SINGLE_OUTPUT: dict[str, tuple[str, ...]] = {
    "Numpy": (),
    "Fits": ("hdu_indices",),
    "Video": ("labels", "file_list", "file_root", "enable_frame_num", "enable_timestamps"),
    "VideoResize": ("labels", "file_list", "file_root", "enable_frame_num", "enable_timestamps"),
}
_DTYPES = {
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "FLOAT16": "float16",
    "FLOAT": "float32",
    "FLOAT32": "float32",
    "FLOAT64": "float64",
    "BOOL": "bool",
}
# Arguments of operators that only concern the executor of graphs.
GRAPH_ARGUMENTS = frozenset({"preserve", "bytes_per_sample_hint", "name"})
# Arguments of pipelines that a loop has a use for, and those that only concern the executor.
LOOP_ARGUMENTS = ("batch_size", "num_threads", "device_id", "seed")
EXECUTOR_ARGUMENTS = frozenset(
    {
        "exec_pipelined",
        "exec_async",
        "exec_dynamic",
        "experimental_exec_dynamic",
        "prefetch_queue_depth",
        "bytes_per_sample",
        "set_affinity",
        "max_streams",
        "default_cuda_stream_priority",
        "enable_memory_stats",
        "enable_checkpointing",
        "enable_conditionals",
        "debug",
        "py_num_workers",
        "py_start_method",
        "py_callback_pickler",
        "output_dtype",
        "output_ndim",
        "output_layout",
        "checkpoint",
        "concurrency",
        "max_batch_size",
    }
)
# Pipeline's own parameters, in order.
PIPELINE_PARAMETERS = ("batch_size", "num_threads", "device_id", "seed", "exec_pipelined")


class Operator(NamedTuple):
    """An operator or reader of daliesque."""

    name: str
    parameters: frozenset[str]
    # Whether it makes data from nothing, so that it needs the batch size.
    generates: bool
    # Whether it may have arguments besides its parameters.
    is_open: bool

    @property
    def is_reader(self) -> bool:
        """Whether it is a class of readers."""
        return self.name.rpartition(".")[2][0].isupper()

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return "rng" in self.parameters

    def is_single(self, arguments: set[str]) -> bool:
        """Whether a reader delivers one output, given the names of its arguments."""
        return delivers_one(self.name, arguments)


def delivers_one(reader: str, arguments: set[str]) -> bool:
    """Whether a reader delivers one output, given its name and the names of its arguments."""
    more = _SINGLE_OUTPUT.get(reader.rpartition(".")[2])
    return more is not None and not arguments & set(more)


def canonical(dotted: str) -> str | None:
    """A name below the reference's package, without detours; None if it is from elsewhere.

    >>> canonical("nvidia.dali.pipeline.experimental.pipeline_def")
    'pipeline_def'
    """
    if dotted == _PACKAGE:
        return ""
    if not dotted.startswith(_PACKAGE + "."):
        return None
    name = dotted[len(_PACKAGE) + 1 :]
    if dotted.startswith(DYNAMIC_MODE):
        return None
    for prefix in _TRANSPARENT:
        if name.startswith(prefix) and name != prefix[:-1]:
            name = name.removeprefix(prefix)
            break
    if name.endswith(".LastBatchPolicy") or ".LastBatchPolicy." in name:
        name = name[name.index("LastBatchPolicy") :]
    for framework in _FRAMEWORKS:
        for detour in ("fn.", "experimental.", "iterator.", "torch_utils."):
            name = name.replace(f"plugin.{framework}.{detour}", f"plugin.{framework}.")
    return name


@cache
def find_operator(name: str) -> Operator | None:
    """The operator of daliesque for a name below `fn`, or None."""
    name = _RENAMED.get(name, name)
    candidates = [name]
    if name.startswith("experimental."):
        candidates.append(name.removeprefix("experimental."))
    for candidate in candidates:
        found = _look_up(candidate)
        if found is not None:
            return found
    return None


@cache
def find_class(name: str) -> str | None:
    """The name below `fn` of an operator class below `ops`, or None.

    >>> find_class("readers.TFRecord"), find_class("CropMirrorNormalize")
    ('readers.tfrecord', 'crop_mirror_normalize')
    """
    module, _, last = name.rpartition(".")
    wanted = last.lower()
    known = {"externalsource": "external_source", "pythonfunction": "python_function"}
    known |= {old.replace("_", ""): old for old in _RENAMED if "." not in old}
    if not module and wanted in known:
        return known[wanted]
    holder = _module(module)
    if holder is None:
        return None
    for member in dir(holder):
        if member.replace("_", "").lower() == wanted and callable(getattr(holder, member)):
            snake = member if member.islower() else _snake(member)
            return f"{module}.{snake}" if module else snake
    return None


def find_type(name: str) -> str | None:
    """The expression for a member of the reference's `types`, or None."""
    last = name.rpartition(".")[2]
    if last in _DTYPES:
        return f"ndd.{_DTYPES[last]}"
    if last in ("NCHW", "NHWC"):
        # Names of older releases for layouts of samples.
        return f'"{last[1:]}"'
    if hasattr(daliesque.types, last):
        return f"ndd.types.{last}"
    return None


def dtype_method(name: str) -> str | None:
    """The type that a method of the reference's `Constant` converts to: "uint16" and so on."""
    names = {*_DTYPES.values(), "float"}
    return {"float": "float32"}.get(name, name) if name in names else None


def _snake(name: str) -> str:
    known = {"TFRecord": "tfrecord", "MXNet": "mxnet", "COCO": "coco"}
    if name in known:
        return known[name]
    letters = [("_" if c.isupper() and i else "") + c.lower() for i, c in enumerate(name)]
    return "".join(letters)


def _module(name: str) -> ModuleType | None:
    found: Any = daliesque
    for part in filter(None, name.split(".")):
        found = getattr(found, part, None)
    return found if isinstance(found, ModuleType) else None


def _look_up(name: str) -> Operator | None:
    module, _, last = name.rpartition(".")
    holder = _module(module)
    if holder is None:
        return None
    if module.rpartition(".")[2] == "readers":
        for member in dir(holder):
            if _snake(member) == last and inspect.isclass(getattr(holder, member)):
                return _describe(f"{module}.{member}", getattr(holder, member))
        return None
    found = getattr(holder, last, None)
    if not callable(found) or inspect.isclass(found):
        return None
    return _describe(name, found)


def _describe(name: str, found: Any) -> Operator:
    parameters = inspect.signature(found).parameters
    inputs = [p for p in parameters.values() if p.kind is p.POSITIONAL_ONLY]
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    generates = not several and all(p.default is not p.empty for p in inputs)
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    generates = generates and not inspect.isclass(found)
    return Operator(name, frozenset(parameters), generates, is_open)
