# SPDX-License-Identifier: Apache-2.0
"""What is made for grain: `grain.Source`, the samples of a reader as a data source.

    source = ndd.grain.Source(ndd.readers.File, file_root="train")
    dataset = grain.MapDataset.source(source).shuffle(seed=1).map(decode_and_augment)

See docs/train/jax.md.
"""

# By its full name, since `as_dali` makes the module known by another one.
from daliesque._loops.grain_source import Source
from daliesque._public import publish as _publish

__all__ = ["Source"]

_publish(globals())
