# SPDX-License-Identifier: Apache-2.0
"""What a data set holds: counts, sizes, formats, broken files and thumbnails."""

from __future__ import annotations

import io
from collections import Counter
from typing import NamedTuple

import numpy as np
from PIL import Image

from ... import _kernels, batch, decoders
from ..._codecs.formats import find_format
from ..._codecs.pixels import CodecError
from ..._engine.batch import Batch
from ..._engine.tensor import Tensor
from ..._show.grid import draw_sample
from ..._show.overlays import Overlay
from .sources import Entry

_AT_ONCE = 32
THUMBNAIL = 160


class Thumbnail(NamedTuple):
    """A small picture of a sample, as a JPEG file, and what to write below it."""

    name: str
    label: str
    size: tuple[int, int]
    picture: bytes


class Survey:
    """Collects what the samples of a data set are like.

    Parameters
    ----------
    most_thumbnails
        How many samples to make pictures of: the first ones.
    """

    def __init__(self, most_thumbnails: int) -> None:
        self.count = 0
        self.bytes = 0
        self.labels: Counter[str] = Counter()
        self.formats: Counter[str] = Counter()
        self.sizes: list[tuple[int, int]] = []
        self.broken: list[tuple[str, str]] = []
        self.thumbnails: list[Thumbnail] = []
        self._most_thumbnails = most_thumbnails
        self._waiting: list[Entry] = []

    def add(self, entry: Entry) -> None:
        """Take a sample into account."""
        self.count += 1
        self.bytes += len(entry.data)
        if entry.label is not None:
            self.labels[entry.label] += 1
        self.labels.update(entry.box_labels)
        if entry.failure is not None:
            self.broken.append((entry.name, entry.failure))
            return
        self._waiting.append(entry)
        if len(self._waiting) >= _AT_ONCE:
            self.finish()

    def finish(self) -> None:
        """Look at what was added since the last time."""
        entries, self._waiting = self._waiting, []
        if not entries:
            return
        try:
            images = list(decoders.image(_encoded(entries)).evaluate().tensors)
        except (ValueError, RuntimeError, OSError):
            # Some are broken: one by one, to find out which.
            for entry in entries:
                self._look_at_one(entry)
            return
        for entry, image in zip(entries, images, strict=True):
            self._keep(entry, image)

    def _look_at_one(self, entry: Entry) -> None:
        try:
            image = decoders.image(_encoded([entry])).evaluate().tensors[0]
        except (ValueError, RuntimeError, OSError) as error:
            # The operator and the number of the sample mean nothing to whoever reads the page.
            reason = " ".join(str(error).split()).removeprefix("decoders.image: sample 0 ")
            self.broken.append((entry.name, reason.removesuffix(".")))
        else:
            self._keep(entry, image)

    def _keep(self, entry: Entry, image: Tensor) -> None:
        height, width = image.shape[:2]
        self.sizes.append((width, height))
        self.formats[_format_name(entry.data)] += 1
        if len(self.thumbnails) >= self._most_thumbnails:
            return
        boxes = np.array(entry.boxes, np.float64).reshape(-1, 4)
        overlay = Overlay(boxes=boxes, box_labels=list(entry.box_labels))
        picture = draw_sample(np.asarray(image), "HWC", overlay, THUMBNAIL)
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=80)
        label = entry.label or ", ".join(dict.fromkeys(entry.box_labels))
        self.thumbnails.append(Thumbnail(entry.name, label, (width, height), out.getvalue()))


def _encoded(entries: list[Entry]) -> Batch:
    return batch([np.frombuffer(entry.data, np.uint8) for entry in entries])


def _format_name(data: bytes) -> str:
    if data.startswith(b"\xff\xd8"):
        return "JPEG"
    try:
        return _kernels.image_format(data) or find_format(data).name
    except CodecError:
        return (Image.open(io.BytesIO(data)).format or "unknown") if data else "unknown"
