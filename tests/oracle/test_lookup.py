# SPDX-License-Identifier: Apache-2.0
"""Tables give what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

from support.libraries import Type
from support.oracle import assert_agree

pytestmark = pytest.mark.oracle
INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
TYPES = [*INTEGERS, "float16", "float32", "float64", "bool"]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", TYPES)
def test_lookup_table(source: str, target: str) -> None:
    rng = np.random.default_rng(1)
    limits = np.iinfo(source)
    low, high = max(limits.min, -500), min(limits.max, 70000)
    data = [rng.integers(low, high, (20, 30), source, endpoint=True) for _ in range(3)]
    data[0].flat[:3] = [limits.min, limits.max, 0]
    keys = rng.integers(0, 65536 if high > 300 else high + 1, 300)
    arguments = {
        "keys": keys.tolist(),
        "values": rng.uniform(-300, 300, 300).tolist(),
        "default_value": float(rng.uniform(-300, 300)),
        "dtype": Type(target),
    }
    assert_agree("lookup_table", data, **arguments)
    assert_agree("lookup_table", data, default_value=3.0)
