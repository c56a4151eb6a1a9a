"""Corpora: data cards, and one reader for each format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from dactnlg.corpora.base import Card, Corpus, Example, SlotCard, corpus_names, load_card, load_corpus

__all__ = ["Card", "Corpus", "Example", "Reader", "SlotCard", "corpus_names", "load_card", "load_corpus", "readers"]

Reader = Callable[[Path, "Counter[str]"], list[Example]]
"""Reads the file of one split; what it mended or left out goes into the counter."""


def readers() -> dict[str, Reader]:
    """Return the reader of each `format` that a card can name."""
    from dactnlg.corpora import bracket, dstc2, pairs, rnnlg

    return {"rnnlg": rnnlg.read, "dstc2": dstc2.read, "bracket": bracket.read, "pairs": pairs.read}
