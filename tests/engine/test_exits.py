# SPDX-License-Identifier: Apache-2.0
"""A program ends as it wants to, whatever the library is doing: with its own exit code, at once."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import atexit, os, signal, sys, threading, time
import numpy as np
import daliesque as ndd

images = ndd.batch(np.zeros((4, 256, 256, 3), np.uint8))

def work(mode=ndd.EvalMode.eager):
    with mode:
        return ndd.resize(ndd.flip(images), size=[200, 200]).evaluate()

def work_on(mode=ndd.EvalMode.eager):
    while True:
        work(mode)

class Slow(ndd.readers.Reader):
    def open_index(self):
        return 1000
    def fetch_sample(self, number):
        return np.zeros(100000, np.uint8)

def start_daemons(target, *args):
    for _ in range(3):
        threading.Thread(target=target, args=args, daemon=True).start()
    time.sleep(0.2)

"""

# What a program does, and the exit code that it must have.
PROGRAMS: dict[str, tuple[str, int]] = {
    "end of the program": ("work()", 0),
    "work in the queue": (
        "big = ndd.batch(np.zeros((16, 512, 512, 3), np.uint8))\nfor _ in range(30): big = big + 1",
        0,
    ),
    "sys.exit": ("work()\nsys.exit(3)", 3),
    "sys.exit with work in the queue": ("kept = [images + 1 for _ in range(60)]\nsys.exit(3)", 3),
    "os._exit": ("kept = [images + 1 for _ in range(60)]\nos._exit(4)", 4),
    "unhandled exception": ("work()\nraise SystemError('mine')", 1),
    "terminated": ("pending = images + 1\nos.kill(os.getpid(), signal.SIGTERM)", -15),
    "daemons, eager": ("start_daemons(work_on)\nsys.exit(5)", 5),
    "daemons, deferred": ("start_daemons(work_on, ndd.EvalMode.deferred)\nsys.exit(5)", 5),
    "daemons, at once": ("start_daemons(work_on, ndd.EvalMode.sync_cpu)\nsys.exit(5)", 5),
    "daemons that read": (
        "def read():\n"
        "    while True:\n"
        "        for step in Slow().next_epoch(batch_size=8): pass\n"
        "start_daemons(read)\n"
        "sys.exit(5)",
        5,
    ),
    "daemons that map": (
        "def call():\n"
        "    while True:\n"
        "        ndd.map(lambda x: x + 1, ndd.batch(np.zeros((8, 1000)))).evaluate()\n"
        "start_daemons(call)\n"
        "sys.exit(5)",
        5,
    ),
    "daemons that decode in Python": (
        "import io\n"
        "from PIL import Image\n"
        "file = io.BytesIO()\n"
        "Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(file, 'tiff')\n"
        "files = ndd.batch([np.frombuffer(file.getvalue(), np.uint8)] * 16)\n"
        "def decode():\n"
        "    while True: ndd.decoders.image(files).evaluate()\n"
        "start_daemons(decode)\n"
        "sys.exit(5)",
        5,
    ),
    "daemons that read through Python": (
        "import fsspec, io, tarfile\n"
        "file = io.BytesIO()\n"
        "with tarfile.open(fileobj=file, mode='w') as tar:\n"
        "    for number in range(8):\n"
        "        member = tarfile.TarInfo(f'{number}.bin')\n"
        "        member.size = 10\n"
        "        tar.addfile(member, io.BytesIO(bytes(10)))\n"
        "fsspec.filesystem('memory').pipe('/a.tar', file.getvalue())\n"
        "reader = ndd.readers.Webdataset(paths=['memory://a.tar'], ext=['bin'])\n"
        "assert next(reader.next_epoch(batch_size=8))[0].numpy().shape == (8, 10)\n"
        "def read():\n"
        "    mine = ndd.readers.Webdataset(paths=['memory://a.tar'], ext=['bin'])\n"
        "    while True:\n"
        "        for step in mine.next_epoch(batch_size=8): pass\n"
        "start_daemons(read)\n"
        "sys.exit(5)",
        5,
    ),
    "inside a generator": (
        "def load():\n"
        "    for step in Slow().next_epoch(batch_size=8):\n"
        "        yield step\n"
        "for step in load():\n"
        "    sys.exit(6)",
        6,
    ),
    "inside a loop that runs ahead": (
        "def load():\n"
        "    for (step,) in Slow().next_epoch(batch_size=8):\n"
        "        yield step + 1\n"
        "for step in ndd.prefetch(load):\n"
        "    sys.exit(6)",
        6,
    ),
    "atexit handler that calls": (
        "@atexit.register\n"
        "def late():\n"
        "    work()\n"
        "    assert next(Slow().next_epoch(batch_size=2))[0].numpy().shape == (2, 100000)\n"
        "    print('called')\n"
        "work()",
        0,
    ),
    "atexit handler of before": (
        "work()\nstart_daemons(work_on)\natexit.register(work)\nsys.exit(7)",
        7,
    ),
    "exit in a forked child": (
        "pending = images + 1\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    work()\n"
        "    sys.exit(8)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))",
        8,
    ),
    "interrupted": (
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()\nwork_on()",
        -2,
    ),
}


