# SPDX-License-Identifier: Apache-2.0
"""readers.File: finding files, reading them, and what can go wrong."""

from __future__ import annotations

import fnmatch
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import daliesque as ndd
from daliesque._readers.sources import discovery
from daliesque._readers.sources.discovery import Paths, list_classes
from support.named_files import make_files
from support.reader_calls import RECORD, read_labels
from support.reader_checks import assert_resumes

CALLS = json.loads(RECORD.read_text())["calls"]


@pytest.fixture
def images(tmp_path: Path) -> Path:
    return make_files(tmp_path, [f"{label}/{i}.wav" for label in "cab" for i in range(4)])


def contents_of(reader: ndd.readers.File) -> list[tuple[str, int]]:
    """Contents and label of each sample of an epoch."""
    return [
        (bytes(np.asarray(contents)).decode(), int(np.asarray(label)[0]))
        for contents, label in reader.next_epoch()
    ]


@pytest.mark.parametrize("index", range(len(CALLS)))
def test_order_is_that_of_the_reference(tmp_path: Path, index: int) -> None:
    call = CALLS[index]
    assert read_labels(ndd, call, tmp_path) == call["labels"]


def test_folders_are_labels(images: Path) -> None:
    expected = [(f"{c}/{i}.wav", label) for label, c in enumerate("abc") for i in range(4)]
    assert contents_of(ndd.readers.File(file_root=images)) == expected
    assert contents_of(ndd.readers.File(file_root=str(images) + "/")) == expected


def test_classes_types_and_shapes_of_outputs(images: Path) -> None:
    for contents, labels in ndd.readers.File(file_root=images).next_epoch(batch_size=5):
        assert isinstance(contents, ndd.Batch)
        assert isinstance(labels, ndd.Batch)
        assert (contents.dtype, labels.dtype) == (ndd.uint8, ndd.int32)
        assert contents.layout is None
        assert labels.layout is None
        assert labels.shape == [(1,)] * 5
        assert contents.shape == [(7,)] * 5
        assert str(contents.device) == "cpu"
        assert contents.source == labels.source
        for sample, source in zip(contents, contents.source or (), strict=True):
            assert bytes(np.asarray(sample)).decode() == source
            assert sample.source == source
    assert labels.torch().shape == (5, 1)


def test_sizes_from_nothing_to_megabytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    files = []
    for size in (0, 1, 4095, 4096, 4097, 3_000_000, 0):
        files.append(tmp_path / f"{len(files)}")
        files[-1].write_bytes(rng.bytes(size))
    for batch_size in (1, 3, 7):
        seen = []
        for contents, _ in ndd.readers.File(files=files, pad_last_batch=True).next_epoch(
            batch_size
        ):
            seen += [bytes(np.asarray(sample)) for sample in contents]
        assert seen[:7] == [file.read_bytes() for file in files]


def test_more_files_than_can_be_open(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_text("abc")
    (contents, labels) = next(ndd.readers.File(files=[file] * 3000).next_epoch(3000))
    assert contents.shape == [(3,)] * 3000
    assert labels.torch().flatten().tolist() == list(range(3000))


NAMES = ["a.wav", "b.JPG", "c.jpeg", "[x].png", "d.txt", "noext", ".hidden.jpg", "Ünïcode.bmp"]


@pytest.mark.parametrize("case_sensitive", [False, True])
@pytest.mark.parametrize("patterns", [["*.jpg"], ["?.*", "*ext"], ["[a-c]*"], ["*"], ["Ü*", "*G"]])
def test_filters_choose_files(tmp_path: Path, patterns: list[str], case_sensitive: bool) -> None:
    root = make_files(tmp_path, [f"x/{name}" for name in NAMES])

    def matches(name: str) -> bool:
        if case_sensitive:
            return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)
        return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for pattern in patterns)

    expected = sorted((name for name in NAMES if matches(name)), key=os.fsencode)
    if not expected:
        return
    reader = ndd.readers.File(
        file_root=root, file_filters=patterns, case_sensitive_filter=case_sensitive
    )
    assert contents_of(reader) == [(f"x/{name}", 0) for name in expected]


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        ("[!a]x", "bx", "ax"),
        ("[^a]x", "bx", "ax"),
        ("[]a]", "]", "b"),
        ("[a-c-]", "-", "d"),
        (r"\*", "*", "a"),
        (r"[\]]", "]", "\\"),
        ("[[:digit:]_]", "7", "a"),
        ("[[:upper:]]?", "Ab", "ab"),
        ("a[", "a[", "ab"),
        ("a.b", "a.b", "axb"),
    ],
)
def test_patterns_follow_posix(tmp_path: Path, pattern: str, good: str, bad: str) -> None:
    root = make_files(tmp_path, [f"x/{good}", f"x/{bad}"])
    reader = ndd.readers.File(file_root=root, file_filters=pattern, case_sensitive_filter=True)
    assert contents_of(reader) == [(f"x/{good}", 0)]


