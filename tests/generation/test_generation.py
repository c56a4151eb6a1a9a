"""Generation on real acts: nothing dropped, nothing invented, no placeholder shown, however poor the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dactnlg.acts import Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UnknownNameError, UserError
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.decoders.decoder import Plan
from dactnlg.generation.decoders.keras_decoder import KerasDecoder
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import DecodingConfig
from dactnlg.runs.run import Run
from dactnlg.text.preprocessor import Preprocessor


@pytest.fixture(scope="module", params=["random", "sclstm", "hierarchical", "transformer"])
def run(request: pytest.FixtureRequest, poor_run: Callable[[str], Path]) -> Path:
    return poor_run(request.param)


@pytest.fixture(scope="module")
def generator(run: Path) -> Generator:
    # Shared by all tests, so that a search is compiled once.
    return Generator.load(run)


def test_the_hard_constraint_says_every_value_of_every_test_act(generator: Generator) -> None:
    corpus = load_corpus("trails")
    turns = [example.turn for example in corpus.split("test")]
    # Searches with Keras take longer.
    turns = turns[::3] if isinstance(generator.decoder, KerasDecoder) else turns
    checker = corpus.card.style().checker()
    results = generator.generate(turns, GenerationOptions(constraint="hard"))
    assert [result.act for result in results] == [str(turn) for turn in turns]
    origins = Counter(result.origin for result in results)
    # Some are found by the search, and those that it cannot end in time are templates.
    assert origins["template"] > len(turns) / 30
    assert generator.decoder is None or origins["model"] + origins["composed"] > len(turns) / 8
    for turn, result in zip(turns, results, strict=True):
        assert result.text.strip()
        assert "SLOT_" not in result.text + result.raw
        assert "\uffed" not in result.text + result.raw
        # Checked on the finished sentence by finding the values again, independently of the search.
        assert not checker.check(turn, result.raw).values.missing, result
        values = {str(slot) for _, slot in turn.slots() if slot.delexicalizable}
        assert not values & (set(result.missing) | set(result.extra))


@pytest.mark.parametrize(("value", "extra"), [("easy", ("difficulty=easy",)), ("demanding", ())])
def test_a_value_that_is_said_in_words_as_well_is_extra(
    poor_run: Callable[[str], Path], value: str, extra: tuple[str, ...]
) -> None:
    preprocessor = Preprocessor.load(Run(poor_run("sclstm")).preprocessor_path)
    request = preprocessor.request(parse(f"inform(name='Red Kite Ridge';difficulty={value})"))
    tokens = ("SLOT_NAME", "is", "SLOT_DIFFICULTY", "\uffed,", "easy", "or", "moderate", "\uffed.")
    candidate = Candidate(preprocessor, request, tokens, -1.0)
    assert candidate.report.extra == extra
    assert candidate.report.ok is candidate.faithful is (not extra)
    assert candidate.errors == len(extra)


@pytest.mark.parametrize("name", ["lstm", "sclstm", "hierarchical", "transformer"])
def test_every_sentence_holds_a_trigger_word_that_is_owed(poor_run: Callable[[str], Path], name: str) -> None:
    generator = Generator.load(poor_run(name))
    assert generator.decoder is not None
    preprocessor = generator.preprocessor
    turns = [example.turn for example in load_corpus("trails").split("test")][:60]
    owed = [["dogsallowed=no"] if row % 2 else [] for row in range(len(turns))]
    found = generator.decoder.search(turns, Plan(8, True, 8), owed)
    triggers = set(preprocessor.trigger_words["dogsallowed"])
    held = [
        [bool(triggers & set(preprocessor.vocabulary.decode(h.tokens))) for h in row if h.finished] for row in found
    ]
    assert all(map(all, held[1::2])) and sum(map(len, held[1::2])) > 10
    # Without an owed value most sentences have none, and owed values of other rows change nothing.
    assert not all(map(all, held[::2]))
    alone = generator.decoder.search(turns[::2], Plan(8, True, 8))
    assert [[h.tokens for h in row] for row in found[::2]] == [[h.tokens for h in row] for row in alone]


def test_reordering_and_repeating_acts_changes_nothing(generator: Generator) -> None:
    acts = ["goodbye()", "?request(region)", "inform(name='X Y';length='3 km')", "goodbye()"]
    texts = [result.text for result in generator.generate(acts)]
    if generator.decoder is None:
        # The baseline draws by place: the same sentence for the same act and place.
        assert [generator.generate([act], first=place)[0].text for place, act in enumerate(acts)] == texts
        return
    assert texts[0] == texts[3]
    assert [result.text for result in generator.generate(acts[::-1])] == texts[::-1]
    assert [generator.generate([act])[0].text for act in acts] == texts


def test_equal_acts_are_generated_once_unless_sampled(generator: Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    # Also in other notations, but not with another order of slots or other letter case.
    acts = ["inform(name='X Y';length='3 km')", 'inform( name = "X Y" ; length = "3 km" )', "goodbye()"]
    acts += ["inform(length='3 km';name='X Y')", "inform(name='x y';length='3 km')", parse(acts[0])]
    requested, request = [], generator.preprocessor.request
    monkeypatch.setattr(generator.preprocessor, "request", lambda turn, _: requested.append(turn) or request(turn))  # type: ignore[func-returns-value]
    two = GenerationOptions(n_best=2)
    expected = [generator.generate([act], two)[0] for act in acts]
    requested.clear()
    found = generator.generate(acts, two)
    assert [result.act for result in found] == [result.act for result in expected]
    if generator.decoder is None:
        assert len(requested) == len(acts)
        return
    assert [result.text for result in found] == [result.text for result in expected]
    assert len(requested) == 4
    requested.clear()
    drawn = generator.generate([acts[0]] * 20, GenerationOptions(temperature=3.0))
    assert len({result.raw for result in drawn}) > 1
    assert len(requested) == 20
    requested.clear()
    monkeypatch.setattr(generator.decoder, "reuse", False)
    assert [result.text for result in generator.generate(acts, two)] == [result.text for result in expected]
    assert len(requested) == len(acts)


def test_unseen_values_are_said_as_given(generator: Generator) -> None:
    value = "Zyx=;'(q) Ünïcode 3"
    act = Turn((parse("inform(name=x;length='3 km')").acts[0],))
    turn = parse(str(act).replace("name=x", "name='" + value.replace("'", "\\'") + "'"))
    result = generator.generate([turn], GenerationOptions(constraint="hard"))[0]
    assert value in result.text
    assert "3 km" in result.text


def test_no_placeholder_is_shown_under_weaker_constraints(generator: Generator) -> None:
    turns = [example.turn for example in load_corpus("trails").split("valid")]
    for options in (GenerationOptions(constraint="none"), GenerationOptions(constraint="rerank")):
        for result in generator.generate(turns, options):
            assert not re.search(r"SLOT_|\uffed", result.text + result.raw)
            assert result.slots_ok == (not result.missing and not result.extra)


@pytest.mark.parametrize("constraint", ["hard", "rerank"])
def test_n_best_is_ordered_and_distinct(generator: Generator, constraint: str) -> None:
    # For a template, the last resort of a poor model, there is one sentence only.
    acts = ["inform(name='Red Kite Ridge';difficulty=easy)", "goodbye()", "?request(region)"]
    options = GenerationOptions(n_best=4, constraint=constraint)
    several = [each for each in generator.generate(acts, options) if len(each.n_best) > 1]
    assert several
    for result in several:
        assert result.n_best[0].text == result.text
        assert len({other.delexicalized for other in result.n_best}) == len(result.n_best)
        if constraint == "hard":
            # Sentences like those of training come first (see test_candidates).
            continue
        # Among sentences with equally many faults the more probable comes first.
        faults = [(len(other.missing) + len(other.extra), -(other.score or 0.0)) for other in result.n_best]
        for count in {count for count, _ in faults}:
            costs = [cost for other, cost in faults if other == count]
            assert costs == sorted(costs)


def test_unknown_names_and_bad_options_are_refused(generator: Generator) -> None:
    with pytest.raises(UnknownNameError, match="'difficulty'"):
        generator.generate(["inform(name=x;dificulty=easy)"])
    with pytest.raises(UnknownNameError, match="'inform'"):
        generator.generate(["infrom(name=x)"])
    with pytest.raises(UnknownNameError, match="hard"):
        generator.generate(["goodbye()"], GenerationOptions(constraint="firm"))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="must be at least 1; got 0"):
        generator.generate(["goodbye()"], GenerationOptions(beam_width=0, n_best=0))
    assert generator.generate([]) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_width": 99999999999}, "beam_width must be at most 1,000; got 99999999999"),
        ({"beam_width": True}, "beam_width must be a whole number; got True"),
        ({"beam_width": "5"}, "beam_width must be a whole number; got '5'"),
        ({"beam_width": 2.5}, "beam_width must be a whole number; got 2.5"),
        ({"n_best": 1001}, "n_best must be at most 1,000; got 1001"),
        ({"n_best": None}, "n_best must be a whole number; got None"),
        ({"seed": -1}, "seed must be at least 0; got -1"),
        ({"seed": 10**5000}, "seed must be less than 4,294,967,296; got a number of 5001 digits"),
        ({"sample": True, "temperature": float("nan")}, "temperature must be a finite number; got nan"),
        ({"temperature": 1e308}, "temperature must be at most 1e+06; got 1e+308"),
        ({"temperature": -1.0}, "temperature must be at least 0; got -1.0"),
        ({"top_k": -1}, "top_k must be at least 0; got -1"),
        ({"top_k": 10**30}, "top_k must be at most 1,000,000,000; got 1000000000000000000000000000000"),
        ({"top_p": 0.0}, "top_p must be greater than 0; got 0.0"),
        ({"sample": 1}, "sample must be true or false; got 1"),
        ({"append_questions": "no"}, "append_questions must be true or false; got 'no'"),
        ({"constraint": 3}, "unknown constraint '3'; valid: hard, none, rerank"),
        ({"constraint": ""}, "unknown constraint ''; valid: hard, none, rerank"),
    ],
)
def test_errors_in_options_name_the_bound(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        GenerationOptions(**options).resolve(DecodingConfig(), 1)
    assert str(caught.value) == message


def test_options_may_be_numpy_numbers() -> None:
    options = GenerationOptions(beam_width=np.int64(3), temperature=np.float32(0.5), seed=np.uint8(7))  # type: ignore[arg-type]
    found = options.resolve(DecodingConfig(), 1)
    assert (found.beam_width, found.seed) == (3, 7)
    assert found.sampling is not None and found.sampling.temperature == 0.5


def test_unknown_slots_are_said_unless_strict(generator: Generator) -> None:
    result = generator.generate(["inform(name='Fern Loop';altimeter='77 bar')"], strict=False)[0]
    assert "77 bar" in result.text and "Fern Loop" in result.text


def test_evaluation_scores_every_row(poor_run: Callable[[str], Path]) -> None:
    result = evaluate(poor_run("sclstm"), options=GenerationOptions(constraint="hard"))
    data = result.to_dict()
    assert data["scores"]["SER"]["value"] == 0.0
    assert 0.0 < data["scores"]["BLEU-4"]["value"] <= 1.0
    assert len(data["segments"]) == len(data["generations"]) == len(load_corpus("trails").split("test"))
    assert "BLEU-4" in result.table() and "slot faults" in result.report()
