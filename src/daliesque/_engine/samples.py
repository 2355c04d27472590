# SPDX-License-Identifier: Apache-2.0
"""What the engine and the bodies of operators may use of data, wherever it is.

`_kernels.Samples` holds arrays in CPU memory. A backend (see `devices`) has a class of its own for
arrays on a device. Both satisfy `Samples`, and each of their objects knows the `kernels` for its
data: functions of the same names and parameters for all devices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, cast, overload

import numpy as np
from numpy.typing import NDArray

from .. import _kernels

if TYPE_CHECKING:
    from .device import Device
    from .kernels import Kernels as Kernels
else:
    # The table of functions is described by a stub, of which nothing is ever executed.
    Kernels = Any

# Samples in CPU memory. A body that reads an input's elements itself annotates it with this.
HostSamples: TypeAlias = _kernels.Samples
# The functions for data in CPU memory.
host_kernels: Kernels = cast("Kernels", _kernels)


class Samples(Protocol):
    """N arrays of one element type and number of axes; shapes may differ."""

    @property
    def kernels(self) -> Kernels:
        """The functions for this data."""

    @property
    def is_on_device(self) -> bool:
        """Whether the data is elsewhere than in CPU memory."""

    @property
    def type_id(self) -> int: ...

    @property
    def ndim(self) -> int: ...

    @property
    def layout(self) -> str: ...

    @property
    def itemsize(self) -> int: ...

    @property
    def volume(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def shapes(self) -> list[tuple[int, ...]]: ...

    @property
    def uniform(self) -> bool: ...

    @property
    def packed(self) -> bool: ...

    @property
    def contiguous(self) -> bool: ...

    @property
    def readonly(self) -> bool: ...

    @property
    def external(self) -> bool: ...

    def __len__(self) -> int: ...

    def shape(self, index: int) -> tuple[int, ...]: ...

    def shape_array(self) -> NDArray[np.int64]: ...

    def pointer(self, index: int) -> int: ...

    def select(self, indices: Sequence[int]) -> Samples: ...

    def sample(self, index: int) -> Samples: ...

    def with_layout(self, layout: str) -> Samples: ...

    def as_internal(self) -> Samples: ...

    def unfold(self) -> Samples: ...

    def fold(self, counts: Sequence[int], layout: str) -> Samples: ...

    @overload
    def reshape(self, shapes: NDArray[np.int64], layout: str) -> Samples: ...

    @overload
    def reshape(self, type_id: int, shapes: NDArray[np.int64], layout: str) -> Samples: ...

    def stack_view(self) -> Samples: ...

    def reinterpret(self, type_id: int) -> Samples: ...

    def slice(self, ranges: NDArray[np.int64], dropped: Sequence[bool], layout: str) -> Samples: ...

    def copy(self) -> Samples: ...

    def padded(self) -> Samples: ...

    @overload
    def empty_like(self) -> Samples: ...

    @overload
    def empty_like(self, type_id: int) -> Samples: ...


class RemoteSamples(Samples, Protocol):
    """Samples that are not in CPU memory."""

    @property
    def device(self) -> Device: ...

    def to_host(self) -> HostSamples:
        """A copy in CPU memory; waits for it."""


def is_samples(value: object) -> TypeGuard[Samples]:
    """Whether an object is samples, wherever they are."""
    return hasattr(value, "is_on_device")


def is_remote(samples: Samples) -> TypeGuard[RemoteSamples]:
    """Whether samples are elsewhere than in CPU memory."""
    return samples.is_on_device


def host(samples: Samples) -> HostSamples:
    """Samples in CPU memory, for what must be read there; waits for the device."""
    return samples.to_host() if is_remote(samples) else cast("HostSamples", samples)


def common_kernels(parts: Sequence[Samples]) -> Kernels:
    """The functions for data of which some may be on a device."""
    for part in parts:
        if part.is_on_device:
            return part.kernels
    return parts[0].kernels


if TYPE_CHECKING:
    _native: type[Samples] = _kernels.Samples
