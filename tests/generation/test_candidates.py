"""Candidates: their ranking against sorting all of them, their reports and their scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import preprocessor_of
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.generation.candidate_search import CandidateSearch
from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen.unseen_acts import UnseenActs
from dactnlg.text.preprocessor import Preprocessor

PREPROCESSOR = preprocessor_of(
    [("inform(name=a;food=b)", "SLOT_NAME serves SLOT_FOOD food"), ("inform(name=a)", "SLOT_NAME is good")]
)
TEXTS = ["SLOT_NAME serves SLOT_FOOD food", "SLOT_NAME is good", "SLOT_FOOD SLOT_FOOD SLOT_NAME", "good food"]
WEIGHT = 3.0


@given(
    st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from([0.0, -1.0, -4.0]), st.integers(0, 2))), st.booleans()
)
def test_candidates_are_ranked_by_doubts_and_then_by_cost(
    rows: list[tuple[str, float, int]], faithful_values: bool
) -> None:
    request = PREPROCESSOR.request(parse("inform(name=x;food=y)"))
    candidates = []
    for text, score, doubts in rows:
        candidates.append(Candidate(PREPROCESSOR, request, tuple(text.split()), score))
        candidates[-1].doubts = doubts
    kept = [each for each in candidates if each.faithful_values or not faithful_values]
    ranked = sorted((each.doubts, each.cost(WEIGHT)) for each in kept)
    for count in (1, 2, len(rows) + 1):
        best = cheapest(candidates, count, WEIGHT, faithful_values=faithful_values)
        assert [(each.doubts, each.cost(WEIGHT)) for each in best] == ranked[:count]
        assert len(set(map(id, best))) == len(best) and set(map(id, best)) <= set(map(id, kept))


ACTS = [
    "inform(name='Red Kite Ridge';difficulty=easy;dogsallowed=no;toilets=yes;height='300 m')",
    "recommend(region='Marl Valley';season=spring;dogsallowed=yes;view='the sea')",
    "inform_count(count=7;toilets=yes;season=summer;region='Marl Valley')",
]


@pytest.mark.parametrize("model", ["sclstm", "hierarchical"])
def test_n_best_sentences_are_sorted_by_doubts(poor_run: Callable[[str], Path], model: str) -> None:
    generator = Generator.load(poor_run(model))
    unseen = UnseenActs(generator.preprocessor)
    several = [each for each in generator.generate(ACTS, GenerationOptions(n_best=5)) if len(each.n_best) > 1]
    assert several
    for said in several:
        turn = parse(said.act)
        doubts = [unseen.doubts.of(turn, tuple(each.delexicalized.split())) for each in said.n_best if each.slots_ok]
        assert unseen.is_unseen(generator.preprocessor.request(turn)) and doubts == sorted(doubts)


def test_a_report_does_not_depend_on_earlier_acts_of_the_same_form(neural_run: Path) -> None:
    text = "SLOT_NAME is SLOT_LENGTH#2 long , while SLOT_NAME#2 is SLOT_LENGTH long ."
    tokens = tuple(text.split())

    def missing(preprocessor: Preprocessor, values: tuple[str, str, str, str]) -> set[str]:
        first, length, second, other = values
        act = f"compare(name='{first}';length='{length}';name='{second}';length='{other}')"
        found = Candidate(preprocessor, preprocessor.request(parse(act)), tokens, None).report.missing
        return {name for name in found if "=" in name}

    # With equal lengths no value is said of the wrong path. What is cached for such an act must not be used for others.
    acts = [("A", "4 km", "B", "4 km"), ("Path 44", "4 km", "Old Mill Walk", "7 km"), ("C", "1 km", "D", "2 km")]
    preprocessor = Generator.load(neural_run).preprocessor
    after = [missing(preprocessor, act) for act in acts]
    assert after == [missing(Generator.load(neural_run).preprocessor, act) for act in acts]
    assert after == [set(), {"length='4 km'", "length='7 km'"}, {"length='1 km'", "length='2 km'"}]


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_all_scores_are_normalised_by_length_alike(neural_run: Path, power: float) -> None:
    generator = Generator.load(neural_run)
    decoder, vocabulary = generator.decoder, generator.preprocessor.vocabulary
    assert decoder is not None
    options = GenerationOptions(n_best=8, length_normalization=power).resolve(generator.defaults, seed=1)
    lost = [f"inform(name='X';difficulty=easy;{more})&?request(region)" for more in ("toilets=yes", "length='7 km'")]
    requests = [generator.preprocessor.request(parse(act)) for act in [*lost, "?request(region)", "greet()", *ACTS]]
    origins = set()
    for row in CandidateSearch(generator.preprocessor).searched(decoder, requests, options):
        for each in (each for each in row if each.score is not None):
            whole = float(decoder.sentence_scores(each.request.turn, [vocabulary.encode(each.tokens)])[0])
            assert each.score == pytest.approx(whole / (len(each.tokens) + 1) ** power, rel=1e-3)
            origins.add(each.origin)
    assert origins == {"model", "composed"}
