# SPDX-License-Identifier: Apache-2.0
"""Databases (LMDB) of Caffe and Caffe2."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import ClassVar, Unpack

import numpy as np

from .. import _kernels
from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.errors import OpError
from .core.options import ReaderOptions
from .core.order import Numbers
from .sources.archives import Archives, Locations
from .sources.discovery import PathLike, list_paths
from .sources.records import RecordReader

LabelType, LmdbFault, RecordFault = _kernels.LabelType, _kernels.LmdbFault, _kernels.RecordFault

_DATABASE_FAULTS = {
    LmdbFault.no_database: "it is no database of LMDB",
    LmdbFault.unsupported: (
        "it holds keys with several values or databases inside the database (page {page})"
    ),
    LmdbFault.damaged: "the database is damaged: page {page} refers to what is not there",
}


class _Entries(Locations):
    """Where the records of databases are, and the keys they are found by."""

    def __init__(
        self,
        folders: Sequence[str],
        parts: Sequence[tuple[Numbers, Numbers]],
        keys: Sequence[tuple[Numbers, bytes]],
    ) -> None:
        super().__init__(folders, parts)
        self._keys = keys

    def names(self, numbers: Sequence[int]) -> list[str]:
        names = []
        for number, file in zip(numbers, self.files(np.asarray(numbers)).tolist(), strict=True):
            ends, keys = self._keys[file]
            index = number - (int(self.ends[file - 1]) if file else 0)
            key = keys[ends[index - 1] if index else 0 : ends[index]]
            names.append(f"{self.paths[file]} at key {key.decode(errors='backslashreplace')}")
        return names


class _DatabaseReader(RecordReader[tuple[Batch, ...]]):
    """Base of the readers of databases."""

    _message: ClassVar[str]

    def _set_paths(self, path: PathLike | Sequence[PathLike], may_map: bool) -> None:
        self._folders = list_paths(self.operator, "path", path)
        self._archives = Archives([_data_file(folder) for folder in self._folders], may_map=may_map)
        self._keys: list[tuple[Numbers, bytes]] = []

    def _find_records(self, file: int) -> tuple[Numbers, Numbers]:
        self._keys = self._keys[:file] + [(np.empty(0, np.int64), b"")]
        index = self._archives.native.index_lmdb(file)
        self._keys[file] = (index.key_ends, index.keys)
        if index.fault != LmdbFault.none:
            reason = _DATABASE_FAULTS[index.fault].format(page=index.fault_page)
            self.leave_out(self._archives[file], OpError(reason))
        return index.offsets, index.sizes

    def _make_locations(self, parts: Sequence[tuple[Numbers, Numbers]]) -> Locations:
        return _Entries(self._folders, parts, self._keys)

    def _describe(self, error: _kernels.RecordError) -> OpError:
        """What is wrong with a record."""
        fault, part, value = error.fault, error.part, error.value
        if fault == RecordFault.malformed:
            reason = f"the record holds no {self._message} message"
        elif fault == RecordFault.wrong_type:
            reason = f"tensor {part} of the record has an unexpected type"
        elif fault == RecordFault.wrong_size:
            reason = f"tensor {part} of the record has {value} values, which do not fit its shape"
        elif fault == RecordFault.mixed:
            reason = f"output {part} differs in type or dimensionality from those before"
        elif fault == RecordFault.bad_label:
            reason = f"the label {value} is not in the range that 'num_labels' gives"
        else:
            reason = f"the record has {part} tensors, of {value} that are expected"
        return OpError(reason)


class Caffe(_DatabaseReader):
    """Read images and labels from databases (LMDB) of Caffe.

    The first output is the image: encoded (1-D, uint8), or its pixels (HWC, uint8) if the record
    says so. The second is the label (int32, shape (1,); without a label (0,)). The `source` of both
    names the database and the key.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        The folders of the databases, or the files in them (data.mdb).
    image_available
        Whether to deliver the image.
    label_available
        Whether to deliver the label.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.
        `random_shuffle` draws from the next `initial_fill` records.

    Examples
    --------
    >>> import lmdb, tempfile  # only to write a database
    >>> folder = tempfile.mkdtemp()
    >>> database = lmdb.open(folder)
    >>> with database.begin(write=True) as transaction:
    ...     _ = transaction.put(b"0000", bytes([0x22, 4]) + b"JPEG" + bytes([0x28, 7]))
    >>> database.close()
    >>> for image, label in ndd.readers.Caffe(path=folder).next_epoch():
    ...     print(bytes(np.asarray(image)), label.item(), image.source.rsplit("/")[-1][-11:])
    b'JPEG' 7 at key 0000

    Differs from DALI: `shuffle_after_epoch`, `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "readers.Caffe"
    _message: ClassVar[str] = "Datum"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike | Sequence[PathLike],
        image_available: bool | None = True,
        label_available: bool | None = True,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._set_paths(path, may_map=not options.get("dont_use_mmap"))
        self._image = image_available is None or bool(image_available)
        self._label = label_available is None or bool(label_available)
        if not self._image and not self._label:
            msg = (
                f"{self.operator}: there is nothing to deliver. Leave out 'image_available' or "
                "'label_available'."
            )
            raise ValueError(msg)
        super().__init__(batch_size, name, device, **options)

    def _parse(
        self, records: _kernels.Samples
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        outputs, errors = _kernels.parse_datums(records, self._image, self._label)
        return outputs, {error.index: self._describe(error) for error in errors}


class Caffe2(_DatabaseReader):
    """Read images, labels and other tensors from databases (LMDB) of Caffe2.

    Delivers the image (encoded: 1-D, or pixels: HWC; uint8), the label (1-D, int32 or float32), the
    additional tensors (1-D, int32, int64 or float32) and the box (int32, shape (4,)), as far as the
    arguments ask for them. Their `source` names the database and the key.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        The folders of the databases, or the files in them (data.mdb).
    image_available
        Whether the records begin with an image.
    label_type
        0: one label; 1: some of `num_labels` labels, which are set to one in the output; 2: a
        vector; 3: like 1, but set to the weights in the tensor that follows; 4: none.
    num_labels
        The length of the output for label types 1 and 3.
    additional_inputs
        How many tensors follow the label.
    bbox
        Whether a box comes last.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.
        `random_shuffle` draws from the next `initial_fill` records.

    Examples
    --------
    >>> import lmdb, tempfile  # only to write a database
    >>> folder = tempfile.mkdtemp()
    >>> database = lmdb.open(folder)
    >>> image, label = bytes([0x10, 4, 0x32, 4]) + b"JPEG", bytes([0x10, 2, 0x22, 1, 7])
    >>> record = b"".join(bytes([0x0A, len(part)]) + part for part in (image, label))
    >>> with database.begin(write=True) as transaction:
    ...     _ = transaction.put(b"0000", record)
    >>> database.close()
    >>> for image, label in ndd.readers.Caffe2(path=folder).next_epoch():
    ...     print(bytes(np.asarray(image)), label.item())
    b'JPEG' 7

    Differs from DALI: label types 1 and 3 work, and have one output. `shuffle_after_epoch`,
    `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "readers.Caffe2"
    _message: ClassVar[str] = "TensorProtos"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike | Sequence[PathLike],
        image_available: bool | None = True,
        label_type: int | None = 0,
        num_labels: int | None = 1,
        additional_inputs: int | None = 0,
        bbox: bool | None = False,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._set_paths(path, may_map=not options.get("dont_use_mmap"))
        self._image = image_available is None or bool(image_available)
        kind = self._count("label_type", label_type, 0)
        self._num_labels = self._count("num_labels", num_labels, 1)
        self._additional = self._count("additional_inputs", additional_inputs, 0)
        self._box = bool(bbox)
        if kind >= len(LabelType):
            msg = f"{self.operator}: 'label_type' must be in [0..4]; got {kind}."
            raise ValueError(msg)
        self._label_type = LabelType(kind)
        has_label = self._label_type != LabelType.none
        if not (self._image or has_label or self._additional or self._box):
            msg = f"{self.operator}: there is nothing to deliver. Leave out 'image_available'."
            raise ValueError(msg)
        super().__init__(batch_size, name, device, **options)

    def _count(self, name: str, value: int | None, default: int) -> int:
        where = f"{self.operator}: '{name}'"
        number: int = rule_of(int).convert(default if value is None else value, where)
        if not 0 <= number < 2**31:
            msg = f"{where} must not be negative; got {number}."
            raise ValueError(msg)
        return number

    def _parse(
        self, records: _kernels.Samples
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        outputs, errors = _kernels.parse_tensors(
            records, self._image, self._label_type, self._num_labels, self._additional, self._box
        )
        return outputs, {error.index: self._describe(error) for error in errors}


def _data_file(path: str) -> str:
    """The file of a database, which is usually given by its folder."""
    if path.endswith(".mdb") or ("://" not in path and os.path.isfile(path)):
        return path
    return f"{path.rstrip('/')}/data.mdb"
