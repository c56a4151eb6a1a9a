"""Is decoding as fast as in another commit? Two checkouts take turns in one run.

    git worktree add ../before COMMIT --detach
    python benchmarks/beside.py ../before                          trains restaurants-sclstm in both first, two minutes
    python benchmarks/beside.py ../before --runs BEFORE NOW        finished runs, one of each checkout

The workload is fixed: the test split of restaurants (1039 acts), beam 10, each constraint; `search` searches for every
act, `reuse` reuses earlier results. Each checkout has its own process, and the two never work at the same time, so that
a varying load of the machine affects both. A ratio above 1 means that this checkout is faster; the table has the median
of the ratios within a round, and their quartiles. The corpora are looked for in DACTNLG_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from common import DATA, REPOSITORY
from tqdm import tqdm

CONSTRAINTS = ("none", "rerank", "hard")
ROUNDS = 15
# Commits from before the package was divided into rooms have other imports and take options by name.
WORKER = """
import sys, time
try:
    from dactnlg.generation.generator import Generator
    from dactnlg.generation.options import GenerationOptions
    from dactnlg.data.corpus import load_corpus
    options = lambda constraint: {"options": GenerationOptions(constraint=constraint, beam_width=10)}
except ImportError:
    from dactnlg.generation import Generator
    from dactnlg.corpora import load_corpus
    options = lambda constraint: {"constraint": constraint, "beam_width": 10}
generator = Generator.load(sys.argv[1])
turns = [example.turn for example in load_corpus("restaurants").split("test")]
for line in sys.stdin:
    constraint, reuse = line.split()
    generator.decoder.reuse = reuse == "reuse"
    begun = time.perf_counter()
    for _ in range(5 if generator.decoder.reuse else 1):
        generator.generate(turns, strict=False, **options(constraint))
    print(time.perf_counter() - begun, flush=True)
"""


class Checkout:
    """A process that generates with the code of a checkout, on request.

    Args:
        folder: the checkout.
        run: one of its runs; None trains one.
        scratch: the folder to train it in.
    """

    def __init__(self, folder: Path, run: Path | None, scratch: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(folder.resolve()), "DACTNLG_DATA": str(DATA)}
        if run is None:
            run = scratch / folder.resolve().name
            command = [sys.executable, "train.py", "restaurants-sclstm", "--output", str(run)]
            subprocess.run(command, cwd=folder, env=environment, check=True, stdout=sys.stderr)
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, str(run.resolve())],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, task: str) -> float:
        """Return how long a task took: a constraint, then `reuse` or `search`."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the process has no pipes")
        print(task, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def main() -> None:
    """Print how fast this checkout decodes beside another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="the other checkout")
    parser.add_argument(
        "--runs", type=Path, nargs=2, metavar=("BEFORE", "NOW"), default=(None, None), help="one run of each checkout"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often the two take turns")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        before = Checkout(options.before, options.runs[0], Path(scratch))
        now = Checkout(REPOSITORY, options.runs[1], Path(scratch))
        for each in (before, now):  # loads the runs before their folder is removed
            each.seconds("none search")
    print("| acts | before, ms | now, ms | ratio | quartiles |\n|---|---|---|---|---|")
    for what in ("search", "reuse"):
        for constraint in CONSTRAINTS:
            task = f"{constraint} {what}"
            for each in (before, now):
                each.seconds(task)
            both = []
            for i in tqdm(range(options.rounds), desc=task, leave=False, disable=None):
                pair = {each: each.seconds(task) for each in ((before, now) if i % 2 else (now, before))}
                both.append((pair[before], pair[now]))
            old, new = (1000 * statistics.median(times) for times in zip(*both, strict=True))
            low, middle, high = statistics.quantiles([a / b for a, b in both], n=4)
            print(f"| {task} | {old:.0f} | {new:.0f} | {middle:.2f} | {low:.2f} to {high:.2f} |", flush=True)
    before.close()
    now.close()


if __name__ == "__main__":
    main()
