"""Table 1 of Sharma et al. (2017) beside ours: every model on both corpora, trained, decoded and scored.

    python benchmarks/table1.py                    everything, three seeds: about an hour on two cores
    python benchmarks/table1.py --seeds 1          one seed
    python benchmarks/table1.py --only dstc2       rows whose name begins with this
    python benchmarks/table1.py --paper --seeds 1  only the paper's eight models, one seed
    python benchmarks/table1.py --runs FOLDER      keep the runs there; finished ones are not trained again
    python benchmarks/table1.py --set training.epochs=3    overrides, as `dactnlg train` takes them

The corpora are looked for in DACTNLG_DATA, else in ../shared/data. Scores are medians over the seeds, with the lowest
and the highest in brackets; METEOR needs the extra `meteor`. SER counts delexicalisable slots; `hard` is
`--constraint hard`, the default of generation.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import DATA

from dactnlg import __version__, models
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.result import Evaluation
from dactnlg.generation.options import Constraint, GenerationOptions
from dactnlg.runs.config import Config, load_config
from dactnlg.runs.place import is_unfinished
from dactnlg.runs.run import Run
from dactnlg.training.train import train

MODELS = ("random", "lstm", "sclstm", "hierarchical")
COLUMNS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR-1.5", "ROUGE-L")
# Sharma et al. 2017, Table 1, in this order.
PAPER = {
    "restaurants-random": (0.872, 0.813, 0.765, 0.721, 0.504, 0.796),
    "restaurants-lstm": (0.982, 0.966, 0.949, 0.932, 0.652, 0.944),
    "restaurants-sclstm": (0.980, 0.964, 0.948, 0.931, 0.654, 0.945),
    "restaurants-hierarchical": (0.985, 0.978, 0.970, 0.962, 0.704, 0.965),
    "dstc2-random": (0.875, 0.843, 0.822, 0.807, 0.564, 0.852),
    "dstc2-lstm": (0.900, 0.879, 0.863, 0.851, 0.610, 0.888),
    "dstc2-sclstm": (0.880, 0.850, 0.828, 0.812, 0.578, 0.874),
    "dstc2-hierarchical": (0.909, 0.890, 0.878, 0.870, 0.624, 0.899),
}
HUMAN = "restaurants-human-sclstm"
OTHERS = ("hotel-sclstm", "laptop-sclstm", "tv-sclstm", "e2e-sclstm", "viggo-sclstm", "trails-sclstm")


@dataclass
class Row:
    """The figures of one configuration under one constraint, one entry for each seed."""

    name: str
    constraint: Constraint
    append_questions: bool = True
    scores: dict[str, list[float]] = field(default_factory=dict)
    ser: list[float] = field(default_factory=list)
    faults: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, preset: str, result: Evaluation, seconds: float) -> None:
        """Add the figures of one run."""
        scores = next(scores for scores in result.results if scores.preset == preset).scores
        for name in COLUMNS:
            self.scores.setdefault(name, []).append(scores[name].value or 0.0)
        self.ser.append(scores["SER"].value or 0.0)
        self.faults.append(sum(broken(generation.text) for generation in result.generations))
        self.seconds.append(seconds)


def heading(seeds: Sequence[int], *further: str) -> str:
    """Return the line above a table: the date, the versions of packages, the machine and the seeds."""
    names = ", ".join(f"{name} {version(name)}" for name in ("tensorflow", "keras", "numpy", *further))
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores"
    return f"{date.today()}, dactnlg {__version__}, {names}, {machine}, seeds {seeds}\n"


def broken(text: str) -> bool:
    """Return whether a sentence must not reach a user: empty, or with a placeholder in it."""
    return not text.strip() or "SLOT_" in text


def trained(config: Mapping[str, Any] | Config, folder: Path) -> float:
    """Train unless the folder holds the finished run; return how many seconds the training took."""
    noted = folder / "seconds.txt"
    if is_unfinished(Run(folder)):
        before = float(noted.read_text(encoding="utf-8")) if noted.exists() else 0.0
        started = time.perf_counter()
        try:
            train(config, folder, resume=folder.exists(), progress=sys.stderr.isatty())
        finally:
            if folder.exists():
                noted.write_text(f"{before + time.perf_counter() - started:.1f}", encoding="utf-8")
    return float(noted.read_text(encoding="utf-8"))


def measure(name: str, preset: str, seeds: list[int], runs: Path, overrides: list[str]) -> list[Row]:
    """Train and score one configuration with every seed; return a row for each constraint."""
    random = name.endswith("random")
    rows = [Row(name, constraint) for constraint in (("none",) if random else ("rerank", "hard"))]
    # Only DSTC2 combines questions with other acts, and its references word them otherwise than its training does.
    if name.startswith("dstc2") and not random:
        rows.append(Row(name, "hard", append_questions=False))
    for seed in seeds:
        settings = [f"training.seed={seed}", f"corpus.data_dir={DATA}", *overrides]
        config = load_config(name, settings, models)
        seconds = trained(config, runs / f"{name}-{seed}")
        for row in rows:
            options = GenerationOptions(constraint=row.constraint, append_questions=row.append_questions)
            result = evaluate(runs / f"{name}-{seed}", presets=[preset], metrics=[*COLUMNS, "SER"], options=options)
            row.add(preset, result, seconds)
    return rows


def median(values: list[float]) -> str:
    """Return the median, with the lowest and the highest if there are several values."""
    middle = f"{statistics.median(values):.3f}"
    return middle if len(values) == 1 else f"{middle} [{min(values):.3f}, {max(values):.3f}]"


def show(row: Row) -> str:
    """Return one row of the table, in Markdown."""
    constraint = row.constraint if row.append_questions else f"{row.constraint}, no questions appended"
    cells = [row.name, constraint, *(median(row.scores[name]) for name in COLUMNS)]
    cells += [f"{max(row.ser):.4f}", str(sum(row.faults)), f"{statistics.median(row.seconds):.0f}"]
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table row by row, as the figures become known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", default="", metavar="NAME", help="rows whose name begins with NAME")
    parser.add_argument("--paper", action="store_true", help="only the eight models of the paper's table")
    parser.add_argument("--runs", type=Path, default=Path("runs/table1"), help="finished runs are not trained again")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key")
    options = parser.parse_args()
    print(heading(options.seeds))
    print(f"| configuration | constraint | {' | '.join(COLUMNS)} | SER, worst | broken | seconds |")
    print("|---" * (len(COLUMNS) + 5) + "|", flush=True)
    plan = [(f"{corpus}-{model}", "sharma2017") for corpus in ("restaurants", "dstc2") for model in MODELS]
    if not options.paper:
        plan += [(HUMAN, "rnnlg"), *((name, "single") for name in OTHERS)]
    started = time.perf_counter()
    for name, preset in plan:
        if name.startswith(options.only):
            # Without published figures to compare with one seed is enough: what counts is that no slot is lost.
            seeds = options.seeds[:1] if name in OTHERS else options.seeds
            if name in PAPER:
                print(f"| {name} | paper | {' | '.join(f'{score:.3f}' for score in PAPER[name])} | | | |", flush=True)
            for row in measure(name, preset, seeds, options.runs, options.set):
                print(show(row), flush=True)
    print(f"\nall of it in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
