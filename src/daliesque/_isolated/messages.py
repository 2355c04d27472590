# SPDX-License-Identifier: Apache-2.0
"""What a process that decodes and the one that started it say to each other.

Both send JSON text of limited length, and arrays in a file in memory that the text describes. Of
what comes back from the child nothing is believed before it is checked.
"""

from __future__ import annotations

import json
import math
import os
import select
import struct
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_LENGTH = struct.Struct("<Q")
# An answer holds some numbers, or a message; a request may have arguments that are long lists.
_MOST_ANSWER = 1 << 20
_MOST_REQUEST = 1 << 28
# Types that decoders deliver.
_TYPES = frozenset(
    ("bool", "float16", "float32", "float64")
    + tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
)


class Request(NamedTuple):
    """One sample to be decoded: which decoder, with what, and which sample of a batch it is."""

    decoder: str
    # Type and shape of each input; the bytes are in the file, one after the other.
    inputs: list[tuple[str, tuple[int, ...]]]
    # Numbers, text and lists of these.
    arguments: dict[str, Any]
    sample: int
    # The state of the generator when the call was made, for a random decoder.
    rng: str | None
    seconds: float
    # Of pixels, and of bytes that a sample may take from a file.
    limits: tuple[int, int]


class Output(NamedTuple):
    """A decoded array, with its layout."""

    array: NDArray[Any]
    layout: str


class Failure(NamedTuple):
    """Why there is no output: the name of the exception, and its text."""

    kind: str
    text: str


class Broken(Exception):
    """The other process has ended, or speaks nonsense."""


class TooLate(Exception):
    """The other process did not answer in time."""


def send(descriptor: int, data: bytes, deadline: float | None = None) -> None:
    """Write a message to a pipe. Raises TooLate after the deadline, if the pipe does not block."""
    data = _LENGTH.pack(len(data)) + data
    while data:
        try:
            data = data[os.write(descriptor, data) :]
        except BlockingIOError:
            _wait(descriptor, select.POLLOUT, deadline)


def _wait(descriptor: int, event: int, deadline: float | None) -> None:
    """Wait until a pipe can be read or written. Raises TooLate after the deadline."""
    if deadline is None:
        return
    poll = select.poll()
    poll.register(descriptor, event)
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(math.ceil(1000 * left)):
        raise TooLate


def receive(descriptor: int, most: int, deadline: float | None = None) -> bytes:
    """Read a message from a pipe. Raises Broken, or TooLate after the deadline."""
    (length,) = _LENGTH.unpack(_read(descriptor, _LENGTH.size, deadline))
    if length > most:
        msg = f"a message of {length} bytes"
        raise Broken(msg)
    return _read(descriptor, length, deadline)


def _read(descriptor: int, count: int, deadline: float | None) -> bytes:
    parts = []
    while count:
        _wait(descriptor, select.POLLIN, deadline)
        part = os.read(descriptor, min(count, 1 << 16))
        if not part:
            msg = "the pipe was closed"
            raise Broken(msg)
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def pack_request(request: Request) -> bytes:
    """A request as text."""
    return json.dumps(request._asdict()).encode()


def receive_request(descriptor: int) -> Request:
    """What a parent asks for. Raises Broken when there is nothing more."""
    return Request(**json.loads(receive(descriptor, _MOST_REQUEST)))


def _bytes_of(array: NDArray[Any]) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)


def write_arrays(file: int, arrays: Sequence[NDArray[Any]]) -> list[tuple[str, tuple[int, ...]]]:
    """Write arrays to a file in memory, in place of what is there; returns types and shapes."""
    os.ftruncate(file, 0)
    offset = 0
    described = []
    for array in arrays:
        view = _bytes_of(np.ascontiguousarray(array))
        while view:
            written = os.pwrite(file, view, offset)
            view, offset = view[written:], offset + written
        described.append((str(array.dtype), array.shape))
    return described


def read_arrays(file: int, described: Sequence[tuple[str, Sequence[int]]]) -> list[NDArray[Any]]:
    """The arrays in a file in memory, as copies. Raises Broken if they are not there."""
    size, offset = os.fstat(file).st_size, 0
    arrays = []
    for name, shape in described:
        if name not in _TYPES or len(shape) > 32 or not all(type(n) is int for n in shape):
            msg = "no array"
            raise Broken(msg)
        nbytes = math.prod(shape) * np.dtype(name).itemsize
        if min(shape, default=0) < 0 or nbytes > size - offset:
            msg = "an array that is not there"
            raise Broken(msg)
        array = np.empty(tuple(shape), name)
        view = _bytes_of(array)
        while view:
            # Read, not mapped: a file that is cut short meanwhile is no reason to crash.
            count = os.preadv(file, [view], offset)
            if count == 0:
                msg = "an array that is not there"
                raise Broken(msg)
            view, offset = view[count:], offset + count
        arrays.append(array)
    return arrays


def pack_answer(file: int, answer: list[Output] | Failure) -> bytes:
    """An answer as text; its arrays go into the file."""
    if isinstance(answer, Failure):
        return json.dumps({"kind": answer.kind, "text": answer.text[:10_000]}).encode()
    described = write_arrays(file, [output.array for output in answer])
    layouts = [output.layout for output in answer]
    return json.dumps({"outputs": described, "layouts": layouts}).encode()


def receive_answer(descriptor: int, file: int, deadline: float) -> list[Output] | Failure:
    """What a child answers. Raises Broken or TooLate."""
    data = receive(descriptor, _MOST_ANSWER, deadline)
    try:
        fields = json.loads(data)
        if "kind" in fields:
            return Failure(str(fields["kind"]), str(fields["text"]))
        layouts = [str(layout) for layout in fields["layouts"]]
        arrays = read_arrays(file, [(name, shape) for name, shape in fields["outputs"]])
        return [Output(*pair) for pair in zip(arrays, layouts, strict=True)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        msg = f"an answer that is none: {error}"
        raise Broken(msg) from error
