# SPDX-License-Identifier: Apache-2.0
"""readers.NemoAsr delivers what the reference delivers, in the same order."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.audio_makers import encoded, pcm, signal, wav
from support.compare import assert_audio
from support.oracle import reference

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two manifests with WAV and FLAC files of several rates, whole and in part."""
    folder = tmp_path_factory.mktemp("speech")
    rng = random.Random(5)
    entries = []
    for number in range(17):
        rate, frames = rng.choice([8000, 16000, 22050]), rng.randint(500, 9000)
        values = signal(frames, 1 + number % 2, seed=number)
        path = folder / f"{number}"
        if number % 3:
            data, bits, _ = pcm(values, "i16")
            path.write_bytes(wav(data, bits, 1 + number % 2, rate))
        else:
            path.write_bytes(encoded(values, rate, "FLAC"))
        entry: dict[str, Any] = {"audio_filepath": str(path), "text": f"text {number} äöü"}
        if number % 4:
            entry["duration"] = frames / rate
        if number % 5 == 1:
            entry["offset"] = round(frames / rate / 3, 4)
            entry["duration"] = round(frames / rate / 4, 4)
        if number % 6 == 0:
            del entry["text"]
        entries.append(json.dumps(entry))
    paths = [folder / "first.json", folder / "second.json"]
    paths[0].write_text("\n".join(entries[:9]) + "\n")
    paths[1].write_text("\n".join(entries[9:]))
    return [str(path) for path in paths]


def epochs(library: Any, count: int, batch_size: int | None, **arguments: Any) -> list[Any]:
    """All samples of some epochs: a tuple of arrays for each."""
    if "dtype" in arguments:
        arguments["dtype"] = getattr(library, arguments["dtype"])
    reader = library.readers.NemoAsr(**arguments)
    result = []
    for _ in range(count):
        for outputs in reader.next_epoch(batch_size=batch_size):
            if batch_size is None:
                rows = [outputs]
            else:
                rows = list(zip(*(out.tensors for out in outputs), strict=True))
            result += [[np.asarray(part.evaluate()) for part in row] for row in rows]
    return result


@pytest.mark.parametrize("seed", range(40))
def test_random_arguments(manifests: list[str], seed: int) -> None:
    rng = random.Random(seed)
    shards = rng.randint(1, 4)
    arguments: dict[str, Any] = {
        "manifest_filepaths": manifests[: rng.randint(1, 2)],
        "num_shards": shards,
        "shard_id": rng.randrange(shards),
        "read_sample_rate": rng.random() < 0.7,
        "read_text": rng.random() < 0.7,
        "read_idxs": rng.random() < 0.7,
        "dtype": rng.choice(["float32", "int16", "int32"]),
        "pad_last_batch": rng.random() < 0.5,
        # Files of one and of two channels can be in one batch only if mixed.
        "downmix": True,
    }
    mode = rng.choice(["plain", "random", "epoch"])
    if mode == "random":
        arguments |= {"random_shuffle": True, "seed": rng.randint(0, 99), "initial_fill": 5}
    elif mode == "epoch":
        arguments["shuffle_after_epoch"] = True
    else:
        arguments["stick_to_shard"] = rng.random() < 0.5
    if rng.random() < 0.5:
        arguments |= {"sample_rate": 16000.0, "quality": rng.choice([0.0, 50.0])}
    if rng.random() < 0.3:
        arguments["min_duration"] = 0.05
    if rng.random() < 0.3:
        arguments["max_duration"] = 0.4
    batch_size = rng.choice([None, 1, 3, 4])
    ours = epochs(ndd, 2, batch_size, **arguments)
    theirs = epochs(reference, 2, batch_size, **arguments)
    assert len(ours) == len(theirs)
    for got, expected in zip(ours, theirs, strict=True):
        assert len(got) == len(expected)
        for position, (a, b) in enumerate(zip(got, expected, strict=True)):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if position == 0:
                assert_audio(a, b)
            else:
                np.testing.assert_array_equal(a, b)
