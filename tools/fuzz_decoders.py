# SPDX-License-Identifier: Apache-2.0
"""Feed damaged files of every format to the image decoders; run by `make fuzz`.

    python tools/fuzz_decoders.py [--count 20000] [--seed 0] [--seconds 1200] [--only png]

Each file is made of a whole one by a few random changes, which depend only on the seed and the
number of the file. Decoding must end with an image or a `DecodeError`. The work is done in another
process: if that dies or hangs, the file is saved and the next process goes on behind it.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import multiprocessing.connection
import resource
import sys
import time
import traceback
import zlib
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzz_files import whole_files

SECONDS_FOR_A_FILE = 20
MAX_PIXELS = 1 << 22
# An allocation beyond this is refused; more than any of these files has a right to.
MAX_BYTES = 6 << 30


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The file after one to eight random changes."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 9)):
        if len(changed) < 4:
            break
        # Headers decide what code runs, so half of the changes hit the first bytes.
        reach = len(changed) if rng.random() < 0.5 else min(len(changed), 200)
        at = int(rng.integers(0, reach))
        length = int(rng.integers(1, 9))
        kind = rng.integers(0, 7)
        if kind == 0:
            changed[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            changed[at] = int(rng.integers(0, 256))
        elif kind == 2:
            extreme = [b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f"]
            changed[at : at + 4] = extreme[int(rng.integers(0, 4))]
        elif kind == 3:
            del changed[at : at + length]
        elif kind == 4:
            changed[at:at] = rng.integers(0, 256, length, np.uint8).tobytes()
        elif kind == 5:
            other = int(rng.integers(0, len(changed)))
            changed[at : at + length] = changed[other : other + length]
        elif rng.random() < 0.3:
            del changed[at:]
    return bytes(changed)


def with_checksums(data: bytes) -> bytes:
    """A PNG whose checksums fit again, so that its changes get past the first check."""
    repaired, position = bytearray(data), 8
    while position + 12 <= len(data):
        length = int.from_bytes(data[position : position + 4], "big")
        end = position + 8 + length
        if end + 4 > len(data):
            break
        repaired[end : end + 4] = zlib.crc32(data[position + 4 : end]).to_bytes(4, "big")
        position = end + 4
    return bytes(repaired)


def file_number(number: int, seed: int, files: dict[str, bytes]) -> tuple[str, bytes]:
    """Kind and contents of a damaged file."""
    kind = list(files)[number % len(files)]
    data = damaged(files[kind], np.random.default_rng([seed, number]))
    repair = kind.startswith("png") and number // len(files) % 2
    return kind, with_checksums(data) if repair else data


def decode(data: bytes, number: int) -> str:
    """What became of a file."""
    import daliesque as ndd
    from daliesque import types

    encoded = np.frombuffer(data, np.uint8)
    image_type = [types.RGB, types.GRAY, types.ANY_DATA, types.YCbCr][number % 4]
    dtype = [ndd.uint8, ndd.uint8, ndd.float32, ndd.uint16][number // 4 % 4]
    arguments: dict[str, Any] = {
        "output_type": image_type,
        "dtype": dtype,
        "use_fast_idct": number % 3 == 0,
    }
    try:
        result = ndd.decoders.image(encoded, **arguments)
        np.asarray(result).sum()
        part = ndd.decoders.image_crop(encoded, crop=(1, 1), **arguments)
    except ndd.DecodeError:
        return "refused"
    assert part.shape[:2] == (1, 1)
    return "decoded"


def work(
    pipe: multiprocessing.connection.Connection, begin: int, options: argparse.Namespace
) -> None:
    """Announce each file, decode it, report the outcome."""
    import daliesque as ndd

    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ndd.decoders.set_max_pixels(MAX_PIXELS)
    files = chosen_files(options.only)
    with ndd.EvalMode.sync_cpu:
        for number in range(begin, options.count):
            pipe.send((number, None))
            kind, data = file_number(number, options.seed, files)
            try:
                outcome = decode(data, number)
            except Exception:
                outcome = traceback.format_exc()
            pipe.send((kind, outcome))
            if number == begin + 2000:
                pipe.send(("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))
    pipe.send(("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss))


def chosen_files(only: str) -> dict[str, bytes]:
    """The whole files whose kind begins with `only`."""
    return {kind: data for kind, data in whole_files().items() if kind.startswith(only)}


class Run:
    """The parent: starts processes, watches them, keeps the score."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.files = chosen_files(options.only)
        self.outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
        self.findings: list[str] = []
        self.memory: list[int] = []
        self.number = 0

    def report(self, what: str) -> None:
        """Save the current file and say what it did."""
        kind, data = file_number(self.number, self.options.seed, self.files)
        target = Path(self.options.save) / f"{self.number}_{kind.replace(' ', '_')}.bin"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self.findings.append(f"{target}: {what}")
        print(self.findings[-1], flush=True)

    def watch(self, begin: int, deadline: float) -> int:
        """Run a process from file `begin` on; returns where the next one should begin."""
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, begin, self.options))
        process.start()
        theirs.close()
        try:
            while time.monotonic() < deadline:
                if not ours.poll(SECONDS_FOR_A_FILE):
                    self.report(f"hangs for {SECONDS_FOR_A_FILE} s")
                    return self.number + 1
                key, value = ours.recv()
                if value is None:
                    self.number = key
                elif key == "memory":
                    self.memory.append(value)
                elif value in ("decoded", "refused"):
                    self.outcomes[key, value] += 1
                else:
                    self.report(value)
            return int(self.options.count)
        except EOFError:
            process.join()
            if process.exitcode == 0:
                return int(self.options.count)
            self.report(f"ends the process with code {process.exitcode}")
            return self.number + 1
        finally:
            process.kill()
            process.join()

    def run(self) -> int:
        """All files; returns the number of findings."""
        start = time.monotonic()
        begin = 0
        while begin < self.options.count and time.monotonic() - start < self.options.seconds:
            begin = self.watch(begin, start + self.options.seconds)
        for kind in self.files:
            decoded, refused = (self.outcomes[kind, word] for word in ("decoded", "refused"))
            print(f"{kind:24} {decoded:6} decoded {refused:6} refused")
        print(
            f"{sum(self.outcomes.values())} files in {time.monotonic() - start:.0f} s, "
            f"{len(self.findings)} findings, peak memory in KiB: {self.memory}"
        )
        return len(self.findings)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--only", default="", help="kinds that begin with this")
    parser.add_argument("--save", default="build/fuzz", help="where to put files that fail")
    return 1 if Run(parser.parse_args()).run() else 0


if __name__ == "__main__":
    sys.exit(main())
