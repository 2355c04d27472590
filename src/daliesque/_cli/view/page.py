# SPDX-License-Identifier: Apache-2.0
"""The page about a data set: one HTML file without scripts or references to others."""

from __future__ import annotations

import base64
import itertools
from collections import Counter
from collections.abc import Iterable
from html import escape

import numpy as np

from .survey import Survey, Thumbnail

_MOST_LABELS = 50
_MOST_BROKEN = 200
_BINS = 10

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 1200px; padding: 1rem;
  color: #222; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.facts { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; }
.facts b { display: block; font-size: 1.4rem; }
.charts { display: flex; flex-wrap: wrap; gap: 0 2.2rem; }
.chart { max-height: 250px; overflow: hidden auto; padding-right: 10px; }
table { border-collapse: collapse; font-size: 13px; } td { padding: 1px 8px 1px 0; }
.bar { background: #0078c8; height: 11px; display: inline-block; min-width: 1px; }
.grid { display: flex; flex-wrap: wrap; gap: 10px; }
figure { margin: 0; max-width: 160px; } figcaption { font-size: 11px; overflow-wrap: anywhere; }
figure img { display: block; max-width: 160px; } .bad td { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd; } }
"""


def make_page(title: str, survey: Survey) -> str:
    """The page as text."""
    facts = {
        "samples": f"{survey.count:,}",
        "broken": f"{len(survey.broken):,}",
        "labels": f"{len(survey.labels):,}",
        "size": f"{survey.bytes / 1e6:,.1f} MB",
    }
    if survey.sizes:
        widths, heights = np.array(survey.sizes).T
        facts["median size"] = f"{int(np.median(widths))} x {int(np.median(heights))}"
    shown = "".join(f"<div><b>{value}</b>{name}</div>" for name, value in facts.items())
    parts = [f"<h1>{escape(title)}</h1>", f'<div class="facts">{shown}</div>']
    charts = [_chart("Formats", survey.formats.most_common())]
    if survey.labels:
        charts.insert(0, _labels(survey.labels))
    if survey.sizes:
        charts += [_histogram("Widths", widths), _histogram("Heights", heights)]
    parts.append(f'<div class="charts">{"".join(charts)}</div>')
    if survey.broken:
        parts.append(_broken(survey.broken))
    figures = "".join(map(_figure, survey.thumbnails))
    parts.append(f'<h2>The first {len(survey.thumbnails)}</h2><div class="grid">{figures}</div>')
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>\n"
    )


def _labels(labels: Counter[str]) -> str:
    rows = labels.most_common(_MOST_LABELS)
    title = "Labels" if len(labels) <= _MOST_LABELS else f"The {_MOST_LABELS} most frequent labels"
    return _chart(title, rows)


def _chart(title: str, rows: Iterable[tuple[str, int]]) -> str:
    rows = list(rows)
    most = max((count for _, count in rows), default=1) or 1
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{count:,}</td>"
        f'<td><span class="bar" style="width:{110 * count // most}px"></span></td></tr>'
        for name, count in rows
    )
    table = f'<div class="chart"><table>{lines}</table></div>'
    return f"<section><h2>{escape(title)}</h2>{table}</section>"


def _histogram(title: str, values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    counts, edges = np.histogram(values, min(_BINS, len(np.unique(values))))
    names = [f"{a:.0f} to {b:.0f}" for a, b in itertools.pairwise(edges.tolist())]
    return _chart(title, zip(names, counts.tolist(), strict=True))


def _broken(broken: list[tuple[str, str]]) -> str:
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(reason)}</td></tr>"
        for name, reason in broken[:_MOST_BROKEN]
    )
    more = len(broken) - _MOST_BROKEN
    rest = f"<p>and {more:,} more</p>" if more > 0 else ""
    return f'<h2>Broken files</h2><table class="bad">{lines}</table>{rest}'


def _figure(thumbnail: Thumbnail) -> str:
    data = base64.standard_b64encode(thumbnail.picture).decode()
    width, height = thumbnail.size
    label = f"<b>{escape(thumbnail.label)}</b> " if thumbnail.label else ""
    return (
        f'<figure><img loading="lazy" alt="{escape(thumbnail.name)}" '
        f'src="data:image/jpeg;base64,{data}"><figcaption>{label}{escape(thumbnail.name)} '
        f"{width}x{height}</figcaption></figure>"
    )
