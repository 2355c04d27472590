# SPDX-License-Identifier: Apache-2.0
"""Operators that apply to each sample what a policy draws for it.

In CPU memory, one kernel takes each sample through the augmentations that were drawn for it.
Elsewhere, and if functions of the caller are among them, the samples that drew the same are
processed together, by a kernel for it; others are not touched. `stages_of` and `maps_of` say what
happens to each sample without touching pixels.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from .. import _kernels
from .._engine.args import IntsPerSample, Rule
from .._engine.batch import Batch
from .._engine.dtype import uint8
from .._engine.enums import DALIInterpType
from .._engine.metadata import Result
from .._engine.modes import EvalMode, call_in
from .._engine.op import RandomState, Samples, op
from .._shapes.draws import (
    Floats,
    Integers,
    as_rows,
    beta_rows,
    check_alpha,
    dirichlet_rows,
    sequences,
    split,
    uniform_rows,
)
from .._shapes.policies import (
    Augmentation,
    InOrder,
    Policy,
    RandomChoices,
    Stage,
    SubPolicies,
    shift_enhance_range,
)
from .._shapes.windows import Border
from .color import saturated
from .filters import sharpened
from .tone import curve_rows
from .warp import (
    LINEAR,
    WARP_INTERP,
    check_interp,
    check_moves,
    moved,
    rotation_maps,
    shear_maps,
    translation_maps,
)

Curve = _kernels.Curve
Step = _kernels.AugmentStep

_NOTHING = np.zeros(1, np.float32)
_ONE = np.ones(1, np.float32)
_MIDDLE = 128
_MOVING = ("shear_x", "shear_y", "translate_x", "translate_y", "rotate")


class Canvas(NamedTuple):
    """What augmentations that move pixels need besides their parameter."""

    fill_value: float | None
    interp: DALIInterpType
    # Extents (height, width) that translations are relative to; None if they are in pixels.
    extents: Integers | None

    def of(self, rows: Integers) -> Canvas:
        """The same for some of the samples."""
        return self if self.extents is None else self._replace(extents=self.extents[rows])


def _maps(
    name: str, parameters: Floats, sizes: Integers, canvas: Canvas, rows: Integers
) -> Floats | None:
    """Maps from the results of an augmentation to its inputs, which are `rows` of the batch.

    None if it leaves pixels where they are.
    """
    axis = 0 if name.endswith("x") else 1
    if name == "rotate":
        return rotation_maps(parameters, sizes)
    if name.startswith("shear"):
        return shear_maps(parameters, axis)
    if name.startswith("translate"):
        if canvas.extents is not None:
            extents = canvas.extents[rows, 1 - axis].astype(np.float32)
            parameters = (parameters * extents).astype(np.float32)
        return translation_maps(parameters, axis)
    return None


# What a kernel takes each sample through, by the names of augmentations.
_STEPS = {
    "identity": Step.none.value,
    **dict.fromkeys(_MOVING, Step.move.value),
    "brightness": Step.brightness.value,
    "contrast": Step.contrast.value,
    "color": Step.color.value,
    "sharpness": Step.sharpness.value,
    "posterize": Step.posterize.value,
    "solarize": Step.solarize.value,
    "solarize_add": Step.add_below.value,
    "invert": Step.invert.value,
    "equalize": Step.equalize.value,
    "auto_contrast": Step.autocontrast.value,
}
# Whose parameters are not those of the kernel.
_CONVERTED = ("posterize", "solarize_add", "sharpness")
_CURVES = {
    "posterize": Curve.posterize,
    "solarize": Curve.solarize,
    "solarize_add": Curve.add_below,
    "invert": Curve.invert,
}


def _step_rows(name: str, parameters: Floats) -> Floats:
    """The two parameters of the kernel of an augmentation, for each sample."""
    match name:
        case "posterize":
            # At least one bit, so that no image becomes black.
            return curve_rows(np.clip(np.round(parameters), 1, 8))
        case "solarize_add":
            return curve_rows(np.full(1, _MIDDLE, np.float32), np.floor(parameters))
        case "sharpness":
            return curve_rows(parameters - np.float32(1))
    return curve_rows(parameters)


def _changed(name: str, images: Samples, parameters: Floats) -> Samples:
    """Images after an augmentation that leaves pixels where they are."""
    kernels = images.kernels
    rows = _step_rows(name, parameters)
    if name in _CURVES:
        return kernels.apply_curve(images, _CURVES[name], rows, 0)
    first = np.ascontiguousarray(rows[:, 0])
    match name:
        case "brightness":
            return kernels.brightness_contrast(images, images.type_id, first, _NOTHING, _ONE, None)
        case "contrast":
            return kernels.mean_contrast(images, first)
        case "color":
            return saturated(images, first)
        case "sharpness":
            return sharpened(images, first)
        case "equalize":
            return kernels.equalize(images, 0)
        case "auto_contrast":
            return kernels.autocontrast(images, 0)
    return images


def _by_function(augmentation: Augmentation, images: Samples, parameters: Floats) -> Samples:
    """The same by a function of the caller, which sees batches."""
    assert not isinstance(augmentation.operator, str)
    magnitudes = Batch._of(as_rows(parameters, "auto_aug"))
    result = call_in(EvalMode.sync_cpu, augmentation.operator, Batch._of(images), magnitudes)
    if isinstance(result, Batch):
        made = result._data()
        same = made.type_id == images.type_id and made.shapes == images.shapes
        if same and made.is_on_device == images.is_on_device:
            return made.with_layout(images.layout)
    msg = (
        f"the augmentation {augmentation.name!r} must return a Batch of the type and shapes that "
        f"it got; got {result!r}."
    )
    raise ValueError(msg)


def _groups(policy: Policy) -> tuple[Integers, int]:
    """For each augmentation the number of the first that is processed with it, or -1 for nothing.

    All that move pixels by a matrix are, whatever the matrix. Also the number of these.
    """
    numbers = np.arange(len(policy.augmentations) + 1)
    # What numbers stand for nothing: the last entry is for -1.
    numbers[-1] = -1
    moving = -2
    for number, augmentation in enumerate(policy.augmentations):
        if augmentation.operator == "identity":
            numbers[number] = -1
        elif augmentation.operator in _MOVING:
            moving = number if moving < 0 else moving
            numbers[number] = moving
    return numbers, moving


def _run(images: Samples, policy: Policy, stage: Stage, canvas: Canvas) -> Samples:
    """One stage: the samples that drew the same augmentation are processed together."""
    groups, moving = _groups(policy)
    drawn = groups[stage.numbers]
    order = np.argsort(drawn, kind="stable")
    numbers, begins = np.unique(drawn[order], return_index=True)
    if numbers.tolist() == [-1] or len(order) == 0:
        return images
    parts = []
    for number, rows in zip(numbers.tolist(), np.split(order, begins[1:]), strict=True):
        part = images.select(rows.tolist())
        if number == moving:
            own = Stage(stage.numbers[rows], stage.parameters[rows])
            maps = maps_of(policy, own, part.shape_array()[:, :2], canvas.of(rows))
            part = moved(part, maps, canvas.fill_value, canvas.interp)
        elif number >= 0:
            augmentation = policy.augmentations[number]
            name, parameters = augmentation.operator, stage.parameters[rows]
            if isinstance(name, str):
                part = _changed(name, part, parameters)
            else:
                part = _by_function(augmentation, part, parameters)
        parts.append(part)
    joined = images.kernels.join(parts) if len(parts) > 1 else parts[0]
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    return joined.select(back.tolist())


def _run_all(images: Samples, policy: Policy, stages: list[Stage], canvas: Canvas) -> Samples:
    """All stages of a policy."""
    names = [augmentation.operator for augmentation in policy.augmentations]
    if isinstance(images, _kernels.Samples) and all(isinstance(name, str) for name in names):
        return _run_each(images, policy, stages, canvas)
    for stage in stages:
        images = _run(images, policy, stage, canvas)
    return images


def _run_each(
    images: _kernels.Samples, policy: Policy, stages: list[Stage], canvas: Canvas
) -> _kernels.Samples:
    """The same one sample after the other: what a stage leaves is still in the cache."""
    count = len(images)
    kinds = np.zeros((count, len(stages)), np.int32)
    parameters = np.zeros((count, len(stages), 2), np.float32)
    matrices = np.zeros((count, len(stages), 6), np.float32)
    sizes = np.ascontiguousarray(images.shape_array()[:, :2])
    names = [str(augmentation.operator) for augmentation in policy.augmentations]
    # The last one is for -1.
    steps = np.array([*map(_STEPS.__getitem__, names), Step.none.value], np.int32)
    for k, stage in enumerate(stages):
        kinds[:, k] = steps[stage.numbers]
        parameters[:, k, 0] = stage.parameters
        for number, name in enumerate(names):
            if name not in _MOVING and name not in _CONVERTED:
                continue
            rows = np.flatnonzero(stage.numbers == number)
            if len(rows) == 0:
                continue
            own = stage.parameters[rows]
            maps = _maps(name, own, sizes[rows], canvas, rows)
            if maps is None:
                parameters[rows, k] = _step_rows(name, own)
            else:
                matrices[rows, k] = maps
    if (kinds == Step.move.value).any():
        check_moves(images, sizes, canvas.fill_value, canvas.interp)
    # Samples for which nothing was drawn are not copied.
    changed = kinds.any(axis=1)
    rows, others = np.flatnonzero(changed), np.flatnonzero(~changed)
    if len(rows) == 0:
        return images
    made = _kernels.augment(
        images.select(rows.tolist()) if len(others) else images,
        kinds=kinds[rows],
        parameters=parameters[rows].reshape(len(rows), -1),
        matrices=matrices[rows].reshape(len(rows), -1),
        interp=WARP_INTERP[canvas.interp],
        border=Border.clamp if canvas.fill_value is None else Border.constant,
        fill=[canvas.fill_value or 0.0],
    )
    if len(others) == 0:
        return made
    order = np.argsort(np.concatenate([rows, others]), kind="stable")
    return _kernels.join([made, images.select(others.tolist())]).select(order.tolist())


class _PolicyRule(Rule):
    """A policy, or a list of steps that is one."""

    _expected = "must be a list of (operator, magnitude range, probability)"

    def convert(self, value: Any, where: str) -> Policy:
        if isinstance(value, RandomChoices | SubPolicies | InOrder):
            return value
        if not isinstance(value, list | tuple) or not value:
            msg = f"{where} {self._expected}; got {value!r}."
            raise TypeError(msg)
        return InOrder([self._step(step, where) for step in value])

    def _step(self, step: Any, where: str) -> tuple[Augmentation, float]:
        rule = self._expected
        if not isinstance(step, list | tuple) or len(step) != 3:
            msg = f"{where} {rule}; got {step!r} in it."
            raise TypeError(msg)
        operator, mag_range, probability = step
        if not isinstance(operator, Augmentation):
            if not isinstance(operator, str) and not callable(operator):
                msg = f"{where} {rule}; got the operator {operator!r}."
                raise TypeError(msg)
            operator = Augmentation(operator)
        if mag_range is not None:
            ends = np.asarray(mag_range, np.float64).ravel()
            if len(ends) != 2 or not np.isfinite(ends).all():
                msg = f"{where} {rule}; got the magnitude range {mag_range!r}."
                raise ValueError(msg)
            operator = operator.augmentation(mag_range=(float(ends[0]), float(ends[1])))
        if not 0 <= probability <= 1:
            msg = f"{where} {rule}; got the probability {probability!r}."
            raise ValueError(msg)
        return operator, float(probability)


PolicyArgument = Annotated[Any, _PolicyRule()]


def _check_channels(images: Samples) -> None:
    for sample, shape in enumerate(images.shapes):
        if shape[-1] not in (1, 3):
            msg = f"images must have 1 or 3 channels; got the shape {shape} (sample {sample})."
            raise ValueError(msg)


def stages_of(
    policy: Policy, rng: RandomState, count: int, frame_counts: Integers | None = None
) -> list[Stage]:
    """What a policy draws for `count` samples, or for the sequences whose frames they are."""
    drawn, owner = sequences(frame_counts, count)
    return policy.stages(uniform_rows(rng, drawn, policy.width)[owner])


def maps_of(policy: Policy, stage: Stage, sizes: Integers, canvas: Canvas) -> Floats:
    """By which 2x3 matrices a stage moves the pixels of images of sizes (height, width).

    They lead from the result to the input; samples that a stage does not move have the identity.
    """
    matrices = np.tile(np.array([1, 0, 0, 0, 1, 0], np.float32), (len(sizes), 1))
    for number, augmentation in enumerate(policy.augmentations):
        rows = np.flatnonzero(stage.numbers == number)
        name = augmentation.operator
        if len(rows) == 0:
            continue
        if not isinstance(name, str):
            msg = (
                f"what the augmentation {augmentation.name!r} moves is not known. Use it on images "
                "only."
            )
            raise ValueError(msg)
        maps = _maps(name, stage.parameters[rows], sizes[rows], canvas, rows)
        if maps is not None:
            matrices[rows] = maps
    return matrices


def canvas_of(
    fill_value: float, repeat_border: bool, interp: DALIInterpType, shape: Integers | None, n: int
) -> Canvas:
    check_interp(interp)
    extents = None
    if shape is not None:
        if shape.shape[1] < 2:
            msg = f"'shape' needs height and width; got {shape.shape[1]} value."
            raise ValueError(msg)
        extents = np.broadcast_to(shape, (n, shape.shape[1]))
    return Canvas(None if repeat_border else fill_value, interp, extents)


@op(
    name="auto_aug.apply",
    layouts="HWC FHWC",
    dtypes=(uint8,),
    sequences=True,
    result=Result(shape="input"),
    weight=4,
)
def apply(
    images: Samples,
    /,
    *,
    policy: PolicyArgument,
    shape: IntsPerSample | None = None,
    fill_value: float = 128.0,
    repeat_border: bool = False,
    interp_type: DALIInterpType = LINEAR,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Apply to each image what a policy draws for it.

    Parameters
    ----------
    policy
        A list of triples (operator, magnitude range, probability): each image gets the operators in
        this order, each with its probability and a magnitude drawn from its range. An operator is
        the name of an augmentation, an `Augmentation`, or a function that takes a Batch of images
        and a Batch with a magnitude for each. The magnitude range is a pair of numbers, or None.
    shape
        Height and width of the images, for policies whose translations are relative to them.
    fill_value
        What lies outside of images that are moved.
    repeat_border
        The border pixels of images repeat instead.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`, for images that are moved.
    rng
        The generator to draw from. All frames of a sequence get the same.

    Examples
    --------
    >>> images = ndd.batch(np.full((2, 1, 1, 3), 200, np.uint8), layout="HWC")
    >>> policy = [("solarize", (100, 150), 1.0), ("posterize", (8, 8), 0.5)]
    >>> ndd.auto_aug.apply(images, policy=policy).torch().flatten().tolist()
    [55, 55, 55, 55, 55, 55]
    """
    _check_channels(images)
    canvas = canvas_of(fill_value, repeat_border, interp_type, shape, len(images))
    return _run_all(images, policy, stages_of(policy, rng, len(images), frame_counts), canvas)


