# SPDX-License-Identifier: Apache-2.0
"""Check the accelerators of this machine, and write a report to attach to an issue.

Every operator is compared with the CPU and must not make the CPU wait; then transfers, work and
both together are timed, and some operators against torchvision and kornia if they are installed.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from ..._engine.devices import gpu_count, require_backend
from ..._engine.op import registry
from ..._version import __version__
from .calls import CALLS, Call
from .checks import Finding, accelerator, check, find_body, uses_triton
from .timing import compare_speed, measure_overlap


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all checks, and print the report; the exit code is 1 if something is wrong.

    Parameters
    ----------
    arguments
        What would stand on the command line.

    Examples
    --------
    >>> from daliesque import gpu_check
    >>> gpu_check.main(["--operators", "flip", "--no-timing"])  # doctest: +SKIP
    0
    """
    parser = argparse.ArgumentParser(
        prog="python -m daliesque.gpu_check", description=(__doc__ or "").strip()
    )
    parser.add_argument("--operators", nargs="*", help="check only these", metavar="NAME")
    parser.add_argument("--no-timing", action="store_true", help="measure nothing: quicker")
    parser.add_argument("--output", type=Path, help="write the report to a file, too")
    options = parser.parse_args(arguments)
    if gpu_count() == 0:
        try:
            require_backend("gpu_check")
        except RuntimeError as error:
            sys.stderr.write(f"{error}\n")
        return 1
    chosen = [call for call in CALLS if not options.operators or call.name in options.operators]
    lines = _describe_machine()
    findings = [(call, check(call)) for call in chosen]
    lines += _describe_operators(findings)
    if not options.no_timing:
        lines += ["", "## Transfers", "", *measure_overlap(), "", "## Speed", "", *compare_speed()]
    wrong = sum(bool(finding.wrong) for _, finding in findings)
    lines += ["", f"{len(chosen)} operators were checked, {wrong} are wrong."]
    report = "\n".join(lines) + "\n"
    sys.stdout.write(report)
    if options.output is not None:
        options.output.write_text(report)
    return 1 if wrong else 0


def _describe_machine() -> list[str]:
    import torch

    backend = accelerator()
    facts = {
        "daliesque": __version__,
        "torch": torch.__version__,
        "Python": platform.python_version(),
        "system": platform.platform(),
        "kind": "torch's CPU device, which stands in" if backend.kind == "cpu" else backend.kind,
        "devices": backend.count,
    }
    if backend.kind != "cpu":
        facts["Triton"] = "used for random numbers" if uses_triton() else "not used"
    find = getattr(getattr(torch, backend.kind, None), "get_device_name", None)
    if find is not None and backend.kind != "cpu":
        facts["names"] = ", ".join(find(number) for number in range(backend.count))
    lines = ["# Accelerators under daliesque", ""]
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    missing = sorted(
        name for name in registry if find_body(name) and name not in {call.name for call in CALLS}
    )
    return [*lines, f"- not checked: {', '.join(missing)}"]


def _describe_operators(findings: list[tuple[Call, Finding]]) -> list[str]:
    lines = ["", "## Operators", ""]
    lines += ["| operator | largest difference | launches, equal sizes | different sizes |"]
    lines += ["|---|---|---|---|"]
    for call, found in findings:
        counts = " | ".join(str(count) for count in found.launches) or "- | -"
        lines.append(f"| {call.name} | {found.difference:.3g} | {counts} |")
    wrong = [(call, found) for call, found in findings if found.wrong]
    if wrong:
        lines += ["", "## What is wrong", ""]
        lines += [f"- {call.name}: {reason}" for call, found in wrong for reason in found.wrong]
    return lines
