# SPDX-License-Identifier: Apache-2.0
"""Draw a trace that `ndd.trace` has written, for a look without a viewer.

    python tools/trace_picture.py trace.json picture.svg [--begin MS] [--end MS]

A row for each thread or device, slices in it, and lines from each call to its execution to whoever
reads the result. https://ui.perfetto.dev shows much more.
"""

from __future__ import annotations

import argparse
import json
from html import escape
from pathlib import Path
from typing import Any

_WIDTH, _LEFT, _TOP, _ROW, _SLICE = 1600, 120, 30, 46, 15
_COLORS = {
    "call": "#c0d4f0",
    "run": "#4c8bd6",
    "loop": "#7fb77e",
    "file": "#d9a441",
    "wait": "#e3b7b7",
    "read": "#b58fd0",
    "device": "#50a0a0",
}


def draw(events: list[dict[str, Any]], begin: float, end: float) -> str:
    """The picture, of the time between two moments in microseconds."""
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    order = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
    rows = {row: number for number, row in enumerate(sorted(names, key=lambda row: order[row]))}
    scale = (_WIDTH - _LEFT - 10) / max(end - begin, 1e-9)

    def x_of(time: float) -> float:
        return _LEFT + (min(max(time, begin), end) - begin) * scale

    parts = [_ruler(begin, end, x_of)]
    for row, number in rows.items():
        top = _TOP + number * _ROW
        parts.append(f'<text x="4" y="{top + 18}" class="row">{escape(names[row])}</text>')
        parts.append(f'<line x1="0" x2="{_WIDTH}" y1="{top}" y2="{top}" stroke="#ddd"/>')
    slices = [
        e for e in events if e["ph"] == "X" and e["ts"] + e["dur"] >= begin and e["ts"] <= end
    ]
    for event, level in nested(slices):
        left, right = x_of(event["ts"]), x_of(event["ts"] + event["dur"])
        top = _TOP + rows[event["tid"]] * _ROW + 3 + min(level, 2) * (_SLICE - 1)
        width = max(right - left, 0.5)
        parts.append(
            f'<rect x="{left:.2f}" y="{top}" width="{width:.2f}" height="{_SLICE - 2}" '
            f'fill="{_COLORS[event["cat"]]}"><title>{escape(json.dumps(event))}</title></rect>'
        )
        if width > 40:
            text = event["name"][: int(width / 6)]
            parts.append(f'<text x="{left + 2:.2f}" y="{top + 10}">{escape(text)}</text>')
    parts += _arrows(events, rows, begin, end, x_of)
    height = _TOP + len(rows) * _ROW + 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}">'
        "<style>text { font: 10px sans-serif; } .row { font: bold 12px sans-serif; }</style>"
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>\n'
    )


def nested(slices: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    """Slices with how many others of their row they lie in."""
    found = []
    open_ends: dict[int, list[float]] = {}
    for event in sorted(slices, key=lambda e: (e["tid"], e["ts"], -e["dur"])):
        ends = open_ends.setdefault(event["tid"], [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        found.append((event, len(ends)))
        ends.append(event["ts"] + event["dur"])
    return found


def _ruler(begin: float, end: float, x_of: Any) -> str:
    marks = [begin + (end - begin) * k / 10 for k in range(11)]
    return "".join(f'<text x="{x_of(t):.1f}" y="12">{t / 1e3:.2f} ms</text>' for t in marks)


def _arrows(
    events: list[dict[str, Any]], rows: dict[int, int], begin: float, end: float, x_of: Any
) -> list[str]:
    flows: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        if event["ph"] in "stf":
            flows.setdefault(event["id"], []).append(event)
    parts = []
    for points in flows.values():
        points.sort(key=lambda e: e["ts"])
        if points[-1]["ts"] < begin or points[0]["ts"] > end:
            continue
        line = " ".join(f"{x_of(e['ts']):.2f},{_TOP + rows[e['tid']] * _ROW + 10}" for e in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="#d0342c" stroke-width="0.7"/>')
    return parts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trace", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--begin", type=float, default=0.0, help="milliseconds")
    parser.add_argument("--end", type=float, help="milliseconds")
    options = parser.parse_args()
    events = json.loads(options.trace.read_text())
    last = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X")
    end = last if options.end is None else options.end * 1e3
    options.picture.write_text(draw(events, options.begin * 1e3, end))


if __name__ == "__main__":
    main()
