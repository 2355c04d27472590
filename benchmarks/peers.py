# SPDX-License-Identifier: Apache-2.0
"""Operators against the libraries that one would use instead: CPU time, time, and ratios.

    python benchmarks/peers.py [--threads 2] [--rounds 5] [--chart FILE] [NAME ...]

`make peers` makes an environment with the other libraries; one that is missing is left out. Rows
are in `rows/peers_*.py`; names choose some of them (`"1e7 f32*"`, `"dilate*"`).

The libraries take part one after the other, round after round; medians count. CPU time is that of
all threads of the process with one thread asked for, wall-clock time is measured with `--threads`.
A ratio is the time of the fastest peer divided by ours: below 1 we are slower. Results are kept in
`results/peers.json`, in which a run replaces the rows that it measured.
"""

from __future__ import annotations

import argparse
import fnmatch
import importlib
import importlib.metadata
import importlib.util
import json
import math
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from rows.peer_row import Call, Row

import daliesque as ndd

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results" / "peers.json"
OURS = "daliesque"
LEAST_SECONDS = 0.05
Times = dict[str, dict[str, float]]


def all_rows() -> dict[str, Row]:
    """The rows of all areas."""
    rows: dict[str, Row] = {}
    for path in sorted((FOLDER / "rows").glob("peers_*.py")):
        rows |= importlib.import_module(f"rows.{path.stem}").ROWS
    return rows


def library_of(name: str) -> str:
    """The module that a column needs: "cv2-area" needs cv2."""
    return name.rstrip("*").partition("-")[0]


def set_threads(count: int) -> None:
    """For every library that is loaded and has such a setting."""
    ndd.set_num_threads(count)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)
    if "cv2" in sys.modules:
        sys.modules["cv2"].setNumThreads(count)


def seconds_of(call: Call, clock: Any, least: float) -> float:
    """How long a call takes by a clock, on average."""
    count, begin = 0, clock()
    while count == 0 or clock() - begin < least:
        call()
        count += 1
    return float(clock() - begin) / count


def measure(calls: dict[str, Call], rounds: int, threads: int) -> Times:
    """Milliseconds of each library: of CPU time with one thread, and of time with `threads`."""
    for call in calls.values():
        call()
    found: Times = {name: {} for name in calls}
    settings = (("cpu", 1, time.process_time), ("wall", threads, time.perf_counter))
    for kind, count, clock in settings:
        set_threads(count)
        times: dict[str, list[float]] = {name: [] for name in calls}
        for number in range(rounds + 1):
            for name, call in calls.items():
                taken = seconds_of(call, clock, LEAST_SECONDS if number else 0)
                # The first round warms up.
                times[name] += [taken] if number else []
        for name, values in times.items():
            found[name][kind] = round(statistics.median(values) * 1e3, 4)
    return found


def best_ratio(times: Times, kind: str) -> tuple[float, str] | None:
    """Our ratio to the fastest peer that does the same work, and its name."""
    own = times[OURS][kind]
    peers = {n: t[kind] for n, t in times.items() if n != OURS and not n.endswith("*")}
    if not peers:
        return None
    name = min(peers, key=lambda peer: peers[peer])
    return peers[name] / own, name


def report(results: dict[str, Any]) -> None:
    """What is below 1, below 1.5 and below its target; geometric means."""
    for kind in ("cpu", "wall"):
        ratios = {}
        for name, row in results.items():
            best = best_ratio(row["times"], kind)
            if best is not None:
                ratios[name] = best[0]
        if not ratios:
            continue
        mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios.values()))
        print(f"\n{kind}: geometric mean {mean:.2f} over {len(ratios)} rows")
        titles = {"below 1.0": (0.0, 1.0), "below 1.5": (1.0, 1.5)}
        for title, (low, high) in titles.items():
            part = sorted((ratio, name) for name, ratio in ratios.items() if low <= ratio < high)
            print(f"  {title}:", ", ".join(f"{name} ({r:.2f})" for r, name in part) or "none")
        missed = sorted(
            (ratio / results[name]["target"], f"{name} ({ratio:.2f} of {results[name]['target']})")
            for name, ratio in ratios.items()
            if ratio < results[name]["target"]
        )
        print("  below target:", ", ".join(text for _, text in missed) or "none")


def versions(names: set[str]) -> dict[str, str]:
    packages = importlib.metadata.packages_distributions()
    return {
        name: importlib.metadata.version(packages[name][0]) for name in names if name in packages
    }


def processor() -> str:
    """The name of the processor, where the system says it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def save(results: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    """All rows that were ever measured, those of this run replaced."""
    kept: dict[str, Any] = {}
    if RESULTS.exists():
        kept = json.loads(RESULTS.read_text())["rows"]
    known = all_rows()
    rows = {name: kept[name] for name in known if name in kept} | results
    rows = {name: rows[name] for name in known if name in rows}
    libraries = {library_of(name) for row in rows.values() for name in row["times"]}
    whole = {
        "processor": processor(),
        "threads": options.threads,
        "versions": dict(sorted(versions(libraries).items())),
        "rows": rows,
    }
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(whole, indent=1) + "\n")
    return rows


def chart(rows: dict[str, Any], target: str) -> None:
    """The ratio of CPU times of every row, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = {name: best_ratio(row["times"], "cpu") for name, row in rows.items()}
    ratios = sorted((best[0], f"{name} ({best[1]})") for name, best in found.items() if best)
    figure, axis = pyplot.subplots(figsize=(9, 0.19 * len(ratios) + 1))
    colors = ["#c0392b" if ratio < 1 else "#2c7fb8" for ratio, _ in ratios]
    values = [math.log2(ratio) for ratio, _ in ratios]
    axis.barh([name for _, name in ratios], values, color=colors)
    ticks = range(-2, 6)
    axis.set_xticks(list(ticks), [f"{2.0**tick:g}x" for tick in ticks])
    axis.set_title("CPU time of the fastest peer, divided by ours")
    axis.tick_params(axis="y", labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(y=0.005)
    figure.tight_layout()
    figure.savefig(target, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", default=["*"], metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chart", help="draw all results into this PNG")
    parser.add_argument("--dry", action="store_true", help="do not write results/peers.json")
    options = parser.parse_args()
    rows = all_rows()
    chosen = [n for n in rows if any(fnmatch.fnmatchcase(n, pattern) for pattern in options.names)]
    results: dict[str, Any] = {}
    for name in chosen:
        calls = {
            library: call
            for library, call in rows[name].make().items()
            if importlib.util.find_spec(library_of(library))
        }
        times = measure(calls, options.rounds, options.threads)
        results[name] = {"target": rows[name].target, "times": times}
        own = times[OURS]
        cells = [f"{own['cpu']:8.2f} {own['wall']:8.2f} ms"]
        cells += [
            f"{peer} {t['cpu'] / own['cpu']:.2f} {t['wall'] / own['wall']:.2f}"
            for peer, t in times.items()
            if peer != OURS
        ]
        print(f"{name:32}" + "   ".join(cells), flush=True)
    kept = results if options.dry else save(results, options)
    report(results)
    if options.chart:
        chart(kept, options.chart)


if __name__ == "__main__":
    main()
