# SPDX-License-Identifier: Apache-2.0
"""The samples of a data set, whatever it is stored in."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..._readers.sources.arrow_columns import import_arrow
from .examples import read_examples

IMAGES = frozenset(
    ".jpg .jpeg .png .bmp .tif .tiff .webp .gif .ppm .pgm .pbm .pnm .jp2 .j2k .jxl .avif .heif "
    ".heic".split()
)
# Names under which data sets keep the label of a sample.
_LABELS = ("label", "labels", "image/class/text", "image/class/label", "class", "target", "cls")


class Entry(NamedTuple):
    """A sample: an encoded image and what is known about it; `failure` says why it has no data."""

    name: str
    data: bytes
    label: str | None = None
    # Rows of left, top, right, bottom in pixels, and what they hold.
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    box_labels: tuple[str, ...] = ()
    failure: str | None = None


def open_source(path: Path, images: Path | None) -> Iterator[Entry]:
    """The samples of a data set.

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If it is of a kind that is not known.
    """
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        msg = f"there is no file or folder {str(path)!r}"
        raise FileNotFoundError(msg)
    kinds = {".tar": _archive, ".parquet": _parquet, ".tfrecord": _records, ".tfrec": _records}
    if path.suffix == ".json":
        return _coco(path, images or path.parent)
    kind = next((read for ending, read in kinds.items() if ending in path.name), None)
    if kind is None:
        msg = (
            f"{path.name!r} is of no known kind; a folder or a file that ends in .tar, .tfrecord, "
            ".parquet or .json is needed"
        )
        raise ValueError(msg)
    return kind(path)


def _read(path: Path, name: str, label: str | None) -> Entry:
    try:
        return Entry(name, path.read_bytes(), label)
    except OSError as error:
        return Entry(name, b"", label, failure=error.strerror or str(error))


def image_files(root: Path) -> Iterator[Path]:
    """Image files below a folder, in order; links to folders are followed, once each."""
    seen = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        seen.add(os.path.realpath(folder))
        folders[:] = sorted(
            name for name in folders if os.path.realpath(os.path.join(folder, name)) not in seen
        )
        for file in sorted(files):
            path = Path(folder) / file
            if path.suffix.lower() in IMAGES:
                yield path


def _folder(root: Path) -> Iterator[Entry]:
    """Image files below a folder; the folder that a file is in is its label."""
    for path in image_files(root):
        inner = path.relative_to(root)
        label = inner.parts[-2] if len(inner.parts) > 1 else None
        yield _read(path, inner.as_posix(), label)


def _archive(path: Path) -> Iterator[Entry]:
    """The images of a tar archive, with the label that a file of the same name has."""
    labels: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name)
            if name.suffix in (".cls", ".txt", ".label") and member.size < 1000:
                labels[str(name.with_suffix(""))] = _content(archive, member).decode(
                    errors="replace"
                )
    with tarfile.open(path) as archive:
        for member in archive:
            name = PurePosixPath(member.name)
            if member.isfile() and name.suffix.lower() in IMAGES:
                label = labels.get(str(name.with_suffix("")))
                yield Entry(member.name, _content(archive, member), label and label.strip())


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def _records(path: Path) -> Iterator[Entry]:
    """The images of `Example` messages: the feature that holds most bytes."""
    for number, features in enumerate(read_examples(path)):
        images = {name: value for name, value in features.items() if isinstance(value, bytes)}
        if images:
            image = max(images, key=lambda name: len(images[name]))
            others = {name: value for name, value in features.items() if name != image}
            yield Entry(f"record {number}", images[image], _label(others))


def _label(features: dict[str, Any]) -> str | None:
    for name in _LABELS:
        value = features.get(name)
        if value is not None:
            return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return None


def _parquet(path: Path) -> Iterator[Entry]:
    """The images of a column of bytes, or of records with a field "bytes"."""
    arrow = import_arrow("view")
    file = arrow.parquet.ParquetFile(path)
    number = 0
    for table in file.iter_batches(batch_size=64):
        for row in table.to_pylist():
            image = next((data for data in map(_image_bytes, row.values()) if data), None)
            if image is not None:
                others = {name: value for name, value in row.items() if not _image_bytes(value)}
                yield Entry(f"row {number}", image, _label(others))
            number += 1


def _image_bytes(value: Any) -> bytes | None:
    if isinstance(value, dict):
        value = value.get("bytes")
    return value if isinstance(value, bytes) else None


def _coco(path: Path, root: Path) -> Iterator[Entry]:
    """The images of a file of annotations, with their boxes."""
    try:
        content = json.loads(path.read_bytes())
        images, annotations = content["images"], content["annotations"]
    except (ValueError, KeyError, TypeError) as error:
        msg = f"{path.name!r} is not in the format of COCO: {error}"
        raise ValueError(msg) from None
    names = {kind["id"]: str(kind["name"]) for kind in content.get("categories", ())}
    found: dict[Any, list[Any]] = {}
    for annotation in annotations:
        found.setdefault(annotation["image_id"], []).append(annotation)
    for image in images:
        entry = _read(root / image["file_name"], image["file_name"], None)
        own = [a for a in found.get(image["id"], ()) if len(a.get("bbox", ())) == 4]
        boxes = [a["bbox"] for a in own]
        corners = tuple((x, y, x + width, y + height) for x, y, width, height in boxes)
        kinds = tuple(names.get(a["category_id"], str(a["category_id"])) for a in own)
        yield entry._replace(boxes=corners, box_labels=kinds)
