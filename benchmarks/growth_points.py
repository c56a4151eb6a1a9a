"""One point of `growth.py`, measured in this process: time, operations, and memory before the work and at its peak.

Imports are late, so that memory holds only what the point needs.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from common import DATA, REPOSITORY

TURNS = 256
"""How many test acts are searched for at every beam width."""
BATCH = 64
WORDS = 15
VOCABULARY, HIDDEN, EMBEDDING = 400, 100, 100
"""The sizes that stay the same while another one grows."""
SPREAD = 5.0
"""The approximate standard deviation of random logits: the best words must stand out, as with a trained model."""
least = 1.0
"""For how many processor seconds quick work is repeated."""
Point = dict[str, Any]
Shape = tuple[int, int, int, int]
"""(n, a, b, c): n products of an (a, b) with a (b, c) matrix."""


def measure(kind: str, size: int, run: Path, seconds: float = 1.0) -> Point:
    """Return what one point costs.

    The keys are `wall` and `processor` seconds; `products`, the processor seconds of the matrix products alone, and
    their `operations`; MB `before` the work and at its `peak`. All but memory is per act, or per 1,000 training tokens.
    For acts from a file to a file it is for all of them, products are not counted, and `start` is the time of one act.

    Args:
        kind: `acts`, `beam`, `search-vocabulary`, `search-hidden`, `train-vocabulary` or `train-hidden`.
        size: the size that grows.
        run: a finished run of a neural model.
        seconds: for how many processor seconds quick work is repeated.
    """
    global least
    least = seconds
    if hasattr(os, "sched_setaffinity"):
        # One thread for everything: BLAS reads it from the environment, searches count the processors they may use.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    what, _, grown = kind.partition("-")
    if what == "acts":
        return acts(size, run)
    if what == "beam":
        return beam(size, run)
    work = {"search": search, "train": train}[what]
    return work(run, **{"vocabulary": VOCABULARY, "hidden": HIDDEN, grown: size})


def acts(count: int, run: Path) -> Point:
    """Generate for acts of the test split, repeated, from a file to a file; `before` is the peak for one act."""
    lines = [f"{example.turn}\n" for example in _test_split(run)]

    def timed(count: int) -> tuple[float, float, float]:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "acts.txt", Path(folder) / "sentences.txt"
            with source.open("w", encoding="utf-8") as file:
                file.writelines(islice(cycle(lines), count))
            words = [sys.executable, "-m", "dactnlg", "generate", "--model", str(run), "--constraint", "hard"]
            words += ["--beam-width", "10", "--input", str(source), "--output", str(target)]
            started = time.perf_counter()
            process = subprocess.Popen(words, cwd=REPOSITORY, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
            if status:
                raise SystemExit(f"generate ended with status {status}")
            with target.open(encoding="utf-8") as file:
                if (found := sum(1 for _ in file)) != count:
                    raise SystemExit(f"{found} sentences for {count} acts")
        return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    # A child's reported peak is at least its parent's size; this process has read a corpus, and nothing else.
    _, start, before = timed(1)
    wall, processor, peak = timed(count)
    return {"wall": wall, "processor": processor, "start": start, "before": before, "peak": peak}


def beam(width: int, run: Path) -> Point:
    """Search for the same acts with a beam of this width under the hard constraint, without reuse."""
    from dactnlg.generation.decoders.decoder import Plan

    decoder, turns = _loaded(run)
    decoder.reuse = False
    shapes = recorded(decoder.model)
    return _measured(lambda: decoder.search(turns, Plan(width, hard=True)), len(turns), lambda: shapes)


def search(run: Path, vocabulary: int, hidden: int) -> Point:
    """Search with beam 10 and random weights for sentences of `WORDS` words, the most allowed: no sentence ends."""
    import numpy as np

    from dactnlg.models.numpy.inference import NumpyModel
    from dactnlg.search.constraints import Rules
    from dactnlg.search.numpy_beam import beam_search
    from dactnlg.search.numpy_step import ConstrainedStep
    from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

    vectors = act_vectors(run)
    rng = np.random.default_rng(0)
    model: Any = None
    shapes: list[Shape] = []

    rules = Rules(BOS_ID, EOS_ID, (PAD_ID, BOS_ID, UNK_ID, EOS_ID))

    def work() -> None:
        nonlocal model, shapes
        if model is None:
            # Made here, so that its memory counts.
            weights = _random_weights(rng, vocabulary, hidden, vectors.shape[1])
            model = NumpyModel(("act",), weights, alpha=0.5)
            shapes = recorded(model)
        context, state = model.prepare({"act": vectors})
        step = ConstrainedStep(partial(model.step, context), rules)
        beam_search(step, state, rules, width=10, max_length=WORDS)

    return _measured(work, len(vectors), lambda: shapes)


def train(run: Path, vocabulary: int, hidden: int) -> Point:
    """Take gradient steps in NumPy, on one batch of sentences of `WORDS` random words."""
    import keras
    import numpy as np

    from dactnlg.models import build_model
    from dactnlg.models.backend import to_numpy
    from dactnlg.models.numpy.learner import NumpyLearner
    from dactnlg.models.weights import named_weights
    from dactnlg.text.encoding import Sizes

    vectors = act_vectors(run)
    keras.utils.set_random_seed(0)

    def begun(vocabulary: int, hidden: int) -> Callable[[], None]:
        section = {"hidden_size": hidden, "embedding_size": EMBEDDING, "dropout": 0.3}
        section |= {"alpha": 0.5, "eta": 1e-4, "xi": 100.0}
        model = build_model("sclstm", Sizes(vocabulary, vectors.shape[1], 4), **section)
        weights = {name: to_numpy(weight) for name, weight in named_weights(model).items()}
        learner = NumpyLearner(weights, 0.002, 5.0, section)
        tokens = np.random.default_rng(0).integers(4, vocabulary, (len(vectors), WORDS + 1), np.int32)
        counts = {"lengths": np.full(len(tokens), WORDS, np.int32), "weights": np.ones(len(tokens), np.float32)}
        batch = {"act": vectors, "tokens": tokens[:, :-1], "targets": tokens[:, 1:], **counts}
        return lambda: learner.learn(batch) and None

    # The memory that TensorFlow takes for its first variable is not the model's.
    begun(8, 8)()
    learn: Callable[[], None] | None = None

    def work() -> None:
        nonlocal learn
        learn = learn or begun(vocabulary, hidden)
        learn()

    shapes = training_shapes(len(vectors), hidden, vocabulary, int(vectors.any(axis=0).sum()), vectors.shape[1])
    return _measured(work, len(vectors) * WORDS / 1000, lambda: shapes)


def step_shapes(rows: int, hidden: int, vocabulary: int, entries: int) -> list[Shape]:
    """Return the products of one step of a search: of the gates, of the act (two), and of the output layer."""
    act = [(1, rows, hidden, entries), (1, rows, entries, hidden)] if entries else []
    return [(1, rows, hidden, 4 * hidden), *act, (1, rows, hidden, vocabulary)]


def training_shapes(batch: int, hidden: int, vocabulary: int, entries: int, act: int) -> list[Shape]:
    """Return the products of one gradient step: forward, backward to the inputs, and to the weights."""
    rows, distinct, gates = batch * WORDS, min(batch * WORDS, vocabulary), 4 * hidden + act
    forth_and_back = [(4, batch, hidden, hidden), (1, batch, hidden, entries), (1, batch, entries, hidden)] * 2
    recurrence = [(4, hidden, rows, hidden), (1, hidden, rows, entries), (1, entries, rows, hidden)]
    output = [(1, rows, hidden, vocabulary), (1, hidden, rows, vocabulary), (1, rows, vocabulary, hidden)]
    table = [(1, distinct, EMBEDDING, gates), (1, EMBEDDING, distinct, gates), (1, distinct, gates, EMBEDDING)]
    return forth_and_back * WORDS + recurrence + output + table


def recorded(model: Any) -> list[Shape]:
    """Make a model note the products of its steps, and return the list to which it adds them."""
    shapes: list[Shape] = []
    plain = model.step

    def step(context: Any, state: Any, tokens: Any, owner: Any) -> Any:
        entries = 0 if context.reading_kernel is None else context.reading_kernel.shape[1]
        vocabulary = model.weights["output_kernel"].shape[1]
        shapes.extend(step_shapes(len(tokens), model.hidden_size, vocabulary, entries))
        return plain(context, state, tokens, owner)

    model.step = step
    return shapes


def _measured(work: Callable[[], Any], units: float, products: Callable[[], list[Shape]]) -> Point:
    """Do some work a few times; the first time, which fills caches, counts only for memory.

    Args:
        work: what to do.
        units: times and operations are divided by this.
        products: returns the products of the work; called after the first time.
    """
    before = _memory(reset=True)
    work()
    shapes = list(products())
    walls, processors = [], []
    while len(walls) < 3 or (sum(processors) < least and len(walls) < 50):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    peak = _memory()
    found = {
        "wall": statistics.median(walls),
        "processor": statistics.median(processors),
        "products": min(_alone(shapes) for _ in range(3)),
        "operations": sum(2.0 * n * a * b * c for n, a, b, c in shapes),
    }
    return {**{name: value / units for name, value in found.items()}, "before": before, "peak": peak}


def _alone(shapes: list[Shape]) -> float:
    """Return the processor seconds of some products alone."""
    import numpy as np

    made: dict[Shape, list[Any]] = {}
    spent = 0.0
    for n, a, b, c in shapes:
        if (n, a, b, c) not in made:
            made.clear()
            made[n, a, b, c] = [np.ones(size, np.float32) for size in ((n, a, b), (n, b, c), (n, a, c))]
        left, right, out = made[n, a, b, c]
        started = time.process_time()
        np.matmul(left, right, out=out)
        spent += time.process_time() - started
    return spent


def _memory(reset: bool = False) -> float:
    """Return the peak memory of this process in MB; `reset` first sets the peak to the present size."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _random_weights(rng: Any, vocabulary: int, hidden: int, act: int) -> dict[str, Any]:
    """Return random weights of an sc-LSTM by name; gates and logits keep their size as the model grows."""

    def normal(inner: int, outer: int, spread: float = 1.0) -> Any:
        matrix = rng.standard_normal((inner, outer), "float32")
        matrix *= spread / inner**0.5
        return matrix

    gates = 4 * hidden + act
    return {
        "embedding": normal(vocabulary, EMBEDDING, vocabulary**0.5),
        "projection": normal(EMBEDDING, gates),
        "bias": normal(1, gates, 0.1)[0],
        # The size of a hidden unit is about a quarter.
        "output_kernel": normal(hidden, vocabulary, 4 * SPREAD),
        "output_bias": normal(1, vocabulary, 0.1)[0],
        "cell/recurrent": normal(hidden, 4 * hidden, 4.0),
        "cell/reading": normal(hidden, act, 4.0),
        "cell/act": normal(act, hidden, 4.0),
    }


def _test_split(run: Path) -> Any:
    from dactnlg.data.corpus import load_corpus
    from dactnlg.runs.config import load_config

    return load_corpus(load_config(run / "config.yaml").corpus.name, DATA).split("test")


def _loaded(run: Path) -> tuple[Any, list[Any]]:
    """Return a run's decoder and `TURNS` test acts, evenly spaced, repeated if there are too few."""
    from dactnlg.generation.generator import Generator

    decoder: Any = Generator.load(run, backend="numpy").decoder
    if decoder is None:
        raise SystemExit(f"{run} holds no neural model")
    split = [decoder.preprocessor.delexicalizer.prepared(example.turn) for example in _test_split(run)]
    return decoder, list(islice(cycle(split[:: max(1, len(split) // TURNS)]), TURNS))


def act_vectors(run: Path) -> Any:
    """Return the DA vectors of some of those acts, (BATCH, D)."""
    decoder, turns = _loaded(run)
    return decoder.preprocessor.encoder.vectors(turns[:: len(turns) // BATCH]).astype("float32")
