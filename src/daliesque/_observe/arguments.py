# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls as short texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.batch import Batch
from .._engine.convert import to_numpy
from .._engine.samples import host
from .._engine.value import Value

_MOST_CHARACTERS = 120


def shown_arguments(given: dict[str, Any], samples: int) -> list[tuple[str, str]]:
    """Names and values; of batches, those of the first samples."""
    return [(name, _shortened(_text(value, samples))) for name, value in given.items()]


def _text(value: Any, samples: int) -> str:
    if not isinstance(value, Value):
        return repr(value)
    known = value._known()
    if known is None:
        return "not computed yet"
    if value._is_remote():
        return f"on {value.device}"
    with np.printoptions(precision=4, threshold=16, edgeitems=4, linewidth=_MOST_CHARACTERS):
        if not isinstance(value, Batch):
            return str(to_numpy(host(known)).tolist())
        texts = [str(to_numpy(host(known), i)) for i in range(min(samples, value._count))]
    more = ", ..." if value._count > samples else ""
    return f"[{', '.join(texts)}{more}] for each sample"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
