"""The pairs of a training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dactnlg.text.example import Pair


class Splits(NamedTuple):
    """Pairs to learn from, and pairs that decide when to stop."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
