# SPDX-License-Identifier: Apache-2.0
"""Every reader, each with a small data set, for tests of what all of them have in common."""

from __future__ import annotations

import functools
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import daliesque as ndd
from daliesque.index import tfrecord2idx, wds2idx
from daliesque.readers import Reader
from support.audio_makers import pcm, signal, wav
from support.fits_data import write_raw
from support.reader_properties import Make
from support.record_files import (
    datum,
    example,
    image_record,
    tensor_proto,
    tensor_protos,
    write_lmdb,
    write_recordio,
    write_tfrecord,
)
from support.video_makers import numbered

INTEGER = {"x": ndd.tfrecord.FixedLenFeature([1], ndd.tfrecord.int64, 0)}
MISSING = None


class Data(NamedTuple):
    """A reader, the files with its data, and how many samples are in each.

    `faults` says what can be wrong with a file: it is missing, or there are only so many bytes.
    """

    make: Make
    files: list[Path]
    samples: list[int]
    faults: tuple[int | None, ...]
    all_needed: bool = False  # without one file the others are of no use

    def file_of(self, source: str) -> int:
        """Which file a source means; that of a database, its folder."""
        names = [path.parent.name if path.suffix == ".mdb" else path.name for path in self.files]
        (number,) = [k for k, name in enumerate(names) if name in source]
        return number


def parts() -> list[list[int]]:
    """Seven numbers, in three parts."""
    return [[0, 1, 2], [3, 4], [5, 6]]


def file(folder: Path) -> Data:
    files = [folder / f"{k}.data" for k in range(7)]
    for path in files:
        path.write_text(path.name)
    return Data(functools.partial(ndd.readers.File, files=files), files, [1] * 7, (MISSING,))


def numpy(folder: Path) -> Data:
    files = [folder / f"{k}.npy" for k in range(7)]
    for k, path in enumerate(files):
        np.save(path, np.full((3, 4), k))
    make = functools.partial(ndd.readers.Numpy, files=files)
    return Data(make, files, [1] * 7, (MISSING, 0, 50, 200))


def fits(folder: Path) -> Data:
    files = [write_raw(folder / f"{k}.fits", 16, np.full((9, 9), k), {}) for k in range(7)]
    make = functools.partial(ndd.experimental.readers.Fits, files=files)
    return Data(make, files, [1] * 7, (MISSING, 0, 2880, 5800))


def coco(folder: Path) -> Data:
    files = [folder / f"{k}.data" for k in range(7)]
    images, boxes = [], []
    for k, path in enumerate(files):
        path.write_text(path.name)
        images.append({"id": k, "file_name": path.name, "width": 9, "height": 9})
        boxes.append({"image_id": k, "category_id": 1, "bbox": [1, 1, k, 5]})
    annotations = folder / "instances.json"
    lists = {"images": images, "annotations": boxes, "categories": [{"id": 1}]}
    annotations.write_text(json.dumps(lists))
    make = functools.partial(ndd.readers.COCO, file_root=folder, annotations_file=annotations)
    return Data(make, files, [1] * 7, (MISSING,))


def tfrecord(folder: Path) -> Data:
    files = []
    for k, numbers in enumerate(parts()):
        examples = [example({"x": [number]}) for number in numbers]
        files.append(write_tfrecord(folder / f"{k}.tfrecord", examples))
    make = functools.partial(ndd.readers.TFRecord, path=files, features=INTEGER)
    return Data(make, files, [3, 2, 2], (MISSING, 5, 20, 50))


def indexed_tfrecord(folder: Path) -> Data:
    data = tfrecord(folder)
    indices = [tfrecord2idx(path) for path in data.files]
    return data._replace(make=functools.partial(data.make, index_path=indices))


def webdataset(folder: Path) -> Data:
    files = []
    for k, numbers in enumerate(parts()):
        files.append(folder / f"{k}.tar")
        with tarfile.open(files[-1], "w") as archive:
            for number in numbers:
                entry = tarfile.TarInfo(f"sample {number}.txt")
                entry.size = 100
                archive.addfile(entry, io.BytesIO(bytes(100)))
    make = functools.partial(ndd.readers.Webdataset, paths=files, ext="txt")
    return Data(make, files, [3, 2, 2], (MISSING, 100, 600, 1200))


def indexed_webdataset(folder: Path) -> Data:
    data = webdataset(folder)
    indices = [wds2idx(path) for path in data.files]
    return data._replace(make=functools.partial(data.make, index_paths=indices))


def mxnet(folder: Path) -> Data:
    files, index = [folder / f"{k}.rec" for k in range(3)], folder / "index of 2.rec"
    records = [[image_record(b"%d" % k, [1.0]) for k in numbers] for numbers in parts()]
    write_recordio(files, records, index)
    make = functools.partial(ndd.readers.MXNet, path=files, index_path=index)
    return Data(make, files, [3, 2, 2], (MISSING, 0, 36, 40, 60), all_needed=True)


