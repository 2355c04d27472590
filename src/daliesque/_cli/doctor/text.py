# SPDX-License-Identifier: Apache-2.0
"""The report as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def format_facts(facts: Mapping[str, Any]) -> str:
    """The report, section by section, advice last."""
    lines = _section("Versions", facts["versions"])
    processor = facts["processor"]
    sets = ", ".join(processor["instruction_sets"]) or "none beyond the portable ones"
    lines += _section("Processor", {"name": processor["name"], "instruction sets": sets})
    lines += _section("Threads", facts["threads"])
    lines += _section("Memory", {name: _bytes(name, n) for name, n in facts["memory"].items()})
    lines += _section("Codecs", facts["codecs"])
    extras = facts["extras"]
    shown = {name: f"{found['state']}  ({found['for']})" for name, found in extras.items()}
    lines += _section("Extras", shown)
    lines += _section("Accelerator", facts["accelerator"])
    variables = facts["environment"]
    values = {v["name"]: f"{v['value'] or 'not set'}  ({v['meaning']})" for v in variables}
    lines += _section("Environment", values)
    if "self_test" in facts:
        test = facts["self_test"]
        rates = {name: f"{rate:,} images/s" for name, rate in test["images_per_second"].items()}
        for name, found in test["against_expected"].items():
            rates[f"{name}, 1 thread"] += (
                f"  ({found['ratio']} times {found['yardstick']}; about {found['expected']} is "
                "expected on this processor)"
            )
        lines += _section("Self-test", rates | {"threads add up to": test["scaling"]})
    lines.append("Advice")
    lines += [f"  - {text}" for text in facts["advice"]] or ["  Nothing: all is well."]
    return "\n".join(lines)


def _section(title: str, entries: Mapping[str, object]) -> list[str]:
    width = max((len(name) for name in entries), default=0)
    return [title, *(f"  {name:{width}s}  {value}" for name, value in entries.items()), ""]


def _bytes(name: str, number: int | None) -> str:
    if number is None:
        return "unknown" if name == "physical" else "none"
    return str(number) if name.endswith("buffers") else f"{number / 1e6:,.1f} MB"