def test_folder_filters(images: Path) -> None:
    reader = ndd.readers.File(file_root=images, dir_filters=["B", "c"])
    assert {label for _, label in contents_of(reader)} == {0, 1}
    assert {name[0] for name, _ in contents_of(reader)} == {"b", "c"}


def test_empty_folders_keep_their_label(images: Path) -> None:
    (images / "aa").mkdir()
    assert {label for _, label in contents_of(ndd.readers.File(file_root=images))} == {0, 2, 3}


def test_names_that_are_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/x"
    os.mkdir(folder)
    for name in (b"\xff\xfe.jpg", b"a.jpg"):
        Path(os.fsdecode(folder + b"/" + name)).write_text("ok")
    contents, _ = next(ndd.readers.File(file_root=tmp_path).next_epoch(2))
    assert contents.shape == [(2,), (2,)]
    assert os.fsencode(contents.source[1]) == b"x/\xff\xfe.jpg"


def test_lists_of_files_and_labels(images: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    make_files(images, ["with space/x y .wav"])
    lines = "a/0.wav 5\n\n  \nwith space/x y .wav\t 7  \r\nc/1.wav 0"
    expected = [("a/0.wav", 5), ("with space/x y .wav", 7), ("c/1.wav", 0)]
    (images / "list.txt").write_text(lines)
    assert contents_of(ndd.readers.File(file_list=images / "list.txt")) == expected
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "list.txt"
    elsewhere.write_text(lines)
    assert contents_of(ndd.readers.File(file_list=elsewhere, file_root=images)) == expected


@pytest.mark.parametrize(
    "line", ["a/0.wav", "5", "a/0.wav -5", "a/0.wav 5 x", "a/0.wav 2147483648", "a/0.wav5"]
)
def test_bad_lines_of_lists(images: Path, line: str) -> None:
    (images / "list.txt").write_text(f"a/0.wav 5\n\n{line}\na/1.wav 1\n")
    match = r'readers\.File: line 3 of the list ".*list\.txt" must be a file name.*got '
    with pytest.raises(ValueError, match=match + repr(line)):
        ndd.readers.File(file_list=images / "list.txt")


def test_files_and_labels(images: Path) -> None:
    names = ["b/1.wav", str(images / "a" / "0.wav"), "b/1.wav"]
    reader = ndd.readers.File(files=names, file_root=images)
    assert contents_of(reader) == [("b/1.wav", 0), ("a/0.wav", 1), ("b/1.wav", 2)]
    reader = ndd.readers.File(files=names, file_root=images, labels=np.array([-3, 2, 2**31 - 1]))
    assert [label for _, label in contents_of(reader)] == [-3, 2, 2**31 - 1]
    reader = ndd.readers.File(files=images / "a" / "0.wav")
    assert contents_of(reader) == [("a/0.wav", 0)]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({}, ValueError, "there is nothing to read. Give 'file_root' or 'files'"),
        ({"files": ["x"], "file_list": "y"}, ValueError, "'files' and 'file_list' exclude"),
        ({"files": []}, ValueError, "'files' must not be empty"),
        ({"files": [1]}, TypeError, "'files' must be a path or a list of paths"),
        ({"files": ["x"], "labels": [1, 2]}, ValueError, "got 2 for 1 files"),
        ({"files": ["x"], "labels": [2**31]}, ValueError, "integers of 32 bits"),
        ({"files": ["x"], "labels": ["cat"]}, TypeError, "'labels' must be a list of integers"),
        ({"file_root": "x", "labels": [1]}, ValueError, "'labels' go with 'files' only"),
        ({"file_root": "x", "file_filters": []}, ValueError, "'file_filters' must not be empty"),
        ({"file_root": "x", "dir_filters": []}, ValueError, "'dir_filters' must not be empty"),
        ({"file_root": "x", "file_filters": [1]}, TypeError, "'file_filters' must be a list of"),
        ({"file_root": "no/such"}, FileNotFoundError, 'cannot list the folder "no/such": No such'),
        ({"file_list": "no/such"}, FileNotFoundError, "cannot read 'file_list' \"no/such\": No"),
        ({"files": ["x"], "device": "tpu"}, ValueError, "device"),
        ({"files": ["x"], "num_shards": 2}, ValueError, "at most the number of samples"),
    ],
)
def test_wrong_arguments_are_refused(
    arguments: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match) as caught:
        ndd.readers.File(**arguments)
    if "device" not in arguments:
        assert str(caught.value).startswith("readers.File: ")


