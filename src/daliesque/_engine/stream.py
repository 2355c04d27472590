# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work on an accelerator."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from .device import Device, require_gpu


class Stream:
    """A queue of work on an accelerator.

    Parameters
    ----------
    stream
        A `torch.cuda.Stream`, an object with `__cuda_stream__`, or a raw handle to wrap. By
        default a new stream is made.
    device_id
        The accelerator the stream belongs to; by default the current one.
    """

    create_new: ClassVar[object] = object()

    __slots__ = ("_device_id", "_handle", "_keep")

    def __init__(self, stream: Any = create_new, device_id: int | None = None) -> None:
        require_gpu("Stream")
        if stream is Stream.create_new or stream is None:
            msg = "Stream: streams cannot be made on this machine."
            raise RuntimeError(msg)
        self._keep = stream
        self._handle = stream_handle(stream)
        self._device_id = device_id if device_id is not None else Device.default_device_id("gpu")

    @property
    def handle(self) -> int:
        """The raw handle."""
        return self._handle

    @property
    def device_id(self) -> int | None:
        """The number of the accelerator."""
        return self._device_id

    def synchronize(self) -> None:
        """Wait until all work in the stream is done."""
        wait = getattr(self._keep, "synchronize", None)
        if wait is not None:
            wait()

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self._handle)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._handle == other._handle

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Stream(handle={self._handle:#x}, device_id={self._device_id})"


def stream_handle(stream: Any) -> int:
    """The raw handle of anything that can be understood as a stream."""
    if isinstance(stream, int) and not isinstance(stream, bool):
        return stream
    if hasattr(stream, "__cuda_stream__"):
        version, handle = stream.__cuda_stream__()
        if version != 0:
            msg = f"Stream: version {version} of the __cuda_stream__ protocol is not supported."
            raise ValueError(msg)
        return int(handle)
    if hasattr(stream, "cuda_stream"):
        return int(stream.cuda_stream)
    msg = (
        f"Stream: cannot wrap {stream!r}. Pass a torch stream, an object with __cuda_stream__, or "
        "a raw handle."
    )
    raise TypeError(msg)


class _Local(threading.local):
    def __init__(self) -> None:
        self.current: Stream | None = None


_local = _Local()
_defaults: dict[int | None, Stream] = {}


def stream(stream: Any = Stream.create_new, device_id: int | None = None) -> Stream:
    """Wrap `stream` (see `Stream`), or make a new one.

    Without an accelerator this raises RuntimeError.

    Examples
    --------
    >>> import daliesque as ndd
    >>> try:
    ...     ndd.stream()
    ... except RuntimeError as error:
    ...     print("no accelerator" in str(error))
    True
    """
    if isinstance(stream, Stream) and device_id in (None, stream.device_id):
        return stream
    return Stream(stream, device_id)


def get_default_stream(device_id: int | None = None) -> Stream | None:
    """The stream set by `set_default_stream` for a device, or this thread's current one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.get_default_stream() is None
    True
    """
    if _local.current is not None:
        return _local.current
    return _defaults.get(device_id)


def set_default_stream(stream: Any, device_id: int | None = None) -> None:
    """Set (None: clear) the stream that contexts of all threads use for a device.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_default_stream(None)
    """
    if stream is None:
        _defaults.pop(device_id, None)
    else:
        _defaults[device_id] = Stream(stream, device_id)


def get_current_stream() -> Stream | None:
    """This thread's stream, or None.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.get_current_stream() is None
    True
    """
    return _local.current


def set_current_stream(stream: Any) -> None:
    """Set (None: clear) the stream that this thread's contexts use.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_current_stream(None)
    """
    _local.current = None if stream is None else Stream(stream)
