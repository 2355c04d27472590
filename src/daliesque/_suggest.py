# SPDX-License-Identifier: Apache-2.0
"""What to write in place of a name that does not exist."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

_LOOP = (
    "there are no pipelines; write a loop over reader.next_epoch(batch_size). "
    "`python -m daliesque convert script.py` converts pipelines"
)

# Names of other libraries, and what does the same here.
FOREIGN = {
    # DALI's pipeline mode.
    "Pipeline": _LOOP,
    "pipeline_def": _LOOP,
    "pipeline": _LOOP,
    "fn": "operators are functions of the package: ndd.resize(...)",
    "ops": "operators are functions of the package: ndd.resize(...)",
    "plugin": "results are handed over by .torch(), .numpy() or DLPack: ndd.Batch.torch",
    "external_source": "ndd.ExternalSource",
    "python_function": "ndd.map, or the decorator ndd.operator",
    # torchvision.
    "Compose": "a plain function that calls operators one after the other",
    "ToTensor": "ndd.crop_mirror_normalize, whose result .torch() hands over",
    "PILToTensor": ".torch(); ndd.transpose changes the order of the axes",
    "Normalize": "ndd.crop_mirror_normalize(images, mean=..., std=...)",
    "CenterCrop": "ndd.crop(images, crop=(height, width))",
    "RandomCrop": "ndd.crop(images, crop=..., crop_pos_x=ndd.random.uniform(range=(0, 1), ...))",
    "RandomHorizontalFlip": "ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=...))",
    "RandomVerticalFlip": "ndd.flip(images, vertical=ndd.random.coin_flip(batch_size=...))",
    "RandomRotation": "ndd.rotate(images, angle=ndd.random.uniform(range=..., batch_size=...))",
    "RandomAffine": "ndd.warp_affine(images, matrix=...), with ndd.transforms for the matrix",
    "RandomPerspective": "ndd.experimental.warp_perspective(images, matrix=...)",
    "ColorJitter": "ndd.color_twist(images, brightness=..., contrast=..., saturation=..., hue=...)",
    "Grayscale": "ndd.color_space_conversion(images, output_type=ndd.types.GRAY, ...)",
    "RandomErasing": "ndd.erase(images, anchor=..., shape=...)",
    "ImageFolder": "ndd.readers.File(file_root=...)",
    # Albumentations.
    "HorizontalFlip": "ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=...))",
    "VerticalFlip": "ndd.flip(images, vertical=ndd.random.coin_flip(batch_size=...))",
    "RandomBrightnessContrast": "ndd.brightness_contrast(images, brightness=..., contrast=...)",
    "HueSaturationValue": "ndd.hsv(images, hue=..., saturation=..., value=...)",
    "ShiftScaleRotate": "ndd.warp_affine(images, matrix=...), with ndd.transforms for the matrix",
    "GaussNoise": "ndd.noise.gaussian(images, stddev=...)",
    "ImageCompression": "ndd.jpeg_compression_distortion(images, quality=...)",
    "Affine": "ndd.warp_affine(images, matrix=...), with ndd.transforms for the matrix",
    "BboxParams": "ndd.Scene(image=..., boxes=..., labels=...)",
    # PyTorch.
    "Dataset": "ndd.readers.Python(dataset)",
}


def advice_for(name: str, known: Iterable[str]) -> str:
    """What to write in place of `name`; `known` are all public names, with their modules."""
    found = FOREIGN.get(name)
    if found is not None:
        return f" Here: {found}."
    names = list(dict.fromkeys(known))
    # How other libraries would write a name of ours: CamelCase, or without its module.
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    for candidate in (snake, snake.removeprefix("random_")):
        same = [other for other in names if other.rpartition(".")[2] == candidate]
        if same:
            return f" Did you mean {_listed(same)}?"
    close = difflib.get_close_matches(snake, names, 2, 0.75)
    return f" Did you mean {_listed(close)}?" if close else ""


def _listed(names: list[str]) -> str:
    return " or ".join(f"ndd.{name}" for name in names)
