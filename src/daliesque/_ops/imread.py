# SPDX-License-Identifier: Apache-2.0
"""Read and decode image files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from .._engine.batch import Batch
from .._engine.convert import to_batch_samples, to_numpy
from .._engine.dtype import DType, uint8
from .._engine.enums import DALIImageType
from .._engine.samples import host
from .._engine.tensor import Tensor
from .files import read
from .image_decoders import image

Path: TypeAlias = str | os.PathLike[str] | Tensor


def imread(
    filepaths: Path | Sequence[Path] | Batch,
    /,
    *,
    device: str = "cpu",
    adjust_orientation: bool | None = None,
    affine: bool | None = None,
    cache_batch_copy: bool | None = None,
    cache_debug: bool | None = None,
    cache_size: int | None = None,
    cache_threshold: int | None = None,
    cache_type: str | None = None,
    device_memory_padding: int | None = None,
    device_memory_padding_jpeg2k: int | None = None,
    dtype: DType | None = None,
    host_memory_padding: int | None = None,
    host_memory_padding_jpeg2k: int | None = None,
    hw_decoder_load: float | None = None,
    hybrid_huffman_threshold: int | None = None,
    jpeg_fancy_upsampling: bool | None = None,
    memory_stats: bool | None = None,
    output_type: DALIImageType | None = None,
    preallocate_height_hint: int | None = None,
    preallocate_width_hint: int | None = None,
    split_stages: bool | None = None,
    use_chunk_allocator: bool | None = None,
    use_fast_idct: bool | None = None,
) -> Tensor | Batch:
    """Read image files and decode them.

    Parameters
    ----------
    filepaths
        A path, for which a Tensor comes back; or a list of them, for which a Batch comes back. A
        path may also be a Tensor, and several a Batch, of the bytes of the path.
    device
        Where to decode: "cpu".
    output_type, dtype, adjust_orientation, use_fast_idct
        As in `decoders.image`; None means the default there.
    affine, cache_batch_copy, cache_debug, cache_size, cache_threshold, cache_type,
    device_memory_padding, device_memory_padding_jpeg2k, host_memory_padding,
    host_memory_padding_jpeg2k, hw_decoder_load, hybrid_huffman_threshold, jpeg_fancy_upsampling,
    memory_stats, preallocate_height_hint, preallocate_width_hint, split_stages,
    use_chunk_allocator
        Ignored.

    Examples
    --------
    >>> import daliesque as ndd, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".ppm") as file:
    ...     _ = file.write(b"P6 2 1 255 " + bytes([255, 0, 0, 0, 0, 255]))
    ...     file.flush()
    ...     ndd.imread(file.name).shape
    (1, 2, 3)
    """
    single = isinstance(filepaths, str | os.PathLike | Tensor)
    if not single and not isinstance(filepaths, list | tuple | Batch):
        msg = (
            "imread: 'filepaths' must be a path, a list of paths, or a Tensor or Batch with the "
            f"bytes of paths; got {filepaths!r}."
        )
        raise TypeError(msg)
    names = [_path_of(item) for item in ([filepaths] if single else filepaths)]  # type: ignore[union-attr]
    codes = [np.frombuffer(os.fsencode(name), np.uint8) for name in names]
    # The layout keeps the one dimension of a path if there are none.
    samples = to_batch_samples(codes, uint8, "X", "imread").with_layout("").as_internal()
    paths = (Tensor if single else Batch)._of(samples, tuple(names))
    decoded: Tensor | Batch = image(
        read(paths),
        device=device,
        adjust_orientation=adjust_orientation,
        affine=affine,
        cache_batch_copy=cache_batch_copy,
        cache_debug=cache_debug,
        cache_size=cache_size,
        cache_threshold=cache_threshold,
        cache_type=cache_type,
        device_memory_padding=device_memory_padding,
        device_memory_padding_jpeg2k=device_memory_padding_jpeg2k,
        dtype=dtype,
        host_memory_padding=host_memory_padding,
        host_memory_padding_jpeg2k=host_memory_padding_jpeg2k,
        hw_decoder_load=hw_decoder_load,
        hybrid_huffman_threshold=hybrid_huffman_threshold,
        jpeg_fancy_upsampling=jpeg_fancy_upsampling,
        memory_stats=memory_stats,
        output_type=output_type,
        preallocate_height_hint=preallocate_height_hint,
        preallocate_width_hint=preallocate_width_hint,
        split_stages=split_stages,
        use_chunk_allocator=use_chunk_allocator,
        use_fast_idct=use_fast_idct,
    )
    return decoded


def _path_of(item: object) -> str:
    if isinstance(item, Tensor):
        return os.fsdecode(to_numpy(host(item._data())).tobytes())
    if isinstance(item, str | os.PathLike):
        return os.fspath(item)
    msg = f"imread: a path must be a string, a pathlib.Path or a Tensor of its bytes; got {item!r}."
    raise TypeError(msg)
