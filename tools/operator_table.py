# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operators.md: where each operator runs, from the registry.

python tools/operator_table.py
"""

from __future__ import annotations

from pathlib import Path

import daliesque  # noqa: F401
from daliesque._engine.op import registry
from daliesque._gpu.operators import body_of

TARGET = Path(__file__).parent.parent / "docs" / "operators.md"

HEADER = """# Operators and devices

Written by `tools/operator_table.py`. [gpu.md](gpu.md) says what the device "gpu" is.

| operator | cpu | gpu | on the gpu |
|---|---|---|---|
"""

# What is particular about an operator on the gpu.
_DECODED = "decoded on the CPU, uploaded in one transfer"
_DRAWN = "drawn on the CPU: the same numbers for the same seed"
_FIELDS = "the same numbers as on the CPU for the same seed; large fields are drawn on the device"
_DOUBLE = "sums in double precision, where the device has it"
NOTES = {
    "audio_resample": "positions are exact; the CPU counts them in single precision",
    "batch_permutation": _DRAWN,
    "debayer": "all algorithms but `vng_ocv`",
    "decoders.image": "JPEGs by nvImageCodec if installed, for NVIDIA's devices; "
    "otherwise " + _DECODED,
    "decoders.image_crop": _DECODED,
    "decoders.image_random_crop": _DECODED,
    "decoders.image_slice": _DECODED,
    "decoders.inflate": _DECODED,
    "decoders.numpy": _DECODED,
    "decoders.video": _DECODED,
    "dump_image": "waits for the images, and writes them from the CPU",
    "experimental.warp_perspective": "coordinates in double precision, where the device has it",
    "perspective": "coordinates in double precision, where the device has it",
    "get_property": "made on the CPU",
    "io.file.read": "read on the CPU, uploaded in one transfer",
    "jitter": _FIELDS,
    "noise.gaussian": _FIELDS,
    "noise.salt_and_pepper": _FIELDS,
    "noise.shot": "without Triton, and for integers of more than 16 bits, computed on the CPU, "
    "which waits for the input; with it, too large means are NaN, not an error",
    "nonsilent_region": "sums are exact; the CPU makes them in single precision",
    "normalize": _DOUBLE,
    "optical_flow": "searched on the CPU, uploaded in one transfer",
    "peek_image_shape": "read on the CPU",
    "random.beta": _DRAWN,
    "random.choice": _FIELDS,
    "random.coin_flip": _FIELDS,
    "random.normal": _FIELDS,
    "random.uniform": _FIELDS,
    "random_crop_generator": _DRAWN,
    "random_resized_crop": "windows drawn on the CPU",
    "reductions.mean": _DOUBLE,
    "reductions.mean_square": _DOUBLE,
    "reductions.rms": _DOUBLE,
    "reductions.std_dev": _DOUBLE,
    "reductions.sum": _DOUBLE,
    "reductions.variance": _DOUBLE,
}


def table() -> str:
    """The text of the page."""
    rows = []
    for name, spec in sorted(registry.items()):
        runs = body_of(spec) is not None
        note = NOTES.get(name, "") if runs else "use `.cpu()`"
        rows.append(f"| `{name}` | yes | {'yes' if runs else ''} | {note} |\n")
    return HEADER + "".join(rows)


if __name__ == "__main__":
    TARGET.write_text(table())
