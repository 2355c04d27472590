# SPDX-License-Identifier: Apache-2.0
"""Random regions that are filled: their number, sizes and positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd

Array = NDArray[Any]


def boxes_of(mask: Array) -> tuple[int, int, int, int]:
    """The bounds of what is True: top, left, bottom, right."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def ones(count: int, shape: tuple[int, ...] = (50, 80, 3), layout: str = "HWC") -> ndd.Batch:
    return ndd.batch([np.ones(shape, np.uint8)] * count, layout=layout)


def test_coarse_dropout() -> None:
    sizes = {"hole_height_range": [0.1, 0.3], "hole_width_range": [0.25, 0.5]}
    made = ndd.coarse_dropout(
        ones(200), num_holes_range=[1, 1], fill_value=7, rng=ndd.random.RNG(1), **sizes
    )
    found = []
    for sample in made.tensors:
        image = np.asarray(sample)
        filled = (image == 7).all(axis=2)
        top, left, bottom, right = boxes_of(filled)
        # One whole rectangle, and nothing else has changed.
        assert filled.sum() == (bottom - top) * (right - left)
        assert (image[~filled] == 1).all()
        found.append((top, left, bottom - top, right - left))
    tops, lefts, heights, widths = np.array(found).T
    assert heights.min() == 5
    assert heights.max() == 15
    assert widths.min() == 20
    assert widths.max() == 40
    # They are everywhere, up to the edges.
    assert tops.min() == 0
    assert lefts.min() == 0
    assert (tops + heights).max() == 50
    assert (lefts + widths).max() == 80


def test_numbers_of_holes() -> None:
    """Holes of one pixel: as many as drawn, but for those that coincide."""
    tiny = {"hole_height_range": [0, 0], "hole_width_range": [0, 0]}
    made = ndd.coarse_dropout(ones(300), num_holes_range=[2, 5], rng=ndd.random.RNG(2), **tiny)
    counts = [int((np.asarray(sample)[..., 0] == 0).sum()) for sample in made.tensors]
    assert max(counts) == 5
    assert set(counts) <= {1, 2, 3, 4, 5}
    assert all(counts.count(number) > 40 for number in (2, 3, 4, 5))
    none = ndd.coarse_dropout(ones(2), num_holes_range=[0, 0])
    assert (np.asarray(none) == 1).all()


@pytest.mark.parametrize(
    ("layout", "shape"), [("HW", (20, 30)), ("CHW", (3, 20, 30)), ("FHWC", (4, 20, 30, 3))]
)
@pytest.mark.parametrize("operator", ["coarse_dropout", "random_erasing"])
def test_layouts(operator: str, layout: str, shape: tuple[int, ...]) -> None:
    certain = {"probability": 1} if operator == "random_erasing" else {}
    image = np.asarray(getattr(ndd, operator)(ones(1, shape, layout), **certain))[0]
    axes = tuple(axis for axis, name in enumerate(layout) if name not in "HW")
    # All channels and frames have the same hole.
    assert (image.min(axis=axes) == image.max(axis=axes)).all()
    assert 0 < (image == 0).mean() < 0.5


def test_random_erasing() -> None:
    made = ndd.random_erasing(
        ones(400, (60, 90, 1)), scale=[0.05, 0.2], ratio=[0.5, 2.0], rng=ndd.random.RNG(3)
    )
    areas, ratios = [], []
    for sample in made.tensors:
        filled = np.asarray(sample)[..., 0] == 0
        if filled.any():
            top, left, bottom, right = boxes_of(filled)
            assert filled.sum() == (bottom - top) * (right - left)
            areas.append(filled.mean())
            ratios.append((bottom - top) / (right - left))
    assert 150 < len(areas) < 250
    assert 0.045 < min(areas) < 0.06
    assert 0.19 < max(areas) < 0.21
    assert 0.45 < min(ratios) < 0.6
    assert 1.8 < max(ratios) < 2.2


def test_fill_for_each_channel() -> None:
    made = np.asarray(ndd.random_erasing(ones(1), probability=1, fill_value=[5, 6, 7]))[0]
    assert set(map(tuple, made.reshape(-1, 3).tolist())) == {(1, 1, 1), (5, 6, 7)}


def test_probability_for_each_sample() -> None:
    made = ndd.random_erasing(ones(3), probability=ndd.batch([0.0, 1.0, 0.0]))
    assert [bool((np.asarray(sample) == 0).any()) for sample in made.tensors] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("operator", "arguments", "message"),
    [
        ("coarse_dropout", {"num_holes_range": [3, 2]}, "'num_holes_range' must be two ascending"),
        ("coarse_dropout", {"hole_width_range": [0, 2]}, "between 0 and 1; got .0.0, 2.0."),
        ("random_erasing", {"scale": [0.5]}, "'scale' must be two ascending numbers"),
        ("random_erasing", {"ratio": [0, 1]}, "'ratio' must be two ascending positive numbers"),
        ("random_erasing", {"probability": 1.5}, "'probability' must be between 0 and 1; got 1.5"),
        ("random_erasing", {"fill_value": [1, 2]}, "'fill_value' needs 1 value or 3, one for each"),
    ],
)
def test_errors(operator: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"{operator}: .*{message}"):
        getattr(ndd, operator)(ones(1), **arguments).evaluate()
