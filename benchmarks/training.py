"""The speed of training, beside that of an SC-LSTM in PyTorch trained in the usual way on the same batches.

    python benchmarks/training.py
    python benchmarks/training.py --rounds 3 --backend numpy keras

The workload is fixed: restaurants, hidden 100, batches of 64 and of 32, dropout 0.3, Adam, clipped gradients; the time
of an epoch of E2E is estimated from its first batches. Since the load of a shared machine varies, all take turns of a
few batches each, and what counts is the ratio: the median over the turns, of wall time and of processor time. The peer
learns in two ways, word by word as published, and with everything that does not depend on the state outside the loop;
ratios are given to both. Its batches are cut to their longest sentence, as its own loader would do. The corpora are
looked for in DACTNLG_DATA, else in ../shared/data. Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice

import keras
import numpy as np
from common import DATA, versions
from threadpoolctl import threadpool_limits

from dactnlg import models
from dactnlg.data.batching import Batch, Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.models import build_model
from dactnlg.models import numpy as numpy_models
from dactnlg.models.backend import to_numpy
from dactnlg.models.weights import named_weights
from dactnlg.runs.config import load_config
from dactnlg.training.keras_learner import KerasLearner

TURN = 10
"""How many batches one learns from before another takes its turn."""

Learn = Callable[[Batch], float]
Batches = list[tuple[Batch, int]]


class Contestant:
    """One way to learn, with the speed of each of its turns.

    Args:
        name: for the table.
        learn: takes a step on a batch.
        batches: the batches to learn from, with their numbers of tokens.
        epoch: how many batches an epoch has.
    """

    def __init__(self, name: str, learn: Learn, batches: Batches, epoch: int = 0) -> None:
        self.name, self.learn, self.batches, self.epoch = name, learn, batches, epoch
        self.wall: list[float] = []
        self.processor: list[float] = []

    def turn(self, number: int) -> None:
        """Learn from the next few batches, and note the speeds in tokens per second."""
        few = [self.batches[(number * TURN + k) % len(self.batches)] for k in range(TURN)]
        tokens = sum(count for _, count in few)
        wall, processor = time.perf_counter(), time.process_time()
        for batch, _ in few:
            self.learn(batch)
        self.wall.append(tokens / (time.perf_counter() - wall))
        self.processor.append(tokens / (time.process_time() - processor))

    def row(self, peers: Sequence[Contestant]) -> str:
        """Return a row of the table."""
        ratios = [
            statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            for peer in peers
            for ours, theirs in ((self.wall, peer.wall), (self.processor, peer.processor))
        ]
        speeds = [statistics.median(self.wall), max(self.wall), statistics.median(self.processor)]
        cells = [self.name, *(f"{speed:,.0f}" for speed in speeds), *(f"{ratio:.2f} x" for ratio in ratios)]
        return f"| {' | '.join(cells)} |"


def ours(config_name: str, size: int, backend: str, most: int | None = None) -> Contestant:
    """Return a model of a configuration that learns with a backend."""
    config = load_config(config_name, [f"corpus.data_dir={DATA}"], models)
    preprocessor, pairs = build_preprocessor(load_corpus(config.corpus.name, DATA))
    model = build_model(config.model.name, preprocessor.sizes, **config.model.keywords())
    data = Dataset.encode(preprocessor, pairs, model.inputs, config.training.repetition)
    batches = list(islice(data.batches(size, np.random.default_rng(0)), most))
    options, name, epoch = config.training, f"{config_name}, batch {size}, {backend}", -(-len(data) // size)
    if backend == "keras":
        framework = KerasLearner(model, options.learning_rate, options.clip_norm, sample=data, batch_size=size)
        return Contestant(name, framework.learn, batches, epoch)
    weights = {key: to_numpy(weight) for key, weight in named_weights(model).items()}
    learner = numpy_models.build_learner(config.model, weights, options.learning_rate, options.clip_norm)
    # Training draws the dropped units anew for each epoch.
    learner.reseed(1)
    return Contestant(name, learner.learn, batches, epoch)


def theirs(like: Contestant, size: int, *, hoisted: bool) -> Contestant:
    """Return the peer, with the number of threads that it is fastest with."""
    import torch
    from peer_torch import PeerSCLSTM, choose_threads, learner

    batch = like.batches[0][0]
    words = max(int(max(b["tokens"].max(), b["targets"].max())) for b, _ in like.batches) + 1
    learn = learner(PeerSCLSTM(words, batch["act"].shape[1], dropout=0.3, hoisted=hoisted))
    cut = [(_cut(batch), count) for batch, count in like.batches]
    threads = choose_threads(lambda: [learn(batch) for batch, _ in cut[:3]])

    def with_its_threads(batch: Batch) -> float:
        torch.set_num_threads(threads)
        return learn(batch)

    way = "hoisted" if hoisted else "word by word"
    return Contestant(f"PyTorch, {way}, batch {size}, {threads} thread(s)", with_its_threads, cut)


def _cut(batch: Batch) -> Batch:
    longest = int(batch["lengths"].max())
    return {**batch, "tokens": batch["tokens"][:, :longest], "targets": batch["targets"][:, :longest]}


def race(contestants: Sequence[Contestant], turns: int) -> None:
    """Let all take turns, of which the first are not counted, and print their rows; the first two are the peer's."""
    for contestant in contestants:
        contestant.turn(0)
        contestant.wall.clear()
        contestant.processor.clear()
    for number in range(turns):
        for contestant in contestants:
            contestant.turn(number)
    for contestant in contestants:
        print(contestant.row(contestants[:2]), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2, help="epochs of restaurants")
    parser.add_argument("--backend", choices=("numpy", "keras"), nargs="+", default=["numpy"], help="dactnlg's own")
    parser.add_argument("--batch-size", type=int, nargs="+", default=[64, 32])
    options = parser.parse_args()
    print(versions("tensorflow", "keras", "numpy", "torch"))
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start\n")
    columns = ["wall", "best turn", "processor", "x word by word, wall", "processor", "x hoisted, wall", "processor"]
    print(f"| real tokens/s | {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    keras.utils.set_random_seed(1)
    with threadpool_limits(1, user_api="blas"):
        for size in options.batch_size:
            names = ("restaurants-sclstm", "restaurants-hierarchical", "restaurants-lstm")
            own = [ours(name, size, backend) for name in names for backend in options.backend]
            peers = [theirs(own[0], size, hoisted=hoisted) for hoisted in (False, True)]
            race([*peers, *own], max(1, options.rounds * len(own[0].batches) // TURN))
        large = ours("e2e-sclstm", 64, "numpy", 50)
        race([*(theirs(large, 64, hoisted=hoisted) for hoisted in (False, True)), large], 10)
        speed = statistics.median(large.wall)
        tokens = sum(count for _, count in large.batches) / len(large.batches)
        epoch = large.epoch * tokens / speed
        print(f"\nE2E: {large.epoch} batches an epoch, about {epoch:.0f} s")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
