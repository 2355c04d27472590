# SPDX-License-Identifier: Apache-2.0
"""Costs as a table: as text, and for notebooks."""

from __future__ import annotations

import html

from .counters import Cost, Counters

TITLES = ("", "calls", "samples", "wall s", "CPU s", "work", "queued ms", "files s", "out MB")


def rows_of(counters: Counters) -> list[tuple[str, ...]]:
    """One row for each reader and operator, those with the most work first."""
    costs = counters.costs
    work = sum(cost.cpu for cost in costs.values())
    ordered = sorted(costs, key=lambda name: (-costs[name].cpu, name))
    return [_row(name, costs[name], work) for name in ordered]


def _row(name: str, cost: Cost, work: float) -> tuple[str, ...]:
    calls = max(1, cost.calls)
    failed = f" ({cost.failures} failed)" if cost.failures else ""
    return (
        name,
        f"{cost.calls:,}{failed}",
        f"{cost.samples:,}",
        f"{cost.wall:.3f}",
        f"{cost.cpu:.3f}",
        f"{cost.cpu / work:.1%}".replace("%", " %") if work else "",
        f"{cost.queued / calls * 1e3:.2f}" if cost.queued else "",
        f"{cost.file_time:.3f}" if cost.file_time else "",
        f"{cost.bytes_out / 1e6:,.1f}",
    )


def text_table(rows: list[tuple[str, ...]]) -> str:
    """The rows below titles, numbers to the right."""
    table = [TITLES, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(TITLES))]
    lines = []
    for row in table:
        numbers = (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((row[0].ljust(widths[0]), *numbers)).rstrip())
    return "\n".join(lines)


def html_table(sentence: str, advice: list[str], rows: list[tuple[str, ...]], footer: str) -> str:
    """All of a report for a notebook."""
    parts = [f"<p><b>{html.escape(sentence)}</b></p>"]
    parts += [f"<p>{html.escape(text)}</p>" for text in advice]
    if rows:
        head = "".join(f"<th>{title}</th>" for title in TITLES)
        body = "".join(
            "<tr>"
            + f'<td style="text-align:left">{html.escape(row[0])}</td>'
            + "".join(f'<td style="text-align:right">{html.escape(cell)}</td>' for cell in row[1:])
            + "</tr>"
            for row in rows
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        parts += [f"<p>{html.escape(line)}</p>" for line in footer.splitlines()]
    return "<div>" + "".join(parts) + "</div>"
