"""NIST (Doddington 2002): n-grams up to five words, each weighed by its information among the references.

As in the E2E challenge's Python mteval: information from the references of the whole corpus, matches clipped by the
largest count in one reference, and a penalty relative to the mean reference length. The scores of segments use the
corpus's information weights.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from dactnlg.metrics.base import Array, Metric, Segment, divide, ngrams
from dactnlg.metrics.tokenizers.words import tokenizer

ORDER = 5
_BETA = -math.log(0.5) / math.log(1.5) ** 2
"""Makes the penalty 1/2 where the hypotheses have two thirds of the length of the references."""


class Nist(Metric):
    """NIST; S = 12: length, mean reference length, matched information by order 1..5, guessed n-grams by order."""

    names = ("NIST",)
    needs_corpus = True

    def __init__(self, tokenization: str = "space", *, lowercase: bool = True) -> None:
        self.settings = {"variant": "mteval", "tok": tokenization, "case": "lower" if lowercase else "as-is"}
        self._split, self._lowercase = tokenizer(tokenization), lowercase
        self._information: dict[tuple[str, ...], float] = {}

    def prepare(self, references: Iterable[Sequence[str]]) -> None:
        """Compute the information of each n-gram: log2 of (count of the n-gram without its last word / count)."""
        counts: Counter[tuple[str, ...]] = Counter()
        for sentences in references:
            for sentence in sentences:
                tokens = self._tokens(sentence)
                counts[()] += len(tokens)
                for order in range(1, ORDER + 1):
                    counts.update(ngrams(tokens, order))
        self._information = {gram: math.log2(counts[gram[:-1]] / count) for gram, count in counts.items() if gram}

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return lengths and matched information of each segment, (N, 12)."""
        rows = np.zeros((len(segments), 2 + 2 * ORDER))
        for row, segment in zip(rows, segments, strict=True):
            if segment.references:
                self._fill(row, self._tokens(segment.hypothesis), [self._tokens(r) for r in segment.references])
        return rows

    def score(self, sums: Array) -> Array:
        """Return NIST, (..., 12) -> (..., 1); NaN where the references are empty."""
        length, reference = sums[..., 0], sums[..., 1]
        matched, guessed = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
        precision = np.divide(matched, guessed, out=np.zeros_like(matched), where=guessed > 0).sum(axis=-1)
        ratio = divide(length, reference)
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = np.where(ratio >= 1, 1.0, np.exp(-_BETA * np.log(ratio) ** 2))
        return np.where(np.isnan(ratio), np.nan, penalty * precision)[..., None]

    def forget(self) -> None:
        """Free the information of the n-grams."""
        self._information.clear()

    def _fill(self, row: Array, hypothesis: list[str], references: list[list[str]]) -> None:
        row[0] = len(hypothesis)
        row[1] = sum(map(len, references)) / len(references)
        for order in range(1, ORDER + 1):
            row[1 + ORDER + order] = max(len(hypothesis) - order + 1, 0)
            guesses = Counter(ngrams(hypothesis, order))
            limits: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                limits |= Counter(gram for gram in ngrams(reference, order) if gram in guesses)
            hits = guesses & limits
            row[1 + order] = sum(self._information[gram] * count for gram, count in hits.items())

    def _tokens(self, sentence: str) -> list[str]:
        return self._split(sentence.lower() if self._lowercase else sentence)
