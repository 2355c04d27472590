# SPDX-License-Identifier: Apache-2.0
"""Progressive files that end early, against libjpeg-turbo and a model of its smoothing in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import imagecodecs
import numpy as np
import pytest

import daliesque as ndd
from support.compare import assert_same
from support.jpeg_core import Array, decode
from support.jpeg_makers import Frame, Scan, random_frame, random_script, write_jpeg
from support.reference import jpeg as reference

pytestmark = pytest.mark.usefixtures("instruction_set")

FACTORS = (
    [0x11],
    [0x22],
    [0x14],
    [0x11, 0x11, 0x11],
    [0x22, 0x11, 0x11],
    [0x21, 0x11, 0x11],
    [0x12, 0x11, 0x11],
    [0x14, 0x11, 0x11],
    [0x11, 0x11, 0x11, 0x11],
    [0x22, 0x11, 0x11, 0x22],
)
UNKNOWN = -1
MOST_SCANS = 256
# Guesses by the file order of the coefficients and their mirror images, in 256ths.
ALONE = {
    (1, 2): [[-1, -1, 0, 1, 1], [-3, 13, 0, -13, 3], [-3, 38, 0, -38, 3]],
    (5, 3): [[0, 0, 0, 0, 0], [0, 2, -5, 2, 0], [1, 7, -14, 7, 1]],
    (4, 4): [[-1, 0, 0, 0, 1], [0, 9, 0, -9, 0], [0, 0, 0, 0, 0]],
    (6, 9): [[0, 0, 0, 0, 0], [0, 1, 0, -1, 0], [0, 2, 0, -2, 0]],
    (7, 8): [[0, 0, 0, 0, 0], [0, 1, -3, 1, 0], [0, 0, 0, 0, 0]],
    (0, 0): [[-2, -6, -8, -6, -2], [-6, 6, 42, 6, -6], [-8, 42, 152, 42, -8]],
}
BESIDE = {
    (1, 2): [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [-7, 50, 0, -50, 7]],
    (5, 3): [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [-1, 13, -24, 13, -1]],
    (4, 4): [[0, -1, 0, 1, 0], [-1, 10, 0, -10, 1], [0, 0, 0, 0, 0]],
}
ODD_BELOW = ((4, 4), (7, 8))


def known_so_far(frame: Frame, script: Sequence[Scan]) -> tuple[list[Array], Array]:
    """The coefficients as far as the scans give them, and their lowest bits."""
    blocks = [np.zeros_like(part) for part in frame.blocks]
    low = np.full((len(blocks), 64), UNKNOWN)
    for scan in script:
        for index in scan.components:
            rows, columns = blocks[index].shape[:2]
            if len(scan.components) == 1:
                rows, columns = frame.blocks_of(index)
            part = np.s_[:rows, :columns, scan.first : scan.last + 1]
            values = frame.blocks[index][part]
            if scan.first == 0:
                known = values >> scan.low << scan.low
            else:
                known = np.sign(values) * (np.abs(values) >> scan.low << scan.low)
            blocks[index][part] = known
            low[index, scan.first : scan.last + 1] = scan.low
    return blocks, low


def weights_of(table: dict[tuple[int, int], list[list[int]]]) -> dict[int, Array]:
    weights = {}
    for pair, upper in table.items():
        sign = -1 if pair in ODD_BELOW else 1
        whole = np.array([*upper, *(sign * np.array(upper[1::-1])).tolist()])
        weights[pair[1]] = whole.T
        weights[pair[0]] = whole
    return weights


def rows_around(row: int, height: int, rows: int) -> list[int]:
    """In the last MCUs libjpeg counts rows as if all MCUs were as low as these."""
    band, bands = row // height, -(-rows // height)
    counted = rows - band * height if band + 1 == bands else height
    above = band * counted + row % height
    return [row + int(np.clip(k, -above, bands * counted - 1 - above)) for k in range(-2, 3)]


def smoothed(frame: Frame, script: Sequence[Scan], left_mcu: int = 0) -> Frame:
    """A frame with the coefficients that libjpeg-turbo makes of an unfinished file."""
    blocks, low = known_so_far(frame, script)
    out = [part.copy() for part in blocks]
    if not (low[:, 1:10] != 0).any():
        return replace(frame, blocks=out)
    for index, part in enumerate(blocks):
        rows, columns = frame.blocks_of(index)
        height = frame.factors[index] & 15
        leftmost = left_mcu * (frame.factors[index] >> 4 if len(blocks) > 1 else 1)
        padded = np.zeros((-(-rows // height) * height, columns), int)
        padded[: part.shape[0]] = part[: padded.shape[0], :columns, 0]
        alone = (low[index, 1:10] == UNKNOWN).all()
        weights = weights_of(ALONE if alone else BESIDE)
        for row, column in np.ndindex(rows, columns):
            across = np.clip(np.arange(column - 2, column + 3), leftmost, columns - 1)
            window = padded[np.ix_(rows_around(row, height, rows), across)]
            for k, weight in weights.items():
                if k > 0 and (low[index, k] == 0 or part[row, column, k] != 0):
                    continue
                total = int((weight * window).sum()) * int(frame.quant[0])
                divisor = 256 * int(frame.quant[k])
                size = (abs(total) + divisor // 2) // divisor
                if k > 0 and low[index, k] > 0:
                    size = min(size, (1 << low[index, k]) - 1)
                out[index][row, column, k] = size if total >= 0 else -size
    return replace(frame, blocks=out)


def unfinished(rng: np.random.Generator, factors: list[int]) -> tuple[Frame, list[Scan]]:
    width, height = (int(n) for n in rng.integers(1, 70, 2))
    frame = random_frame(rng, width, height, factors, largest=120)
    mcu_blocks = sum((factor >> 4) * (factor & 15) for factor in factors)
    script = random_script(rng, len(factors), mcu_blocks)
    begun = max(i for i, scan in enumerate(script) if scan.first == 0 and scan.high == 0) + 1
    return frame, script[: min(int(rng.integers(begun, len(script))), MOST_SCANS)]


def kind(factors: list[int]) -> str:
    return "CMYK" if len(factors) == 4 else "RGB"


@pytest.mark.parametrize("seed", range(40))
def test_equals_libjpeg_turbo(seed: int) -> None:
    rng = np.random.default_rng([21, seed])
    factors = FACTORS[seed % len(FACTORS)]
    frame, script = unfinished(rng, factors)
    data = write_jpeg(frame, script, restart=seed % 3)
    expected = np.asarray(imagecodecs.jpeg8_decode(data))
    if len(factors) == 1:
        expected = np.repeat(expected[..., None], 3, axis=2)
    assert_same(decode(data, kind(factors)), expected, script)
    x, y = int(rng.integers(frame.width)), int(rng.integers(frame.height))
    part = decode(data, kind(factors), region=(x, y, frame.width - x, frame.height - y))
    assert_same(part, expected[y:, x:], script)
    part = decode(data, kind(factors), region=(0, 0, x + 1, y + 1))
    assert_same(part, expected[: y + 1, : x + 1], script)
    if len(factors) == 3:
        gray = imagecodecs.jpeg8_decode(data, outcolorspace="GRAYSCALE")
        assert_same(decode(data, "GRAY"), np.asarray(gray)[..., None])


@pytest.mark.parametrize("seed", range(16))
def test_equals_the_model(seed: int) -> None:
    rng = np.random.default_rng([22, seed])
    factors = FACTORS[seed % 8]
    frame, script = unfinished(rng, factors)
    data = write_jpeg(frame, script)
    encoded = np.frombuffer(data, np.uint8)
    whole = write_jpeg(smoothed(frame, script), None)
    for fast in (False, True):
        expected = reference.decode_pixels(whole, "RGB", fancy=True, fast=fast)
        assert_same(decode(data, fast_idct=fast), expected, (fast, script))
        assert_same(np.asarray(ndd.decoders.image(encoded, use_fast_idct=fast)), expected)


@pytest.mark.parametrize("seed", range(8))
def test_crops_are_smoothed_inside(seed: int) -> None:
    rng = np.random.default_rng([23, seed])
    factors = FACTORS[seed]
    frame, script = unfinished(rng, factors)
    encoded = np.frombuffer(write_jpeg(frame, script), np.uint8)
    mcu_width = 8 * max(f >> 4 for f in factors) if len(factors) > 1 else 8
    for x in (0, 1, 8, 9, 16, 17, 33):
        if x >= frame.width:
            continue
        left = max(x - 1, 0) // mcu_width
        whole = write_jpeg(smoothed(frame, script, left), None)
        expected = reference.decode_pixels(whole, "RGB", fancy=True)[:, x:]
        shape = [frame.width - x, frame.height]
        part = ndd.decoders.image_slice(encoded, start=[x, 0], shape=shape)
        assert_same(np.asarray(part), expected, x)


def test_quantizers_of_zero_prevent_smoothing() -> None:
    frame, _ = unfinished(np.random.default_rng(24), [0x11])
    frame.quant[4] = 0
    data = write_jpeg(frame, [Scan([0], 0, 0)])
    assert_same(decode(data, "GRAY")[..., 0], np.asarray(imagecodecs.jpeg8_decode(data)))