@op(
    name="auto_aug.augmix",
    layouts="HWC FHWC",
    dtypes=(uint8,),
    sequences=True,
    result=Result(shape="input"),
    weight=8,
)
def augmix(
    images: Samples,
    /,
    *,
    severity: int = 3,
    mixture_width: int = 3,
    chain_depth: int = -1,
    alpha: float = 1.0,
    all_ops: bool = True,
    fill_value: float = 128.0,
    interp_type: DALIInterpType = LINEAR,
    rng: RandomState,
    frame_counts: Integers | None = None,
) -> Samples:
    """Mix each image with augmented ones (AugMix, https://arxiv.org/abs/1912.02781).

    Parameters
    ----------
    severity
        The strongest magnitude of augmentations, 1 to 10.
    mixture_width
        How many augmented images are mixed.
    chain_depth
        How many augmentations each of them gets, one after the other; -1 for 1 to 3 at random.
    alpha
        Parameter of the Dirichlet and beta distributions that weights are drawn from.
    all_ops
        Also change brightness, contrast, color and sharpness.
    fill_value
        What lies outside of images that are moved.
    interp_type
        `INTERP_NN` or `INTERP_LINEAR`, for images that are moved.
    rng
        The generator to draw from. All frames of a sequence get the same.

    Examples
    --------
    >>> images = ndd.batch(np.full((2, 8, 8, 3), 200, np.uint8), layout="HWC")
    >>> ndd.auto_aug.augmix(images).shape
    [(8, 8, 3), (8, 8, 3)]
    """
    _check_augmix(severity, mixture_width, chain_depth, alpha)
    _check_channels(images)
    count, owner = sequences(frame_counts, len(images))
    state, weights_state, *chains = split(rng, 2 + mixture_width)
    own = beta_rows(state, count, [alpha], [alpha])
    shares = dirichlet_rows(weights_state, count, alpha, mixture_width) * (1 - own)
    deepest = chain_depth if chain_depth > 0 else _DEEPEST
    policy = RandomChoices(_augmix_suite(severity, all_ops), deepest, severity, None)
    sizes = np.ascontiguousarray(images.shape_array()[:, :2])
    check_interp(interp_type)
    canvas = Canvas(fill_value, interp_type, sizes)
    mixed = [images]
    for chain in chains:
        numbers = uniform_rows(chain, count, policy.width + 1)[owner]
        depth = np.floor(numbers[:, -1] * _DEEPEST) + 1 if chain_depth < 0 else chain_depth
        stages = [
            Stage(np.where(step < depth, stage.numbers, -1), stage.parameters)
            for step, stage in enumerate(policy.stages(numbers[:, :-1]))
        ]
        mixed.append(_run_all(images, policy, stages, canvas))
    weights = np.concatenate([own, shares], axis=1)[owner]
    return images.kernels.mix(mixed, np.ascontiguousarray(weights, np.float32))


