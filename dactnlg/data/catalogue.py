"""The table of corpora that `dactnlg corpora list` prints."""

from __future__ import annotations

from pathlib import Path

from dactnlg._utils.resources import corpus_names
from dactnlg._utils.tables import aligned
from dactnlg.data.card import load_card
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import CorpusError


def overview(data_dir: str | Path | None = None) -> str:
    """Return a table of the corpora in `datasets/`: name, pairs per split, licence, title, folder of the files.

    Args:
        data_dir: a folder to search for files first.
    """
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
    return aligned(rows, left=None)
