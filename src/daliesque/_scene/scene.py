# SPDX-License-Identifier: Apache-2.0
"""Scene: images together with their boxes, labels, masks and points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import numpy as np

from .._engine.arithmetic import Operators
from .._engine.batch import Batch, as_batch
from .._engine.composite import Composite
from .._engine.device import DeviceLike
from .._engine.metadata import NotKnown
from .._engine.op import Operator, registry
from .._engine.tensor import Tensor, as_tensor
from .dispatch import go_through, move_parts
from .formats import Rules
from .moves import check_counts
from .operators import still

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# What a part may be given as.
PartLike: TypeAlias = "ArrayLike | Tensor | Batch"
# What tensors and batches of no boxes, labels or points look like.
_EMPTY_SHAPES = {"boxes": (0, 4), "keypoints": (0, 2)}
_NAMED = ("image", "boxes", "labels", "masks", "keypoints", "visible")


class Scene(Composite):
    """An image, or a batch of images, with boxes, labels, masks and keypoints.

    Operators take a Scene where they take an image, and give a Scene: those that move pixels move
    all parts, with the same random draws for all of them; those that change colors change the image
    only. Parts that are batches may still be pending: nothing waits for them.

    Parameters
    ----------
    image
        A Tensor or an array with the layout HWC, CHW or HW, or a batch of such: a Batch, a list of
        arrays, or an array of 4 axes. All other parts are single or batches as the image is.
    boxes
        Boxes of the shape (boxes, 4) for each image. As for all coordinates, (0, 0) is the corner
        of the first pixel.
    labels
        A row for each box.
    masks
        For each image (height, width), the same with channels and the layout HWC or CHW, or a stack
        (boxes, height, width) of one mask for each box.
    keypoints
        Points (x, y) or (x, y, visibility), of the shape (points, 2 or 3) for each image, or
        (boxes, points, 2 or 3) for those that belong to boxes. A point that leaves the image gets
        the visibility 0; `visible` says for all of them whether they are still to be seen.
    box_format
        What the numbers of a box are: "ltrb" (left, top, right, bottom), "ltwh" (left, top, width,
        height) or "cxcywh" (center, width, height).
    relative
        Coordinates of boxes and points are fractions of the width and height of the image rather
        than pixels.
    clip
        Cut boxes to the image.
    min_visibility
        Remove boxes of which less than this part, in [0, 1], is left in the image, with all that
        belongs to them. Boxes of which nothing is left are always removed.
    min_size
        Remove boxes that are narrower or lower, in pixels.
    mask_fill
        The value of masks where there was no image.
    per_box
        Further parts, by name, that have a row for each box: whether it is a crowd, its area.
    parts
        Further parts, which are carried along: numbers of images, names of files.

    Examples
    --------
    >>> import daliesque as ndd, numpy as np
    >>> image = np.zeros((100, 200, 3), np.uint8)
    >>> scene = ndd.Scene(image=image, boxes=[[10, 20, 60, 80]], labels=[7])
    >>> ndd.flip(scene).boxes.tolist()
    [[140.0, 20.0, 190.0, 80.0]]
    >>> small = ndd.crop(scene, crop=(100, 50), crop_pos_x=1.0)
    >>> small.boxes.shape, small.labels.shape, small.image.shape
    ((0, 4), (0,), (100, 50, 3))
    """

    __slots__ = ("_others", "_parts", "_per_box", "_rules")

    _parts: dict[str, Operators[Any]]
    # Parts that are neither tensors nor batches.
    _others: dict[str, Any]
    _per_box: frozenset[str]
    _rules: Rules

    if TYPE_CHECKING:
        # Attributes of any name would make a Scene an array to type checkers.
        __array__: None
        __buffer__: None
        __reversed__: None

    def __init__(
        self,
        image: PartLike,
        boxes: PartLike | None = None,
        labels: PartLike | None = None,
        masks: PartLike | None = None,
        keypoints: PartLike | None = None,
        *,
        box_format: str = "ltrb",
        relative: bool = False,
        clip: bool = True,
        min_visibility: float = 0.0,
        min_size: float = 0.0,
        mask_fill: float = 0.0,
        per_box: Mapping[str, PartLike] | None = None,
        **parts: Any,
    ) -> None:
        self._rules = Rules.of(
            {
                "box_format": box_format,
                "relative": relative,
                "clip": clip,
                "min_visibility": min_visibility,
                "min_size": min_size,
                "mask_fill": mask_fill,
            }
        )
        rows = dict(per_box or {})
        self._per_box = frozenset({"labels", *rows})
        named = {"boxes": boxes, "labels": labels, "masks": masks, "keypoints": keypoints}
        self._parts, self._others = {}, {}
        first = _to_image(image)
        self._parts["image"] = first
        for name, value in {**named, **rows, **parts}.items():
            self._check_name(name)
            if value is None:
                continue
            if name in named or name in rows or isinstance(value, Operators):
                self._parts[name] = _to_part(name, value, first)
            else:
                self._others[name] = value
        self._check_known_counts()

    def _check_name(self, name: str) -> None:
        if not name.isidentifier() or name.startswith("_") or hasattr(Scene, name):
            if name not in _NAMED:
                msg = f"Scene: a part cannot have the name {name!r}."
                raise ValueError(msg)

    def _check_known_counts(self) -> None:
        """Compare the numbers of boxes and of what belongs to them, where they are known."""
        boxes = self._parts.get("boxes")
        known = None if boxes is None else boxes._samples
        if known is None or known.is_on_device:
            return
        counts = known.shape_array().prod(axis=1) // 4
        for name in sorted(self._per_box & set(self._parts)):
            samples = self._parts[name]._samples
            if samples is not None:
                try:
                    check_counts(cast("Any", samples), counts, name)
                except Exception as error:
                    msg = f"Scene: sample {error.args[0]} {error.args[1]}."
                    raise ValueError(msg) from None

    @property
    def image(self) -> Any:
        """The images."""
        return self._parts["image"]

    @property
    def boxes(self) -> Any:
        """The boxes, or None."""
        return self._parts.get("boxes")

    @property
    def labels(self) -> Any:
        """The labels of the boxes, or None."""
        return self._parts.get("labels")

    @property
    def masks(self) -> Any:
        """The masks, or None."""
        return self._parts.get("masks")

    @property
    def keypoints(self) -> Any:
        """The points, or None."""
        return self._parts.get("keypoints")

    @property
    def visible(self) -> Any:
        """Which points are to be seen; None before an operator has moved them."""
        return self._parts.get("visible")

    @property
    def box_format(self) -> str:
        """What the numbers of a box are."""
        return self._rules.box_format

    @property
    def relative(self) -> bool:
        """Whether coordinates are fractions of the width and height of the image."""
        return self._rules.relative

    @property
    def parts(self) -> Mapping[str, Any]:
        """All parts by name."""
        return MappingProxyType({**self._parts, **self._others})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            for parts in (self._parts, self._others):
                if name in parts:
                    return parts[name]
        msg = f"a Scene has no part {name!r}; it has {', '.join(self.parts)}"
        raise AttributeError(msg)

    def _values(self) -> dict[str, Operators[Any]]:
        """The parts that are tensors or batches."""
        return self._parts

    def _with(self, changed: Mapping[str, Any]) -> Self:
        """The same scene with some parts changed."""
        made = object.__new__(type(self))
        made._parts = {**self._parts, **changed}
        made._others = self._others
        made._per_box = self._per_box
        made._rules = self._rules
        return made

    def _only(self, *names: str) -> Self:
        """The same scene without all other parts."""
        made = self._with({})
        made._parts = {name: self._parts[name] for name in names}
        made._others = {}
        return made

    def _through(
        self,
        operator: Operator,
        inputs: tuple[Any, ...],
        batch_size: Any,
        device: Any,
        given: dict[str, Any],
    ) -> Any:
        return go_through(self, operator, inputs, batch_size, device, given)

    def replace(self, **parts: Any) -> Scene:
        """The same scene with other parts, or without those that are None.

        Examples
        --------
        >>> import daliesque as ndd, numpy as np
        >>> scene = ndd.Scene(image=np.zeros((4, 6, 3), np.uint8), labels=[1])
        >>> float_scene = scene.replace(image=scene.image / 255, labels=None)
        >>> float_scene.image.dtype == ndd.float32, float_scene.labels
        (True, None)
        """
        made = self._with({})
        made._others = dict(self._others)
        first = (
            _to_image(parts["image"]) if parts.get("image") is not None else self._parts["image"]
        )
        made._parts["image"] = first
        for name, value in parts.items():
            if name == "image":
                if value is None:
                    msg = "Scene.replace: a Scene needs an image; got None."
                    raise TypeError(msg)
                continue
            self._check_name(name)
            made._parts.pop(name, None)
            made._others.pop(name, None)
            if value is None:
                continue
            if name in _NAMED or name in self._per_box or isinstance(value, Operators):
                made._parts[name] = _to_part(name, value, first)
            else:
                made._others[name] = value
        if "keypoints" in parts and "visible" not in parts:
            made._parts.pop("visible", None)
        made._check_known_counts()
        return made

    def to_format(self, box_format: str, *, relative: bool | None = None) -> Scene:
        """The same scene with boxes of another format, cut to the image.

        Parameters
        ----------
        box_format
            As for `Scene`.
        relative
            As for `Scene`; by default as it is. Points are converted, too.

        Examples
        --------
        >>> import daliesque as ndd, numpy as np
        >>> scene = ndd.Scene(image=np.zeros((100, 200, 3), np.uint8), boxes=[[10, 20, 60, 80]])
        >>> scene.to_format("cxcywh").boxes.tolist()
        [[35.0, 50.0, 50.0, 60.0]]
        """
        asked = {"box_format": box_format}
        if relative is not None:
            asked["relative"] = cast("Any", relative)
        rules = Rules.of({**self._rules._asdict(), **asked})
        moved = move_parts(self, registry["copy"], still, (), None, {}, rules)
        made = self._with(moved)
        made._rules = rules
        return made

    def __len__(self) -> int:
        image = self._parts["image"]
        if not isinstance(image, Batch):
            msg = "a Scene of a single image has no length"
            raise TypeError(msg)
        return len(image)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, key: Any) -> Scene:
        """One scene for a number, a Scene of batches for a slice or a list of numbers."""
        if not isinstance(self._parts["image"], Batch):
            msg = "a Scene of a single image has no [...]. Index its parts, such as scene.boxes[0]"
            raise TypeError(msg)
        made = self._with({name: part.select(key) for name, part in self._batches().items()})
        return made

    def _batches(self) -> dict[str, Batch]:
        return {name: cast("Batch", part) for name, part in self._parts.items()}

    def __iter__(self) -> Iterator[Scene]:
        return (self[number] for number in range(len(self)))

    @property
    def device(self) -> Any:
        """Where the images are."""
        return self._parts["image"].device

    def to_device(self, device: DeviceLike) -> Scene:
        """The scene with its images and masks on a device.

        Boxes, labels and points, which are few numbers, stay in CPU memory, where they are moved.
        """
        names = self._parts if str(device).startswith("cpu") else ("image", "masks")
        parts: dict[str, Any] = {name: self._parts[name] for name in names if name in self._parts}
        return self._with({name: part.to_device(device) for name, part in parts.items()})

    def to(self, device: DeviceLike) -> Scene:
        """The scene with its images and masks on a device, as `to_device`."""
        return self.to_device(device)

    def cpu(self) -> Scene:
        """The scene in CPU memory."""
        return self.to_device("cpu")

    def gpu(self, index: int | None = None) -> Scene:
        """The scene with its images and masks on an accelerator."""
        return self.to_device("gpu" if index is None else f"gpu:{index}")

    def evaluate(self) -> Scene:
        """Wait for all parts and return the scene itself."""
        for part in self._parts.values():
            part._data()
        return self

    def torch(self, pad: bool = False) -> dict[str, Any]:
        """The parts as PyTorch tensors, by name.

        Of a batch, images, masks of pixels and further parts become one tensor each, and what
        belongs to boxes or points becomes a list of tensors, one for each image.

        Parameters
        ----------
        pad
            Pad with zeros to the largest extents, and make one tensor of each part.

        Examples
        --------
        >>> import daliesque as ndd, numpy as np
        >>> images = np.zeros((2, 4, 6, 3), np.uint8)
        >>> scene = ndd.Scene(image=images, boxes=[[[0, 0, 1, 1]], []])
        >>> converted = scene.torch()
        >>> converted["image"].shape, [len(boxes) for boxes in converted["boxes"]]
        (torch.Size([2, 4, 6, 3]), [1, 0])
        """
        return self._converted(
            lambda batch: batch.torch(pad=pad), lambda sample: sample.torch(), pad
        )

    def numpy(self, pad: bool = False) -> dict[str, Any]:
        """The parts as NumPy arrays, by name, as `torch` makes tensors of them.

        Examples
        --------
        >>> import daliesque as ndd, numpy as np
        >>> scene = ndd.Scene(image=np.zeros((4, 6, 3), np.uint8), boxes=[[0, 0, 1, 1]])
        >>> scene.numpy()["boxes"].shape
        (1, 4)
        """
        return self._converted(
            lambda batch: batch.numpy(pad=pad), lambda sample: sample.numpy(), pad
        )

    def _converted(self, stack: Any, convert: Any, pad: bool) -> dict[str, Any]:
        ragged = self._per_box | {"boxes", "keypoints", "visible"}
        found: dict[str, Any] = dict(self._others)
        for name, part in self._parts.items():
            part = cast("Any", part)
            part = part if name == "image" else part.cpu()
            if not isinstance(part, Batch):
                found[name] = convert(part)
            elif pad or not (name in ragged or (name == "masks" and self._has_stacks())):
                found[name] = stack(part)
            else:
                found[name] = [convert(sample) for sample in part]
        return found

    def _has_stacks(self) -> bool:
        """Whether there is a mask for each box."""
        masks = self._parts["masks"]
        return masks.ndim == 3 and masks.layout not in ("HWC", "CHW")

    def show(
        self,
        *,
        columns: int | None = None,
        size: int = 224,
        save: str | PathLike[str] | None = None,
    ) -> None:
        """Show the images with their boxes, labels, masks and points; see `Batch.show`.

        Parameters
        ----------
        columns
            How many samples stand side by side.
        size
            The longer side of a sample in the picture, in pixels.
        save
            The name of a file to write, in place of showing the picture.

        Examples
        --------
        >>> import daliesque as ndd, numpy as np
        >>> scene = ndd.Scene(
        ...     image=np.zeros((100, 200, 3), np.uint8), boxes=[[10, 20, 60, 80]], labels=[7]
        ... )
        >>> scene.show(save="scene.png")
        """
        image, drawn = self._pictured()
        image.show(**drawn, columns=columns, size=size, save=save)

    def _repr_html_(self) -> str:
        image, drawn = self._pictured()
        text: str = image._repr_html_(**drawn)
        return text

    def _pictured(self) -> tuple[Any, dict[str, Any]]:
        """The image, and what is drawn over it."""
        plain = self.to_format("ltrb", relative=False)
        drawn: dict[str, Any] = {
            name: plain._parts.get(name) for name in ("labels", "boxes", "masks")
        }
        points: Any = plain.keypoints
        if points is not None:
            rows = [array.reshape(-1, array.shape[-1]) for array in _arrays(points)]
            if plain.visible is not None and rows[0].shape[-1] == 2:
                seen = [array.reshape(-1, 1) for array in _arrays(plain.visible)]
                rows = [np.concatenate(pair, axis=1) for pair in zip(rows, seen, strict=True)]
            points = rows if isinstance(self.image, Batch) else rows[0]
        return plain.image, {**drawn, "keypoints": points}

    def __repr__(self) -> str:
        image = self._parts["image"]
        count = f"{len(self)} samples, " if isinstance(image, Batch) else ""
        lines = [_described(name, part) for name, part in self._parts.items()]
        lines += [f"{name}: {type(value).__name__}" for name, value in self._others.items()]
        unit = "relative" if self.relative else "pixels"
        return f"Scene({count}boxes {self.box_format} in {unit}; {'; '.join(lines)})"

    def __reduce__(self) -> Any:
        state = (self._parts, self._others, self._per_box, self._rules)
        return _rebuild, state


def _rebuild(
    parts: dict[str, Any], others: dict[str, Any], per_box: frozenset[str], rules: Rules
) -> Scene:
    made = object.__new__(Scene)
    made._parts, made._others = parts, others
    made._per_box, made._rules = per_box, rules
    return made


def _arrays(value: Operators[Any]) -> list[Any]:
    """The samples of a value as arrays."""
    samples = value.tensors if isinstance(value, Batch) else [value]
    return [np.asarray(sample.cpu()) for sample in cast("list[Tensor]", samples)]


def _described(name: str, part: Operators[Any]) -> str:
    """A part in a few words, without waiting for it."""
    try:
        metadata = part._metadata()
        words = [metadata.dtype.full_name, metadata.layout or f"{metadata.ndim} axes"]
    except NotKnown:
        words = ["pending"]
    if isinstance(part, Tensor) and part._samples is not None:
        words[1:] = [str(part.shape)]
    return f"{name}: {' '.join(words)}"


def _to_image(value: Any) -> Any:
    """Images as a Tensor or a Batch with a layout."""
    if value is None:
        msg = "Scene: 'image' must be an image or a batch of images; got None."
        raise TypeError(msg)
    if isinstance(value, Tensor | Batch):
        return value
    if isinstance(value, list | tuple) or getattr(value, "ndim", 3) == 4:
        made: Any = as_batch(value)
    else:
        made = as_tensor(value)
    layout = {2: "HW", 3: "HWC"}.get(made.ndim)
    if layout is None:
        msg = f"Scene: 'image' needs the layout HWC, CHW or HW; got {made.ndim} axes."
        raise ValueError(msg)
    return (
        as_batch(made, layout=layout) if isinstance(made, Batch) else as_tensor(made, layout=layout)
    )


def _to_part(name: str, value: Any, image: Any) -> Any:
    """A part as a Batch if the image is one, otherwise as a Tensor."""
    is_batch = isinstance(image, Batch)
    if isinstance(value, Tensor | Batch):
        if isinstance(value, Batch) != is_batch:
            kind, other = ("a Batch", "a Tensor") if is_batch else ("a Tensor", "a Batch")
            msg = f"Scene: 'image' is {kind}, but '{name}' is {other}. Give both as {kind}."
            raise TypeError(msg)
        made = value
    elif is_batch:
        made = as_batch([_sample(name, item) for item in value])
    else:
        made = as_tensor(_sample(name, value))
    if is_batch and len(made) != len(image):
        msg = f"Scene: '{name}' has {len(made)} samples, but 'image' {len(image)}."
        raise ValueError(msg)
    return made


def _sample(name: str, value: Any) -> Any:
    """One sample of a part; an empty list has the right number of axes."""
    if isinstance(value, list | tuple) and len(value) == 0:
        shape = _EMPTY_SHAPES.get(name, (0,))
        return np.zeros(shape, np.float32 if name in _EMPTY_SHAPES else np.int32)
    return value
