"""The n-gram model: KenLM's published probabilities, sums of 1, and a second implementation from the formulas."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from dactnlg.errors import MetricError
from dactnlg.metrics.kneser_ney import FALLBACK, KneserNey, estimate_discounts

TOY = """I went to
I go to
You went to
You go to
Joe went to
Joe go to
Anna went ski
Anna went ski"""
SENTENCES = [line.split() for line in TOY.split("\n")]


def test_probabilities_are_kenlms() -> None:
    """The ARPA file that lmplz -o 2 makes of this text, as printed in kpu/kenlm, issue 405 (log10).

    The discounts are the program's own: those of unigrams come from counts that the issue shows to be miscounted.
    """
    model = KneserNey(SENTENCES, order=2, discounts=[(0.4, 1.6, 1.4), (0.3, 2 - 0.9 * 2 / 7, 3.0)])
    first, second, unknown = (
        row / math.log(10) for row in model.log_probabilities([["I", "went", "to"], ["Anna", "went", "ski"], ["zzz"]])
    )
    assert first[[0, 1, 3]] == pytest.approx([-0.9649993, -0.383262, -0.26962152], abs=1e-6)  # I, went, </s>
    assert second[3] == pytest.approx(-0.7123581, abs=1e-6)  # ski </s>
    # Unseen after `<s>`: its backoff, and the unigram of <unk>; then the unigram of </s> alone.
    assert unknown == pytest.approx([-0.059768215 - 1.30103, -1.1249387], abs=1e-6)


def test_discounts_are_chen_and_goodmans() -> None:
    counts = np.array([1, 1, 1, 1, 1, 2, 2, 3, 4], np.float64)
    y = 5 / (5 + 2 * 2)
    assert estimate_discounts(counts) == pytest.approx((1 - 2 * y * 2 / 5, 2 - 3 * y * 1 / 2, 3 - 4 * y * 1 / 1))
    assert estimate_discounts(np.array([1.0, 1.0])) == FALLBACK


def slow(sentences: list[list[str]], words: set[str], order: int, history: list[str], word: str) -> float:
    """The recursion of Chen and Goodman with KenLM's counts, over dictionaries, for one word."""
    lines = [["<s>", *(w if w in words else "<unk>" for w in sentence), "</s>"] for sentence in sentences]
    raw = Counter(
        tuple(line[i : i + k]) for line in lines for k in range(1, order + 1) for i in range(len(line) - k + 1)
    )
    left = defaultdict(set)
    for gram in raw:
        left[gram[1:]].add(gram[0])

    def count(gram: tuple[str, ...]) -> int:
        if gram == ("<s>",):
            return 0
        return raw[gram] if len(gram) == order or gram[0] == "<s>" else len(left[gram])

    def discount(k: int, value: int) -> float:
        table = estimate_discounts(np.array([count(gram) for gram in raw if len(gram) == k], np.float64))
        return (0.0, *table)[min(value, 3)]

    def probability(context: tuple[str, ...], word: str) -> float:
        lower = probability(context[1:], word) if context else 1 / (len(words) + 2)
        seen = {gram: count(gram) for gram in raw if len(gram) == len(context) + 1 and gram[:-1] == context}
        total = sum(seen.values())
        if not total:
            return lower
        k = len(context) + 1
        here = seen.get((*context, word), 0)
        kept = sum(discount(k, value) for value in seen.values())
        return (here - discount(k, here)) / total + kept / total * lower

    context = ["<s>", *(w if w in words else "<unk>" for w in history)][1 - order :] if order > 1 else []
    return probability(tuple(context), word if word in {*words, "</s>"} else "<unk>")


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_probabilities_are_those_of_the_formulas(order: int) -> None:
    draw = random.Random(order)
    train = [draw.choices("aabbcde", k=draw.randint(0, 7)) for _ in range(25)]
    words = set("abcdf")
    model = KneserNey(train, words, order)
    for _ in range(6):
        sentence = draw.choices("abcdefg", k=draw.randint(0, 6))
        (found,) = model.log_probabilities([sentence])
        expected = [slow(train, words, order, sentence[:i], w) for i, w in enumerate([*sentence, "</s>"])]
        assert np.exp(found) == pytest.approx(expected)


def test_probabilities_sum_to_one_after_any_history() -> None:
    model = KneserNey(SENTENCES)
    words = ["I", "You", "Joe", "Anna", "went", "go", "to", "ski", "unknown"]
    for history in ([], ["I"], ["I", "go"], ["zzz"], ["I", "zzz", "to"], ["Anna", "went", "ski", "ski", "ski", "to"]):
        rows = model.log_probabilities([[*history, word] for word in words])
        end = model.log_probabilities([history])[0][-1]
        assert sum(math.exp(row[len(history)]) for row in rows) + math.exp(end) == pytest.approx(1)


def test_perplexity_counts_ends_of_sentences() -> None:
    model = KneserNey(SENTENCES)
    rows = model.log_probabilities([["I", "go"], [], ["to"]])
    assert [len(row) for row in rows] == [3, 1, 2]
    assert model.perplexity([["I", "go"], [], ["to"]]) == pytest.approx(math.exp(-np.concatenate(rows).mean()))
    assert math.isnan(model.perplexity([]))
    assert KneserNey([[]]).perplexity([["a"]]) > 1
    with pytest.raises(MetricError, match="at least one sentence"):
        KneserNey([])