def test_folder_without_classes(tmp_path: Path) -> None:
    match = r"No files found that match .*\*\.wav in the sub-folders of \".*\"\. Check 'file_root'"
    with pytest.raises(ValueError, match=match):
        ndd.readers.File(file_root=tmp_path)
    make_files(tmp_path, ["a.jpg", "b.jpg", "c.txt"])
    with pytest.raises(ValueError, match=r"2 lie in the folder itself: put them into"):
        ndd.readers.File(file_root=tmp_path)
    (tmp_path / "list.txt").write_text("\n")
    with pytest.raises(ValueError, match=r"No files found: the list \".*list\.txt\" is empty"):
        ndd.readers.File(file_list=tmp_path / "list.txt")


def test_lazy_index(tmp_path: Path) -> None:
    reader = ndd.readers.File(file_root=tmp_path / "later", lazy_init=True)
    assert repr(reader) == "<readers.File: not opened yet, shard 0 of 1>"
    with pytest.raises(FileNotFoundError):
        reader.next_epoch()
    make_files(tmp_path / "later", ["a/x.wav"])
    assert contents_of(reader) == [("a/x.wav", 0)]
    assert repr(reader) == "<readers.File: 1 samples, shard 0 of 1>"


def unlink(path: Path) -> None:
    path.unlink()


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("damage", "error", "reason"),
    [
        (unlink, FileNotFoundError, "No such file or directory"),
        (make_folder, IsADirectoryError, "Is a directory"),
        (make_pipe, OSError, "it is not a regular file"),
        (make_loop, OSError, "Too many levels of symbolic links"),
    ],
)
def test_files_that_vanish_after_listing(
    images: Path, damage: Callable[[Path], None], error: type[OSError], reason: str
) -> None:
    readers = {
        policy: ndd.readers.File(file_root=images, on_error=policy)
        for policy in ("raise", "skip", "replace")
    }
    damage(images / "a" / "2.wav")
    path = str(images / "a" / "2.wav")
    expected = f'readers.File: cannot read "{path}" (sample 2 of the batch): {reason}. '
    steps = readers["raise"].next_epoch(batch_size=4)
    with pytest.raises(error) as caught:
        next(steps)
    assert str(caught.value).startswith(expected)
    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__cause__.filename == path
    assert len(list(steps)) == 2

    contents, labels = next(readers["skip"].next_epoch(batch_size=4))
    assert contents.source == ["a/0.wav", "a/1.wav", "a/3.wav", "b/0.wav"]
    assert labels.torch().flatten().tolist() == [0, 0, 0, 1]
    assert [bytes(np.asarray(sample)).decode() for sample in contents] == contents.source
    (found,) = readers["skip"].errors
    assert found.source == path
    assert isinstance(found.exception, error)

    contents, _ = next(readers["replace"].next_epoch(batch_size=4))
    assert contents.source == ["a/0.wav", "a/1.wav", "a/1.wav", "a/3.wav"]
    assert [bytes(np.asarray(sample)).decode() for sample in contents] == contents.source


def test_file_that_changes_is_read_as_it_is(images: Path) -> None:
    reader = ndd.readers.File(file_root=images)
    (images / "a" / "0.wav").write_text("longer than before")
    (images / "a" / "1.wav").write_text("")
    contents, _ = next(reader.next_epoch(batch_size=2))
    assert contents.shape == [(18,), (0,)]


def test_unreadable_folder(images: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("/b"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    match = r'readers\.File: cannot list the folder ".*/b": Permission denied\.'
    with pytest.raises(PermissionError, match=match):
        ndd.readers.File(file_root=images)
    reader = ndd.readers.File(file_root=images, on_error="skip")
    assert {label for _, label in contents_of(reader)} == {0, 2}
    (error,) = reader.errors
    assert error.source == str(images / "b")


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True}])
def test_resumes(images: Path, shuffle: dict[str, Any]) -> None:
    def make() -> ndd.readers.File:
        return ndd.readers.File(file_root=images, **shuffle)

    assert_resumes(make, 5)
    assert_resumes(make, None, used=True)


