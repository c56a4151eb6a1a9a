"""A million pairs from disk, scored by BLEU, ROUGE-L and slot errors: time, CPU time, and whether memory is constant.

    python benchmarks/million.py            1,000,000 pairs (`python benchmarks/metrics.py --million` is the same)
    python benchmarks/million.py 50000      fewer

All sentences differ; the acts are the 1,780 of the embedded corpus, repeated.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from common import REPOSITORY, children_cpu, resident

PAIRS = 1_000_000


def write_pairs(path: Path, count: int) -> None:
    """Write pairs of the embedded corpus, each made different from all others by a number."""
    folder = REPOSITORY / "datasets" / "trails"
    lines = [
        line for split in ("train", "valid", "test") for line in (folder / f"{split}.jsonl").open(encoding="utf-8")
    ]
    rows = [json.loads(line) for line in lines]
    rng = np.random.default_rng(1)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            row = rows[number % len(rows)]
            references = row["references"]
            words = references[int(rng.integers(len(references)))].split()
            words.insert(int(rng.integers(len(words) + 1)), f"n{number}")
            pair = {"hypothesis": " ".join(words), "references": references[:2], "act": row["act"]}
            file.write(json.dumps(pair, ensure_ascii=False) + "\n")


def run(count: int = PAIRS) -> int:
    """Score `count` pairs in a process of its own; return 1 if it failed or its memory grew."""
    program = "import sys; from dactnlg.cli.main import main; sys.exit(main())"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        write_pairs(path, count)
        size = path.stat().st_size / 2**20
        metrics = [word for name in ("BLEU", "ROUGE-L", "SER") for word in ("--metric", name)]
        start, before, memory = time.perf_counter(), children_cpu(), list[float]()
        command = [sys.executable, "-c", program, "score", "--input", str(path), *metrics]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
            done = threading.Event()

            def watch() -> None:
                while not done.wait(max(0.05, count / PAIRS)):
                    memory.append(resident(process.pid))

            watcher = threading.Thread(target=watch)
            watcher.start()
            output, _ = process.communicate()
            done.set()
            watcher.join()
    seconds, cpu = time.perf_counter() - start, children_cpu() - before
    # The first tenth includes the imports; after it memory should not grow.
    early, peak = max(memory[: max(1, len(memory) // 10)], default=0.0), max(memory, default=0.0)
    print(output)
    print(f"{count:,} pairs ({size:.0f} MB) in {seconds:.0f} s ({cpu:.0f} s of CPU, {count / cpu:,.0f} pairs in each)")
    print(f"memory: {early:.0f} MB after a tenth of the time, {peak:.0f} MB at most")
    return int(process.returncode != 0 or peak > early + 64)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=PAIRS, help="how many pairs")
    sys.exit(run(parser.parse_args().pairs))
