"""ROUGE-1/2, MSTTR and PARENT: against Google's package, GEM-metrics' definition and the authors' published numbers."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.evaluation.stored import stored_scores
from dactnlg.metrics.base import Segment
from dactnlg.metrics.msttr import Msttr
from dactnlg.metrics.parent import Parent
from dactnlg.metrics.rouge_n import RougeN

WORDS = ["the", "Red-Door", "serves", "thai", "food.", "£20", "café", "7km", "a", "A,"]


def sentences(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=draw.randrange(0, 9))) for _ in range(count)]


def test_rouge_n_of_a_few_words_by_hand() -> None:
    metric = RougeN()
    segments = [
        # 3 of 4 and of 5 words: F1 6/9; 1 of 3 and of 4 pairs of words: F1 2/7.
        Segment("the cat sat down", ("the dog, sat DOWN now",)),
        Segment("the the the", ("the", "the the")),
        Segment("", ("a",)),
        Segment("a", ()),
    ]
    found = metric.segment_scores(metric.statistics(segments))
    assert found[0] == pytest.approx([6 / 9, 2 / 7])
    assert found[1] == pytest.approx([2 * 2 / 5, 2 / 3])
    assert found[2].tolist() == [0, 0] and np.isnan(found[3]).all()


@pytest.mark.needs("rouge_score", "pip install rouge-score")
def test_rouge_n_is_googles() -> None:
    """rouge_score 0.1.2, `score_multi`, on 300 random segments."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer, names = RougeScorer(["rouge1", "rouge2"]), ("rouge1", "rouge2")
    draw = random.Random(3)
    hypotheses, pool = sentences(1, 300), sentences(2, 50)
    segments = [Segment(text, tuple(draw.choices(pool, k=draw.randrange(1, 4)))) for text in hypotheses]
    expected = [
        [scorer.score_multi(list(s.references), s.hypothesis)[name].fmeasure for name in names] for s in segments
    ]
    metric = RougeN()
    rows = metric.statistics(segments)
    assert metric.segment_scores(rows) == pytest.approx(np.array(expected), abs=1e-12)
    assert metric.score(rows.sum(axis=0)) == pytest.approx(np.mean(expected, axis=0))


def naive_msttr(texts: list[str], length: int, split: Callable[[str], list[str]]) -> float:
    """GEM-metrics' definition: equal pieces of the concatenation, the last one left out if it is shorter."""
    tokens = [token.lower() for text in texts for token in split(text)]
    pieces = [tokens[start : start + length] for start in range(0, len(tokens), length)]
    ratios = [len(set(piece)) / length for piece in pieces if len(piece) == length]
    return sum(ratios) / len(ratios) if ratios else math.nan


@given(st.lists(st.lists(st.sampled_from("aAbcde"), max_size=9).map(" ".join), max_size=12), st.integers(1, 12))
def test_msttr_is_gems(texts: list[str], length: int) -> None:
    metric = Msttr(length, "space")
    for start in range(0, len(texts), 5):
        metric.update([Segment(text, ()) for text in texts[start : start + 5]])
    (found,) = metric.scores()
    assert found == pytest.approx(naive_msttr(texts, length, str.split), nan_ok=True)
    assert bool(metric.warnings()) == math.isnan(found)


def test_msttr_of_different_tokens_is_1_and_of_equal_ones_1_by_length() -> None:
    """The properties that GEM-metrics' own tests state: 1 of different tokens, 1 / length of equal ones."""
    different = [Segment("one two three four five six seven eight nine ten", ())] * 2
    equal = [Segment("token " * 10, ())] * 3
    for length in range(1, 11):
        for segments, expected in ((different, 1), (equal, 1 / length)):
            metric = Msttr(length)
            metric.update(segments)
            assert metric.scores() == pytest.approx((expected,))
    result = score_pairs([TextPair("Don't go, go.", ())] * 20, ["MSTTR"])
    # 6 tokens of NLTK's (do n't go , go .), 5 of them different, 5 too in each piece of 100.
    assert result.all_scores["MSTTR-100"].value == pytest.approx(0.05)
    recipe = r"MSTTR-100\|length:100\|tok:treebank\|case:lower\|order:[0-9a-f]{8}\|preset:nlg-eval"
    assert re.fullmatch(recipe, result.all_scores["MSTTR-100"].signature)


