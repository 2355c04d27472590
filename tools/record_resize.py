# SPDX-License-Identifier: Apache-2.0
"""Record what the reference makes of the calls in tests/resize_calls.py.

Run in an environment with the reference installed:

    python tools/record_resize.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import nvidia.dali
import nvidia.dali.experimental.dynamic as ndd

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from resize_calls import CALLS, RECORD, run_call

if __name__ == "__main__":
    arrays = {
        f"{index}.{k}": array
        for index, call in enumerate(CALLS)
        for k, array in enumerate(run_call(ndd, call))
    }
    producer = np.array(f"nvidia-dali {nvidia.dali.__version__}, dynamic mode, cpu")
    calls = np.array([repr(call) for call in CALLS])
    np.savez_compressed(RECORD, producer=producer, calls=calls, **arrays)
    print(f"{len(CALLS)} calls, {RECORD.stat().st_size} bytes")
