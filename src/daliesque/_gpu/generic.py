# SPDX-License-Identifier: Apache-2.0
"""Copies, types and the order of samples on accelerators."""

from __future__ import annotations

from typing import Any

from .. import _kernels
from .._engine.op import registry
from .._engine.rng import RNGState
from .arithmetic import nothing_like
from .groups import Group
from .numbers import converted
from .ragged import elementwise
from .random import draw
from .samples import DeviceSamples


def cast(samples: DeviceSamples, type_id: int) -> DeviceSamples:
    """Convert to another type, rounding and clamping."""
    # The native kernel knows which types do not go together.
    _kernels.cast(nothing_like(samples), type_id)
    source = samples.type_id
    return elementwise(
        samples, lambda rows: converted(rows.data, source, type_id), 0, type_id=type_id
    )


def join(parts: list[Any]) -> DeviceSamples:
    """The samples of several Samples."""
    first = parts[0]
    groups, begin = [], 0
    for part in parts:
        if not isinstance(part, DeviceSamples) or part.device != first.device:
            msg = "all samples of a batch must be on one device. Move them with .gpu() or .cpu()."
            raise ValueError(msg)
        part.make_ready(first.queue)
        groups += [Group(group.indices + begin, group.data) for group in part.groups]
        begin += len(part)
    with first.working():
        joined: DeviceSamples = first.made(groups)
    joined.memory.external = any(part.external for part in parts)
    return joined


def batch_permutation(
    out: DeviceSamples, state: RNGState, repetitions: bool, no_fixed_points: bool
) -> None:
    """A random order of the samples of a batch."""
    draw(out, _kernels.batch_permutation, state, repetitions, no_fixed_points)


def dump_image(images: DeviceSamples, /, **arguments: Any) -> DeviceSamples:
    """Write images to files, for which they must be read on the CPU, and pass them on."""
    registry["dump_image"].body(images.to_host(), **arguments)
    return images
