"""MSTTR-100: mean segmental type-token ratio (Johnson 1944; van Miltenburg et al. 2018), as GEM-metrics has it.

All hypotheses are concatenated, lower-cased and cut into pieces of 100 tokens; the score is the mean share of distinct
tokens per piece. The remainder at the end does not count. The type-token ratio of a text falls with its length; pieces
of one size keep systems comparable that write more or less. Another order of segments gives other pieces, so the order
is one of the settings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

from dactnlg._utils.hashing import SHORT
from dactnlg.metrics.base import CorpusMetric, Segment
from dactnlg.metrics.tokenizers.words import tokenizer

LENGTH = 100
"""Tokens per piece, as in GEM-metrics."""


class Msttr(CorpusMetric):
    """MSTTR over all hypotheses in order; undefined if they have fewer tokens than one piece.

    Args:
        length: tokens per piece.
        tokenization: the name of the tokeniser; GEM uses NLTK's tokens, punctuation included.
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
        """Append the hypotheses, and count the pieces that are complete."""
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
        """Say why the value is undefined."""
        few = f"{self.names[0]} is undefined: the hypotheses have fewer than {self._length} tokens"
        return [] if self._pieces else [few]

    def scores(self) -> tuple[float, ...]:
        """Return the mean ratio."""
        return (self._types / (self._pieces * self._length) if self._pieces else math.nan,)
