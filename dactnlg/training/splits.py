"""The pairs of a training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dactnlg.data.corpus import Corpus
from dactnlg.text.example import Pair


class Splits(NamedTuple):
    """Pairs to learn from, pairs that decide when to stop, and the corpus that both are of."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    corpus: Corpus
