# SPDX-License-Identifier: Apache-2.0
"""Capture mode: loops whose calls run ahead of their body; see docs/capture.md.

for contents, labels in reader.next_epoch(batch_size=64, capture=True):
    images = ndd.decoders.image(contents)
    images = ndd.resize(images, size=[224, 224])
"""

from ._capture.values import CapturedBatch
from ._engine.invariant import invariant, is_invariant, unwrap_invariant, unwrap_invariants
from ._public import publish as _publish

__all__ = [
    "CapturedBatch",
    "invariant",
    "is_invariant",
    "unwrap_invariant",
    "unwrap_invariants",
]

_publish(globals())
