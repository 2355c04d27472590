# SPDX-License-Identifier: Apache-2.0
"""A baseline JPEG decoder in plain Python and NumPy, slow and obvious.

It follows ITU-T T.81 and, where that leaves freedom (inverse DCT, upsampling, color), the integer
formulas of the libjpeg family. One scan with all components; no error handling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ZIGZAG = sorted(
    ((row, column) for row in range(8) for column in range(8)),
    key=lambda rc: (sum(rc), rc[0] if sum(rc) % 2 else rc[1]),
)


@dataclass
class Component:
    """What the headers say of a component, and its samples."""

    h: int
    v: int
    quant: int
    dc: int = 0
    ac: int = 0
    plane: Array = field(default_factory=lambda: np.empty(0))


@dataclass
class Image:
    width: int = 0
    height: int = 0
    restart_interval: int = 0
    components: dict[int, Component] = field(default_factory=dict)
    quant: dict[int, Array] = field(default_factory=dict)
    huffman: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)


class Bits:
    """Bits of one restart interval."""

    def __init__(self, data: bytes) -> None:
        plain = data.replace(b"\xff\x00", b"\xff")
        self.bits = np.unpackbits(np.frombuffer(plain, np.uint8)).tolist()
        self.at = 0

    def take(self, count: int) -> int:
        value = 0
        for bit in self.bits[self.at : self.at + count]:
            value = value * 2 + bit
        self.at += count
        return value

    def symbol(self, codes: dict[tuple[int, int], int]) -> int:
        code = 0
        for length in range(1, 17):
            code = code * 2 + self.take(1)
            if (length, code) in codes:
                return codes[length, code]
        message = "bad code"
        raise ValueError(message)

    def signed(self, size: int) -> int:
        value = self.take(size)
        return value if size == 0 or value >= 1 << (size - 1) else value - (1 << size) + 1


def read_huffman(body: bytes, image: Image) -> None:
    while body:
        counts, body_after = body[1:17], body[17:]
        code, codes = 0, {}
        for length, count in enumerate(counts, start=1):
            for _ in range(count):
                codes[length, code] = body_after[len(codes)]
                code += 1
            code *= 2
        image.huffman[body[0]] = codes
        body = body_after[len(codes) :]


def read_headers(data: bytes) -> tuple[Image, int]:
    """The headers and where the scan starts."""
    image, at = Image(), 2
    while True:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        body = data[at + 4 : at + 2 + length]
        at += 2 + length
        if marker == 0xDB:
            while body:
                table = np.zeros((8, 8), np.int64)
                for index, value in zip(ZIGZAG, body[1:65], strict=True):
                    table[index] = value
                image.quant[body[0]], body = table, body[65:]
        elif marker == 0xC4:
            read_huffman(body, image)
        elif marker in (0xC0, 0xC1):
            image.height, image.width = (int.from_bytes(body[i : i + 2], "big") for i in (1, 3))
            for entry in (body[i : i + 3] for i in range(6, len(body), 3)):
                image.components[entry[0]] = Component(entry[1] >> 4, entry[1] & 15, entry[2])
        elif marker == 0xDD:
            image.restart_interval = int.from_bytes(body, "big")
        elif marker == 0xDA:
            for name, tables in zip(body[1:-3:2], body[2:-3:2], strict=True):
                image.components[name].dc = tables >> 4
                image.components[name].ac = tables & 15
            return image, at


def restart_intervals(data: bytes) -> list[bytes]:
    """The scan cut at its markers."""
    parts, start, at = [], 0, 0
    while True:
        at = data.index(b"\xff", at)
        if data[at + 1] != 0:
            parts.append(data[start:at])
            if not 0xD0 <= data[at + 1] <= 0xD7:
                return parts
            start = at + 2
        at += 2


def idct_pass(values: Array, shift: int) -> Array:
    """The 1-D inverse DCT along the first axis, rounded and shifted down."""
    fixed = {
        name: round(value * 8192)
        for name, value in {
            "c6": 0.541196100,
            "c2-c6": 0.765366865,
            "c2+c6": 1.847759065,
            "c3": 1.175875602,
            "a": 0.298631336,
            "b": 2.053119869,
            "c": 3.072711026,
            "d": 1.501321110,
            "e": 0.899976223,
            "f": 2.562915447,
            "g": 1.961570560,
            "h": 0.390180644,
        }.items()
    }
    i0, i1, i2, i3, i4, i5, i6, i7 = values
    z = (i2 + i6) * fixed["c6"]
    even2, even3 = z - i6 * fixed["c2+c6"], z + i2 * fixed["c2-c6"]
    even0, even1 = (i0 + i4) * 8192, (i0 - i4) * 8192
    sums = [even0 + even3, even1 + even2, even1 - even2, even0 - even3]
    z5 = (i7 + i3 + i5 + i1) * fixed["c3"]
    z1, z2 = -(i7 + i1) * fixed["e"], -(i5 + i3) * fixed["f"]
    z3, z4 = z5 - (i7 + i3) * fixed["g"], z5 - (i5 + i1) * fixed["h"]
    odd = [
        i1 * fixed["d"] + z1 + z4,
        i3 * fixed["c"] + z2 + z3,
        i5 * fixed["b"] + z2 + z4,
        i7 * fixed["a"] + z1 + z3,
    ]
    out = [s + o for s, o in zip(sums, odd, strict=True)]
    out += [s - o for s, o in zip(sums[::-1], odd[::-1], strict=True)]
    return np.stack([(value + (1 << (shift - 1))) >> shift for value in out])


def idct(block: Array) -> Array:
    columns_done = idct_pass(block, 11)
    return np.clip(idct_pass(columns_done.T, 18).T + 128, 0, 255)


def fast_table(quant: Array) -> Array:
    """A quantization table with the scale factors of the fast transform, and 2 bits more."""
    factors = [1.0] + [np.cos(k * np.pi / 16) * np.sqrt(2) for k in range(1, 8)]
    scales = np.floor(np.outer(factors, factors) * 16384 + 0.5).astype(np.int64)
    scaled: Array = (quant * scales + 2048) >> 12
    return scaled


def fast_idct_pass(values: Array) -> Array:
    """The 1-D transform of Arai, Agui and Nakajima along the first axis, with 8-bit constants."""
    i0, i1, i2, i3, i4, i5, i6, i7 = values
    rotated = ((i2 - i6) * 362 >> 8) - i2 - i6
    even = [i0 + i4 + i2 + i6, i0 - i4 + rotated, i0 - i4 - rotated, i0 + i4 - i2 - i6]
    z5 = (i5 - i3 + i1 - i7) * 473 >> 8
    odd0 = i1 + i7 + i5 + i3
    odd1 = ((i5 - i3) * -669 >> 8) + z5 - odd0
    odd2 = ((i1 + i7 - i5 - i3) * 362 >> 8) - odd1
    odd3 = -(((i1 - i7) * 277 >> 8) - z5 + odd2)
    pairs = list(zip(even, [odd0, odd1, odd2, odd3], strict=True))
    return np.stack([e + o for e, o in pairs] + [e - o for e, o in reversed(pairs)])


def fast_idct(block: Array) -> Array:
    return np.clip((fast_idct_pass(fast_idct_pass(block).T).T >> 5) + 128, 0, 255)


def read_block(bits: Bits, image: Image, component: Component, previous: int) -> tuple[Array, int]:
    block = np.zeros((8, 8), np.int64)
    dc = previous + bits.signed(bits.symbol(image.huffman[component.dc]))
    block[0, 0] = dc
    k = 1
    while k < 64:
        symbol = bits.symbol(image.huffman[16 + component.ac])
        zeros, size = symbol >> 4, symbol & 15
        if size == 0 and zeros < 15:
            break
        k += zeros
        block[ZIGZAG[k]] = bits.signed(size)
        k += 1
    return block * image.quant[component.quant], dc


def decode(data: bytes, fast: bool = False) -> Image:
    """The image with the sample planes of its components, not yet upsampled."""
    image, scan = read_headers(data)
    transform = fast_idct if fast else idct
    if fast:
        image.quant = {number: fast_table(table) for number, table in image.quant.items()}
    components = list(image.components.values())
    if len(components) == 1:
        components[0].h = components[0].v = 1
    h_max, v_max = max(c.h for c in components), max(c.v for c in components)
    columns, rows = -(-image.width // (8 * h_max)), -(-image.height // (8 * v_max))
    for c in components:
        c.plane = np.zeros((rows * c.v * 8, columns * c.h * 8), np.uint8)
    interval = image.restart_interval or rows * columns
    for part, segment in enumerate(restart_intervals(data[scan:])):
        bits, previous = Bits(segment), [0] * len(components)
        for mcu in range(part * interval, min((part + 1) * interval, rows * columns)):
            top, left = divmod(mcu, columns)
            for i, c in enumerate(components):
                for y, x in np.ndindex(c.v, c.h):
                    block, previous[i] = read_block(bits, image, c, previous[i])
                    r, s = (top * c.v + y) * 8, (left * c.h + x) * 8
                    c.plane[r : r + 8, s : s + 8] = transform(block)
    for c in components:
        height, width = -(-image.height * c.v // v_max), -(-image.width * c.h // h_max)
        c.plane = c.plane[:height, :width]
    return image


def triangle(plane: Array, axis: int, scale: int) -> Array:
    """Twice the samples along `axis`: three parts of the nearer, one of the farther; times 4."""
    padded = np.pad(plane, [(1, 1) if i == axis else (0, 0) for i in range(2)], "edge") * scale
    size = plane.shape[axis]
    before, after = padded.take(range(size), axis), padded.take(range(2, size + 2), axis)
    near = 3 * plane * scale
    pairs = np.stack([near + before, near + after], axis + 1)
    shape = [n * 2 if i == axis else n for i, n in enumerate(plane.shape)]
    return pairs.reshape(shape)


def alternate(first: int, second: int, length: int) -> Array:
    return np.where(np.arange(length) % 2 == 0, first, second)


def upsample(plane: Array, h: int, v: int, fancy: bool) -> Array:
    """Brings a plane to `h` and `v` times its size, as libjpeg does."""
    wide = plane.astype(np.int64)
    filters = fancy and (h, v) in ((2, 1), (1, 2), (2, 2)) and (h == 1 or plane.shape[1] > 2)
    if not filters:
        return wide.repeat(v, 0).repeat(h, 1)
    if (h, v) == (2, 1):
        sums = triangle(wide, 1, 1)
        return (sums + alternate(1, 2, sums.shape[1])) >> 2
    if (h, v) == (1, 2):
        sums = triangle(wide, 0, 1)
        return (sums + alternate(1, 2, sums.shape[0])[:, None]) >> 2
    sums = triangle(triangle(wide, 0, 1), 1, 1)
    return (sums + alternate(8, 7, sums.shape[1])) >> 4


def full_planes(image: Image, fancy: bool) -> list[Array]:
    components = list(image.components.values())
    h_max, v_max = max(c.h for c in components), max(c.v for c in components)
    return [
        upsample(c.plane, h_max // c.h, v_max // c.v, fancy)[: image.height, : image.width]
        for c in components
    ]


def ycbcr_to_rgb(y: Array, cb: Array, cr: Array) -> Array:
    """Full-range YCbCr to RGB with 16-bit fixed-point factors."""
    cb, cr = cb - 128, cr - 128
    rgb = [
        y + ((91881 * cr + 32768) >> 16),
        y + ((-22554 * cb - 46802 * cr + 32768) >> 16),
        y + ((116130 * cb + 32768) >> 16),
    ]
    return np.clip(np.stack(rgb, -1), 0, 255).astype(np.uint8)


def rgb_to_limited_ycbcr(rgb: Array) -> Array:
    """ITU-R BT.601 with values from 16 to 235 or 240; single precision, halves rounded up."""
    single = np.float32
    weights = np.array(
        [
            [0.25678823529, 0.50412941176, 0.09790588235],
            [-0.14822289945, -0.29099278682, 0.43921568627],
            [0.43921568627, -0.36778831435, -0.07142737192],
        ],
        single,
    )
    r, g, b = (rgb[..., i].astype(single) for i in range(3))
    channels = [
        (w[0] * r + w[1] * g) + w[2] * b + single(bias)
        for w, bias in zip(weights, (16, 128, 128), strict=True)
    ]
    return np.floor(np.stack(channels, -1) + single(0.5)).astype(np.uint8)


CONVERSIONS: dict[str, Callable[[Array], Array]] = {
    "RGB": lambda rgb: rgb,
    "BGR": lambda rgb: rgb[..., ::-1],
    "YCbCr": rgb_to_limited_ycbcr,
}


def decode_cmyk(data: bytes, ycck: bool, fancy: bool, fast: bool = False) -> Array:
    """CMYK of a file with four components, as stored or as their complements in YCCK."""
    planes = full_planes(decode(data, fast), fancy)
    black = planes[3].astype(np.uint8)[..., None]
    colors = 255 - ycbcr_to_rgb(*planes[:3]) if ycck else np.stack(planes[:3], -1).astype(np.uint8)
    return np.concatenate([colors, black], -1)


def decode_pixels(
    data: bytes, output_type: str, fancy: bool, rgb_file: bool = False, fast: bool = False
) -> Array:
    """The whole image in the order and color space asked for."""
    planes = full_planes(decode(data, fast), fancy)
    if output_type == "GRAY":
        if rgb_file:
            r, g, b = planes
            planes[0] = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
        return planes[0].astype(np.uint8)[..., None]
    if len(planes) == 1:
        planes *= 3
        rgb_file = True
    rgb = np.stack(planes, -1).astype(np.uint8) if rgb_file else ycbcr_to_rgb(*planes)
    return CONVERSIONS[output_type](rgb)
