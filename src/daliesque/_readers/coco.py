# SPDX-License-Identifier: Apache-2.0
"""Images with boxes and segmentations in the format of COCO."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Unpack

import numpy as np

from .._engine.args import rule_of
from .._engine.batch import Batch
from .._engine.convert import to_samples
from .._engine.device import DeviceLike
from .._engine.errors import DecodeError, same_class
from .._engine.samples import host
from .core.base import Reader
from .core.caller import warn_caller
from .core.options import ReaderOptions
from .core.order import Numbers
from .core.source import Fetched
from .sources.coco_annotations import Wanted, load_annotations, parse_annotations, save_annotations
from .sources.discovery import PathLike, Paths
from .sources.storage import is_below, outside_error, read

_DEFAULT_THRESHOLD = 0.1


class COCO(Reader[tuple[Batch, ...]]):
    """Read images and their annotations in the format of the COCO data set.

    The outputs are the contents of an image file (1-D, uint8), its M boxes (float32, M x 4) and
    their labels (int32, M), then as asked for: polygons (int32, P x 3: the number of the box, the
    first vertex and the one after the last) and vertices (float32, V x 2); or a mask of labels
    (int32, height x width x 1, layout "HWC"); or neither; and the number of the image (int32, 1).
    Images come in the order of their numbers, boxes in the order of the file. The `source` is the
    name of the image in the file. `categories` says what the labels mean.

    Parameters
    ----------
    batch_size, name, device
        See `Reader`.
    file_root
        The folder with the images.
    annotations_file
        The JSON file.
    images
        Read only these images, in this order; they may repeat. The names are those of the file.
    ltrb
        Boxes are left, top, right and bottom, rather than left, top, width and height.
    ratio
        Boxes and vertices are shares of the width and height of the image.
    size_threshold
        Leave out boxes that are narrower or lower than this many pixels.
    skip_empty
        Leave out images without boxes.
    include_iscrowd
        Whether to take boxes of crowds.
    avoid_class_remapping
        Labels are the numbers of categories in the file. Otherwise categories are numbered from 1
        in the order of the file.
    polygon_masks
        Deliver polygons and vertices. Masks given by runs have none.
    pixelwise_masks
        Deliver masks, from polygons and from runs. Where objects overlap, the highest label wins.
    image_ids
        Deliver the numbers of the images.
    save_preprocessed_annotations, save_preprocessed_annotations_dir
        Write what was read from the JSON file, in the form that was asked for, as binary files into
        this folder, which must exist.
    preprocessed_annotations
        A folder with such files, instead of `annotations_file`.
    masks, save_img_ids, meta_files_path, dump_meta_files, dump_meta_files_path
        Old names: `polygon_masks` (where polygons count coordinates, not vertices), `image_ids`,
        `preprocessed_annotations` and `save_preprocessed_annotations(_dir)`.
    **options
        The arguments that all readers have (shards, shuffling, padding, errors); see `Reader`.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> root = pathlib.Path(folder.name)
    >>> (root / "cat.jpg").touch()
    >>> box = {"image_id": 7, "category_id": 3, "bbox": [10, 20, 30, 40]}
    >>> image = {"id": 7, "file_name": "cat.jpg", "width": 640, "height": 480}
    >>> categories = [{"id": 3, "name": "cat"}]
    >>> content = {"images": [image], "annotations": [box], "categories": categories}
    >>> (root / "boxes.json").write_text(json.dumps(content)) > 0
    True
    >>> reader = ndd.readers.COCO(file_root=root, annotations_file=root / "boxes.json", ltrb=True)
    >>> for image, boxes, labels in reader.next_epoch():
    ...     print(image.source, boxes.torch().tolist(), labels.torch().tolist())
    cat.jpg [[10.0, 20.0, 40.0, 60.0]] [1]
    >>> reader.categories, reader.category_ids
    ({1: 'cat'}, {1: 3})
    >>> folder.cleanup()

    Differs from DALI: boxes outside of their image, unknown categories, names in `images` that the
    file does not have, and missing entries are errors. In masks, several objects of one class that
    are given by runs are joined, and the highest label wins everywhere. `on_error` and
    `max_errors` are new, and what `readers.File` says about epochs and states holds here too.
    """

    operator: ClassVar[str] = "readers.COCO"

    def __init__(
        self,
        batch_size: int | None = None,
        name: str | None = None,
        device: DeviceLike | None = "cpu",
        *,
        file_root: PathLike | None = None,
        annotations_file: PathLike | None = None,
        images: Sequence[PathLike] | None = None,
        ltrb: bool | None = None,
        ratio: bool | None = None,
        size_threshold: float | None = None,
        skip_empty: bool | None = None,
        include_iscrowd: bool | None = True,
        avoid_class_remapping: bool | None = False,
        polygon_masks: bool | None = False,
        pixelwise_masks: bool | None = False,
        image_ids: bool | None = False,
        save_preprocessed_annotations: bool | None = False,
        save_preprocessed_annotations_dir: PathLike | None = None,
        preprocessed_annotations: PathLike | None = None,
        masks: bool | None = None,
        save_img_ids: bool | None = None,
        meta_files_path: PathLike | None = None,
        dump_meta_files: bool | None = None,
        dump_meta_files_path: PathLike | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        self._file_root = "" if file_root is None else os.fspath(file_root)
        source = self._renamed(
            preprocessed_annotations, meta_files_path, "meta_files_path", "preprocessed_annotations"
        )
        saves = self._renamed(
            save_preprocessed_annotations,
            dump_meta_files,
            "dump_meta_files",
            "save_preprocessed_annotations",
        )
        target = self._renamed(
            save_preprocessed_annotations_dir,
            dump_meta_files_path,
            "dump_meta_files_path",
            "save_preprocessed_annotations_dir",
        )
        self._polygons = bool(self._renamed(polygon_masks, masks, "masks", "polygon_masks"))
        self._counts_coordinates = bool(masks)
        self._ids = bool(self._renamed(image_ids, save_img_ids, "save_img_ids", "image_ids"))
        self._masks = bool(pixelwise_masks)
        self._ratio = bool(ratio)
        self._json = None if not annotations_file else os.fspath(annotations_file)
        self._preprocessed = None if not source else os.fspath(source)
        self._target = None if not target else os.fspath(target)
        fixed = {
            "annotations_file": self._json,
            "skip_empty": skip_empty,
            "ratio": ratio,
            "ltrb": ltrb,
            "images": images,
            "size_threshold": size_threshold,
            "save_preprocessed_annotations": saves or None,
        }
        self._check_sources(fixed, bool(saves), options)
        where = f"{self.operator}: 'size_threshold'"
        self._wanted = Wanted(
            rule_of(float).convert(
                _DEFAULT_THRESHOLD if size_threshold is None else size_threshold, where
            ),
            include_iscrowd is None or bool(include_iscrowd),
            bool(ltrb),
            bool(ratio),
            not avoid_class_remapping,
            bool(skip_empty),
            self._polygons or self._masks,
            self._masks,
            None if images is None else self._checked_images(images),
        )
        super().__init__(batch_size, name, device, **options)

    def _renamed(self, value: Any, old: Any, old_name: str, new_name: str) -> Any:
        """The value of an argument that had another name."""
        if old is None:
            return value
        msg = f"{self.operator}: '{old_name}' is deprecated. Use '{new_name}'."
        warn_caller(msg, DeprecationWarning)
        return old or value

    def _check_sources(self, fixed: dict[str, Any], saves: bool, options: ReaderOptions) -> None:
        problem = ""
        if self._json is None and self._preprocessed is None:
            problem = "there is nothing to read. Give 'annotations_file'."
        elif self._preprocessed is not None:
            given = [name for name, value in fixed.items() if value is not None]
            if given:
                problem = f"'preprocessed_annotations' and '{given[0]}' exclude each other."
        if self._polygons and self._masks:
            problem = "'polygon_masks' and 'pixelwise_masks' exclude each other."
        elif saves != (self._target is not None):
            problem = (
                "'save_preprocessed_annotations' and 'save_preprocessed_annotations_dir' belong "
                "together. Give both."
            )
        elif options.get("skip_cached_images"):
            problem = "'skip_cached_images' is not supported."
        if problem:
            msg = f"{self.operator}: {problem}"
            raise ValueError(msg)

    def _checked_images(self, images: Sequence[PathLike]) -> list[str]:
        try:
            if isinstance(images, str):
                raise TypeError
            return [os.fspath(image) for image in images]
        except TypeError:
            msg = f"{self.operator}: 'images' must be a list of names; got {images!r:.60}."
            raise TypeError(msg) from None

    def open_index(self) -> int:
        path = self._json or self._preprocessed or ""
        try:
            if self._json is not None:
                self._annotations = parse_annotations(path, read(path), self._wanted)
            else:
                self._annotations = load_annotations(path, self._polygons, self._masks, self._ids)
        except OSError as error:
            msg = f'{self.operator}: cannot read "{error.filename or path}": {error.strerror}.'
            raise same_class(error, msg) from error
        except DecodeError as error:
            msg = f"{self.operator}: {error}."
            raise DecodeError(msg) from None
        self._check_images()
        self._check_names()
        if self._target is not None:
            self._save(self._target)
        if self._counts_coordinates:
            self._annotations.polygons.rows *= np.array([1, 2, 2], np.int32)
        self._paths = Paths(self._annotations.names, self._file_root)
        return len(self._annotations.names)

    def _check_images(self) -> None:
        annotations = self._annotations
        for name in annotations.unlisted:
            msg = f'{self.operator}: \'images\' names "{name}", which "{self._json}" does not.'
            self._bad_samples.leave_out(name, ValueError(msg))
        if not annotations.names:
            msg = f'{self.operator}: No files found in "{self._json or self._preprocessed}".'
            raise ValueError(msg)
        if self._ids and not -(2**31) <= annotations.ids.min() <= annotations.ids.max() < 2**31:
            msg = (
                f"{self.operator}: 'image_ids' must fit into 32 bits; got {annotations.ids.max()}."
            )
            raise ValueError(msg)

    def _check_names(self) -> None:
        """Images that lie elsewhere cannot be read, unless that is allowed."""
        if not self._settings["allow_outside"]:
            for number, name in enumerate(self._annotations.names):
                if not is_below(self._file_root, name):
                    self._annotations.faults[number] = outside_error(self._file_root)

    def _save(self, folder: str) -> None:
        try:
            save_annotations(self._annotations, folder, self._polygons, self._masks, self._ids)
        except OSError as error:
            msg = f'{self.operator}: cannot write "{error.filename}": {error.strerror}.'
            raise same_class(error, msg) from error

    @property
    def categories(self) -> dict[int, str]:
        """The name of each label, as the labels are delivered."""
        names, _ = self._known_categories()
        return dict(zip(self._category_labels(), names, strict=True))

    @property
    def category_ids(self) -> dict[int, int]:
        """The number of the category in the file for each label, as the labels are delivered."""
        _, ids = self._known_categories()
        return dict(zip(self._category_labels(), ids, strict=True))

    @property
    def classes(self) -> list[str]:
        """The names of the categories, in the order of the file."""
        return list(self._known_categories()[0])

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each name of a category."""
        return {name: label for label, name in reversed(self.categories.items())}

    def _known_categories(self) -> tuple[list[str], list[int]]:
        if self._json is None:
            msg = f"{self.operator}: preprocessed annotations do not say what categories mean."
            raise AttributeError(msg)
        self.get_metadata()  # opens the index
        annotations = self._annotations
        return annotations.category_names or [], annotations.category_ids or []

    def _category_labels(self) -> list[int]:
        ids = self._known_categories()[1]
        return list(range(1, len(ids) + 1)) if self._wanted.remap_classes else ids

    def fetch(self, numbers: Numbers) -> Fetched:
        faults = self._annotations.faults
        errors: dict[int, Exception] = {}
        if faults:
            errors = {k: faults[n] for k, n in enumerate(numbers.tolist()) if n in faults}
        indices = [k for k in range(len(numbers)) if k not in errors]
        if not indices:
            return Fetched((), errors)
        outputs, failed = self._paths.read(numbers[indices])
        errors |= {indices[k]: error for k, error in failed.items()}
        if not outputs:
            return Fetched((), errors)
        good = numbers if not errors else np.delete(numbers, list(errors))
        return Fetched((*outputs, *self._describe(good)), errors)

    def _describe(self, numbers: Numbers) -> list[Any]:
        """All outputs but the images."""
        annotations, where = self._annotations, self.operator
        outputs = [
            table.samples(numbers, where) for table in (annotations.boxes, annotations.labels)
        ]
        if self._polygons:
            outputs.append(annotations.polygons.samples(numbers, where))
            outputs.append(annotations.vertices.samples(numbers, where))
        if self._masks:
            outputs.append(annotations.paint(numbers, self._ratio))
        if self._ids:
            ids = annotations.ids[numbers].astype(np.int32)[:, np.newaxis]
            outputs.append(host(to_samples(ids, None, None, where)).unfold().as_internal())
        return outputs

    def _file_name(self, number: int) -> str:
        return self._paths[number]

    def source_name(self, number: int) -> str:
        return self._paths[number]

    def _full_name(self, number: int) -> str:
        return self._paths.full(number)