def test_index_is_compact() -> None:
    """A hundred thousand names take little more than their characters."""
    names = [f"class{i % 1000:04d}/image_{i:08d}.wav" for i in range(100_000)]
    paths = Paths(names, "")
    assert len(paths) == 100_000
    assert [paths[i] for i in (0, 1, 99_999)] == [names[i] for i in (0, 1, 99_999)]
    size = sum(sys.getsizeof(value) for value in vars(paths).values())
    assert size < sum(map(len, names)) + 8 * len(names) + 1000


def test_listing_is_sorted_by_bytes(tmp_path: Path) -> None:
    make_files(tmp_path, ["b/z.jpg", "b/Z.jpg", "b/ä.jpg", "b/10.jpg", "b/9.jpg", "B/x.jpg"])
    names, labels, _ = list_classes(str(tmp_path), ["*"], [], True, lambda _error: None)
    assert names == ["B/x.jpg", "b/10.jpg", "b/9.jpg", "b/Z.jpg", "b/z.jpg", "b/ä.jpg"]
    assert labels.tolist() == [0, 1, 1, 1, 1, 1]


def damaged_images() -> dict[str, bytes]:
    """Files that cannot be decoded, and some that can although they look suspicious."""
    whole = {name: encode(name) for name in ("a.jpg", "b.png", "c.webp", "d.bmp")}
    return {
        **whole,
        "cut.jpg": whole["a.jpg"][:-40],
        "cut.png": whole["b.png"][:-40],
        "empty.jpg": b"",
        "text.png": b"no image at all",
        "png.jpg": whole["b.png"],
        "BM.wav": b"BM, but no image",
        "cut.wav": whole["a.jpg"][:-40],
    }


def encode(name: str) -> bytes:
    rng = np.random.default_rng(0)
    ok, data = cv2.imencode(Path(name).suffix, rng.integers(0, 255, (33, 45, 3), np.uint8))
    assert ok
    return bytes(data)


@pytest.mark.parametrize("policy", ["raise", "skip", "replace"])
def test_damaged_images(tmp_path: Path, policy: str) -> None:
    files = damaged_images()
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    reader = ndd.readers.File(files=[tmp_path / name for name in files], on_error=policy)
    bad = {"cut.jpg", "cut.png", "empty.jpg", "text.png", "cut.wav"}
    for _ in range(2):
        batches = list(reader.next_epoch(batch_size=4))
        assert [contents.batch_size for contents, _ in batches] == [4] * len(batches)
        names = [Path(name).name for contents, _ in batches for name in contents.source]
        assert len(names) == 12
        assert set(names) == set(files) - (bad if policy != "raise" else set())
    found = {Path(error.source).name: error.exception for error in reader.errors}
    assert set(found) == (bad if policy != "raise" else set())
    assert all(isinstance(error, ndd.DecodeError) for error in found.values())
    if policy == "skip":
        assert 'cut.jpg" (sample 0 of the batch): it is cut short' in str(found["cut.jpg"])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 9])
@pytest.mark.parametrize("last_batch", ["partial", "drop"])
def test_small_batches(tmp_path: Path, size: int, last_batch: Any) -> None:
    """They are read some at a time, and come one by one, with their own sources."""
    names = [f"a/{number:02}.wav" for number in range(61)]
    reader = ndd.readers.File(file_root=make_files(tmp_path, names))
    expected = [names[begin : begin + size] for begin in range(0, len(names), size)]
    if last_batch == "drop":
        expected = [batch for batch in expected if len(batch) == size]
    for _ in range(2):
        epoch = reader.next_epoch(batch_size=size, last_batch=last_batch)
        for left, batch in zip(range(len(expected), 0, -1), expected, strict=True):
            assert len(epoch) == left
            contents, labels = next(epoch)
            assert [bytes(np.asarray(part)).decode() for part in contents] == batch
            assert list(contents.source) == batch
            assert labels.batch_size == len(batch)
        assert next(epoch, None) is None


