# SPDX-License-Identifier: Apache-2.0
"""Nodes for `torchdata.nodes`: a reader, a function for one entry, and the step to torch tensors.

    reader = ndd.pytorch.nodes.Reader(ndd.readers.File, batch_size=64, file_root="train")
    images = ndd.pytorch.nodes.DictMapper(reader, decode_and_augment)
    loader = torchdata.nodes.Loader(ndd.pytorch.nodes.ToTorch(images))

`loader.state_dict()` and `loader.load_state_dict(state)` resume after any step. Needs torchdata:
`pip install daliesque[torchdata]`.
"""

# By its full name, since `as_dali` makes the module known by another one.
from daliesque._loops.torch_nodes import DictMapper, Reader, ToTorch

__all__ = ["DictMapper", "Reader", "ToTorch"]
