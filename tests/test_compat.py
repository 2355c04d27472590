# SPDX-License-Identifier: Apache-2.0
"""Unedited scripts for the reference run after `as_dali()`."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import daliesque
daliesque.as_dali()
import numpy as np
import nvidia.dali.experimental.dynamic as ndd
import nvidia.dali.types as types
from nvidia.dali import tfrecord
from nvidia.dali.experimental.dynamic import random, math
from nvidia.dali.types import DALIDataType

rng = random.RNG(seed=3)
noise = ndd.random.uniform(range=(0, 1), shape=[4], rng=rng)
batch = ndd.cast(ndd.batch([np.ones(3), np.ones(2)]), dtype=types.FLOAT16)
assert batch.dtype == ndd.float16 and ndd is daliesque
assert DALIDataType.FLOAT == 9 and tfrecord.FixedLenFeature((), tfrecord.int64, 0).shape == ()
assert math.sqrt(ndd.tensor(4.0)).item() == 2
print("ok", noise.shape)
"""

REFUSED = """
import sys, types
sys.modules["nvidia.dali"] = types.ModuleType("nvidia.dali")
import daliesque
try:
    daliesque.as_dali()
except RuntimeError as error:
    print("ok" if "imported already" in str(error) else error)
"""

UNDONE = """
import sys, daliesque
with daliesque.as_dali():
    import nvidia.dali.experimental.dynamic
left = [name for name in sys.modules if name.startswith("nvidia")]
print("ok" if left == [] else left)
"""


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_script_runs() -> None:
    assert run(SCRIPT) == "ok (4,)\n"


def test_refuses_the_real_package() -> None:
    assert run(REFUSED) == "ok\n"


def test_context_manager_undoes_it() -> None:
    assert run(UNDONE) == "ok\n"
