"""Sentence BLEU-4 against a whole set of references, on which self-BLEU, forward and backward BLEU are based.

The set matters only by how often each n-gram may be matched, and by the lengths of its sentences.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from dactnlg.metrics.base import ngrams

ORDER = 4
EPSILON = 0.1
"""Replaces a count of no matches: smoothing method 1 of Chen and Cherry 2014, as in NLTK and CoTK."""
SETTINGS = {"n": str(ORDER), "smooth": "method1"}
Gram = tuple[str, ...]


def count_grams(tokens: Sequence[str]) -> Counter[Gram]:
    """Count the n-grams of orders 1 to 4."""
    return Counter(gram for order in range(1, ORDER + 1) for gram in ngrams(tokens, order))


def sentence_bleu(tokens: Sequence[str], limit: Callable[[Gram, int], int], lengths: Iterable[int]) -> float:
    """Return BLEU-4 of one sentence; 0 if no word matches.

    Args:
        tokens: the sentence.
        limit: takes an n-gram and its count in the sentence; returns how often it may be matched.
        lengths: the lengths of the references, at least one; the closest is used, the shorter one of two.
    """
    matched = [0] * ORDER
    for gram, count in count_grams(tokens).items():
        matched[len(gram) - 1] += min(count, limit(gram, count))
    if not matched[0]:
        return 0.0
    guessed = [max(len(tokens) - order, 1) for order in range(ORDER)]
    mean = sum(math.log((right or EPSILON) / all_) for right, all_ in zip(matched, guessed, strict=True)) / ORDER
    closest = min(lengths, key=lambda length: (abs(length - len(tokens)), length))
    return math.exp(mean + min(0.0, 1 - closest / len(tokens)))
