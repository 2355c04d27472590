# SPDX-License-Identifier: Apache-2.0
"""No memory, at each allocation of a loop in turn: MemoryError, nothing leaks, the next call works.

The allocator is replaced in a process of its own. It fails once, for the native module only, which
calls `operator new` for what it needs itself and `aligned_alloc` for buffers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ALLOCATOR = """
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

static std::atomic<long> left{0}, fired{0};
static char *begins[2], *ends[2];

static bool fails(const void* caller) {
  const char* from = static_cast<const char*>(caller);
  const bool ours = (from >= begins[0] && from < ends[0]) || (from >= begins[1] && from < ends[1]);
  if (left <= 0 || !ours || left.fetch_sub(1) != 1) return false;
  fired = 1;
  return true;
}

static void* get(size_t bytes, const void* caller) {
  void* memory = fails(caller) ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

extern "C" {
void fail_at(long number) { fired = 0; left = number; }
long has_failed() { left = 0; return fired; }
void set_module(int index, char* begin, char* end) { begins[index] = begin; ends[index] = end; }
void* aligned_alloc(size_t alignment, size_t bytes) {
  void* memory = nullptr;
  if (fails(__builtin_return_address(0))) return nullptr;
  return posix_memalign(&memory, alignment, bytes) ? nullptr : memory;
}
}

void* operator new(size_t bytes) { return get(bytes, __builtin_return_address(0)); }
void* operator new[](size_t bytes) { return get(bytes, __builtin_return_address(0)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
"""

PROGRAM = """
import contextlib, ctypes, errno, gc, io, sys
import numpy as np
from PIL import Image
import daliesque as ndd

allocator = ctypes.CDLL(None)
allocator.set_module.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
allocator.fail_at.argtypes = [ctypes.c_long]
for index, name in enumerate(("_kernels", "libstdc++")):
    spans = [line.split()[0].split("-") for line in open("/proc/self/maps") if name in line]
    allocator.set_module(index, int(spans[0][0], 16), int(spans[-1][1], 16))

def encoded(height):
    file = io.BytesIO()
    pixels = np.random.default_rng(height).integers(0, 255, (height, 50, 3))
    Image.fromarray(pixels.astype(np.uint8)).save(file, "jpeg")
    return np.frombuffer(file.getvalue(), np.uint8)

files = ndd.batch([encoded(height) for height in (40, 41, 42)])
context = ndd.EvalContext(num_threads=1)

def loop():
    traced = ndd.trace(sys.argv[3]) if len(sys.argv) > 3 else contextlib.nullcontext()
    with context, ndd.EvalMode[sys.argv[1]], traced:
        images = ndd.decoders.image(files)
        resized = ndd.flip(ndd.rotate(ndd.resize(images, size=[30, 36]), angle=10.0))
        normal = ndd.crop_mirror_normalize(
            resized, crop=(20, 20), mean=[1.0, 2.0, 3.0], std=[2.0, 2.0, 2.0]
        )
        blurred = ndd.cast(ndd.gaussian_blur(images, window_size=3), dtype=ndd.float32)
        means = ndd.reductions.mean(blurred * 2 + 1, axes=[0, 1])
        return [normal.numpy().sum(), *(np.asarray(mean).sum() for mean in means)]

expected = loop()
loop()
gc.collect()
used, number, stride = ndd.memory().used_bytes, 1, int(sys.argv[2])
while True:
    allocator.fail_at(number)
    try:
        loop()
    except MemoryError:
        pass
    except OSError as error:  # that of writing the trace
        assert error.errno == errno.ENOMEM
    if not allocator.has_failed():
        break
    assert loop() == expected, number
    gc.collect()
    assert ndd.memory().queued_bytes == 0, number
    # Threads keep some memory of their own for the next call, now this buffer, now that.
    assert ndd.memory().used_bytes <= used + 65536, number
    number += stride
print(number)
"""


@pytest.fixture(scope="module")
def allocator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library with the allocator that fails."""
    folder = tmp_path_factory.mktemp("allocator")
    source, library = folder / "allocator.cpp", folder / "allocator.so"
    source.write_text(ALLOCATOR)
    subprocess.run(["c++", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


@pytest.mark.skipif(
    "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="AddressSanitizer has an allocator of its own; tests/native fails allocations under it",
)
@pytest.mark.parametrize("mode", ["sync_cpu", "eager", "deferred"])
@pytest.mark.parametrize("traced", [False, True], ids=["plain", "traced"])
def test_each_allocation_may_fail(allocator: Path, mode: str, traced: bool, tmp_path: Path) -> None:
    stride = os.environ.get("ALLOCATION_STRIDE", "5")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            PROGRAM,
            mode,
            stride,
            *[str(tmp_path / "trace.json")][: int(traced)],
        ],
        env={**os.environ, "LD_PRELOAD": str(allocator), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
