"""Embedding average, vector extrema and greedy matching (Sharma et al. 2017, sections 3.2.2 to 3.2.4).

Each compares a hypothesis with every reference by cosine and keeps the best; the corpus score is the mean. All are
computed together.

A sentence without a known word has no embedding: each score against it is 0, as is the score of an empty hypothesis.
Cosines may be negative, so references without an embedding count only if no reference has one.

Shapes: W distinct words of a sentence, D dimensions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dactnlg.errors import UnknownNameError
from dactnlg.metrics.base import Array, MeansMetric, Segment
from dactnlg.metrics.embeddings.vectors import WordVectors, load_vectors
from dactnlg.metrics.tokenizers.words import tokenizer

POLICIES = ("skip", "mean")
"""How unknown words are treated: left out, or given the mean of all vectors, as in nlg-eval."""
TOKENS = "treebank"
"""Under all presets, since vectors are trained on words separated from punctuation; nlg-eval tokenises this way too."""
BLOCK = 1024
"""Words compared at a time; lines of 10,000 words must not need a matrix of 10,000 by 10,000."""


class Embedding(NamedTuple):
    """The vectors of a sentence, of length 1 (or 0, if all zeros)."""

    average: Array  # (D,)
    extrema: Array  # (D,)
    words: Array  # (W, D)
    counts: Array  # (W,), how often each occurs


class EmbeddingMetrics(MeansMetric):
    """The three scores, -1 to 1; S = 4: their values and 1 if defined.

    Args:
        vectors: the word vectors; by default those of the file named in the environment.
        oov: how unknown words are treated, one of `POLICIES`.

    Raises:
        UnknownNameError: no such policy.
        MetricError: no vectors are named, or they cannot be read.
    """

    names = ("embedding-average", "vector-extrema", "greedy-matching")

    def __init__(self, vectors: WordVectors | None = None, oov: str = "skip") -> None:
        if oov not in POLICIES:
            raise UnknownNameError("policy for unknown words", oov, POLICIES)
        self._vectors = vectors or load_vectors()
        self._oov = oov
        self.settings = {"vectors": self._vectors.name, "oov": oov, "tok": TOKENS, "case": "lower-if-unknown"}
        self._split = tokenizer(TOKENS)
        self._unknown: Counter[str] = Counter()
        self._said = self._blank = self._sentences = 0
        self._embed = lru_cache(maxsize=2048)(self._make)

    def warnings(self) -> list[str]:
        """Say how many words have no vector, and which are the most frequent."""
        missing = sum(self._unknown.values())
        if not missing:
            return []
        shown = ", ".join(repr(word)[:40] for word, _ in self._unknown.most_common(5))
        treated = "left out" if self._oov == "skip" else "read as the mean vector"
        notes = [f"embeddings: {missing} of {self._said} words of the hypotheses are unknown and {treated} ({shown})"]
        if self._blank and self._oov == "skip":
            notes.append(f"embeddings: {self._blank} of {self._sentences} hypotheses have no known word and score 0")
        return notes

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (average, extrema, greedy, 1) per segment, zeros for one without references; (N, 4)."""
        rows = np.zeros((len(segments), len(self.names) + 1))
        for row, segment in zip(rows, segments, strict=True):
            hypothesis = self._note(segment.hypothesis)
            if not segment.references:
                continue
            row[-1] = 1
            found = [self._embed(reference) for reference in dict.fromkeys(segment.references)]
            references = [embedding for embedding in found if embedding is not None]
            if hypothesis is not None and references:
                row[:-1] = np.max([similarities(hypothesis, reference) for reference in references], axis=0)
        return rows

    def forget(self) -> None:
        """Free the vectors of sentences."""
        self._embed.cache_clear()

    def _note(self, sentence: str) -> Embedding | None:
        """Embed a hypothesis and count its unknown words."""
        words = self._split(sentence)
        unknown = [word for word, row in zip(words, self._vectors.rows(words), strict=True) if row < 0]
        self._unknown.update(unknown)
        self._said += len(words)
        self._sentences += 1
        self._blank += bool(words) and len(unknown) == len(words)
        return self._embed(sentence)

    def _make(self, sentence: str) -> Embedding | None:
        counts = Counter(self._vectors.rows(self._split(sentence)))
        if self._oov == "skip":
            counts.pop(-1, None)
        if not counts:
            return None
        rows = np.fromiter(counts, np.int64, len(counts))
        weights = np.fromiter(counts.values(), np.float64, len(counts))
        words = np.array(self._vectors.vectors(np.maximum(rows, 0)), dtype=np.float64)  # (W, D)
        words[rows < 0] = self._vectors.mean
        return Embedding(unit(weights @ words), unit(extrema(words)), unit(words), weights)


def similarities(hypothesis: Embedding, reference: Embedding) -> tuple[float, float, float]:
    """Return embedding average, vector extrema and greedy matching of two sentences."""
    return (
        _clip(float(hypothesis.average @ reference.average)),
        _clip(float(hypothesis.extrema @ reference.extrema)),
        _clip(greedy(hypothesis, reference)),
    )


def extrema(words: Array) -> Array:
    """Return, in each dimension, the highest value if it exceeds the absolute value of the lowest, else the lowest."""
    highest, lowest = words.max(axis=0), words.min(axis=0)
    extremes: Array = np.where(highest > np.abs(lowest), highest, lowest)
    return extremes


def greedy(hypothesis: Embedding, reference: Embedding) -> float:
    """Return the mean over words of the best cosine with the other sentence's words, averaged over both directions."""
    forward = np.empty(len(hypothesis.words))
    backward = np.full(len(reference.words), -np.inf)
    for start in range(0, len(forward), BLOCK):
        cosines = hypothesis.words[start : start + BLOCK] @ reference.words.T
        forward[start : start + BLOCK] = cosines.max(axis=1)
        np.maximum(backward, cosines.max(axis=0), out=backward)
    there = forward @ hypothesis.counts / hypothesis.counts.sum()
    back = backward @ reference.counts / reference.counts.sum()
    return float(there + back) / 2


def unit(vectors: Array) -> Array:
    """Scale vectors to length 1; zeros stay zeros."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units: Array = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    return units


def _clip(value: float) -> float:
    # Rounding must not give a cosine of 1.0000000000000002.
    return min(max(value, -1.0), 1.0)
