# SPDX-License-Identifier: Apache-2.0
"""What a type checker says about Python functions in a loop. Checked by mypy, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import daliesque as ndd
from daliesque import Batch


def half(image: NDArray[Any]) -> NDArray[Any]:
    """Take every other row."""
    return image[::2]


def functions(images: Batch) -> None:
    """A Batch gives a Batch, and several outputs a tuple."""
    assert_type(ndd.map(half, images), Batch)
    assert_type(ndd.map(half, images, images, dtype=ndd.uint8, layout="HWC"), Batch)
    assert_type(ndd.map(np.divmod, images, 3, num_outputs=2), tuple[Batch, ...])
    assert_type(ndd.map(half, ndd.tensor([1])), Any)
    ndd.operator(half)(images)
    ndd.operator(num_outputs=2, layout=["HWC", None], writable=True)(half)(images)


def sources() -> None:
    """Sources are functions or iterables."""
    ndd.ExternalSource([1, 2, 3], cycle="quiet", dtype=[ndd.float32, "u8"], num_outputs=2)()
    for step in ndd.ExternalSource(lambda: 1, layout=None).captured(batch_size=4):
        assert_type(step, Any)
    state: str = ndd.ExternalSource(range(3)).get_state()
    ndd.ExternalSource(range(3)).set_state(state)
    ndd.readers.Python([1, 2], 8, num_threads=2, layout=["HWC", None], random_shuffle=True)
