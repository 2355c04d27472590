# SPDX-License-Identifier: Apache-2.0
"""Calls of operators on scenes.

The image goes through the operator as it would alone. A second call, of an operator that is derived
from the first one, has the same arguments and the same random state, and computes all other parts:
so both are converted, checked, queued and reported by the engine, as any call is.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .. import _kernels
from .._engine.args import FrameValues
from .._engine.arithmetic import Operators
from .._engine.batch import Batch
from .._engine.convert import contiguous
from .._engine.device import Device
from .._engine.dtype import bool_, float32, int64, uint8
from .._engine.invocation import promise
from .._engine.layout import find_order
from .._engine.metadata import Call as Known
from .._engine.metadata import Result, announce_as
from .._engine.op import Operator, registry
from .._engine.rng import get_default_rng
from .._engine.samples import HostSamples, Samples, host
from .._engine.spec import Input
from .._engine.tensor import Tensor
from .._engine.value import any_remote
from .call import Call
from .formats import Rules
from .gather import Gathered
from .moves import Mover, Role, move_all
from .operators import EVERY_PART, GEOMETRIES, PHOTOMETRIC, AnyFinder, still
from .pasting import Pasted, copy_paste, covers_of

if TYPE_CHECKING:
    from .scene import Scene

# The parts of a scene that are tensors or batches.
Parts: TypeAlias = dict[str, Operators[Any]]


def go_through(
    scene: Scene,
    operator: Operator,
    inputs: tuple[Any, ...],
    batch_size: Any,
    device: Any,
    given: dict[str, Any],
) -> Any:
    """What an operator makes of a scene, its first input."""
    if inputs[0] is not scene:
        msg = f"{operator.name}: a Scene must be the first input."
        raise TypeError(msg)
    others = inputs[1:]
    composed = COMPOSED.get(operator.name)
    if composed is not None:
        return composed(scene, operator, others, given)
    if operator.name in EVERY_PART:
        return scene._with(
            {
                name: operator.invoke((part, *others), batch_size, device, dict(given))
                for name, part in scene._values().items()
            }
        )
    find = GEOMETRIES.get(operator.name)
    if find is None and operator.name not in PHOTOMETRIC:
        raise _refusal(operator.name)
    for_parts = dict(given)
    if operator.is_random and find is not None:
        rng = given.get("rng")
        if rng is None:
            rng = get_default_rng()
        for_parts["rng"] = rng.clone() if hasattr(rng, "clone") else rng
    image = scene._values()["image"]
    results = operator.invoke((image, *others), batch_size, device, given)
    first, *rest = results if isinstance(results, tuple) else (results,)
    changed: Parts = {"image": first}
    if find is not None:
        changed |= move_parts(scene, operator, find, others, batch_size, for_parts)
    moved = scene._with(changed)
    return (moved, *rest) if rest else moved


def _refusal(name: str) -> TypeError:
    return TypeError(
        f"{name}: a Scene does not go through this operator, which neither moves nor recolors the "
        f"pixels of an image. Call it with a part: scene.replace(image=ndd.{name}(scene.image))."
    )


def move_parts(
    scene: Scene,
    operator: Operator,
    find: AnyFinder,
    others: tuple[Any, ...],
    batch_size: Any,
    given: dict[str, Any],
    target: Rules | None = None,
    chosen: Any = None,
) -> Parts:
    """All parts but the image, after a call with the given inputs and arguments."""
    values = scene._values()
    roles = _roles(scene, values)
    if not roles:
        return {}
    extra = () if chosen is None else (Role("chosen"),)
    mover = _derived(operator, find, roles + extra, scene._rules, target or scene._rules)
    here = [value.cpu() if isinstance(value, Tensor | Batch) else value for value in others]
    missing = [None] * (len(operator.inputs) - 1 - len(others))
    image = values["image"]
    parts: list[Any] = [values[role.name] for role in roles]
    devices = [part.device for part in parts]
    parts = [part.cpu() for part in parts] + ([] if chosen is None else [chosen])
    if any_remote((image,)):
        image = _outline_of(image)
    results = mover.invoke((image, *here, *missing, *parts), batch_size, None, given)
    names = _output_names(roles)
    moved = dict(zip(names, results if isinstance(results, tuple) else (results,), strict=True))
    for role, device in zip(roles, devices, strict=True):
        if device.device_type != "cpu":
            moved[role.name] = moved[role.name].to_device(device)
    return moved


def _roles(scene: Scene, values: Mapping[str, Any]) -> tuple[Role, ...]:
    """The parts that geometry concerns."""
    found = []
    for name in values:
        if name in ("boxes", "masks", "keypoints", "visible"):
            found.append(Role(name))
        elif name in scene._per_box and "boxes" in values:
            found.append(Role(name, per_box=True))
    return tuple(found)


def _output_names(roles: tuple[Role, ...]) -> list[str]:
    names = [role.name for role in roles if role.name not in ("visible", "chosen")]
    if "keypoints" in names:
        names.append("visible")
    return names


@functools.lru_cache(maxsize=512)
def _derived(
    operator: Operator, find: AnyFinder, roles: tuple[Role, ...], source: Rules, target: Rules
) -> Operator:
    """An operator with the arguments of another one that gives parts of scenes."""
    inputs = tuple(Input(role.name, False, False, True) for role in roles)
    first = len(operator.inputs)
    names = _output_names(roles)

    def body(image: Samples, *samples: Any, **arguments: Any) -> tuple[HostSamples, ...]:
        _check_arguments(arguments)
        call = Call(_seen_by(operator, image), samples[: first - 1], arguments)
        parts = {role.name: part for role, part in zip(roles, samples[first - 1 :], strict=True)}
        geometry = find(call)
        if isinstance(geometry, Gathered | Pasted):
            found = geometry.move(call.sizes, (source, target), roles, parts)
        else:
            found = move_all(Mover(geometry, call.sizes, source, target), roles, parts)
        return tuple(found[name] for name in names)

    return replace(
        operator,
        body=body,
        inputs=(*operator.inputs, *inputs),
        # Images keep their layout, which is not that of masks.
        allowed_layouts=(),
        outputs=len(names),
        result=functools.partial(_results, first, roles, names),
        dtypes=None,
        sequences=False,
        expands_frames=False,
        frame_arguments=(),
        strided=True,
        source=None,
        weight=1,
        cpu_only=True,
    )


def _results(
    first: int, roles: tuple[Role, ...], names: list[str], _call: Known
) -> tuple[Result, ...]:
    """What is known about parts before they are moved."""
    numbers = {role.name: first + number for number, role in enumerate(roles)}
    fixed = {"boxes": float32, "keypoints": float32, "visible": bool_}

    def of(name: str) -> Result:
        number = numbers["keypoints" if name == "visible" else name]
        dtype = fixed.get(name)
        if name == "visible":
            return Result(dtype=bool_, ndim=lambda call: call.other(number).ndim - 1)
        return Result(
            dtype=dtype or (lambda call: call.other(number).dtype),
            ndim=2 if name == "boxes" else (lambda call: call.other(number).ndim),
            layout="" if name == "boxes" else (lambda call: call.other(number).layout),
        )

    return tuple(of(name) for name in names)


def _seen_by(operator: Operator, image: Samples) -> Samples:
    """An image in the layout that the body of an operator would see, or its outline."""
    layout = image.layout
    if operator.allowed_layouts:
        order = find_order(layout, image.ndim, operator.allowed_layouts, operator.name)
        layout = order.outside
    layout = layout or {2: "HW", 3: "HWC"}.get(image.ndim, "")
    if sorted(layout) not in (["C", "H", "W"], ["H", "W"]) or len(layout) != image.ndim:
        msg = f"the image of a Scene needs the layout HWC, CHW or HW; got {layout!r}."
        raise ValueError(msg)
    if not operator.allowed_layouts or layout == order.inside:
        return image.with_layout(layout)
    shapes = np.pad(image.shape_array(), ((0, 0), (0, 1)), constant_values=1)
    axes = [layout.find(letter) for letter in order.inside]
    return _outline(shapes[:, axes].tolist(), order.inside)


def _check_arguments(arguments: Mapping[str, Any]) -> None:
    if any(isinstance(value, FrameValues) for value in arguments.values()):
        msg = "arguments that differ from frame to frame do not suit the image of a Scene."
        raise ValueError(msg)


def _outline(shapes: Iterable[Sequence[int]], layout: str) -> HostSamples:
    """Samples of the given shapes, with one element each."""
    element = np.zeros((), np.uint8)
    views = [np.broadcast_to(element, shape) for shape in shapes]
    return _kernels.wrap_buffers(views, uint8.code, layout)


def _draw_outline(inputs: list[Samples | None], _arguments: dict[str, Any]) -> Samples:
    image = inputs[0]
    assert image is not None
    return _outline(image.shapes, image.layout)


def _outline_of(image: Operators[Any]) -> Any:
    """What stands for an image on a device where only its shape is asked for."""
    return promise(
        type(image),
        "Scene",
        _draw_outline,
        (image,),
        {},
        announce_as(Result(dtype=uint8, shape="input")),
        image._count,
        image._source,
        Device.CPU,
    )


def _extents(inputs: list[Samples | None], arguments: dict[str, Any]) -> Samples:
    image = inputs[0]
    assert image is not None
    layout = image.layout or ("HWC" if image.ndim == 3 else "HW")
    columns = [layout.index(letter) for letter in arguments["letters"]]
    out = _kernels.empty_uniform(int64.code, [len(columns)], "", len(image))
    for number, row in enumerate(image.shape_array()[:, columns]):
        _kernels.numpy_view(out, number)[...] = row
    return out


def extents_of(image: Operators[Any], letters: str) -> Any:
    """Some extents of images, as a value that may be pending."""
    announce = announce_as(Result(dtype=int64, ndim=1, shape=lambda _: [[len(letters)]]))
    return promise(
        type(image),
        "Scene",
        _extents,
        (image,),
        {"letters": letters},
        announce,
        image._count,
        image._source,
        Device.CPU,
    )


def _random_crop_generator(
    scene: Scene, operator: Operator, others: tuple[Any, ...], given: dict[str, Any]
) -> Any:
    """Windows for the images of a scene, as for their shapes."""
    shapes = extents_of(scene._values()["image"], "HW")
    return operator.invoke((shapes, *others), None, None, given)


def _random_bbox_crop(
    scene: Scene, operator: Operator, others: tuple[Any, ...], given: dict[str, Any]
) -> Any:
    """Draw windows that suit the boxes, and cut all parts to them."""
    name = operator.name
    values = scene._values()
    if "boxes" not in values:
        msg = f"{name}: a Scene without boxes has nothing that a window could suit. Use crop."
        raise ValueError(msg)
    excluded = [key for key in ("bbox_layout", "ltrb", "shape_layout") if key in given]
    if others or excluded:
        wrong = f"'{excluded[0]}'" if excluded else "further inputs"
        msg = f"{name}: a Scene knows its boxes and labels; got {wrong}, too. Leave that out."
        raise TypeError(msg)
    given = dict(given)
    wants_numbers = given.pop("output_bbox_indices", False)
    crop_shape = given.get("crop_shape")
    if crop_shape is not None:
        given.setdefault("input_shape", extents_of(values["image"], "WH"))
    copy, cut = registry["copy"], registry["slice"]
    # Boxes outside of the image suit no window.
    scene = scene._with(move_parts(scene, copy, still, (), None, {}))
    relative = Rules(relative=True)
    boxes = move_parts(scene._only("image", "boxes"), copy, still, (), None, {}, relative)["boxes"]
    given["output_bbox_indices"] = True
    anchor, shape, _, numbers = operator.invoke((boxes,), None, None, given)
    window: dict[str, Any] = {}
    if crop_shape is not None:
        window = {
            "normalized_anchor": False,
            "normalized_shape": False,
            "out_of_bounds_policy": "pad",
        }
    others = (anchor, shape)
    image = cut.invoke((values["image"], *others), None, None, dict(window))
    moved = move_parts(scene, cut, GEOMETRIES["slice"], others, None, window, chosen=numbers)
    result = scene._with({"image": image, **moved})
    return (result, numbers) if wants_numbers else result


def _cover(inputs: list[Samples | None], _arguments: dict[str, Any]) -> Samples:
    masks = inputs[0]
    assert masks is not None
    return covers_of(contiguous(host(masks)))


def _copy_paste(
    scene: Scene, operator: Operator, others: tuple[Any, ...], given: dict[str, Any]
) -> Any:
    """Paste the objects of other images, which masks show, with all that belongs to them."""
    values = scene._values()
    masks: Any = values.get("masks")
    if masks is None or others:
        rule = "needs masks, which say where objects are" if masks is None else "has masks itself"
        msg = f"{operator.name}: a Scene {rule}; got {len(others)} further inputs."
        raise ValueError(msg)
    announce = announce_as(Result(dtype=uint8, ndim=2, layout="HW"))
    here = masks.cpu()
    covers = promise(type(here), operator.name, _cover, (here,), {}, announce, here._count)
    image = operator.invoke((values["image"], covers), None, None, dict(given))
    moved = move_parts(scene, operator, copy_paste, (covers,), None, given)
    return scene._with({"image": image, **moved})


Composed: TypeAlias = Callable[["Scene", Operator, tuple[Any, ...], dict[str, Any]], Any]

COMPOSED: dict[str, Composed] = {
    "copy_paste": _copy_paste,
    "random_bbox_crop": _random_bbox_crop,
    "random_crop_generator": _random_crop_generator,
}
