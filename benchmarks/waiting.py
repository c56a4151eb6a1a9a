"""How long one waits for a sentence: a run is loaded and generates acts one by one, as in a dialogue system.

    python benchmarks/waiting.py runs/restaurants-1 runs/laptop-1

A row for each run: loading it; its first act, with slots that training never has together; a hundred such acts, during
which training's sentences are taken apart once for every act type; a hundred more of them; and a hundred acts of the
test split, or as many as there are. Times are milliseconds of processor time. All acts differ, and are drawn with a
seed from the corpus that the run was trained on. Set OMP_NUM_THREADS=1, since waiting threads count.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from common import DATA, versions
from unseen import one_away

from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import load_config

ACTS, SEED = 100, 5
"""How many acts of each kind, and the seed of the draw."""


def waits(generator: Generator, turns: Sequence[Turn]) -> list[float]:
    """Return how many milliseconds each act takes when it is generated alone."""
    found = []
    for turn in turns:
        started = time.process_time()
        generator.generate([turn], strict=False)
        found.append(1000 * (time.process_time() - started))
    return found


def row(folder: Path, acts: int) -> list[str]:
    """Return the cells of a run's row."""
    corpus = load_corpus(load_config(folder / "config.yaml").corpus.name, DATA)
    started = time.process_time()
    generator = Generator.load(folder)
    loading = 1000 * (time.process_time() - started)
    seen = list(dict.fromkeys(example.turn for example in corpus.split("test")))[:acts]
    unseen = waits(generator, list(dict.fromkeys(one_away(corpus, 2 * acts, SEED))))
    found = [loading, unseen[0]]
    half = len(unseen) // 2
    for each in (unseen[:half], unseen[half:], waits(generator, seen)):
        found += [statistics.median(each), max(each), 1000 * len(each) / sum(each)]
    return [folder.name, *(f"{number:,.0f}" for number in found)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--acts", type=int, default=ACTS, help="acts of each kind")
    arguments = parser.parse_args()
    print(f"{versions('dactnlg', 'numpy')}\n")
    parts = [f"{name} {column}" for name in ("unseen", "further", "test") for column in ("median", "longest", "acts/s")]
    print(f"| run | loading | first act | {' | '.join(parts)} |\n|{'---|' * (3 + len(parts))}")
    for folder in arguments.runs:
        print("| " + " | ".join(row(folder, arguments.acts)) + " |", flush=True)


if __name__ == "__main__":
    main()
