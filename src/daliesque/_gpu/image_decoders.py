# SPDX-License-Identifier: Apache-2.0
"""Images for accelerators: decoded there if a library can, otherwise on the CPU and uploaded.

Decoding on the CPU uses all threads of the pool; the upload is one transfer, which goes on while
the next batch is being decoded. Which way is taken is written to the log "daliesque" (level
DEBUG); pixels differ at most by how decoders round.
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.devices import Results
from .._engine.dtype import uint8
from .._engine.enums import DALIImageType
from .._engine.op import registry
from .._engine.samples import HostSamples
from .accelerator import require_accelerator
from .call import current_target
from .placement import on_device
from .samples import Group

_log = logging.getLogger("daliesque")

# Decodes JPEG files, given as bytes, on a device, for the stream with a raw handle: RGB images of
# shape (height, width, 3), or None for what it cannot decode.
Decoder = Callable[[list[bytes], torch.device, int], list[torch.Tensor | None]]
_JPEGS = (_kernels.EncodedImage.Kind.ours, _kernels.EncodedImage.Kind.other_jpeg)


def _nvimgcodec() -> Decoder:
    codec = importlib.import_module("nvidia.nvimgcodec")

    @functools.cache
    def decoder(device_id: int) -> Any:
        return codec.Decoder(device_id=device_id)

    def decode(files: list[bytes], device: torch.device, stream: int) -> list[torch.Tensor | None]:
        images = decoder(device.index or 0).decode(files, cuda_stream=stream)
        return [None if image is None else torch.as_tensor(image) for image in images]

    return decode


def _torchvision() -> Decoder:
    pictures = importlib.import_module("torchvision.io")

    def decode(files: list[bytes], device: torch.device, stream: int) -> list[torch.Tensor | None]:
        # The stream is that of torch, which the library uses.
        del stream
        encoded = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]
        try:
            images = pictures.decode_jpeg(encoded, mode=pictures.ImageReadMode.RGB, device=device)
        except RuntimeError:
            # It decodes all or none, and does not report what was wrong.
            return [None] * len(files)
        return [image.permute(1, 2, 0) for image in images]

    return decode


# By preference. Both exist for NVIDIA's devices only.
_LIBRARIES = {"nvImageCodec": _nvimgcodec, "torchvision": _torchvision}


@functools.cache
def device_decoder(kind: str) -> tuple[str, Decoder] | None:
    """A library that decodes JPEG files on a kind of accelerator, and its name."""
    # ROCm goes by the same name.
    if kind == "cuda" and torch.version.cuda is not None:
        for name, load in _LIBRARIES.items():
            try:
                return name, load()
            except ImportError:
                continue
    return None


def image(encoded: HostSamples, /, **arguments: Any) -> Results:
    """Decode images; JPEG files on the device if there is a library for it."""
    on_cpu = registry["decoders.image"].body
    accelerator = require_accelerator("decoders.image")
    found = device_decoder(accelerator.kind)
    wanted = arguments["output_type"] == DALIImageType.RGB and arguments["dtype"] is uint8
    chosen = _decodable(encoded) if found is not None and wanted else np.zeros(0, np.int64)
    if found is None or len(chosen) == 0:
        _log.debug("decoders.image: %d images decoded on the CPU and uploaded", len(encoded))
        return on_cpu(encoded, **arguments)
    name, decode = found
    target = current_target()
    device = accelerator.torch_device(target.device.device_id)
    files = [to_numpy(encoded, index).tobytes() for index in chosen.tolist()]
    images = decode(files, device, accelerator.queues.handle(target.queue))
    decoded = {int(index): pixels for index, pixels in zip(chosen, images, strict=True)}
    rest = np.array([i for i in range(len(encoded)) if decoded.get(i) is None], np.int64)
    counts = len(encoded) - len(rest), name, len(rest)
    _log.debug("decoders.image: %d images decoded by %s, %d on the CPU", *counts)
    rest_on_cpu = on_cpu(encoded.select(rest.tolist()), **arguments)
    assert not isinstance(rest_on_cpu, tuple)
    others = on_device(rest_on_cpu)
    groups = [Group(rest[indices], data) for indices, data in others.groups]
    for index, pixels in decoded.items():
        if pixels is not None:
            groups.append(Group(np.array([index]), pixels.contiguous()[None]))
    return others.made(groups, 3, "HWC", uint8.code)


def _decodable(encoded: HostSamples) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers of the plain JPEG files: of three channels, upright, undamaged."""
    headers = _kernels.ImageHeaders(encoded)
    found = [index for index in range(len(headers)) if _is_plain(headers[index])]
    return np.array(found, np.int64)


def _is_plain(image: _kernels.EncodedImage) -> bool:
    is_jpeg = image.kind in _JPEGS and not image.fault
    return is_jpeg and image.channels == 3 and image.orientation == 1
