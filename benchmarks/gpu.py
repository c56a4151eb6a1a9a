"""The same search and the same training on a GPU, through Keras; says so and leaves where there is none.

    python benchmarks/gpu.py                                 whatever Keras is set to, TensorFlow if nothing else
    KERAS_BACKEND=jax python benchmarks/gpu.py --peak 67     beside the float32 TFLOP/s of the card's data sheet
    python benchmarks/gpu.py --run RUN --batch-size 1024 262144
    python benchmarks/gpu.py --batch-size --train trails-seq2seq     training alone

Without a run the sc-LSTM of the embedded corpus (hidden 100) is trained for 20 epochs first; its test acts are
repeated to fill a batch, and each is searched for. A search is timed from arrays on the device to token numbers in
the machine's memory. The step's matrix products are also timed by themselves, on as many rows as the batch has beams;
the card's peak is that of a product of two large square matrices, measured in the same process. Before all that
some acts are said twice, by Keras on the device and by NumPy, and compared. Models of dialogue are trained on
DailyDialog, where it is at hand.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import keras
import numpy as np
from keras import ops

from dactnlg import models
from dactnlg.acts import Turn
from dactnlg.data.batching import Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.data.dialogues import context_pairs, load_dialogues
from dactnlg.data.pairs import build_preprocessor
from dactnlg.errors import CorpusError
from dactnlg.generation.decoders.decoder import Plan
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.models import build_model
from dactnlg.models.backend import compiled, keep_float32, to_numpy
from dactnlg.models.dialogue_sections import DialogueSection
from dactnlg.runs.config import Config, load_config
from dactnlg.text.dialogue_preprocessor import DialoguePreprocessor
from dactnlg.text.vocabulary import EOS_ID
from dactnlg.training.dialogue import encode
from dactnlg.training.keras_learner import KerasLearner
from dactnlg.training.train import train

BATCHES = (1_024, 4_096, 16_384, 65_536, 262_144)
TRAINING_BATCHES = (64, 512, 4_096)
TRAINED = ("trails-sclstm", "trails-seq2seq", "dailydialog-gru_seq2seq", "dailydialog-hred")
DIALOGUES = 1_000
"""Dialogues whose turns fill the batches of models of dialogue; DailyDialog has to be where corpora are looked for."""
EPOCHS = 20
SQUARE = 8192
ALIKE = 128
"""Acts that are said by NumPy as well: a batch."""


def gpus() -> list[str]:
    """Return the GPUs that Keras' backend can use."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        found = [tf.config.experimental.get_device_details(gpu) for gpu in tf.config.list_physical_devices("GPU")]
        return [details.get("device_name", "a GPU") for details in found]
    if keras.backend.backend() == "jax":
        import jax

        return [device.device_kind for device in jax.devices() if device.platform in ("gpu", "cuda", "rocm")]
    if keras.backend.backend() == "torch":
        import torch

        return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]
    return []


def full_errors() -> tuple[type[Exception], ...]:
    """Return what the backend raises when the card's memory is full."""
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        return MemoryError, tf.errors.ResourceExhaustedError, tf.errors.InternalError
    # JAX has it as a RuntimeError of its own.
    return MemoryError, RuntimeError


def seconds(function: Callable[[], Any], rounds: int) -> float:
    """Return how long a call takes, the median; the first call, which compiles, is not counted."""
    function()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def wait(result: Any) -> None:
    """Wait until the device has computed something: a number of it has to be here."""
    to_numpy(ops.ravel(result)[:1])


def product_seconds(shapes: list[tuple[int, int, int]], repeat: int, rounds: int) -> float:
    """Return how long the products of matrices of some shapes, (rows, inner, columns) each, take together."""
    rng = np.random.default_rng(0)
    pairs = [
        tuple(ops.convert_to_tensor(rng.standard_normal(size, np.float32)) for size in ((a, b), (b, c)))
        for a, b, c in shapes
    ]
    multiply = compiled(lambda pairs: [ops.matmul(left, right) for left, right in pairs])

    def work() -> None:
        for _ in range(repeat):
            results = multiply(pairs)
        wait(results[-1])

    return seconds(work, rounds) / repeat


def operations(shapes: list[tuple[int, int, int]]) -> float:
    """Return the additions and multiplications of products."""
    return sum(2.0 * a * b * c for a, b, c in shapes)


def step_shapes(model: Any, rows: int) -> list[tuple[int, int, int]]:
    """Return the shapes of one step's products."""
    gates, hidden = model.cell.gate_size, model.hidden_size
    shapes = [(rows, hidden, gates), (rows, hidden, model.sizes.vocabulary)]
    # The DA gate: what is left of the act enters the cell.
    return [*shapes, (rows, model.sizes.act, hidden)] if gates > 4 * hidden else shapes


def agreement(run: Path, generator: Generator, turns: list[Turn]) -> str:
    """Return how far what Keras says is from what NumPy says, on the CPU."""
    options = GenerationOptions(constraint="rerank")
    ours, theirs = (each.generate(turns, options) for each in (generator, Generator.load(run, backend="numpy")))
    alike = [(a.score or 0, b.score or 0) for a, b in zip(ours, theirs, strict=True) if a.text == b.text]
    apart = max((abs(a - b) for a, b in alike), default=0)
    return f"sentences like NumPy's: {len(alike):,} of {len(turns):,}, log probabilities {apart:.1e} apart at most"


