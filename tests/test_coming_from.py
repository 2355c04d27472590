# SPDX-License-Identifier: Apache-2.0
"""The tables of names in docs/coming-from are true, row by row."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from support.peer_calls import (
    AUDIO,
    PAGES,
    RECORD,
    STEP,
    Row,
    chirp,
    differences,
    periodic_hann,
    picture,
    relative_difference,
    rows,
)

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
        "audio": ndd.tensor(chirp()),
        "hann": periodic_hann(),
        "scene": ndd.Scene(image=batch, boxes=[[[10, 20, 60, 70]]] * 4, labels=[[1]] * 4),
        "n": 4,
        "row": row,
    }


def result_of_opencv(row: Row) -> Any:
    return eval(row.theirs, {"cv2": cv2, "np": np, "image": picture()})


def result_of_librosa(row: Row) -> Any:
    import librosa

    names = {"librosa": librosa, "np": np, "audio": chirp(), "hann": periodic_hann()}
    return eval(row.theirs, names)


# Libraries that are called here.
CALLED = {"opencv": result_of_opencv, "librosa": result_of_librosa}


@pytest.mark.parametrize("row", ROWS, ids=[row.key for row in ROWS])
def test_row(row: Row, recorded: Any) -> None:
    result = eval(row.ours, names_of(row))
    if row.difference is None:
        # Whatever was called has done its work.
        for part in result if isinstance(result, tuple) else (result,):
            if isinstance(part, ndd.Tensor | ndd.Batch):
                part.evaluate()
        return
    stated_largest, stated_share = row.difference
    if row.page in AUDIO:
        found = relative_difference(np.asarray(result), CALLED[row.page](row))
        assert found <= stated_largest
        return
    pixels = np.asarray(result)[::STEP, ::STEP]
    if row.page in CALLED:
        theirs = np.asarray(CALLED[row.page](row))[::STEP, ::STEP]
    else:
        theirs = recorded[row.key]
    largest, share = differences(pixels, theirs)
    assert largest <= stated_largest
    assert share <= max(stated_share * 1.1, 0.05)


def test_there_are_tables() -> None:
    pages = {row.page for row in ROWS}
    assert {"torchvision", "albumentations", "opencv", "librosa"} <= pages
    assert sum(row.difference is not None for row in ROWS) > 80
