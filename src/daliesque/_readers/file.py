# SPDX-License-Identifier: Apache-2.0
"""Files and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.convert import to_samples
from .._engine.device import DeviceLike
from .._engine.dtype import DType, DTypeLike, float32, float64, full_names, int32, int64
from .._engine.dtype import dtype as to_dtype
from .._engine.samples import host
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.discovery import NameList, PathLike, list_classes, list_files, read_list
from .sources.listed import ListedFiles

# What holds any label without a change, or nearly so, and what losses take.
_LABEL_TYPES = (int32, int64, float32, float64)

# Images and audio.
_KNOWN_FILES = (
    "*.jpg",
    "*.jpeg",
    "*.png",
    "*.bmp",
    "*.tif",
    "*.tiff",
    "*.pnm",
    "*.ppm",
    "*.pgm",
    "*.pbm",
    "*.jp2",
    "*.webp",
    "*.flac",
    "*.ogg",
    "*.wav",
)


class File(ListedFiles[tuple[Batch, Batch]]):
    """Read whole files, each with a label.

    The files are those in the sub-folders of `file_root`, in alphabetical order, labeled with the
    number of the sub-folder; or those named in the text file `file_list`; or `files`. The first
    output is the contents (1-D, uint8), the second the label (int32, shape (1,)); the `source` of
    both is the name of the file as it was found, relative to the folder.

    Up to 64 MB of files stay in memory and are only read again when they have changed. Arrays made
    of such contents are read-only.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    file_root
        The folder in whose sub-folders the files are, or to which names in `file_list` or `files`
        are relative.
    file_list
        A text file with one file name and label in each line. The names may have spaces inside.
        They are relative to `file_root`, or else to the folder of the list.
    files
        The names of the files.
    labels
        The labels of `files`; by default 0, 1, 2, ...
    file_filters
        Patterns, of which one must match the name of a file in a sub-folder.
    dir_filters
        Patterns, of which one must match the name of a sub-folder.
    case_sensitive_filter
        Whether patterns distinguish upper and lower case.
    label_dtype
        The type of the labels, e.g. `ndd.int64` as losses of PyTorch want it; by default int32.
    squeeze_labels
        Deliver labels without axes, so that those of a batch are an array of shape (batch_size,).
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> for name in ("cat/a.jpg", "cat/b.jpg", "dog/c.jpg"):
    ...     path = pathlib.Path(folder.name, name)
    ...     path.parent.mkdir(exist_ok=True)
    ...     path.touch()
    >>> reader = ndd.readers.File(file_root=folder.name)
    >>> for contents, labels in reader.next_epoch(batch_size=2):
    ...     print(contents.source, labels.torch().flatten().tolist())
    ['cat/a.jpg', 'cat/b.jpg'] [0, 0]
    ['dog/c.jpg', 'cat/a.jpg'] [1, 0]
    >>> reader.classes
    ['cat', 'dog']
    >>> folder.cleanup()

    Differs from DALI: an epoch may be left and the batch size changed at any time; `get_state` and
    `set_state` always work, and after `set_state` the first epoch is what was left of the
    interrupted one; empty files are read. `on_error`, `max_errors`, `label_dtype` and
    `squeeze_labels` are new.
    """

    operator: ClassVar[str] = "readers.File"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        file_root: PathLike | None = None,
        file_list: PathLike | None = None,
        files: PathLike | Sequence[PathLike] | None = None,
        labels: int | Sequence[int] | NDArray[Any] | None = None,
        file_filters: str | Sequence[str] | None = _KNOWN_FILES,
        dir_filters: str | Sequence[str] | None = None,
        case_sensitive_filter: bool | None = False,
        label_dtype: DTypeLike | None = None,
        squeeze_labels: bool = False,
        **options: Unpack[ReaderOptions],
    ) -> None:
        super().__init__(batch_size, name, device, file_root, file_list, files, **options)
        self._label_dtype = self._checked_type(label_dtype)
        self._squeeze_labels = bool(squeeze_labels)
        # The names of the sub-folders, if that is what was searched.
        self._folders: list[str] | None = None
        self._labels = self._checked_labels(labels)
        self._file_filters = self._checked_patterns("file_filters", file_filters, _KNOWN_FILES)
        self._dir_filters = self._checked_patterns("dir_filters", dir_filters, ())
        self._case_sensitive = bool(case_sensitive_filter)

    def _parse_list(self, path: str) -> NameList:
        listed = read_list(path)
        self._labels = listed.labels
        return listed

    def _keep(self, chosen: Sequence[bool]) -> None:
        self._labels = self._labels[np.array(chosen)]

    def _search(self, root: str) -> list[str]:
        names, self._labels, self._folders = list_classes(
            root,
            self._file_filters,
            self._dir_filters,
            self._case_sensitive,
            self._note_unreadable_folder,
        )
        return names

    def _describe_search(self, root: str) -> str:
        advice = "Check 'file_root', 'file_filters' and 'dir_filters'."
        direct = len(list_files(root, self._file_filters, self._case_sensitive))
        if direct:
            advice = (
                f"{direct} lie in the folder itself: put them into one sub-folder for each class, "
                "or give 'files'."
            )
        patterns = ", ".join(self._file_filters)
        return f'that match {patterns} in the sub-folders of "{root}". {advice}'

    def fetch(self, numbers: Numbers) -> Fetched:
        outputs, errors = self._paths.read(numbers)
        if not outputs:
            return Fetched((), errors)
        labels = self._labels[numbers]
        if errors:
            labels = np.delete(labels, list(errors))
        labels = labels.astype(self._label_dtype.numpy)
        shaped = labels if self._squeeze_labels else labels[:, np.newaxis]
        samples = host(to_samples(shaped, None, None, self.operator)).unfold()
        return Fetched((*outputs, samples.as_internal()), errors)

    @property
    def classes(self) -> list[str]:
        """The names of the classes, which are the sub-folders, in the order of their labels."""
        self.get_metadata()  # opens the index
        if self._folders is None:
            msg = f"{self.operator}: only classes that are sub-folders of 'file_root' have names."
            raise AttributeError(msg)
        return list(self._folders)

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each class."""
        return {name: label for label, name in enumerate(self.classes)}

    def _file_name(self, number: int) -> str:
        return self._paths[number]

    def _checked_type(self, label_dtype: DTypeLike | None) -> DType:
        dtype = int32 if label_dtype is None else to_dtype(label_dtype)
        if dtype not in _LABEL_TYPES:
            names = full_names(_LABEL_TYPES)
            msg = f"{self.operator}: 'label_dtype' must be one of {names}; got {dtype.full_name}."
            raise ValueError(msg)
        return dtype

    def _checked_labels(
        self, labels: int | Sequence[int] | NDArray[Any] | None
    ) -> NDArray[np.int32]:
        """The labels of `files`; those of folders and lists are found later."""
        if labels is None:
            return np.arange(len(self._files or ()), dtype=np.int32)
        where = f"{self.operator}: 'labels'"
        values = rule_of(list[int]).convert(labels, where)
        if self._files is None:
            msg = f"{where} go with 'files' only: folders and lists have labels of their own."
            raise ValueError(msg)
        if len(values) != len(self._files):
            msg = (
                f"{where} needs one for each file; got {len(values)} for {len(self._files)} files."
            )
            raise ValueError(msg)
        wide = np.array(values)
        if wide.min() < -(2**31) or wide.max() >= 2**31:
            msg = f"{where} must fit into 32 bits; got {wide.min()} to {wide.max()}."
            raise ValueError(msg)
        return wide.astype(np.int32)

    def _checked_patterns(
        self, name: str, patterns: str | Sequence[str] | None, default: tuple[str, ...]
    ) -> Sequence[str]:
        if patterns is None:
            return default
        checked: Sequence[str] = rule_of(list[str]).convert(patterns, f"{self.operator}: '{name}'")
        if not checked:
            msg = f"{self.operator}: '{name}' must not be empty. Leave it out to match all."
            raise ValueError(msg)
        return checked
