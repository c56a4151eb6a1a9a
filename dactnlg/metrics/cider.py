"""CIDEr as coco-caption computes it (Vedantam et al. 2015, the variant D of section 4 without its stemming).

N-grams are weighted by their rarity among the reference sets of the corpus. With a single segment, every n-gram is in
every set, so all weights and the score are 0 by definition; a warning says so.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from dactnlg.metrics.base import MeanMetric, Segment, first_ngrams
from dactnlg.metrics.tokenizers.words import tokenizer

ORDER = 4
SIGMA = 6.0
"""Width, in bigrams, of the Gaussian penalty on a difference in length."""

Gram = Any
"""A word, or a tuple of words."""
Grams = tuple[Sequence[Gram], ...]


class _Rarity(dict[Gram, float]):
    """The weights of n-grams; those in no reference set are weighted as if in one."""

    unseen = 0.0

    def __missing__(self, gram: Gram) -> float:
        return self.unseen


class _Vector:
    """TF-IDF weights of one sentence by order, their norms, and its length in bigrams."""

    __slots__ = ("length", "norms", "weights")

    def __init__(self, orders: Grams, rarity: _Rarity) -> None:
        self.weights: list[dict[Gram, float]] = []
        for grams in orders:
            weights = dict(zip(grams, map(rarity.__getitem__, grams), strict=True))
            if len(weights) < len(grams):
                # Few sentences repeat an n-gram.
                weights = {gram: count * weights[gram] for gram, count in Counter(grams).items()}
            self.weights.append(weights)
        self.norms = [math.sqrt(sum([weight * weight for weight in weights.values()])) for weights in self.weights]
        self.length = len(orders[1])

    def similarity(self, reference: _Vector) -> float:
        """Return the mean cosine over orders, with the hypothesis's weights clipped to the reference's."""
        total = 0.0
        for mine, theirs, norm, other in zip(self.weights, reference.weights, self.norms, reference.norms, strict=True):
            value = 0.0
            for gram, weight in mine.items():
                if gram in theirs:
                    limit = theirs[gram]
                    value += (weight if weight < limit else limit) * limit
            total += value / (norm * other) if norm and other else value
        difference = self.length - reference.length
        return total / ORDER * math.exp(-(difference**2) / (2 * SIGMA**2))


class Cider(MeanMetric):
    """CIDEr, 0 to 10; `prepare` must have seen the references of the whole corpus."""

    names = ("CIDEr",)
    needs_corpus = True

    def __init__(self, tokenization: str = "space") -> None:
        self.settings = {"variant": "coco", "tok": tokenization, "n": str(ORDER), "sigma": f"{SIGMA:g}"}
        self._split = tokenizer(tokenization)
        self._rarity = _Rarity()
        self._sets = 0
        self._known: dict[tuple[str, ...], list[_Vector]] = {}
        self._grams = lru_cache(maxsize=1 << 13)(self._read)

    def prepare(self, references: Iterable[Sequence[str]]) -> None:
        """Count the reference sets that contain each n-gram."""
        frequency: Counter[Gram] = Counter()
        grams_of: dict[tuple[str, ...], set[Gram]] = {}
        self._sets = 0
        for sentences in references:
            if not sentences:
                continue
            key = tuple(sentences)
            if key not in grams_of:
                if len(grams_of) > 256:
                    grams_of.clear()
                grams_of[key] = set(chain.from_iterable(chain.from_iterable(map(self._grams, key))))
            frequency.update(grams_of[key])
            self._sets += 1
        unseen = math.log(self._sets) if self._sets else 0.0
        logarithms = {count: unseen - math.log(count) for count in set(frequency.values())}
        self._rarity = _Rarity({gram: logarithms[count] for gram, count in frequency.items()})
        self._rarity.unseen = unseen
        self._known.clear()

    def warnings(self) -> list[str]:
        """Warn if the score is 0 by definition."""
        if self._sets == 1:
            return ["CIDEr of a single segment is 0 by definition: it weighs n-grams by their rarity among segments"]
        return []

    def forget(self) -> None:
        """Free the n-grams of references and sentences."""
        self._rarity = _Rarity()
        self._known.clear()
        self._grams.cache_clear()

    def score_segment(self, segment: Segment) -> float:
        """Return ten times the mean similarity to the references."""
        key = tuple(segment.references)
        if key not in self._known:
            if len(self._known) > 64:
                self._known.clear()
            self._known[key] = [self._vector(reference) for reference in key]
        hypothesis = self._vector(segment.hypothesis)
        return 10 * sum(map(hypothesis.similarity, self._known[key])) / len(key)

    def _vector(self, sentence: str) -> _Vector:
        return _Vector(self._grams(sentence), self._rarity)

    def _read(self, sentence: str) -> Grams:
        return first_ngrams(self._split(sentence))
