# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work on an accelerator."""

from __future__ import annotations

from typing import Any, ClassVar

from .device import Device
from .devices import require_backend
from .thread_state import thread


class Stream:
    """A queue of work on an accelerator.

    Parameters
    ----------
    stream
        A stream of torch, an object with `__cuda_stream__`, or a raw handle to wrap. By default a
        new stream is made.
    device_id
        The accelerator the stream belongs to; by default the one it says, or the current one.
    """

    create_new: ClassVar[object] = object()

    __slots__ = ("_device_id", "_handle", "_keep", "queue")

    def __init__(self, stream: Any = create_new, device_id: int | None = None) -> None:
        queues = require_backend("Stream").queues
        if stream is None:
            msg = "Stream: 'stream' must not be None. Leave it out to make a new stream."
            raise ValueError(msg)
        found = _device_of(stream)
        if device_id is not None and found is not None and device_id != found:
            msg = f"Stream: the device id {device_id} clashes with the stream's {found}."
            raise ValueError(msg)
        for known in (device_id, found, Device.default_device_id("gpu")):
            if known is not None:
                self._device_id: int = known
                break
        # Who wraps a stream keeps it alive.
        self._keep = stream
        if stream is Stream.create_new:
            self.queue = queues.make(self._device_id)
        elif isinstance(stream, Stream):
            self.queue = stream.queue
        elif queues.accepts(stream):
            self.queue = stream
        else:
            self.queue = queues.wrap(stream_handle(stream), self._device_id, stream)
        self._handle = queues.handle(self.queue)

    @property
    def handle(self) -> int:
        """The raw handle."""
        return self._handle

    @property
    def device_id(self) -> int:
        """The number of the accelerator."""
        return self._device_id

    def synchronize(self) -> None:
        """Wait until all work in the stream is done."""
        require_backend("Stream").queues.synchronize(self.queue)

    def __cuda_stream__(self) -> tuple[int, int]:
        return (0, self._handle)

    def __eq__(self, other: object) -> bool:
        """Whether `other`, anything that can be wrapped, is the same stream."""
        try:
            handle = stream_handle(other)
        except TypeError:
            return NotImplemented
        return handle == self._handle and _device_of(other) in (None, self._device_id)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Stream(handle={self._handle:#x}, device_id={self._device_id})"


def torch_handle(stream: object) -> int | None:
    """The raw handle of a stream of torch, for a kind of device or for any; None for others."""
    for name in ("cuda_stream", "sycl_queue", "native_handle"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return None


def _device_of(stream: Any) -> int | None:
    """The number of the accelerator that a stream says it belongs to."""
    number = getattr(stream, "device_id", None)
    if isinstance(number, int):
        return number
    device = getattr(stream, "device", None)
    number = device if isinstance(device, int) else getattr(device, "index", None)
    return number if isinstance(number, int) else None


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
    known = torch_handle(stream)
    if known is not None:
        return known
    msg = (
        f"Stream: cannot wrap {stream!r}. Pass a torch stream, an object with __cuda_stream__, or "
        "a raw handle."
    )
    raise TypeError(msg)


_defaults: dict[int | None, Stream] = {}


def stream(stream: Any = Stream.create_new, device_id: int | None = None) -> Stream | None:
    """Wrap `stream` (see `Stream`), or make a new one; None stays None.

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
    if stream is None or (isinstance(stream, Stream) and device_id in (None, stream.device_id)):
        return stream
    return Stream(stream, device_id)


def get_default_stream(device_id: int | None = None) -> Stream | None:
    """The stream set by `set_default_stream` for a device, or None.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.get_default_stream() is None
    True
    """
    if device_id is None and _defaults:
        device_id = Device.default_device_id("gpu")
    return _defaults.get(device_id)


def chosen_stream(device_id: int | None) -> Stream | None:
    """The stream of this thread for a device, or the default, or None."""
    current = thread.stream
    if current is not None and device_id in (None, current.device_id):
        return current
    return get_default_stream(device_id)


def set_default_stream(cuda_stream: Any, device_id: int | None = None) -> None:
    """Set (None: clear) the stream that contexts of all threads use for a device.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_default_stream(None)
    """
    wrapped = stream(cuda_stream, device_id)
    if wrapped is not None:
        _defaults[wrapped.device_id] = wrapped
    elif _defaults:
        _defaults.pop(Device.default_device_id("gpu") if device_id is None else device_id, None)


def set_current_stream(cuda_stream: Any) -> None:
    """Set (None: clear) the stream for this thread: for what runs outside of contexts, and in those
    that it makes from now on.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.set_current_stream(None)
    """
    thread.stream = stream(cuda_stream)
