# SPDX-License-Identifier: Apache-2.0
"""What operators ask of a device: kernels to launch, and copies from the host.

`launches.csv` has it for each operator, for a batch of equal samples and for one with the sizes of
real files. After a change that was meant:

    PYTHONPATH=tests python -m support.launches

writes the table again.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import daliesque as ndd
from daliesque._engine import devices
from daliesque._engine.op import registry
from daliesque._engine.thread_state import thread
from daliesque._gpu.operators import WAITING, body_of
from support.case_inputs import Case, images
from support.cases import CASES
from support.contract import call, make_batches
from support.simulated import SimulatedAccelerator

TABLE = Path(__file__).with_suffix(".csv")
HEADER = """\
# SPDX-License-Identifier: Apache-2.0
# Kernel launches, copies from the host, their bytes, and bytes of these from pageable memory, of
# one call with 64 samples: of equal size, and of the sizes of real files. Written by
# support.launches.
"""
COLUMNS = ["operator", *2 * ["launches", "copies", "bytes", "pageable"]]

# Heights and widths of 64 photographs of a well-known data set, drawn at random.
SIZES = [
    *((500, 335), (375, 500), (241, 400), (375, 500), (500, 333), (500, 341), (375, 500)),
    *((333, 500), (375, 500), (412, 559), (500, 500), (360, 500), (475, 311), (299, 430)),
    *((500, 333), (229, 346), (413, 500), (500, 333), (334, 500), (500, 334), (375, 500)),
    *((416, 500), (500, 375), (375, 500), (375, 500), (481, 468), (326, 482), (333, 500)),
    *((345, 500), (375, 500), (533, 800), (333, 500), (500, 375), (160, 128), (297, 300)),
    *((333, 500), (276, 252), (160, 230), (340, 500), (375, 500), (359, 541), (315, 468)),
    *((500, 381), (300, 400), (400, 400), (333, 500), (450, 600), (375, 500), (500, 375)),
    *((333, 500), (563, 845), (500, 464), (240, 350), (332, 500), (375, 500), (236, 350)),
    *((375, 500), (368, 500), (400, 500), (500, 334), (1200, 1600), (375, 500), (354, 500)),
    (375, 500),
]
COUNT = len(SIZES)


class Counts(NamedTuple):
    """What one call asks for."""

    launches: int
    copies: int
    copied: int
    pageable: int


def is_counted(case: Case) -> bool:
    """Whether the operator does work on the device that does not depend on values there."""
    return body_of(registry[case.operator]) is not None and case.operator not in WAITING


def cases() -> dict[str, Case]:
    """The calls of the table; names are those of the operators."""
    found: dict[str, Case] = {}
    for case in CASES:
        if is_counted(case) and case.operator not in found:
            found[case.operator] = case
    for name, case in EXTRA.items():
        found[name] = case
    return found


EXTRA = {
    "multi_paste": Case(
        "multi_paste", images, {"in_ids": [0, 1, 2, 3], "output_size": (1300, 1700)}, "HWC"
    ),
    "rotate (keep_size)": Case(
        "rotate", images, {"angle": 30.0, "keep_size": True}, "HWC", {}, False, False
    ),
    "normalize (given)": Case("normalize", images, {"mean": 100.0, "stddev": 50.0}, "HWC"),
    "resize (NN)": Case("resize", images, {"size": (224, 224), "interp_type": "NN"}, "HWC"),
    "resize (224)": Case("resize", images, {"size": (224, 224)}, "HWC"),
    "random_resized_crop (224)": Case(
        "random_resized_crop", images, {"size": (224, 224)}, "HWC", random=True
    ),
    "warp_affine (224)": Case(
        "warp_affine", images, {"matrix": (0.9, 0.1, 3, -0.1, 0.9, 5), "size": (224, 224)}, "HWC"
    ),
    "gaussian_blur (sigma 5)": Case("gaussian_blur", images, {"sigma": 5.0}, "HWC"),
    "random.choice (fields)": Case(
        "random.choice", lambda _: [[np.int32(10)] * 3], {"shape": [375, 500, 3]}, random=True
    ),
    "random.coin_flip (images)": Case("random.coin_flip", images, {}, "HWC", random=True),
    "random.normal (images)": Case("random.normal", images, {}, "HWC", random=True),
    "random.uniform (images)": Case("random.uniform", images, {}, "HWC", random=True),
}


def samples_of(case: Case, real_sizes: bool) -> list[list[Any]]:
    """Inputs of a case for 64 samples, images of realistic sizes."""
    inputs = case.inputs(np.random.default_rng(7))
    if not inputs:
        return []
    first = inputs[0]
    is_images = case.layout == "HWC" and first[0].ndim == 3
    is_audio = case.layout is None and first[0].ndim == 1 and first[0].dtype == np.float32
    made = []
    for samples in inputs:
        column = []
        for number in range(COUNT):
            source = samples[number % len(samples) if real_sizes else 0]
            own = first[number % len(first) if real_sizes else 0]
            size = SIZES[number] if real_sizes else (375, 500)
            if is_images and source.shape[:2] == own.shape[:2]:
                source = np.zeros((*size, *source.shape[2:]), source.dtype)
            elif is_audio:
                length = 16000 + (97 * number if real_sizes else 0)
                source = np.zeros(length, source.dtype)
            column.append(source)
        made.append(column)
    return made


def takes_real_sizes(case: Case) -> bool:
    """Whether samples may differ in size."""
    shapes = {sample.shape for sample in (case.inputs(np.random.default_rng(7)) or [[]])[0]}
    return len(shapes) > 1


def simulated() -> SimulatedAccelerator:
    """A new device, which only counts what is asked of it."""
    machine = SimulatedAccelerator("cuda", is_hollow=True)
    devices._found = machine
    thread.default_contexts.clear()
    thread.plain_context = None
    return machine


def asked(machine: SimulatedAccelerator, function: Callable[[], Any]) -> Counts:
    """What a function asks of a device."""
    journal = machine.journal
    journal.launches.clear()
    journal.uploads = journal.uploaded = journal.pageable = 0
    function()
    return Counts(len(journal.launches), journal.uploads, journal.uploaded, journal.pageable)


def counted(case: Case, real_sizes: bool) -> Counts:
    """What a call of a case asks of the device, its inputs being there."""
    machine = simulated()
    found = body_of(registry[case.operator])
    assert found is not None
    with ndd.EvalMode.sync_cpu:
        batches = make_batches(case, samples_of(case, real_sizes))
        there = [
            batch if number in found.host_inputs else batch.gpu()
            for number, batch in enumerate(batches)
        ]
        arguments = {} if batches else {"batch_size": COUNT}
        return asked(machine, lambda: call(case, there, device="gpu", **arguments))


def counted_expression(expression: Callable[[ndd.Batch], Any], real_sizes: bool) -> Counts:
    """What arithmetic on images asks of the device."""
    machine = simulated()
    with ndd.EvalMode.sync_cpu:
        sizes = SIZES if real_sizes else [(375, 500)] * COUNT
        batch = ndd.batch([np.zeros((*size, 3), np.uint8) for size in sizes], layout="HWC").gpu()
        return asked(machine, lambda: expression(batch))


def measured(name: str) -> list[Counts]:
    """The row of an operator."""
    case = cases()[name]
    kinds = [False, True] if takes_real_sizes(case) else [False]
    return [counted(case, real_sizes) for real_sizes in kinds]


def table() -> dict[str, list[Counts]]:
    """The table under version control."""
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    rows: dict[str, list[Counts]] = {}
    for name, *numbers in list(csv.reader(lines))[1:]:
        values = [int(number) for number in numbers if number]
        rows[name] = [Counts(*values[k : k + 4]) for k in range(0, len(values), 4)]
    return rows


def main() -> None:
    """Write the table."""
    os.environ.setdefault("DALIESQUE_GPU", "cpu")
    for backend in (torch.cuda, torch.xpu):
        backend._lazy_init = lambda: None  # type: ignore[assignment]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for name in sorted(cases()):
        writer.writerow([name, *(number for row in measured(name) for number in row)])
    TABLE.write_text(HEADER + text.getvalue())


if __name__ == "__main__":
    main()
