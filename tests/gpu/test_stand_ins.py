# SPDX-License-Identifier: Apache-2.0
"""How many devices stand in for accelerators, and their streams."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import daliesque as ndd
stream = ndd.get_current_stream()
assert isinstance(stream, ndd.Stream), stream
stream.synchronize()
count = {count}
for number in range(count):
    with ndd.EvalContext(device_id=number) as context:
        assert context.device_id == number
        assert ndd.get_current_stream().device_id == number
        moved = ndd.tensor([1, 2]).gpu()
        assert moved.device.device_id == number
        np.testing.assert_array_equal((moved + number).cpu(), [1 + number, 2 + number])
    other = ndd.batch([[1, 2]]).to(f"gpu:{{number}}")
    assert str(other.device) == f"gpu:{{number}}"
    assert other.tolist() == [[1, 2]]
try:
    ndd.EvalContext(device_id=count)
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(("variable", "count"), [("cpu", 2), ("cpu:1", 1), ("cpu:4", 4)])
def test_as_many_devices_as_the_variable_says(variable: str, count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(count=count)],
        env={**os.environ, "DALIESQUE_GPU": variable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"invalid device id {count}" in done.stdout


@pytest.mark.parametrize("variable", ["cpu:0", "cpu:", "cpu:x", "cuda"])
def test_other_values_are_refused(variable: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import daliesque as ndd; ndd.Device('gpu')"],
        env={**os.environ, "DALIESQUE_GPU": variable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "must be unset or 'cpu' or 'cpu:<number of devices>'" in done.stderr
