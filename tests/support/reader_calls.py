# SPDX-License-Identifier: Apache-2.0
"""Calls of readers.File that are recorded and replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

RECORD = Path(__file__).parents[1] / "goldens" / "readers.json"


def read_labels(library: Any, call: dict[str, Any], folder: Path) -> list[list[list[int]]]:
    """The labels of each batch of each epoch; they are the numbers of the files."""
    (folder / "file").write_bytes(b"x")
    reader = library.readers.File(files=[str(folder / "file")] * call["size"], **call["args"])
    result = []
    for _ in range(call["epochs"]):
        epoch = []
        for _, labels in reader.next_epoch(batch_size=call["batch_size"]):
            samples = labels.tensors if call["batch_size"] else [labels]
            epoch.append([int(np.asarray(sample.evaluate())[0]) for sample in samples])
        result.append(epoch)
    return result
