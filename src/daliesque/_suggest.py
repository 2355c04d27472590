# SPDX-License-Identifier: Apache-2.0
"""What to write in place of a name that does not exist."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import NoReturn

_LOOP = (
    "there are no pipelines; write a loop over reader.next_epoch(batch_size). "
    "`python -m daliesque convert script.py` converts pipelines"
)
_FUNCTIONS = "operators are functions of the package: ndd.resize(...)"
_FLIP = "ndd.flip(images, horizontal=ndd.random.coin_flip(batch_size=...))"
_VERTICAL_FLIP = "ndd.flip(images, vertical=ndd.random.coin_flip(batch_size=...))"
_AFFINE = "ndd.warp_affine(images, matrix=...), with ndd.transforms for the matrix"

# Names of other libraries, and what does the same here.
FOREIGN = {
    # DALI's pipeline mode.
    "Pipeline": _LOOP,
    "pipeline_def": _LOOP,
    "pipeline": _LOOP,
    "fn": _FUNCTIONS,
    "ops": _FUNCTIONS,
    "plugin": "results are handed over by .torch(), .numpy() or DLPack: ndd.Batch.torch",
    "DALIGenericIterator": "results are handed over by .torch(): " + _LOOP,
    "DALIClassificationIterator": "results are handed over by .torch(): " + _LOOP,
    "external_source": "ndd.ExternalSource",
    "python_function": "ndd.map, or the decorator ndd.operator",
    # torchvision.
    "Compose": "a plain function that calls operators one after the other",
    "ToTensor": "ndd.crop_mirror_normalize, whose result .torch() hands over",
    "PILToTensor": ".torch(); ndd.transpose changes the order of the axes",
    "ToImage": ".torch(); ndd.transpose changes the order of the axes",
    "ToDtype": "ndd.cast(images, dtype=...)",
    "ConvertImageDtype": "ndd.cast(images, dtype=...)",
    "Normalize": "ndd.crop_mirror_normalize(images, mean=..., std=...)",
    "CenterCrop": "ndd.crop(images, crop=(height, width))",
    "RandomCrop": "ndd.crop(images, crop=..., crop_pos_x=ndd.random.uniform(range=(0, 1), ...))",
    "RandomHorizontalFlip": _FLIP,
    "RandomVerticalFlip": _VERTICAL_FLIP,
    "RandomRotation": "ndd.rotate(images, angle=ndd.random.uniform(range=..., batch_size=...))",
    "RandomAffine": _AFFINE,
    "RandomPerspective": "ndd.experimental.warp_perspective(images, matrix=...)",
    "RandomApply": "an argument that differs from sample to sample, such as a probability",
    "ColorJitter": "ndd.color_twist(images, brightness=..., contrast=..., saturation=..., hue=...)",
    "Grayscale": "ndd.color_space_conversion(images, output_type=ndd.types.GRAY, ...)",
    "RandomErasing": "ndd.erase(images, anchor=..., shape=...)",
    "RandAugment": "ndd.auto_aug.rand_augment(images, ...)",
    "TrivialAugmentWide": "ndd.auto_aug.trivial_augment_wide(images, ...)",
    "AutoAugment": "ndd.auto_aug.auto_augment(images, ...)",
    "ImageFolder": "ndd.readers.File(file_root=...)",
    "DatasetFolder": "ndd.readers.File(file_root=...)",
    "CocoDetection": "ndd.readers.COCO(file_root=..., annotations_file=...)",
    "read_image": "ndd.imread(path), or ndd.decoders.image(files)",
    "decode_image": "ndd.decoders.image(files)",
    "decode_jpeg": "ndd.decoders.image(files)",
    # Albumentations.
    "HorizontalFlip": _FLIP,
    "VerticalFlip": _VERTICAL_FLIP,
    "Rotate": "ndd.rotate(images, angle=ndd.random.uniform(range=..., batch_size=...))",
    "RandomBrightnessContrast": "ndd.brightness_contrast(images, brightness=..., contrast=...)",
    "HueSaturationValue": "ndd.hsv(images, hue=..., saturation=..., value=...)",
    "ShiftScaleRotate": _AFFINE,
    "GaussNoise": "ndd.noise.gaussian(images, stddev=...)",
    "ImageCompression": "ndd.jpeg_compression_distortion(images, quality=...)",
    "Affine": _AFFINE,
    "ToTensorV2": ".torch(); ndd.transpose changes the order of the axes",
    "OneOf": "ndd.random.choice, and an argument that differs from sample to sample",
    "BboxParams": "ndd.Scene(image=..., boxes=..., labels=...)",
    "KeypointParams": "ndd.Scene(image=..., keypoints=...)",
    # PyTorch.
    "Dataset": "ndd.readers.Python(dataset)",
    "DataLoader": "a reader and ndd.prefetch(loop); ndd.readers.Python(dataset) reads data sets",
}


def advice_for(name: str, known: Iterable[str]) -> str:
    """What to write in place of `name`; `known` are all public names, with their modules."""
    found = FOREIGN.get(name)
    if found is not None:
        return f" Here: {found}."
    names = list(dict.fromkeys(known))
    # How other libraries would write a name of ours: CamelCase, or without its module.
    plain = _plain(name)
    for candidate in (plain, plain.removeprefix("random")):
        same = [other for other in names if _plain(other.rpartition(".")[2]) == candidate]
        if same:
            return f" Did you mean {_listed(same)}?"
    import difflib

    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    close = difflib.get_close_matches(snake, names, 2, 0.75)
    return f" Did you mean {_listed(close)}?" if close else ""


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _listed(names: list[str]) -> str:
    return " or ".join(f"ndd.{name}" for name in names)


def public_names() -> list[str]:
    """All public names, with their modules: `resize`, `readers.File`."""
    from ._engine.op import registry

    package = sys.modules[__package__]
    names = [*package.__all__, *registry]
    for module in ("readers", "random", "transforms", "auto_aug", "experimental.readers"):
        members = importlib.import_module(f".{module}", __package__)
        names += [f"{module}.{name}" for name in members.__all__]
    return names


def missing_from(module: str, depth: int = 1) -> Callable[[str], NoReturn]:
    """The `__getattr__` of a module: an error that says what to write.

    The program is so many frames above.
    """

    def missing(name: str) -> NoReturn:
        frame = sys._getframe(depth)
        advice = "" if name.startswith("_") else _advice_at(frame, name)
        if advice and _is_import(frame):
            # The interpreter would replace another error by one without advice.
            msg = f"cannot import name {name!r} from {module!r}.{advice}"
            raise ImportError(msg, name=module)
        msg = f"module {module!r} has no attribute {name!r}.{advice}"
        raise AttributeError(msg, name=name)

    return missing


def _advice_at(frame: FrameType, name: str) -> str:
    names = public_names()
    if name in ("fn", "ops"):
        chain = _names_after(frame)
        for length in range(len(chain), 0, -1):
            plain = _plain(".".join(chain[:length]))
            same = [other for other in names if _plain(other) == plain]
            if same:
                mixed = ', with device="gpu" for "mixed"' if plain.startswith("decoders") else ""
                written = ".".join((name, *chain[:length]))
                return f" Here: {written} is ndd.{same[0]}{mixed}."
    return advice_for(name, names)


def _names_after(frame: FrameType) -> list[str]:
    """The names that follow in the program: of `fn.decoders.image`, "decoders" and "image"."""
    import dis

    following = (part for part in dis.get_instructions(frame.f_code) if part.offset > frame.f_lasti)
    found = []
    for part in following:
        if part.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            found.append(str(part.argval))
        elif part.opname not in ("CACHE", "PUSH_NULL"):
            break
    return found


def _is_import(frame: FrameType) -> bool:
    """Whether a frame executes `from module import name`."""
    import opcode

    return frame.f_code.co_code[frame.f_lasti] == opcode.opmap["IMPORT_FROM"]
