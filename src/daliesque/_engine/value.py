# SPDX-License-Identifier: Apache-2.0
"""What Tensor and Batch have in common: data that may still be on its way."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

from .device import Device
from .dtype import DType, from_code
from .foreign import Advising
from .metadata import Metadata, NotKnown
from .pictures import pictures
from .samples import Samples, is_remote

if TYPE_CHECKING:
    from .invocation import Invocation


class Sources(tuple[Any, ...]):
    """Where the samples of a batch come from, of which only the first `valid` count.

    What keeps the samples of a batch hands on this object, and whatever chooses, permutes or adds
    samples makes a tuple of its own, without `valid`.
    """

    valid: int

    @classmethod
    def of(cls, names: Sequence[Any], valid: int) -> Sources:
        """The sources of a batch some of whose samples do not count."""
        sources = cls(names)
        sources.valid = valid
        return sources


class Value(Advising):
    """Data, or the promise of it.

    Either `_samples` holds the data, or `_pending` is the call whose output number `_output` it
    will be. `_count` is the number of samples, which is always known.
    """

    _tensor_class: ClassVar[type[Value]]
    _batch_class: ClassVar[type[Value]]

    __slots__ = (
        "__weakref__",
        "_count",
        "_output",
        "_pending",
        "_samples",
        "_source",
    )

    _samples: Samples | None
    _pending: Invocation | None
    _output: int
    _count: int
    _source: Sequence[Any] | None

    @classmethod
    def _of(cls, samples: Samples, source: Sequence[Any] | None = None) -> Self:
        """A value with known data."""
        value = cls.__new__(cls)
        value._samples = samples
        value._pending = None
        value._output = 0
        value._count = len(samples)
        value._source = source
        return value

    @classmethod
    def _promised(
        cls,
        pending: Invocation,
        output: int,
        count: int,
        source: Sequence[Any] | None = None,
    ) -> Self:
        """A value that is output number `output` of a call."""
        value = cls.__new__(cls)
        if pending.done and pending.failure is None:
            value._samples = pending.result(output)
            value._pending = None
        else:
            value._samples = None
            value._pending = pending
        value._output = output
        value._count = count
        value._source = source
        return value

    def _data(self) -> Samples:
        """The data, waiting for it if need be."""
        samples = self._samples
        if samples is None:
            pending = self._pending
            if pending is None:
                # Another thread has just stored the data.
                assert self._samples is not None
                return self._samples
            samples = self._samples = pending.result(self._output)
            self._pending = None
        return samples

    def _known(self) -> Samples | None:
        """The data if it is there already."""
        samples = self._samples
        if samples is None and self._pending is not None and self._pending.is_good():
            return self._data()
        return samples

    def _metadata(self, shapes: bool = False) -> Metadata:
        """What is known without waiting; see `Invocation.announced`."""
        pending = self._pending
        if pending is not None:
            announced = pending.announced(self._output, shapes)
            if announced is not None:
                return announced
            if not pending.is_good():
                return Metadata(None, None, None)
        return Metadata.of(self._data())

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        samples = self._samples
        if samples is None:
            try:
                return self._metadata().dtype
            except NotKnown:
                samples = self._data()
        return from_code(samples.type_id)

    @property
    def device(self) -> Device:
        """Where the data is or will be."""
        pending = self._pending
        if pending is not None:
            return pending.device
        samples = self._samples
        return samples.device if samples is not None and is_remote(samples) else Device.CPU

    @property
    def layout(self) -> str | None:
        """The meaning of the axes, one letter each (e.g. "HWC"), or None."""
        samples = self._samples
        if samples is None:
            try:
                return self._metadata().layout or None
            except NotKnown:
                samples = self._data()
        return samples.layout or None

    @property
    def ndim(self) -> int:
        """The number of axes of a sample."""
        samples = self._samples
        if samples is None:
            try:
                return self._metadata().ndim
            except NotKnown:
                samples = self._data()
        return samples.ndim

    def _shapes(self) -> list[tuple[int, ...]]:
        """The shape of each sample."""
        samples = self._samples
        if samples is None:
            try:
                rows = self._metadata(shapes=True).shapes.tolist()
            except NotKnown:
                samples = self._data()
            else:
                shapes = [tuple(row) for row in rows]
                return shapes if len(shapes) == self._count else shapes * self._count
        return samples.shapes

    def _is_remote(self) -> bool:
        """Whether the data is, or will be, elsewhere than in CPU memory."""
        pending = self._pending
        if pending is not None:
            return pending.is_remote
        samples = self._samples
        return samples is not None and samples.is_on_device

    def show(
        self,
        *,
        labels: Any = None,
        boxes: Any = None,
        masks: Any = None,
        keypoints: Any = None,
        columns: int | None = None,
        size: int = 224,
        save: str | PathLike[str] | None = None,
    ) -> None:
        """Show a picture: in a notebook, in the terminal, in a viewer, or save it.

        Images of any type and layout, strips of videos and volumes, spectrograms, waveforms;
        floating-point images outside of [0, 1] and [0, 255] are stretched from their smallest to
        their largest value. A batch becomes a grid, of its first 64 samples.

        Parameters
        ----------
        labels
            A text or number for each sample, or one for each of its boxes.
        boxes
            For each sample, rows (left, top, right, bottom) in pixels, or in shares of the image if
            all are within 0 and 1.
        masks
            For each sample, (H, W) with a number for each class, or (N, H, W) with N masks.
        keypoints
            For each sample, rows (x, y) or (x, y, visible).
        columns
            How many samples stand side by side.
        size
            The longer side of a sample in the picture, in pixels.
        save
            The name of a file to write, in place of showing the picture.

        Examples
        --------
        >>> import daliesque as ndd
        >>> import numpy as np
        >>> images = ndd.batch(np.zeros((4, 32, 48, 3), np.uint8), layout="HWC")
        >>> images.show(labels=["a", "b", "c", "d"], save="grid.png")
        """
        parts = {"labels": labels, "boxes": boxes, "masks": masks, "keypoints": keypoints}
        pictures().show(self, save, columns=columns, size=size, **parts)

    def _repr_html_(self, **parts: Any) -> str:
        return pictures().html(self, **parts)

    def _is_external(self) -> bool:
        samples = self._samples
        return samples is not None and samples.external


def any_remote(values: Sequence[Value | Samples | None]) -> bool:
    """Whether some of the values are, or will be, elsewhere than in CPU memory."""
    for value in values:
        if isinstance(value, Value):
            if value._is_remote():
                return True
        elif value is not None and value.is_on_device:
            return True
    return False


def remote_device(name: str, values: Sequence[Value | Samples | None]) -> Device | None:
    """The device that some of the values are on, None if all are in CPU memory."""
    found: Device | None = None
    for value in values:
        device = Device.CPU
        if isinstance(value, Value):
            device = value.device
        elif value is not None and is_remote(value):
            device = value.device
        if device.device_type == "cpu":
            continue
        if found is not None and device != found:
            msg = (
                f"{name}: the inputs are on different devices, {str(found)!r} and "
                f"{str(device)!r}. Move one of them with .gpu({device.device_id})."
            )
            raise ValueError(msg)
        found = device
    return found


def agreed_count(batch: Value, count: int | None, where: str, what: str) -> int:
    """The number of samples of a batch; others of the call, if there are any, have `count`."""
    if count is not None and batch._count != count:
        got = batch._count
        msg = (
            f"{where}: Inconsistent batch size: {got} != {count} ({what} has {got} samples, others "
            f"{count}). All batches of a call must have equally many samples."
        )
        raise ValueError(msg)
    return batch._count
