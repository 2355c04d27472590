# SPDX-License-Identifier: Apache-2.0
"""Annotations in the format of COCO: reading JSON, and the binary files of the reference."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _kernels
from ..._engine.errors import DecodeError, OpError
from .ragged import RaggedRows

CocoFault, JsonFault = _kernels.CocoFault, _kernels.JsonFault

_SYNTAX = {
    JsonFault.Kind.early_end: "the file ends early",
    JsonFault.Kind.syntax: "this is not JSON",
    JsonFault.Kind.no_object: "an object is expected",
    JsonFault.Kind.no_array: "a list is expected",
    JsonFault.Kind.no_string: "a string is expected",
    JsonFault.Kind.no_number: "a number is expected",
    JsonFault.Kind.no_integer: "an integer is expected",
}


class Wanted(NamedTuple):
    """What to take from a file, and in which form."""

    size_threshold: float
    include_iscrowd: bool
    ltrb: bool
    ratio: bool
    remap_classes: bool
    skip_empty: bool
    polygons: bool
    masks: bool
    images: Sequence[str] | None


@dataclass
class Annotations:
    """What is known of images, in the order in which they are read."""

    names: list[str]
    boxes: RaggedRows
    labels: RaggedRows
    ids: NDArray[np.int64]
    # The others are there if they were asked for.
    sizes: NDArray[np.int64]  # height and width
    polygons: RaggedRows
    vertices: RaggedRows
    # Masks given by runs: the number of the box of each, and where its runs end.
    mask_boxes: RaggedRows
    run_ends: NDArray[np.int64]
    runs: NDArray[np.uint32]
    # Why some images cannot be used, by number; and names that the file does not have.
    faults: dict[int, OpError] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    # Of the categories, in the order of the file; None if that is not known.
    category_ids: list[int] | None = None
    category_names: list[str] | None = None

    def paint(self, numbers: NDArray[np.int64], relative: bool) -> _kernels.Samples:
        """Pictures of the segmentations of chosen images."""
        rows = [
            part[numbers]
            for part in (
                self.labels.begins,
                self.polygons.begins,
                self.polygons.ends,
                self.vertices.begins,
                self.mask_boxes.begins,
                self.mask_boxes.ends,
            )
        ]
        return _kernels.paint_coco_masks(
            sizes=self.sizes[numbers],
            mask_rows=np.stack(rows, 1),
            labels=self.labels.rows,
            polygons=self.polygons.rows,
            vertices=self.vertices.rows,
            mask_boxes=self.mask_boxes.rows,
            run_ends=self.run_ends,
            runs=self.runs,
            relative=relative,
        )


def parse_annotations(path: str, text: bytes, wanted: Wanted) -> Annotations:
    """Read a JSON file; `path` is for messages."""
    data = _kernels.parse_coco(text, *wanted)
    if not isinstance(data, dict):
        raise _unreadable(path, text, data)
    annotations = Annotations(
        [os.fsdecode(name) for name in data["names"]],
        RaggedRows(data["boxes"], data["counts"]),
        RaggedRows(data["labels"], data["counts"]),
        data["ids"],
        np.stack([data["heights"], data["widths"]], 1),
        RaggedRows(data["polygons"], data["polygon_counts"]),
        RaggedRows(data["vertices"], data["vertex_counts"]),
        RaggedRows(data["mask_boxes"], data["mask_counts"]),
        np.cumsum(data["run_counts"]),
        data["runs"],
        unlisted=[os.fsdecode(name) for name in data["unlisted"]],
        category_ids=data["category_ids"].tolist(),
        category_names=[name.decode(errors="replace") for name in data["category_names"]],
    )
    for fault in data["faults"]:
        annotations.faults.setdefault(fault.image, OpError(_explained(path, fault)))
    return annotations


def _unreadable(
    path: str, text: bytes, fault: _kernels.JsonFault | _kernels.CocoMissing
) -> DecodeError:
    if isinstance(fault, _kernels.CocoMissing):
        problem = "has no box of 4 numbers" if fault.key == "bbox" else f'lacks "{fault.key}"'
        return DecodeError(f'entry {fault.entry} of "{fault.list}" in "{path}" {problem}')
    line = text.count(b"\n", 0, fault.position) + 1
    column = fault.position - text.rfind(b"\n", 0, fault.position)
    return DecodeError(f'"{path}", line {line}, column {column}: {_SYNTAX[fault.kind]}')


def _explained(path: str, fault: _kernels.CocoFault) -> str:
    kind, value = fault.kind, fault.value
    if kind == CocoFault.Kind.no_size:
        return f'"{path}" does not give the width and height of the image'
    entry = f'entry {fault.annotation} of "annotations" in "{path}"'
    if kind == CocoFault.Kind.box_outside:
        return f"the box of {entry} lies outside of the image"
    if kind == CocoFault.Kind.odd_polygon:
        return f"a polygon of {entry} has {value} coordinates, which is an odd number"
    if kind == CocoFault.Kind.bad_runs:
        return f"the runs of {entry} are not those of a mask of the image's size"
    return (
        f'{entry} has the category {value}, which "categories" does not list; '
        "avoid_class_remapping=True takes it as it is"
    )


def save_annotations(
    annotations: Annotations, folder: str, polygons: bool, masks: bool, ids: bool
) -> None:
    """Write the binary files that the reference writes. Empty tables have none."""

    def save(name: str, values: NDArray[Any], dtype: str, header: bytes | None = None) -> None:
        if len(values):
            count = np.uint32(len(values)).tobytes() if header is None else header
            Path(folder, name).write_bytes(count + values.astype(dtype).tobytes())

    save("offsets.dat", annotations.boxes.begins, "<i4")
    save("counts.dat", annotations.boxes.counts, "<i4")
    # Boxes are counted by coordinates there, other tables by rows.
    save("boxes.dat", annotations.boxes.rows.reshape(-1), "<f4")
    save("labels.dat", annotations.labels.rows, "<i4")
    Path(folder, "filenames.dat").write_bytes(
        b"".join(os.fsencode(name) + b"\n" for name in annotations.names)
    )
    if polygons or masks:
        save("polygon_data.dat", annotations.polygons.rows, "<i4")
        save("polygon_offset.dat", annotations.polygons.begins, "<i8")
        save("polygons_count.dat", annotations.polygons.counts, "<i8")
        save("vertices.dat", annotations.vertices.rows, "<f4")
        save("vertices_offset.dat", annotations.vertices.begins, "<i8")
        save("vertices_count.dat", annotations.vertices.counts, "<i8")
    if masks:
        _save_runs(annotations, Path(folder, "masks_rles.dat"))
        save("masks_rles_idx.dat", annotations.mask_boxes.rows, "<i4")
        save("masks_offset.dat", annotations.mask_boxes.begins, "<i8")
        save("mask_count.dat", annotations.mask_boxes.counts, "<i8")
        save("heights.dat", annotations.sizes[:, 0], "<i4")
        save("widths.dat", annotations.sizes[:, 1], "<i4")
    if ids:
        save("original_ids.dat", annotations.ids, "<i4")


def _save_runs(annotations: Annotations, path: Path) -> None:
    count = len(annotations.run_ends)
    if count == 0:
        return
    sizes = np.repeat(annotations.sizes, annotations.mask_boxes.counts, axis=0)
    parts = [np.uint32(count).tobytes()]
    begin = 0
    for (height, width), end in zip(sizes, annotations.run_ends.tolist(), strict=True):
        parts.append(np.array([height, width, end - begin], "<u8").tobytes())
        parts.append(annotations.runs[begin:end].astype("<u4").tobytes())
        begin = end
    path.write_bytes(b"".join(parts))


def load_annotations(folder: str, polygons: bool, masks: bool, ids: bool) -> Annotations:
    """Read the binary files that `save_annotations` or the reference wrote."""

    def load(name: str, dtype: str, width: int = 1, count: int = -1) -> NDArray[Any]:
        """A table; one that is missing has no rows. With `count`, it must have so many."""
        path = Path(folder, name)
        data = path.read_bytes() if path.exists() else bytes(4)
        length = int.from_bytes(data[:4], "little")
        if len(data) != 4 + length * width * np.dtype(dtype).itemsize or count not in (-1, length):
            msg = f'"{path}" is damaged or does not belong to the others'
            raise DecodeError(msg)
        values = np.frombuffer(data, dtype, offset=4)
        native = values.astype(np.dtype(dtype).newbyteorder("="))
        return native.reshape(length, width) if width > 1 else native

    lines = Path(folder, "filenames.dat").read_bytes().split(b"\n")
    names = [os.fsdecode(line) for line in lines if line]
    count = len(names)

    def rows(values: NDArray[Any], counts: NDArray[Any], name: str) -> RaggedRows:
        table = RaggedRows(values, counts if len(counts) else np.zeros(count, np.int64))
        if table.counts.min(initial=0) < 0 or table.counts.sum() != len(values):
            msg = f'"{Path(folder, name)}" does not belong to the others'
            raise DecodeError(msg)
        return table

    with_polygons = polygons or masks
    counts = load("counts.dat", "<i4", count=count)
    coordinates = load("boxes.dat", "<f4", count=4 * int(counts.sum()))
    boxes = rows(coordinates.reshape(-1, 4), counts, "boxes.dat")
    labels = rows(load("labels.dat", "<i4"), counts, "labels.dat")
    no_counts = np.empty(0, np.int64)
    run_ends, runs = _load_runs(Path(folder, "masks_rles.dat")) if masks else (no_counts, no_counts)
    return Annotations(
        names,
        boxes,
        labels,
        load("original_ids.dat", "<i4", count=count) if ids else no_counts,
        np.stack(
            [load(f"{side}s.dat", "<i4", count=count) for side in ("height", "width")], 1
        ).astype(np.int64)
        if masks
        else np.empty((0, 2), np.int64),
        rows(
            load("polygon_data.dat", "<i4", 3) if with_polygons else np.empty((0, 3), np.int32),
            load("polygons_count.dat", "<i8") if with_polygons else no_counts,
            "polygon_data.dat",
        ),
        rows(
            load("vertices.dat", "<f4", 2) if with_polygons else np.empty((0, 2), np.float32),
            load("vertices_count.dat", "<i8") if with_polygons else no_counts,
            "vertices.dat",
        ),
        rows(
            load("masks_rles_idx.dat", "<i4", count=len(run_ends)) if masks else no_counts,
            load("mask_count.dat", "<i8") if masks else no_counts,
            "masks_rles_idx.dat",
        ),
        run_ends,
        runs.astype(np.uint32),
    )


def _load_runs(path: Path) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    data = path.read_bytes() if path.exists() else bytes(4)
    count, offset = int.from_bytes(data[:4], "little"), 4
    parts: list[NDArray[np.uint32]] = []
    for _ in range(count):
        length = int.from_bytes(data[offset + 16 : offset + 24], "little")
        offset += 24
        if offset + 4 * length > len(data):
            msg = f'"{path}" is cut short'
            raise DecodeError(msg)
        parts.append(np.frombuffer(data, "<u4", length, offset))
        offset += 4 * length
    ends = np.cumsum([len(part) for part in parts], dtype=np.int64)
    return ends, np.concatenate([*parts, np.empty(0, np.uint32)])
