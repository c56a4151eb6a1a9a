"""What a generator makes of the sentences that a search finds: further searches, questions, other sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers import preprocessor_of

from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen.doubts import Doubts
from dactnlg.generation.unseen.unseen_acts import Pool, UnseenActs
from dactnlg.runs.config import DecodingConfig, load_config
from dactnlg.runs.run import Run
from dactnlg.search.hypotheses import Hypothesis
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.values.neighbours import Neighbours


class Scripted:
    """Finds one sentence, and another one when a special value is owed."""

    lexicalized, sees_context, reuse = False, False, False

    def __init__(self, preprocessor: Preprocessor, first: tuple[str, float], second: tuple[str, float]) -> None:
        self.preprocessor, self.answers, self.asked = preprocessor, (first, second), []

    def search(self, turns, plan, owed=(), contexts=()):  # type: ignore[no-untyped-def]
        self.asked.append([list(names) for names in owed])
        text, score = self.answers[bool(owed)]
        return [[Hypothesis(tuple(self.preprocessor.vocabulary.encode(text.split())), score, True)] for _ in turns]

    def sentence_scores(self, turn, rows, context=""):  # type: ignore[no-untyped-def]
        return -np.array([len(row) for row in rows], np.float32)


def test_only_acts_whose_values_do_not_fit_are_searched_again(
    poor_run: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    preprocessor = Preprocessor.load(Run(poor_run("sclstm")).preprocessor_path)
    preprocessor.neighbours = Neighbours({"SLOT_LENGTH": {"9 km": {"_ long": 9.0}}})
    answer = ("SLOT_NAME is SLOT_LENGTH long .", -5.0)
    script = Scripted(preprocessor, answer, answer)
    generator = Generator(preprocessor, script, load_config("trails-sclstm").decoding)  # type: ignore[arg-type]
    monkeypatch.setattr(UnseenActs, "pool", lambda _, __, request, found, ___: Pool(request, found, None))
    # All hypotheses are searched for if the best one does not fit. Nothing is cached for the act: other values may fit.
    for length, searches in (("9 km", 2), ("7 km", 1), ("9 km", 2)):
        script.asked.clear()
        generator.generate([f"inform(name='Red Kite Ridge';length='{length}')"])
        assert len(script.asked) == searches


@pytest.mark.parametrize("second", [-9.0, -40.0])
def test_a_special_value_is_searched_for_again_whatever_it_costs(
    poor_run: Callable[[str], Path], second: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    preprocessor = Preprocessor.load(Run(poor_run("sclstm")).preprocessor_path)
    script = Scripted(
        preprocessor, ("SLOT_NAME is SLOT_LENGTH long .", -5.0), ("no dogs on SLOT_NAME , SLOT_LENGTH .", second)
    )
    generator = Generator(preprocessor, script, load_config("trails-sclstm").decoding)  # type: ignore[arg-type]
    # Training sentences for the act are not considered here.
    monkeypatch.setattr(UnseenActs, "pool", lambda _, __, request, found, ___: Pool(request, found, None))
    monkeypatch.setattr(Doubts, "of", lambda _, __, ___: 0)
    acts = ["inform(name='Red Kite Ridge';length='7 km';dogsallowed=no)", "inform(name='Red Kite Ridge';length='7 km')"]
    special, plain = generator.generate(acts, GenerationOptions(n_best=2))
    # First the best, then all hypotheses; then once more only the turn that owes a value.
    assert script.asked == [[], [], [["dogsallowed=no"]]]
    assert plain.slots_ok and plain.score == -5.0
    assert special.slots_ok and special.score == second and len(special.n_best) == 2
    assert special.origin == "model"


ASKING = [
    ("request(food)", "what kind of food do you want"),
    ("request(area)", "which part of town do you want"),
    ("inform(count=3)", "there are SLOT_COUNT"),
    ("inform(near=x)", "it is near SLOT_NEAR"),
    ("inform(count=3)&request(area)", "there are SLOT_COUNT . which part would you like"),
    ("inform(count=3;near=x)", "there are SLOT_COUNT near SLOT_NEAR"),
    ("inform(near=x;area=y)", "it is near SLOT_NEAR in SLOT_AREA"),
]


@pytest.mark.parametrize(
    ("act", "found", "text"),
    [
        # In the wording of training that the model scores best, here the shortest.
        ("inform(count=3)&request(area)", "there are SLOT_COUNT", "There are 3. Which part would you like?"),
        # A wrong question is replaced by the right one.
        (
            "inform(count=3)&request(area)",
            "there are SLOT_COUNT . what kind of food do you want",
            "There are 3. Which part would you like?",
        ),
        # A right question is left as it is.
        (
            "inform(count=3)&request(area)",
            "there are SLOT_COUNT . which part would you like",
            "There are 3. Which part would you like?",
        ),
    ],
)
def test_a_missing_question_is_appended(act: str, found: str, text: str) -> None:
    preprocessor = preprocessor_of(ASKING)
    script = Scripted(preprocessor, (found, -2.0), ("", 0.0))
    generator = Generator(preprocessor, script, DecodingConfig())  # type: ignore[arg-type]
    result = generator.generate([act])[0]
    assert result.text == text and result.slots_ok
    assert result.origin == ("model" if result.delexicalized == found else "composed")
    left = generator.generate([act], GenerationOptions(append_questions=False))[0]
    assert left.delexicalized == found and left.origin == "model"


def test_a_question_that_never_follows_a_statement_is_composed() -> None:
    preprocessor = preprocessor_of(ASKING)
    for found in ("there are SLOT_COUNT", "SLOT_COUNT . what food"):
        script = Scripted(preprocessor, (found, -2.0), ("", 0.0))
        generator = Generator(preprocessor, script, DecodingConfig())  # type: ignore[arg-type]
        (result,) = generator.generate(["inform(count=3)&request(food)"])
        assert (result.text, result.origin) == ("There are 3. What kind of food do you want?", "composed")


def test_sentences_unlike_training_are_replaced() -> None:
    preprocessor = preprocessor_of(ASKING)
    script = Scripted(preprocessor, ("food there which part", -2.0), ("", 0.0))
    generator = Generator(preprocessor, script, DecodingConfig())  # type: ignore[arg-type]
    result, plain = (
        generator.generate(["request(food)"], GenerationOptions(constraint=c))[0] for c in ("hard", "none")
    )
    assert (result.text, result.origin) == ("What kind of food do you want?", "composed")
    assert plain.delexicalized == "food there which part"


class Beam(Scripted):
    """Finds both sentences, in this order; samples are the first one only."""

    def search(self, turns, plan, owed=(), contexts=()):  # type: ignore[no-untyped-def]
        return [[self._hypothesis(*answer) for answer in self.answers] for _ in turns]

    def sample(self, turns, places, sampling, draws, **_):  # type: ignore[no-untyped-def]
        return [[self._hypothesis(*self.answers[0]) for _ in draws] for _ in turns]

    def _hypothesis(self, text: str, score: float) -> Hypothesis:
        return Hypothesis(tuple(self.preprocessor.vocabulary.encode(text.split())), score, True)


@pytest.mark.parametrize(
    ("other", "texts"),
    [
        ("SLOT_NAME is near near SLOT_NEAR", ["A la turca is near soma."]),
        ("SLOT_NAME is in SLOT_NEAR", ["A la turca is near soma.", "A la turca is in soma."]),
    ],
)
def test_a_sentence_that_mending_makes_equal_to_a_better_one_is_no_further_one(other: str, texts: list[str]) -> None:
    first = "SLOT_NAME is near SLOT_NEAR"
    acts = [("inform(name=x;near=y)", text) for text in (first, "SLOT_NAME is in SLOT_NEAR")]
    preprocessor = preprocessor_of(acts * 5)
    generator = Generator(preprocessor, Beam(preprocessor, (first, -1.0), (other, -2.0)), DecodingConfig())  # type: ignore[arg-type]
    (found,) = generator.generate(["inform(name='a la turca';near=soma)"], GenerationOptions(n_best=2))
    assert [each.text for each in found.n_best] == texts
    assert found.text == texts[0] and found.score == found.n_best[0].score == -1.0
    # Samples show the distribution, repetitions included.
    (drawn,) = generator.generate(["inform(name='a la turca';near=soma)"], GenerationOptions(n_best=2, sample=True))
    assert [each.text for each in drawn.n_best] == texts[:1] * 2
