"""How long a voice pipeline waits for a sentence, called as from Pipecat or LiveKit.

    python benchmarks/voice.py RUN [--acts N]

Distinct acts of the run's test split are generated one after the other, each awaited in an event loop that continues
with other work (`asyncio.to_thread`), as in the guide to frameworks. The table has milliseconds, for the acts as they
come first and for the same acts once more, and the longest time for which the loop itself stood still.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

import numpy as np
from tabulate import tabulate

from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.generator import Generator
from dactnlg.runs.run import Run


async def say_all(generator: Generator, turns: list[Turn]) -> tuple[list[float], float]:
    """Return the milliseconds of each act, and the longest pause of the loop."""
    pauses, found = [0.0], []

    async def tick() -> None:
        while True:
            begin = time.perf_counter()
            await asyncio.sleep(0.001)
            pauses.append(1_000 * (time.perf_counter() - begin) - 1)

    ticking = asyncio.create_task(tick())
    for turn in turns:
        begin = time.perf_counter()
        await asyncio.to_thread(generator.generate, turn)
        found.append(1_000 * (time.perf_counter() - begin))
    ticking.cancel()
    return found, max(pauses)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--acts", type=int, default=300, help="at most so many acts")
    options = parser.parse_args()
    corpus = Run(options.run).check().corpus
    test = load_corpus(corpus.name, corpus.data_dir).split("test")
    turns = list(dict.fromkeys(example.turn for example in test))[: options.acts]
    begin = time.perf_counter()
    generator = Generator.load(options.run)
    generator.generate("goodbye()", strict=False)
    print(f"loaded, first sentence: {time.perf_counter() - begin:.2f} s")
    rows = []
    for name in ("first time", "again"):
        times, pause = asyncio.run(say_all(generator, turns))
        median, most, longest = np.percentile(times, [50, 95, 100])
        rows.append([name, len(times), f"{median:.1f}", f"{most:.1f}", f"{longest:.1f}", f"{pause:.1f}"])
    print(tabulate(rows, ["acts", "", "median ms", "95% ms", "longest ms", "loop paused ms"], tablefmt="github"))


if __name__ == "__main__":
    main()
