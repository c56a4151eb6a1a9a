"""The speed of decoding, beside that of an SC-LSTM in PyTorch written in the usual way.

    python benchmarks/decoding.py                            trains its own models first, a few minutes
    python benchmarks/decoding.py --run RUN --hierarchical RUN    finished runs of restaurants-sclstm, -hierarchical
    python benchmarks/decoding.py --only decoding            or one, cold, hierarchical
    python benchmarks/decoding.py --run RUN --only profile   where the time goes, on one core

The workload is fixed: the test split of restaurants (1039 acts), beam 10, hidden 100. Since the load of a shared
machine varies, the peer and dactnlg take turns, and what counts is the ratio: the median of the ratios within a round.
The peer has two beam searches, one hypothesis at a time as published, and all beams of an act in one batch; figures and
ratios are given for both, in this order. The time of dactnlg is that from parsed acts to sentences with checked slots,
the peer's that from DA vectors to tokens. The corpora are looked for in DACTNLG_DATA, else in ../shared/data. Needs the
extra `bench`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import DATA, REPOSITORY, versions

from dactnlg import models
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import Constraint, load_config
from dactnlg.runs.run import Run
from dactnlg.training.train import train

PARTS = ("decoding", "one", "cold", "hierarchical")
ROOMS = {
    "the model's step": ("models/",),
    "search": ("search/", "generation/decoders/"),
    "slot checks": ("text/slots.py", "text/values/mentions.py"),
    "putting text together": (
        "text/surface.py",
        "text/relexicalization.py",
        "text/values/realization.py",
        "text/values/capitals.py",
        "text/values/casing.py",
        "text/values/delexicalization.py",
        "text/requests.py",
    ),
    "acts, encoding, other text": ("acts/", "text/"),
    "candidates": ("generation/",),
}
"""The rows of the profile, by the beginnings of paths in the package, the first match; the time of NumPy and Python is
that of their callers."""
CONSTRAINTS: tuple[Constraint, ...] = ("none", "rerank", "hard")
BATCH = 64
WIDE = GenerationOptions(constraint="none", beam_width=10)
CALLS = 9
"""How often a call with reuse is made in a round; the median counts."""
FEW = 104
"""How many acts the peer generates in a round: every tenth of the test split, so that lengths are representative."""


class Table:
    """The printed table: what was measured, dactnlg's figure, the peer's, their ratio, the target."""

    def __init__(self) -> None:
        print("| what | dactnlg | peer | ratio | to reach |\n|---|---|---|---|---|", flush=True)

    def row(self, what: str, ours: str, peer: str = "", ratio: str = "", target: str = "") -> None:
        """Print one row."""
        print(f"| {what} | {ours} | {peer} | {ratio} | {target} |", flush=True)


def seconds(function: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def own_run(name: str, folder: Path, epochs: int, *overrides: str) -> Path:
    """Train a configuration for at most `epochs` epochs, until its validation loss stops falling; return the run."""
    options = [f"corpus.data_dir={DATA}", f"training.epochs={epochs}", "training.patience=2", *overrides]
    config = load_config(name, options, models)
    return train(config, folder / name, progress=False).path


def test_turns() -> list[Turn]:
    """Return the acts of the test split."""
    return [example.turn for example in load_corpus("restaurants", DATA).split("test")]


def bleu(sentences: Sequence[str]) -> float:
    """Return BLEU-4, lower-cased, of the sentences for every tenth test act against all its references."""
    import sacrebleu

    references = [e.references for e in load_corpus("restaurants", DATA).split("test")][: 10 * len(sentences) : 10]
    columns = [[refs[k] if k < len(refs) else None for refs in references] for k in range(max(map(len, references)))]
    return float(sacrebleu.corpus_bleu(list(sentences), columns, lowercase=True).score)


def decoding(table: Table, run: Path, rounds: int) -> None:
    """Time beam search: the peer's, ours with a search for every act, and ours with reuse for equal acts."""
    from peer_torch import choose_threads, generate_all, with_weights
    from torch import set_num_threads

    generator, turns = Generator.load(run), test_turns()
    if generator.decoder is None:
        raise SystemExit(f"{run} holds no neural model")
    decoder, preprocessor = generator.decoder, generator.preprocessor
    peer = with_weights(load_arrays(Run(run).weights_path), Run(run).check().model.keywords())
    some = [preprocessor.delexicalizer.prepared(turn) for turn in turns[::10]][:FEW]
    vectors = preprocessor.encoder.vectors(some)

    def ours(constraint: Constraint, reuse: bool) -> None:
        decoder.reuse = reuse
        generator.generate(turns, GenerationOptions(constraint=constraint, beam_width=10), strict=False)

    speeds: dict[tuple[Constraint, bool], list[float]] = {
        (c, reuse): [] for reuse in (False, True) for c in CONSTRAINTS
    }
    peers: dict[bool, list[float]] = {False: [], True: []}
    generate_all(peer, vectors[:5])
    threads = {
        batched: choose_threads(lambda b=batched: generate_all(peer, vectors[:10], batched=b)) for batched in peers
    }
    for key in speeds:
        ours(*key)
    for _ in range(rounds):
        for batched, found in peers.items():
            set_num_threads(threads[batched])
            found.append(len(some) / seconds(lambda b=batched: generate_all(peer, vectors, batched=b)))
        for (constraint, reuse), found in speeds.items():
            # A single call with reuse is too short to measure.
            took = [seconds(lambda c=constraint, r=reuse: ours(c, r)) for _ in range(CALLS if reuse else 1)]
            found.append(len(turns) / statistics.median(took))
    their = " / ".join(f"{statistics.median(found):.0f}" for found in peers.values())
    for (constraint, reuse), found in speeds.items():
        ratios = [statistics.median(a / b for a, b in zip(found, other, strict=True)) for other in peers.values()]
        what = f"acts/s, beam 10, constraint {constraint}, {'with' if reuse else 'no'} reuse"
        target = ("60 x, 2,000" if not reuse else "20,000") if constraint == "none" else ""
        shown = " / ".join(f"{ratio:.0f} x" for ratio in ratios)
        table.row(what, f"{statistics.median(found):,.0f}", their, shown, target)
    extra = statistics.median(a / b for a, b in zip(speeds["none", False], speeds["hard", False], strict=True)) - 1
    table.row("the hard constraint's share of the time", f"{extra:+.0%}", target="+20%")
    generated = generate_all(peer, vectors)
    both = sum(a == b for (a, _), (b, _) in zip(generated, generate_all(peer, vectors, batched=True), strict=True))
    theirs = [
        Candidate(preprocessor, preprocessor.request(turn), tuple(preprocessor.vocabulary.decode(tokens)), None).raw
        for turn, (tokens, _) in zip(some, generated, strict=True)
    ]
    own = [g.raw for g in generator.generate(some, WIDE, strict=False)]
    same = sum(a == b for a, b in zip(own, theirs, strict=True))
    what = f"BLEU-4 of {len(some)} of them; {same} generated alike, {both} in both ways of the peer"
    table.row(what, f"{bleu(own):.2f}", f"{bleu(theirs):.2f}")


