"""MSTTR-100: mean segmental type-token ratio (Johnson 1944; van Miltenburg et al. 2018), as GEM-metrics has it.

All hypotheses one after the other, lower-cased, are cut into pieces of 100 tokens; the score is the mean share of
different tokens in a piece. What is left over at the end does not count. A text's type-token ratio falls as the text
grows; pieces of one size keep the figures of systems that write more and less comparable. Segments in another order
make other pieces, so that their order is one of the settings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

from dactnlg._utils.hashing import SHORT
from dactnlg.metrics.base import CorpusMetric, Segment
from dactnlg.text.metric_tokenizers import tokenizer

LENGTH = 100
"""Tokens in a piece: GEM's."""


class Msttr(CorpusMetric):
    """MSTTR over all hypotheses in their order; undefined for fewer tokens than a piece has.

    Args:
        length: tokens in a piece.
        tokenization: how text is read; GEM reads NLTK's tokens, punctuation marks among them.
    """

    names = (f"MSTTR-{LENGTH}",)

    def __init__(self, length: int = LENGTH, tokenization: str = "treebank") -> None:
        self.settings = {"length": str(length), "tok": tokenization, "case": "lower"}
        self._split, self._length = tokenizer(tokenization), length
        self._piece: list[str] = []
        self._order = hashlib.sha256()
        self._pieces = 0
        self._types = 0

    def update(self, segments: Sequence[Segment]) -> None:
        """Read the hypotheses on."""
        for segment in segments:
            act = None if segment.turn is None else str(segment.turn)
            self._order.update(json.dumps([act, sorted(segment.references)]).encode())
            self._piece += map(str.lower, self._split(segment.hypothesis))
            while len(self._piece) >= self._length:
                self._types += len(set(self._piece[: self._length]))
                self._pieces += 1
                del self._piece[: self._length]
        self.settings["order"] = self._order.hexdigest()[:SHORT]

    def warnings(self) -> list[str]:
        """Say why there is no value."""
        few = f"{self.names[0]} is undefined: the hypotheses have fewer than {self._length} tokens"
        return [] if self._pieces else [few]

    def scores(self) -> tuple[float, ...]:
        """Return the mean ratio."""
        return (self._types / (self._pieces * self._length) if self._pieces else math.nan,)