_DEEPEST = 3
_MOST_SEVERE = 10
_WIDEST = 64


def _check_augmix(severity: int, mixture_width: int, chain_depth: int, alpha: float) -> None:
    if not 1 <= severity <= _MOST_SEVERE:
        msg = f"'severity' must be between 1 and {_MOST_SEVERE}; got {severity}."
        raise ValueError(msg)
    if not 1 <= mixture_width <= _WIDEST:
        msg = f"'mixture_width' must be between 1 and {_WIDEST}; got {mixture_width}."
        raise ValueError(msg)
    if chain_depth != -1 and not 1 <= chain_depth <= _WIDEST:
        msg = f"'chain_depth' must be -1 or between 1 and {_WIDEST}; got {chain_depth}."
        raise ValueError(msg)
    check_alpha(alpha)


def _augmix_suite(severity: int, all_ops: bool) -> list[Augmentation]:
    """The augmentations of AugMix, whose bins are the magnitudes up to a severity."""

    def bins(low: float, high: float) -> Any:
        return np.linspace(low, high, _MOST_SEVERE, dtype=np.float32)[:severity]

    third = bins(0, 1 / 3)
    suite = [
        Augmentation("shear_x", bins(0, 0.3), True),
        Augmentation("shear_y", bins(0, 0.3), True),
        Augmentation("translate_x", third, True),
        Augmentation("translate_y", third, True),
        Augmentation("rotate", bins(0, 30), True),
        Augmentation("posterize", bins(8, 4)),
        Augmentation("solarize", bins(256, 0)),
        Augmentation("auto_contrast"),
        Augmentation("equalize"),
    ]
    if all_ops:
        factors = ("brightness", "contrast", "color")
        suite += [Augmentation(name, bins(0, 0.9), True, shift_enhance_range) for name in factors]
        suite.append(Augmentation("sharpness", bins(0, 0.9), True))
    return suite
