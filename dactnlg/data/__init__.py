"""Corpora: data cards, and one reader for each format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from dactnlg.data.corpus import Card, Corpus, Example, SlotCard, corpus_names, load_card, load_corpus
from dactnlg.errors import CorpusError

if TYPE_CHECKING:
    from dactnlg.data.inspection import Audit

__all__ = [
    "Card",
    "Corpus",
    "Example",
    "Reader",
    "SlotCard",
    "audit",
    "corpus_names",
    "fetch",
    "load_card",
    "load_corpus",
    "overview",
    "all_readers",
]

Reader = Callable[[Path, "Counter[str]"], list[Example]]
"""Reads the file of one split; what it mended or left out goes into the counter."""


def all_readers() -> dict[str, Reader]:
    """Return the reader of each `format` that a card can name."""
    from dactnlg.data.readers import bracket, dstc2, pairs, rnnlg

    return {"rnnlg": rnnlg.read, "dstc2": dstc2.read, "bracket": bracket.read, "pairs": pairs.read}


def fetch(
    name: str | Path, data_dir: str | Path | None = None, base_url: str | None = None, progress: bool = True
) -> list[Path]:
    """Download a corpus's files and return them, one a split; see `fetching.fetch`."""
    from dactnlg.data import fetching

    return fetching.fetch(name, data_dir, base_url, progress)


def audit(corpus: Corpus) -> Audit:
    """Return the audit of a corpus; see `inspection.inspect`."""
    from dactnlg.data import inspection

    return inspection.inspect(corpus)


def overview(data_dir: str | Path | None = None) -> str:
    """Return a table of the corpora that have a card: name, pairs a split, where the files are, title."""
    rows = []
    for name in corpus_names():
        card = load_card(name)
        corpus = load_corpus(name, data_dir)
        try:
            place = str(corpus.path(corpus.splits[0]).parent)
        except CorpusError:
            place = f"not here: dactnlg corpora fetch {name}"
        pairs = "/".join(str(card.splits.get(split, "?")) for split in corpus.splits)  # type: ignore[call-overload]
        rows.append((name, pairs, card.licence, card.title, place))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join((*map(str.ljust, row, widths), row[4])) for row in rows)
