"""From a file of acts to a file of sentences: speed, and memory as the file grows.

    python benchmarks/bulk.py RUN                      20,000 and 200,000 acts, a few minutes
    python benchmarks/bulk.py RUN --acts 1000000
    python benchmarks/bulk.py RUN --jobs 2             the same through Ray Data, by two processes

The acts are those of a corpus's test split over and over, said by `dactnlg generate --input --output`, each size in a
process of its own. Memory is flat where the peaks of a small and a large file are alike: that of the process, or with
--jobs the proportional share of all processes that it starts, Ray's own too, looked at twice a second (on Linux). The
corpora are looked for in DACTNLG_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from datetime import date
from itertools import cycle, islice
from pathlib import Path

from dactnlg.data.corpus import load_corpus

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("DACTNLG_DATA") or REPOSITORY.parent / "shared" / "data")


def measure(run: str, acts: list[str], count: int, jobs: int) -> tuple[float, float, float]:
    """Return wall seconds, processor seconds and the peak of memory in MB of a call that says so many acts."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "acts.txt", Path(folder) / "sentences.txt"
        with source.open("w", encoding="utf-8") as file:
            file.writelines(f"{act}\n" for act in islice(cycle(acts), count))
        words = [sys.executable, "-m", "dactnlg", "generate", "--model", run, "--jobs", str(jobs)]
        started = time.perf_counter()
        process = subprocess.Popen([*words, "--input", str(source), "--output", str(target)])
        watch = Watch(process.pid)
        if jobs > 1:
            watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        watch.ended.set()
        if status:
            raise SystemExit(f"generate ended with status {status}")
        with target.open(encoding="utf-8") as file:
            lines = sum(1 for _ in file)
        if lines != count:
            raise SystemExit(f"{lines} sentences for {count} acts")
    return seconds, usage.ru_utime + usage.ru_stime, watch.peak if jobs > 1 else usage.ru_maxrss / 1024


class Watch(threading.Thread):
    """Looks at the memory of a process and of all that come from it, until `ended` is set.

    Attributes:
        peak: the most that was seen, in MB.
    """

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process, self.peak, self.ended = process, 0.0, threading.Event()

    def run(self) -> None:
        """Look twice a second."""
        while not self.ended.wait(0.5):
            self.peak = max(self.peak, sum(map(share, family(self.process))))


def family(process: int) -> list[int]:
    """Return a process and its descendants."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name before it, in brackets, may hold anything.
            parents[int(folder.name)] = int((folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    found = [process]
    for member in found:
        found += [child for child, parent in parents.items() if parent == member]
    return found


def share(process: int) -> float:
    """Return the memory of a process in MB, of what it shares with others its part; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run folder")
    parser.add_argument("--corpus", default="restaurants")
    parser.add_argument("--acts", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--jobs", type=int, default=1, help="processes of Ray; 1 does without Ray")
    options = parser.parse_args()
    acts = [str(example.turn) for example in load_corpus(options.corpus, DATA).split("test")]
    print(f"{date.today()}, {len(acts)} acts of {options.corpus} over and over, {options.jobs} process(es)\n")
    print("| acts | wall, s | acts/s | processor, s | peak memory, MB |\n|---|---|---|---|---|", flush=True)
    for count in options.acts:
        wall, processor, memory = measure(options.run, acts, count, options.jobs)
        # What Ray's processes take is not told to the one that started them.
        own = f"{processor:.0f}" if options.jobs == 1 else ""
        print(f"| {count:,} | {wall:.0f} | {count / wall:,.0f} | {own} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
