# SPDX-License-Identifier: Apache-2.0
"""JPEG files made of given coefficients, with scans as a script says (ITU-T T.81, annex G)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
BLOCK = 64
# Codes of all lengths, for 16 and 256 symbols.
DC_COUNTS = (0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
AC_COUNTS = (0, 1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 16, 16, 32, 64, 93)
LONGEST_RUN = 0x7FFF


class Scan(NamedTuple):
    """Components, coefficients from `first` to `last`, and the bits known before and after."""

    components: Sequence[int]
    first: int = 0
    last: int = 63
    high: int = 0
    low: int = 0


@dataclass
class Frame:
    """Sizes, quantization and coefficients: (rows, columns, 64) of blocks, in file order."""

    width: int
    height: int
    factors: list[int]
    quant: Array
    blocks: list[Array] = field(default_factory=list)

    @property
    def mcus(self) -> tuple[int, int]:
        """Rows and columns of MCUs."""
        h, v = (max(f >> s & 15 for f in self.factors) for s in (4, 0))
        return -(-self.height // (8 * v)), -(-self.width // (8 * h))

    def blocks_of(self, index: int) -> tuple[int, int]:
        """Rows and columns of blocks that hold pixels."""
        h, v = (max(f >> s & 15 for f in self.factors) for s in (4, 0))
        factor = self.factors[index]
        height = -(-self.height * (factor & 15) // v)
        width = -(-self.width * (factor >> 4) // h)
        return -(-height // 8), -(-width // 8)


def random_frame(
    rng: np.random.Generator, width: int, height: int, factors: list[int], largest: int = 300
) -> Frame:
    """Coefficients that get smaller and rarer with their index, as in photographs."""
    quant = np.sort(rng.integers(1, 30, BLOCK))
    frame = Frame(width, height, factors, quant)
    rows, columns = frame.mcus
    index = np.arange(BLOCK)
    scale = np.maximum(largest / (1 + index) ** 1.3, 1.5)
    for factor in factors:
        shape = (rows * (factor & 15), columns * (factor >> 4), BLOCK)
        values = np.rint(rng.laplace(0, 0.5, shape) * scale).astype(int)
        keep = rng.random(shape) < rng.choice([0.1, 0.5, 0.9], (*shape[:2], 1))
        blocks = np.where(keep | (index == 0), values, 0)
        blocks[rng.random(shape[:2]) < 0.3, 1:] = 0
        frame.blocks.append(np.clip(blocks, -1023, 1023))
    return frame


class Coder:
    """Collects the symbols and bits of a scan; its Huffman code is made up."""

    def __init__(self, counts: Sequence[int], rng: np.random.Generator) -> None:
        self.counts = counts
        self.symbols = rng.permutation(sum(counts)).tolist()
        self.codes: dict[int, str] = {}
        code, remaining = 0, iter(self.symbols)
        for length, count in enumerate(counts, start=1):
            for _ in range(count):
                self.codes[next(remaining)] = f"{code:0{length}b}"
                code += 1
            code *= 2
        self.parts: list[str] = []

    def symbol(self, value: int) -> None:
        self.parts.append(self.codes[value])

    def bits(self, value: int, count: int) -> None:
        if count:
            self.parts.append(f"{value:0{count}b}")

    def signed(self, value: int) -> None:
        size = abs(value).bit_length()
        self.bits(value if value >= 0 else value + (1 << size) - 1, size)

    def segment(self) -> bytes:
        """The bits so far as stuffed bytes."""
        text = "".join(self.parts)
        self.parts = []
        text += "1" * (-len(text) % 8)
        data = int("1" + text, 2).to_bytes(len(text) // 8 + 1, "big")[1:]
        return data.replace(b"\xff", b"\xff\x00")

    def table(self, number: int) -> bytes:
        body = bytes([number, *self.counts, *self.symbols])
        return b"\xff\xc4" + struct.pack(">H", 2 + len(body)) + body


class Bands:
    """Writes bands of AC coefficients, and how many blocks have nothing more."""

    def __init__(self, coder: Coder, scan: Scan, longest_run: int) -> None:
        self.coder = coder
        self.scan = scan
        self.longest_run = longest_run
        self.run = 0
        self.corrections: list[int] = []

    def end_run(self) -> None:
        if self.run:
            size = self.run.bit_length() - 1
            self.coder.symbol(size << 4)
            self.coder.bits(self.run - (1 << size), size)
            self.correct(self.corrections)
        self.run = 0

    def correct(self, bits: list[int]) -> None:
        for bit in bits:
            self.coder.bits(bit, 1)
        bits.clear()

    def extend_run(self) -> None:
        self.run += 1
        if self.run == self.longest_run:
            self.end_run()

    def write_first(self, block: Array) -> None:
        zeros = 0
        for value in block[self.scan.first : self.scan.last + 1].tolist():
            shifted = abs(value) >> self.scan.low
            if shifted == 0:
                zeros += 1
                continue
            self.end_run()
            for _ in range(zeros // 16):
                self.coder.symbol(0xF0)
            self.coder.symbol(zeros % 16 << 4 | shifted.bit_length())
            self.coder.signed(shifted if value > 0 else -shifted)
            zeros = 0
        if zeros:
            self.extend_run()

    def write_refinement(self, block: Array) -> None:
        values = block[self.scan.first : self.scan.last + 1].tolist()
        shifted = [abs(value) >> self.scan.low for value in values]
        last_new = max((k for k, value in enumerate(shifted) if value == 1), default=-1)
        zeros, bits = 0, list[int]()
        for k, value in enumerate(shifted):
            if value == 0:
                zeros += 1
                continue
            while zeros > 15 and k <= last_new:
                self.end_run()
                self.coder.symbol(0xF0)
                self.correct(bits)
                zeros -= 16
            if value > 1:
                bits.append(value & 1)
                continue
            self.end_run()
            self.coder.symbol(zeros << 4 | 1)
            self.coder.bits(int(values[k] > 0), 1)
            self.correct(bits)
            zeros = 0
        if zeros or bits:
            self.corrections += bits
            self.extend_run()


def units(frame: Frame, scan: Scan) -> Iterator[list[tuple[int, Array]]]:
    """Component and coefficients of the blocks of each unit."""
    if len(scan.components) == 1:
        index = scan.components[0]
        rows, columns = frame.blocks_of(index)
        for block in frame.blocks[index][:rows, :columns].reshape(-1, BLOCK):
            yield [(index, block)]
        return
    for row, column in np.ndindex(frame.mcus):
        unit = []
        for index in scan.components:
            h, v = frame.factors[index] >> 4, frame.factors[index] & 15
            part = frame.blocks[index][row * v : (row + 1) * v, column * h : (column + 1) * h]
            unit += [(index, block) for block in part.reshape(-1, BLOCK)]
        yield unit


def dc_writer(coder: Coder, scan: Scan) -> Callable[[int, Array, dict[int, int]], None]:
    def write(index: int, block: Array, previous: dict[int, int]) -> None:
        value = int(block[0]) >> scan.low
        if scan.high:
            coder.bits(value & 1, 1)
            return
        difference = value - previous.get(index, 0)
        coder.symbol(abs(difference).bit_length())
        coder.signed(difference)
        previous[index] = value

    return write


def write_scan(
    frame: Frame, scan: Scan, restart: int, rng: np.random.Generator, sequential: bool
) -> bytes:
    """Tables, header and data of a scan."""
    dc, ac = Coder(DC_COUNTS, rng), Coder(AC_COUNTS, rng)
    # A sequential scan has both kinds of codes in one stream.
    dc.parts = ac.parts
    write_dc = dc_writer(dc, scan)
    longest = int(rng.choice([1, 5, LONGEST_RUN]))
    bands = Bands(ac, scan._replace(first=max(scan.first, 1)), 1 if sequential else longest)
    write_band = bands.write_refinement if scan.high else bands.write_first
    data, previous = b"", dict[int, int]()

    def segment() -> bytes:
        bands.end_run()
        out = ac.segment()
        dc.parts = ac.parts
        return out

    for number, unit in enumerate(units(frame, scan)):
        if restart and number and number % restart == 0:
            data += segment() + bytes([0xFF, 0xD0 + (number // restart - 1) % 8])
            previous.clear()
        for index, block in unit:
            if scan.first == 0:
                write_dc(index, block, previous)
            if scan.last > 0:
                write_band(block)
    data += segment()
    table = int(rng.integers(0, 4)) if not sequential else 0
    names = b"".join(bytes([index + 1, table * 17]) for index in scan.components)
    ending = bytes([scan.first, scan.last, scan.high << 4 | scan.low])
    body = bytes([len(scan.components)]) + names + ending
    header = b"\xff\xda" + struct.pack(">H", 2 + len(body)) + body
    return dc.table(table) + ac.table(16 | table) + header + data


def write_jpeg(
    frame: Frame,
    script: Sequence[Scan] | None,
    restart: int = 0,
    seed: int = 0,
    sequential: bool = False,
) -> bytes:
    """A file with the scans of the script, or a sequential one with a single scan.

    Files with a script are progressive unless `sequential`.
    """
    sequential = sequential or script is None
    rng = np.random.default_rng([seed, 1])
    entries = b"".join(bytes([i + 1, factor, 0]) for i, factor in enumerate(frame.factors))
    kind = 0xC0 if sequential else 0xC2
    body = struct.pack(">BHHB", 8, frame.height, frame.width, len(frame.factors)) + entries
    out = b"\xff\xd8\xff\xdb" + struct.pack(">HB", 67, 0) + bytes(frame.quant.tolist())
    out += bytes([0xFF, kind]) + struct.pack(">H", 2 + len(body)) + body
    if restart:
        out += b"\xff\xdd" + struct.pack(">HH", 4, restart)
    scans = [Scan(range(len(frame.factors)))] if script is None else script
    for scan in scans:
        out += write_scan(frame, scan, restart, rng, sequential)
    return out + b"\xff\xd9"


def with_adobe(data: bytes, transform: int | None) -> bytes:
    """The file with Adobe's marker: colors as they are (0), as YCbCr (1) or as YCCK (2)."""
    if transform is None:
        return data
    body = b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform)
    return data[:2] + b"\xff\xee" + struct.pack(">H", 2 + len(body)) + body + data[2:]


