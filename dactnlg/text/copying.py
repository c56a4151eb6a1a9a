"""What a model can copy from an act: the placeholders of values, and the words of values that have none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.acts import SPECIAL_VALUES, Turn
from dactnlg.text.encoding import ActEncoder, padded
from dactnlg.text.surface import tokenize
from dactnlg.text.values.delexicalization import Delexicalizer
from dactnlg.text.vocabulary import UNK_ID, Vocabulary

COPIES = "copies"
"""The name of the array."""


def copied(
    turns: Sequence[Turn], encoder: ActEncoder, delexicalizer: Delexicalizer, vocabulary: Vocabulary
) -> NDArray[np.int32]:
    """Return what can be copied from turns into their sentences, (B, S, 2); rows of 0 are padding.

    Args:
        turns: B acts.
        encoder: knows the entries of an act.
        delexicalizer: knows which values have placeholders.
        vocabulary: the tokens of sentences; tokens outside it cannot be copied.

    Returns:
        The id of a token, and the index of its entry, from 1 in the order of `ActEncoder.sequences`.
    """
    rows = [_copied(turn, encoder, delexicalizer, vocabulary) for turn in turns]
    found = np.zeros((len(turns), padded(map(len, rows)), 2), np.int32)
    for filled, row in zip(found, rows, strict=True):
        filled[: len(row)] = row or 0
    return found


def _copied(
    turn: Turn, encoder: ActEncoder, delexicalizer: Delexicalizer, vocabulary: Vocabulary
) -> list[tuple[int, int]]:
    owed, found = delexicalizer.required(turn), list[tuple[int, int]]()
    for place, (_, slot) in enumerate(encoder.known(turn), start=1):
        if slot is None or slot.special in SPECIAL_VALUES:
            continue
        words = [token.casefold() for token in tokenize(slot.value or "")]
        if slot.delexicalizable:
            # Required slots are in the turn's order. One that is not among the rest was said already, or never is.
            at = next((at for at, item in enumerate(owed) if item.slot == slot), None)
            words = [] if at is None else [owed[at].placeholder]
            owed = owed if at is None else owed[at + 1 :]
        found += [(number, place) for number in vocabulary.encode(words) if number != UNK_ID]
    return found
