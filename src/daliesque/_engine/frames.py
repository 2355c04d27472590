# SPDX-License-Identifier: Apache-2.0
"""Sequences: bodies see their frames as samples, and results are folded into sequences again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .args import FrameValues
from .devices import Results
from .samples import Samples
from .spec import OpSpec


def find_frames(
    spec: OpSpec, inputs: list[Samples | None], arguments: dict[str, Any], count: int
) -> Any:
    """The lengths of the sequences among inputs, or None if there are none.

    Single samples beside a sequence are repeated for each of its frames. Arguments that differ from
    frame to frame make sequences of single samples only if the operator expands frames.
    """
    for samples in inputs:
        if samples is not None and samples.layout.startswith("F"):
            return samples.shape_array()[:, 0]
    found = None
    for name in spec.frame_arguments if spec.expands_frames else ():
        value = arguments[name]
        if isinstance(value, FrameValues) and (found is None or (found == 1).all()):
            found = np.broadcast_to(value.counts, count)
    return found


def run_frames(
    spec: OpSpec,
    inputs: list[Samples | None],
    arguments: dict[str, Any],
    counts: Any,
    body: Callable[..., Results],
) -> Results:
    """Treat each frame of each sequence, of which `counts` has the lengths, as a sample."""
    owner = np.repeat(np.arange(len(counts)), counts)
    arguments = dict(arguments)
    frames: list[Samples | None] = []
    for position, samples in enumerate(inputs):
        if samples is None:
            frames.append(None)
        elif samples.layout.startswith("F"):
            _check_counts(spec, position, samples, counts)
            frames.append(samples.unfold())
        else:
            frames.append(samples.select(owner.tolist()))
    for name, value in arguments.items():
        rule = spec.rules.get(name)
        if rule is not None and rule.per_sample and value is not None:
            arguments[name] = _spread(spec, name, value, owner, counts)
    if spec.wants_frame_counts:
        arguments["frame_counts"] = counts
    if spec.wants_batch_size:
        arguments["batch_size"] = len(owner)
    results = body(*frames, **arguments)
    if isinstance(results, tuple):
        return tuple(_fold(part, counts) for part in results)
    return _fold(results, counts)


def _check_counts(spec: OpSpec, position: int, samples: Samples, counts: Any) -> None:
    """Refuse a sequence that is longer or shorter than others of its sample."""
    lengths = samples.shape_array()[:, 0]
    wrong = lengths != counts
    if wrong.any():
        sample = int(np.argmax(wrong))
        name = spec.inputs[min(position, len(spec.inputs) - 1)].name
        msg = (
            f"{spec.name}: the input '{name}' needs as many frames as others of the call; got "
            f"{lengths[sample]} for {counts[sample]} frames (sample {sample}). Leave the 'F' out "
            "of its layout to use one value for all frames."
        )
        raise ValueError(msg)


def refuse_frame_values(spec: OpSpec, arguments: dict[str, Any]) -> None:
    for name in spec.frame_arguments:
        if isinstance(arguments[name], FrameValues):
            msg = f"'{name}' has one value for each frame, but the input is not a sequence."
            raise ValueError(msg)


def _spread(spec: OpSpec, name: str, value: Any, owner: Any, counts: Any) -> Any:
    """An argument of sequences as an argument of frames."""
    if isinstance(value, FrameValues):
        given = np.broadcast_to(value.counts, len(counts))
        if ((given != counts) & (given != 1)).any():
            msg = (
                f"{spec.name}: '{name}' needs one value for each frame; got "
                f"{value.counts.tolist()} values for {counts.tolist()} frames."
            )
            raise ValueError(msg)
        if len(value.counts) == len(counts) and np.array_equal(given, counts):
            return value.values
        # One argument for all sequences, or one value for all frames of a sequence.
        starts = np.cumsum(value.counts) - value.counts
        index = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
        first = np.broadcast_to(starts, len(counts))[owner]
        return value.values[first + np.where(given[owner] == 1, 0, index)]
    if isinstance(value, list):
        return value if len(value) == 1 else [value[i] for i in owner]
    return value if len(value) == 1 else np.ascontiguousarray(value[owner])


def _fold(samples: Samples, counts: Any) -> Samples:
    layout = "F" + samples.layout if samples.layout else ""
    packed = samples if samples.packed else samples.copy()
    return packed.fold(counts.tolist(), layout)