@pytest.mark.parametrize("size", [1, 3])
def test_small_batches_are_resumed(tmp_path: Path, size: int) -> None:
    folder = make_files(tmp_path, [f"a/{number}.wav" for number in range(23)])
    assert_resumes(lambda: ndd.readers.File(file_root=folder, random_shuffle=True), size)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_small_batches_without_bad_files(tmp_path: Path, size: int) -> None:
    names = [f"a/{number:02}.wav" for number in range(40)]
    make_files(tmp_path, names)
    reader = ndd.readers.File(file_root=tmp_path, on_error="skip")
    missing = names[7], names[8], names[30]
    for name in missing:
        (tmp_path / name).unlink()
    found = [
        bytes(np.asarray(part)).decode()
        for contents, _ in reader.next_epoch(batch_size=size, last_batch="partial")
        for part in list(contents)[: contents.valid]
    ]
    assert found == [name for name in names if name not in missing]


def test_steps_of_small_batches_are_counted(tmp_path: Path) -> None:
    reader = ndd.readers.File(file_root=make_files(tmp_path, [f"a/{k}.wav" for k in range(40)]))
    ndd.report(reset=True)
    for _ in reader.next_epoch(batch_size=2):
        pass
    counted = ndd.report().counters.readers["readers.File"]
    assert (counted.calls, counted.samples) == (20, 40)


SIZES = [0, 1, 2047, 2048, 2049, 65_535, 65_536, 65_537, 5, 7]


@pytest.mark.parametrize("kept_bytes", [0, 1 << 26])
def test_files_of_all_sizes_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    """Files in a row are opened from their folder; small ones are read at once."""
    monkeypatch.setattr(discovery, "KEPT_BYTES", kept_bytes)
    rng = np.random.default_rng(3)
    contents = [rng.bytes(size) for size in SIZES]
    for k, content in enumerate(contents):
        (tmp_path / f"{k}.bin").write_bytes(content)
    names = [f"{k}.bin" for k in range(len(SIZES))]
    for prefix in (f"{tmp_path}/", f"file://{tmp_path}/"):
        reader = ndd.readers.File(files=[prefix + name for name in names])
        batch, _ = next(reader.next_epoch(batch_size=len(SIZES)))
        assert [bytes(np.asarray(sample)) for sample in batch] == contents
    monkeypatch.chdir(tmp_path)
    batch, _ = next(ndd.readers.File(files=names).next_epoch(batch_size=len(SIZES)))
    assert [bytes(np.asarray(sample)) for sample in batch] == contents


@pytest.mark.parametrize("kept_bytes", [0, 1 << 26])
def test_what_is_no_file_among_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept_bytes: int
) -> None:
    monkeypatch.setattr(discovery, "KEPT_BYTES", kept_bytes)
    for k in range(9):
        (tmp_path / f"{k}").write_bytes(b"content")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    wrong = ["folder", "missing", "pipe"]
    names = [*map(str, range(9)), *wrong]
    reader = ndd.readers.File(file_root=tmp_path, files=names, on_error="skip")
    batch, labels = next(reader.next_epoch(batch_size=9))
    assert labels.torch().flatten().tolist() == list(range(9))
    assert [bytes(np.asarray(sample)) for sample in batch] == [b"content"] * 9
    next(reader.next_epoch(batch_size=12))
    kinds = [type(error.exception) for error in reader.errors]
    assert [Path(error.source).name for error in reader.errors] == wrong
    assert kinds[:2] == [IsADirectoryError, FileNotFoundError]
    gone = [str(tmp_path / "gone" / name) for name in names]
    with pytest.raises(FileNotFoundError, match=r"gone/0\" .*No such file or directory"):
        next(ndd.readers.File(files=gone).next_epoch(batch_size=12))


def test_more_files_than_may_be_open(tmp_path: Path) -> None:
    """Of those that cannot stay open, small ones are read at once and others opened again."""
    sizes = [0, 1, 2048, 2049, 16384, 16385, 40000]
    names = [f"a/{number:03}.bin" for number in range(700)]
    (tmp_path / "a").mkdir()
    expected = []
    for number, name in enumerate(names):
        expected.append(bytes([number % 251]) * sizes[number % len(sizes)])
        (tmp_path / name).write_bytes(expected[-1])
    for batch_size in (64, 700):
        reader = ndd.readers.File(file_root=tmp_path, files=names)
        parts = [part for contents, _ in reader.next_epoch(batch_size) for part in contents]
        assert [bytes(np.asarray(part)) for part in parts[:700]] == expected
