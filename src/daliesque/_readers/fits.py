# SPDX-License-Identifier: Apache-2.0
"""Images in FITS files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._codecs.fits import Stored, read_images
from .._codecs.pixels import CodecError
from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.convert import to_batch_samples, to_numpy
from .._engine.device import DeviceLike
from .._engine.dtype import DType, from_numpy
from .._engine.dtype import dtype as to_dtype
from .._engine.errors import DecodeError
from .._engine.samples import host
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.discovery import PathLike
from .sources.listed import ListedFiles


class Fits(ListedFiles[tuple[Batch, ...]]):
    """Read images from FITS files, with one output for each of some units (HDUs).

    The type of an output is the smallest that holds all values that the unit could have, given its
    BITPIX, BSCALE and BZERO, as CFITSIO chooses it; scaling is applied. The axes are in the order
    of NumPy: NAXIS1 is the last. Images that are stored as compressed tiles need the package
    astropy (`daliesque[fits]`). Files may be compressed with gzip.

    Parameters
    ----------
    batch_size, name
        See `Reader`.
    device
        Where batches are delivered: "cpu" or "gpu". Files are read on the CPU.
    file_root
        The folder with the files, which may also lie in its sub-folders, or to which names in
        `file_list` or `files` are relative.
    file_filter
        A pattern that the names of files in `file_root` must match.
    file_list
        A text file with one file name in each line, relative to `file_root`, or else to the folder
        of the list.
    files
        The names of the files.
    hdu_indices
        The units to read, counted from 1. The default is the first after the primary one.
    dtypes
        Accepted for compatibility: one type for each unit, which has no effect.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import tempfile
    >>> cards = ["SIMPLE  = T", "BITPIX  = 16", "NAXIS   = 1", "NAXIS1  = 3", "END"]
    >>> with tempfile.NamedTemporaryFile(suffix=".fits") as file:
    ...     header = "".join(card.ljust(80) for card in cards).ljust(2880).encode()
    ...     file.write(header + np.array([1, 2, 3], ">i2").tobytes().ljust(2880)) and file.flush()
    ...     reader = ndd.experimental.readers.Fits(files=[file.name], hdu_indices=[1])
    ...     for (image,) in reader.next_epoch():
    ...         print(image.dtype, image.torch().tolist())
    i16 [1, 2, 3]

    Differs from DALI: states can be saved and restored, as in all readers, and `source` is set.
    `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "experimental.readers.Fits"
    _devices: ClassVar[tuple[str, ...]] = ("cpu", "gpu")
    _default_filter: ClassVar[str] = "*.fits"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        file_root: PathLike | None = None,
        file_filter: str | None = "*.fits",
        file_list: PathLike | None = None,
        files: PathLike | Sequence[PathLike] | None = None,
        hdu_indices: int | Sequence[int] | None = (2,),
        dtypes: DType | Sequence[DType] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        where = f"{self.operator}: 'hdu_indices'"
        given = (2,) if hdu_indices is None else hdu_indices
        self._units: list[int] = list(rule_of(list[int]).convert(given, where))
        if not self._units or min(self._units) < 1:
            msg = f"{where} must be numbers from 1 on; got {self._units}."
            raise ValueError(msg)
        if dtypes is not None:
            self._check_types([dtypes] if isinstance(dtypes, DType) else dtypes)
        super().__init__(
            batch_size, name, device, file_root, file_list, files, file_filter, **options
        )

    def _check_types(self, dtypes: Any) -> None:
        types = [to_dtype(dtype) for dtype in dtypes]
        if len(types) != len(self._units):
            msg = (
                f"{self.operator}: 'dtypes' needs a type for each of {len(self._units)} units; "
                f"got {len(types)}."
            )
            raise ValueError(msg)

    def fetch(self, numbers: Numbers) -> Fetched:
        contents, errors = self._paths.read(numbers)
        if not contents:
            return Fetched((), errors)
        indices = [k for k in range(len(numbers)) if k not in errors]
        rows: list[list[NDArray[Any] | Stored]] = []
        samples: list[int] = []
        for sample, index in enumerate(indices):
            try:
                rows.append(self._read(contents[0], sample))
                samples.append(sample)
            except CodecError as error:
                errors[index] = DecodeError(f"the file {error}")
        if not rows:
            return Fetched((), errors)
        for row, sample in zip(rows, samples, strict=True):
            first, other = (int(numbers[indices[k]]) for k in (samples[0], sample))
            self._check_alike(rows[0], row, first, other)
        chosen = contents[0].select(samples) if errors else contents[0]
        outputs = tuple(self._to_samples(chosen, column) for column in zip(*rows, strict=True))
        return Fetched(outputs, dict(sorted(errors.items())))

    def _to_samples(
        self, contents: _kernels.Samples, images: Sequence[NDArray[Any] | Stored]
    ) -> _kernels.Samples:
        """The same image of each file."""
        stored = [image for image in images if isinstance(image, Stored)]
        kind = from_numpy(images[0].dtype)
        assert kind is not None
        if len(stored) == len(images):
            shapes = np.array([image.shape for image in images], np.int64)
            offsets = np.array([image.offset for image in stored], np.int64)
            return _kernels.read_big_endian(kind.code, shapes, contents, offsets)
        arrays = [
            image.read(to_numpy(contents, k)) if isinstance(image, Stored) else image
            for k, image in enumerate(images)
        ]
        return host(to_batch_samples(arrays, None, None, self.operator)).as_internal()

    def _read(self, contents: _kernels.Samples, sample: int) -> list[NDArray[Any] | Stored]:
        try:
            return read_images(to_numpy(contents, sample), self._units)
        except ImportError as error:
            msg = f"{self.operator}: {error}."
            raise ImportError(msg) from None

    def _check_alike(
        self,
        first: Sequence[NDArray[Any] | Stored],
        other: Sequence[NDArray[Any] | Stored],
        first_number: int,
        number: int,
    ) -> None:
        for unit, one, two in zip(self._units, first, other, strict=True):
            if one.dtype == two.dtype and one.ndim == two.ndim:
                continue
            names = [self._full_name(k) for k in (first_number, number)]
            kinds = [f"{image.dtype} with {image.ndim} axes" for image in (one, two)]
            msg = (
                f"{self.operator}: unit {unit} must have the same type and number of axes in all "
                f'files of a batch; "{names[0]}" has {kinds[0]}, "{names[1]}" has {kinds[1]}. Read '
                "such files without 'batch_size'."
            )
            raise ValueError(msg)
