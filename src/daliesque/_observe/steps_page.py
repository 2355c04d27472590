# SPDX-License-Identifier: Apache-2.0
"""The page about calls: one HTML file without scripts or references to others."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cells import Cell
    from .inspection import Record, Row

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 1rem;
  color: #222; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
section { border-top: 1px solid #ccc; padding: 12px 0; }
code { font-size: 13px; overflow-wrap: anywhere; } .where { color: #777; font-size: 13px; }
.arguments { margin: 4px 0; padding: 0; list-style: none; display: flex; flex-wrap: wrap;
  gap: 2px 18px; font-size: 13px; } .arguments b { font-weight: 600; }
.row { display: flex; flex-wrap: wrap; gap: 10px; margin-top: 8px; align-items: flex-start; }
.row > h3 { font-size: 12px; font-weight: 600; width: 5em; margin: 0; color: #777; }
figure { margin: 0; } figure img { display: block; max-width: 100%; }
figcaption { font-size: 11px; overflow-wrap: anywhere; max-width: 260px; }
.file { border: 1px dashed #999; padding: 8px; font-size: 12px; }
.error { color: #b00020; font-size: 13px; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; }
  section { border-color: #444; } .error { color: #ff7070; } }
"""


def make_page(records: Sequence[Record], left_out: int, again: int) -> str:
    """The page as text; so many lines were left out, and so many calls were made again."""
    parts = ["<h1>Calls, one after the other</h1>"]
    if not records:
        parts.append("<p>No operator was called yet.</p>")
    notes = []
    if again:
        notes.append(f"Lines are shown once: {again:,} later calls of the same lines are not here.")
    if left_out:
        notes.append(f"{left_out:,} more lines with calls are not here.")
    parts += [f"<p>{note}</p>" for note in notes]
    parts += [_section(number, record) for number, record in enumerate(records, 1)]
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Calls</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _section(number: int, record: Record) -> str:
    arguments = "".join(
        f"<li><b>{escape(name)}</b> = {escape(value)}</li>" for name, value in record.arguments
    )
    error = f'<p class="error">{escape(record.error)}</p>' if record.error else ""
    rows = "".join(map(_row, record.rows))
    return (
        f"<section><h2>{number}. {escape(record.name)}</h2>"
        f'<div class="where">{escape(record.where)} <code>{escape(record.line)}</code></div>'
        f'<ul class="arguments">{arguments}</ul>{rows}{error}</section>'
    )


def _row(row: Row) -> str:
    return f'<div class="row"><h3>{escape(row.title)}</h3>{"".join(map(_figure, row.cells))}</div>'


def _figure(cell: Cell) -> str:
    source = f"<br>{escape(cell.source)}" if cell.source else ""
    if not cell.picture:
        return f'<div class="file">{escape(cell.facts)}{source}</div>'
    return (
        f'<figure><img alt="{escape(cell.facts)}" src="{cell.picture}">'
        f"<figcaption>{escape(cell.facts)}{source}</figcaption></figure>"
    )
