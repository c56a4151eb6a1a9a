"""The pairs used in training, and the hashes of the splits that they come from, which runs record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dactnlg.data.corpus import Corpus
from dactnlg.errors import CorpusError
from dactnlg.text.example import Pair


class Splits(NamedTuple):
    """The training pairs, the validation pairs that decide when to stop, and the corpus that is generated from."""

    train: Sequence[Pair]
    valid: Sequence[Pair]
    corpus: Corpus


def split_hashes(corpora: Iterable[Corpus]) -> dict[str, dict[str, str | None]]:
    """Return corpus -> split -> hash; None for a split whose file is missing or cannot be read."""
    return {corpus.name: _hashes(corpus) for corpus in corpora}


def _hashes(corpus: Corpus) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for split in corpus.splits:
        try:
            found[split] = corpus.digest(split)
        except CorpusError:
            found[split] = None
    return found
