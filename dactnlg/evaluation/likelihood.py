"""The perplexity of a corpus's references under a model, fair and original (Huang et al. 2020, 2.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import sentences
from dactnlg.evaluation.scores import Score, Scores, defined
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.metrics import perplexity
from dactnlg.metrics.fair_vocabulary import SPECIAL, FairVocabulary
from dactnlg.metrics.perplexity import NAMES, ModelPerplexity, PerplexityMeter

TOKENIZER = "delexicalised"
"""The tokeniser's name in signatures: the model's tokens, with placeholders, in lower case."""


def is_perplexity(name: str) -> bool:
    """Whether a metric's name is one of the perplexities, case ignored."""
    return name.casefold() in NAMES


def add_perplexity(results: Sequence[Scores], decoder: Decoder, corpus: Corpus, split: str) -> None:
    """Add both perplexities over the references of a split to scores of the same split.

    They are computed over the delexicalised references, token by token, so they do not depend on beam search, sampling
    or the preset.

    Args:
        results: scores whose segments are the split's examples.
        decoder: the model with its preprocessor.
        corpus: the corpus; the rare words are those of all its splits.
        split: the split whose references are scored.

    Raises:
        CorpusError: a file of the corpus is missing or damaged.
    """
    preprocessor, examples = decoder.preprocessor, corpus.split(split)
    rows = sentences(corpus, split, "human", preprocessor.style)
    vocabulary = fair_vocabulary(decoder, corpus)
    meter = PerplexityMeter(vocabulary)
    tokens, contexts = [row.tokens for row in rows], [row.context for row in rows]
    targets = perplexity.encode(tokens, vocabulary)
    numbers = [preprocessor.vocabulary.encode(row) for row in tokens]
    logs = decoder.token_scores([row.turn for row in rows], numbers, contexts)
    found = meter.add(logs, targets)
    # There is a row for each reference of an example.
    statistics = np.zeros((len(examples), found.shape[1]))
    np.add.at(statistics, np.repeat(np.arange(len(examples)), [len(e.references) for e in examples]), found)
    acts = [str(example.turn) for example in examples for _ in example.references]
    signatures = perplexity.signatures(TOKENIZER, vocabulary)
    hashes = perplexity.hashes(zip(acts, tokens, strict=True), TOKENIZER, vocabulary)
    metric = ModelPerplexity(statistics)
    values = metric.score(statistics.sum(axis=0)).tolist()
    columns = metric.segment_scores(statistics)
    for result in results:
        for name, value in zip(NAMES, values, strict=True):
            result.scores[name] = Score(name, defined(value), signatures[name], hashes[name])
        result.segments = np.hstack([result.segments, columns])
        result.statistics[NAMES[0]], result.metrics[NAMES[0]] = statistics, metric


def fair_vocabulary(decoder: Decoder, corpus: Corpus) -> FairVocabulary:
    """Return the vocabulary of the fair perplexity: F is the model's own, R all other tokens of the corpus.

    Handcrafted sentences are included.
    """
    preprocessor = decoder.preprocessor
    counts, total = Counter[str](), 0
    for split in corpus.splits:
        for row in sentences(corpus, split, "both", preprocessor.style):
            counts.update(row.tokens)
            total += 1
    frequent = tuple(preprocessor.vocabulary.tokens[len(SPECIAL) :])
    known = {*frequent, *SPECIAL}
    rare = sorted((token for token in counts if token not in known), key=lambda token: (-counts[token], token))
    # The model may have tokens of other training corpora, whose count is 0 here.
    return FairVocabulary(frequent, tuple(rare), 1, {token: counts[token] for token in (*frequent, *rare)}, total)
