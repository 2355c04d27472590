# SPDX-License-Identifier: Apache-2.0
"""readers.Numpy against the reference library itself."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.oracle import reference

pytestmark = pytest.mark.oracle

TYPES = "? u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8".split()


def values(library: Any, batch_size: int | None, epochs: int, **arguments: Any) -> list[Any]:
    """Everything that some epochs deliver."""
    reader = library.readers.Numpy(**arguments)
    result = []
    for _ in range(epochs):
        for (output,) in reader.next_epoch(batch_size=batch_size):
            samples = [output] if batch_size is None else output.tensors
            arrays = [np.asarray(sample.evaluate()) for sample in samples]
            names = [
                bytes(np.asarray(reference.get_property(s, key="source_info").evaluate())).decode()
                if library is reference
                else s.source
                for s in samples
            ]
            result.append(
                [
                    (str(a.dtype), a.shape, a.tobytes(), s.layout, n)
                    for a, s, n in zip(arrays, samples, names, strict=True)
                ]
            )
    return result


def make_files(root: Path, dtype: str, ndim: int, count: int, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    for k in range(count):
        array = rng.integers(0, 200, rng.integers(3, 9, ndim)).astype(dtype)
        path = root / ("sub" if k % 3 == 0 else ".") / f"{k:02d}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, np.asfortranarray(array) if rng.random() < 0.4 else array)
    return root


def test_random_arguments(tmp_path: Path) -> None:
    rng = random.Random(4)
    for trial in range(80):
        ndim = rng.randint(1, 5)
        root = make_files(tmp_path / str(trial), rng.choice(TYPES), ndim, rng.randint(1, 7), trial)
        arguments: dict[str, Any] = {
            "file_root": str(root),
            "random_shuffle": rng.random() < 0.3,
            "cache_header_information": rng.random() < 0.3,
            "dont_use_mmap": rng.random() < 0.3,
            "out_of_bounds_policy": rng.choice(["pad", "trim_to_shape"]),
            "fill_value": rng.choice([0, 1, -3.5, 2.5, 300, 1e6, 0.25]),
        }
        axes = rng.sample(range(ndim), rng.randint(1, ndim)) if rng.random() < 0.5 else []
        count = len(axes) or ndim
        if axes:
            arguments["roi_axes"] = axes
        begin, end = rng.choice(["", "roi", "rel"]), rng.choice(["", "roi", "rel", "size", "rsize"])
        if begin == "roi":
            arguments["roi_start"] = [rng.randint(-2, 3) for _ in range(count)]
        elif begin == "rel":
            arguments["rel_roi_start"] = [rng.uniform(-0.2, 0.5) for _ in range(count)]
        if end == "roi":
            arguments["roi_end"] = [rng.randint(4, 12) for _ in range(count)]
        elif end == "rel":
            arguments["rel_roi_end"] = [rng.uniform(1, 1.5) for _ in range(count)]
        elif end == "size":
            arguments["roi_shape"] = [rng.randint(0, 6) for _ in range(count)]
        elif end == "rsize":
            arguments["rel_roi_shape"] = [rng.uniform(0, 1.5) for _ in range(count)]
        batch_size = rng.choice([None, 1, 3])
        try:
            expected = values(reference, batch_size, 2, **arguments)
        except RuntimeError:
            with pytest.raises(RuntimeError, match=r"readers\.Numpy"):
                values(ndd, batch_size, 2, **arguments)
            continue
        assert values(ndd, batch_size, 2, **arguments) == expected, arguments


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_every_type(tmp_path: Path, dtype: str) -> None:
    arguments = {"file_root": str(make_files(tmp_path, dtype, 3, 5, 1))}
    assert values(ndd, 2, 1, **arguments) == values(reference, 2, 1, **arguments)
    assert values(ndd, None, 1, **arguments) == values(reference, None, 1, **arguments)


def test_files_from_lists_and_filters(tmp_path: Path) -> None:
    make_files(tmp_path / "data", "i4", 2, 5, 1)
    (tmp_path / "data" / "list").write_text("01.npy\n\nsub/00.npy\n02.npy")
    for arguments in (
        {"file_list": str(tmp_path / "data" / "list")},
        {"files": ["01.npy", "sub/03.npy"], "file_root": str(tmp_path / "data")},
        {"files": [str(tmp_path / "data" / "04.npy")]},
        {"file_root": str(tmp_path / "data"), "file_filter": "0[1-3].npy"},
    ):
        assert values(ndd, 2, 2, **arguments) == values(reference, 2, 2, **arguments)
