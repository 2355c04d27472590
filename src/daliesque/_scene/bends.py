# SPDX-License-Identifier: Apache-2.0
"""What operators that bend images do to coordinates, from their arguments."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.dtype import float32
from .._engine.samples import HostSamples, host, host_kernels
from .._ops.displacement import elastic_displacements, grid_nodes
from .._ops.remap import map_coordinates
from .._shapes.windows import Border, Integers
from .call import Call
from .fields import Flow, GlassBall, Grid, Wave, Waves
from .geometry import Geometry, pick

_NEAREST = _kernels.WarpInterp.nearest


def fill_border(call: Call) -> Border:
    """What lies outside of images, by the argument `fill_value`."""
    return Border.clamp if call["fill_value"] is None else Border.constant


def water(call: Call) -> Geometry:
    """Waves on water."""
    flags = call["mask"]
    x, y = (Wave(*(call[f"{name}_{axis}"] for name in ("ampl", "freq", "phase"))) for axis in "xy")

    def take(masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        return _kernels.water(masks, pick(flags, owner), _NEAREST, fill, list(x), list(y))

    return Waves(call.sizes, flags, (x, y), take)


def sphere(call: Call) -> Geometry:
    """A glass ball."""
    flags = call["mask"]

    def take(masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        return _kernels.sphere(masks, pick(flags, owner), _NEAREST, fill)

    return GlassBall(call.sizes, flags, take)


def remap(call: Call) -> Geometry:
    """Positions that arrays name, as displacements."""
    mapx, mapy = call.others
    assert mapx is not None
    assert mapy is not None
    maps = map_coordinates(mapx, mapy, call["pixel_origin"])
    across, down, shift = host(maps[0]), host(maps[1]), maps[2]
    sizes = across.shape_array()

    def take(masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        del fill
        numbers = owner.tolist()
        x, y = across.select(numbers), down.select(numbers)
        return _kernels.warp_map(masks, x, y, sizes[owner], shift, _NEAREST)

    shapes = np.ascontiguousarray(np.column_stack([sizes, np.full(len(sizes), 2)]))
    flow = _kernels.empty(float32.code, shapes, "", len(sizes))
    for number, (height, width) in enumerate(sizes.tolist()):
        y, x = np.mgrid[:height, :width] + 0.5 - shift
        target = to_numpy(flow, number)
        target[..., 0] = to_numpy(across, number) - x
        target[..., 1] = to_numpy(down, number) - y
    return Flow(flow, np.ones(1, np.float32), sizes, take)


def elastic_transform(call: Call) -> Geometry:
    """Random displacements."""
    (given,) = call.others
    flow, scale = elastic_displacements(
        host_kernels, call.all_sizes, given, call["alpha"], call["sigma"], call["rng"]
    )
    found, border = host(flow), fill_border(call)

    def take(masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        chosen = found.select(owner.tolist())
        return _kernels.warp_flow(masks, chosen, pick(scale, owner), _NEAREST, border, [fill])

    return Flow(found, scale, call.sizes, take)


def grid_distortion(call: Call) -> Geometry:
    """Cells of a grid, stretched and shrunk."""
    (given,) = call.others
    names = ("num_steps", "distort_limit", "rng")
    nodes = grid_nodes(call.all_sizes, given, *(call[name] for name in names))
    border = fill_border(call)

    def take(masks: HostSamples, owner: Integers, fill: float) -> HostSamples:
        return _kernels.warp_grid(masks, nodes.select(owner.tolist()), _NEAREST, border, [fill])

    return Grid(nodes, call.all_sizes, take)
