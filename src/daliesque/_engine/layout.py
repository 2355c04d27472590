# SPDX-License-Identifier: Apache-2.0
"""Layout strings: one letter for each axis, e.g. "HWC".

Bodies of operators see images in the layouts that they list. An image with its channels elsewhere,
or without an axis of channels, is brought to a listed layout with the channels last (`Order`), and
results are brought back: CHW becomes HWC and HW becomes HWC with one channel.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from .metadata import Metadata, NotKnown, Shapes
from .samples import Samples

# The number of channels that images usually have at most.
_USUAL_CHANNELS = 4


class Order(NamedTuple):
    """The axes of a value, and their order in the body of an operator."""

    outside: str
    inside: str

    @property
    def adds_channels(self) -> bool:
        """Whether only the body sees an axis of channels."""
        return len(self.outside) < len(self.inside)

    def enter(self, samples: Samples) -> Samples:
        """Samples as the body sees them."""
        if not self.adds_channels:
            axes = [self.outside.index(letter) for letter in self.inside]
            return samples.kernels.transpose(samples, axes, self.inside)
        shapes = samples.shape_array()
        ones = np.ones((len(shapes), 1), np.int64)
        return samples.reshape(np.concatenate((shapes, ones), axis=1), self.inside)

    def leave(self, samples: Samples) -> Samples:
        """A result of the body in the order of the input; other results as they are."""
        if samples.layout != self.inside:
            return samples
        if not self.adds_channels:
            axes = [self.inside.index(letter) for letter in self.outside]
            return samples.kernels.transpose(samples, axes, self.outside)
        shapes = samples.shape_array()
        if (shapes[:, -1] != 1).any():
            return samples
        return samples.reshape(np.ascontiguousarray(shapes[:, :-1]), self.outside)

    def announce_inside(self, metadata: Metadata) -> Metadata:
        """The metadata of samples as the body sees them."""
        ndim = len(self.inside)
        axes = [self.outside.find(letter) for letter in self.inside]

        def find_shapes() -> Shapes:
            # The last column is what an axis that is not there (-1) finds.
            known = np.pad(metadata.shapes, ((0, 0), (0, 1)), constant_values=1)
            return known[:, axes]

        return Metadata(metadata.known_dtype, ndim, self.inside, find_shapes)

    def announce_outside(self, metadata: Metadata) -> Metadata:
        """The metadata of a result, from what is known of it inside of the body."""
        if metadata.known_layout is None:
            return Metadata(metadata.known_dtype, None, None)
        if metadata.known_layout != self.inside:
            return metadata
        axes = [self.inside.index(letter) for letter in self.outside]
        if self.adds_channels:
            try:
                if (metadata.shapes[:, -1] != 1).any():
                    return metadata
            except NotKnown:
                # Whether there is one channel decides about the axes.
                return Metadata(metadata.known_dtype, None, None)
        return Metadata(
            metadata.known_dtype, len(axes), self.outside, lambda: metadata.shapes[:, axes]
        )


def check_layout(layout: str | None, ndim: int, where: str) -> str:
    """Return `layout` ("" for None) if it suits an array of `ndim` axes."""
    if layout is None or layout == "":
        return ""
    if not isinstance(layout, str):
        msg = f"{where}: 'layout' must be a string such as \"HWC\"; got {layout!r}."
        raise TypeError(msg)
    if len(layout) != ndim:
        msg = (
            f"{where}: 'layout' needs one letter for each of the dimensions; "
            f"got {layout!r} for {ndim}."
        )
        raise ValueError(msg)
    return layout


@functools.lru_cache(maxsize=1024)
def find_order(given: str, ndim: int, allowed: tuple[str, ...], where: str) -> Order:
    """The layout of an input of an operator, and the one of `allowed` that its body sees.

    An input without a layout is given the first allowed one with the right number of axes.
    """
    if given:
        inside = _seen_as(given, allowed)
        if inside is not None:
            return Order(given, inside)
        msg = f"{where}: the layout {given!r} is not supported. Use one of {_names(allowed)}."
        raise ValueError(msg)
    for candidate in allowed:
        if len(candidate) == ndim:
            return Order(candidate, candidate)
    for inside in allowed:
        if inside.endswith("C") and len(inside) == ndim + 1:
            return Order(inside[:-1], inside)
    msg = (
        f"{where}: the input has {ndim} {'axis' if ndim == 1 else 'axes'}, which suits none of "
        f"the layouts {_names(allowed)}."
    )
    raise ValueError(msg)


def _seen_as(layout: str, allowed: tuple[str, ...]) -> str | None:
    """The allowed layout that an operator sees data of another layout in."""
    if layout in allowed:
        return layout
    inside = layout.replace("C", "", 1) + "C"
    return inside if inside in allowed and len(inside) - len(layout) in (0, 1) else None


def _names(allowed: tuple[str, ...]) -> str:
    """The layouts that operators take whose bodies see those of `allowed`."""
    names = list(allowed)
    for layout in allowed:
        if layout.endswith("HWC"):
            names += [layout[:-3] + "CHW", layout[:-1]]
    return ", ".join(dict.fromkeys(names))


def check_assumed(order: Order, samples: Samples, where: str) -> None:
    """Refuse images without a layout of which each looks as if its channels came first.

    Taken as HWC, a shape such as (3, 224, 224) has more channels than images have. What has few
    channels that way is HWC, as in the reference.
    """
    layout = order.outside
    if not layout.endswith("HWC") or not len(samples):
        return
    if samples.shape(0)[-1] <= _USUAL_CHANNELS:
        return
    shapes = samples.shape_array()
    looks_first = (shapes[:, -3] <= _USUAL_CHANNELS) & (shapes[:, -1] > _USUAL_CHANNELS)
    if looks_first.all():
        other = layout[:-3] + "CHW"
        msg = (
            f"{where}: the input has no layout, and its shape could mean {other} as well as "
            f'{layout}; got {tuple(shapes[0].tolist())} (sample 0). Pass layout="{other}" or '
            f'layout="{layout}" to ndd.as_tensor or ndd.as_batch.'
        )
        raise ValueError(msg)
