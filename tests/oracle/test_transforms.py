# SPDX-License-Identifier: Apache-2.0
"""Affine transformations are what the reference gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.compare import assert_close
from support.libraries import Each, Single
from support.oracle import assert_agree, assert_both_refuse, assert_nearly_agree, ours, reference

pytestmark = pytest.mark.oracle


def each(values: Any, kind: Any = np.float32) -> Each:
    return Each([np.asarray(value, kind) for value in values])


def test_transforms() -> None:
    rng = np.random.default_rng(10)
    matrices = [rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3)]
    space = [rng.normal(size=(3, 4)).astype(np.float32) for _ in range(3)]
    two, three = [1.5, -2.25], [0.5, 3.0, -1.25]
    exact: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("translation", [], {"offset": two}),
        ("translation", [matrices], {"offset": each(rng.normal(size=(3, 2)))}),
        ("translation", [space], {"offset": three, "reverse_order": True}),
        ("scale", [], {"scale": three, "center": [1.0, 2.0, 3.0]}),
        ("scale", [], {"scale": 2.5, "ndim": 4}),
        ("scale", [matrices], {"scale": 1.5}),
        ("crop", [], {"from_start": two, "from_end": [5.0, 7.0], "to_end": [9.0, 3.0]}),
        ("crop", [matrices], {"from_end": each(rng.uniform(1, 9, (3, 2)))}),
        ("crop", [], {"from_start": [5.0, 1.0], "from_end": [1.0, 5.0], "absolute": True}),
        ("combine", [matrices, matrices], {}),
        ("combine", [matrices, matrices, matrices], {"reverse_order": True}),
        ("combine", [space, Single(space[0])], {}),
    ]
    for name, inputs, arguments in exact:
        size = {} if inputs else {"batch_size": 2}
        assert_agree(f"transforms.{name}", *inputs, **arguments, **size)
    rounded: list[tuple[str, list[Any], dict[str, Any]]] = [
        ("rotation", [], {"angle": each(rng.uniform(-400, 400, 3))}),
        ("rotation", [matrices], {"angle": 33.0, "center": two}),
        ("rotation", [], {"angle": 33.0, "axis": three, "batch_size": 2}),
        ("rotation", [space], {"angle": -120.0, "axis": [0.0, -2.0, 0.0], "center": three}),
        ("rotation", [], {"angle": 0.0, "axis": [0.0, 0.0, 0.0], "batch_size": 1}),
        ("shear", [], {"shear": two, "batch_size": 2}),
        ("shear", [matrices], {"angles": [30.0, -60.0], "center": two}),
        ("shear", [], {"shear": np.float32([[1, 2], [3, 4], [5, 6]]), "batch_size": 1}),
        ("shear", [space], {"angles": np.float32([[1, 2], [3, 4], [5, 6]]), "center": three}),
    ]
    for name, inputs, arguments in rounded:
        assert_nearly_agree(
            f"transforms.{name}", *inputs, tolerance="agreement of matrices", **arguments
        )


def per_frame(library: Any, values: Any) -> Any:
    return library.per_frame(library.batch(values))


def test_transforms_of_frames() -> None:
    rng = np.random.default_rng(11)
    offsets = [rng.normal(size=(n, 2)).astype(np.float32) for n in (3, 1)]
    results = []
    for library in (reference, ours):
        moved = library.transforms.translation(offset=per_frame(library, offsets))
        fixed = library.transforms.scale(moved, scale=[2.0, 3.0])
        angles = per_frame(library, [values[:, 0].copy() for values in offsets])
        rotated = library.transforms.rotation(fixed, angle=angles)
        joined = library.transforms.combine(library.transforms.shear(shear=[1.0, 2.0]), rotated)
        single = library.transforms.scale(
            library.tensor(np.eye(2, 3, dtype=np.float32)),
            scale=library.per_frame(library.tensor(offsets[0])),
        )
        for part in (moved, fixed, rotated, joined, single):
            tensors = part.tensors if hasattr(part, "tensors") else [part]
            results.append((part.layout, [np.asarray(tensor) for tensor in tensors]))
    half = len(results) // 2
    for (layout, theirs), (our_layout, mine) in zip(results[:half], results[half:], strict=True):
        assert our_layout == layout
        for a, b in zip(mine, theirs, strict=True):
            assert_close(a, b, "agreement of frames")


@pytest.mark.parametrize(
    ("name", "inputs", "arguments"),
    [
        ("translation", (), {"offset": [1.0] * 7}),
        ("translation", (Single(np.zeros((2, 2), "f4")),), {"offset": [1.0, 2.0]}),
        ("translation", (Single(np.zeros((2, 3), "f4")),), {"offset": [1.0, 2.0, 3.0]}),
        ("scale", (), {"scale": [1.0, 2.0], "center": [1.0, 2.0, 3.0]}),
        ("rotation", (), {"angle": 1.0, "axis": [1.0, 2.0]}),
        ("shear", (), {}),
        ("shear", (), {"shear": [1.0, 2.0], "angles": [1.0, 2.0]}),
        ("shear", (), {"shear": [1.0, 2.0, 3.0]}),
        ("shear", (), {"angles": [91.0, 0.0]}),
        ("crop", (), {"from_start": [1.0, 2.0], "from_end": [1.0, 2.0, 3.0]}),
        ("combine", (Single(np.zeros((2, 3), "f4")),), {}),
        ("combine", (Single(np.zeros((2, 3), "f4")), Single(np.zeros((3, 4), "f4"))), {}),
    ],
)
def test_what_both_refuse(name: str, inputs: tuple[Any, ...], arguments: dict[str, Any]) -> None:
    assert_both_refuse(f"transforms.{name}", *inputs, **arguments)
