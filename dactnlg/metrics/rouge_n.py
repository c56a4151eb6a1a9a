"""ROUGE-1 and ROUGE-2 (Lin 2004, section 2) as Google's `rouge_score` computes them: F1 of unigrams and of bigrams.

That package takes runs of ASCII letters and digits, lower-cased, as words; stemming is off, its default. With several
references, each score uses the reference with the best F1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dactnlg.metrics.base import Array, MeansMetric, Segment, ngrams

_WORDS = re.compile(r"[a-z0-9]+")
Grams = tuple[Counter[tuple[str, ...]], ...]


class RougeN(MeansMetric):
    """ROUGE-1 and ROUGE-2; the corpus score is the mean over segments. S = 3: the two values, and 1 where defined."""

    names = ("ROUGE-1", "ROUGE-2")

    def __init__(self) -> None:
        self.settings = {"variant": "rouge_score", "tok": "a-z0-9", "case": "lower", "stem": "no", "f": "1"}
        self._count = lru_cache(maxsize=4096)(_count)

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (ROUGE-1, ROUGE-2, 1) per segment, zeros for one without references; (N, 3)."""
        rows = np.zeros((len(segments), len(self.names) + 1))
        for row, segment in zip(rows, segments, strict=True):
            if segment.references:
                hypothesis = self._count(segment.hypothesis)
                references = map(self._count, dict.fromkeys(segment.references))
                found = [list(map(f_one, hypothesis, reference)) for reference in references]
                row[:] = [*np.max(found, axis=0), 1]
        return rows


def f_one(hypothesis: Counter[tuple[str, ...]], reference: Counter[tuple[str, ...]]) -> float:
    """Return F1 of the n-grams of two sentences; 0 if either has none."""
    total = hypothesis.total() + reference.total()
    return 2 * (hypothesis & reference).total() / total if total else 0.0


def _count(sentence: str) -> Grams:
    words = _WORDS.findall(sentence.lower())
    return Counter(ngrams(words, 1)), Counter(ngrams(words, 2))
