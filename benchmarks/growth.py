"""Time and memory as the work grows: acts, beam, vocabulary and hidden units, with an explanation of every slope.

    python benchmarks/growth.py RUN --png                 everything, and benchmarks/growth.png; about ten minutes
    python benchmarks/growth.py RUN --most-acts 100000    a few minutes
    python benchmarks/growth.py RUN --only beam --beam 1 3 10 30
    python benchmarks/growth.py RUN --keep points.jsonl --png curves.png     only draw points measured before

RUN is a finished run of restaurants-sclstm. Every point is measured in its own process (`growth_points.py`), on one
thread and in processor seconds, so that points are comparable. Acts are generated from a file to a file. For the beam,
256 test acts are searched for without reuse. Vocabulary and hidden units are those of models with random weights, which
search with beam 10 for sentences of 15 words, and learn from a batch of 64 such sentences. A slope is the exponent of a
power law, fitted to the last three points by least squares of the logarithms. The corpora are looked for in
DACTNLG_DATA, else in ../shared/data. Drawing needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from common import REPOSITORY, versions
from growth_slopes import KINDS, Point, cost, explained, memory, slope

SIZES = {
    "acts": [1_000, 10_000, 100_000, 1_000_000],
    "beam": [1, 2, 5, 10, 20, 50],
    "vocabulary": [400, 1_000, 4_000, 20_000],
    "hidden": [80, 128, 256, 512, 1_024],
}
PANELS = {"acts": "acts", "beam": "beam width", "vocabulary": "vocabulary, words", "hidden": "hidden units"}


def measured(kind: str, size: int, run: Path, seconds: float) -> Point:
    """Measure one point in a process of its own."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(REPOSITORY)}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    words = [sys.executable, str(Path(__file__).resolve()), str(run), "--point", kind, str(size)]
    words += ["--seconds", str(seconds)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{kind} {size}: {done.stderr.strip()}")
    found: Point = json.loads(done.stdout.splitlines()[-1])
    return {"kind": kind, "size": size, **found}


def all_points(plan: Sequence[tuple[str, int]], run: Path, seconds: float, keep: Path | None) -> list[Point]:
    """Measure all points and print a row for each; those in the file `keep` are not measured again."""
    known: dict[tuple[str, int], Point] = {}
    if keep is not None and keep.exists():
        points = [json.loads(line) for line in keep.read_text(encoding="utf-8").splitlines()]
        known = {(point["kind"], point["size"]): point for point in points}
    print("| what grows | size | wall | processor | products alone | GFLOP | MB before | MB more |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    result = []
    for kind, size in plan:
        point = known.get((kind, size))
        if point is None:
            point = measured(kind, size, run, seconds)
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(f"{json.dumps(point)}\n")
        result.append(point)
        print(_row(point), flush=True)
    return result


def _row(point: Point) -> str:
    times = [_time(point.get(name)) for name in ("wall", "processor", "products")]
    operations = f"{point['operations'] / 1e9:.3g}" if "operations" in point else ""
    memory = [f"{point['before']:.0f}", f"{point['peak'] - point['before']:.1f}"]
    cells = [KINDS[point["kind"]].title, f"{point['size']:,}", *times, operations, *memory]
    return f"| {' | '.join(cells)} |"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.2f} ms" if seconds < 1 else f"{seconds:.1f} s"


def draw(points: Sequence[Point], path: Path) -> None:
    """Draw a column for each quantity that grows, time above, memory below; all axes are logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    names = [name for name in PANELS if any(KINDS[point["kind"]].axis == name for point in points)]
    figure, grid = plt.subplots(
        2, len(names), figsize=(4 * len(names), 7), sharex="col", squeeze=False, layout="constrained"
    )
    for name, (above, below) in zip(names, grid.T, strict=True):
        mine = [point for point in points if KINDS[point["kind"]].axis == name]
        for kind in dict.fromkeys(point["kind"] for point in mine):
            _curves(above, below, [point for point in mine if point["kind"] == kind])
        _label_axes(above, below, name, sorted({point["size"] for point in mine}))
    figure.suptitle("What the work costs as it grows: one thread, slopes of the last three points", fontsize=14)
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"drawn: {path}")


def _curves(above: Any, below: Any, points: Sequence[Point]) -> None:
    kind = points[0]["kind"]
    # Two colours of Okabe and Ito's palette, which the colour-blind can tell apart; the marks differ too.
    colour, mark = ("#D55E00", "s") if kind.startswith("train") else ("#0072B2", "o")
    what = {"train": "training, ", "search": "search, "}.get(kind.partition("-")[0], "")
    sizes, scale = [point["size"] for point in points], 1 if kind == "acts" else 1000
    times = [point["processor"] * scale for point in points]
    for axes, amount, values in ((above, cost, times), (below, memory, [memory(point) for point in points])):
        label = f"{what}slope {slope(points, amount):.2f}"
        if kind == "acts":
            label += " after start-up" if axes is above else ""
            start = statistics.median(point["start" if axes is above else "before"] for point in points)
            axes.axhline(start, color="#777777", linestyle="--", linewidth=1.2, label="one act: start-up")
        axes.loglog(sizes, values, color=colour, marker=mark, label=label, linewidth=2, markersize=6)


def _label_axes(above: Any, below: Any, name: str, sizes: list[int]) -> None:
    """Label the axes of a column, mark its sizes, and leave room above the curves for the legend."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    units = {"acts": "s, all acts", "beam": "ms, an act"}
    above.set_ylabel(f"processor {units.get(name, 'ms, an act or 1,000 tokens')}")
    below.set_ylabel("MB, whole process" if name == "acts" else "MB more than before the work")
    below.set_xlabel(PANELS[name], fontsize=12)
    for axes in (above, below):
        low, high = (math.log10(limit) for limit in axes.get_ylim())
        low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 2)
        axes.set_ylim(10**low, 10 ** (high + (high - low) * 0.2))
        axes.yaxis.set_major_locator(LogLocator(base=10))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.grid(which="major", color="#cccccc", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper left", frameon=False)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a finished run of a neural model")
    parser.add_argument("--only", choices=tuple(KINDS), nargs="+", default=tuple(KINDS), help="what grows")
    for name, sizes in SIZES.items():
        parser.add_argument(
            f"--{name}", type=int, nargs="+", default=sizes, metavar="N", help=f"to measure: {PANELS[name]}"
        )
    parser.add_argument("--most-acts", type=int, default=max(SIZES["acts"]), help="leave out larger files")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to repeat what is quick")
    parser.add_argument("--keep", type=Path, help="a file for the points; those in it are not measured again")
    parser.add_argument(
        "--png", type=Path, nargs="?", const=REPOSITORY / "benchmarks" / "growth.png", help="draw the curves there"
    )
    parser.add_argument("--point", nargs=2, metavar=("KIND", "SIZE"), help="only measure one point, and print JSON")
    options = parser.parse_args()
    if not (options.run / "config.yaml").exists():
        raise SystemExit(f"{options.run} is not a run folder")
    if options.point:
        from growth_points import measure

        print(json.dumps(measure(options.point[0], int(options.point[1]), options.run, options.seconds)))
        return
    if options.png and find_spec("matplotlib") is None:
        raise SystemExit("--png needs matplotlib: install dactnlg[bench]")
    print(versions("tensorflow", "keras", "numpy"))
    print(f"one thread; load {os.getloadavg()[0]:.1f} at the start\n")
    plan = [(kind, size) for kind in options.only for size in sorted(getattr(options, KINDS[kind].axis))]
    plan = [(kind, size) for kind, size in plan if kind != "acts" or size <= options.most_acts]
    points = all_points(plan, options.run, options.seconds, options.keep)
    print("\n| what grows | slope of time | of operations | of memory | why |\n|---|---|---|---|---|")
    for kind in dict.fromkeys(point["kind"] for point in points):
        print(explained([point for point in points if point["kind"] == kind]))
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")
    if options.png:
        draw(points, options.png)


if __name__ == "__main__":
    main()
