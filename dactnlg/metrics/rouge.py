"""ROUGE-L (Lin 2004): F of the longest common subsequence, beta 1.2, in two rules for several references.

`nlg-eval` (as in coco-caption) takes the best precision and the best recall over the references separately, possibly
from different ones; `best-reference` (Sharma et al. 2017, section 3.2.1) takes the best F.
"""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.errors import UnknownNameError
from dactnlg.metrics.base import MeanMetric, Segment
from dactnlg.metrics.tokenizers.words import tokenizer

BETA = 1.2
VARIANTS = ("nlg-eval", "best-reference")


class RougeL(MeanMetric):
    """ROUGE-L; the corpus score is the mean over segments.

    Raises:
        UnknownNameError: no such variant or tokeniser.
    """

    names = ("ROUGE-L",)

    def __init__(self, variant: str = "nlg-eval", tokenization: str = "space") -> None:
        if variant not in VARIANTS:
            raise UnknownNameError("ROUGE-L variant", variant, VARIANTS)
        self.settings = {"variant": variant, "tok": tokenization, "beta": str(BETA)}
        self._split, self._best_reference = tokenizer(tokenization), variant == "best-reference"

    def score_segment(self, segment: Segment) -> float:
        """Return the F value of one segment."""
        hypothesis = self._split(segment.hypothesis)
        if not hypothesis:
            return 0.0
        places = positions(hypothesis)
        rates = [(0.0, 0.0)]
        for reference in map(self._split, dict.fromkeys(segment.references)):
            if reference:
                common = common_length(places, len(hypothesis), reference)
                rates.append((common / len(hypothesis), common / len(reference)))
        if self._best_reference:
            return max(f_value(precision, recall) for precision, recall in rates)
        return f_value(max(p for p, _ in rates), max(r for _, r in rates))


def f_value(precision: float, recall: float) -> float:
    """Return the F value that weights recall `BETA` times as much as precision."""
    if not precision or not recall:
        return 0.0
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def positions(tokens: Sequence[str]) -> dict[str, int]:
    """Return the positions of each token, as the bits of an integer."""
    places: dict[str, int] = {}
    for index, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << index
    return places


def common_length(places: dict[str, int], length: int, other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of `other` and the `length` tokens with these `places`.

    Bit-parallel (Hyyro 2004): one addition per token of `other` computes a row of the usual table.
    """
    full = (1 << length) - 1
    row = full
    for token in other:
        hits = row & places.get(token, 0)
        row = ((row + hits) | (row - hits)) & full
    return length - row.bit_count()
