"""Minimum Bayes risk: gains against a plain reckoning, and what is chosen by them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.generation.bayes_risk import SMOOTHING, expected_gains

WORDS = st.lists(st.sampled_from("abcd"), max_size=7)


def plain_bleu(sentence: list[str], reference: list[str]) -> float:
    """Sentence BLEU, n-gram by n-gram."""
    total = 0.0
    for n in range(1, 5):
        held, wanted = (Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1)) for s in (sentence, reference))
        total += math.log(((held & wanted).total() + SMOOTHING) / (held.total() + SMOOTHING)) / 4
    return math.exp(total + min(0.0, 1 - max(len(reference), 1) / max(len(sentence), 1)))


@given(st.lists(st.tuples(WORDS, st.floats(0.01, 1.0)), min_size=1, max_size=5))
def test_gains_are_means_of_sentence_bleu(rows: list[tuple[list[str], float]]) -> None:
    sentences, weights = [row[0] for row in rows], [row[1] for row in rows]
    expected = [
        sum(w * plain_bleu(one, other) for other, w in zip(sentences, weights, strict=True)) / sum(weights)
        for one in sentences
    ]
    assert expected_gains(sentences, weights) == pytest.approx(expected)


def test_what_most_agree_on_is_best() -> None:
    sentences = [list(text) for text in ("mnopq", "abxyz", "abxyz!")]
    gains = expected_gains(sentences, [0.4, 0.3, 0.3])
    assert np.argmax(gains) == 1 and np.argmin(gains) == 0