def random_script(
    rng: np.random.Generator, components: int, mcu_blocks: int = 1, largest_low: int = 3
) -> list[Scan]:
    """Scans in any order that the format allows, until everything is sent."""
    script: list[Scan] = []
    low = np.full((components, BLOCK), -1)
    together = components > 1 and mcu_blocks <= 10 and rng.random() < 0.6
    groups = [[*range(components)]] if together else [[i] for i in range(components)]
    for group in groups:
        start = int(rng.integers(0, largest_low + 1))
        script.append(Scan(group, 0, 0, 0, start))
        low[group, 0] = start
    while (low != 0).any():
        index = int(rng.choice(np.flatnonzero((low != 0).any(axis=1))))
        first = int(rng.choice(np.flatnonzero(low[index] != 0)))
        if first == 0:
            same = [i for i in range(components) if low[i, 0] == low[index, 0]]
            group = same if together and len(same) == components else [index]
            script.append(Scan(group, 0, 0, int(low[index, 0]), int(low[index, 0]) - 1))
            low[group, 0] -= 1
            continue
        last = first
        reach = int(rng.choice([0, 9, 62, 62]))
        while last < 63 and low[index, last + 1] == low[index, first] and last < first + reach:
            last += 1
        known = int(low[index, first])
        then = known - 1 if known > 0 else int(rng.integers(0, largest_low + 1))
        script.append(Scan([index], first, last, max(known, 0), then))
        low[index, first : last + 1] = then
    return script
