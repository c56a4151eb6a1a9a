"""An n-gram language model with modified Kneser-Ney smoothing (Chen and Goodman 1998; Heafield et al. 2013).

The definition is KenLM's: one `<s>` before a sentence, which is never predicted; adjusted counts (the number of left
neighbours) below the highest order, raw ones for n-grams that begin a sentence; three discounts per order; unigrams
interpolated with the uniform distribution over the vocabulary, so that no word has probability 0. NLTK's model gives
unseen words probability 0 and searches all contexts for every word; KenLM's Python package can query but not train.

Shapes: T tokens of all sentences concatenated, `<s>` and `</s>` included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import MetricError
from dactnlg.metrics.base import Array

Ids = NDArray[np.int64]
ORDER = 5
FALLBACK = (0.5, 1.0, 1.5)
"""Discounts for texts too small to estimate them: KenLM's `--discount_fallback`."""
_BEGIN, _END, _UNKNOWN = range(3)


class _Order(NamedTuple):
    keys: Ids
    """Sorted: context id * vocabulary size + word; an n-gram's id is its index here."""
    share: Array
    """Discounted count of each n-gram, divided by its context's total."""
    backoff: Array
    """For each context (n-gram of the order below): the mass given to the order below; 1 for an unseen context."""


class KneserNey:
    """A language model trained on tokenised sentences.

    Args:
        sentences: the training sentences.
        vocabulary: the known words; all others are one unknown word. By default those of `sentences`.
        order: the order of the longest n-grams.
        discounts: three discounts per order; by default (as usual) estimated from the counts.

    Raises:
        MetricError: no sentences.
    """

    def __init__(
        self,
        sentences: Sequence[Sequence[str]],
        vocabulary: Iterable[str] | None = None,
        order: int = ORDER,
        discounts: Sequence[tuple[float, float, float]] | None = None,
    ) -> None:
        if not sentences:
            raise MetricError("a language model needs at least one sentence")
        words = {word for sentence in sentences for word in sentence} if vocabulary is None else vocabulary
        self._ids = {word: index for index, word in enumerate(sorted(set(words)), start=3)}
        self.size = len(self._ids) + 3
        tokens, places = self._flatten(sentences)
        self._orders: list[_Order] = []
        keys, grams = _number(tokens, places, self.size, order)
        # Sentences may all be shorter than the longest n-grams.
        longest = max(k for k in range(1, order + 1) if len(keys[k - 1]))
        for k in range(1, longest + 1):
            counts = _adjusted_counts(k, keys, grams, places, longest)
            used = discounts[k - 1] if discounts else estimate_discounts(counts)
            self._orders.append(self._smooth(keys[k - 1], counts, used, len(keys[k - 2]) if k > 1 else 1))

    def log_probabilities(self, sentences: Sequence[Sequence[str]]) -> list[Array]:
        """Return the natural log probabilities of each sentence's words and of its end, one array per sentence."""
        tokens, places = self._flatten(sentences)
        # Uniform over all words, the unknown word and the end.
        probabilities = np.full(len(tokens), 1.0 / (self.size - 1))
        contexts = np.zeros(len(tokens), np.int64)
        for k, level in enumerate(self._orders, start=1):
            inside = (places >= k - 1) & (contexts >= 0) & (places > 0)
            found = _find(level.keys, contexts * self.size + tokens)
            share = np.where(found >= 0, level.share[found], 0.0)
            backoff = level.backoff[contexts]
            probabilities = np.where(inside, share + backoff * probabilities, probabilities)
            # The context of the next order is the n-gram of this order that ends one word earlier.
            complete = np.where((places >= k - 1) & (contexts >= 0), found, -1)
            if k == 1:
                complete = _find(level.keys, tokens)
            contexts = np.concatenate([[-1], complete[:-1]])
            contexts = np.where(places >= k, contexts, -1)
        ends = np.flatnonzero(places == 0)[1:]
        return [part[1:] for part in np.split(np.log(probabilities), ends)] if len(tokens) else []

    def perplexity(self, sentences: Sequence[Sequence[str]]) -> float:
        """Return exp of the mean negative log probability per token, sentence ends included; NaN for no sentences."""
        found = self.log_probabilities(sentences)
        return float(np.exp(-np.mean(np.concatenate(found)))) if found else float("nan")

    def _flatten(self, sentences: Sequence[Sequence[str]]) -> tuple[Ids, Ids]:
        """Return token ids and each token's position in its sentence, (T,) and (T,)."""
        tokens: list[int] = []
        places: list[int] = []
        for sentence in sentences:
            tokens += [_BEGIN, *(self._ids.get(word, _UNKNOWN) for word in sentence), _END]
            places += range(len(sentence) + 2)
        return np.array(tokens, np.int64), np.array(places, np.int64)

    def _smooth(self, keys: Ids, counts: Array, discounts: tuple[float, float, float], contexts: int) -> _Order:
        table = np.array([0.0, *discounts])
        cut = table[np.minimum(counts, 3).astype(np.int64)]
        parents = keys // self.size
        totals = np.bincount(parents, weights=counts, minlength=contexts)
        held_back = np.bincount(parents, weights=cut, minlength=contexts)
        backoff = np.divide(held_back, totals, out=np.ones(contexts), where=totals > 0)
        share = np.divide(counts - cut, totals[parents], out=np.zeros(len(keys)), where=counts > 0)
        return _Order(keys, share, backoff)