def run(program: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_exit_code_is_the_program_s_own(name: str) -> None:
    program, code = PROGRAMS[name]
    done = run(BEGIN + program)
    assert done.returncode == code, done.stderr
    if code not in (1, -2):
        assert done.stderr == ""
    if "handler that calls" in name:
        assert done.stdout == "called\n"


def test_subinterpreters_are_refused() -> None:
    program = (
        "import _xxsubinterpreters as interpreters\n"
        "import daliesque\n"
        "number = interpreters.create()\n"
        "try:\n"
        "    interpreters.run_string(number, 'import daliesque')\n"
        "except interpreters.RunFailedError as error:\n"
        "    print('refused', error)\n"
    )
    if sys.version_info >= (3, 13):
        pytest.skip("the module has another name")
    done = run(program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused")
    assert "subinterpreter" in done.stdout


# Fails to create threads while a file exists.
SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  static int (*real)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  if (!real) real = dlsym(RTLD_NEXT, "pthread_create");
  const char* path = getenv("NO_THREADS");
  if (path && access(path, F_OK) == 0) return EAGAIN;
  return real(thread, attributes, run, argument);
}
"""

WITHOUT_THREADS = """
import os, time
import numpy as np
import daliesque as ndd

def load():
    with ndd.EvalContext(num_threads=4):
        images = ndd.copy(ndd.batch(np.full((8, 512, 512, 3), 7, np.uint8)))
        assert ndd.resize(images, size=[300, 300]).numpy().min() == 7
        doubled = ndd.map(lambda x: x * 2, images + 0)
        assert doubled.numpy().max() == 14
        threads = len(os.listdir("/proc/self/task"))
    class Numbers(ndd.readers.Reader):
        def open_index(self):
            return 20
        def fetch_sample(self, number):
            return number
    numbers = [n for (part,) in Numbers().next_epoch(batch_size=3) for n in part.tolist()]
    assert numbers == list(range(20)) + [0], numbers
    return threads

LIMIT
alone = load()
RELEASE
time.sleep(1.1)
print(alone, load())
"""


def test_threads_that_cannot_be_created_are_done_without(tmp_path: Path) -> None:
    source, shim, flag = tmp_path / "shim.c", tmp_path / "shim.so", tmp_path / "flag"
    source.write_text(SHIM)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    flag.touch()
    program = WITHOUT_THREADS.replace("LIMIT", "").replace("RELEASE", f"os.unlink({str(flag)!r})")
    environment = {
        **os.environ,
        # The library of a sanitizer must come first.
        "LD_PRELOAD": f"{os.environ.get('LD_PRELOAD', '')} {shim}",
        "NO_THREADS": str(flag),
        "OPENBLAS_NUM_THREADS": "1",
    }
    done = run(program, env=environment)
    assert done.returncode == 0, done.stderr
    without, recovered = map(int, done.stdout.split())
    assert without == 1
    assert recovered > 1


def test_little_address_space_is_enough() -> None:
    program = WITHOUT_THREADS.replace(
        "LIMIT",
        "import resource\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (96 << 20), resource.RLIM_INFINITY))",
    ).replace("RELEASE", "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))")
    done = run(program, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert resource.RLIMIT_AS is not None
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    # Python itself may lack the memory; then it says so.
    assert done.returncode == 0 or "MemoryError" in done.stderr, done.stderr


def test_signal_that_ends_the_process_while_it_waits() -> None:
    program = BEGIN + (
        "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
        "slow = ndd.map(lambda x: time.sleep(60) or x, images)\n"
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()\n"
        "slow.evaluate()\n"
    )
    assert run(program).returncode == -signal.SIGTERM
