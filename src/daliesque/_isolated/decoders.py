# SPDX-License-Identifier: Apache-2.0
"""Decoders that run in other processes, for files that nobody can vouch for."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.convert import to_batch_samples, to_samples
from .._engine.dtype import dtype as to_dtype
from .._engine.enums import DALIImageType
from .._engine.errors import DecodeError, OpError, SampleError, join_names
from .._engine.files import FileLike, Files, open_files
from .._engine.rng import RNG, draw_state, get_default_rng
from .._engine.tensor import Tensor, as_tensor
from .._shapes.image_files import max_pixels
from .messages import Failure, Output, Request

if TYPE_CHECKING:
    from .pool import Pool

_POLICIES = ("raise", "skip")
# What a child may make of a wrong argument.
_WRONG_CALLS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (TypeError, ValueError, IndexError, ImportError)
}


@dataclass(frozen=True)
class FailedSample:
    """A sample that was left out: its index in the call, where it came from, and why."""

    index: int
    source: str | None
    exception: OpError


class IsolatedDecoders:
    """The decoders of `ndd.decoders`, in processes of their own; made by `isolated`.

    `image`, `image_crop`, `image_random_crop`, `image_slice`, `audio`, `video`, `numpy` and
    `inflate` take what the decoders of these names take, and return the same. Calls return when
    the samples are decoded. Several threads may call at the same time. `close`, or the end of a
    `with`, ends the processes.
    """

    def __init__(self, processes: int, timeout: float, memory: int, on_error: str) -> None:
        self._processes = processes
        self._timeout = timeout
        self._memory = memory
        self._on_error = on_error
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._owner = os.getpid()
        self._closed = False

    def image(self, input: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decode images, as `decoders.image` does."""
        return self._decode("image", (input,), arguments)

    def image_crop(self, input: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decode a window of given size out of each image, as `decoders.image_crop` does."""
        return self._decode("image_crop", (input,), arguments)

    def image_random_crop(
        self, input: FileLike | Files | Tensor | Batch, /, **arguments: Any
    ) -> Any:
        """Decode a random window of each image, the one that `decoders.image_random_crop` takes."""
        return self._decode("image_random_crop", (input,), arguments)

    def image_slice(
        self, input: FileLike | Files | Tensor | Batch, /, *others: Any, **arguments: Any
    ) -> Any:
        """Decode a part of each image, as `decoders.image_slice` does."""
        return self._decode("image_slice", (input, *others), arguments)

    def audio(self, input: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decode audio, as `decoders.audio` does: samples and sampling rates."""
        return self._decode("audio", (input,), arguments)

    def video(self, encoded: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decode frames of videos, as `decoders.video` does."""
        return self._decode("video", (encoded,), arguments)

    def numpy(self, data: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decode arrays in the format of NumPy, as `decoders.numpy` does."""
        return self._decode("numpy", (data,), arguments)

    def inflate(self, input: FileLike | Files | Tensor | Batch, /, **arguments: Any) -> Any:
        """Decompress arrays, as `decoders.inflate` does."""
        return self._decode("inflate", (input,), arguments)

    def close(self) -> None:
        """End the processes. Calls that are under way fail."""
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None and self._owner == os.getpid():
            pool.stop()

    def __enter__(self) -> IsolatedDecoders:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        msg = "decoders.isolated: the processes of one program cannot be used by another."
        raise TypeError(msg)

    def __repr__(self) -> str:
        return (
            f"<IsolatedDecoders: {self._processes} processes, {self._timeout:g} s and "
            f"{self._memory} bytes for each sample>"
        )

    def _started(self) -> Pool:
        from .pool import Pool

        with self._lock:
            if self._closed:
                msg = "decoders.isolated: the decoders were closed."
                raise RuntimeError(msg)
            if self._pool is None or self._owner != os.getpid():
                # A process that was forked has processes of its own.
                self._pool, self._owner = Pool(self._processes, self._memory), os.getpid()
                weakref.finalize(self, self._pool.stop)
            return self._pool

    def _decode(self, decoder: str, given: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
        where = f"decoders.{decoder}"
        inputs = [_opened(value, where) for value in given if value is not None]
        plain, state = _plain_arguments(where, arguments)
        batches = [value for value in (*inputs, *plain.values()) if isinstance(value, Batch)]
        count = len(batches[0]) if batches else 1
        for batch in batches:
            if len(batch) != count:
                msg = f"{where}: all batches must have the same size; got {len(batch)} and {count}."
                raise ValueError(msg)
        if count == 0:
            msg = f"{where}: there is nothing to decode: the batch is empty."
            raise ValueError(msg)
        limits = (max_pixels(), _kernels.max_sample_bytes())

        def request(index: int) -> tuple[Request, list[NDArray[Any]]]:
            own = {name: _plain(_of_sample(value, index)) for name, value in plain.items()}
            arrays = [np.asarray(_of_sample(value, index)) for value in inputs]
            return Request(decoder, [], own, index, state, self._timeout, limits), arrays

        answers = self._started().run(request, count)
        source: Any = inputs[0].source
        sources = source if isinstance(inputs[0], Batch) or source is None else (source,)
        return self._collect(where, answers, sources, is_batch=bool(batches))

    def _collect(
        self,
        where: str,
        answers: Sequence[list[Output] | Failure],
        sources: Sequence[str] | None,
        is_batch: bool,
    ) -> Any:
        """The results of a call, or the error of the first sample that has none."""
        kept: list[int] = []
        outputs: list[list[Output]] = []
        failed: list[FailedSample] = []
        for index, answer in enumerate(answers):
            if not isinstance(answer, Failure):
                kept.append(index)
                outputs.append(answer)
                continue
            error = self._explain(where, index, answer, sources)
            if self._on_error == "raise" or not is_batch or not isinstance(error, OpError):
                raise error
            failed.append(FailedSample(index, sources[index] if sources else None, error))
        if not kept:
            raise failed[0].exception
        names = None if sources is None else tuple(sources[index] for index in kept)
        results = tuple(
            _result(column, names, where, is_batch) for column in zip(*outputs, strict=True)
        )
        result = results[0] if len(results) == 1 else results
        return (result, failed) if self._on_error == "skip" else result

    def _explain(
        self, where: str, index: int, failure: Failure, sources: Sequence[str] | None
    ) -> Exception:
        kind, text = failure
        if kind in _WRONG_CALLS:
            return _WRONG_CALLS[kind](text)
        # In the child it was the only sample.
        for beginning in (f"{where}: sample 0 ", f"{where}: "):
            text = text.removeprefix(beginning)
        if kind == "MemoryError" or text.startswith("needs more memory"):
            text = f"takes more than {self._memory} bytes to decode"
        error = OpError if kind == "OpError" else DecodeError
        return SampleError(index, text.rstrip("."), error).explained(where, sources)


def isolated(
    *, processes: int = 2, timeout: float = 10.0, memory: int = 1 << 30, on_error: str = "raise"
) -> IsolatedDecoders:
    """Return decoders that run in other processes, each sample within limits of time and memory.

    For services that take files from anybody. A file that makes a codec crash, run for ever or
    fill the memory costs that sample: it raises a `DecodeError` that names it, and the process is
    replaced. Results are those of the decoders in this process; handing over a sample costs some
    100 microseconds and a copy.

    The processes have the rights of this one: against files that take over a codec, run the service
    in a sandbox of the operating system. What they send back is checked, and never executed.

    Parameters
    ----------
    processes
        How many samples to decode at the same time. Processes start when they are needed.
    timeout
        How many seconds a sample may take.
    memory
        How many bytes a sample may take in its process, its result included.
    on_error
        "raise" an error for the first sample that cannot be decoded; or "skip" such samples: then
        a call with a batch returns the result for the others, and a list with index, source and
        exception of those that were left out.

    Examples
    --------
    >>> good, bad = b"P5 2 1 255 " + bytes([0, 255]), b"no image"
    >>> with ndd.decoders.isolated(processes=1, timeout=5.0, on_error="skip") as decoders:
    ...     images, failed = decoders.image([good, bad])
    >>> images.shape, [sample.index for sample in failed]
    ([(1, 2, 3)], [1])
    """
    where = "decoders.isolated:"
    numbers = {
        "processes": rule_of(int).convert(processes, f"{where} 'processes'"),
        "timeout": rule_of(float).convert(timeout, f"{where} 'timeout'"),
        "memory": memory,
    }
    if not isinstance(memory, int) or isinstance(memory, bool):
        msg = f"{where} 'memory' must be a number of bytes; got {memory!r}."
        raise TypeError(msg)
    for name, value in numbers.items():
        if not 0 < value < 1 << 62:
            msg = f"{where} '{name}' must be positive; got {value:g}."
            raise ValueError(msg)
    if on_error not in _POLICIES:
        msg = f"{where} 'on_error' must be {join_names(_POLICIES)}; got {on_error!r}."
        raise ValueError(msg)
    return IsolatedDecoders(numbers["processes"], numbers["timeout"], memory, on_error)


def _opened(value: Any, where: str) -> Tensor | Batch:
    opened = open_files(value, where)
    if isinstance(opened, Batch):
        return opened.cpu()
    return as_tensor(opened).cpu()


def _of_sample(value: Any, index: int) -> Any:
    return value.tensors[index] if isinstance(value, Batch) else value


def _plain_arguments(where: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Arguments without the generator, and its state when the call was made."""
    given = {name: value for name, value in arguments.items() if value is not None}
    state = None
    if where.endswith("random_crop"):
        rng = given.pop("rng", None) or get_default_rng()
        state = rng.get_state() if isinstance(rng, RNG) else None
        # As any random operator takes words from it.
        draw_state(rng, where)
    size = given.pop("batch_size", None)
    device = given.pop("device", "cpu")
    if size is not None or str(device) != "cpu":
        msg = f"{where}: isolated decoders take neither 'batch_size' nor a device but the cpu."
        raise ValueError(msg)
    return given, state


def _plain(value: Any) -> Any:
    """A value of an argument as JSON can have it."""
    if isinstance(value, DALIImageType):
        return value.name
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Tensor | np.ndarray | np.generic) or hasattr(value, "__dlpack__"):
        return np.asarray(value).tolist()
    return to_dtype(value).full_name


def _result(
    outputs: Sequence[Output], names: tuple[str, ...] | None, where: str, is_batch: bool
) -> Tensor | Batch:
    layout = outputs[0].layout or None
    arrays = [output.array for output in outputs]
    if is_batch:
        return Batch._of(to_batch_samples(arrays, None, layout, where), names)
    return Tensor._of(to_samples(arrays[0], None, layout, where), names)
