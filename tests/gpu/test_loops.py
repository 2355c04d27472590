# SPDX-License-Identifier: Apache-2.0
"""Sources and functions of the user, and the gpu."""

from __future__ import annotations

from typing import Any

import pytest

import daliesque as ndd


@pytest.mark.filterwarnings("ignore:capture=True was specified:UserWarning")
def test_sources_deliver_to_devices() -> None:
    source = ndd.ExternalSource(lambda: (1, 2), 2, device=["cpu", "gpu"])
    for batch_size in (None, 3):
        outputs = source(batch_size=batch_size)
        assert [output.device.device_type for output in outputs] == ["cpu", "gpu"]
    moved = ndd.ExternalSource([ndd.batch([5, 6])], device="gpu").captured(batch_size=2)
    (batch,) = moved
    assert batch.device.device_type == "gpu"
    assert batch.cpu().torch().tolist() == [5, 6]


def test_functions_take_data_in_cpu_memory() -> None:
    with pytest.raises(ValueError, match=r"map\(<lambda>\): Python functions get arrays in CPU"):
        ndd.map(lambda x: x, ndd.batch([1, 2]).gpu())

    @ndd.operator
    def scale(x: Any, *, factor: Any) -> Any:
        return x * factor

    with pytest.raises(ValueError, match=r"scale: Python functions .*\.cpu\(\)"):
        scale(ndd.batch([1]), device="gpu", factor=2)
    # Arguments are read in CPU memory anyway, as those of all operators.
    result = scale(ndd.batch([1, 2]), factor=ndd.batch([3, 4]).gpu())
    assert result.torch().tolist() == [3, 8]
