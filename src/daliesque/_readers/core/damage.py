# SPDX-License-Identifier: Apache-2.0
"""Finds damaged images before they are delivered, for readers that leave out what is broken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._engine.convert import to_numpy
from ..._engine.dtype import uint8
from ..._engine.enums import DALIImageType
from ..._engine.errors import SampleError
from ..._shapes.image_files import decode_images
from ..._shapes.windows import Integers, Windows
from .order import Numbers
from .source import Fetched

# Beginnings that nothing but an image has. Those of BMP and PNM are words as well.
_SIGNATURES = (
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"II*\0",
    b"MM\0*",
    b"GIF87a",
    b"GIF89a",
    b"\0\0\0\x0cjP  ",
    b"\xff\x4f\xff\x51",
)
_ENDINGS = (
    *(".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".pnm", ".ppm", ".pgm", ".pbm"),
    *(".jp2", ".webp", ".gif", ".avif", ".jxl"),
)


def _is_image(samples: _kernels.Samples, index: int) -> bool:
    begin = to_numpy(samples, index)[:12].tobytes()
    return begin.startswith(_SIGNATURES) or (begin[:4] == b"RIFF" and begin[8:] == b"WEBP")


def _is_name_of_image(name: str) -> bool:
    return name.lower().endswith(_ENDINGS)


def _last_pixel(sizes: Integers) -> Windows:
    return Windows(sizes - 1, np.ones_like(sizes))


class DamageFinder:
    """Finds samples that the image decoders would refuse.

    To decode the last pixel of an image, a codec has to read all of its file. A sample that was
    found whole is not looked at again.
    """

    def __init__(self, size: int) -> None:
        self._whole: NDArray[np.bool_] = np.zeros(size, np.bool_)

    def without_damaged(
        self, fetched: Fetched, numbers: Numbers, file_name: Callable[[int], str]
    ) -> Fetched:
        """`fetched` without damaged images: what begins like one, or has the name of one."""
        indices = np.delete(np.arange(len(numbers)), list(fetched.errors))
        fresh = np.flatnonzero(~self._whole[numbers[indices]]).tolist()
        if not fresh:
            return fetched
        errors: dict[int, Exception] = {}
        for position, samples in enumerate(fetched.outputs):
            if samples.type_id == uint8.code and samples.ndim == 1:
                images = [
                    k
                    for k in fresh
                    if _is_image(samples, k)
                    or (position == 0 and _is_name_of_image(file_name(int(numbers[indices[k]]))))
                ]
                errors |= _find_damage(samples, images)
        self._whole[numbers[indices[[k for k in fresh if k not in errors]]]] = True
        if not errors:
            return fetched
        good = [k for k in range(len(indices)) if k not in errors]
        outputs = tuple(samples.select(good) for samples in fetched.outputs) if good else ()
        damaged = {int(indices[k]): error for k, error in errors.items()}
        return Fetched(outputs, dict(sorted({**fetched.errors, **damaged}.items())))


def _find_damage(samples: _kernels.Samples, images: list[int]) -> dict[int, Exception]:
    if not images:
        return {}
    try:
        _decode_last_pixels(samples.select(images))
    except SampleError:
        # That was the first of them; the others are still to be found.
        pass
    else:
        return {}
    errors: dict[int, Exception] = {}
    for index in images:
        try:
            _decode_last_pixels(samples.select([index]))
        except SampleError as error:
            errors[index] = error.kind(f"it {error.reason}")
    return errors


def _decode_last_pixels(encoded: _kernels.Samples) -> None:
    decode_images(
        encoded,
        DALIImageType.RGB,
        uint8,
        adjust_orientation=False,
        fast_idct=False,
        choose_windows=_last_pixel,
    )