def database(folder: Path, kind: Callable[..., Reader], record: Callable[[int], bytes]) -> Data:
    folders = [
        write_lmdb(folder / f"db{k}", map(record, numbers)) for k, numbers in enumerate(parts())
    ]
    files = [path / "data.mdb" for path in folders]
    make = functools.partial(kind, path=folders)
    return Data(make, files, [3, 2, 2], (MISSING, 0, 100, 8200))


def caffe(folder: Path) -> Data:
    return database(folder, ndd.readers.Caffe, lambda k: datum(b"%d" % k, 1))


def caffe2(folder: Path) -> Data:
    label = tensor_proto([1])
    return database(
        folder, ndd.readers.Caffe2, lambda k: tensor_protos(tensor_proto([b"%d" % k]), label)
    )


def parquet(folder: Path) -> Data:
    files = []
    for k, numbers in enumerate(parts()):
        files.append(folder / f"{k}.parquet")
        pq.write_table(pa.table({"x": numbers}), files[-1], row_group_size=2)
    make = functools.partial(ndd.readers.Parquet, path=files)
    return Data(make, files, [3, 2, 2], (MISSING, 0, 100))


def huggingface(folder: Path) -> Data:
    files = []
    for k, numbers in enumerate(parts()):
        files.append(folder / f"data-{k}.arrow")
        table = pa.table({"x": numbers})
        with pa.OSFile(str(files[-1]), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
    names = [{"filename": path.name} for path in files]
    (folder / "state.json").write_text(json.dumps({"_data_files": names}))
    make = functools.partial(ndd.readers.HuggingFace, path=folder)
    return Data(make, files, [3, 2, 2], (MISSING, 0, 100, 250))


def nemo_asr(folder: Path) -> Data:
    files, lines = [], []
    for k in range(7):
        data, bits, _ = pcm(signal(400 + k, 1, seed=k), "i16")
        files.append(folder / f"{k}.wav")
        files[-1].write_bytes(wav(data, bits, 1, 8000))
        lines.append(json.dumps({"audio_filepath": str(files[-1]), "text": "word"}))
    manifest = folder / "manifest.json"
    manifest.write_text("\n".join(lines))
    make = functools.partial(ndd.readers.NemoAsr, manifest_filepaths=manifest)
    return Data(make, files, [1] * 7, (MISSING, 0, 20))


class Files:
    """The contents of files, by number."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, number: int) -> bytes:
        return self.paths[number].read_bytes()


def python(folder: Path) -> Data:
    data = file(folder)
    make = functools.partial(
        ndd.readers.Python,
        Files(data.files),
        source_name=list(map(str, data.files)).__getitem__,
    )
    return data._replace(make=make)


def threaded_python(folder: Path) -> Data:
    data = python(folder)
    return data._replace(make=functools.partial(data.make, num_threads=3))


def videos(folder: Path, kind: Callable[..., Reader], **arguments: Any) -> Data:
    files = [folder / f"{k}.avi" for k in range(7)]
    for k, path in enumerate(files):
        path.write_bytes(numbered(5, "mjpeg-avi", first=k))
    make = functools.partial(kind, filenames=files, sequence_length=5, **arguments)
    return Data(make, files, [1] * 7, (MISSING, 0, 100))


CASES: dict[str, tuple[type[Reader], Callable[[Path], Data]]] = {
    "File": (ndd.readers.File, file),
    "Numpy": (ndd.readers.Numpy, numpy),
    "Fits": (ndd.experimental.readers.Fits, fits),
    "COCO": (ndd.readers.COCO, coco),
    "TFRecord": (ndd.readers.TFRecord, tfrecord),
    "TFRecord with indices": (ndd.readers.TFRecord, indexed_tfrecord),
    "Webdataset": (ndd.readers.Webdataset, webdataset),
    "Webdataset with indices": (ndd.readers.Webdataset, indexed_webdataset),
    "MXNet": (ndd.readers.MXNet, mxnet),
    "Caffe": (ndd.readers.Caffe, caffe),
    "Caffe2": (ndd.readers.Caffe2, caffe2),
    "Parquet": (ndd.readers.Parquet, parquet),
    "HuggingFace": (ndd.readers.HuggingFace, huggingface),
    "Python": (ndd.readers.Python, python),
    "Python with threads": (ndd.readers.Python, threaded_python),
    "NemoAsr": (ndd.readers.NemoAsr, nemo_asr),
    "experimental Video": (
        ndd.experimental.readers.Video,
        lambda folder: videos(folder, ndd.experimental.readers.Video),
    ),
    "Video": (ndd.readers.Video, lambda folder: videos(folder, ndd.readers.Video)),
    "VideoResize": (
        ndd.readers.VideoResize,
        lambda folder: videos(folder, ndd.readers.VideoResize, size=[16, 16]),
    ),
}
