# SPDX-License-Identifier: Apache-2.0
"""readers.Webdataset: archives, samples, indices, faults."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import daliesque as ndd
from daliesque._readers.sources import discovery
from daliesque.index import main, wds2idx
from support.reader_properties import epoch_sources, nothing_left_behind

Files = Iterable[tuple[str, bytes]]
FORMATS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def write_tar(path: Path, files: Files, form: int = tarfile.USTAR_FORMAT) -> Path:
    with tarfile.open(path, "w", format=form) as archive:
        for name, data in files:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def numbered(folder: Path, lengths: list[int], index: bool = False) -> dict[str, list[Path]]:
    """Archives whose samples hold 0, 1, 2, ... as "txt" and something else as "bin"."""
    paths, number = [], 0
    for file, length in enumerate(lengths):
        files = []
        for _ in range(length):
            files += [(f"{number}.txt", b"%d" % number), (f"{number}.bin", bytes(number))]
            number += 1
        paths.append(write_tar(folder / f"{file}.tar", files))
    return {"paths": paths} | ({"index_paths": [wds2idx(path) for path in paths]} if index else {})


def read(paths: Any, ext: Any, **options: Any) -> list[tuple[bytes, ...]]:
    """The contents of all samples."""
    reader = ndd.readers.Webdataset(paths=paths, ext=ext, **options)
    return [tuple(bytes(np.asarray(out)) for out in sample) for sample in reader.next_epoch()]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("index", [False, True])
def test_files_with_one_name_are_a_sample(tmp_path: Path, form: int, index: bool) -> None:
    long = "folder/" * 14 + "file" * 9
    files = [
        ("a/1.jpg", b"one"),
        ("a/1.seg.png", b"mask"),
        ("a/1.cls", b""),
        ("b/1.cls", b"7"),
        ("b/1.jpg", bytes(range(256)) * 9),
        (f"{long}.jpg", b"long"),
        (f"{long}.cls", b"8"),
    ]
    path = write_tar(tmp_path / "a.tar", files, form)
    options = {"index_paths": wds2idx(path)} if index else {}
    expected = [(b"one", b"", b"mask"), (files[4][1], b"7", b""), (b"long", b"8", b"")]
    assert read(path, ["jpg", "cls", "seg.png"], **options) == expected
    with tarfile.open(path) as archive:
        offsets = [entry.offset_data for entry in archive]
    reader = ndd.readers.Webdataset(paths=path, ext=["jpg", "cls", "seg.png"], **options)
    for images, labels, masks in reader.next_epoch(batch_size=3):
        names = [f"{path}:{offset}:{file[0]}" for offset, file in zip(offsets, files, strict=True)]
        assert images.source == [names[0], names[4], names[5]]
        assert labels.source == [names[2], names[3], names[6]]
        assert masks.source == [names[1], "", ""]


def test_very_long_and_strange_names(tmp_path: Path) -> None:
    names = ["ä" * 200 + ".x", "b" * 99 + ".x", "c d/e f.x", "=".join("12345") + ".x", "f/g.h/i.x"]
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = write_tar(tmp_path / "a.tar", [(name, name.encode()) for name in names], form)
        assert read(path, "x") == [(name.encode(),) for name in names]
        text = wds2idx(path).read_text()
        assert text.startswith("v1.1 5\n")
        assert read(path, "x", index_paths=tmp_path / "a.idx") == [(n.encode(),) for n in names]


def test_folders_links_and_hidden_files_are_skipped(tmp_path: Path) -> None:
    """Folders, links, hidden files and devices are left out."""
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in [
            ("d", tarfile.DIRTYPE),
            ("l.x", tarfile.SYMTYPE),
            ("h.x", tarfile.LNKTYPE),
            (".hidden.x", tarfile.REGTYPE),
            ("d/.hidden.x", tarfile.REGTYPE),
            ("p.x", tarfile.FIFOTYPE),
            ("c.x", tarfile.CHRTYPE),
            ("old.x", tarfile.AREGTYPE),
            ("d/file.x", tarfile.CONTTYPE),
            ("d/file.y", tarfile.REGTYPE),
        ]:
            entry = tarfile.TarInfo(name)
            entry.type = kind
            entry.linkname = "elsewhere"
            entry.size = 3 if kind in (*tarfile.REGULAR_TYPES,) else 0
            archive.addfile(entry, io.BytesIO(b"abc"))
    assert read(path, "x") == [(b"abc",), (b"abc",)]
    assert wds2idx(path).read_text().splitlines()[0] == "v1.2 2"


def test_large_sizes(tmp_path: Path) -> None:
    """Sizes beyond eight octal digits, in files with holes."""
    size = (1 << 33) + 5
    for form in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path = tmp_path / "large.tar"
        first, second = tarfile.TarInfo("a.big"), tarfile.TarInfo("b.x")
        first.size, second.size = size, 3
        with open(path, "wb") as file:
            file.write(first.tobuf(form))
            file.seek(-(-size // 512) * 512, io.SEEK_CUR)
            file.write(second.tobuf(form) + b"end".ljust(512, b"\0") + bytes(1024))
        assert read(path, "x", missing_component_behavior="skip") == [(b"end",)]
        path.unlink()


def test_sources_go_with_the_samples(tmp_path: Path) -> None:
    paths = numbered(tmp_path, [2, 1])["paths"]
    names = [f"{paths[0]}:512:0.txt", f"{paths[0]}:2048:1.txt", f"{paths[1]}:512:2.txt"]
    reader = ndd.readers.Webdataset(paths=paths, ext="txt")
    ((texts,),) = reader.next_epoch(batch_size=3)
    (sample,) = next(reader.next_epoch())
    del reader
    assert ndd.permute_batch(texts, indices=[2, 0, 2]).source == [names[k] for k in (2, 0, 2)]
    assert (texts + 1).source == ndd.copy(texts).source == names
    assert [text.source for text in texts] == texts.source == names
    assert texts.select([1]).source == [names[1]]
    assert sample.source == ndd.copy(sample).source == names[0]
    assert ndd.cat(sample, texts).source == [names[0]] * 3
    properties = ndd.get_property(texts, key="source_info")
    assert [bytes(np.asarray(name)).decode() for name in properties] == names


def test_alternatives_and_case(tmp_path: Path) -> None:
    files = [("1.jpg", b"a"), ("2.PNG", b"b"), ("3.jpeg", b"c"), ("4.gif", b"d")]
    path = write_tar(tmp_path / "a.tar", files)
    assert read(path, "jpg;png;jpeg") == [(b"a",), (b"",), (b"c",), (b"",)]
    insensitive = {"case_sensitive_extensions": False}
    assert read(path, ["Jpg;png;JPEG;"], **insensitive) == [(b"a",), (b"b",), (b"c",), (b"",)]
    both = read(path, ["jpg", "gif;jpg"], missing_component_behavior="skip")
    assert both == [(b"a", b"a")]


@pytest.mark.parametrize("index", [False, True])
def test_missing_components(tmp_path: Path, index: bool) -> None:
    files = [("1.x", b"a"), ("1.y", b"b"), ("2.x", b"c"), ("3.z", b""), ("4.y", b"d"), ("4.x", b"")]
    path = write_tar(tmp_path / "a.tar", files)
    options = {"index_paths": wds2idx(path)} if index else {}
    everything = [(b"a", b"b"), (b"c", b""), (b"", b""), (b"", b"d")]
    for behavior in ("", "empty", "Empty", None):
        options["missing_component_behavior"] = behavior
        assert read(path, ["x", "y"], **options) == everything
    options["missing_component_behavior"] = "skip"
    assert read(path, ["x", "y"], **options) == [(b"a", b"b"), (b"", b"d")]
    options["missing_component_behavior"] = "error"
    where = "line 3" if index else "byte 2560"
    with pytest.raises(ndd.OpError, match=rf"the sample at {where} has no component for output 1"):
        read(path, ["x", "y"], **options)
    reader = ndd.readers.Webdataset(paths=path, ext=["x", "y"], on_error="skip", **options)
    assert reader.get_metadata()["epoch_size"] == 2
    assert len(reader.errors) == 2


def test_nothing_but_missing_components(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", [("1.x", b"a"), ("2.x", b"b")])
    assert read(path, ["y", "z"]) == [(b"", b"")] * 2
    assert epoch_sources(ndd.readers.Webdataset(paths=path, ext="y"), 2) == ["", ""]


def test_several_components_for_one_output(tmp_path: Path) -> None:
    files = [("1.x", b"a"), ("2.x", b"b"), ("2.x", b"c"), ("2.y", b"d"), ("3.x", b""), ("3.x", b"")]
    path = write_tar(tmp_path / "a.tar", files)
    with pytest.warns(UserWarning, match="the sample at byte 1536 has several components") as found:
        assert read(path, ["x;y", "y"]) == [(b"a", b""), (b"b", b"d"), (b"", b"")]
    assert len(found) == 1


def test_components_of_every_type(tmp_path: Path) -> None:
    kinds = ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64"]
    rng = np.random.default_rng(0)
    arrays = [[rng.integers(0, 99, n).astype(kind) for kind in kinds] for n in (3, 0, 1)]
    files = [
        (f"{n}.{kind}", array.tobytes())
        for n, row in enumerate(arrays)
        for kind, array in zip(kinds, row, strict=True)
    ]
    path = write_tar(tmp_path / "a.tar", files)
    types = [getattr(ndd, kind) for kind in kinds]
    reader = ndd.readers.Webdataset(paths=path, ext=kinds, dtypes=types)
    for outputs in reader.next_epoch(batch_size=3):
        for kind, output, column in zip(kinds, outputs, zip(*arrays, strict=True), strict=True):
            assert output.dtype == getattr(ndd, kind)
            for sample, array in zip(output, column, strict=True):
                np.testing.assert_array_equal(np.asarray(sample), array, strict=True)
    with pytest.raises(ndd.OpError, match="whose size is no multiple of that of int64"):
        read(path, "int32", dtypes=ndd.int64)


def test_making_an_index(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", [("1.x", b"a"), ("1.y", b"bcd"), ("d/2.x", b"")])
    expected = "v1.2 2\nx 512 1 1.x y 1536 3 1.y\nx 2560 0 d/2.x\n"
    assert wds2idx(path, tmp_path / "other").read_text() == expected
    main([str(path)])
    assert (tmp_path / "a.idx").read_text() == expected
    for files in ([], [(".x", b"")]):
        with pytest.raises(ndd.OpError, match="there are no samples"):
            wds2idx(write_tar(path, files))
    with pytest.raises(ndd.OpError, match="an extension is empty or holds blanks"):
        wds2idx(write_tar(path, [("1.x y", b"")]))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", 'line 1 must begin with the version "v1.1" or "v1.2"'),
        ("v1.0 1\nx 512 1", 'line 1 must begin with the version "v1.1" or "v1.2"'),
        ("v1.1\nx 512 1", "line 1 must hold the number of samples"),
        ("v1.1 0\n", "line 1 must hold the number of samples"),
        ("v1.1 x\n", "line 1 must hold the number of samples"),
        ("v1.1 2\nx 512 1\n", "it ends before line 3"),
        ("v1.1 2\nx 512 1\n\n", "line 3 must list"),
        ("v1.1 1\nx 512", "line 2 must list"),
        ("v1.1 1\nx 512 -1", "line 2 must list"),
        ("v1.2 1\nx 512 1", "line 2 must list"),
        ("v1.1 1\nx 1 512", "line 2 has an offset that is no multiple of 512"),
    ],
)
def test_bad_indices(tmp_path: Path, text: str, reason: str) -> None:
    path = write_tar(tmp_path / "a.tar", [("1.x", b"a")])
    index = tmp_path / "a.idx"
    index.write_text(text)
    with pytest.raises(ndd.OpError, match=rf"readers\.Webdataset: cannot read \".*idx\": {reason}"):
        read(path, "x", index_paths=index)
    good = wds2idx(path, tmp_path / "good.idx")
    options = {"index_paths": [index, good], "on_error": "skip"}
    assert set(read([path, path], "x", **options)) == {(b"a",)}


def test_indices_of_both_versions(tmp_path: Path) -> None:
    path = write_tar(tmp_path / "a.tar", [("1.x", b"ab"), ("1.y", b"cd")])
    index = tmp_path / "a.idx"
    index.write_text("v1.1 1\r\ny 1536 2 x 512 2 \r\n")
    assert read(path, ["x", "y"], index_paths=index) == [(b"ab", b"cd")]
    reader = ndd.readers.Webdataset(paths=path, ext="x", index_paths=index)
    assert epoch_sources(reader, 1) == [f"{path}:512:"]
    index.write_text("v1.2 1 more\ny\t1536 2 name x 512 1 other\nx 0 1 beyond\n")
    assert read(path, ["x", "y"], index_paths=index) == [(b"a", b"cd")]
    index.write_text("v1.1 2\nx 512 2\nx 102400 2\n")
    reader = ndd.readers.Webdataset(paths=path, ext="x", index_paths=index)
    with pytest.raises(ndd.OpError, match=r"a\.tar:102400:\".*the file ends before the piece"):
        list(reader.next_epoch(batch_size=2))


@pytest.mark.parametrize("offset", ["0 {far}", "{far} 1", "{far} {far}"])
def test_indices_that_lie(tmp_path: Path, offset: str) -> None:
    path = write_tar(tmp_path / "a.tar", [("1.x", b"ab"), ("1.y", b"cd")])
    index = tmp_path / "a.idx"
    index.write_text(f"v1.1 2\nx 512 2 y 1536 2\nx 512 2 y {offset.format(far=2**63 - 512)}\n")
    reader = ndd.readers.Webdataset(paths=path, ext=["x", "y"], index_paths=index)
    with pytest.raises(ndd.OpError, match=r"sample 1 of the batch.*the file ends before the piece"):
        list(reader.next_epoch(batch_size=2))
    assert read(path, ["x", "y"], index_paths=index, on_error="skip")[0] == (b"ab", b"cd")


def test_damaged_archives(tmp_path: Path) -> None:
    files = numbered(tmp_path, [3, 3])["paths"]
    data = files[0].read_bytes()
    offset = data.index(b"1.txt")
    with nothing_left_behind():
        for damaged, reason in (
            (data[: offset + 1] + b"?" + data[offset + 2 :], f"the header at byte {offset} has"),
            (data[: offset + 100], f"it is cut short: the entry at byte {offset}"),
            (data[: offset + 512], f"it is cut short: the entry at byte {offset}"),
        ):
            files[0].write_bytes(damaged)
            with pytest.raises(ndd.OpError, match=rf"cannot read \".*0\.tar\": .*{reason}"):
                read(files, "txt")
            reader = ndd.readers.Webdataset(paths=files, ext="txt", on_error="skip")
            texts = [bytes(np.asarray(text)) for (text,) in reader.next_epoch()]
            assert texts == [b"0", b"3", b"4", b"5"]
            assert [error.source for error in reader.errors] == [str(files[0])]
        # Without the blocks that mark the end, all is still there.
        end = data.index(b"2.bin") + 512
        files[0].write_bytes(data[: end + 512])
        assert len(read(files, "txt")) == 6
        files[0].write_bytes(gzip.compress(data))
        with pytest.raises(ndd.OpError, match="it is compressed"):
            read(files, "txt")
        del reader


def test_archives_that_vanish_and_shrink(tmp_path: Path) -> None:
    with nothing_left_behind():
        files = numbered(tmp_path, [2, 2, 2], index=True)
        reader = ndd.readers.Webdataset(ext=["txt", "bin"], on_error="skip", **files)
        files["paths"][1].unlink()
        data = files["paths"][2].read_bytes()
        files["paths"][2].write_bytes(data[: data.index(b"5.txt") + 1000])
        texts = [bytes(np.asarray(text)) for text, _ in reader.next_epoch()]
        assert set(texts) == {b"0", b"1", b"4"}
        with pytest.raises(FileNotFoundError, match=r"readers\.Webdataset: cannot read \".*1\.tar"):
            ndd.readers.Webdataset(ext="txt", **files)
        with pytest.raises(FileNotFoundError, match=r"1\.tar"):
            ndd.readers.Webdataset(ext="txt", paths=files["paths"])
        files["index_paths"][0].unlink()
        with pytest.raises(FileNotFoundError, match=r"0\.idx"):
            ndd.readers.Webdataset(ext="txt", **files)
        del reader


@given(st.binary(min_size=1, max_size=1200))
@settings(deadline=None, max_examples=100)
def test_arbitrary_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "arbitrary.tar"
    path.write_bytes(data)
    with pytest.raises((ndd.OpError, ValueError), match=r"readers\.Webdataset"):
        ndd.readers.Webdataset(paths=path, ext="x")


@given(st.integers(0, 511), st.binary(min_size=1, max_size=12))
@settings(deadline=None, max_examples=200)
def test_arbitrary_headers(
    tmp_path_factory: pytest.TempPathFactory, offset: int, data: bytes
) -> None:
    """Headers with any contents and a checksum that fits."""
    path = write_tar(tmp_path_factory.getbasetemp() / "header.tar", [("1.x", b"a"), ("2.x", b"b")])
    contents = bytearray(path.read_bytes())
    contents[offset : offset + len(data)] = data
    contents[148:156] = b" " * 8
    contents[148:156] = b"%06o\0 " % sum(contents[:512])
    path.write_bytes(contents)
    try:
        assert {
            bytes(np.asarray(text))
            for (text,) in ndd.readers.Webdataset(paths=path, ext="x", on_error="skip").next_epoch()
        }
    except (ndd.OpError, ValueError):
        pass


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"ext": []}, ValueError, "'ext' must name an extension"),
        ({"ext": 5}, TypeError, "'ext'"),
        ({"paths": []}, ValueError, "'paths' must not be empty"),
        ({"index_paths": ["a", "b"]}, ValueError, "'index_paths' needs one file for each"),
        ({"missing_component_behavior": "drop"}, ValueError, "must be 'empty', 'skip' or 'error'"),
        ({"dtypes": [ndd.uint8] * 2}, ValueError, "'dtypes' needs one type for each output"),
        ({"dtypes": [ndd.bool]}, ValueError, "'dtypes' must be integer or floating-point"),
        ({"ext": "nothing", "missing_component_behavior": "skip"}, ValueError, "no samples"),
    ],
)
def test_wrong_arguments_are_refused(
    tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    files: dict[str, Any] = numbered(tmp_path, [1])
    with pytest.raises(error, match=rf"readers\.Webdataset: .*{message}"):
        ndd.readers.Webdataset(**({"ext": "txt"} | files | arguments))


def test_small_archives_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "LEAST_AGE", 0.0)
    rng = np.random.default_rng(0)
    large = [rng.bytes(20_000) for _ in range(8)]
    paths = [
        write_tar(tmp_path / f"{k}.tar", [(f"{i}.bin", large[i]) for i in range(4 * k, 4 * k + 4)])
        for k in range(2)
    ]
    reader = ndd.readers.Webdataset(paths=paths, ext="bin", dtypes=ndd.int32, random_shuffle=True)

    def contents() -> list[bytes]:
        return sorted(np.asarray(data).tobytes() for (data,) in reader.next_epoch())

    assert contents() == contents() == sorted(large)
    data = np.asarray(next(iter(reader.next_epoch()))[0])
    assert not data.flags.writeable
    # What was delivered stays as it was, and a changed archive is noticed.
    before = data.copy()
    large[0] = rng.bytes(20_000)
    write_tar(paths[0], [(f"{i}.bin", large[i]) for i in range(4)])
    assert contents() == sorted(large)
    np.testing.assert_array_equal(data, before)
    paths[1].write_bytes(paths[1].read_bytes()[:30_000])
    with pytest.raises(ndd.OpError, match=r"1\.tar.*ends before"):
        contents()
