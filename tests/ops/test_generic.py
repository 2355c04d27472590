# SPDX-License-Identifier: Apache-2.0
"""Conversions, the order of samples, properties, and images written to files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from daliesque._engine.batch import Batch
from support.compare import assert_same
from support.reference.arithmetic import TYPES, is_float
from support.reference.arithmetic import cast as reference_cast


def from_files(names: list[str]) -> ndd.Batch:
    """A batch as readers make it: with sources."""
    made: ndd.Batch = Batch._of(ndd.batch([[k] for k in range(len(names))])._data(), tuple(names))
    return made


def texts(batch: ndd.Batch) -> list[str]:
    return [bytes(np.asarray(sample)).decode() for sample in batch]


def test_permute_batch() -> None:
    batch = ndd.batch([[1], [2, 2], [3, 3, 3]], layout="X")
    for indices in ([2, 0, 0], ndd.batch([2, 0, 0]), np.array([2, 0, 0])):
        made = ndd.permute_batch(batch, indices=indices)
        assert made.shape == [(3,), (1,), (1,)]
        assert made.layout == "X"
    assert ndd.permute_batch(batch, indices=1).shape == [(2,)] * 3
    assert ndd.permute_batch([5], indices=ndd.batch([0, 0])).shape == [(1,), (1,)]
    shared = ndd.permute_batch(batch, indices=[2, 1, 0]).select(2)
    assert np.shares_memory(np.asarray(shared), np.asarray(batch.select(0)))


def test_sources_move_with_their_samples() -> None:
    batch = from_files(["a", "bb", "ccc"])
    assert ndd.permute_batch(batch, indices=[2, 0, 0]).source == ["ccc", "a", "a"]
    # Numbers that are not known yet do not determine the sources of the result.
    order = ndd.permute_batch(ndd.batch([2, 0, 1]), indices=[0, 1, 2])
    assert ndd.permute_batch(batch, indices=order).source is None


@pytest.mark.parametrize("mode", [ndd.EvalMode.eager, ndd.EvalMode.deferred], ids=lambda m: m.name)
def test_source_info(mode: ndd.EvalMode) -> None:
    batch = from_files(["train/ä.jpg", "b.jpg"])
    with mode:
        assert texts(ndd.get_property(batch, key="source_info")) == ["train/ä.jpg", "b.jpg"]
        again = ndd.get_property(ndd.reshape(batch, shape=[1, 1]), key="source_info")
        assert texts(again) == ["train/ä.jpg", "b.jpg"]
        single = ndd.get_property(batch.select(1), key="source_info")
        assert bytes(np.asarray(single)) == b"b.jpg"
    assert ndd.get_property(ndd.batch([1, 2]), key="source_info").shape == [(0,), (0,)]


def test_layout_property() -> None:
    batch = ndd.batch([np.zeros((2, 3)), np.zeros((1, 1))], layout="HW")
    assert texts(ndd.get_property(batch, key="layout")) == ["HW", "HW"]
    assert ndd.get_property([1, 2], key="layout").shape == (0,)


def test_batch_permutation() -> None:
    for size in (1, 2, 7, 40):
        order = [int(k) for k in ndd.batch_permutation(batch_size=size)]
        assert sorted(order) == list(range(size))
        moved = [int(k) for k in ndd.batch_permutation(batch_size=size, no_fixed_points=True)]
        assert sorted(moved) == list(range(size))
        assert size == 1 or all(k != index for index, k in enumerate(moved))
        free = ndd.batch_permutation(batch_size=size, allow_repetitions=True, no_fixed_points=True)
        drawn = [int(k) for k in free]
        assert all(0 <= k < size for k in drawn)
        assert size == 1 or all(k != index for index, k in enumerate(drawn))
    counts = np.zeros((4, 4))
    for _ in range(400):
        order = [int(k) for k in ndd.batch_permutation(batch_size=4)]
        counts[range(4), order] += 1
    # Each number is a hundred times at each index, give or take five standard deviations.
    assert np.abs(counts - 100).max() < 45


def test_dump_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import cv2

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 256, shape, np.uint8) for shape in ((5, 7, 3), (2, 300, 3))]
    passed = ndd.dump_image(ndd.batch(images, layout="HWC"), suffix="a")
    assert passed.layout == "HWC"
    for number, image in enumerate(images):
        np.testing.assert_array_equal(np.asarray(passed.select(number)), image)
        written = cv2.imread(f"{number}-a-0.ppm")
        np.testing.assert_array_equal(written[..., ::-1], image)
    ndd.dump_image(images[0][..., :1]).evaluate()
    gray = cv2.imread("0--0.ppm", cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(gray, images[0][..., 0])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"batch_permutation: 'batch_size' must be given"):
        ndd.batch_permutation()
    batch = ndd.batch([1, 2, 3])
    for indices, message in (
        ([0, 1], "'indices' must hold 3 numbers, one for each sample; got 2"),
        ([0, 1, 3], "0 to 2; got 3"),
        ([0, 1, -1], "0 to 2; got -1"),
    ):
        with pytest.raises(ValueError, match=f"permute_batch: .*{message}"):
            ndd.permute_batch(batch, indices=indices).evaluate()
    with pytest.raises(ValueError, match=r"get_property: 'key' must be .* got 'color'"):
        ndd.get_property(batch, key="color").evaluate()
    with pytest.raises(ValueError, match=r"dump_image: .* got the shape \(2, 2, 4\) \(sample 0\)"):
        ndd.dump_image(np.zeros((2, 2, 4), np.uint8))
    with pytest.raises(ValueError, match="dump_image: the type float32 is not supported"):
        ndd.dump_image(np.zeros((2, 2, 3), np.float32))
    with pytest.raises(ValueError, match="dump_image: 'input_layout' must be 'HWC'"):
        ndd.dump_image(np.zeros((2, 2, 3), np.uint8), input_layout="CHW")


EDGES = [
    *(0.0, -0.0, 0.4, 0.49999997, 0.5, 0.50000006, -0.4, -0.5, -0.6, 1.5, 2.5, -1.5, -2.5),
    *(127.4, 127.5, 128, -128.4, -128.5, -129, 254.5, 255.5, 256, -1, 32767.5, 65535.5),
    *(65504, 65519, 65520, 65536, 2147483520, 2147483647, 2147483648, -2147483648, -2147483904),
    *(4294967040, 4294967295, 4294967296, 9.2233715e18, 2.0**63, 1.8446743e19, 2.0**64, 1e30),
    *(-1e30, 1e300, np.inf, -np.inf, np.nan, 2.0**-24, 2.0**-25, 2.0**-26, 3 * 2.0**-25),
    *(1.00048828125, 1.00146484375, 2049, 2051, 1.00390625, 1.01171875),
]


def values_of(dtype: np.dtype[Any]) -> Any:
    rng = np.random.default_rng(5)
    if dtype.kind == "b":
        return rng.integers(0, 2, 100) == 1
    if is_float(dtype):
        scale = rng.choice([1, 100, 1e4, 1e6, 1e10, 1e-5], 500)
        with np.errstate(over="ignore"):
            return np.concatenate([EDGES, rng.normal(size=500) * scale]).astype(dtype)
    limits = np.iinfo(dtype)
    powers = [
        sign * 2**p + d
        for p in (7, 8, 15, 16, 24, 31, 32, 53, 63)
        for d in (-1, 0, 1)
        for sign in (1, -1)
    ]
    edges = [v for v in (*powers, limits.min, limits.max, 0, 1) if limits.min <= v <= limits.max]
    anything = rng.integers(limits.min, limits.max, 300, dtype=dtype, endpoint=True)
    return np.concatenate([np.array(edges, dtype), anything])


@pytest.mark.parametrize("source", TYPES, ids=str)
@pytest.mark.usefixtures("instruction_set")
def test_all_pairs_of_types(source: np.dtype[Any]) -> None:
    values = values_of(source)
    for target in TYPES:
        result = ndd.cast(ndd.as_tensor(values), dtype=ndd.dtype(target))
        assert_same(np.asarray(result), reference_cast(values, target), (source, target))


def test_rounding_and_clamping() -> None:
    values = ndd.tensor([-1.0, 0.5, 1.5, 2.5, 254.5, 300.0, float("nan")])
    assert np.asarray(ndd.cast(values, dtype=ndd.uint8)).tolist() == [0, 1, 2, 3, 255, 255, 0]
    assert np.asarray(ndd.cast(values, dtype=ndd.bool)).tolist() == [True] * 7
    assert np.asarray(ndd.cast([0.4, -0.4, 0.6], dtype=ndd.bool)).tolist() == [False, False, True]


def test_float16_rounds_ties_away_from_zero() -> None:
    values = ndd.tensor([2049.0, -2049.0, 2051.0, 65519.0, 65520.0])
    result = np.asarray(ndd.cast(values, dtype=ndd.float16))
    assert result.tolist() == [2050.0, -2050.0, 2052.0, 65504.0, float("inf")]


def test_large_batches() -> None:
    rng = np.random.default_rng(6)
    # The results exceed the caches, and samples start anywhere within a cache line.
    images = [rng.integers(0, 256, (n, 3001, 3), np.uint8) for n in (701, 1, 1003)]
    for target in (np.float32, np.float16, np.int16):
        result = ndd.cast(ndd.batch(images), dtype=ndd.dtype(target))
        for sample, image in zip(result.tensors, images, strict=True):
            assert_same(np.asarray(sample), image.astype(target))


def test_layout_and_shape_stay() -> None:
    image = ndd.tensor(np.zeros((2, 3, 3), np.uint8), layout="HWC")
    result = ndd.cast(image, dtype=ndd.float32)
    assert (result.layout, result.shape) == ("HWC", (2, 3, 3))
    empty = ndd.cast(ndd.tensor(np.zeros((0, 3), np.uint8)), dtype=ndd.float32)
    assert empty.shape == (0, 3)


def test_enums_convert_to_and_from_integers_only() -> None:
    kinds = ndd.cast(ndd.tensor([1, 2]), dtype=ndd.InterpType)
    assert kinds.dtype == ndd.InterpType
    assert np.asarray(ndd.cast(kinds, dtype=ndd.uint8)).tolist() == [1, 2]
    with pytest.raises((TypeError, ValueError), match="enum types"):
        ndd.cast(kinds, dtype=ndd.float32).evaluate()
    with pytest.raises((TypeError, ValueError), match="enum types"):
        ndd.cast(ndd.tensor([1.0]), dtype=ndd.DataType).evaluate()


@pytest.mark.parametrize("target", ["uint8", "int16", "float32"])
def test_cast_like_takes_the_type_of_the_other(target: str) -> None:
    values = np.float32([[-1.5, 0.5, 300.25]])
    batch = ndd.as_batch([values, values[:, :1]], layout="HW")
    result = ndd.cast_like(batch, np.zeros(3, target))
    assert result.layout == "HW"
    for tensor, array in zip(result.tensors, (values, values[:, :1]), strict=True):
        assert_same(np.asarray(tensor), reference_cast(array, np.dtype(target)))


def test_copies_have_memory_of_their_own() -> None:
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    source = ndd.as_tensor(array, layout="HW")
    copied = ndd.copy(source).evaluate()
    strided = ndd.copy(source[:, ::2]).evaluate()
    array[...] = 0
    assert np.asarray(source).max() == 0
    assert copied.layout == "HW"
    assert_same(np.asarray(copied), np.int16([[0, 1, 2], [3, 4, 5]]))
    assert_same(np.asarray(strided), np.int16([[0, 2], [3, 5]]))
