"""BERTScore (Zhang et al. 2020, section 3): greedy matching of token vectors in context, here MiniLM's.

Each token of the hypothesis is matched to the most similar one of the reference, and vice versa; the means are
precision and recall, the score is F1 with the best reference. As in the authors' code, [CLS] and [SEP] may be matched
but have no weight; there is no idf weighting and no baseline rescaling. Model and layer are in the signature: values of
another model or layer are not comparable.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.metrics.base import Array, MeanMetric, Segment
from dactnlg.metrics.sentence_encoder.encoders import TokenEncoder, load_minilm_tokens

LAYER = 6
"""The layer whose scores agree best with ratings of E2E outputs: `benchmarks/bertscore_layer.py`."""
KEPT = 1 << 12
"""Sentences whose vectors are cached."""
TOGETHER = 64
"""Segments whose sentences are encoded together."""


class BertScore(MeanMetric):
    """BERTScore F1, -1 to 1; the corpus score is the mean over segments.

    The score is 0 if the hypothesis is empty or all references are.

    Args:
        encoder: encodes the tokens; MiniLM by default.
        layer: the layer whose output is compared; 0 for the embeddings.

    Raises:
        MetricError: the encoder's weights are not installed.
    """

    names = ("BERTScore",)

    def __init__(self, encoder: TokenEncoder | None = None, layer: int = LAYER) -> None:
        self._encoder = encoder or load_minilm_tokens()
        self._layer = layer
        self.settings = {"encoder": self._encoder.name, "layer": str(layer), "idf": "no", "f": "1"}
        self._known: dict[str, NDArray[np.floating]] = {}

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (F1, 1) per segment, (0, 0) for one without references; (N, 2)."""
        blocks = [segments[start : start + TOGETHER] for start in range(0, len(segments), TOGETHER)]
        found = [np.zeros((0, 2))]
        for block in blocks:
            self._read(block)
            found.append(super().statistics(block))
        return np.concatenate(found)

    def score_segment(self, segment: Segment) -> float:
        """Return F1 with the best reference."""
        references = [self._known[text] for text in dict.fromkeys(segment.references) if text.strip()]
        if not references or not segment.hypothesis.strip():
            return 0.0
        hypothesis = self._known[segment.hypothesis]
        return max(f_one(hypothesis, reference) for reference in references)

    def forget(self) -> None:
        """Free the vectors."""
        self._known.clear()

    def _read(self, segments: Sequence[Segment]) -> None:
        wanted = {text for s in segments if s.references for text in (s.hypothesis, *s.references) if text.strip()}
        if len(self._known) + len(wanted) > KEPT:
            self._known = {text: self._known[text] for text in wanted & self._known.keys()}
        # Sorted, so that batches, and thereby the last digits, do not depend on the hash seed.
        new = sorted(wanted - self._known.keys())
        for text, vectors in zip(new, self._encoder.encode_tokens(new, self._layer) if new else (), strict=True):
            length = np.linalg.norm(vectors, axis=-1, keepdims=True)
            self._known[text] = vectors / np.where(length, length, 1)


def f_one(hypothesis: NDArray[np.floating], reference: NDArray[np.floating]) -> float:
    """Return F1 of two sentences, given the unit vectors of their tokens, (T, D) and (U, D), with [CLS] and [SEP]."""
    cosines = hypothesis @ reference.T
    precision, recall = (_inner_mean(cosines.max(axis=axis)) for axis in (1, 0))
    if not precision or not recall or precision + recall <= 0:
        return 0.0
    # Rounding must not give equal sentences 1.0000001.
    return min(2 * precision * recall / (precision + recall), 1.0)


def _inner_mean(best: NDArray[np.floating]) -> float:
    """Return the mean over tokens, without [CLS] and [SEP]; 0 for a sentence without tokens."""
    return float(best[1:-1].mean(dtype=np.float64)) if len(best) > 2 else 0.0