def searching(run: Path, sizes: list[int], width: int, rounds: int, peak: float) -> None:
    """Print the table of the search; `peak` in operations a second."""
    generator = Generator.load(run, backend="keras")
    decoder = generator.decoder
    if not isinstance(decoder, KerasDecoder):
        raise SystemExit(f"{run} holds no neural model")
    corpus = load_corpus(load_config(run / "config.yaml").corpus.name)
    print(agreement(run, generator, [example.turn for example in corpus.split("test")[:ALIKE]]), end="\n\n", flush=True)
    turns = [generator.preprocessor.delexicalizer.prepared(example.turn) for example in corpus.split("test")]
    inputs = decoder.inputs(turns)
    print("| acts | constraint | acts/s | a step's products | of the peak, alone | of the peak, within the search |")
    print("|---|---|---|---|---|---|", flush=True)
    for size in sizes:
        batch = {name: ops.convert_to_tensor(a[np.arange(size) % len(turns)]) for name, a in inputs.items()}
        shapes = step_shapes(decoder.model, size * width)
        for hard in (False, True):
            program = compiled(lambda inputs, hard=hard: decoder.trace(inputs, Plan(width, hard)))
            history: list[Any] = []

            def search(program: Any = program, batch: Any = batch, history: list[Any] = history) -> None:
                history[:] = [to_numpy(part) for part in program(batch)]

            try:
                took = seconds(search, rounds)
                alone = product_seconds(shapes, 5, rounds)
            except full_errors() as error:
                print(
                    f"| {size:,} | {'hard' if hard else 'none'} | {type(error).__name__}: not done | | | |", flush=True
                )
                continue
            steps = int((history[0] != EOS_ID).any(axis=(1, 2)).sum()) + 1
            shares = [operations(shapes) / alone / peak, operations(shapes) * steps / took / peak]
            print(
                f"| {size:,} | {'hard' if hard else 'none'} | {size / took:,.0f} | {alone * 1000:.2f} ms "
                f"| {shares[0]:.1%} | {shares[1]:.2%} ({steps} steps) |",
                flush=True,
            )


def encoded(config: Config, least: int) -> tuple[Any, Dataset]:
    """Return a configuration's model, and so many of its training pairs at least as arrays."""
    section = config.model
    if isinstance(section, DialogueSection):
        turns = load_dialogues(config.corpus.name, splits=["train"]).splits["train"][:DIALOGUES]
        said = context_pairs(turns, section.turns)
        known = DialoguePreprocessor.build(said, turns=section.turns, longest=section.longest, most=section.most_words)
        model = build_model(section.name, known.sizes, **section.keywords())
        return model, encode(known, said * -(-least // len(said)), model, None)
    preprocessor, pairs = build_preprocessor(load_corpus(config.corpus.name))
    model = build_model(section.name, preprocessor.sizes, **section.keywords())
    return model, Dataset.encode(preprocessor, pairs * -(-least // len(pairs)), model.inputs)


def learning(names: list[str], sizes: list[int], rounds: int) -> None:
    """Print the table of training."""
    print("\n| batch | configuration | real tokens/s, training.backend=keras |\n|---|---|---|", flush=True)
    for name in names:
        config = load_config(name, models=models)
        rate, norm = config.training.learning_rate, config.training.clip_norm
        for size in sizes:
            try:
                model, data = encoded(config, 4 * size)
            except CorpusError as error:
                print(f"{name}: {error}", file=sys.stderr)
                break
            batches = list(islice(data.batches(size, np.random.default_rng(0)), 4))
            learner = KerasLearner(model, rate, norm, sample=data, batch_size=size)
            try:
                took = seconds(lambda learner=learner, batches=batches: [learner.learn(b) for b, _ in batches], rounds)
            except full_errors() as error:
                print(f"| {size:,} | {name} | {type(error).__name__}: not done |", flush=True)
                continue
            print(f"| {size:,} | {name} | {sum(count for _, count in batches) / took:,.0f} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a finished run of a neural model")
    parser.add_argument(
        "--batch-size", type=int, nargs="*", default=BATCHES, help="acts searched for at once; none to train alone"
    )
    parser.add_argument("--train", nargs="+", default=TRAINED, metavar="CONFIG", help="what is trained")
    parser.add_argument("--training-batch-size", type=int, nargs="+", default=TRAINING_BATCHES)
    parser.add_argument("--beam-width", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peak", type=float, help="TFLOP/s in float32 of the card's data sheet, instead of measured")
    parser.add_argument(
        "--square", type=int, default=SQUARE, help="size of the matrices that the peak is measured with"
    )
    parser.add_argument("--cpu", action="store_true", help="measure without a GPU too, to try the script")
    options = parser.parse_args()
    backend, found = keras.backend.backend(), gpus()
    if not found and not options.cpu:
        print(f"no GPU that Keras can use with its backend {backend}: nothing measured")
        return
    print(f"{date.today()}, {', '.join(found) or 'no GPU'}, Keras {version('keras')} on {backend} {version(backend)}")
    keep_float32()
    square = [(options.square, options.square, options.square)]
    measured = operations(square) / product_seconds(square, 3, options.rounds)
    peak = options.peak * 1e12 if options.peak else measured
    print(f"peak: {peak / 1e12:.3g} TFLOP/s in float32 ({measured / 1e12:.3g} measured); beam {options.beam_width}\n")
    with tempfile.TemporaryDirectory() as folder:
        run = options.run
        if run is None and options.batch_size:
            few = [f"training.epochs={EPOCHS}", "training.batch_size=32"]
            run = train(load_config("trails-sclstm", few, models), Path(folder) / "run", progress=False).path
        if options.batch_size:
            searching(run, list(options.batch_size), options.beam_width, options.rounds, peak)
    learning(list(options.train), list(options.training_batch_size), options.rounds)


if __name__ == "__main__":
    main()
