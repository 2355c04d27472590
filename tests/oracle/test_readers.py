# SPDX-License-Identifier: Apache-2.0
"""readers.File against the reference library itself."""

from __future__ import annotations

import io
import random
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import daliesque as ndd
from support.named_files import NAMES, make_files, value
from support.oracle import reference
from support.reader_checks import Count, epoch_of

pytestmark = pytest.mark.oracle


def flat_folder(root: Path, count: int) -> Path:
    return make_files(root, [f"{i % 3}/{i:03d}.jpg" for i in range(count)])


def epochs(library: Any, count: int, batch_size: int | None, **arguments: Any) -> list[Any]:
    """All values of some epochs."""
    reader = library.readers.File(**arguments)
    result = []
    for _ in range(count):
        epoch = []
        for outputs in reader.next_epoch(batch_size=batch_size):
            assert isinstance(outputs, tuple)
            kind = library.Tensor if batch_size is None else library.Batch
            assert all(isinstance(output, kind) for output in outputs)
            parts = outputs if batch_size is None else [out.tensors for out in outputs]
            rows = [parts] if batch_size is None else zip(*parts, strict=True)
            epoch.append([tuple(map(value, row)) for row in rows])
        result.append(epoch)
    return result


def assert_equal(batch_size: int | None = 3, count: int = 3, **arguments: Any) -> None:
    ours = epochs(ndd, count, batch_size, **arguments)
    theirs = epochs(reference, count, batch_size, **arguments)
    assert ours == theirs, (batch_size, arguments)
    if batch_size is None:
        assert (
            ndd.readers.File(**arguments).get_metadata()
            == reference.readers.File(**arguments).get_metadata()
        )


def test_random_arguments(tmp_path: Path) -> None:
    """Order, shuffling, shards, padding, epoch sizes and wrap-around."""
    rng = random.Random(3)
    folders = {count: flat_folder(tmp_path / str(count), count) for count in (1, 2, 7, 24, 61)}
    for _ in range(150):
        size = rng.choice(list(folders))
        shards = rng.randint(1, min(size, 5))
        mode = rng.choice(["plain", "random", "epoch"])
        arguments: dict[str, Any] = {
            "file_root": str(folders[size]),
            "num_shards": shards,
            "shard_id": rng.randrange(shards),
            "stick_to_shard": mode != "epoch" and rng.random() < 0.5,
            "pad_last_batch": rng.random() < 0.5,
            "enable_checkpointing": rng.random() < 0.3,
            "prefetch_queue_depth": rng.randint(1, 3),
        }
        if mode == "random":
            arguments |= {
                "random_shuffle": True,
                "initial_fill": rng.choice([1, 3, 20, 1024]),
                "seed": rng.choice([-1, 0, 7, 2**31 - 1]),
            }
        elif mode == "epoch":
            arguments |= {"shuffle_after_epoch": True}
            if rng.random() < 0.5:
                arguments |= {"shuffle_after_epoch_seed": rng.choice([0, 3, -5, 2**40])}
        assert_equal(rng.choice([None, 1, 2, 5, 16]), rng.randint(1, 5), **arguments)


@pytest.mark.parametrize("mode", ["random_shuffle", "shuffle_after_epoch"])
def test_default_seeds(tmp_path: Path, mode: str) -> None:
    root = str(flat_folder(tmp_path, 40))
    assert_equal(8, 4, file_root=root, **{mode: True})
    assert_equal(None, 4, file_root=root, **{mode: True})


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"case_sensitive_filter": True},
        {"file_filters": ["*.jpg"]},
        {"file_filters": ["*.JPG"], "case_sensitive_filter": True},
        {"file_filters": "*"},
        {"file_filters": ["?.*", "[0-9]*"]},
        {"file_filters": ["[!a-z]*.jpg", "[[:digit:]].flac"]},
        {"file_filters": ["\\2.jpg", "[]x].flac", "[\\x]*"]},
        {"file_filters": ["*[", "x.[^w]*"]},
        {"dir_filters": ["b"]},
        {"dir_filters": ["b"], "case_sensitive_filter": True},
        {"dir_filters": ["[0-9]*", "*b"]},
        {"dir_filters": ["?"]},
    ],
)
def test_discovery(tmp_path: Path, arguments: dict[str, Any]) -> None:
    root = make_files(tmp_path, NAMES)
    (root / "linked").symlink_to(root / "b")
    (root / "b" / "link.jpg").symlink_to(root / "b" / "2.jpg")
    for path in (root, Path(str(root) + "/")):
        assert_equal(None, 1, file_root=str(path), **arguments)


