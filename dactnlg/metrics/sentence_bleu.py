"""Sentence BLEU-4 against a whole set of sentences as references: what self-BLEU and forward and backward BLEU are of.

Of a set only two things matter: how often each n-gram may be matched, and which lengths there are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from dactnlg.metrics.base import ngrams

ORDER = 4
EPSILON = 0.1
"""Stands for no match at all: smoothing method 1 of Chen and Cherry 2014, as NLTK and CoTK have it."""
SETTINGS = {"n": str(ORDER), "smooth": "method1"}
Gram = tuple[str, ...]


def count_grams(tokens: Sequence[str]) -> Counter[Gram]:
    """Return the n-grams of orders 1 to 4, and how often each occurs."""
    return Counter(gram for order in range(1, ORDER + 1) for gram in ngrams(tokens, order))


def sentence_bleu(tokens: Sequence[str], limit: Callable[[Gram, int], int], lengths: Iterable[int]) -> float:
    """Return BLEU-4 of one sentence, 0 where not one word matches.

    Args:
        tokens: the sentence.
        limit: how often an n-gram that the sentence has so many times may be matched.
        lengths: those of the references, at least one; the closest counts, the shorter of two.
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
