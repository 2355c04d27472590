# SPDX-License-Identifier: Apache-2.0
"""Names that users of other libraries try, and what does the same here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

# Arguments of torchvision, Albumentations and OpenCV; those that an operator has are suggested.
ARGUMENTS = {
    "interpolation": ("interp_type",),
    "antialias": ("antialias", "interp_type"),
    "resample": ("interp_type",),
    "output_size": ("size", "crop"),
    "target_size": ("size",),
    "dsize": ("size",),
    "height": ("resize_y", "crop_h", "size"),
    "width": ("resize_x", "crop_w", "size"),
    "degrees": ("angle", "angles"),
    "limit": ("angle",),
    "kernel_size": ("window_size",),
    "ksize": ("window_size",),
    "blur_limit": ("window_size",),
    "sigmaX": ("sigma",),
    "fill": ("fill_value", "fill_values"),
    "value": ("fill_value", "fill_values"),
    "border_mode": ("border_type",),
    "padding_mode": ("border_type",),
    "p": ("probability", "horizontal", "mirror"),
    "kernel": ("filter",),
    "quality_lower": ("quality",),
    "brightness_limit": ("brightness",),
    "contrast_limit": ("contrast",),
    "mean_value": ("mean",),
    "stddev_value": ("stddev",),
    "num_threads": ("batch_size",),
}

_EPOCH = "iterate over reader.next_epoch(batch_size=...)"
# Methods of pipelines, of their results, and of arrays.
METHODS = {
    "build": f"there is nothing to build: {_EPOCH}",
    "run": f"there is nothing to run: {_EPOCH}",
    "share_outputs": _EPOCH,
    "schedule_run": _EPOCH,
    "outputs": _EPOCH,
    "reset": "each next_epoch() begins a new pass; set_state goes back to a position",
    "epoch_size": 'get_metadata()["epoch_size"]',
    "reader_meta": "get_metadata()",
    "set_epoch": "each next_epoch() is shuffled in its own way",
    "as_cpu": ".cpu()",
    "as_array": ".numpy(), or numpy.asarray(tensor)",
    "as_tensor": ".torch(), or ndd.as_tensor(batch)",
    "at": "batch.tensors[i]",
    "as_reshaped_tensor": "ndd.reshape",
    "is_dense_tensor": "all shapes in batch.shape are equal",
    "astype": "ndd.cast(value, dtype=...)",
    "float": "ndd.cast(value, dtype=ndd.float32)",
    "permute": "ndd.transpose(value, perm=...)",
    "view": "ndd.reshape(value, shape=...)",
    "cuda": ".gpu()",
    "size": ".shape",
    "detach": "results carry no gradients: .torch()",
}


def advise_argument(name: str, known: Iterable[str]) -> str | None:
    """The argument of ours that does what an argument of another library does."""
    taken = set(known)
    return next((ours for ours in ARGUMENTS.get(name, ()) if ours in taken), None)


class Advising:
    """Objects that say what to write in place of attributes that they do not have."""

    __slots__ = ()

    # Type checkers would take every name for an existing one.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                # A property that says itself why it has no value.
                return object.__getattribute__(self, name)
            advice = METHODS.get(name)
            ending = "" if advice is None else f". Here: {advice}."
            msg = f"{type(self).__name__!r} object has no attribute {name!r}{ending}"
            raise AttributeError(msg, name=name, obj=self)
