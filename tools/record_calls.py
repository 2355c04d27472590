# SPDX-License-Identifier: Apache-2.0
"""Record what the reference makes of the calls in tests/support/move_calls.py and resize_calls.py.

Run in an environment with the reference installed:

    python tools/record_calls.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import nvidia.dali
import nvidia.dali.experimental.dynamic as ndd

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from support import move_calls, resize_calls
from support.recorded import GOLDENS, run_call

if __name__ == "__main__":
    producer = np.array(f"nvidia-dali {nvidia.dali.__version__}, dynamic mode, cpu")
    for name, calls in {"moves": move_calls.CALLS, "resize": resize_calls.CALLS}.items():
        arrays = {
            f"{index}.{k}": array
            for index, call in enumerate(calls)
            for k, array in enumerate(run_call(ndd, call))
        }
        texts = np.array([repr(call) for call in calls])
        path = GOLDENS / f"{name}.npz"
        stored: dict[str, Any] = {"producer": producer, "calls": texts, **arrays}
        np.savez_compressed(path, **stored)
        print(f"{name}: {len(calls)} calls, {path.stat().st_size} bytes")
