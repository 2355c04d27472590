# SPDX-License-Identifier: Apache-2.0
"""FLAC files written by hand, with everything that encoders rarely use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Bits:
    """Bits, the highest of each byte first."""

    values: list[int] = field(default_factory=list)

    def put(self, value: int, count: int) -> Bits:
        """Append an integer; a negative one as two's complement."""
        self.values += [value >> k & 1 for k in range(count - 1, -1, -1)]
        return self

    def to_bytes(self) -> bytes:
        """All bits, with zeros at the end."""
        padded = self.values + [0] * (-len(self.values) % 8)
        text = "".join(map(str, padded))
        return int(text or "0", 2).to_bytes(len(padded) // 8, "big")


def checksum(data: bytes, width: int, polynomial: int) -> int:
    """A checksum whose highest bit comes first."""
    crc = 0
    for byte in data:
        crc ^= byte << (width - 8)
        for _ in range(8):
            crc = (crc << 1) ^ (polynomial if crc >> (width - 1) & 1 else 0)
        crc &= (1 << width) - 1
    return crc


def put_residual(bits: Bits, values: Sequence[int], order: int, method: int, splits: int) -> None:
    """Residuals in partitions; every third one is not coded."""
    bits.put(method, 2).put(splits, 4)
    size = (len(values) + order) >> splits
    width = 4 + method
    begin = 0
    for number in range(1 << splits):
        end = begin + size - (order if number == 0 else 0)
        part = values[begin:end]
        most = max([1, *(value.bit_length() + 1 for value in part)])
        if number % 3 == 2:
            bits.put((1 << width) - 1, width).put(most, 5)
            for value in part:
                bits.put(value, most)
        else:
            # Some numbers then have several zeros, and none too many.
            parameter = min(max(0, most - 4), (1 << width) - 2)
            bits.put(parameter, width)
            for value in part:
                folded = value << 1 if value >= 0 else ~value << 1 | 1
                bits.put(1, (folded >> parameter) + 1).put(folded, parameter)
        begin = end


def subframe(
    values: Sequence[int],
    width: int,
    kind: str,
    *,
    order: int = 0,
    method: int = 0,
    splits: int = 0,
    wasted: int = 0,
) -> Bits:
    """One channel of a frame: "constant", "verbatim", "fixed" or "predicted"."""
    numbers = {"constant": 0, "verbatim": 1, "fixed": 8 + order, "predicted": 31 + order}
    bits = Bits().put(0, 1).put(numbers[kind], 6).put(wasted > 0, 1)
    if wasted:
        bits.put(1, wasted)
    kept = [value >> wasted for value in values]
    width -= wasted
    if kind in ("constant", "verbatim"):
        for value in kept[: 1 if kind == "constant" else None]:
            bits.put(value, width)
        return bits
    for value in kept[:order]:
        bits.put(value, width)
    coefficients = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]][order if kind == "fixed" else 0]
    shift = 0
    if kind == "predicted":
        coefficients, shift = [(-1) ** k * (300 - 7 * k) for k in range(order)], 9
        bits.put(11 - 1, 4).put(shift, 5)
        for coefficient in coefficients:
            bits.put(coefficient, 11)
    residual = []
    for i in range(order, len(kept)):
        sum_ = sum(c * kept[i - 1 - k] for k, c in enumerate(coefficients))
        residual.append(kept[i] - (sum_ >> shift))
    put_residual(bits, residual, order, method, splits)
    return bits


def frame(number: int, assignment: int, width: int, size: int, channels: Sequence[Bits]) -> bytes:
    """A frame of a stream whose blocks differ in size; `number` is that of its first sample."""
    coded = number.to_bytes(1, "big") if number < 128 else chr(number).encode("utf-8")
    codes = {8: 1, 16: 4, 24: 6}
    head = Bits().put(0xFFF9, 16).put(7, 4).put(0, 4).put(assignment, 4).put(codes[width], 3)
    begun = head.put(0, 1).to_bytes() + coded + (size - 1).to_bytes(2, "big")
    begun += bytes([checksum(begun, 8, 0x07)])
    body = Bits([bit for channel in channels for bit in channel.values])
    begun += body.to_bytes()
    return begun + checksum(begun, 16, 0x8005).to_bytes(2, "big")


def file(frames: Sequence[bytes], total: int, channels: int, width: int, most: int) -> bytes:
    """A FLAC file, with metadata that nobody needs."""
    head = Bits().put(0, 8).put(34, 24).put(16, 16).put(most, 16).put(0, 48)
    head.put(16000, 20).put(channels - 1, 3).put(width - 1, 5).put(total, 36).put(0, 128)
    padding = bytes([0x81, 0, 0, 5]) + bytes(5)
    return b"fLaC" + head.to_bytes() + padding + b"".join(frames)
