# SPDX-License-Identifier: Apache-2.0
"""TFRecord files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from .. import _kernels
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.dtype import from_numpy
from .._engine.errors import OpError
from .core.options import ReaderOptions
from .core.order import Numbers
from .sources.archives import Archives
from .sources.discovery import PathLike, list_paths
from .sources.features import Feature, float32, int64, string
from .sources.records import RecordReader

RecordFault = _kernels.RecordFault

# Name, element type, whether the length is fixed, shape, and values of records without the feature.
_Rule = tuple[bytes, int, bool, list[int], bytes | None]

_TYPES: dict[Any, tuple[type[np.generic], str]] = {
    int64: (np.int64, "integers"),
    float32: (np.float32, "floats"),
    string: (np.uint8, "strings"),
}
_FRAME_FAULTS = {
    RecordFault.too_short: "is too short",
    RecordFault.bad_length: "has a length whose checksum is wrong",
    RecordFault.cut_short: "is cut short",
    RecordFault.bad_checksum: "has contents whose checksum is wrong",
    RecordFault.malformed: "holds no Example message",
}


class TFRecord(RecordReader[dict[str, Batch]]):
    """Read `Example` messages from TFRecord files.

    Delivers a dict with a Batch (or Tensor) for each feature asked for. Integers are int64, floats
    float32; a string becomes its bytes (1-D, uint8). The `source` of a sample names the file and
    the offset of the record. Checksums are verified.

    A feature of fixed length that a record lacks, or has too few values of, gets those of its
    default (if that is None, it is an error); a feature of varying length has no values then.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    path
        The TFRecord files.
    index_path
        For each of them an index: a text file with the offset and the size of a record in each
        line, as `daliesque.index` makes them. Without it the files are scanned.
    features
        What to read: names and `tfrecord.FixedLenFeature` or `tfrecord.VarLenFeature`.
    use_o_direct
        Accepted for compatibility, together with `dont_use_mmap`.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.
        `random_shuffle` draws from the next `initial_fill` records, `shuffle_after_epoch` permutes
        the files.

    Examples
    --------
    >>> import base64, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "data.tfrecord")
    >>> record = "DgAAAAAAAADF5Wk/CgwKCgoBeBIFGgMKAQeYmTkl"  # the feature "x" with the value 7
    >>> _ = file.write_bytes(base64.b64decode(record))
    >>> features = {"x": ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, 0)}
    >>> for batch in ndd.readers.TFRecord(path=file, features=features).next_epoch(batch_size=1):
    ...     print(batch["x"].torch().tolist())
    [[7]]

    Differs from DALI: `index_path` may be left out; checksums are verified; records that lack a
    feature get the default instead of a number from somewhere in memory, and values of another type
    than asked for are an error. `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "readers.TFRecord"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        path: PathLike | Sequence[PathLike],
        index_path: PathLike | Sequence[PathLike] | None = None,
        features: Mapping[str, Feature],
        use_o_direct: bool | None = False,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._archives = Archives(
            list_paths(self.operator, "path", path), may_map=not options.get("dont_use_mmap")
        )
        self._indices = None
        if index_path is not None:
            self._indices = Archives(list_paths(self.operator, "index_path", index_path))
            if len(self._indices) != len(self._archives):
                msg = (
                    f"{self.operator}: 'index_path' needs one file for each of 'path'; got "
                    f"{len(self._indices)} for {len(self._archives)}. Leave it out to do without."
                )
                raise ValueError(msg)
        if use_o_direct and not options.get("dont_use_mmap"):
            msg = f"{self.operator}: 'use_o_direct' needs dont_use_mmap=True."
            raise ValueError(msg)
        self._features = self._checked_features(features)
        self.output_names = tuple(features)
        self._parser = _kernels.ExampleParser(
            [self._to_rule(key, feature) for key, feature in self._features.items()]
        )
        super().__init__(batch_size, name, device, **options)

    def _find_records(self, file: int) -> tuple[Numbers, Numbers]:
        if self._indices is not None:
            offsets, sizes = self._indices.read_number_pairs(file)
            self._archives.require(file)
            return offsets, sizes
        index = self._archives.native.index_tfrecord(file)
        if index.fault != RecordFault.none:
            reason = f"the record at byte {index.fault_offset} {_FRAME_FAULTS[index.fault]}"
            self.leave_out(self._archives[file], OpError(reason))
        return index.offsets, index.sizes

    def _read(
        self, files: Numbers, offsets: Numbers, sizes: Numbers
    ) -> tuple[Sequence[_kernels.Samples], dict[int, Exception]]:
        outputs, errors, faulty = self._parser.read(self._archives.native, files, offsets, sizes)
        for error in faulty:
            errors[error.index] = OpError(self._describe(error))
        return outputs, errors

    def _describe(self, error: _kernels.RecordError) -> str:
        """What is wrong with a record."""
        fault, values = error.fault, error.value
        if fault in _FRAME_FAULTS:
            return f"the record {_FRAME_FAULTS[fault]}"
        name, feature = list(self._features.items())[error.part]
        shape = list(feature.shape or ())
        if fault == RecordFault.missing_feature:
            wanted = math.prod(shape)
            return f"the feature {name!r} has {values} values of {wanted} and no default"
        if fault == RecordFault.wrong_type:
            return f"the values of the feature {name!r} are no {_TYPES[feature.dtype][1]}"
        if fault == RecordFault.too_many_values:
            return f"the feature {name!r} has {values} values, too many for {shape}"
        return (
            f"the feature {name!r} has {values} values, which do not fill the partial shape "
            f"{list(feature.partial_shape)}"
        )

    def _checked_features(self, features: Mapping[str, Feature]) -> dict[str, Feature]:
        if not isinstance(features, Mapping):
            msg = f"{self.operator}: 'features' must be a dict; got {features!r:.60}."
            raise TypeError(msg)
        if not features:
            msg = f"{self.operator}: 'features' must not be empty."
            raise ValueError(msg)
        for name, feature in features.items():
            where = f"{self.operator}: the feature {name!r}"
            if not isinstance(name, str) or not isinstance(feature, Feature):
                msg = (
                    f"{where} must have a name and a description, made by tfrecord.FixedLenFeature "
                    f"or tfrecord.VarLenFeature; got {feature!r:.60}."
                )
                raise TypeError(msg)
            extents = feature.partial_shape if feature.shape is None else feature.shape
            if any(extent < 0 for extent in extents):
                msg = f"{where} has a negative extent: {list(extents)}."
                raise ValueError(msg)
            if feature.dtype == string and (feature.shape is None or math.prod(extents) > 1):
                msg = (
                    f"{where}: Tensors of strings are not supported. Describe it as one string: "
                    "FixedLenFeature([], tfrecord.string, b'')."
                )
                raise ValueError(msg)
        return dict(features)

    def _to_rule(self, name: str, feature: Feature) -> _Rule:
        """A feature as the native parser takes it."""
        kind = np.dtype(_TYPES[feature.dtype][0])
        fixed = feature.shape is not None
        shape = feature.shape if feature.shape is not None else feature.partial_shape
        fallback = self._to_default(name, feature, kind) if fixed else None
        code = from_numpy(kind)
        assert code is not None
        return name.encode(), code.code, fixed, list(shape), fallback

    def _to_default(self, name: str, feature: Feature, kind: np.dtype[Any]) -> bytes | None:
        default = feature.default
        if default is None:
            return None
        if feature.dtype == string:
            if isinstance(default, str | bytes):
                return default.encode() if isinstance(default, str) else default
        else:
            try:
                values = np.asarray(default).astype(kind, casting="same_kind")
                return np.broadcast_to(values, feature.shape or ()).tobytes()
            except (TypeError, ValueError):
                pass
        msg = (
            f"{self.operator}: the default of the feature {name!r} must be one of the "
            f"{_TYPES[feature.dtype][1]}, or fit its shape {list(feature.shape or ())}; got "
            f"{default!r:.60}."
        )
        raise ValueError(msg)


def index_text(path: str) -> bytes:
    """The index of a file, with the offset and the size of a record in each line."""
    index = Archives([path]).native.index_tfrecord(0)
    if index.fault != RecordFault.none:
        msg = (
            f'cannot index "{path}": the record at byte {index.fault_offset} '
            f"{_FRAME_FAULTS[index.fault]}."
        )
        raise OpError(msg)
    pairs = zip(index.offsets.tolist(), index.sizes.tolist(), strict=True)
    return "".join(f"{offset} {size}\n" for offset, size in pairs).encode()
