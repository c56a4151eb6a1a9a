"""chrF (Popovic 2015) and TER (Snover et al. 2006), by the sacrebleu library with its default settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dactnlg.metrics.base import Array, BoundedMetric, Metric, Segment, divide

_BETA = 2


class Chrf(Metric):
    """chrF2, F of character n-grams up to six (Popovic 2015), recall counting double.

    S = 18: for each of the six orders, the n-grams of the hypothesis, of the reference, and in common.
    """

    names = ("chrF",)

    def __init__(self) -> None:
        # Imported late: few need the library.
        import sacrebleu
        from sacrebleu.metrics.chrf import CHRF

        self._library: Any = CHRF()
        self.settings = {
            "variant": "sacrebleu",
            "nc": "6",
            "nw": "0",
            "beta": str(_BETA),
            "version": sacrebleu.__version__,
        }

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the library's counts against the best reference of each segment, (N, 18).

        Of equally good ones (as where none shares a character with the sentence), the library takes the first: here
        that is the first in alphabetical order, as the hash of a score leaves the order of references out.
        """
        rows = np.zeros((len(segments), 18))
        for row, segment in zip(rows, segments, strict=True):
            if segment.references:
                row[:] = self._library._extract_corpus_statistics(
                    [segment.hypothesis], [[reference] for reference in sorted(segment.references)]
                )[0]
        return rows

    def score(self, sums: Array) -> Array:
        """Return chrF in 0..1, (..., 18) -> (..., 1); NaN if there is no reference."""
        guessed, wanted, matched = (sums[..., part::3] for part in range(3))
        counted = (guessed > 0) & (wanted > 0)
        orders = counted.sum(axis=-1)
        precision = np.divide(matched, guessed, out=np.zeros_like(matched), where=counted).sum(axis=-1)
        recall = np.divide(matched, wanted, out=np.zeros_like(matched), where=counted).sum(axis=-1)
        # Both are sums over `orders`; without any order or match, the score is 0.
        weighed = _BETA**2 * precision + recall
        product = (1 + _BETA**2) * precision * recall
        score = np.divide(product, weighed * orders, out=np.zeros_like(product), where=weighed * orders > 0)
        return np.where(wanted.any(axis=-1), score, np.nan)[..., None]


class Ter(BoundedMetric):
    """TER, edits per reference word: 0 is best and it may exceed 1; S = 2: edits, mean reference length."""

    names = ("TER",)
    limit = 250_000

    def __init__(self) -> None:
        import sacrebleu
        from sacrebleu.metrics.ter import TER

        self._library: Any = TER()
        self.settings = {"variant": "sacrebleu", "case": "lower", "tok": "tercom", "version": sacrebleu.__version__}

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the library's counts of each segment, (N, 2)."""
        rows = np.zeros((len(segments), 2))
        for row, segment in zip(rows, segments, strict=True):
            if self.fits(segment):
                found = self._library.sentence_score(segment.hypothesis, list(segment.references))
                row[:] = [found.num_edits, found.ref_length]
        return rows

    def score(self, sums: Array) -> Array:
        """Return the rate, (..., 2) -> (..., 1); NaN if the references are empty."""
        return divide(sums[..., :1], sums[..., 1:])
