# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays in files, whole or in part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._codecs.npy import read_header
from .._codecs.pixels import CodecError
from .._engine.args import FloatsPerSample, IntsPerSample, rule_of
from .._engine.batch import Batch
from .._engine.device import Device, DeviceLike
from .._engine.devices import require_backend
from .._engine.dtype import from_numpy
from .._engine.errors import DecodeError, OpError
from .._engine.value import Value
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.discovery import LEAST_AGE, PathLike
from .sources.listed import ListedFiles
from .sources.storage import read

NpyFault, NpyOutside = _kernels.NpyFault, _kernels.NpyOutside
RegionFault = _kernels.WindowFault.Kind

_POLICIES = {
    "error": NpyOutside.error,
    "pad": NpyOutside.pad,
    "constant": NpyOutside.pad,
    "trim_to_shape": NpyOutside.trim,
}
# Enough to see the header of any array that can be read.
_HEADER_BYTES = (1 << 16) + 12

Bound = int | float | Sequence[float] | NDArray[Any] | Value


class Numpy(ListedFiles[tuple[Batch]]):
    """Read arrays from .npy files, or the same part of each.

    The files are those in `file_root` and its sub-folders, in alphabetical order; or those named
    in the text file `file_list`; or `files`. The only output is the array in C order. Only the
    bytes of the part are read. The arrays of a batch must have one type and number of axes.

    Parameters
    ----------
    batch_size, name
        See `Reader`.
    device
        Where batches are delivered: "cpu" or "gpu". Files are read and decoded on the CPU.
    file_root
        The folder with the files, or to which names in `file_list` or `files` are relative.
    file_filter
        A pattern that the names of files in `file_root` must match.
    file_list
        A text file with one file name in each line, relative to `file_root`, or else to the folder
        of the list.
    files
        The names of the files.
    roi_start, rel_roi_start
        Where the part begins along each axis: a number of elements, or a share of the extent. One
        number serves all axes.
    roi_end, rel_roi_end
        Where it ends, likewise.
    roi_shape, rel_roi_shape
        Its extents, instead of the ends.
    roi_axes
        The axes that the numbers stand for; the others are read as a whole. Empty: all axes.
    out_of_bounds_policy
        What to do when the part leaves the array: "error"; "pad" with `fill_value`; or
        "trim_to_shape", cut it off.
    fill_value
        What to pad with, rounded and clamped to the type of the array.
    cache_header_information
        Remember the headers of files that have not changed.
    use_o_direct, register_buffers
        Accepted for compatibility.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> for number in range(2):
    ...     np.save(pathlib.Path(folder.name, f"{number}.npy"), np.arange(6).reshape(2, 3) + number)
    >>> reader = ndd.readers.Numpy(file_root=folder.name, roi_start=1, roi_axes=[1])
    >>> for (arrays,) in reader.next_epoch(batch_size=2):
    ...     print(arrays.source, arrays.torch().tolist())
    ['./0.npy', './1.npy'] [[[1, 2], [4, 5]], [[2, 3], [5, 6]]]
    >>> folder.cleanup()

    Differs from DALI: all versions of the format and both byte orders are read, and any number of
    axes. `on_error` and `max_errors` are new, and what `readers.File` says about epochs and states
    holds here too.
    """

    operator: ClassVar[str] = "readers.Numpy"
    _devices: ClassVar[tuple[str, ...]] = ("cpu", "gpu")
    _default_filter: ClassVar[str] = "*.npy"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        file_root: PathLike | None = None,
        file_filter: str | None = "*.npy",
        file_list: PathLike | None = None,
        files: PathLike | Sequence[PathLike] | None = None,
        roi_start: Bound | None = None,
        rel_roi_start: Bound | None = None,
        roi_end: Bound | None = None,
        rel_roi_end: Bound | None = None,
        roi_shape: Bound | None = None,
        rel_roi_shape: Bound | None = None,
        roi_axes: int | Sequence[int] | None = (),
        out_of_bounds_policy: str | None = "error",
        fill_value: float | None = 0.0,
        cache_header_information: bool | None = False,
        use_o_direct: bool | None = False,
        register_buffers: bool | None = True,
        **options: Unpack[ReaderOptions],
    ) -> None:
        del register_buffers
        if use_o_direct and not options.get("dont_use_mmap"):
            msg = f"{self.operator}: 'use_o_direct' needs dont_use_mmap=True."
            raise ValueError(msg)
        begin = self._one_of(roi_start=roi_start, rel_roi_start=rel_roi_start)
        end = self._one_of(
            roi_end=roi_end,
            rel_roi_end=rel_roi_end,
            roi_shape=roi_shape,
            rel_roi_shape=rel_roi_shape,
        )
        self._region = self._make_region(begin, end, roi_axes, out_of_bounds_policy, fill_value)
        self._extent_name = end[0]
        self._headers = _kernels.NpyHeaderCache(LEAST_AGE) if cache_header_information else None
        super().__init__(
            batch_size, name, device, file_root, file_list, files, file_filter, **options
        )

    def _one_of(self, **bounds: Bound | None) -> tuple[str, NDArray[np.float64] | None]:
        """The one argument that is given, and its values; an empty list counts as not given."""
        found: tuple[str, NDArray[np.float64] | None] = ("", None)
        for name, value in bounds.items():
            if value is None:
                continue
            if found[0]:
                msg = f"{self.operator}: '{found[0]}' and '{name}' exclude each other."
                raise ValueError(msg)
            found = name, self._to_numbers(name, value)
        return found

    def _to_numbers(self, name: str, value: Bound) -> NDArray[np.float64] | None:
        where = f"{self.operator}: '{name}'"
        if isinstance(value, Value):
            if isinstance(value, Value._batch_class):
                msg = f"{where} is the same for all samples; got a Batch."
                raise ValueError(msg)
            value = np.asarray(value)
        rule = rule_of(FloatsPerSample if name.startswith("rel_") else IntsPerSample)
        if isinstance(value, Sequence) and len(value) == 0:
            return None
        numbers: NDArray[Any] = rule.convert(value, where)
        return numbers.astype(np.float64)

    def _make_region(
        self,
        begin: tuple[str, NDArray[np.float64] | None],
        end: tuple[str, NDArray[np.float64] | None],
        axes: int | Sequence[int] | None,
        policy: str | None,
        fill: float | None,
    ) -> tuple[Any, ...] | None:
        where = f"{self.operator}: "
        policy = rule_of(str).convert(policy or "error", f"{where}'out_of_bounds_policy'")
        if policy not in _POLICIES:
            msg = (
                f"{where}'out_of_bounds_policy' must be 'error', 'pad' or 'trim_to_shape'; got "
                f"{policy!r}."
            )
            raise ValueError(msg)
        fill = rule_of(float).convert(fill or 0.0, f"{where}'fill_value'")
        which = rule_of(list[int]).convert(() if axes is None else axes, f"{where}'roi_axes'")
        if begin[1] is None and end[1] is None:
            return None
        is_shape = end[0].endswith("shape")
        relative = (begin[0].startswith("rel_"), end[0].startswith("rel_"))
        return (
            np.array([which], np.int32).reshape(1, -1),
            begin[1],
            None if is_shape else end[1],
            end[1] if is_shape else None,
            (relative[0], relative[1], relative[1]),
            _POLICIES[policy],
            fill,
        )

    @property
    def _lender(self) -> Callable[[_kernels.Samples], _kernels.Samples | None] | None:
        """What gives the memory that is transferred to a device."""
        if self._device == Device.CPU:
            return None
        lend = require_backend(self.operator).lend
        return lambda outline: lend(outline.type_id, outline.shape_array(), "", self._device)

    def fetch(self, numbers: Numbers) -> Fetched:
        if self._paths.remote:
            return self._fetch_remote(numbers)
        arrays, failed = _kernels.read_npy_files(
            *self._paths.chosen(numbers), self._headers, self._region, self._lender
        )
        return self._checked(numbers, arrays, failed)

    def _fetch_remote(self, numbers: Numbers) -> Fetched:
        contents, errors = self._paths.read(numbers)
        if not contents:
            return Fetched((), errors)
        indices = [k for k in range(len(numbers)) if k not in errors]
        names = [self._full_name(int(number)) for number in numbers[indices]]
        arrays, failed = _kernels.read_npy_contents(contents[0], names, self._region, self._lender)
        outputs, faults = self._checked(numbers[indices], arrays, failed)
        return Fetched(outputs, errors | {indices[k]: fault for k, fault in faults.items()})

    def _checked(
        self, numbers: Numbers, arrays: _kernels.Samples, failed: Sequence[_kernels.NpyError]
    ) -> Fetched:
        errors: dict[int, Exception] = {}
        for error in failed:
            number = int(numbers[error.sample])
            if error.fault in (NpyFault.other_axes, NpyFault.other_type):
                raise self._unlike(number, int(numbers[error.first]), error.fault)
            errors[error.sample] = self._explained(number, error)
        return Fetched((arrays,) if len(errors) < len(numbers) else (), errors)

    def _explained(self, number: int, error: _kernels.NpyError) -> Exception:
        if error.exception is not None:
            return error.exception
        if error.fault == NpyFault.region:
            return OpError(self._region_fault(number, error))
        if error.fault == NpyFault.bound_count:
            return OpError(
                f"the region needs a number for each of {error.axis} axes, or one for all; it has "
                f"{error.value:g}"
            )
        return self._file_fault(number)

    def _region_fault(self, number: int, error: _kernels.NpyError) -> str:
        fault, axis, value = error.window, error.axis, error.value
        if fault == RegionFault.negative_size:
            return f"'{self._extent_name}' must not be negative; got {value:g}"
        if fault == RegionFault.order:
            return f"the region ends before it begins, at {value:g} of axis {axis}"
        shape = self._header_of(number)[1]
        if fault == RegionFault.outside:
            return (
                f"the region, which begins at {value:g} of axis {axis}, leaves the array of shape "
                f'{shape}; out_of_bounds_policy="pad" or "trim_to_shape" allows that'
            )
        problem = "is named twice" if fault == RegionFault.axis_twice else "does not exist"
        return f"axis {value:g} of 'roi_axes' {problem} in an array of {len(shape)} axes"

    def _header_of(self, number: int) -> tuple[str, tuple[int, ...]]:
        """Type and shape of an array, for messages."""
        header = read_header(self._beginning(number))
        return str(header.dtype), header.shape

    def _beginning(self, number: int) -> NDArray[np.uint8]:
        return np.frombuffer(read(self._full_name(number), 0, _HEADER_BYTES), np.uint8)

    def _file_fault(self, number: int) -> Exception:
        """What is wrong with a file that is not as it should be."""
        try:
            header = read_header(self._beginning(number))
        except CodecError as error:
            return DecodeError(f"the file {error}")
        except OSError as error:
            return error
        if from_numpy(header.dtype.newbyteorder("=")) is None:
            return DecodeError(f"the file holds elements of the unsupported type {header.dtype}")
        return DecodeError(
            f"the file is cut short: its header promises {header.offset + header.nbytes} bytes"
        )

    def _unlike(self, number: int, first: int, fault: _kernels.NpyFault) -> ValueError:
        names = [self._full_name(k) for k in (first, number)]
        found = [self._header_of(k) for k in (first, number)]
        if fault == NpyFault.other_type:
            what, values = "type", [dtype for dtype, _ in found]
        else:
            what, values = "number of axes", [str(len(shape)) for _, shape in found]
        return ValueError(
            f"{self.operator}: all arrays of a batch must have the same {what}; "
            f'"{names[0]}" has {values[0]}, "{names[1]}" has {values[1]}. Read such files without '
            "'batch_size'."
        )
