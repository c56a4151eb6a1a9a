"""Word overlap without references: the baselines that hybrid scores are compared with.

Shapes: N pairs of texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dactnlg.dialogue.components.engagement import tokens
from dactnlg.dialogue.components.table import ComponentTable, answers, consecutive, mean
from dactnlg.dialogue.conversations import Conversation
from dactnlg.metrics.base import ngrams
from dactnlg.metrics.sentence_bleu import SETTINGS, count_grams, sentence_bleu

Array = NDArray[np.float64]
BASELINES = ("BLEU-4 -U/B", "BLEU-4 -B/B", "distinct-2 -B")


def bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Array:
    """Return the sentence BLEU-4 of each text against its reference, (N,); 0 if either has no words."""
    found = np.zeros(len(hypotheses))
    for place, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True)):
        words, others = tokens(hypothesis), tokens(reference)
        if words and others:
            counts = count_grams(others)
            found[place] = sentence_bleu(words, lambda gram, _, known=counts: known[gram], [len(others)])  # type: ignore[misc]
    return found


def distinct(texts: Sequence[str], order: int = 2) -> float:
    """Return distinct n-grams / all n-grams over all texts (Li et al. 2016); NaN without any."""
    grams = [gram for text in texts for gram in ngrams(tokens(text), order)]
    return len(set(grams)) / len(grams) if grams else float("nan")


def baselines(conversations: Sequence[Conversation]) -> ComponentTable:
    """Return the BLEU of the bot's answers against the user's turn and its own preceding turn, and its distinct-2."""
    rows = []
    for talk in conversations:
        replies, own = answers(talk), consecutive(talk.texts("bot"))
        rows.append(
            (
                mean(bleu([b for _, b in replies], [a for a, _ in replies])),
                mean(bleu([b for _, b in own], [a for a, _ in own])),
                distinct(talk.texts("bot")),
            )
        )
    signature = {"baselines": list(BASELINES), **SETTINGS}
    return ComponentTable(BASELINES, np.array(rows).reshape(-1, len(BASELINES)), signature)
