# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: where readers and random number generators are, to continue from there.

    checkpoint = ndd.checkpoint.Checkpoint()
    checkpoint.load("state_{seq:04d}.json")
    checkpoint.register(reader, "reader")
    checkpoint.register(rng, "rng")
    for contents, labels in reader.next_epoch(batch_size=64):
        ...
        checkpoint.collect()
        checkpoint.save("state_{seq:04d}.json")

See docs/checkpoints.md.
"""

from ._engine.checkpoint import Checkpoint
from ._engine.context import current_checkpoint as current
from ._public import publish as _publish

__all__ = ["Checkpoint", "current"]

_publish(globals())
