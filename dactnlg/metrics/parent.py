"""PARENT (Dhingra et al. 2019), with the slots of the act as the table, and its word-overlap model of entailment.

Precision: an n-gram of the hypothesis is right to the degree that the reference has it or the act's values entail it.
Recall (section 3.2): the geometric mean of the hypothesis's recall of the reference's entailed n-grams and of the
values. The score is F1, with the best reference, as in the authors' `table_text_eval.py`.

Special values (yes, no, dontcare), which are not said word for word, are not in the table; SER and the cues check them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from dactnlg.acts import Turn
from dactnlg.metrics.base import Array, MeanMetric, Segment, ngrams
from dactnlg.metrics.rouge import common_length, positions
from dactnlg.metrics.tokenizers.words import tokenizer

ORDER = 4
LAMBDA = 0.5
"""Weight of the values in recall: the authors' default; their code can also estimate it from references."""
SMOOTHING = 1e-5
"""Replaces 0 in the rates of orders above 1 and in recall."""
Grams = Counter[tuple[str, ...]]


class Parent(MeanMetric):
    """PARENT; the corpus score is the mean over segments whose act has values, undefined where none has.

    Args:
        weight: lambda, the weight of the values in recall, 0 to 1.
        tokenization: the tokeniser of sentences and values, which are lower-cased.
    """

    names = ("PARENT",)

    def __init__(self, weight: float = LAMBDA, tokenization: str = "13a") -> None:
        self.settings = {"entailment": "overlap", "lambda": f"{weight:g}", "tok": tokenization, "case": "lower"}
        self._split, self._weight = tokenizer(tokenization), weight
        self._seen = 0

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (score, 1) per segment, (0, 0) for one without references or values; (N, 2)."""
        rows = np.zeros((len(segments), 2))
        for row, segment in zip(rows, segments, strict=True):
            if segment.references and self._table(segment.turn):
                row[:] = self.score_segment(segment), 1
                self._seen += 1
        return rows

    def warnings(self) -> list[str]:
        """Say why the value is undefined."""
        return [] if self._seen else ["PARENT is undefined: no segment has references and an act with values"]

    def score_segment(self, segment: Segment) -> float:
        """Return the F value of one segment that has references and values."""
        table = self._table(segment.turn)
        hypothesis = self._read(segment.hypothesis)
        values = {token for value in table for token in value}
        # Recall of the values themselves, by the longest common subsequence.
        places = positions(hypothesis)
        shares = [common_length(places, len(hypothesis), value) / len(value) for value in table]
        said = sum(shares) / len(shares) or SMOOTHING
        mine = [Counter(ngrams(hypothesis, order)) for order in range(1, ORDER + 1)]
        best = 0.0
        for reference in map(self._read, dict.fromkeys(segment.references)):
            theirs = [Counter(ngrams(reference, order)) for order in range(1, ORDER + 1)]
            precision = _mean([_precision(m, t, values) for m, t in zip(mine, theirs, strict=True)])
            recall = _mean([_recall(m, t, values) for m, t in zip(mine, theirs, strict=True)]) or SMOOTHING
            recall = recall ** (1 - self._weight) * said**self._weight
            best = max(best, 2 * precision * recall / (precision + recall + 1e-8))
        return best

    def _read(self, sentence: str) -> list[str]:
        return self._split(sentence.lower())

    def _table(self, turn: Turn | None) -> list[list[str]]:
        """Return the tokens of each value."""
        slots = () if turn is None else turn.slots()
        values = [self._read(slot.value) for _, slot in slots if slot.value is not None and slot.delexicalizable]
        return [value for value in values if value]


def _precision(hypothesis: Grams, reference: Grams, values: set[str]) -> float:
    """Return the share of the hypothesis's n-grams that the reference has or the values entail; 0 if it has none."""
    right = 0.0
    for gram, count in hypothesis.items():
        found = min(1.0, reference[gram] / count)
        right += count * (found + (1 - found) * _entailed(gram, values))
    return right / hypothesis.total() if hypothesis else 0.0


def _recall(hypothesis: Grams, reference: Grams, values: set[str]) -> float:
    """Return the share of the reference's n-grams that the hypothesis has, weighted by their entailment by the values.

    1 if the values entail none.
    """
    right = total = 0.0
    for gram, count in reference.items():
        weight = count * _entailed(gram, values)
        total += weight
        right += weight * min(1.0, hypothesis[gram] / count)
    return right / total if total else 1.0


def _entailed(gram: tuple[str, ...], values: set[str]) -> float:
    return sum(token in values for token in gram) / len(gram)


def _mean(rates: Sequence[float]) -> float:
    """Return the geometric mean of the orders' rates; 0 if no word is right."""
    if not rates[0]:
        return 0.0
    return math.exp(math.fsum(math.log(rate or SMOOTHING) for rate in rates) / len(rates))
