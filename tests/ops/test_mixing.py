# SPDX-License-Identifier: Apache-2.0
"""Mixtures of images and labels against plain NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import daliesque as ndd
from support.compare import assert_close, assert_near, assert_same

Array = NDArray[Any]
CLASSES = 5


def noise(count: int, shape: tuple[int, ...] = (20, 30, 3), dtype: str = "uint8") -> list[Array]:
    rng = np.random.default_rng(count)
    return [rng.uniform(0, 250, shape).astype(dtype) for _ in range(count)]


def marked(numbers: list[int]) -> Array:
    return np.eye(CLASSES, dtype=np.float32)[numbers]


def arrays(batch: Any) -> list[Array]:
    return [np.asarray(sample) for sample in batch.tensors]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32"])
def test_mixup(dtype: str) -> None:
    images, numbers = noise(4, dtype=dtype), [3, 0, 1, 3]
    lam = np.array([0.0, 0.25, 0.7, 1.0], np.float32)
    labels = ndd.batch(numbers)
    batch = ndd.batch(images, layout="HWC")
    made, mixed = ndd.mixup(batch, labels, num_classes=CLASSES, lam=ndd.batch(lam))
    rows = marked(numbers)
    for i, found in enumerate(arrays(made)):
        exact = lam[i] * images[i].astype(np.float64) + (1 - lam[i]) * images[i - 1]
        expected = exact if dtype.startswith("float") else np.floor(exact + 0.5)
        assert_near(found, expected.astype(dtype))
        weights = lam[i] * rows[i] + (1 - lam[i]) * rows[i - 1]
        assert_close(np.asarray(mixed.tensors[i]), weights, "unit values")


def test_mixup_takes_soft_labels_and_partners() -> None:
    images = ndd.batch(noise(3), layout="HWC")
    soft = np.random.default_rng(1).dirichlet(np.ones(CLASSES), 3).astype(np.float32)
    partners = [2, 2, 0]
    _, mixed = ndd.mixup(images, ndd.batch(soft), lam=0.6, partners=ndd.batch(partners))
    assert_close(np.asarray(mixed), 0.6 * soft + 0.4 * soft[partners], "unit values")
    # Vectors of integers that mark a class are labels as well.
    _, mixed = ndd.mixup(images, ndd.batch(marked([1, 2, 0]).astype(np.int64)), lam=0.6)
    expected = 0.6 * marked([1, 2, 0]) + 0.4 * marked([0, 1, 2])
    assert_close(np.asarray(mixed), expected, "unit values")


def test_mixup_draws_from_a_beta_distribution() -> None:
    count = 2000
    images = ndd.batch([np.full((1,), i % 2, np.float32) for i in range(count)])
    made = np.asarray(ndd.mixup(images, alpha=2.0, rng=ndd.random.RNG(4)))[:, 0]
    own = np.where(np.arange(count) % 2 == 1, made, 1 - made)
    # Beta(2, 2): mean 1/2, variance 1/20.
    assert abs(own.mean() - 0.5) < 0.02
    assert abs(own.var() - 0.05) < 0.005


def test_cutmix_with_boxes() -> None:
    images, numbers = noise(3), [0, 4, 2]
    boxes = np.array([[5, 2, 25, 12], [0, 0, 30, 20], [7, 7, 7, 9]])
    batch, labels = ndd.batch(images, layout="HWC"), ndd.batch(numbers)
    made, mixed = ndd.cutmix(batch, labels, num_classes=CLASSES, boxes=ndd.batch(boxes))
    rows = marked(numbers)
    for i, (left, top, right, bottom) in enumerate(boxes.tolist()):
        expected = images[i].copy()
        expected[top:bottom, left:right] = images[i - 1][top:bottom, left:right]
        assert_same(np.asarray(made.tensors[i]), expected)
        share = (right - left) * (bottom - top) / 600
        weights = (1 - share) * rows[i] + share * rows[i - 1]
        assert_close(np.asarray(mixed.tensors[i]), weights, "unit values")


def test_cutmix_draws_boxes_as_large_as_weights_say() -> None:
    """Boxes are cut off at edges; those that are not have the share that was asked for."""
    images = [np.full((100, 200, 1), i, np.uint8) for i in range(100)]
    labels = ndd.batch(list(range(100)))
    made, mixed = ndd.cutmix(
        ndd.batch(images, layout="HWC"), labels, num_classes=100, lam=0.75, rng=ndd.random.RNG(5)
    )
    shares = []
    for i, (image, row) in enumerate(zip(arrays(made), arrays(mixed), strict=True)):
        foreign = image[..., 0] == (i - 1) % 100
        shares.append(foreign.mean())
        assert_close(row[i], 1 - shares[-1], "unit values")
        assert_close(row[i - 1], shares[-1], "unit values")
    assert max(shares) == 0.25
    assert min(shares) >= 0.25 / 4
    assert 0.15 < float(np.mean(shares)) < 0.24


def test_mosaic() -> None:
    images = [np.full((10 + i, 14 - i, 1), i + 1, np.uint8) for i in range(4)]
    batch, labels = ndd.batch(images, layout="HWC"), ndd.batch([0, 1, 2, 3])
    made, mixed = ndd.mosaic(
        batch, labels, size=[20, 24], centers=[0.5, 0.25], fill_value=9, num_classes=4
    )
    for i, (image, row) in enumerate(zip(arrays(made), arrays(mixed), strict=True)):
        expected = np.full((20, 24), 9, np.uint8)
        areas = np.zeros(4)
        for quadrant, member in enumerate([i, i - 1, i - 2, i - 3]):
            number = member % 4
            height, width = images[number].shape[:2]
            rows = slice(max(10 - height, 0), 10) if quadrant < 2 else slice(10, 10 + height)
            columns = slice(max(6 - width, 0), 6) if quadrant % 2 == 0 else slice(6, 6 + width)
            expected[rows, columns] = number + 1
            areas[number] += (expected[rows, columns]).size
        assert_same(image[..., 0], expected)
        assert_close(row, areas / areas.sum(), "unit values")


def test_mosaic_shows_the_parts_next_to_the_center() -> None:
    images = noise(4, (8, 8, 3))
    batch = ndd.batch(images, layout="HWC")
    partners = ndd.batch([[1, 2, 3]] * 4)
    (made, *_) = arrays(ndd.mosaic(batch, centers=[0.25, 0.75], partners=partners))
    assert_same(made[:2, :6], images[0][6:, 2:])
    assert_same(made[:2, 6:], images[1][6:, :2])
    assert_same(made[2:, :6], images[2][:6, 2:])
    assert_same(made[2:, 6:], images[3][:6, :2])


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_copy_paste(dtype: str) -> None:
    images = noise(3, dtype=dtype)
    rng = np.random.default_rng(2)
    masks = [rng.integers(0, 2, (20, 30), np.uint8) * 255 for _ in range(3)]
    batch, labels = ndd.batch(images, layout="HWC"), ndd.batch([0, 1, 2])
    made, mixed = ndd.copy_paste(batch, ndd.batch(masks), labels, num_classes=3)
    for i in range(3):
        expected = np.where(masks[i - 1][..., None] > 0, images[i - 1], images[i])
        assert_same(np.asarray(made.tensors[i]), expected)
        share = (masks[i - 1] > 0).mean()
        assert_close(np.asarray(mixed.tensors[i])[[i, i - 1]], [1 - share, share], "unit values")
    only = ndd.copy_paste(batch, ndd.batch([mask > 0 for mask in masks]), partners=0)
    assert_same(np.asarray(only.tensors[0]), images[0])


@pytest.mark.parametrize(
    ("operator", "labels", "arguments", "message"),
    [
        ("mixup", [0, 1], {}, "'num_classes' must be given, because labels are class numbers"),
        ("mixup", [0, 7], {"num_classes": 5}, "class numbers, 0 to 4; got 7 .sample 1"),
        ("mixup", None, {"lam": 2.0}, "'lam' must be between 0 and 1; got 2"),
        ("mixup", None, {"alpha": 0.0}, "'alpha' must be positive, and at most 1e.09; got 0"),
        ("cutmix", None, {"alpha": 1e300}, "'alpha' must be positive, and at most 1e.09; got 1e"),
        ("mixup", None, {"partners": 2}, "'partners' must be numbers of samples, 0 to 1; got 2"),
        ("cutmix", None, {"boxes": [0, 0, 31, 5]}, "'boxes' must lie in images"),
        ("cutmix", None, {"boxes": [0, 0, 3]}, "'boxes' needs 4 values"),
        ("mosaic", None, {"centers": [0.5, 2]}, "'centers' must be two numbers .* between 0 and 1"),
        ("mosaic", None, {"partners": [1, 0]}, "'partners' needs three numbers of samples; got 2"),
        ("mosaic", None, {"size": [0, 5]}, "'size' must be two positive numbers"),
    ],
)
def test_errors(operator: str, labels: Any, arguments: dict[str, Any], message: str) -> None:
    inputs = [ndd.batch(noise(2), layout="HWC")]
    if labels is not None:
        inputs.append(ndd.batch(labels))
    with ndd.EvalMode.sync_cpu, pytest.raises(ValueError, match=f"{operator}: .*{message}"):
        getattr(ndd, operator)(*inputs, **arguments)


def test_errors_of_shapes() -> None:
    ragged = ndd.batch([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8)], layout="HWC")
    for operator in (ndd.mixup, ndd.cutmix):
        with pytest.raises(ValueError, match="images that are mixed need equal shapes; got"):
            operator(ragged).evaluate()
    batch = ndd.batch(noise(2), layout="HWC")
    with pytest.raises(ValueError, match="'masks' need the height and width of their images"):
        ndd.copy_paste(batch, ndd.batch([np.zeros((3, 3), np.uint8)] * 2)).evaluate()
