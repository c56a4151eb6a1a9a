"""The user's last turn, whose words an answer may take up: its tokens and their ids.

Dušek and Jurčíček (2016, "A Context-aware Natural Language Generator for Dialogue Systems") show it to the generator,
because people entrain: they adopt each other's words. Values shared with the act are placeholders, as in the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.acts import Turn
from dactnlg.text.encoding import padded
from dactnlg.text.surface import strip_joiner
from dactnlg.text.values.delexicalization import Delexicalizer
from dactnlg.text.vocabulary import Vocabulary

CONTEXT = "context"
"""The array's name in a model's `inputs`."""
LONGEST = 48
"""The most tokens of a context that are used, the last ones: a client may send a text of any length."""
CHARACTERS = 1000
"""The most characters of a context that are read, the last ones."""
FEWEST = 2
"""Tokens less frequent in training are mapped to `<unk>`, so that a model learns something about unknown ones."""


def context_tokens(delexicalizer: Delexicalizer, turn: Turn, context: str) -> tuple[str, ...]:
    """Return the last tokens of what the user said, case-folded, with placeholders for the values of the act.

    Args:
        delexicalizer: of the corpus.
        turn: the act of the answer, prepared or as written.
        context: the text; empty if nothing was said.
    """
    if not context.strip():
        return ()
    found = delexicalizer.delexicalize(turn, context[-CHARACTERS:])
    tokens = (strip_joiner(token) for token in found.tokens)
    return tuple(token if "SLOT_" in token else token.casefold() for token in tokens if token)[-LONGEST:]


def context_vocabulary(contexts: Iterable[Sequence[str]]) -> Vocabulary:
    """Return the vocabulary of training contexts."""
    return Vocabulary.build(contexts, FEWEST)


def numbered(vocabulary: Vocabulary, contexts: Sequence[Sequence[str]]) -> NDArray[np.int32]:
    """Return the token ids of contexts, (B, C), padded with 0 at the end."""
    rows = [vocabulary.encode(context) for context in contexts]
    numbers = np.zeros((len(rows), padded(map(len, rows), 8)), np.int32)
    for place, row in enumerate(rows):
        numbers[place, : len(row)] = row
    return numbers
