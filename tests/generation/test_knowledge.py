"""What is known of an act apart from its sentence: what nothing can check, and whether training had its combination."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.unseen import one_away, subsets
from dactnlg.acts import Turn, parse
from dactnlg.data.card import load_card
from dactnlg.data.corpus import load_corpus
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.unseen import doubts
from dactnlg.generation.unseen.piece_finder import PieceFinder
from dactnlg.runs.run import Run
from dactnlg.text.grammar.fluency import runs
from dactnlg.text.sentences import PRONOUN, split_sentences
from dactnlg.text.templates import Templates


@pytest.fixture
def generator(random_run: Path) -> Generator:
    return Generator.load(random_run)


def combination(turn: Turn) -> frozenset[tuple[str, str | None]]:
    """Return the act types and slots of a turn, independently of the package."""
    return frozenset([(act.act_type, None) for act in turn.acts] + [(act.act_type, s.name) for act, s in turn.slots()])


def test_a_combination_is_seen_if_training_has_it(generator: Generator) -> None:
    corpus = load_corpus("trails")
    known = {combination(turn) for turn, _ in corpus.pairs("train")}
    turns = list(dict.fromkeys(turn for turn, _ in corpus.pairs("test")))
    turns += [parse("goodbye(name='Ivy Cutting')"), parse("inform(region=north)&?request(phone)&goodbye()")]
    found = [said.seen for said in generator.generate(turns, strict=False)]
    assert found == [combination(turn) in known for turn in turns]
    assert {True, False} <= set(found)


def test_combinations_depend_on_slots_and_not_on_values(generator: Generator) -> None:
    acts = ["inform(name=Ivy;length='7 km')", "inform(name='Never Seen Before';length='1 km')", "goodbye(phone=1)"]
    assert [said.seen for said in generator.generate(acts)] == [True, True, False]


def test_without_templates_nothing_is_known_of_combinations(generator: Generator) -> None:
    generator.preprocessor.templates = Templates({})
    (said,) = generator.generate(["goodbye()"])
    assert said.seen is None and said.to_json()["seen"] is None


def test_values_that_nothing_can_check_are_unchecked(generator: Generator) -> None:
    (said,) = generator.generate(["inform(name='Ivy Cutting';dogsallowed=no;toilets=none)"])
    # `toilets=none` is neither on the card nor in the corpus; there are cues for dogs.
    assert said.unchecked == ("toilets=none",)
    assert said.slots_ok is True
    assert said.to_json()["unchecked"] == ["toilets=none"]
    # A question may offer either value; a statement says both.
    (said,) = generator.generate(["?select(dogsallowed=no;dogsallowed=yes)"])
    assert set(said.unchecked) == {"dogsallowed=no", "dogsallowed=yes"}
    (said,) = generator.generate(["inform(name='Ivy Cutting';dogsallowed=no;dogsallowed=yes)"])
    assert not said.unchecked and not said.slots_ok
    (said,) = generator.generate(["inform(name='Ivy Cutting';length='7 km')"])
    assert said.unchecked == ()
    # A yes or no that training lacks must at least be named, and not with the word for another slot.
    for slot in ("parking=yes", "catsallowed=no"):
        (said,) = generator.generate([f"inform(name='Ivy Cutting';dogsallowed=yes;{slot})"], strict=False)
        assert (said.slots_ok, slot in said.missing) == (False, True)


@pytest.mark.parametrize("new", ["season=no", "length=yes", "toilets=dontcare"])
def test_unseen_special_values_are_neither_seen_nor_ignored(generator: Generator, new: str) -> None:
    (said,) = generator.generate([f"inform(name='Ivy Cutting';{new})"])
    assert (said.seen, said.slots_ok) == (False, False)
    assert new in said.missing
    (known,) = generator.generate(
        [f"inform(name='Ivy Cutting';{new.partition('=')[0]}=no)".replace("length=no", "length=1")]
    )
    assert known.seen is (new != "season=no")


@pytest.mark.parametrize(
    ("new", "sentence", "is_said"),
    [
        ("toilets=none", "I do not know of toilets.", True),
        ("toilets=none", "Ivy has toilets.", False),
        ("toilets=dontcare", "Ivy is fine if you do not care about toilets.", True),
        ("toilets=dontcare", "Ivy has toilets.", False),
        ("lockers=no", "Ivy has toilets but no lockers.", True),
        ("lockers=no", "Ivy has no toilets and lockers.", False),
        ("lockers=yes", "Ivy has no toilets but lockers.", True),
        ("lockers=yes", "Ivy has no lockers.", False),
        ("season=no", "Ivy has no season.", False),
    ],
)
def test_unseen_special_values_are_said_where_words_show_them(
    generator: Generator, new: str, sentence: str, *, is_said: bool
) -> None:
    turn, values = parse(f"inform(name=Ivy;{new})"), generator.preprocessor.new_values
    tokens = generator.preprocessor.delexicalizer.delexicalize(turn, sentence).tokens
    assert values.unsaid(turn, tokens) == ([] if is_said else [new])
    # If an act offers two values, either may be meant.
    assert values.of(parse(f"?select({new};{new.partition('=')[0]}=1)")) == []


def test_slots_without_a_value_are_unchecked_in_statements(generator: Generator) -> None:
    """`inform(season)` gives no value, so whatever the model says of it is invented."""
    told, asked = generator.generate(["inform(name='Ivy Cutting';season;difficulty)", "?request(season)"], strict=False)
    assert set(told.unchecked) == {"inform(season)", "inform(difficulty)"}
    assert asked.unchecked == ()


def test_unseen_act_types_are_unchecked(generator: Generator) -> None:
    act = "flatter(name='Ivy Cutting')&inform(length='7 km')&flatter(name='Ivy Cutting')"
    (said,) = generator.generate([act], strict=False)
    assert said.unchecked == ("flatter()",) and said.seen is False


def test_act_types_that_no_reader_knows_are_unchecked_in_new_combinations(
    random_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = Generator.load(random_run)
    reader = generator.preprocessor.reader
    assert reader is not None and reader.knows_act("inform_no_match") and not reader.knows_act("flatter")
    seen, new = "recommend(name='Ivy Cutting';difficulty=easy)", "recommend(name='Ivy Cutting';phone=1;difficulty=easy)"
    assert [said.unchecked for said in generator.generate([seen, new])] == [(), ()]
    monkeypatch.setattr(FidelityChecker, "knows_act", lambda self, act_type: act_type != "recommend")
    found = Generator.load(random_run).generate([seen, new])
    assert [(said.seen, said.unchecked) for said in found] == [(True, ()), (False, ("recommend()",))]


def test_slots_that_training_never_calls_unknown_are_unchecked(generator: Generator) -> None:
    (said,) = generator.generate(["inform_no_info(stroller;season)"])
    assert said.unchecked == ("inform_no_info(stroller)",)


def test_all_n_best_sentences_name_unchecked_values(generator: Generator) -> None:
    (said,) = generator.generate(["inform(name='Ivy Cutting';toilets=none)"], GenerationOptions(n_best=3))
    assert {other.unchecked for other in said.n_best} == {("toilets=none",)}


def test_the_reader_checks_what_cues_cannot(random_run: Path) -> None:
    checker = load_card("trails").style().checker()
    alone = FidelityChecker(checker)
    both = FidelityChecker(checker, load_reader(Run(random_run).reader_path))
    turn = parse("?request(region)")
    assert alone.unchecked(turn) == ("?request(region)",)
    assert both.unchecked(turn) == ()
    for turn in {turn for turn, _ in load_corpus("trails").pairs("test")}:
        assert set(both.unchecked(turn)) <= set(alone.unchecked(turn))
        # What is reported as missing has been checked.
        report = both.check(turn, "Nothing of it.")
        assert not {*report.missing, *report.questions, *report.contradicted} & set(report.unchecked)


def test_silent_slots_need_no_check() -> None:
    checker = load_card("trails").style().checker()
    checker.delexicalizer.silent = frozenset({"inform.toilets"})
    assert checker.unchecked(parse("inform(toilets=none)")) == ()
    assert checker.unchecked(parse("confirm(toilets=none)")) == ("toilets=none",)


def test_sentences_unlike_training_have_doubts(poor_run: Callable[[str], Path]) -> None:
    generator = Generator.load(poor_run("sclstm"))
    corpus = load_corpus("trails")
    texts = {text for group in generator.preprocessor.templates.sentences.values() for text in group}
    known = {run for text in texts for sentence in split_sentences(text) for run in runs(sentence, 4)}
    acts = [*one_away(corpus, 30, 3), *subsets(corpus, 30, 3)]
    # Some of the subsets occur in training.
    said = [each for each in generator.generate(acts) if each.doubts is not None]
    assert len(said) > 40
    for each in said:
        tokens = each.delexicalized.split()
        strange = [run for sentence in split_sentences(tokens) for run in runs(sentence, 4) if run not in known]
        # "It" counts as the name that it stands for.
        assert each.doubts or not strange or PRONOUN in tokens, each
    assert {each.doubts == 0 for each in said} == {True, False}
    assert said[0].to_json()["doubts"] == said[0].doubts


def test_doubts_are_counted_for_searched_unseen_acts_alone(poor_run: Callable[[str], Path], random_run: Path) -> None:
    generator = Generator.load(poor_run("sclstm"))
    new = "inform(name='Ivy Cutting';length='7 km';dogsallowed=no;toilets=yes;season=May)"
    assert generator.generate(new)[0].doubts is not None
    assert [each.doubts for each in generator.generate(["goodbye()", "inform(name=Ivy;length='1 km')"])] == [None, None]
    for options in (GenerationOptions(constraint="rerank"), GenerationOptions(sample=True)):
        assert generator.generate(new, options)[0].doubts is None
    assert Generator.load(random_run).generate(new)[0].doubts is None


def test_prepare_leaves_nothing_to_collect_for_an_act(
    poor_run: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    new = "inform(name='Ivy Cutting';length='7 km';dogsallowed=no;toilets=yes;season=May)"
    (usual,) = Generator.load(poor_run("sclstm")).generate(new)
    generator = Generator.load(poor_run("sclstm"))
    generator.prepare()
    # Without `prepare`, generating would need these.
    monkeypatch.delattr(doubts, "Fluency")
    monkeypatch.delattr(PieceFinder, "collect")
    assert generator.generate(new) == [usual]
