# SPDX-License-Identifier: Apache-2.0
"""readers.NemoAsr: entries, parts of audio files, outputs, faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.audio_makers import Array, pcm, signal, wav
from support.compare import assert_close
from support.reader_checks import assert_resumes

RATE = 8000


def make_data(folder: Path, lengths: list[int], channels: int = 1) -> tuple[Path, list[Array]]:
    """A manifest of audio files with the given numbers of frames, and what is in them."""
    entries, values = [], []
    for number, length in enumerate(lengths):
        data, bits, expected = pcm(signal(length, channels, seed=number), "i16")
        path = folder / f"{number}.wav"
        path.write_bytes(wav(data, bits, channels, RATE))
        values.append(expected.astype(np.float32))
        entries.append(
            {"audio_filepath": str(path), "duration": length / RATE, "text": f"täxt {number}"}
        )
    return write_manifest(folder / "manifest.json", entries), values


def write_manifest(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(entry) for entry in entries) + "\n")
    return path


def test_classes_and_types_of_outputs(tmp_path: Path) -> None:
    manifest, values = make_data(tmp_path, [800, 1200, 300])
    reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], read_idxs=True)
    (step,) = reader.next_epoch(batch_size=3)
    audio, rates, texts, indices = step
    assert (audio.dtype, rates.dtype) == (ndd.float32, ndd.float32)
    assert (texts.dtype, indices.dtype) == (ndd.uint8, ndd.int64)
    for number in range(3):
        np.testing.assert_array_equal(audio.tensors[number], values[number][:, 0])
        assert np.asarray(rates.tensors[number]).shape == ()
        assert float(rates.tensors[number]) == RATE
        assert bytes(np.asarray(texts.tensors[number])).decode() == f"täxt {number}"
        assert np.asarray(indices.tensors[number]).tolist() == [number]
    assert audio.source == [str(tmp_path / f"{number}.wav") for number in range(3)]


def test_options_choose_outputs(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [10])
    for rate in (False, True):
        for text in (False, True):
            for index in (False, True):
                reader = ndd.readers.NemoAsr(
                    manifest_filepaths=manifest,
                    read_sample_rate=rate,
                    read_text=text,
                    read_idxs=index,
                )
                (step,) = reader.next_epoch()
                kinds = [ndd.float32] + [ndd.float32] * rate + [ndd.uint8] * text
                assert [out.dtype for out in step] == kinds + [ndd.int64] * index


def test_parts_of_audio_files(tmp_path: Path) -> None:
    _, (values,) = make_data(tmp_path, [4000], channels=2)
    path = str(tmp_path / "0.wav")
    parts: list[tuple[dict[str, float], slice]] = [
        ({}, slice(0, 4000)),
        ({"offset": 0.1}, slice(800, 4000)),
        ({"duration": 0.2}, slice(0, 1600)),
        ({"offset": 0.1, "duration": 0.2}, slice(800, 2400)),
        ({"offset": 0.4, "duration": 0.5}, slice(3200, 4000)),
        ({"offset": 0.5}, slice(4000, 4000)),
        ({"offset": 0, "duration": 100}, slice(0, 4000)),
    ]
    entries = [{"audio_filepath": path, **part} for part, _ in parts]
    manifest = write_manifest(tmp_path / "parts.json", entries)
    reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], downmix=False)
    ((audio, _, texts),) = reader.next_epoch(batch_size=len(parts))
    for actual, (_, chosen), text in zip(audio.tensors, parts, texts.tensors, strict=True):
        np.testing.assert_array_equal(actual, values[chosen])
        assert np.asarray(text).size == 0


@pytest.mark.parametrize("kind", ["FLAC", "OGG"])
def test_parts_of_other_formats(tmp_path: Path, kind: str) -> None:
    import soundfile

    path = tmp_path / "audio"
    soundfile.write(path, signal(20_000), 16000, format=kind)
    whole, _ = soundfile.read(path, dtype="float32")
    entry = {"audio_filepath": str(path), "offset": 0.3, "duration": 0.6}
    manifest = write_manifest(tmp_path / "manifest", [entry])
    ((actual, rate, _),) = ndd.readers.NemoAsr(manifest_filepaths=manifest).next_epoch()
    assert float(rate) == 16000
    assert_close(actual, whole[4800:14_400], "unit values")


def test_resampling_is_that_of_the_decoder(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [900, 2000], channels=2)
    for arguments in (
        {"sample_rate": 16000.0},
        {"sample_rate": 4000.0, "quality": 10.0, "dtype": ndd.int16},
        {"sample_rate": 16000.0, "downmix": False, "dtype": ndd.int32},
    ):
        reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], **arguments)
        ((audio, rates, _),) = reader.next_epoch(batch_size=2)
        for number, actual in enumerate(audio.tensors):
            file = (tmp_path / f"{number}.wav").read_bytes()
            expected, _ = ndd.decoders.audio(file, **({"downmix": True} | arguments))
            np.testing.assert_array_equal(actual, expected)
            assert float(rates.tensors[number]) == RATE


def test_durations_and_indices(tmp_path: Path) -> None:
    first, _ = make_data(tmp_path, [800, 1600, 2400, 3200])
    (tmp_path / "more").mkdir()
    second, _ = make_data(tmp_path / "more", [2400, 80])
    arguments: dict[str, Any] = {"manifest_filepaths": [first, second], "read_idxs": True}
    reader = ndd.readers.NemoAsr(**arguments, min_duration=0.15, max_duration=0.35)
    steps = list(reader.next_epoch())
    assert [step[0].shape[0] for step in steps] == [1600, 2400, 2400]
    assert [int(np.asarray(step[-1])[0]) for step in steps] == [0, 1, 0]
    with pytest.raises(ValueError, match=r"No files found\. Check 'manifest_filepaths'"):
        ndd.readers.NemoAsr(**arguments, min_duration=10)


def test_resumes(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [40, 50, 60, 70, 80])

    def make() -> ndd.readers.NemoAsr:
        return ndd.readers.NemoAsr(
            manifest_filepaths=[manifest], random_shuffle=True, num_shards=2, seed=3
        )

    for batch_size in (None, 2):
        assert_resumes(make, batch_size)


@pytest.mark.parametrize(("count", "shards"), [(1, 1), (5, 2), (7, 3)])
def test_shards_cover_the_data(tmp_path: Path, count: int, shards: int) -> None:
    manifest, _ = make_data(tmp_path, [10 + number for number in range(count)])
    seen = []
    for shard in range(shards):
        reader = ndd.readers.NemoAsr(
            manifest_filepaths=[manifest], shard_id=shard, num_shards=shards, read_idxs=True
        )
        seen += [int(np.asarray(step[-1])[0]) for step in reader.next_epoch()]
    assert sorted(seen) == list(range(count))


BAD_LINES = [
    ("{", 'the line ".*:2" is no JSON object: '),
    ("[1]", 'the line ".*:2" is no JSON object'),
    ('{"text": "x"}', 'the line ".*:2" has no "audio_filepath"'),
    ('{"audio_filepath": "x", "duration": "3"}', 'has a "duration" that is no number: '),
    ('{"audio_filepath": "x", "offset": NaN}', 'has a "offset" that is no number: nan'),
    ('{"audio_filepath": "x", "text": 3}', 'has a "text" that is no string: 3'),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    manifest, _ = make_data(tmp_path, [10, 20])
    lines = manifest.read_text().splitlines()
    manifest.write_text("\n".join([lines[0], line, "", lines[1]]))
    with pytest.raises(ValueError, match=f"^readers.NemoAsr: .*{message}"):
        ndd.readers.NemoAsr(manifest_filepaths=[manifest])
    reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], on_error="skip")
    assert [step[0].shape for step in reader.next_epoch()] == [(10,), (20,)]
    assert [error.source for error in reader.errors] == [f"{manifest}:2"]


def test_bad_audio(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [10, 20])
    (tmp_path / "words").write_text("these are words and no audio")
    (tmp_path / "empty").touch()
    entries = [json.loads(line) for line in manifest.read_text().splitlines()]
    bad = {
        "words": (ndd.DecodeError, "is not audio of a known format"),
        "empty": (ndd.DecodeError, "it is empty"),
        "missing": (FileNotFoundError, "No such file"),
    }
    for name, (kind, message) in bad.items():
        entry = {"audio_filepath": str(tmp_path / name)}
        write_manifest(manifest, [entries[0], entry, entries[1]])
        reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest])
        with pytest.raises(kind, match=f'cannot read ".*{name}".*{message}'):
            list(reader.next_epoch(batch_size=3))
        reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], on_error="skip")
        shapes = [
            part.shape for step in reader.next_epoch(batch_size=2) for part in step[0].tensors
        ]
        assert set(shapes) == {(10,), (20,)}
        assert [error.source for error in reader.errors] == [str(tmp_path / name)]
    late = {"audio_filepath": entries[0]["audio_filepath"], "offset": 1.0}
    write_manifest(manifest, [late])
    with pytest.raises(ndd.DecodeError, match="its offset, 1 s, is beyond its end"):
        list(ndd.readers.NemoAsr(manifest_filepaths=[manifest]).next_epoch())


def test_audio_without_frames(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [0, 5])
    for options in ({}, {"sample_rate": 4000.0}, {"dtype": ndd.int16, "downmix": False}):
        reader = ndd.readers.NemoAsr(manifest_filepaths=[manifest], read_text=False, **options)
        ((audio, *_),) = reader.next_epoch(batch_size=2)
        assert [len(shape) for shape in audio.shape] == [len(audio.shape[1])] * 2
        assert audio.shape[0][0] == 0 < audio.shape[1][0]


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    manifest, _ = make_data(tmp_path, [10])
    for arguments, message in (
        ({"dtype": ndd.float64}, "'dtype' must be int16, int32 or float32; got float64"),
        ({"quality": 101}, "'quality' must be between 0 and 100; got 101"),
        ({"sample_rate": float("nan")}, "'sample_rate' must be a number; got nan"),
    ):
        with pytest.raises(ValueError, match=f"^readers.NemoAsr: {message}"):
            ndd.readers.NemoAsr(manifest_filepaths=[manifest], **arguments)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match="cannot read the manifest"):
        ndd.readers.NemoAsr(manifest_filepaths=[tmp_path / "none"])
    manifest.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="is no text in UTF-8"):
        ndd.readers.NemoAsr(manifest_filepaths=[manifest])


def test_remote_audio(tmp_path: Path) -> None:
    import fsspec

    _, (values,) = make_data(tmp_path, [4000])
    memory = fsspec.filesystem("memory")
    memory.pipe("/speech/a.wav", (tmp_path / "0.wav").read_bytes())
    entries = [
        {"audio_filepath": "memory://speech/a.wav", "offset": 0.1, "duration": 0.2},
        {"audio_filepath": "memory://speech/missing.wav"},
        {"audio_filepath": str(tmp_path / "0.wav")},
    ]
    lines = "\n".join(json.dumps(entry) for entry in entries)
    memory.pipe("/speech/manifest.json", lines.encode())
    reader = ndd.readers.NemoAsr(
        manifest_filepaths="memory://speech/manifest.json", on_error="skip"
    )
    audio, _, _ = next(reader.next_epoch(batch_size=2))
    np.testing.assert_array_equal(audio.tensors[0], values[800:2400, 0])
    np.testing.assert_array_equal(audio.tensors[1], values[:, 0])
    assert [error.source for error in reader.errors] == ["memory://speech/missing.wav"]
