# SPDX-License-Identifier: Apache-2.0
"""Tar archives whose files belong together by their names."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from typing import ClassVar, Unpack

import numpy as np

from .. import _kernels
from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.device import DeviceLike
from .._engine.dtype import NUMERIC, DType, DTypeLike, uint8
from .._engine.dtype import dtype as to_dtype
from .._engine.errors import OpError, join_names
from .core.base import Reader
from .core.caller import warn_caller
from .core.names import Names
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.archives import Archives
from .sources.discovery import PathLike, list_paths

ComponentFault, MissingComponents = _kernels.ComponentFault, _kernels.MissingComponents

_BEHAVIORS = {
    "": MissingComponents.stay_empty,
    "empty": MissingComponents.stay_empty,
    "skip": MissingComponents.skip,
    "error": MissingComponents.error,
}
_TAR_FAULTS = {
    _kernels.TarFault.no_tar: (
        "it is no tar archive, or damaged: the header at byte {where} has a wrong checksum"
    ),
    _kernels.TarFault.cut_short: "it is cut short: the entry at byte {where} is incomplete",
    _kernels.TarFault.compressed: "it is compressed. Unpack it first",
}
_FAULTS = {
    ComponentFault.no_tar: _TAR_FAULTS[_kernels.TarFault.no_tar],
    ComponentFault.cut_short: _TAR_FAULTS[_kernels.TarFault.cut_short],
    ComponentFault.compressed: _TAR_FAULTS[_kernels.TarFault.compressed],
    ComponentFault.bad_version: 'line {where} must begin with the version "v1.1" or "v1.2"',
    ComponentFault.bad_count: "line {where} must hold the number of samples after the version",
    ComponentFault.bad_line: (
        "line {where} must list extension, offset, size (in v1.2 also a name) of each component"
    ),
    ComponentFault.bad_offset: "line {where} has an offset that is no multiple of 512",
    ComponentFault.too_few_lines: (
        "it ends before line {where}: there are fewer samples than the first line says"
    ),
    ComponentFault.missing: (
        "the sample at {unit} {where} has no component for output {output} ({extensions})"
    ),
    ComponentFault.bad_size: (
        "the sample at {unit} {where} has a component for output {output} whose size is no "
        "multiple of that of {dtype}"
    ),
}


class _Components:
    """What the files in archives are called."""

    def __init__(self, index: _kernels.ComponentIndex, paths: Sequence[str]) -> None:
        self._index = index
        self._paths = paths

    def names(self, output: int, numbers: Sequence[int]) -> list[str]:
        """Archive, offset and name of what samples have for an output; "" for nothing."""
        return [
            f"{self._paths[file]}:{offset}:{os.fsdecode(name)}" if offset >= 0 else ""
            for file, offset, name in self._index.find(numbers, output)
        ]

    def sample_name(self, number: int, outputs: int) -> str:
        """The name for the first output that has one, or the archive."""
        named = (self.names(output, [number])[0] for output in range(outputs))
        file, _, _ = self._index.find([number], 0)[0]
        return next(filter(None, named), self._paths[file])


class Webdataset(Reader[tuple[Batch, ...]]):
    """Read samples from tar archives (WebDataset).

    Files that follow each other and whose names agree up to the first dot (after the last slash)
    form a sample; what comes after that dot is the extension, which distinguishes them. Each
    output (1-D) holds the contents of one file of the sample. Its `source` is the archive, the
    offset and the name of the file. Files whose names begin with a dot are left out.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    paths
        The archives, which must not be compressed.
    ext
        For each output the extension, such as "jpg"; or several alternatives, as in "jpg;png;jpeg".
    case_sensitive_extensions
        Whether upper and lower case make a difference in extensions.
    index_paths
        For each archive an index, as `daliesque.index` makes them (versions 1.1 and 1.2). Without
        it the archives are searched.
    missing_component_behavior
        What to do about samples that have no file for an output: leave the output "empty" (the
        default), "skip" the sample, or raise an "error".
    dtypes
        The element types of the outputs; by default uint8.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.
        `random_shuffle` draws from the next `initial_fill` samples, `shuffle_after_epoch` permutes
        the archives.

    Examples
    --------
    >>> import io, pathlib, tarfile, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "data.tar")
    >>> with tarfile.open(path, "w") as archive:
    ...     for name, text in {"0.txt": b"zero", "0.cls": b"0", "1.txt": b"one"}.items():
    ...         entry = tarfile.TarInfo(name)
    ...         entry.size = len(text)
    ...         archive.addfile(entry, io.BytesIO(text))
    >>> reader = ndd.readers.Webdataset(paths=path, ext=["txt", "cls"])
    >>> for text, label in reader.next_epoch():
    ...     print(bytes(np.asarray(text)), bytes(np.asarray(label)))
    b'zero' b'0'
    b'one' b''

    Differs from DALI: names and sizes in pax headers count; hidden files in folders do not;
    a sample is complete if each output has a file, even if two share one; damaged archives are an
    error. `on_error` and `max_errors` are new.
    """

    operator: ClassVar[str] = "readers.Webdataset"
    _permutes_list: ClassVar[bool] = False

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        paths: PathLike | Sequence[PathLike],
        ext: str | Sequence[str],
        case_sensitive_extensions: bool | None = True,
        index_paths: PathLike | Sequence[PathLike] | None = None,
        missing_component_behavior: str | None = "",
        dtypes: DTypeLike | Sequence[DTypeLike] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._archives = Archives(
            list_paths(self.operator, "paths", paths), may_map=not options.get("dont_use_mmap")
        )
        self._indices = None
        if index_paths is not None:
            self._indices = Archives(list_paths(self.operator, "index_paths", index_paths))
            if len(self._indices) != len(self._archives):
                msg = (
                    f"{self.operator}: 'index_paths' needs one file for each of 'paths'; got "
                    f"{len(self._indices)} for {len(self._archives)}. Leave it out to do without."
                )
                raise ValueError(msg)
        self._ext: Sequence[str] = rule_of(list[str]).convert(ext, f"{self.operator}: 'ext'")
        if not self._ext:
            msg = f"{self.operator}: 'ext' must name an extension for each output; got none."
            raise ValueError(msg)
        self._case_sensitive = case_sensitive_extensions is None or bool(case_sensitive_extensions)
        behavior = (missing_component_behavior or "").lower()
        if behavior not in _BEHAVIORS:
            msg = (
                f"{self.operator}: 'missing_component_behavior' must be "
                f"{join_names(list(_BEHAVIORS)[1:])}; got {missing_component_behavior!r}."
            )
            raise ValueError(msg)
        self._missing = _BEHAVIORS[behavior]
        self._dtypes = self._checked_dtypes(dtypes)
        super().__init__(batch_size, name, device, **options)

    def open_index(self) -> int:
        index = _kernels.ComponentIndex(
            [self._to_extensions(alternatives) for alternatives in self._ext],
            [dtype.code for dtype in self._dtypes],
            self._case_sensitive,
            self._missing,
        )
        for file in range(len(self._archives)):
            self._add_file(index, file)
            index.end_file()
        self._index = index
        self._components = _Components(index, self._archives.paths)
        return index.samples

    def _add_file(self, index: _kernels.ComponentIndex, file: int) -> None:
        """Add the samples of an archive to the index."""
        was_clear = index.ambiguous[0] < 0
        source = self._archives if self._indices is None else self._indices
        try:
            if self._indices is None:
                errors = index.add_tar(self._archives.native, file)
            else:
                self._archives.require(file)
                errors = index.add_index(self._indices.native, file)
        except OSError as error:
            self.leave_out(error.filename or source[file], error)
            return
        for component_error in errors:
            self.leave_out(source[file], OpError(self._describe(component_error)))
        where, output = index.ambiguous
        if was_clear and where >= 0:
            msg = (
                f'{self.operator}: "{source[file]}": the sample at {self._unit} {where} has '
                f"several components for output {output} ({self._ext[output]}); the first is used. "
                "Other samples are not reported."
            )
            warn_caller(msg)

    @property
    def _unit(self) -> str:
        return "byte" if self._indices is None else "line"

    def _describe(self, error: _kernels.ComponentError) -> str:
        return _FAULTS[error.fault].format(
            where=error.where,
            unit=self._unit,
            output=error.output,
            extensions=self._ext[error.output],
            dtype=self._dtypes[error.output].full_name,
        )

    def _groups(self) -> Numbers:
        return np.array(self._index.file_ends, np.int64)

    def fetch(self, numbers: Numbers) -> Fetched:
        outputs, errors = self._index.read(self._archives.native, numbers)
        if not errors:
            return Fetched(tuple(outputs), {})
        good = [index for index in range(len(numbers)) if index not in errors]
        return Fetched(tuple(output.select(good) for output in outputs) if good else (), errors)

    def source_name(self, number: int) -> str:
        return self._components.sample_name(number, len(self._ext))

    def _sources(self, numbers: Sequence[int], outputs: int) -> Sequence[Sequence[str]]:
        find = self._components.names
        return [Names(functools.partial(find, output), numbers) for output in range(outputs)]

    def _to_extensions(self, alternatives: str) -> list[bytes]:
        listed = alternatives if self._case_sensitive else alternatives.lower()
        return [os.fsencode(extension) for extension in listed.split(";") if extension]

    def _checked_dtypes(self, given: DTypeLike | Sequence[DTypeLike] | None) -> list[DType]:
        if given is None:
            return [uint8] * len(self._ext)
        listed = given if isinstance(given, list | tuple) else [given]
        dtypes = [to_dtype(kind) for kind in listed]
        for kind in dtypes:
            if kind not in NUMERIC:
                msg = (
                    f"{self.operator}: 'dtypes' must be integer or floating-point types; got "
                    f"{kind}."
                )
                raise ValueError(msg)
        if len(dtypes) != len(self._ext):
            msg = (
                f"{self.operator}: 'dtypes' needs one type for each output; got {len(dtypes)} for "
                f"{len(self._ext)}."
            )
            raise ValueError(msg)
        return dtypes


def index_text(path: str) -> bytes:
    """The index of an archive: version 1.2, or 1.1 if names hold blanks, which 1.2 cannot have."""
    archives = Archives([path])
    index = archives.native.make_tar_index(0, True)
    if index.blank_names:
        index = archives.native.make_tar_index(0, False)
    if index.fault != _kernels.TarFault.none:
        reason = _TAR_FAULTS[index.fault].format(where=index.fault_offset)
        msg = f'cannot index "{path}": {reason}.'
        raise OpError(msg)
    if index.blank_extensions:
        msg = f'cannot index "{path}": an extension is empty or holds blanks.'
        raise OpError(msg)
    text = index.text
    if text.split(b"\n", 1)[0].endswith(b" 0"):
        msg = f'cannot index "{path}": there are no samples.'
        raise OpError(msg)
    return text
