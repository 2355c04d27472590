# SPDX-License-Identifier: Apache-2.0
"""Our copies of the C++ standard library's generators and distributions, and readers' shuffles."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from daliesque import _kernels

ROOT = Path(__file__).parents[2]
DATALOADER_SEED = 524287

# Orders of 16 files recorded with nvidia-dali 2.4.0, readers.File: random_shuffle=True with
# initial_fill=1, and the first epoch of shuffle_after_epoch=True.
SHUFFLED_ONCE = [5, 9, 1, 10, 7, 14, 13, 11, 8, 12, 6, 4, 3, 15, 2, 0]
SHUFFLED_AFTER_EPOCH = [9, 13, 0, 14, 4, 2, 8, 15, 7, 3, 11, 10, 6, 12, 5, 1]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++ with its standard library")
def test_everything_equals_libstdcxx(tmp_path: Path) -> None:
    """CMake builds the program, too, with the tests of the native core; this needs no CMake."""
    program = tmp_path / "random_test"
    source = ROOT / "tests" / "native" / "random_test.cpp"
    include = f"-I{ROOT / 'src' / 'kernels'}"
    compile_command = ["g++", "-std=c++20", "-O1", "-ffp-contract=off", include, str(source)]
    subprocess.run([*compile_command, "-o", str(program)], check=True)
    result = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def shuffled(count: int, seed: int, wide: bool) -> list[int]:
    order = np.arange(count)
    _kernels.shuffle_indices(order, seed, wide)
    return order.tolist()


def test_shuffles_are_those_of_the_reference() -> None:
    assert shuffled(16, DATALOADER_SEED, wide=False) == SHUFFLED_ONCE
    assert shuffled(16, DATALOADER_SEED + (1 << 32), wide=True) == SHUFFLED_AFTER_EPOCH


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000, 65535, 65536, 100000])
def test_shuffles_are_permutations(count: int, wide: bool) -> None:
    assert sorted(shuffled(count, 5, wide)) == list(range(count))


def test_buffer_engine_draws_like_the_reference() -> None:
    """An epoch of 16 files, initial_fill=4, seed=42, recorded with nvidia-dali 2.4.0."""
    engine = _kernels.MinStd(42)
    buffer, rest = SHUFFLED_ONCE[:4], SHUFFLED_ONCE[4:]
    found = []
    for left in range(16, 0, -1):
        found.append(buffer.pop(_swap_to_front(buffer, engine.below(min(4, left)))))
        if rest:
            buffer.append(rest.pop(0))
    assert found == [10, 5, 7, 9, 11, 14, 13, 1, 6, 3, 15, 8, 12, 0, 2, 4]


def _swap_to_front(buffer: list[int], index: int) -> int:
    buffer[0], buffer[index] = buffer[index], buffer[0]
    return 0


def test_engine_state_restores() -> None:
    engine = _kernels.MinStd(-1)
    engine.below(10)
    state = engine.state
    expected = [engine.below(1000) for _ in range(20)]
    engine.state = state
    assert [engine.below(1000) for _ in range(20)] == expected
    with pytest.raises(_kernels.InternalError, match="positive"):
        engine.below(0)
