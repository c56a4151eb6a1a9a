"""Word coherence (Ghandeharioun et al. 2019, sections 4.3 and 7.6): embedding metrics between two utterances.

Shapes: N pairs of texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dactnlg.dialogue.components.engagement import tokens
from dactnlg.metrics.embeddings.embedding import Embedding, extrema, similarities, unit
from dactnlg.metrics.embeddings.vectors import WordVectors

Array = NDArray[np.float64]


class WordCoherence:
    """Average, extrema and greedy word coherence.

    Args:
        vectors: word vectors; words without one are ignored.
    """

    def __init__(self, vectors: WordVectors) -> None:
        self.name, self._vectors = vectors.name, vectors
        self._embed = lru_cache(maxsize=1 << 16)(self._make)

    def scores(self, first: Sequence[str], second: Sequence[str]) -> Array:
        """Return (average, extrema, greedy) for each pair, (N, 3); 0 if either text has no known word."""
        found = np.zeros((len(first), 3))
        for row, one, other in zip(found, first, second, strict=True):
            a, b = self._embed(one), self._embed(other)
            if a is not None and b is not None:
                row[:] = similarities(a, b)
        return found

    def _make(self, text: str) -> Embedding | None:
        counts = Counter(row for row in self._vectors.rows(tokens(text)) if row >= 0)
        if not counts:
            return None
        weights = np.fromiter(counts.values(), np.float64, len(counts))
        words = np.asarray(self._vectors.vectors(list(counts)), np.float64)
        return Embedding(unit(weights @ words), unit(extrema(words)), unit(words), weights)
