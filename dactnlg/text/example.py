"""Acts with sentences: examples of a corpus, and training pairs."""

from __future__ import annotations

from dataclasses import dataclass

from dactnlg.acts import Turn


@dataclass(frozen=True, slots=True)
class Example:
    """One turn with its reference sentences in a corpus.

    Attributes:
        turn: the acts.
        references: the human sentences, exactly as the corpus has them.
        handcrafted: sentences of a handcrafted generator (RNNLG's third column).
        origin: file and row, for messages ("train.json, row 12").
        context: what the user said before; empty if unknown.
    """

    turn: Turn
    references: tuple[str, ...]
    handcrafted: tuple[str, ...] = ()
    origin: str = ""
    context: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """A training pair.

    Attributes:
        turn: the acts.
        corpus: the name of the corpus; None if there is only one.
        tokens: the sentence in lower-case tokens, delexicalised.
        context: what the user said before, for models that use it.
    """

    turn: Turn
    corpus: str | None
    tokens: tuple[str, ...]
    context: str = ""
