"""Published corpora as newcomers' tables: some hundred pairs, `init`, and defaults alone.

    python benchmarks/few_pairs.py [--corpus viggo] [--acts 80] FOLDER

For each corpus and number of pairs, `init`, `train` and `generate` are run in FOLDER. The acts are distinct ones of the
test split, drawn with the same seed as the pairs; `slots_ok` false means that the run's own check finds a fault.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import time
from pathlib import Path

from dactnlg.data.corpus import Corpus, load_corpus

PAIRS = {
    "e2e": (400, 2000),
    "viggo": (800, 3000),
    "tv": (1500,),
    "laptop": (1500,),
    "hotel": (960,),
    "restaurants": (1000,),
}
"""Numbers of training pairs; `init` keeps 20% of them for validation and test."""
SEED = 4


def table(corpus: Corpus, pairs: int, path: Path) -> None:
    """Write training pairs of a corpus as a newcomer's table."""
    drawn = random.Random(SEED).sample(list(corpus.pairs("train")), pairs)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("act", "text"), *((str(turn), text) for turn, text in drawn)])


def run(folder: Path, *arguments: str) -> str:
    """Run a command, and return what it printed."""
    command = [sys.executable, "-m", "dactnlg", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def main() -> None:
    """Print a row for each corpus and number of pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for data and runs")
    parser.add_argument("--corpus", choices=list(PAIRS), action="append", help="may be repeated [default: all]")
    parser.add_argument("--acts", type=int, default=80, metavar="N", help="acts of the test split [default: 80]")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    print("| corpus | pairs | seconds of training | acts | slots_ok false | e.g. |\n|---|---|---|---|---|---|")
    for name in options.corpus or PAIRS:
        corpus = load_corpus(name)
        for pairs in PAIRS[name]:
            own = f"{name}{pairs}"
            table(corpus, pairs, folder / f"{own}.csv")
            run(folder, "init", f"{own}.csv", "--overwrite")
            start = time.monotonic()
            run(folder, "train", f"{own}.yaml", "--output", own, "--overwrite", "--quiet")
            seconds = time.monotonic() - start
            acts = list(dict.fromkeys(str(turn) for turn, _ in corpus.pairs("test")))
            drawn = random.Random(SEED).sample(acts, min(options.acts, len(acts)))
            (folder / "acts.txt").write_text("\n".join(drawn) + "\n", encoding="utf-8")
            printed = run(folder, "generate", "--model", own, "--input", "acts.txt", "--format", "json")
            found = [json.loads(line) for line in printed.splitlines()]
            wrong = [each for each in found if not each["slots_ok"]]
            example = min((each["text"] for each in wrong), key=len, default="")
            print(f"| {name} | {pairs} | {seconds:.0f} | {len(found)} | {len(wrong)} | {example} |", flush=True)


if __name__ == "__main__":
    main()
