"""Sentence cosine: in the place of Skip-Thought (Sharma et al. 2017, section 3.2.1), with any sentence encoder."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dactnlg.metrics.base import Array, MeanMetric, Segment
from dactnlg.metrics.embeddings.embedding import unit
from dactnlg.metrics.sentence_encoder.encoders import Encoder, load_minilm


class SentenceCosine(MeanMetric):
    """Cosine of hypothesis and best reference, -1 to 1; the corpus score is the mean over segments.

    The score is 0 if the hypothesis is empty or all references are: an encoder would give white space a vector that is
    similar to something.

    Args:
        encoder: encodes the sentences; MiniLM by default.

    Raises:
        MetricError: the encoder's weights are not installed.
    """

    names = ("sentence-cosine",)

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or load_minilm()
        self.settings = {"encoder": self._encoder.name}
        self._known: dict[str, Array] = {}

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (cosine, 1) per segment, (0, 0) for one without references; (N, 2)."""
        wanted = {text for s in segments if s.references for text in (s.hypothesis, *s.references) if text.strip()}
        if len(self._known) > 1 << 15:
            self._known.clear()
        # Sorted, so that batches, and thereby the last digits, do not depend on the hash seed.
        new = sorted(wanted - self._known.keys())
        if new:
            self._known.update(zip(new, unit(np.asarray(self._encoder.encode(new), np.float64)), strict=True))
        return super().statistics(segments)

    def score_segment(self, segment: Segment) -> float:
        """Return the cosine with the nearest reference."""
        references = [self._known[text] for text in dict.fromkeys(segment.references) if text.strip()]
        if not references or not segment.hypothesis.strip():
            return 0.0
        return float(np.clip(np.max(np.stack(references) @ self._known[segment.hypothesis]), -1, 1))

    def forget(self) -> None:
        """Free the vectors."""
        self._known.clear()
