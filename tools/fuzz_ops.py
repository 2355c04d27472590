# SPDX-License-Identifier: Apache-2.0
"""Call every operator with arguments of every kind; run by `make fuzz-ops`.

    python tools/fuzz_ops.py [--count 200000] [--seed 0] [--seconds 3600] [--only resize]
    python tools/fuzz_ops.py --call 'ndd.flip(image((0, 3, 3), "u1"))'

Calls are those of the contract suite with random changes, in all modes in turn; each depends only
on the seed and its number. A call must end with a result or with an error of the library's own
words. The work is done in another process: if that dies or hangs, the call is reported and the next
process goes on behind it. What is reported is the shortest call found that fails the same way, to
be run by `--call`.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzz_values import Values

SECONDS_FOR_A_CALL = 60
MODES = ("sync_cpu", "eager", "deferred")
MAX_BYTES = 3 << 30

# Words that no message of the library has: those of NumPy, of C++ and of the bindings.
FOREIGN = re.compile(
    r"could not be broadcast|operands could not|cannot reshape array|zero-size array|"
    r"need at least one array|"
    r"out of bounds for ax|is out of bounds for array|setting an array element|inhomogeneous|"
    r"could not convert string|all the input array|array is too big|Maximum allowed|"
    r"std::|vector::|basic_string|incompatible function arguments|_kernels|nanobind|"
    r"__getitem__|NoneType|not subscriptable|unsupported operand|object of type|ufunc"
)


class Call(NamedTuple):
    """A call as source text."""

    operator: str
    inputs: tuple[str, ...]
    arguments: dict[str, str]

    @property
    def text(self) -> str:
        arguments = [f"{name}={value}" for name, value in self.arguments.items()]
        return f"ndd.{self.operator}({', '.join([*self.inputs, *arguments])})"

    def shorter(self) -> list[Call]:
        """Calls with less in them."""
        found = []
        for name in self.arguments:
            fewer = {key: value for key, value in self.arguments.items() if key != name}
            found.append(self._replace(arguments=fewer))
        for position, text in enumerate(self.inputs):
            base = f"case_input({self.operator!r}, {position})"
            if text != base:
                changed = (*self.inputs[:position], base, *self.inputs[position + 1 :])
                found.append(self._replace(inputs=changed))
        return found


class Finding(NamedTuple):
    """What went wrong; equal kinds are shown once."""

    kind: str
    detail: str


def make_call(seed: int, number: int, only: str) -> Call:
    """The call with a number."""
    from support.cases import CASES

    cases = [case for case in CASES if only in case.operator]
    rng = np.random.default_rng([seed, number])
    case = cases[int(rng.integers(len(cases)))]
    values = Values(rng, case)
    return Call(case.operator, values.inputs(), values.arguments())


def run(call: Call) -> Finding | None:
    """Make a call and read its results."""
    import daliesque as ndd
    from daliesque import OpError

    allowed = (ValueError, TypeError, OverflowError, OpError, MemoryError, OSError)
    try:
        results = evaluate(call.text)
        for result in results if isinstance(results, tuple | list) else (results,):
            samples = result if isinstance(result, ndd.Batch) else [result]
            for sample in samples:
                np.asarray(sample).tobytes()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        text = f"{type(error).__name__}: {error}"
        # Classes derived from those allowed are not, apart from those of files.
        known = type(error) in allowed[:3] or isinstance(error, allowed[3:])
        if not known or FOREIGN.search(str(error)):
            return Finding(f"{call.operator}: {text[:70]}", text)
    return None


def evaluate(text: str) -> Any:
    """What a call returns."""
    from fuzz_values import HELPERS

    import daliesque as ndd

    return eval(text, {"np": np, "ndd": ndd, **HELPERS})


def shortest(call: Call, kind: str) -> Call:
    """A call with less in it that ends the same way."""
    for shorter in call.shorter():
        finding = run(shorter)
        if finding is not None and finding.kind == kind:
            return shortest(shorter, kind)
    return call


def work(seed: int, first: int, count: int, only: str, mode: str) -> None:
    """Make calls; says on standard output which one it is at, and what went wrong."""
    import warnings

    import daliesque as ndd

    # Arithmetic on infinities may warn; an undefined conversion to integers must not happen.
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", message=".*invalid value encountered in cast")
    limit_memory()
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in range(first, first + count):
            print("@", number, flush=True)
            call = make_call(seed, number, only)
            with ndd.EvalMode[mode or MODES[number % len(MODES)]]:
                finding = run(call)
                if finding is None or finding.kind in seen:
                    continue
                seen.add(finding.kind)
                text = shortest(call, finding.kind).text
            print("!", repr((finding.kind, finding.detail, text)), flush=True)
        os.chdir("/")
    print("@ end", flush=True)


def limit_memory() -> None:
    """Refuse allocations that no call should need; sanitizers have their own limit."""
    import resource

    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))


class Worker:
    """The process that makes the calls from number `first` on."""

    def __init__(self, options: argparse.Namespace, first: int, count: int) -> None:
        command = [sys.executable, __file__, "--work", str(first), "--count", str(count)]
        command += ["--seed", str(options.seed), "--only", options.only, "--mode", options.mode]
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors)
        self.number = first - 1

    def watch(self, until: float, report: Any) -> str | None:
        """Follow the process; why it ended, None if it is done or time is up."""
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        selector = selectors.DefaultSelector()
        selector.register(self.process.stdout, selectors.EVENT_READ)
        buffered, limit = b"", 4 * SECONDS_FOR_A_CALL
        while True:
            if not selector.select(limit):
                self.process.kill()
                self.process.wait()
                return f"no end within {limit} seconds"
            data = self.process.stdout.read()
            if not data:
                self.process.wait()
                return self._last_words()
            *lines, buffered = (buffered + data).split(b"\n")
            for line in lines:
                if line == b"@ end":
                    self.process.wait()
                    return None
                if line.startswith(b"@ "):
                    self.number, limit = int(line[2:]), SECONDS_FOR_A_CALL
                elif line.startswith(b"! "):
                    report(self.number, *eval(line[2:]))
            if time.monotonic() > until:
                self.process.kill()
                self.process.wait()
                return None

    def _last_words(self) -> str:
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        return f"exit code {self.process.returncode}\n{text[-6000:]}"


def crash_kind(call: Call, words: str) -> str:
    """Where the process died, as far as it said so."""
    for pattern in (r"runtime error: .*", r"ERROR: AddressSanitizer: [\w-]+", r"Fatal Python.*"):
        found = re.search(pattern, words)
        if found:
            frame = re.search(r"in (daliesque::[\w:]+)", words)
            return f"{call.operator}: {found[0]} {frame[1] if frame else ''}"
    return f"{call.operator}: {words.splitlines()[0]}"


# Reports of AddressSanitizer that stand for an error of the usual allocator.
MEMORY = re.compile(
    r"AddressSanitizer: (out-of-memory|allocation-size-too-big|requested allocation)"
)


def fuzz(options: argparse.Namespace) -> int:
    """Make all calls; how many kinds of findings there were."""
    kinds: collections.Counter[str] = collections.Counter()
    until = time.monotonic() + options.seconds
    refused, number, end = 0, options.first, options.first + options.count

    def report(position: int, kind: str, detail: str, text: str) -> None:
        kinds[kind] += 1
        if kinds[kind] == 1:
            print(f"\ncall {position}: {kind}\n{detail[:4000]}\n--call {text!r}", flush=True)

    start = time.monotonic()
    while number < end and time.monotonic() < until:
        worker = Worker(options, number, min(options.chunk, end - number))
        words = worker.watch(until, report)
        if words is not None and MEMORY.search(words):
            refused += 1
        elif words is not None and worker.number < number:
            sys.exit(f"no call could be made: {words}")
        elif words is not None:
            call = make_call(options.seed, worker.number, options.only)
            report(worker.number, crash_kind(call, words), words, call.text)
        number = worker.number + 1
        spent = time.monotonic() - start
        print(f"{number - options.first} calls, {len(kinds)} findings, {spent:.0f} s", flush=True)
    print(
        f"{number - options.first} calls with the seed {options.seed}: {len(kinds)} findings; "
        f"{refused} calls were refused the memory they asked for."
    )
    return len(kinds)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--only", default="", help="operators whose names contain this")
    parser.add_argument("--mode", default="", help=f"one of {', '.join(MODES)}; all in turn")
    parser.add_argument("--chunk", type=int, default=20_000, help="calls for each process")
    parser.add_argument("--call", default="", help="make this call and show what happens")
    parser.add_argument("--list", action="store_true", help="show the calls, and make none")
    parser.add_argument("--work", type=int, default=-1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        print(evaluate(options.call))
    elif options.list:
        for number in range(options.first, options.first + options.count):
            print(make_call(options.seed, number, options.only).text)
    elif options.work >= 0:
        work(options.seed, options.work, options.count, options.only, options.mode)
    else:
        sys.exit(1 if fuzz(options) else 0)


if __name__ == "__main__":
    main()
