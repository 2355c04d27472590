# SPDX-License-Identifier: Apache-2.0
"""Speech and its transcripts, listed in the manifests of NVIDIA NeMo."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from .. import _kernels
from .._codecs import sndfile
from .._codecs.audio import AudioParts, Wanted, decode_audio, lobes_for
from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.convert import to_batch_samples, to_samples
from .._engine.device import DeviceLike
from .._engine.dtype import DType, float32, int16, int32
from .._engine.errors import DecodeError, same_class
from .._engine.samples import host
from .core.base import Reader
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.discovery import PathLike, Paths, list_paths
from .sources.storage import is_below, is_url, read


class NemoAsr(Reader[tuple[Batch, ...]]):
    """Read audio and transcripts that manifests of NVIDIA NeMo list.

    Each line of a manifest is a JSON object such as

        {"audio_filepath": "a.wav", "offset": 1.5, "duration": 3.45, "text": "what is said"}

    of which only "audio_filepath" is needed. Without "duration" the audio is read to its end. The
    files must lie in the folder of the manifest, unless allow_outside=True.

    The outputs are the decoded audio, as `decoders.audio` makes it; the sampling rate of the file
    (float32, even if the audio was resampled); the bytes of the text (uint8); the number of the
    entry (int64, shape (1,)) among those of its manifest that were kept.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    manifest_filepaths
        The paths of the manifests.
    read_sample_rate, read_text, read_idxs
        Whether there is an output for the sampling rate, the text, and the number of the entry.
    min_duration, max_duration
        Leave out entries whose "duration" is below or above this, in seconds; 0 stands for no
        limit. An entry without a duration is below any minimum.
    sample_rate
        Resample to this rate, in Hz; 0 or less keeps that of the file.
    quality
        Of resampling, 0 to 100.
    downmix
        Take the mean of the channels: audio has one axis. Otherwise it has the shape
        (samples, channels).
    dtype
        The type of audio: float32, int16 or int32.
    normalize_text
        Accepted for compatibility.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import json, pathlib, tempfile, wave
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "a.wav")
    >>> with wave.open(str(path), "wb") as audio:
    ...     audio.setparams((1, 2, 8000, 0, "NONE", ""))
    ...     audio.writeframes(bytes(2 * 8000))
    >>> manifest = path.with_name("manifest.json")
    >>> entry = {"audio_filepath": str(path), "duration": 0.5, "text": "silence"}
    >>> _ = manifest.write_text(json.dumps(entry))
    >>> reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest])
    >>> for audio, rate, text in reader.next_epoch():
    ...     print(audio.shape, float(rate), bytes(np.asarray(text)).decode())
    (4000,) 8000.0 silence
    >>> folder.cleanup()

    Differs from DALI: a line that is no JSON object with a path is an error unless `on_error` says
    otherwise, and so is an offset beyond the end of its audio; `Batch.source` names the file.
    """

    operator: ClassVar[str] = "readers.NemoAsr"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        manifest_filepaths: PathLike | Sequence[PathLike],
        read_sample_rate: bool | None = True,
        read_text: bool | None = True,
        read_idxs: bool | None = False,
        min_duration: float | None = 0.0,
        max_duration: float | None = 0.0,
        sample_rate: float | None = -1.0,
        quality: float | None = 50.0,
        downmix: bool | None = True,
        dtype: DType | None = float32,
        normalize_text: bool | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        del normalize_text
        self._manifests = list_paths(self.operator, "manifest_filepaths", manifest_filepaths)
        self._read_sample_rate = read_sample_rate is None or bool(read_sample_rate)
        self._read_text = read_text is None or bool(read_text)
        self._read_idxs = bool(read_idxs)
        self._least = self._number("min_duration", min_duration, 0.0)
        self._most = self._number("max_duration", max_duration, 0.0)
        self._sample_rate = self._number("sample_rate", sample_rate, -1.0)
        kind = float32 if dtype is None else rule_of(DType).convert(dtype, self._where("dtype"))
        if kind not in (int16, int32, float32):
            msg = f"{self._where('dtype')} must be int16, int32 or float32; got {kind.full_name}."
            raise ValueError(msg)
        try:
            lobes = lobes_for(self._number("quality", quality, 50.0))
        except ValueError as error:
            msg = f"{self.operator}: {error}"
            raise ValueError(msg) from None
        self._wanted = Wanted(kind.code, downmix is None or bool(downmix), lobes)
        super().__init__(batch_size, name, device, **options)

    def _where(self, name: str) -> str:
        return f"{self.operator}: '{name}'"

    def _number(self, name: str, value: float | None, default: float) -> float:
        if value is None:
            return default
        number: float = rule_of(float).convert(value, self._where(name))
        if number != number:
            msg = f"{self._where(name)} must be a number; got nan."
            raise ValueError(msg)
        return number

    def open_index(self) -> int:
        paths: list[str] = []
        self._texts: list[bytes] = []
        offsets: list[float] = []
        durations: list[float] = []
        indices: list[int] = []
        for manifest in self._manifests:
            index = 0
            for path, offset, duration, text in self._entries(manifest):
                paths.append(path)
                offsets.append(offset)
                durations.append(duration)
                indices.append(index)
                if self._read_text:
                    self._texts.append(text.encode())
                index += 1
        if not paths:
            msg = (
                f"{self.operator}: No files found. Check 'manifest_filepaths', 'min_duration' and "
                "'max_duration'."
            )
            raise ValueError(msg)
        self._paths = Paths(paths, "")
        self._offsets = np.array(offsets)
        self._durations = np.array(durations)
        self._indices = np.array(indices, np.int64)
        return len(self._paths)

    def _entries(self, manifest: str) -> list[tuple[str, float, float, str]]:
        """The entries of a manifest that are neither too short nor too long."""
        try:
            lines = read(manifest).decode().split("\n")
        except UnicodeDecodeError as error:
            msg = f'{self.operator}: the manifest "{manifest}" is no text in UTF-8: {error}.'
            raise ValueError(msg) from None
        except OSError as error:
            msg = f'{self.operator}: cannot read the manifest "{manifest}": {error.strerror}.'
            raise same_class(error, msg) from error
        entries = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                entry = _parse(line)
                self._check_path(manifest, entry[0])
            except ValueError as error:
                self._note_bad_line(f"{manifest}:{number}", error)
                continue
            duration = entry[2]
            too_long = self._most > 0 and duration > self._most
            if not too_long and not (self._least > 0 and duration < self._least):
                entries.append(entry)
        return entries

    def _check_path(self, manifest: str, path: str) -> None:
        """Raise ValueError if audio is not in the folder of its manifest, unless that is allowed.

        Names are relative to the working directory.
        """
        folder = os.path.dirname(manifest)
        name = path if is_url(path) else os.path.join(os.getcwd(), path.removeprefix("file://"))
        if not self._settings["allow_outside"] and not is_below(folder, name):
            msg = (
                f'names "{path}", which lies outside of "{folder or os.curdir}". Pass '
                "allow_outside=True to read it all the same"
            )
            raise ValueError(msg)

    def _note_bad_line(self, line: str, error: ValueError) -> None:
        if self._bad_samples.policy == "raise":
            msg = f'{self.operator}: the line "{line}" {error}.'
            raise ValueError(msg) from None
        self._bad_samples.leave_out(line, error)

    def fetch(self, numbers: Numbers) -> Fetched:
        files, indices, errors = self._open_audio(numbers)
        if files is None:
            return Fetched((), errors)
        numbers = numbers[indices]
        frames, channels, rates = np.ascontiguousarray(files.information().T)
        # Truncated, as the reference does, and not beyond the end.
        first = (np.maximum(self._offsets[numbers], 0) * rates).astype(np.int64)
        counts = (self._durations[numbers] * rates).astype(np.int64)
        rest = frames - first
        counts = np.where((self._durations[numbers] < 0) | (counts > rest), rest, counts)
        bad = (frames < 0) | (rest < 0)
        for row in np.flatnonzero(bad).tolist():
            path = self._paths.full(int(numbers[row]))
            errors[indices[row]] = files.read_error(row, path) or self._unusable(
                path, float(self._offsets[numbers[row]]), int(frames[row])
            )
        good = np.flatnonzero(~bad)
        if len(good) == 0:
            return Fetched((), errors)
        parts = AudioParts(files, good, first[good], counts[good], channels[good], rates[good])
        targets = np.full(len(good), self._sample_rate)
        audio, damaged = decode_audio(parts, targets, self._wanted)
        if damaged:
            for row, error in damaged.items():
                errors[indices[good[row]]] = DecodeError(f"it {error}")
            kept = [row for row in range(len(good)) if row not in damaged]
            if not kept:
                return Fetched((), errors)
            audio, good = audio.select(kept), good[kept]
        return Fetched((audio, *self._others(numbers[good], rates[good])), errors)

    def _open_audio(
        self, numbers: Numbers
    ) -> tuple[_kernels.AudioFiles | None, list[int], dict[int, Exception]]:
        """Open audio files, of which only parts may be needed; remote ones are read as a whole.

        Returns them, their indices in `numbers`, and what is wrong with the others.
        """
        indices = list(range(len(numbers)))
        if not self._paths.remote:
            paths = [self._paths.full(number) for number in numbers.tolist()]
            return _kernels.AudioFiles(paths, sndfile.functions()), indices, {}
        contents, errors = self._paths.read(numbers)
        if not contents:
            return None, [], errors
        files = _kernels.AudioFiles(contents[0], sndfile.functions())
        return files, [index for index in indices if index not in errors], errors

    def _unusable(self, path: str, offset: float, frames: int) -> DecodeError:
        """Why a file that can be read has no audio for a sample."""
        if frames >= 0:
            return DecodeError(f"its offset, {offset:g} s, is beyond its end")
        return DecodeError("it " + sndfile.why_not(empty=not read(path, 0, 1)))

    def _others(self, numbers: Numbers, rates: Numbers) -> list[_kernels.Samples]:
        """The outputs besides the audio."""
        outputs: list[_kernels.Samples] = []
        if self._read_sample_rate:
            outputs.append(self._rows(rates.astype(np.float32)))
        if self._read_text:
            texts = [np.frombuffer(self._texts[number], np.uint8) for number in numbers]
            outputs.append(host(to_batch_samples(texts, None, None, self.operator)))
        if self._read_idxs:
            outputs.append(self._rows(self._indices[numbers][:, np.newaxis]))
        return outputs

    def _rows(self, values: Any) -> _kernels.Samples:
        return host(to_samples(values, None, None, self.operator)).unfold().as_internal()

    def source_name(self, number: int) -> str:
        return self._paths[number]


def _parse(line: str) -> tuple[str, float, float, str]:
    """Path, offset, duration (negative if unknown) and text of an entry."""
    try:
        entry = json.loads(line)
    except ValueError as error:
        msg = f"is no JSON object: {error}"
        raise ValueError(msg) from None
    if not isinstance(entry, dict):
        msg = "is no JSON object"
        raise ValueError(msg)
    path, text = entry.get("audio_filepath"), entry.get("text", "")
    if not isinstance(path, str) or not path:
        msg = 'has no "audio_filepath"'
        raise ValueError(msg)
    numbers = [entry.get("offset", 0.0), entry.get("duration", -1.0)]
    for name, number in zip(("offset", "duration"), numbers, strict=True):
        if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
            msg = f'has a "{name}" that is no number: {number!r:.40}'
            raise ValueError(msg)
    if not isinstance(text, str):
        msg = f'has a "text" that is no string: {text!r:.40}'
        raise ValueError(msg)
    return path, float(numbers[0]), float(numbers[1]), text
