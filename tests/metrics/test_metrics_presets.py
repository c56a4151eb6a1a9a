"""Presets: which sentences are references of a row, and the published numbers that depend on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UnknownNameError
from dactnlg.metrics import bleu, rnnlg
from dactnlg.metrics.base import Segment
from dactnlg.metrics.presets import PRESETS, handcrafted_for, references_for
from dactnlg.metrics.registry import NAMES, resolve, select
from dactnlg.text.example import Example

ACT, OTHER = parse("inform(name='red door';area=north)"), parse("inform(area=south;name='blue hut')")


def example(turn: str, human: str, handcrafted: str = "") -> Example:
    return Example(parse(turn), (human,), (handcrafted,) if handcrafted else ())


def test_sharma2017_groups_identical_acts_with_handcrafted_sentences() -> None:
    rows = [
        example("inform(name=a;area=b)", "A is in b .", "a , b"),
        example("inform(area=b;name=a)", "b has a", "a b ."),
        example("inform(name=a;area=b)", "In b there is a !", "a b"),
    ]
    references, normalize = references_for("sharma2017", rows)
    assert references[0] == ("a is in b", "a , b", "in b there is a", "a b")
    assert references[2] == references[0]
    assert references[1] == ("b has a", "a b"), "the order of slots is kept as written"
    assert normalize("Red Door .") == "red door"
    assert normalize("red door?") == "red door?", "only a mark that stands apart"


def test_sharma2017_without_handcrafted_sentences_is_one_reference() -> None:
    rows = [example("bye()", "Good bye ."), example("bye()", "Bye")]
    references, normalize = references_for("sharma2017", rows)
    assert references == [("good bye .",), ("bye",)]
    assert normalize("Good bye .") == "good bye ."


def test_rnnlg_fills_the_pool_with_own_values() -> None:
    rows = [example(str(ACT), "red door is in north ."), example(str(OTHER), "in south , blue hut")]
    references, _ = references_for("rnnlg", rows)
    assert references[0] == ("red door is in north", "in north , red door")
    assert references[1] == ("blue hut is in south", "in south , blue hut")


def test_single_has_the_first_reference_and_nlg_eval_all() -> None:
    rows = [Example(ACT, ("One.", "Two."))]
    assert references_for("single", rows)[0] == [("One.",)]
    assert references_for("nlg-eval", rows)[0] == [("One.", "Two.")]


def test_rnnlg_normalises_contractions_abbreviations_and_endings() -> None:
    assert rnnlg.normalize("I'm sorry, it's at 12 Main St.") == "i am sorry , it is at 12 main street ."
    assert rnnlg.normalize("totally moderately priced restaurants !") == "total -ly moderate -ly priced restaurant -s"
    assert rnnlg.normalize("3.5 kids/children, truly") == "3.5 kid -s and child -s , true -ly"


def test_rnnlg_delexicalises_the_longest_value_first() -> None:
    turn = parse("inform(name='north';area='north beach or soma')")
    template = rnnlg.delexicalize("north is in soma and north beach", turn)
    assert template == "SLOT_NAME is in SLOT_AREA"
    assert rnnlg.lexicalize(template, turn) == "north is in north beach or soma"


def test_rnnlg_finds_long_lists_only_as_written() -> None:
    # Every order of twelve parts would be half a billion.
    value = " and ".join("abcdefghijkl")
    turn = parse(f"inform(name=x;list='{value}')")
    assert rnnlg.delexicalize(f"x has {value} too", turn) == "SLOT_NAME has SLOT_LIST too"
    assert rnnlg.delexicalize(f"x has {value[::-1]}", turn).startswith("SLOT_NAME has l")


@pytest.mark.parametrize("corpus", ["restaurants", "hotel"])
def test_bleu_of_handcrafted_sentences_is_rnnlgs(corpus: str, data_dir: Path, oracle_dir: Path) -> None:
    """RNNLG's own loader and scorer on its third column (oracles/calibration.json)."""
    expected = json.loads((oracle_dir / "calibration.json").read_text())["rnnlg"]
    examples = load_corpus(corpus, data_dir).split("test")
    references, _ = references_for("rnnlg", examples)
    metric = bleu.create("rnnlg")
    rows = metric.statistics(list(map(Segment, handcrafted_for(examples), references)))
    assert round(float(metric.score(rows.sum(axis=0))[3]), 4) == expected["HDC BLEU-4"][corpus]
    if corpus == "restaurants":
        assert round(sum(map(len, references)) / len(references)) == expected["references per act (restaurants)"]


def test_gold_is_perfect_under_sharma2017(data_dir: Path) -> None:
    examples = load_corpus("restaurants", data_dir).split("test")
    references, normalize = references_for("sharma2017", examples)
    assert len(references) == 1039
    metric = bleu.create("nlg-eval")
    gold = [Segment(normalize(e.references[0]), r) for e, r in zip(examples, references, strict=True)]
    assert metric.score(metric.statistics(gold).sum(axis=0))[3] == pytest.approx(1, abs=1e-6)


def test_scores_and_presets_are_found_by_their_names() -> None:
    for preset in PRESETS:
        assert select(preset), preset
    assert [item.names for item in select("rnnlg", ["bleu-4"])] == [("BLEU-4",)]
    assert select("rnnlg", ["BLEU"])[0].names == bleu.Bleu.names
    assert "preset:rnnlg" in select("rnnlg")[0].metric.signature("BLEU-4", "rnnlg")
    with pytest.raises(UnknownNameError, match="unknown metric 'BLUE-4'; did you mean 'BLEU-4'"):
        select("rnnlg", ["BLUE-4"])
    with pytest.raises(UnknownNameError, match="unknown preset 'sharma'; did you mean 'sharma2017'"):
        references_for("sharma", [])
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize(("name", "count"), [("rouge", 3), ("METEOR", 1), ("MSTTR", 1), ("distinct", 2), ("TER", 1)])
def test_a_family_is_named_without_variant(name: str, count: int) -> None:
    assert len(resolve(name)) == count


@pytest.mark.parametrize("name", ["mean", "self", "greedy", "reverse", "sentence"])
def test_half_a_name_is_no_family(name: str) -> None:
    with pytest.raises(UnknownNameError):
        resolve(name)


def test_rnnlg_slot_errors_on_restaurants_are_the_toolkits(data_dir: Path, oracle_dir: Path) -> None:
    """The toolkit's own ERR of gold references and of its third column (oracles/calibration.json)."""
    expected = json.loads((oracle_dir / "calibration.json").read_text())["rnnlg"]["slot error, restaurants"]
    examples = load_corpus("restaurants", data_dir).split("test")
    references, _ = references_for("rnnlg", examples)
    gold = [(s, e.turn) for e, sentences in zip(examples, references, strict=True) for s in sentences]
    handcrafted = zip(handcrafted_for(examples), (e.turn for e in examples), strict=True)
    for name, pairs in (("gold references", gold), ("HDC", handcrafted)):
        counts = [rnnlg.slot_errors(sentence, turn) for sentence, turn in pairs]
        assert round(sum(wrong for _, wrong in counts) / sum(required for required, _ in counts), 4) == expected[name]


def test_rnnlg_slot_errors_of_a_few_sentences_by_hand() -> None:
    turn = parse("inform(name='red door';kidsallowed=no;food=thai)")
    assert rnnlg.slot_errors("red door serves thai food and does not allow kid -s", turn) == (3, 0)
    assert rnnlg.slot_errors("red door serves thai and thai", turn) == (3, 1), "only the first value is delexicalised"
    assert rnnlg.slot_errors("thai", parse("?select(food=thai;food=greek)")) == (0, 0)
