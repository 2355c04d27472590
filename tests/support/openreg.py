# SPDX-License-Identifier: Apache-2.0
"""torch's own simulated accelerator, `torch_openreg`, as the gpu; see `make test-openreg`.

It has torch's real dispatcher, streams, events and pinned memory, two devices of which each thread
has a current one, and memory that a process may not touch but through them: the host that reads it
is killed. What it lacks is computed on the CPU behind the dispatcher.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
import torch_openreg  # noqa: F401

from daliesque._gpu.backend import TorchBackend
from daliesque._gpu.queues import TorchQueues

KIND = "openreg"


# What it does not have, and cannot leave to the CPU: views of complex numbers, and `1 - x`, whose
# result would stay there.
_library = torch.library.Library("aten", "IMPL")


def _subtracted_from(self: torch.Tensor, other: float, alpha: float = 1) -> torch.Tensor:
    kind = self.dtype if self.is_floating_point() else None
    return torch.sub(torch.tensor(other, dtype=kind, device=self.device), self, alpha=alpha)


def _as_real(self: torch.Tensor) -> torch.Tensor:
    kind = torch.float32 if self.dtype == torch.complex64 else torch.float64
    return self.view(kind).unflatten(-1, (-1, 2))


_library.impl("view_as_real", _as_real, "PrivateUse1")
_library.impl("rsub.Scalar", _subtracted_from, "PrivateUse1")


class _Backend:
    """What `torch.cuda` is for CUDA, out of what torch has for all accelerators."""

    Stream = torch.Stream

    @staticmethod
    def device(number: int) -> contextlib.AbstractContextManager[Any]:
        entered: contextlib.AbstractContextManager[Any] = torch.openreg.device(number)
        return entered

    @staticmethod
    def current_stream(number: int) -> torch.Stream:
        return torch.accelerator.current_stream(number)

    @staticmethod
    def stream(queue: torch.Stream) -> torch.Stream:
        return queue

    @staticmethod
    def Event(enable_timing: bool = False) -> torch.Event:
        return torch.Event(KIND, enable_timing=enable_timing)


class _Queues(TorchQueues):
    def make(self, device_id: int) -> torch.Stream:
        return torch.Stream(torch.device(KIND, device_id))

    def handle(self, queue: torch.Stream) -> int:
        # The backend refuses to give handles of its own.
        return int(queue.stream_id)

    def use(self, queue: torch.Stream, tensor: torch.Tensor) -> None:
        # Its allocator does not know streams.
        del queue, tensor


class OpenRegAccelerator(TorchBackend):
    """Two devices that torch itself simulates."""

    def __init__(self) -> None:
        super().__init__(KIND, torch.accelerator.device_count(), _Queues(_Backend()))
        self._pins = True
