"""Insertion of placeholders unseen in training, each where the model scores the sentence highest.

Every gap of the sentence is tried. The model scores the resulting sentence with known placeholders in place of the
unknown one: where any of them fits, a value can stand.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dactnlg.acts import Turn
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.text.placeholders import Required
from dactnlg.text.surface import JOINER
from dactnlg.text.vocabulary import UNK_ID


def insert_missing(
    decoder: Decoder, turn: Turn, tokens: tuple[str, ...], unknown: Sequence[Required], context: str = ""
) -> list[tuple[tuple[str, ...], float]]:
    """Return sentences with all unknown placeholders inserted, each with its score, best first.

    Placeholders are inserted one after another, each in its best gap; the sentences differ in the gap of the last one.

    Args:
        decoder: the model and its preprocessor.
        turn: the act.
        tokens: the best sentence without the unknown placeholders.
        unknown: the placeholders that the vocabulary lacks, with their slots.
        context: what the user has said before.
    """
    vocabulary = decoder.preprocessor.vocabulary
    stand_ins = [
        index for index, kind in enumerate(decoder.preprocessor.kinds) if kind >= 0 and _plain(vocabulary.tokens[index])
    ]
    numbers = list(vocabulary.encode(tokens))
    words = list(tokens)
    found = [(tuple(tokens), 0.0)]
    for item in unknown:
        # If there is no known placeholder to stand in, the unknown word does.
        choices = [index for index in stand_ins if index not in numbers] or [UNK_ID]
        # If all tokens are attached to each other, the placeholder goes at the end: it has to go somewhere.
        gaps = [gap for gap in range(len(numbers) + 1) if _open(words, gap)] or [len(numbers)]
        rows = [[*numbers[:gap], choice, *numbers[gap:]] for gap in gaps for choice in choices]
        scores = decoder.sentence_scores(turn, rows, context).reshape(len(gaps), len(choices))
        order = np.argsort(-scores.max(axis=1), kind="stable")
        found = []
        for index in order:
            gap = gaps[int(index)]
            found.append(((*words[:gap], item.placeholder, *words[gap:]), float(scores[index].max())))
        best = gaps[int(order[0])]
        numbers.insert(best, choices[int(scores[order[0]].argmax())])
        words.insert(best, item.placeholder)
    return found


def _plain(token: str) -> bool:
    return JOINER not in token and "#" not in token


def _open(words: Sequence[str], gap: int) -> bool:
    """Whether a word may be inserted in a gap: not if the neighbouring tokens are attached to each other."""
    before = gap > 0 and words[gap - 1].endswith(JOINER)
    after = gap < len(words) and words[gap].startswith(JOINER)
    return not before and not after
