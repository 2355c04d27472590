# SPDX-License-Identifier: Apache-2.0
"""The tables of names in docs/coming-from are true, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.peer_calls import PAGES, RECORD, STEP, Row, differences, picture, rows

ROWS = [row for page in sorted(PAGES.glob("*.md")) for row in rows(page.stem)]


@pytest.fixture(scope="module")
def recorded() -> Any:
    """What the other libraries gave."""
    return np.load(RECORD)


def names_of(row: Row) -> dict[str, Any]:
    """What our calls may use."""
    images = [picture(), picture()[::-1].copy(), picture()[:, ::-1].copy(), picture()]
    batch = ndd.batch(images, layout="HWC")
    return {
        "ndd": ndd,
        "np": np,
        "image": ndd.tensor(picture(), layout="HWC"),
        "images": batch,
        "labels": ndd.batch([0, 1, 2, 1]),
        "scene": ndd.Scene(image=batch, boxes=[[[10, 20, 60, 70]]] * 4, labels=[[1]] * 4),
        "n": 4,
        "row": row,
    }


@pytest.mark.parametrize("row", ROWS, ids=[row.key for row in ROWS])
def test_row(row: Row, recorded: Any) -> None:
    result = eval(row.ours, names_of(row))
    if row.difference is None:
        # Whatever was called has done its work.
        for part in result if isinstance(result, tuple) else (result,):
            if isinstance(part, ndd.Tensor | ndd.Batch):
                part.evaluate()
        return
    pixels = np.asarray(result)[::STEP, ::STEP]
    largest, share = differences(pixels, recorded[row.key])
    stated_largest, stated_share = row.difference
    assert largest <= stated_largest
    assert share <= max(stated_share * 1.1, 0.05)


def test_there_are_tables() -> None:
    pages = {row.page for row in ROWS}
    assert {"torchvision", "albumentations"} <= pages
    assert sum(row.difference is not None for row in ROWS) > 40
