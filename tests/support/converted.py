# SPDX-License-Identifier: Apache-2.0
"""Small data sets for converted scripts, and how to run those."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from support.compare import assert_close
from support.record_files import example, write_tfrecord

SCRIPTS = Path(__file__).parents[1] / "cli" / "scripts"


def make_data(root: Path) -> str:
    """Write images of two classes, arrays, audio and records; return the folder."""
    rng = np.random.default_rng(3)
    for label, count in enumerate((3, 4)):
        folder = root / "images" / f"class{label}"
        folder.mkdir(parents=True)
        for i in range(count):
            small = Image.fromarray(rng.integers(0, 255, (5, 6, 3), dtype=np.uint8))
            small.resize((50 + 3 * label, 40 + 5 * i), Image.Resampling.BICUBIC).save(
                folder / f"{i}.jpg", quality=90
            )
    (root / "arrays").mkdir()
    for i in range(3):
        np.save(root / "arrays" / f"{i}.npy", np.full((2, 3), i, np.int16))
    (root / "audio" / "one").mkdir(parents=True)
    for i in range(3):
        with wave.open(str(root / "audio" / "one" / f"{i}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16000)
            signal = rng.normal(0, 3000, 2000 + 300 * i)
            file.writeframes(signal.astype(np.int16).tobytes())
    records = [example({"x": [i], "name": [b"abc"[: i + 1]]}) for i in range(3)]
    write_tfrecord(root / "data.tfrecord", records, root / "data.idx")
    return str(root)


def run_program(text: str, data: str) -> Any:
    """Run a program and return what it calls RESULT."""
    # The reference looks at the source of pipelines with conditions.
    path = Path(data, f"program{hash(text)}.py")
    path.write_text(text)
    names: dict[str, Any] = {"DATA": data, "__name__": "program"}
    exec(compile(text, str(path), "exec"), names)
    return names["RESULT"]


def assert_same_results(ours: Any, theirs: Any) -> None:
    """Compare results: types, shapes and values."""
    assert len(ours) == len(theirs)
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if isinstance(mine, list | tuple):
            assert_same_results(list(mine), list(other))
            continue
        a, b = np.asarray(mine), np.asarray(other)
        assert a.dtype == b.dtype, (index, a.dtype, b.dtype)
        if a.dtype.kind in "fiu":
            assert_close(a, b, "converted scripts", index)
        else:
            assert np.array_equal(a, b), index
