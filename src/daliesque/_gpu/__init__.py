# SPDX-License-Identifier: Apache-2.0
"""Data on accelerators, in torch: the backend that is loaded when somebody asks for a gpu.

The bodies of operators are the same for all devices: they check arguments and find out windows,
sizes and weights on the host. What differs are the kernels, which they find through their data.
`kernels` is the table of them: each has the name and the parameters of a native one. Which
operators run on a gpu follows from it (see `operators`).

Kernels never wait for the device: everything that decides about shapes is known on the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._engine.devices import Backend


def load() -> Backend | str:
    """The backend for the accelerators of this machine, or the reason why there is none."""
    from . import accelerator

    found = accelerator.find_kind()
    if isinstance(found, str):
        return found
    # All of this imports torch.
    from .backend import TorchBackend

    return TorchBackend(found.name, found.count, found.queues)
