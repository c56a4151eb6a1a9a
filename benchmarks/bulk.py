"""From a file of acts to a file of sentences: speed, and memory as the file grows.

    python benchmarks/bulk.py RUN                      20,000 and 200,000 acts, a few minutes
    python benchmarks/bulk.py RUN --acts 1000000

The acts are those of a corpus's test split over and over, said by `dactnlg generate --input --output`, each size in a
process of its own. Memory is flat where the peaks of a small and a large file are alike. The corpora are looked for in
DACTNLG_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import date
from itertools import cycle, islice
from pathlib import Path

from dactnlg.corpora.base import load_corpus

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DACTNLG_DATA") or REPOSITORY.parent / "shared" / "data")


def measure(run: str, acts: list[str], count: int) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds and the peak of memory in MB of one process that says so many acts."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "acts.txt", Path(folder) / "sentences.txt"
        with source.open("w", encoding="utf-8") as file:
            file.writelines(f"{act}\n" for act in islice(cycle(acts), count))
        words = [sys.executable, "-m", "dactnlg", "generate", "--model", run]
        started = time.perf_counter()
        process = subprocess.Popen([*words, "--input", str(source), "--output", str(target)])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status:
            raise SystemExit(f"generate ended with status {status}")
        with target.open(encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        if lines != count:
            raise SystemExit(f"{lines} sentences for {count} acts")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--corpus", default="restaurants")
    parser.add_argument("--acts", type=int, nargs="+", default=[20_000, 200_000])
    options = parser.parse_args()
    acts = [str(example.turn) for example in load_corpus(options.corpus, DATA).split("test")]
    print(f"{date.today()}, {len(acts)} acts of {options.corpus} over and over\n")
    print(
        "| acts | wall, s | processor, s | acts per second of it | peak memory, MB |\n|---|---|---|---|---|", flush=True
    )
    for count in options.acts:
        wall, processor, memory = measure(options.run, acts, count)
        print(f"| {count:,} | {wall:.0f} | {processor:.0f} | {count / processor:,.0f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
