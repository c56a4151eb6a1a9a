"""Implied slots: the noun that training never leaves out is added, and nothing that would be news."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import preprocessor_of

from dactnlg.acts import DialogueAct, Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.implied import ImpliedSlots
from dactnlg.training.train import train


class Values:
    """A reader that knows nothing but the values of training."""

    trigger_words: dict[str, tuple[str, ...]] = {}

    def __init__(self, **values: Sequence[str]) -> None:
        self.values = values


def implied(pairs: Sequence[tuple[str, str]], **values: Sequence[str]) -> ImpliedSlots:
    preprocessor = preprocessor_of(pairs)
    preprocessor.reader = Values(**values)  # type: ignore[assignment]
    return ImpliedSlots(preprocessor)


PUBS = [
    (f"inform_no_match(type=pub;city=york;near=n{n})", f"in SLOT_CITY there are w{n} SLOT_TYPE -s near SLOT_NEAR .")
    for n in range(30)
]
KNOWN = {"type": ["pub"], "city": ["york"], "near": ["a", "b"]}


def test_a_noun_that_is_always_there_is_added_but_no_name() -> None:
    slots = implied(PUBS, **KNOWN)
    assert str(slots.completed(parse("inform_no_match(near=b)"))) == "inform_no_match(type=pub;near=b)"


@pytest.mark.parametrize(
    "act", ["inform_no_match(type=pub;near=b)", "inform_no_match(type=inn)", "inform(near=b)", "bye()"]
)
def test_other_acts_are_left_as_they_are(act: str) -> None:
    turn = parse(act)
    assert implied(PUBS, **KNOWN).completed(turn) is turn


def test_two_values_or_one_act_without_the_slot_or_few_sentences_imply_nothing() -> None:
    turn = parse("inform_no_match(near=b)")
    assert implied(PUBS, **{**KNOWN, "type": ["inn", "pub"]}).completed(turn) is turn
    assert implied([*PUBS, ("inform_no_match(near=b)", "nothing is near SLOT_NEAR .")], **KNOWN).completed(turn) is turn
    assert implied(PUBS[:10], **KNOWN).completed(turn) is turn
    assert implied(PUBS).completed(turn) is turn


def test_a_slot_that_the_caller_left_out_is_not_missing() -> None:
    reported = ("type=pub", "near=b", "type")
    said = Generation("", "", "", "￭SLOT_TYPE￭ -s near SLOT_NEAR", None, False, reported, ())
    slots, turn = implied(PUBS, **KNOWN), parse("inform_no_match(near=b)")
    found = slots.removed(replace(said, n_best=(said,)), turn)
    for each in (found, *found.n_best):
        assert each.delexicalized == "￭pub￭ -s near SLOT_NEAR"
        assert (each.missing, each.slots_ok) == (("near=b",), False)
    without = replace(said, missing=("type=pub",))
    assert slots.removed(without, turn).slots_ok
    # "Pubs pubs" is still wrong, and another act of the turn may have the slot.
    assert not slots.removed(replace(without, extra=("type=pub",)), turn).slots_ok
    assert slots.removed(without, parse("inform_no_match(near=b)&inform(type=pub)")) == without


def test_a_noun_names_what_there_is_none_of(data_dir: Path, tmp_path: Path) -> None:
    """For television sets, after a few updates, most of these used to be 'there are no cheap price range'."""
    sizes = ["model.hidden_size=24", "model.embedding_size=16", "training.epochs=2", "training.teachers=0"]
    run = train("tv", tmp_path / "tv", overrides=[*sizes, f"corpus.data_dir={data_dir}"], progress=False)
    slots = [slot for e in load_corpus("tv", data_dir).split("train") for _, slot in e.turn.slots()]
    families = {str(slot): slot for slot in slots if slot.name == "family" and slot.delexicalizable}.values()
    acts = [Turn((DialogueAct("inform_no_match", (family,)),)) for family in families]
    said = Generator.load(run.path).generate(acts)
    assert len(said) >= 5
    for act, each in zip(acts, said, strict=True):
        assert "television" in each.text
        assert each.slots_ok
        # The act is reported as the caller gave it.
        assert each.act == str(act)
        assert [token for token in each.delexicalized.split(" ") if "SLOT_" in token] == ["SLOT_FAMILY"]
