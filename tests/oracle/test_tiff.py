# SPDX-License-Identifier: Apache-2.0
"""TIFFs that the reference gives to its second reader: with an orientation, planar, not RGB, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from support.compare import assert_close, assert_same
from support.image_makers import Array, save, tiff
from support.oracle import ours, reference

pytestmark = pytest.mark.oracle

HEIGHT, WIDTH = 33, 47
IMAGE_TYPES = {"RGB": 0, "BGR": 1, "GRAY": 2, "YCbCr": 3, "ANY_DATA": 4}
ELEMENT_TYPES = ["uint8", "uint16", "int16", "float32"]
Maker = Callable[[dict[int, Any]], bytes]


def noise(channels: int, bits: int = 8) -> Array:
    values = np.random.default_rng(channels).integers(0, 1 << bits, (HEIGHT, WIDTH, channels))
    return values.astype(np.uint8 if bits <= 8 else np.uint16)


def maker(
    channels: int, bits: int, photometric: int, tags: dict[int, Any] | None = None, **options: Any
) -> Maker:
    source = noise(channels, bits)
    return lambda more: tiff(source, bits, photometric, tags={**(tags or {}), **more}, **options)


def palette(bits: int, top: int) -> Maker:
    colors = np.random.default_rng(bits).integers(0, top, 3 << bits).tolist()
    return maker(1, bits, 3, {320: colors})


FILES: dict[str, Maker] = {
    "rgb": maker(3, 8, 2),
    "rgb strips": maker(3, 8, 2, compression=5, rows_per_strip=8),
    "rgb planar": maker(3, 8, 2, planar=True),
    "rgb fill order": maker(3, 8, 2, {266: [2]}),
    "rgb 10": maker(3, 10, 2),
    "rgb 12": maker(3, 12, 2),
    "rgb 14": maker(3, 14, 2),
    "rgb 16": maker(3, 16, 2, order=">"),
    "rgb 16 big": maker(3, 16, 2, order=">", big=True),
    "rgb 16 tiles": maker(3, 16, 2, tile=(16, 32)),
    "rgb 16 odd tiles": maker(3, 16, 2, tile=(24, 24)),
    "rgb 16 fill order": maker(3, 16, 2, {266: [2]}),
    "gray": maker(1, 8, 1),
    "gray 1": maker(1, 1, 1),
    "gray 12": maker(1, 12, 1),
    "gray 16": maker(1, 16, 1),
    "white is zero": maker(1, 8, 0),
    "white is zero 1": maker(1, 1, 0),
    "white is zero 16": maker(1, 16, 0),
    "cmyk": maker(4, 8, 5),
    "cmyk planar": maker(4, 8, 5, planar=True),
    "lab": maker(3, 8, 8),
    "ycbcr": maker(3, 8, 6, {530: [1, 1]}),
    "palette": palette(8, 65536),
    "palette 4": palette(4, 65536),
    "palette of bytes": palette(8, 256),
    "jpeg": lambda more: save(noise(3), "TIFF", compression="jpeg", tiffinfo=single(more)),
}
for extra, name in enumerate(["extra", "multiplied alpha", "straight alpha"]):
    FILES[f"rgb {name}"] = maker(4, 8, 2, {338: [extra]})
    FILES[f"rgb planar {name}"] = maker(4, 8, 2, {338: [extra]}, planar=True)
    FILES[f"rgb 16 {name}"] = maker(4, 16, 2, {338: [extra]})


def single(tags: dict[int, Any]) -> dict[int, Any]:
    return {tag: values[0] for tag, values in tags.items()}


def compare(data: bytes, operator: str, **arguments: Any) -> None:
    encoded = np.frombuffer(data, np.uint8)
    results = []
    for library in (reference, ours):
        options = dict(arguments)
        if "dtype" in options:
            options["dtype"] = getattr(library, options["dtype"])
        decoder = getattr(library.decoders, operator)
        results.append(np.asarray(decoder(library.as_tensor(encoded), **options)))
    if arguments.get("dtype") == "float32":
        # What the reference decodes as 16 bits may come as 8 here; the last bit differs.
        assert_close(results[1], results[0], "last bits")
    else:
        assert_same(results[1], results[0], arguments)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("orientation", range(1, 9))
def test_images(kind: str, orientation: int) -> None:
    # Without a tag there is no orientation either.
    data = FILES[kind]({} if orientation == 1 else {274: [orientation]})
    for number in IMAGE_TYPES.values():
        for dtype in ELEMENT_TYPES:
            compare(data, "image", output_type=number, dtype=dtype)
        compare(data, "image_slice", output_type=number, start=[3, 5], end=[25, 21])


@pytest.mark.parametrize("kind", ["rgb", "rgb straight alpha", "rgb 16", "gray", "palette"])
def test_orientation_off(kind: str) -> None:
    for orientation in range(2, 9):
        data = FILES[kind]({274: [orientation]})
        for number in IMAGE_TYPES.values():
            compare(data, "image", output_type=number, adjust_orientation=False)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("alpha", [0, 1, 2])
def test_gray_with_alpha(bits: int, alpha: int) -> None:
    for planar in (False, True):
        for orientation in range(1, 9):
            data = maker(2, bits, 1, {338: [alpha]}, planar=planar)({274: [orientation]})
            compare(data, "image", output_type=IMAGE_TYPES["GRAY"], dtype="uint16")
            if orientation > 1 or planar:
                # Otherwise the reference reads the pixels beside as colors.
                compare(data, "image", dtype="uint16")
