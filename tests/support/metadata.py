# SPDX-License-Identifier: Apache-2.0
"""What pending results of the operators say about themselves, and that it is true."""

from __future__ import annotations

from typing import Any

import daliesque as ndd
from support.case_inputs import Case

# Only the files say what they hold.
FROM_DATA = {"decoders.numpy": {"dtype", "ndim"}}

# The size of the results follows from their data, or from random numbers.
WITHOUT_SHAPE = {
    "bbox_rotate",
    "decoders.audio",
    "decoders.image",
    "decoders.image_crop",
    "decoders.image_random_crop",
    "decoders.image_slice",
    "decoders.numpy",
    "decoders.video",
    "get_property",
    "io.file.read",
    "random_bbox_crop",
    "segmentation.select_masks",
}


def is_pending(value: Any) -> bool:
    """Whether a value does not exist yet."""
    return value._pending is not None and not value._pending.done


def _properties(case: Case) -> list[str]:
    unknown = FROM_DATA.get(case.operator, set())
    return [name for name in ("dtype", "ndim", "layout", "device") if name not in unknown]


def known(case: Case, value: Any) -> dict[str, Any]:
    """What can be read of a pending value."""
    found = {name: getattr(value, name) for name in _properties(case)}
    if isinstance(value, ndd.Batch):
        found["batch_size"] = value.batch_size
    if case.operator not in WITHOUT_SHAPE:
        found["shape"] = value.shape
    return found


def assert_announced(case: Case, results: tuple[Any, ...]) -> None:
    """Deferred results say what they will be, and are that."""
    announced = [known(case, part) for part in results]
    assert all(is_pending(part) for part in results), "reading metadata has run the call"
    for part, expected in zip(results, announced, strict=True):
        samples = part.evaluate()._data()
        delivered = known(case, part)
        delivered["batch_size"] = len(samples)
        assert expected == {name: delivered[name] for name in expected}
