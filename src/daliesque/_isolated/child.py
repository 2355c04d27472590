# SPDX-License-Identifier: Apache-2.0
"""The program of a process that decodes: one sample after the other, within limits."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _kernels
from .._engine.batch import as_batch
from .._engine.modes import EvalMode
from .._engine.rng import RNG
from .._engine.tensor import Tensor, as_tensor
from .._engine.threads import set_num_threads
from .._ops.audio_decoders import audio
from .._ops.crop import random_crop_generator
from .._ops.data_decoders import inflate
from .._ops.data_decoders import numpy as decode_numpy
from .._ops.image_decoders import image, image_crop, image_slice, peek_image_shape
from .._ops.video_decoders import video
from .._shapes.image_files import set_max_pixels
from .messages import (
    Broken,
    Failure,
    Output,
    Request,
    pack_answer,
    read_arrays,
    receive_request,
    send,
)

_DECODERS: dict[str, Callable[..., Any]] = {
    "audio": audio,
    "image": image,
    "image_crop": image_crop,
    "image_slice": image_slice,
    "inflate": inflate,
    "numpy": decode_numpy,
    "video": video,
}
# The processor may be busy with other things: this limit is for children whose parent is gone.
_CPU_SECONDS_MORE = 5


def main(requests: int, answers: int, given: int, results: int, memory: int) -> None:
    """Serve requests until the pipe ends. The numbers are those of descriptors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_num_threads(1)
    _limit_memory(memory)
    send(answers, b"")
    while True:
        try:
            request = receive_request(requests)
        except Broken:
            return
        _limit_time(request.seconds)
        set_max_pixels(request.limits[0])
        _kernels.set_max_sample_bytes(request.limits[1])
        answer: list[Output] | Failure
        try:
            answer = _decode(request, read_arrays(given, request.inputs))
            packed = pack_answer(results, answer)
        except MemoryError:
            packed = pack_answer(results, Failure("MemoryError", ""))
        except OSError as error:
            packed = pack_answer(results, Failure("OSError", str(error)))
        except Exception as error:
            packed = pack_answer(results, Failure(type(error).__name__, str(error)))
        send(answers, packed)


def _limit_memory(memory: int) -> None:
    """Let this process take so many bytes more than it has, in memory and for results."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[5]) * os.sysconf("SC_PAGESIZE")
    resource.setrlimit(resource.RLIMIT_DATA, (used + memory, used + memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (memory, memory))


def _limit_time(seconds: float) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = usage.ru_utime + usage.ru_stime
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + _CPU_SECONDS_MORE, most))


def _decode(request: Request, inputs: list[Any]) -> list[Output]:
    values = [as_tensor(array) for array in inputs]
    with EvalMode.sync_full:
        if request.decoder == "image_random_crop":
            result = _crop_at_random(request, values[0])
        else:
            result = _DECODERS[request.decoder](*values, **request.arguments)
        tensors: tuple[Tensor, ...] = result if isinstance(result, tuple) else (result,)
        return [Output(np.asarray(tensor), tensor.layout or "") for tensor in tensors]


def _crop_at_random(request: Request, data: Tensor) -> Any:
    """The window that the sample would have had as one of a batch."""
    arguments = dict(request.arguments)
    own = ("random_area", "random_aspect_ratio", "num_attempts")
    drawn = {name: arguments.pop(name) for name in own if name in arguments}
    upright = arguments.get("adjust_orientation")
    options = {} if upright is None else {"adjust_orientation": upright}
    size = np.asarray(peek_image_shape(data, **options))[:2]
    sizes = np.broadcast_to(size, (request.sample + 1, 2))
    begins, shapes = random_crop_generator(as_batch(sizes), rng=RNG(state=request.rng), **drawn)
    begin, shape = np.asarray(begins.tensors[-1]), np.asarray(shapes.tensors[-1])
    return image_slice(
        data, start=begin.tolist(), shape=shape.tolist(), axis_names="HW", **arguments
    )
