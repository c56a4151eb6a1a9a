"""The pairs used in training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dactnlg.data.corpus import Corpus
from dactnlg.text.example import Pair


class Splits(NamedTuple):
    """The training pairs, the validation pairs that decide when to stop, and the corpus that is generated from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    corpus: Corpus
