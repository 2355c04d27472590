# SPDX-License-Identifier: Apache-2.0
"""Where data lives and operators run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from .. import _kernels
from .devices import gpu_count, loaded_backend, require_backend
from .thread_state import thread


class Device:
    """A device: "cpu", or a "gpu" with its number.

    A device is also a context manager that makes it the current one for this thread.

    Parameters
    ----------
    name
        "cpu", "gpu" or "gpu:<number>" ("cuda" is understood as "gpu").
    device_id
        The number, if `name` does not contain it; None for "cpu". Without a number, "gpu" means
        the current one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.Device("cpu") == ndd.Device.CPU
    True
    """

    CPU: ClassVar[Device]

    __slots__ = ("device_id", "device_type")

    def __init__(self, name: str, device_id: int | None = None) -> None:
        if not isinstance(name, str):
            msg = f"Device: 'name' must be a string such as \"cpu\"; got {name!r}."
            raise TypeError(msg)
        kind, colon, number = name.partition(":")
        if colon:
            if device_id is not None:
                msg = f"Device: the number is given twice, in {name!r} and as {device_id}."
                raise ValueError(msg)
            if not number.isdecimal():
                msg = f'Device: invalid name {name!r}. Use "cpu", "gpu" or "gpu:<number>".'
                raise ValueError(msg)
            device_id = int(number)
        if kind == "cuda":
            kind = "gpu"
        if kind == "mixed":
            msg = 'Device: "mixed" belongs to pipelines; here it is called "gpu".'
            raise ValueError(msg)
        if kind not in ("cpu", "gpu"):
            msg = f'Device: invalid device type {kind!r}. Use "cpu" or "gpu".'
            raise ValueError(msg)
        if kind == "cpu" and device_id is not None:
            msg = f"Device: invalid device id {device_id}: the cpu has no number."
            raise ValueError(msg)
        if kind == "gpu":
            require_backend(f"Device({name!r})")
            if device_id is None:
                device_id = Device.default_device_id("gpu")
            elif not 0 <= device_id < gpu_count():
                msg = (
                    f"Device: invalid device id {device_id}; "
                    f"this machine has the numbers 0 to {gpu_count() - 1}."
                )
                raise ValueError(msg)
        self.device_type = kind
        self.device_id = device_id

    @staticmethod
    def default_device_id(device_type: str) -> int | None:
        """The number of the current device of a type: None for "cpu"."""
        if device_type == "cpu":
            return None
        if device_type != "gpu":
            msg = f'Device: invalid device type {device_type!r}. Use "cpu" or "gpu".'
            raise ValueError(msg)
        for entered in reversed(thread.devices):
            if entered.device_type == "gpu":
                return entered.device_id
        found = loaded_backend()
        return 0 if found is None else found.current_id()

    @staticmethod
    def type_from_dlpack(dev_type: Any) -> str:
        """The device type of a DLPack device number."""
        kind = _DLPACK_TYPES.get(int(dev_type))
        if kind is None:
            msg = f"Device: the DLPack device type {dev_type!r} is not supported."
            raise ValueError(msg)
        return kind

    @staticmethod
    def from_dlpack(dlpack_device: Any) -> Device:
        """The device of an object that speaks DLPack."""
        dev_type, dev_id = dlpack_device.__dlpack_device__()
        kind = Device.type_from_dlpack(dev_type)
        return Device.CPU if kind == "cpu" else Device(kind, int(dev_id))

    @staticmethod
    def current() -> Device:
        """The innermost device entered by this thread, or the default."""
        if thread.devices:
            return thread.devices[-1]
        return Device("gpu") if gpu_count() else Device.CPU

    @staticmethod
    def chosen() -> Device:
        """The innermost device entered by this thread; else the CPU, without a look for others."""
        return thread.devices[-1] if thread.devices else Device.CPU

    if TYPE_CHECKING:

        def __enter__(self) -> Device: ...
        def __exit__(self, *exc_info: object) -> None: ...

    else:
        __enter__ = _kernels.StackMethod(thread, "devices", True)
        __exit__ = _kernels.StackMethod(thread, "devices", False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self.device_type == other.device_type and self.device_id == other.device_id

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __str__(self) -> str:
        return self.device_type + ("" if self.device_id is None else f":{self.device_id}")

    def __repr__(self) -> str:
        number = "" if self.device_id is None else f", device_id={self.device_id}"
        return f"Device(device_type={self.device_type!r}{number})"


# DLPack's numbers: CPU, CUDA, pinned memory, Metal, ROCm and its pinned memory, managed CUDA, SYCL.
_DLPACK_TYPES = {
    1: "cpu",
    2: "gpu",
    3: "cpu",
    8: "gpu",
    10: "gpu",
    11: "cpu",
    13: "gpu",
    14: "gpu",
}


Device.CPU = Device("cpu")

DeviceLike: TypeAlias = Device | str | Any


def device(obj: DeviceLike | None, id: int | None = None) -> Device | None:
    """Make a Device of a name, a `torch.device` or a Device; None stays None.

    Examples
    --------
    >>> import daliesque as ndd
    >>> str(ndd.device("cpu"))
    'cpu'
    """
    if obj is None:
        return None
    if isinstance(obj, str):
        return Device(obj, id)
    if id is not None:
        msg = f"device: 'id' goes with a name only; got {obj!r} and {id}."
        raise ValueError(msg)
    if isinstance(obj, Device):
        return obj
    if type(obj).__module__ == "torch" and type(obj).__name__ == "device":
        return Device.CPU if obj.type == "cpu" else Device("gpu", obj.index)
    msg = f'device: cannot make a device of {obj!r}. Use "cpu", "gpu" or a torch.device.'
    raise TypeError(msg)
