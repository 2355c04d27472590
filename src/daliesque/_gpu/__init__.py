# SPDX-License-Identifier: Apache-2.0
"""Kernels for data on accelerators, in torch. Loaded when somebody asks for a gpu.

The bodies of operators are the same for all devices: they check arguments and find out windows,
sizes and weights on the host. What differs are the kernels that they call. Each module here holds
counterparts of native kernels, by the same names and with the same arguments, and says which
operators they are enough for.

Kernels never wait for the device: everything that decides about shapes is known on the host.
"""

from . import (
    arithmetic,
    audio,
    boxes,
    clahe,
    color,
    compose,
    debayer,
    decode,
    fill,
    filters,
    jpeg,
    lookup,
    moves,
    random,
    reduce,
    resize,
    warp,
)
from .table import install, uninstall

__all__ = [
    "arithmetic",
    "audio",
    "boxes",
    "clahe",
    "color",
    "compose",
    "debayer",
    "decode",
    "fill",
    "filters",
    "install",
    "jpeg",
    "lookup",
    "moves",
    "random",
    "reduce",
    "resize",
    "uninstall",
    "warp",
]
