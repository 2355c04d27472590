# SPDX-License-Identifier: Apache-2.0
"""The rows of augment.py with other libraries, each in the way that is fastest for it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Call = Callable[[], Any]
BOXES = 5


class Data:
    """The images of a batch, their labels and boxes (left, top, right, bottom) in pixels."""

    num_classes = 1000

    def __init__(self, images: list[Array]) -> None:
        rng = np.random.default_rng(2)
        self.images = images
        self.labels = rng.integers(0, self.num_classes, len(images))
        self.relative_boxes = []
        self.boxes = []
        for image in images:
            height, width = image.shape[:2]
            corners = np.sort(rng.uniform(0, 0.9, (BOXES, 2, 2)), axis=1)
            corners[:, 1] += 0.1
            relative = corners.reshape(BOXES, 4).astype(np.float32)
            self.relative_boxes.append(relative)
            self.boxes.append(relative * np.array([width, height] * 2, np.float32))
        self.is_uniform = len({image.shape for image in images}) == 1


def faster(first: Call, second: Call) -> Call:
    """Of two ways to do the same, the one that takes less CPU time."""
    times = []
    for call in (first, second):
        call()
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return first if times[0] <= times[1] else second


def torchvision_calls(data: Data) -> dict[str, Call]:
    """With torchvision v2: tensors of bytes or images of Pillow, one by one."""
    import torch
    from PIL import Image
    from torchvision import tv_tensors
    from torchvision.transforms import v2

    tensors = [torch.from_numpy(image).permute(2, 0, 1).contiguous() for image in data.images]
    pictures = [Image.fromarray(image) for image in data.images]
    linear = v2.InterpolationMode.BILINEAR

    def each(transform: Any) -> Call:
        return faster(
            lambda: [transform(image) for image in tensors],
            lambda: [transform(image) for image in pictures],
        )

    samples = [
        {
            "image": tv_tensors.Image(tensor),
            "boxes": tv_tensors.BoundingBoxes(  # type: ignore[call-overload]
                torch.from_numpy(boxes), format="XYXY", canvas_size=tuple(tensor.shape[1:])
            ),
            "labels": torch.zeros(len(boxes), dtype=torch.int64),
        }
        for tensor, boxes in zip(tensors, data.boxes, strict=True)
    ]
    chain = v2.Compose(
        [
            v2.RandomHorizontalFlip(),
            v2.RandomRotation(10, interpolation=linear),
            v2.RandomIoUCrop(min_scale=0.5, sampler_options=[0.0]),
            v2.ColorJitter(0.3, 0.3, 0.3),
            v2.GaussianBlur(5, 1.0),
            v2.SanitizeBoundingBoxes(),
        ]
    )
    calls: dict[str, Call] = {
        "rand_augment": each(v2.RandAugment(num_ops=2, magnitude=9, interpolation=linear)),
        "auto_augment": each(v2.AutoAugment(interpolation=linear)),
        "trivial_augment": each(v2.TrivialAugmentWide(interpolation=linear)),
        "detection": lambda: [chain(sample) for sample in samples],
    }
    if data.is_uniform:
        stacked = torch.stack(tensors)
        labels = torch.from_numpy(data.labels)
        mixes = itertools.cycle(
            [mix(num_classes=data.num_classes) for mix in (v2.MixUp, v2.CutMix)]
        )
        to_float = v2.ToDtype(torch.float32, scale=True)
        # Only floats can be blended.
        calls["mixup+cutmix"] = lambda: next(mixes)(to_float(stacked), labels)
    return calls


def _albumentations_operators(strength: float) -> dict[str, Any]:
    """The operators of RandAugment, each always and with magnitudes up to a fraction."""
    import albumentations as A

    angle, shear, shift = 30 * strength, np.rad2deg(0.3 * strength), 0.45 * strength
    factor = (1 - 0.9 * strength, 1 + 0.9 * strength)
    off = (0.0, 0.0)

    def jitter(**given: Any) -> Any:
        rest = dict.fromkeys(("brightness", "contrast", "saturation"), (1.0, 1.0))
        return A.ColorJitter(**{**rest, "hue": off, **given}, p=1)

    return {
        "translate_x": A.Affine(translate_percent={"x": (-shift, shift), "y": off}, p=1),
        "translate_y": A.Affine(translate_percent={"x": off, "y": (-shift, shift)}, p=1),
        "shear_x": A.Affine(shear={"x": (-shear, shear), "y": off}, p=1),
        "shear_y": A.Affine(shear={"x": off, "y": (-shear, shear)}, p=1),
        "rotate": A.Rotate(limit=(-angle, angle), p=1),
        "brightness": jitter(brightness=factor),
        "contrast": jitter(contrast=factor),
        "color": jitter(saturation=factor),
        "sharpness": A.Sharpen(alpha=(0.0, 0.9 * strength), p=1),
        "posterize": A.Posterize(num_bits=(4, 4), p=1),
        "solarize": A.Solarize(threshold_range=(1 - strength, 1 - strength), p=1),
        "solarize_add": A.RGBShift((30, 30), (30, 30), (30, 30), p=1),
        "equalize": A.Equalize(p=1),
        "auto_contrast": A.AutoContrast(p=1),
        "invert": A.InvertImg(p=1),
        "identity": A.NoOp(p=1),
    }


def albumentations_calls(data: Data) -> dict[str, Call]:
    """With Albumentations: arrays of bytes, one by one. Policies are composed of its operators."""
    import albumentations as A
    import cv2

    from daliesque._shapes.suites import auto_augment_sub_policies

    # Threads of OpenCV cost more than they bring for images of this size.
    cv2.setNumThreads(1)

    def each(transform: Any) -> Call:
        return lambda: [transform(image=image)["image"] for image in data.images]

    names = [n for n in _albumentations_operators(1.0) if n not in ("solarize_add", "invert")]
    medium, full = _albumentations_operators(9 / 30), _albumentations_operators(1.0)
    policy = []
    for steps in auto_augment_sub_policies("image_net", 100):
        parts = []
        for augmentation, probability, number in steps:
            made = _albumentations_operators((number or 5) / 10)[augmentation.name]
            made.p = probability
            parts.append(made)
        policy.append(A.Sequential(parts, p=1))
    chain = A.Compose(
        [
            A.HorizontalFlip(p=0.5),
            A.Rotate(limit=10, p=1),
            A.RandomSizedBBoxSafeCrop(224, 224, p=1)
            if data.is_uniform
            else A.BBoxSafeRandomCrop(p=1),
            A.ColorJitter((0.7, 1.3), (0.7, 1.3), (0.7, 1.3), (0, 0), p=1),
            A.GaussianBlur(blur_limit=(5, 5), sigma_limit=(1, 1), p=1),
        ],
        bbox_params=A.BboxParams(format="pascal_voc", label_fields=["labels"]),
    )
    classes = np.zeros(BOXES)
    return {
        "rand_augment": each(A.Compose([A.SomeOf([medium[n] for n in names], n=2, p=1)])),
        "auto_augment": each(A.Compose([A.OneOf(policy, p=1)])),
        "trivial_augment": each(A.Compose([A.OneOf([full[n] for n in names], p=1)])),
        "detection": lambda: [
            chain(image=image, bboxes=boxes, labels=classes)
            for image, boxes in zip(data.images, data.boxes, strict=True)
        ],
    }


def kornia_calls(data: Data) -> dict[str, Call]:
    """With kornia: floats, in batches of equally large images."""
    import kornia.augmentation as K
    import torch
    from kornia.augmentation import auto

    groups: dict[Any, list[int]] = {}
    for number, image in enumerate(data.images):
        groups.setdefault(image.shape, []).append(number)
    stacks = [
        torch.stack([torch.from_numpy(data.images[i]).permute(2, 0, 1) for i in chosen]) / 255.0
        for chosen in groups.values()
    ]
    boxes = [
        torch.stack([torch.from_numpy(data.boxes[i]) for i in chosen]) for chosen in groups.values()
    ]

    def each(transform: Any) -> Call:
        return lambda: [transform(stack) for stack in stacks]

    chain = K.AugmentationSequential(
        K.RandomHorizontalFlip(p=0.5),
        K.RandomRotation(10.0, p=1.0),
        K.RandomResizedCrop((224, 224), scale=(0.5, 1.0), p=1.0),
        K.ColorJitter(0.3, 0.3, 0.3, 0.0, p=1.0),
        K.RandomGaussianBlur((5, 5), (1.0, 1.0), p=1.0),
        data_keys=["input", "bbox_xyxy"],
    )
    calls: dict[str, Call] = {
        "rand_augment": each(auto.RandAugment(n=2, m=9)),
        "auto_augment": each(auto.AutoAugment("imagenet")),
        "trivial_augment": each(auto.TrivialAugment()),
        "detection": lambda: [
            chain(stack, part) for stack, part in zip(stacks, boxes, strict=True)
        ],
    }
    if data.is_uniform:
        labels = torch.from_numpy(data.labels)
        keys = ["input", "class"]
        mixes = itertools.cycle(
            [K.RandomMixUpV2(p=1.0, data_keys=keys), K.RandomCutMixV2(p=1.0, data_keys=keys)]
        )
        calls["mixup+cutmix"] = lambda: next(mixes)(stacks[0], labels)
    torch.set_grad_enabled(False)
    return calls
