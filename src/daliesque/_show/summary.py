# SPDX-License-Identifier: Apache-2.0
"""What notebooks show for tensors and batches."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping
from typing import Any

from .._engine.batch import Batch
from .._engine.value import Value
from .grid import draw_grid
from .overlays import Overlays
from .pixels import Kind, view_of

# A notebook keeps what it has shown: a few samples are enough for a glance.
_MOST_SAMPLES = 12
_SIZE = 128


def html_of(value: Value, parts: Mapping[str, Any]) -> str:
    """Facts, and a picture if the data is one; what is deferred is not computed for it."""
    kind = type(value).__name__
    pending = value._pending
    if pending is not None and pending.is_deferred:
        return f"<pre>{html.escape(repr(value))}</pre>"
    try:
        shapes, layout = value._data().shapes, value.layout
    except Exception:
        # What repr shows for a call that failed.
        return f"<pre>{html.escape(repr(value))}</pre>"
    views = {view_of(shape, layout).kind for shape in shapes[:_MOST_SAMPLES]}
    if not views or Kind.numbers in views:
        return f"<pre>{html.escape(repr(value))}</pre>"
    shown = value
    if isinstance(value, Batch) and value._count > _MOST_SAMPLES:
        shown = value.select(list(range(_MOST_SAMPLES)))
        parts = {name: _first(part) for name, part in parts.items()}
    count = shown._count if isinstance(shown, Batch) else None
    data = io.BytesIO()
    draw_grid(shown, Overlays.of(count, **parts), None, _SIZE).save(data, "PNG")
    text = base64.standard_b64encode(data.getvalue()).decode()
    facts = [f"dtype={value.dtype}", f"layout={value.layout}", f"device={value.device}"]
    different = sorted(set(shapes))
    facts.insert(0, f"shape={different[0]}" if len(different) == 1 else f"{len(different)} shapes")
    if isinstance(value, Batch):
        facts.insert(0, f"{value._count} samples")
    if value._source:
        facts.append(f"source={value._source[0]}" + (", ..." if len(value._source) > 1 else ""))
    line = html.escape(f"{kind}: " + ", ".join(facts))
    return f'<div><code>{line}</code><br><img src="data:image/png;base64,{text}"></div>'


def _first(part: Any) -> Any:
    """What belongs to the samples that are shown."""
    return None if part is None else list(getattr(part, "tensors", part))[:_MOST_SAMPLES]
