"""Minimum Bayes risk: expected gains against a direct computation, and the hypothesis that they choose."""

from __future__ import annotations

import math
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.data.corpus import load_corpus
from dactnlg.generation.bayes_risk import SMOOTHING, expected_gains
from dactnlg.generation.candidates import FLATNESS
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions

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


def test_memory_for_hundreds_of_sentences_stays_small() -> None:
    chance = np.random.default_rng(1)
    sentences = [[f"w{n}" for n in chance.integers(50, size=15)] for _ in range(200)]
    tracemalloc.start()
    gains = expected_gains(sentences, [1.0] * len(sentences))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(gains) == 200 and most < 100e6


def test_the_sentence_most_like_the_others_has_the_highest_gain() -> None:
    sentences = [list(text) for text in ("mnopq", "abxyz", "abxyz!")]
    gains = expected_gains(sentences, [0.4, 0.3, 0.3])
    assert np.argmax(gains) == 1 and np.argmin(gains) == 0


@pytest.mark.parametrize("constraint", ["none", "rerank", "hard"])
def test_the_faultless_hypothesis_with_the_highest_gain_is_chosen(
    poor_run: Callable[[str], Path], constraint: str
) -> None:
    generator = Generator.load(poor_run("sclstm"))
    turns = [example.turn for example in load_corpus("trails").split("test")[::2]]
    found = generator.generate(turns, GenerationOptions(constraint=constraint, mbr=True))
    beams = generator.generate(turns, GenerationOptions(constraint=constraint, n_best=10))
    other = 0
    for chosen, beam in zip(found, beams, strict=True):
        rows = [result for result in beam.n_best if result.score is not None]
        if chosen.origin != "model" or len(rows) < 10 or any(row.origin != "model" for row in rows):
            continue
        sentences, scores = [row.delexicalized.split() for row in rows], [row.score or 0.0 for row in rows]
        gains = expected_gains(sentences, [math.exp((score - max(scores)) / FLATNESS) for score in scores])
        ranked = [rows[place] for place in np.argsort(-gains, kind="stable")]
        best = next((row for row in ranked if row.slots_ok), None)
        if best is not None:
            assert chosen.text == best.text
            other += chosen.text != beam.text
    assert other, "it is not always the most probable one"
