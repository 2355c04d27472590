# SPDX-License-Identifier: Apache-2.0
"""Operators on any data: copies, types, the order of samples, properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _kernels
from .._engine.args import IntsPerSample
from .._engine.convert import cast_samples, to_numpy
from .._engine.dtype import DType, from_code, int32, uint8
from .._engine.metadata import Call, Result, Shapes
from .._engine.op import Kernels, RandomState, Samples, op
from .._engine.samples import host

_LIKE_INPUT = Result(shape="input")


@op(result=_LIKE_INPUT)
def cast(input: Samples, /, *, dtype: DType) -> Samples:
    """Convert to another element type.

    Values are rounded half away from zero and clamped to what the type can hold; NaN becomes 0 in
    integers.

    Parameters
    ----------
    dtype
        The wanted element type.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.cast(ndd.tensor([1.5, 300.0, -2.0]), dtype=ndd.uint8).torch().tolist()
    [2, 255, 0]
    """
    return cast_samples(input, dtype)


@op(result=Result(dtype=lambda call: call.other(1).dtype, shape="input"))
def cast_like(input: Samples, other: Samples, /) -> Samples:
    """Convert to the element type of another tensor or batch.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.cast_like(ndd.tensor([1.5, 2.0]), ndd.tensor([0])).dtype == ndd.int32
    True
    """
    return cast_samples(input, from_code(other.type_id))


@op(strided=True, result=_LIKE_INPUT)
def copy(input: Samples, /) -> Samples:
    """Copy into memory of its own.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.copy(ndd.tensor([1, 2])).torch().tolist()
    [1, 2]
    """
    return input.copy()


def _chosen_samples(indices: NDArray[np.int32], count: int) -> list[int]:
    """The numbers of samples that `permute_batch` was given: a list, or one for each sample."""
    if indices.shape == (1, 1) or indices.shape == (count, 1):
        numbers = np.broadcast_to(indices[:, 0], count)
    elif indices.shape == (1, count):
        numbers = indices[0]
    else:
        given = indices.shape[1] if len(indices) == 1 else list(indices.shape)
        msg = f"'indices' must hold {count} numbers, one for each sample; got {given}."
        raise ValueError(msg)
    if count and (numbers.min() < 0 or numbers.max() >= count):
        bad = int(numbers[(numbers < 0) | (numbers >= count)][0])
        msg = f"'indices' must hold numbers of samples, 0 to {count - 1}; got {bad}."
        raise ValueError(msg)
    chosen: list[int] = numbers.tolist()
    return chosen


def _permuted_sources(sources: Sequence[Any], arguments: dict[str, Any]) -> tuple[Any, ...] | None:
    indices = arguments["indices"]
    if not isinstance(indices, np.ndarray):
        # They are not known yet.
        return None
    try:
        return tuple(sources[number] for number in _chosen_samples(indices, len(sources)))
    except ValueError:
        return None


def _permuted_shapes(call: Call) -> Shapes:
    shapes = call.input.shapes
    if len(shapes) == 1 or (shapes == shapes[:1]).all():
        return shapes
    return shapes[_chosen_samples(call["indices"], len(shapes))]


@op(strided=True, source=_permuted_sources, result=Result(shape=_permuted_shapes))
def permute_batch(input: Samples, /, *, indices: IntsPerSample) -> Samples:
    """Choose samples of a batch by number: ``result[i] = input[indices[i]]``. Nothing is copied.

    Parameters
    ----------
    input
        The batch.
    indices
        The numbers of the samples, as a list or as a Batch with a number for each sample. They may
        be repeated or left out.

    Differs from DALI: `indices` may be a list, which the dynamic mode of DALI 2.4 refuses.

    Examples
    --------
    >>> import daliesque as ndd
    >>> ndd.permute_batch(ndd.batch([10, 20, 30]), indices=[2, 0, 0]).torch().tolist()
    [30, 10, 10]
    """
    return input.select(_chosen_samples(indices, len(input)))


@op(needs_batch=True, result=Result(dtype=int32, ndim=0))
def batch_permutation(
    *,
    allow_repetitions: bool = False,
    no_fixed_points: bool = False,
    rng: RandomState,
    kernels: Kernels,
    batch_size: int,
) -> Samples:
    """Draw a random order of the samples of a batch, for `permute_batch`.

    Parameters
    ----------
    allow_repetitions
        Draw each number independently of the others.
    no_fixed_points
        No sample keeps its index, unless there is only one.

    Examples
    --------
    >>> import daliesque as ndd
    >>> order = ndd.batch_permutation(batch_size=4)
    >>> sorted(int(number) for number in order)
    [0, 1, 2, 3]
    """
    out = kernels.empty_uniform(int32.code, [], "", batch_size)
    kernels.batch_permutation(out, rng, allow_repetitions, no_fixed_points)
    return out


@op(strided=True, result=Result(dtype=uint8, ndim=1))
def get_property(input: Samples, /, *, key: str, sources: Sequence[Any] | None) -> Samples:
    """Get what is known about each sample, as text in bytes.

    Parameters
    ----------
    input
        Any data.
    key
        "source_info": where the sample came from, e.g. the name of a file; empty if unknown.
        "layout": the layout.

    Examples
    --------
    >>> import daliesque as ndd
    >>> image = ndd.zeros(shape=[2, 2, 3], layout="HWC")
    >>> bytes(np.asarray(ndd.get_property(image, key="layout")))
    b'HWC'
    """
    if key == "layout":
        texts = [input.layout]
    elif key == "source_info":
        texts = [""] if sources is None else [str(source) for source in sources]
    else:
        msg = f"'key' must be 'source_info' or 'layout'; got {key!r}."
        raise ValueError(msg)
    arrays = [np.frombuffer(text.encode(), np.uint8) for text in texts]
    made = _kernels.wrap_buffers(arrays, uint8.code, "").copy()
    return made if len(made) == len(input) else made.select([0] * len(input))


@op(layouts="HWC", dtypes=(uint8,), result=_LIKE_INPUT)
def dump_image(input: Samples, /, *, input_layout: str = "HWC", suffix: str = "") -> Samples:
    """Write images to files in the current directory, for debugging, and pass them on.

    Sample i is written as text (PPM, or PGM for one channel) to ``<i>-<suffix>-0.ppm``.

    Parameters
    ----------
    input
        Images of one or three channels.
    input_layout
        Their layout: only "HWC" is supported.
    suffix
        Part of the names.

    Examples
    --------
    >>> import daliesque as ndd
    >>> import contextlib, os, tempfile
    >>> image = ndd.zeros(shape=[2, 2, 3], dtype=ndd.uint8)
    >>> with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
    ...     same = ndd.dump_image(image, suffix="test").evaluate()
    ...     os.listdir()
    ['0-test-0.ppm']
    """
    if input_layout != "HWC":
        msg = f"'input_layout' must be 'HWC'; got {input_layout!r}."
        raise ValueError(msg)
    for sample, shape in enumerate(input.shapes):
        if len(shape) != 3 or shape[2] not in (1, 3):
            msg = (
                "images must have height, width, and 1 or 3 channels; "
                f"got the shape {shape} (sample {sample})."
            )
            raise ValueError(msg)
    texts = host(input.kernels.image_texts(input))
    for sample in range(len(input)):
        with open(f"{sample}-{suffix}-0.ppm", "wb") as file:
            file.write(to_numpy(texts, sample).data)
    return input