def test_source_is_the_name_as_found(tmp_path: Path) -> None:
    root = make_files(tmp_path, NAMES)
    (tmp_path / "list.txt").write_text("b/2.jpg 3\n./b/10.jpg 4\n")
    for arguments in (
        {"file_root": str(root)},
        {"file_list": str(root / "list.txt")},
        {"files": ["b/2.jpg", str(root / "b" / "10.jpg")], "file_root": str(root)},
    ):
        theirs = [
            bytes(
                np.asarray(reference.get_property(contents, key="source_info").evaluate())
            ).decode()
            for contents, _ in reference.readers.File(**arguments).next_epoch()
        ]
        batches = ndd.readers.File(**arguments).next_epoch(batch_size=len(theirs))
        for contents, labels in batches:
            assert contents.source == labels.source == theirs


LISTS = [
    "b/2.jpg 3\nb/10.jpg 0\n",
    "b/2.jpg 3\nb/10.jpg 0",
    "b/2.jpg\t 3 \r\n\n   \nb/10.jpg 2147483647",
    "a b/with space.png 1\n9/x.flac    7\n",
]


@pytest.mark.parametrize("text", LISTS)
def test_file_list(tmp_path: Path, text: str) -> None:
    root = make_files(tmp_path / "data", NAMES)
    (root / "list.txt").write_text(text)
    (tmp_path / "list.txt").write_text(text)
    assert_equal(None, 1, file_list=str(root / "list.txt"))
    assert_equal(None, 1, file_list=str(tmp_path / "list.txt"), file_root=str(root))
    assert_equal(2, 2, file_list=str(root / "list.txt"), random_shuffle=True)


@pytest.mark.parametrize("text", ["b/2.jpg\n", "5\n", "b/2.jpg -3\n", "b/2.jpg 3 x\n", ""])
def test_bad_file_list(tmp_path: Path, text: str) -> None:
    root = make_files(tmp_path, NAMES)
    (root / "list.txt").write_text(text)
    with pytest.raises(RuntimeError):
        list(reference.readers.File(file_list=str(root / "list.txt")).next_epoch())
    with pytest.raises(ValueError, match=r"readers\.File: "):
        ndd.readers.File(file_list=str(root / "list.txt"))


def test_files_and_labels(tmp_path: Path) -> None:
    root = make_files(tmp_path, NAMES)
    relative = ["b/2.jpg", "a b/with space.png", "b/notes.txt", "b/2.jpg"]
    absolute = [str(root / name) for name in relative]
    for arguments in (
        {"files": absolute},
        {"files": absolute, "labels": [5, -1, 2**31 - 1, 0]},
        {"files": relative, "file_root": str(root)},
        {"files": absolute, "file_root": "/somewhere/else"},
        {"files": absolute[0]},
        {"files": ["file://" + absolute[0]]},
    ):
        assert_equal(None, 2, **arguments)
        assert_equal(3, 2, random_shuffle=True, **arguments)


@pytest.mark.parametrize(
    "option",
    [
        {"read_ahead": True},
        {"dont_use_mmap": True},
        {"lazy_init": True},
        {"tensor_init_bytes": 100},
        {"skip_cached_images": True},
        {"prefetch_queue_depth": 5},
    ],
    ids=str,
)
def test_options_without_effect(tmp_path: Path, option: dict[str, Any]) -> None:
    assert_equal(4, 2, file_root=str(flat_folder(tmp_path, 10)), **option)


def test_calls(tmp_path: Path) -> None:
    root = str(flat_folder(tmp_path, 7))
    for size in (None, 3):
        for pad in (False, True):
            readers = [
                library.readers.File(size, file_root=root, random_shuffle=True, pad_last_batch=pad)
                for library in (ndd, reference)
            ]
            for _ in range(12):
                ours, theirs = (reader(batch_size=size) for reader in readers)
                if size is None:
                    assert [value(t) for t in ours] == [value(t) for t in theirs]
                else:
                    for mine, other in zip(ours, theirs, strict=True):
                        assert list(map(value, mine.tensors)) == list(map(value, other.tensors))


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}])
def test_resuming(tmp_path: Path, shuffle: dict[str, Any]) -> None:
    """The same samples come after a restored state, as far as the reference is comparable."""
    root = str(flat_folder(tmp_path, 23))
    arguments = {"file_root": root, "enable_checkpointing": True, **shuffle}
    for steps in range(1, 6):
        following = []
        for library in (ndd, reference):
            reader = library.readers.File(**arguments)
            for _, batch in zip(range(steps), reader.next_epoch(batch_size=4), strict=False):
                del batch
            state = str(reader.get_state())
            restored = library.readers.File(**arguments)
            restored.set_state(state)
            contents, _ = next(iter(restored.next_epoch(batch_size=4)))
            following.append([value(sample) for sample in contents.tensors])
        assert following[0] == following[1]


