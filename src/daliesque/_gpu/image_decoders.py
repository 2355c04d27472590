# SPDX-License-Identifier: Apache-2.0
"""Images for accelerators: decoded there if a library can, otherwise on the CPU and uploaded.

Decoding on the CPU uses all threads of the pool; the upload is one transfer, which goes on while
the next batch is being decoded. Which way is taken is written to the log "daliesque" (level
DEBUG). A library is used of its own accord only if it interpolates chroma as the CPU's decoder
does: pixels then differ at most by how decoders round, whatever is installed.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import _kernels
from .._engine.convert import to_numpy
from .._engine.devices import Results
from .._engine.dtype import uint8
from .._engine.enums import DALIImageType
from .._engine.errors import SampleError, join_names
from .._engine.op import registry
from .._engine.samples import HostSamples
from .._shapes.image_files import check_pixels, decode_images
from .accelerator import require_accelerator
from .call import current_target
from .placement import on_device
from .samples import DeviceSamples
from .staging import Staged

_log = logging.getLogger("daliesque")

# Chooses a library, or "cpu" for none; by default, nvImageCodec if it is there.
VARIABLE = "DALIESQUE_GPU_DECODER"

# Decodes JPEG files, given as bytes, on a device, for the stream with a raw handle: RGB images of
# shape (height, width, 3), or None for what it cannot decode.
Decoder = Callable[[list[bytes], torch.device, int], list[torch.Tensor | None]]


def _nvimgcodec() -> Decoder:
    codec = importlib.import_module("nvidia.nvimgcodec")

    @functools.cache
    def decoder(device_id: int) -> Any:
        return codec.Decoder(device_id=device_id, options=":fancy_upsampling=1")

    def decode(files: list[bytes], device: torch.device, stream: int) -> list[torch.Tensor | None]:
        images = decoder(device.index or 0).decode(files, cuda_stream=stream)
        return [
            None if image is None else torch.as_tensor(image, device=device) for image in images
        ]

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


# By the value of the variable: names, and what loads them. Both are for NVIDIA's devices only.
_LIBRARIES: dict[str, tuple[str, Callable[[], Decoder]]] = {
    "nvimgcodec": ("nvImageCodec", functools.cache(_nvimgcodec)),
    # It takes the nearest sample of chroma.
    "torchvision": ("torchvision", functools.cache(_torchvision)),
}


def device_decoder(kind: str) -> tuple[str, Decoder] | None:
    """A library that decodes JPEG files on a kind of accelerator, and its name."""
    wanted = os.environ.get(VARIABLE, "")
    if wanted and wanted not in ("cpu", *_LIBRARIES):
        choices = join_names(("cpu", *_LIBRARIES))
        msg = f"decoders.image: {VARIABLE} must be unset or one of {choices}; got {wanted!r}."
        raise ValueError(msg)
    # ROCm goes by the same name.
    if wanted == "cpu" or kind != "cuda" or torch.version.cuda is None:
        return None
    name, load = _LIBRARIES[wanted or "nvimgcodec"]
    try:
        return name, load()
    except ImportError as error:
        if not wanted:
            return None
        msg = f"decoders.image: {VARIABLE}={wanted} asks for {name}, which is not installed."
        raise RuntimeError(msg) from error


def image(encoded: HostSamples, /, **arguments: Any) -> Results:
    """Decode images; JPEG files on the device if there is a library for it."""
    found = device_decoder(require_accelerator("decoders.image").kind)
    wanted = (
        arguments["output_type"] == DALIImageType.RGB
        and arguments["dtype"] is uint8
        and arguments["size_hint"] is None
    )
    if found is not None and wanted:
        headers = _kernels.ImageHeaders(encoded)
        chosen = [index for index in range(len(headers)) if _is_plain(headers[index])]
        if chosen:
            check_pixels(headers)
            return _decoded(encoded, chosen, found, arguments)
    _log.debug("decoders.image: %d images decoded on the CPU and uploaded", len(encoded))
    return _decoded_for_upload(encoded, arguments)


def _decoded_for_upload(encoded: HostSamples, arguments: Any) -> Results:
    """Images decoded by the CPU straight into memory for the transfer."""
    if len(encoded) == 0:
        return registry["decoders.image"].body(encoded, **arguments)
    target = current_target()
    dtype = arguments["dtype"]
    staged: list[Staged] = []

    def allocate(shapes: NDArray[np.int64]) -> HostSamples:
        staged.append(Staged(dtype.code, shapes, "HWC"))
        return staged[0].samples

    decode_images(
        encoded,
        arguments["output_type"],
        dtype,
        arguments["adjust_orientation"],
        arguments["use_fast_idct"],
        allocate=allocate,
    )
    return staged[0].upload(target.device, target.queue)


def _is_plain(image: _kernels.EncodedImage) -> bool:
    """Whether a file is a JPEG of three channels, upright and, as far as is known, undamaged."""
    return image.is_jpeg and not image.fault and image.channels == 3 and image.orientation == 1


def _decoded(
    encoded: HostSamples, chosen: list[int], library: tuple[str, Decoder], arguments: Any
) -> DeviceSamples:
    """Images of which some are decoded by a library, and the others on the CPU."""
    accelerator, target = require_accelerator("decoders.image"), current_target()
    device = accelerator.torch_device(target.device.device_id)
    name, decode = library
    files = [to_numpy(encoded, index).tobytes() for index in chosen]
    images = decode(files, device, accelerator.queues.handle(target.queue))
    decoded = {i: pixels for i, pixels in zip(chosen, images, strict=True) if pixels is not None}
    rest = [index for index in range(len(encoded)) if index not in decoded]
    _log.debug("decoders.image: %d images by %s, %d on the CPU", len(decoded), name, len(rest))
    others = on_device(_decoded_on_cpu(encoded, rest, arguments))
    shapes = np.zeros((len(encoded), 3), np.int64)
    shapes[rest] = others.shape_array()
    for index, pixels in decoded.items():
        shapes[index] = pixels.shape
    for row, index in enumerate(rest):
        decoded[index] = others.select([row]).dense()[0]
    return _put_together(decoded, shapes)


def _decoded_on_cpu(encoded: HostSamples, rest: list[int], arguments: Any) -> HostSamples:
    try:
        found = registry["decoders.image"].body(encoded.select(rest), **arguments)
    except SampleError as error:
        # It counts the samples that it was given.
        raise SampleError(rest[error.index], error.reason, error.kind) from error.__cause__
    assert isinstance(found, HostSamples)
    return found


def _put_together(images: dict[int, torch.Tensor], shapes: NDArray[np.int64]) -> DeviceSamples:
    """Copies in one block of torch's memory, which is safe in any queue; that of others is not."""
    target = current_target()
    out = DeviceSamples.empty(uint8.code, shapes, "HWC", target.device, target.queue)
    for indices, data in out.groups:
        for row, index in enumerate(indices.tolist()):
            data[row].copy_(images[index])
    return out
