"""A place for what training never said: a placeholder that the vocabulary lacks is put where the model minds it least.

Every gap of the sentence is tried. The model scores the whole sentence around it, reading the newcomer as one of the
placeholders that it does know: in a gap that suits any of them, a value can stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from keras import ops

from dactnlg.acts import Turn
from dactnlg.batching import bucket
from dactnlg.compilation import to_numpy
from dactnlg.delexicalization import Required
from dactnlg.surface import JOINER
from dactnlg.vocabulary import BOS_ID, EOS_ID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dactnlg.decoding import Decoder

CHUNK = 256


def insert_missing(
    decoder: Decoder, turn: Turn, tokens: tuple[str, ...], unknown: Sequence[Required]
) -> list[tuple[tuple[str, ...], float]]:
    """Return sentences with every unknown placeholder inserted, each with its score, best first.

    Args:
        decoder: the model and its codec.
        turn: the act.
        tokens: the best sentence without the unknown placeholders.
        unknown: the slots whose placeholders the vocabulary lacks.
    """
    vocabulary = decoder.codec.vocabulary
    stand_ins = [
        index for index, kind in enumerate(decoder.codec.kinds) if kind >= 0 and _plain(vocabulary.tokens[index])
    ]
    said = list(vocabulary.encode(tokens))
    words = list(tokens)
    found = [(tuple(tokens), 0.0)]
    for item in unknown:
        # Where nothing is known to stand in (no placeholders at all), the unknown word does.
        choices = [index for index in stand_ins if index not in said] or [3]
        # Where nothing may be parted the newcomer comes last: it has to be said.
        gaps = [gap for gap in range(len(said) + 1) if _open(words, gap)] or [len(said)]
        rows = [[*said[:gap], choice, *said[gap:]] for gap in gaps for choice in choices]
        scores = sentence_scores(decoder, turn, rows).reshape(len(gaps), len(choices))
        order = np.argsort(-scores.max(axis=1), kind="stable")
        found = []
        for index in order:
            gap = gaps[int(index)]
            found.append(((*words[:gap], item.placeholder, *words[gap:]), float(scores[index].max())))
        best = gaps[int(order[0])]
        said.insert(best, choices[int(scores[order[0]].argmax())])
        words.insert(best, item.placeholder)
    return found


def sentence_scores(decoder: Decoder, turn: Turn, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the log probability of each row of token numbers (without begin and end) as a sentence for the turn."""
    inputs = decoder.inputs([turn])
    length = bucket(max(map(len, rows)) + 1)
    scores = []
    for start in range(0, len(rows), CHUNK):
        chunk = rows[start : start + CHUNK]
        tokens = np.zeros((len(chunk), length + 1), np.int32)
        for index, row in enumerate(chunk):
            tokens[index, : len(row) + 2] = [BOS_ID, *row, EOS_ID]
        lengths = np.array([len(row) + 1 for row in chunk], np.int32)
        arrays = {name: np.repeat(array, len(chunk), axis=0) for name, array in inputs.items() if name != "required"}
        logits = decoder.model({**arrays, "tokens": tokens[:, :-1], "lengths": lengths})["logits"]
        log_probs = to_numpy(ops.log_softmax(logits))
        picked = np.take_along_axis(log_probs, tokens[:, 1:, None], axis=2)[..., 0]  # (rows, T)
        scores.append((picked * (np.arange(length)[None] < lengths[:, None])).sum(axis=1))
    return np.concatenate(scores)


def _plain(token: str) -> bool:
    return JOINER not in token and "#" not in token


def _open(words: Sequence[str], gap: int) -> bool:
    """Whether a word may stand between these neighbours: not where they are attached to each other."""
    before = gap > 0 and words[gap - 1].endswith(JOINER)
    after = gap < len(words) and words[gap].startswith(JOINER)
    return not before and not after
