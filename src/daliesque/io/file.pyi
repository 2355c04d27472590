# SPDX-License-Identifier: Apache-2.0
# Written by tools/stubs.py.

from typing import overload

from numpy.typing import ArrayLike

from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.tensor import Tensor

__all__ = ["read"]

@overload
def read(
    filepaths: ArrayLike | Tensor,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dont_use_mmap: bool | None = False,
    use_o_direct: bool | None = False,
) -> Tensor: ...
@overload
def read(
    filepaths: Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dont_use_mmap: bool | None = False,
    use_o_direct: bool | None = False,
) -> Batch: ...
@overload
def read(
    filepaths: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: None = None,
    device: DeviceLike | None = None,
    dont_use_mmap: bool | None = False,
    use_o_direct: bool | None = False,
) -> Tensor | Batch: ...
@overload
def read(
    filepaths: ArrayLike | Tensor | Batch,
    /,
    *,
    batch_size: int,
    device: DeviceLike | None = None,
    dont_use_mmap: bool | None = False,
    use_o_direct: bool | None = False,
) -> Batch: ...
