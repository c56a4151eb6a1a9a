"""Acts with sentences: as a corpus has them, and as a model is trained on them."""

from __future__ import annotations

from dataclasses import dataclass

from dactnlg.acts import Turn


@dataclass(frozen=True, slots=True)
class Example:
    """One meaning representation with the sentences that a corpus gives for it.

    Attributes:
        turn: the acts.
        references: the human sentences, exactly as the corpus has them.
        handcrafted: sentences of a handcrafted generator (RNNLG's third column).
        origin: file and row, for messages ("train.json, row 12").
    """

    turn: Turn
    references: tuple[str, ...]
    handcrafted: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A training pair as a model sees it: the turn, its corpus (None if there is only one), lower-case tokens."""

    turn: Turn
    corpus: str | None
    tokens: tuple[str, ...]
