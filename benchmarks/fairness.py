"""Table 6 of Huang et al. (2020) on E2E: original and fair perplexity of one language model for several F.

    python benchmarks/fairness.py
    python benchmarks/fairness.py --t-min 1 40 --epochs 5 --sentences 10000

The corpus is looked for in DACTNLG_DATA, else in ../shared/data. The model is the package's plain LSTM with an act that
says nothing, and so a language model over the sentences, cased and with their values, in the tokens of `--tokenizer`.
For every T_min it has the same sizes, the same sentences in the same order, and the same number of epochs; F, the set
of words that occur at least T_min times, is counted on the training sentences. Expected: the original perplexity falls
as F shrinks; the fair one may fall at first (words seen once or twice are hardly learned) but rises in the end; the
hash of the fair figure is the same in all rows, that of the original differs in each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

import keras
import numpy as np
from common import DATA
from keras import ops

from dactnlg.data.batching import Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.evaluation.hash_codes import FairData
from dactnlg.metrics.base import SHORT
from dactnlg.metrics.fair_vocabulary import FairVocabulary
from dactnlg.metrics.perplexity import NAMES, Perplexity, PerplexityMeter, encode, model_targets
from dactnlg.metrics.tokenizers.fair import TextTokenizer, text_tokenizer
from dactnlg.models import build_model
from dactnlg.models.backend import jit_compile, make_deterministic, to_numpy
from dactnlg.models.base import NeuralModel
from dactnlg.text.encoding import Sizes
from dactnlg.text.example import Example
from dactnlg.text.vocabulary import BOS_ID, EOS_ID

# Huang et al. 2020, Table 6: a GRU on MSCOCO; T_min -> |F|, fair perplexity, original perplexity.
PAPER = {
    1: (30765, 14.17, 14.15),
    2: (19227, 14.11, 13.95),
    4: (12555, 14.10, 13.74),
    10: (8044, 14.22, 13.39),
    40: (4062, 15.30, 12.69),
    160: (1900, 17.13, 11.49),
}
COLUMNS = (
    "T_min | F | R | rare in test | original | fair | paper: F | original | fair | hash, original | hash, fair | s"
)


class Remembered:
    """A tokeniser that splits each sentence once, since all T_min have the same tokens."""

    def __init__(self, tokenizer: TextTokenizer) -> None:
        self.name, self.settings, self.detokenize = tokenizer.name, tokenizer.settings, tokenizer.detokenize
        self._split, self._known = tokenizer.tokenize, dict[str, list[str]]()

    def tokenize(self, sentence: str) -> list[str]:
        """Return the tokens of a sentence."""
        if sentence not in self._known:
            self._known[sentence] = self._split(sentence)
        return self._known[sentence]


def corpus_splits(name: str, sentences: int, seed: int) -> dict[str, list[Example]]:
    """Return the corpus with so many training sentences, drawn with a seed, as single examples; 0 keeps all."""
    corpus = load_corpus(name, DATA)
    splits = {split: list(corpus.split(split)) for split in corpus.splits}
    single = [Example(e.turn, (text,)) for e in splits["train"] for text in e.references]
    order = np.random.default_rng(seed).permutation(len(single))
    splits["train"] = [single[row] for row in order[: sentences or None]]
    return splits


def language_model(
    sentences: Sequence[Sequence[str]], vocabulary: FairVocabulary, options: argparse.Namespace
) -> NeuralModel:
    """Train the model on tokenised sentences."""
    keras.utils.set_random_seed(options.seed)
    make_deterministic()
    known = vocabulary.model_vocabulary()
    # The act vector has one entry, which is always 0, and there are no words of values.
    sizes = Sizes(vocabulary=len(known), act=1, words=0)
    model = build_model("lstm", sizes, hidden_size=options.hidden, embedding_size=options.hidden)
    optimizer = keras.optimizers.Adam(options.learning_rate, global_clipnorm=5.0)
    model.compile(optimizer=optimizer, jit_compile=jit_compile())
    rows = [[BOS_ID, *known.encode(tokens), EOS_ID] for tokens in sentences]
    lengths = np.array([len(row) - 1 for row in rows], np.int32)
    tokens = np.zeros((len(rows), lengths.max() + 1), np.int32)
    for line, row in zip(tokens, rows, strict=True):
        line[: len(row)] = row
    nothing = np.zeros((len(rows), 1), np.float32)
    data = Dataset({"act": nothing}, tokens, lengths, np.ones(len(rows), np.float32))
    for epoch in range(options.epochs):
        for batch, _ in data.batches(options.batch_size, np.random.default_rng([options.seed, epoch])):
            model.train_on_batch(batch)
        # Halved after every epoch: a simple schedule that needs no validation.
        optimizer.learning_rate = options.learning_rate * 0.5 ** (epoch + 1)
    return model


def perplexity(model: NeuralModel, sentences: Sequence[Sequence[str]], vocabulary: FairVocabulary) -> Perplexity:
    """Return both perplexities of tokenised sentences."""
    meter = PerplexityMeter(vocabulary)
    for chunk in chunks(sorted(sentences, key=len), 128):
        targets = encode(chunk, vocabulary)
        seen = model_targets(targets, vocabulary)
        inputs: dict[str, Any] = {"act": np.zeros((len(chunk), 1), np.float32)}
        inputs["tokens"] = np.pad(seen[:, :-1], ((0, 0), (1, 0)), constant_values=BOS_ID).astype(np.int32)
        logs = to_numpy(ops.log_softmax(model.logits(inputs)))
        meter.add(np.take_along_axis(logs, seen[..., None], axis=2)[..., 0], targets)
    return meter.result()


def chunks(sentences: Sequence[Sequence[str]], size: int) -> Iterator[Sequence[Sequence[str]]]:
    """Yield the sentences in chunks."""
    for start in range(0, len(sentences), size):
        yield sentences[start : start + size]


def print_table(options: argparse.Namespace) -> list[Perplexity]:
    """Print a row for each T_min as its figures become known, and return them."""
    splits = corpus_splits(options.corpus, options.sentences, options.seed)
    training = [text for example in splits["train"] for text in example.references]
    tokenizer = Remembered(text_tokenizer(options.tokenizer, training))
    found, signatures = [], {}
    print(f"| {COLUMNS} |\n|" + "---|" * COLUMNS.count("|") + "---|", flush=True)
    for t_min in options.t_min:
        started = time.process_time()
        data = FairData(splits, tokenizer, t_min)
        model = language_model(data.sentences("train"), data.vocabulary, options)
        result = perplexity(model, data.sentences("test"), data.vocabulary)
        hashes = data.perplexity_hashes()
        paper = PAPER.get(t_min)
        cells = [t_min, len(data.vocabulary.frequent), len(data.vocabulary.rare), f"{result.rare / result.tokens:.2%}"]
        cells += [f"{result.original:.3f}", f"{result.fair:.3f}"]
        cells += [paper[0], f"{paper[2]:.2f}", f"{paper[1]:.2f}"] if paper else [""] * 3
        cells += [hashes[NAMES[1]][:SHORT], hashes[NAMES[0]][:SHORT], f"{time.process_time() - started:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
        found.append(result)
        signatures[hashes[NAMES[0]]] = t_min
    tokens = sum(len(row) + 1 for row in data.sentences("train"))
    print(
        f"\n{date.today()}, {options.corpus}, tokeniser {tokenizer.name}, cased; {len(training):,} training sentences"
        f" ({tokens:,} tokens with ends), {options.epochs} epochs, {options.hidden} units, batches of"
        f" {options.batch_size}, rate {options.learning_rate:g}, seed {options.seed};"
        f" {found[0].tokens:,} test tokens; seconds are CPU time"
    )
    print(f"hashes of the fair figure: {len(signatures)}")
    return found


def verdict(found: Sequence[Perplexity]) -> str:
    """Return whether the table shows what the paper's does, as a sentence."""
    originals, fair = [r.original for r in found], [r.fair for r in found]
    falls = all(later < earlier for earlier, later in zip(originals, originals[1:], strict=False))
    best = fair.index(min(fair))
    rises = fair[-1] > fair[best]
    return (
        f"the original figure falls with every row: {'yes' if falls else 'NO'}; the fair one is best in row {best + 1}"
        f" and higher in the last: {'yes' if rises else 'NO'}"
    )


def main() -> None:
    """Read the arguments and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--t-min", type=int, nargs="+", default=[1, 2, 4, 10, 40], metavar="N")
    parser.add_argument("--corpus", default="e2e")
    parser.add_argument("--tokenizer", default="treebank")
    parser.add_argument("--sentences", type=int, default=20_000, help="training sentences; 0 for all")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.015)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(verdict(print_table(options)))


if __name__ == "__main__":
    main()