def test_msttr_depends_on_the_order_and_its_hash_too() -> None:
    pairs = [TextPair(f"word{n} " * (1 + n % 60), (f"reference {n}",)) for n in range(90)]
    straight, backwards = (score_pairs(each, ["MSTTR"]).all_scores["MSTTR-100"] for each in (pairs, pairs[::-1]))
    assert straight.value != backwards.value and straight.hash != backwards.hash
    assert score_pairs(pairs, ["MSTTR"]).all_scores["MSTTR-100"] == straight


TABLE = parse(
    "inform(birth_name='michael dahlquist';born='december 22 , 1965';birth_place='seattle , washington';"
    "died='july 14 , 2005';death_place='skokie , illinois';genres=male;occupation=drummer;instruments=drums)"
)
BEGIN = "michael dahlquist ( december 22 , 1965 -- july 14 , 2005 ) was a drummer"
REFERENCE = f"{BEGIN} in the seattle band silkworm ."


@pytest.mark.parametrize(
    ("end", "published"),
    [("in the california band grateful dead .", 0.688), (".", 0.746), ("from seattle , washington .", 0.786)],
)
def test_parent_is_the_authors(end: str, published: float) -> None:
    """The example of Dhingra et al. 2019 and its values (table_text_eval_test.py, lambda .9)."""
    metric = Parent(0.9)
    rows = metric.statistics([Segment(f"{BEGIN} {end}", (REFERENCE,), TABLE)])
    assert metric.score(rows.sum(axis=0))[0] == pytest.approx(published, abs=5e-4)


def test_parent_of_one_value_by_hand() -> None:
    """One value of one word. Hypothesis `a x`, reference `a y`; x is the value."""
    turn = parse("inform(name=x)")
    smooth = 1e-5
    # Words: a is in the reference, x is entailed; the pair is not in the reference, and half entailed.
    precision = (1 * 0.5 * smooth * smooth) ** 0.25
    # Nothing of the reference is entailed; its value is said: recall 1.
    expected = 2 * precision / (precision + 1 + 1e-8)
    metric = Parent()
    assert metric.score_segment(Segment("a x", ("a y",), turn)) == pytest.approx(expected)
    # Of two references the better one counts, and case does not matter.
    assert metric.score_segment(Segment("A X", ("b", "a y"), turn)) == pytest.approx(expected)
    long = "x is a fine old place ."
    assert metric.score_segment(Segment(long, (long,), turn)) == pytest.approx(1, abs=1e-6)
    # A value counts although the reference lacks it; leaving it out costs.
    said, unsaid = (
        metric.score_segment(Segment(text, ("it is a fine old place .",), turn))
        for text in (long, "it is a fine old place .")
    )
    assert said > 0.5 > unsaid


def test_parent_is_undefined_without_values_or_references() -> None:
    pairs = [
        TextPair("a b", ("a b",), parse("request(area)")),
        TextPair("a b", ("a b",), parse("inform(kidsallowed=no;area=dontcare)")),
        TextPair("a b", ("a b",)),
        TextPair("a b", (), parse("inform(name=a)")),
    ]
    nothing = score_pairs(pairs, ["PARENT"])
    assert nothing.scores["PARENT"].value is None
    assert any("PARENT is undefined: no segment has references and an act with values" in w for w in nothing.warnings)
    good = TextPair("x is a fine old place", ("x is a fine old place",), parse("inform(name=x;kidsallowed=no)"))
    found = score_pairs([*pairs, good], ["PARENT"])
    assert found.scores["PARENT"].value == pytest.approx(1, abs=1e-6)
    assert np.isnan(found.segments[:4, 0]).all()
    assert found.scores["PARENT"].signature == "PARENT|entailment:overlap|lambda:0.5|tok:13a|case:lower|preset:nlg-eval"


def test_rouge_n_and_parent_can_be_computed_from_stored_statistics() -> None:
    """As `compare` does."""
    pairs = [
        TextPair(text, ("the red-door serves food",), parse("inform(name='red-door')")) for text in sentences(4, 30)
    ]
    result = score_pairs(pairs, ["ROUGE-1", "ROUGE-2", "PARENT"])
    (stored,) = stored_scores(json.loads(json.dumps(result.to_dict())), "x").values()
    assert set(stored.families) == {"ROUGE-1", "ROUGE-2", "PARENT"}
    assert stored.values == {name: score.value for name, score in result.scores.items()}
