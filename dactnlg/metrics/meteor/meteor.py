"""METEOR 1.5 for English (Denkowski and Lavie 2014), the jar's `-l en -norm`, without Java.

F of weighted matches, with less weight for function words, times a penalty for matches in many chunks. A segment is
scored by its best reference; the corpus score is computed from the summed counts. NLTK's METEOR is the older definition
(Banerjee and Lavie 2005) and gives other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dactnlg.metrics.base import Array, BoundedMetric, Segment, divide
from dactnlg.metrics.meteor.align import Aligner
from dactnlg.metrics.meteor.data import INSTALL, MeteorData, installed, load
from dactnlg.metrics.tokenizers.words import tokenizer

if TYPE_CHECKING:
    from dactnlg.metrics.meteor.workers import Workers

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""Of exact, stem, synonym and paraphrase matches: the jar's defaults, for its ranking task."""

CHARACTERS = 1 << 21
"""Characters of sentences that are read together."""
TOGETHER = 256
"""Pairs of sentences that are aligned together; a worker's task."""
MANY = 1500
"""Alignments from which worker processes are started: starting one takes as long as half of them."""


class Meteor(BoundedMetric):
    """METEOR 1.5; S = 21: the counts of `Aligner.align`, for the best reference.

    Args:
        tokenization: the tokeniser applied before METEOR's own.
        data: METEOR's data; by default those in the user's cache, loaded on first use.
    """

    names = ("METEOR-1.5",)
    patient = True

    def __init__(self, tokenization: str = "space", data: MeteorData | None = None) -> None:
        self.settings = {"variant": "jar-en-norm-rank", "tok": tokenization}
        self._split = tokenizer(tokenization)
        self._given = data
        self._workers: Workers | None = None

    @cached_property
    def _data(self) -> MeteorData:
        return self._given or load()

    @cached_property
    def _aligner(self) -> Aligner:
        return Aligner(self._data)

    def needs(self) -> str:
        """Return the command that installs the data and the stemmer; empty if both are installed."""
        return "" if self._given or installed() else INSTALL

    def expect(self, segments: Sequence[Segment]) -> None:
        """Load the data, and start worker processes if there is enough work.

        Raises:
            MetricError: the data are not installed, or their index cannot be written.
        """
        folder = self._data.folder
        if not self._workers and sum(len(segment.references) for segment in segments) >= MANY:
            # Imported late: few inputs are that large.
            from dactnlg.metrics.meteor.workers import Workers

            self._workers = Workers(folder)

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the counts of each segment, (N, 21)."""
        rows = np.zeros((len(segments), 21))
        first = size = 0
        for end, segment in enumerate(segments, start=1):
            size += len(segment.hypothesis) + sum(map(len, segment.references))
            if size > CHARACTERS or end == len(segments):
                self._fill(rows[first:end], segments[first:end])
                first, size = end, 0
        return rows

    def score(self, sums: Array) -> Array:
        """Return METEOR, (..., 21) -> (..., 1); NaN where both hypotheses and references are empty."""
        return combine(sums)

    def forget(self) -> None:
        """Empty the caches, and end the workers."""
        self._aligner.forget(0)
        if self._workers:
            self._workers.end()
            self._workers = None

    def _fill(self, rows: Array, segments: Sequence[Segment]) -> None:
        wanted = [(row, segment) for row, segment in zip(rows, segments, strict=True) if self.fits(segment)]
        texts = {text for _, segment in wanted for text in (segment.hypothesis, *segment.references)}
        read = {text: self._read(text) for text in texts}
        # Dialogue corpora repeat sentences; each distinct pair is aligned once.
        tasks = dict.fromkeys((segment.hypothesis, text) for _, segment in wanted for text in segment.references)
        pairs = [(read[hypothesis], read[text]) for hypothesis, text in tasks]
        blocks = [pairs[start : start + TOGETHER] for start in range(0, len(pairs), TOGETHER)]
        if self._workers:
            shared = self._workers.share(blocks, self._aligner.align_texts)
        else:
            shared = list(map(self._aligner.align_texts, blocks))
        counts = [row for block in shared for row in block]
        known = dict(zip(tasks, counts, strict=True))
        for row, segment in wanted:
            row[:] = _best([known[segment.hypothesis, text] for text in segment.references])

    def _read(self, sentence: str) -> str:
        # The jar's protocol separates sentences by `|||`.
        return " ".join(self._split(sentence.replace("|||", "")))


def _best(counts: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """Return the counts with the highest score; of equal ones not the first, as in the jar, but the largest counts.

    Else the corpus score would depend on the order of references, which the hash of a score leaves out.
    """
    return counts[0] if len(counts) == 1 else max((segment_score(one), one) for one in counts)[1]


def combine(sums: Array) -> Array:
    """Return METEOR of summed counts, (..., 21) -> (..., 1); see `Meteor.score`."""
    length, function = sums[..., 0:2], sums[..., 2:4]
    weights = np.array(WEIGHTS)
    content = np.stack([sums[..., 4:8] @ weights, sums[..., 8:12] @ weights], axis=-1)
    functional = np.stack([sums[..., 12:16] @ weights, sums[..., 16:20] @ weights], axis=-1)
    rates = divide(DELTA * content + (1 - DELTA) * functional, DELTA * (length - function) + (1 - DELTA) * function)
    precision, recall = rates[..., 0], rates[..., 1]
    mean = divide(precision * recall, (1 - ALPHA) * recall + ALPHA * precision)
    fragmentation = divide(2 * sums[..., 20], sums[..., 4:20].sum(axis=-1))
    with np.errstate(invalid="ignore"):  # counts read from a file may be anything
        score = np.nan_to_num(mean * (1 - GAMMA * fragmentation**BETA), nan=0.0)
    return np.where(length.any(axis=-1), np.maximum(score, 0.0), np.nan)[..., None]


def segment_score(counts: Sequence[float]) -> float:
    """Return METEOR of one row of counts, as `combine` does, but in plain Python, which is faster for one row."""
    length, reference, function, reference_function = counts[:4]
    weighted = DELTA * (length - function) + (1 - DELTA) * function
    reference_weighted = DELTA * (reference - reference_function) + (1 - DELTA) * reference_function
    hits = reference_hits = 0.0
    for module, weight in enumerate(WEIGHTS):
        hits += weight * (DELTA * counts[4 + module] + (1 - DELTA) * counts[12 + module])
        reference_hits += weight * (DELTA * counts[8 + module] + (1 - DELTA) * counts[16 + module])
    if not hits or not reference_hits:
        return 0.0
    precision, recall = hits / weighted, reference_hits / reference_weighted
    mean = 1 / ((1 - ALPHA) / precision + ALPHA / recall)
    fragmentation = 2 * counts[20] / sum(counts[4:20])
    return float(max(mean * (1 - GAMMA * fragmentation**BETA), 0.0))