def estimate_discounts(counts: Array) -> tuple[float, float, float]:
    """Return Chen and Goodman's discounts for counts 1, 2 and 3 or more; `FALLBACK` if undefined or invalid."""
    n1, n2, n3, n4 = (int(np.count_nonzero(counts == k)) for k in range(1, 5))
    if not (n1 and n2 and n3):
        return FALLBACK
    y = n1 / (n1 + 2 * n2)
    found = (1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3)
    return found if all(0 <= d <= k for k, d in enumerate(found, start=1)) else FALLBACK


def _number(tokens: Ids, places: Ids, size: int, order: int) -> tuple[list[Ids], list[Ids]]:
    """Return, for each order, the sorted keys of its n-grams, and the n-gram that ends at each token, or -1."""
    keys, grams = [], []
    contexts = np.zeros(len(tokens), np.int64)
    for k in range(1, order + 1):
        whole = np.flatnonzero((places >= k - 1) & (contexts >= 0))
        unique, inverse = np.unique(contexts[whole] * size + tokens[whole], return_inverse=True)
        gram = np.full(len(tokens), -1, np.int64)
        gram[whole] = inverse
        keys.append(unique)
        grams.append(gram)
        contexts = np.where(places >= k, np.concatenate([[-1], gram[:-1]]), -1)
    return keys, grams


def _adjusted_counts(k: int, keys: list[Ids], grams: list[Ids], places: Ids, order: int) -> Array:
    """Return the counts of order k: raw for the highest order and at sentence beginnings, else of left neighbours."""
    gram, size = grams[k - 1], len(keys[k - 1])
    begins = places == k - 1
    raw = np.bincount(gram[(gram >= 0) & (begins if k < order else True)], minlength=size).astype(np.float64)
    if k == 1:
        # `<s>` is a context, never a word.
        raw[:] = 0
        if order == 1:
            raw = np.bincount(gram[places > 0], minlength=size).astype(np.float64)
    if k == order:
        return raw
    longer = grams[k]
    _, first = np.unique(longer[longer >= 0], return_index=True)
    endings = gram[np.flatnonzero(longer >= 0)[first]]
    return raw + np.bincount(endings, minlength=size)


def _find(keys: Ids, wanted: Ids) -> Ids:
    """Return the indices of keys in a sorted array, -1 for missing ones."""
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, places, -1)
