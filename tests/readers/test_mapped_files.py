# SPDX-License-Identifier: Apache-2.0
"""Large files that are read again are copied out of mapped memory, and may still be cut."""

from __future__ import annotations

import gc
import io
import re
import signal
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

import numpy as np
import pytest

import daliesque as ndd
from daliesque._readers.sources import discovery

SIZE, COUNT = 100_001, 12
FIRST, STEP = 512, 512 + 100_352


@pytest.fixture
def contents() -> list[bytes]:
    rng = np.random.default_rng(0)
    return [rng.bytes(SIZE) for _ in range(COUNT)]


@pytest.fixture
def archive(tmp_path: Path, contents: list[bytes], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An archive of a megabyte that may not be kept in memory."""
    monkeypatch.setattr(discovery, "KEPT_BYTES", 0)
    path = tmp_path / "data.tar"
    with tarfile.open(path, "w") as out:
        for number, data in enumerate(contents):
            entry = tarfile.TarInfo(f"{number}.bin")
            entry.size = SIZE
            out.addfile(entry, io.BytesIO(data))
    return path


def read(reader: ndd.readers.Webdataset, batch_size: int = 4) -> list[bytes]:
    return [
        bytes(np.asarray(sample))
        for (batch,) in reader.next_epoch(batch_size=batch_size)
        for sample in batch
    ]


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("shuffled", [False, True])
def test_files_read_again_are_mapped(archive: Path, contents: list[bytes], shuffled: bool) -> None:
    reader = ndd.readers.Webdataset(paths=archive, ext="bin", random_shuffle=shuffled)
    for _ in range(4):
        assert sorted(read(reader)) == sorted(contents)
    assert is_mapped(archive)
    del reader
    gc.collect()
    assert not is_mapped(archive)


def test_files_are_not_mapped_if_nobody_wants_it(archive: Path, contents: list[bytes]) -> None:
    reader = ndd.readers.Webdataset(paths=archive, ext="bin", dont_use_mmap=True)
    for _ in range(4):
        assert read(reader) == contents
    assert not is_mapped(archive)


@pytest.mark.parametrize("rest", [0, 1, 3000, 65_536 - FIRST, SIZE - 4096, SIZE - 1])
def test_a_cut_file_is_an_error(archive: Path, contents: list[bytes], rest: int) -> None:
    reader = ndd.readers.Webdataset(paths=archive, ext="bin")
    for _ in range(3):
        assert read(reader) == contents
    whole = archive.read_bytes()
    offset = FIRST + 7 * STEP
    with open(archive, "r+b") as file:
        file.truncate(offset + rest)
    message = rf"{re.escape(str(archive))}.*ends before the piece at byte {offset} is complete"
    with pytest.raises(ndd.OpError, match=message):
        read(reader, 1)
    skipping = ndd.readers.Webdataset(paths=archive, ext="bin", on_error="skip")
    assert [data for data in read(skipping, 1) if data in contents][:7] == contents[:7]
    archive.write_bytes(whole)
    assert read(reader) == contents


def test_a_file_that_is_cut_all_the_time(archive: Path, contents: list[bytes]) -> None:
    reader = ndd.readers.Webdataset(paths=archive, ext="bin", on_error="skip", max_errors=None)
    for _ in range(3):
        assert read(reader) == contents
    whole, ended = archive.read_bytes(), threading.Event()

    def cut_and_restore() -> None:
        with open(archive, "r+b", 0) as file:
            while not ended.is_set():
                file.truncate(300_000)
                file.seek(300_000)
                file.write(whole[300_000:])

    thread = threading.Thread(target=cut_and_restore)
    thread.start()
    try:
        for _ in range(100):
            assert set(contents[:2]) <= set(read(reader))
    finally:
        ended.set()
        thread.join()
    assert set(read(reader)) == set(contents)


SCRIPT = """
import faulthandler, mmap, os, signal, sys
import numpy as np
import daliesque as ndd
from daliesque._readers.sources import discovery
discovery.KEPT_BYTES = 0
path, before, after, end = sys.argv[1:]
caught = []
exec(before)
reader = ndd.readers.Webdataset(paths=path, ext="bin")
for _ in range(3):
    list(reader.next_epoch(batch_size=4))
assert path in open("/proc/self/maps").read()
exec(after)
mapped = mmap.mmap(os.open(path, os.O_RDONLY), 0, prot=mmap.PROT_READ)
os.truncate(path, 500_000)
for _ in range(2):
    try:
        list(reader.next_epoch(batch_size=4))
    except ndd.OpError as error:
        assert "ends before the piece" in str(error)
    else:
        raise AssertionError
print("survived", flush=True)
exec(end)
"""

FAULT, SEND = "mapped[900_000]", "os.kill(os.getpid(), signal.SIGBUS)"
CATCH = "signal.signal(signal.SIGBUS, lambda *_: caught.append(1))"
DIES = -signal.SIGBUS


@pytest.mark.parametrize(
    ("before", "after", "end", "status", "reported"),
    [
        ("", "", "", 0, ""),
        ("", "", FAULT, DIES, ""),
        ("", "", SEND, DIES, ""),
        ("faulthandler.enable()", "", FAULT, DIES, "Bus error"),
        ("faulthandler.enable()", "faulthandler.disable()", FAULT, DIES, ""),
        ("", "faulthandler.enable()", FAULT, DIES, "Bus error"),
        (CATCH, "", f"{SEND}; assert caught", 0, ""),
        ("", CATCH, f"{SEND}; assert caught", 0, ""),
        ("signal.signal(signal.SIGBUS, signal.SIG_IGN)", "", SEND, 0, ""),
        ("signal.signal(signal.SIGBUS, signal.SIG_IGN)", "", FAULT, DIES, ""),
        ("", "signal.signal(signal.SIGBUS, signal.SIG_DFL)", FAULT, DIES, ""),
        ("signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGBUS])", "", "", 0, ""),
    ],
)
def test_the_signal_of_others(
    archive: Path, before: str, after: str, end: str, status: int, reported: str
) -> None:
    # A cut file raises the signal in our threads, too, which must neither die nor report it.
    command = [sys.executable, "-c", SCRIPT, str(archive), before, after, end]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "survived" in result.stdout, result.stderr
    assert result.returncode == status, result.stderr
    assert reported in result.stderr