def one(table: Table, run: Path, rounds: int) -> None:
    """Time single acts in a warm process, without reuse."""
    generator, turns = Generator.load(run), test_turns()[::10]
    if generator.decoder is not None:
        generator.decoder.reuse = False
    for constraint in ("none", "hard"):
        options = GenerationOptions(constraint=constraint)  # type: ignore[arg-type]
        generator.generate(turns[:3], options, strict=False)
        times = []
        for turn in turns * rounds:
            times.append(seconds(lambda t=turn, o=options: generator.generate([t], o, strict=False)))
        middle, slow = np.percentile(times, [50, 95]) * 1000
        table.row(
            f"one act, warm, constraint {constraint}, p50 / p95", f"{middle:.1f} / {slow:.1f} ms", target="3 / 6 ms"
        )


def cold(table: Table, run: Path, rounds: int) -> None:
    """Time a new process that generates for one act, beside one that only imports PyTorch."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    act = "inform(name='red door cafe';kidsallowed=no)"

    def start(*command: str) -> float:
        return seconds(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))

    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(start(sys.executable, "-m", "dactnlg", "generate", "--model", str(run), act))
        theirs.append(start(sys.executable, "-c", "import torch"))
    ratio = statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
    figures = [f"{statistics.median(times):.2f} s" for times in (ours, theirs)]
    table.row("`generate`, cold process, one act (peer: import torch alone)", *figures, f"{ratio:.1f} x", "1.5 s")


def hierarchical(table: Table, run: Path, other: Path, rounds: int) -> None:
    """Time the hierarchical model beside the sc-LSTM, without reuse."""
    turns = test_turns()
    generators = [Generator.load(path) for path in (other, run)]
    speeds: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for generator, found in zip(generators, speeds, strict=True):
            if generator.decoder is not None:
                generator.decoder.reuse = False
            took = seconds(lambda g=generator: g.generate(turns, WIDE, strict=False))
            # The first round is a warm-up.
            if number:
                found.append(len(turns) / took)
    ratio = statistics.median(a / b for a, b in zip(*speeds, strict=True))
    figures = [f"{statistics.median(found):,.0f}" for found in speeds]
    table.row("acts/s, hierarchical (peer: our sc-LSTM)", *figures, f"{ratio:.2f} x", "0.5 x")


def profile(run: Path) -> None:
    """Print where the time goes, with and without reuse."""
    import cProfile
    import pstats

    os.environ["OMP_NUM_THREADS"] = "1"  # the profiler sees only one thread
    generator, turns = Generator.load(run), test_turns()
    print("| part of the time (profiled: calls look dearer than they are) | no reuse | with reuse |\n|---|---|---|")
    columns = []
    for reuse in (False, True):
        generator.decoder.reuse = reuse  # type: ignore[union-attr]
        options = GenerationOptions(constraint="hard", beam_width=10)
        generator.generate(turns, options, strict=False)
        with cProfile.Profile() as profiler:
            generator.generate(turns, options, strict=False)
        columns.append(shares(pstats.Stats(profiler)))
    for room in [*ROOMS, "the rest"]:
        print(f"| {room} | " + " | ".join(f"{1000 * column.get(room, 0.0):,.0f} ms" for column in columns) + " |")
    print("| all | " + " | ".join(f"{1000 * sum(column.values()):,.0f} ms" for column in columns) + " |", flush=True)


def shares(stats: Any) -> dict[str, float]:
    """Return the seconds spent in each of the rooms, and in what these call outside the package."""
    found: dict[str, float] = {}
    for (file, _, _), (_, _, own, _, callers) in stats.stats.items():
        inside = room_of(file)
        # The time of a library's function is divided among its callers.
        parts = [(room_of(caller[0]), times[2]) for caller, times in callers.items()]
        for room, spent in [(inside, own)] if inside else parts or [(None, own)]:
            found[room or "the rest"] = found.get(room or "the rest", 0.0) + spent
    return found


def room_of(file: str) -> str | None:
    """Return the room that a file belongs to; None for one outside the package."""
    _, inside, name = file.rpartition("/dactnlg/")
    rooms = (room for room, beginnings in ROOMS.items() if name.startswith(beginnings))
    return next(rooms, "the rest") if inside else None


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a finished run of restaurants-sclstm")
    parser.add_argument("--hierarchical", type=Path, help="a finished run of restaurants-hierarchical")
    parser.add_argument("--only", choices=[*PARTS, "profile"], nargs="+", default=PARTS, help="measure only these")
    parser.add_argument("--rounds", type=int, default=3, help="how often dactnlg and the peer take turns")
    options = parser.parse_args()
    print(versions("tensorflow", "keras", "numpy", "torch"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, medians of {options.rounds}\n")
    with tempfile.TemporaryDirectory() as folder:
        run = options.run or own_run("restaurants-sclstm", Path(folder), 12, f"training.batch_size={BATCH}")
        if "profile" in options.only:
            profile(run)
            return
        table = Table()
        for part in options.only:
            if part == "hierarchical":
                other = options.hierarchical or own_run("restaurants-hierarchical", Path(folder), 6)
                hierarchical(table, run, other, options.rounds)
            else:
                {"decoding": decoding, "one": one, "cold": cold}[part](table, run, options.rounds)
    print(f"\nload {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