@pytest.mark.parametrize("shuffle", [{}, {"random_shuffle": True}, {"shuffle_after_epoch": True}])
@pytest.mark.parametrize("shards", [{}, {"num_shards": 4, "shard_id": 1}])
def test_checkpoints_of_the_reference(
    tmp_path: Path, shuffle: dict[str, Any], shards: dict[str, Any]
) -> None:
    """A checkpoint that the reference saved is continued here, reader and generator."""
    root = str(flat_folder(tmp_path, 23))
    arguments = {"file_root": root, "enable_checkpointing": True, **shuffle, **shards}
    theirs, rng = reference.readers.File(**arguments), reference.random.RNG(seed=5)
    checkpoint = reference.checkpoint.Checkpoint()
    checkpoint.register(theirs, "reader")
    checkpoint.register(rng)
    texts, batches, draws = [], [], []
    for _ in range(3):
        for contents, _ in theirs.next_epoch(batch_size=4):
            batches.append([value(sample) for sample in contents.tensors])
            draws.append(rng())
            checkpoint.collect()
            texts.append(checkpoint.serialize())
    for done, text in enumerate(texts, 1):
        ours, generator = ndd.readers.File(**arguments), ndd.random.RNG()
        loaded = ndd.checkpoint.Checkpoint()
        loaded.deserialize(text)
        loaded.register(ours, "reader")
        loaded.register(generator)
        found: list[Any] = []
        while len(found) < len(batches) - done:
            for contents, _ in ours.next_epoch(batch_size=4):
                found.append([value(sample) for sample in contents.tensors])
        assert found[: len(batches) - done] == batches[done:]
        assert [generator() for _ in draws[done:]] == draws[done:]


class Archived(Count):
    """Numbers that lie in archives of some lengths."""

    _permutes_list = False

    def __init__(self, lengths: list[int], **options: Any) -> None:
        self._lengths = lengths
        super().__init__(sum(lengths), **options)

    def _groups(self) -> Any:
        return np.cumsum(self._lengths)


def test_order_of_archives(tmp_path: Path) -> None:
    """Readers of archives do not permute samples; they shuffle whole archives after an epoch."""
    lengths = [3, 1, 7, 4, 2]
    paths, number = [], 0
    for index, length in enumerate(lengths):
        paths.append(str(tmp_path / f"{index}.tar"))
        with tarfile.open(paths[-1], "w") as archive:
            for _ in range(length):
                text = str(number).encode()
                entry = tarfile.TarInfo(f"{number:03d}.txt")
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text))
                number += 1
    rng = random.Random(8)
    for _ in range(40):
        shards = rng.randint(1, 4)
        arguments: dict[str, Any] = {
            "num_shards": shards,
            "shard_id": rng.randrange(shards),
            "pad_last_batch": rng.random() < 0.5,
            "enable_checkpointing": rng.random() < 0.3,
            "shuffle_after_epoch": rng.random() < 0.6,
            "random_shuffle": rng.random() < 0.5,
            "initial_fill": rng.choice([1, 4, 100]),
            "seed": rng.choice([-1, 5]),
        }
        if arguments["shuffle_after_epoch"] and rng.random() < 0.5:
            arguments["shuffle_after_epoch_seed"] = 77
        batch_size = rng.choice([1, 3, 8])
        ours = Archived(lengths, **arguments)
        theirs = reference.readers.Webdataset(paths=paths, ext=["txt"], **arguments)
        for _ in range(4):
            expected = [
                [int(bytes(np.asarray(sample.evaluate()))) for sample in step[0].tensors]
                for step in theirs.next_epoch(batch_size=batch_size)
            ]
            assert epoch_of(ours, batch_size) == expected, (batch_size, arguments)
