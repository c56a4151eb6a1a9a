"""Counterfeit pairs: those of other domains, rewritten with the slots of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from dactnlg import models
from dactnlg.acts import parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.counterfeits import counterfeit
from dactnlg.data.pairs import TrainingData, build_preprocessor
from dactnlg.errors import ConfigError
from dactnlg.runs.config import read_config
from dactnlg.text.example import Pair
from dactnlg.text.placeholders import is_placeholder, required_slots
from dactnlg.text.surface import strip_joiner


def pair(act: str, text: str, corpus: str | None = None) -> Pair:
    """Return a pair of a delexicalised text."""
    return Pair(parse(act), corpus, tuple(text.split()))


OWN = [
    pair("inform(name='m 1';memory='4 gb';wifi=yes)", "the SLOT_NAME has a SLOT_MEMORY memory and wifi"),
    pair("inform(name='m 2';memory='8 gb')", "the SLOT_NAME comes with SLOT_MEMORY memory ￭."),
    pair("inform(name='m 2';memory='8 gb';wifi=no)", "the SLOT_NAME has SLOT_MEMORY of memory and no wifi"),
    pair("inform(name='m 3';weight='1 kg')", "the SLOT_NAME has a weight of SLOT_WEIGHT"),
    pair("inform_no_match(weightrange=light)", "there is nothing SLOT_WEIGHTRANGE"),
    pair("inform_no_match(weightrange=heavy)", "there is nothing in the SLOT_WEIGHTRANGE weight range"),
]


def test_a_slot_becomes_one_of_its_class_in_act_and_sentence() -> None:
    others = [
        pair("inform_no_match(sizerange=large)", "sorry ￭, there is nothing in a SLOT_SIZERANGE size range", "tv"),
        pair("inform(name=x;ports=yes)", "SLOT_NAME has ports ￭.", "tv"),
        pair("inform_no_match(sizerange=small)", "we have nothing SLOT_SIZERANGE ￭.", "tv"),
    ]
    assert counterfeit(others, OWN) == [
        pair(
            "inform_no_match(weightrange=large)", "sorry ￭, there is nothing in a SLOT_WEIGHTRANGE weight range", "tv"
        ),
        pair("inform(name=x;wifi=yes)", "SLOT_NAME has wifi ￭.", "tv"),
        pair("inform_no_match(weightrange=small)", "we have nothing SLOT_WEIGHTRANGE ￭.", "tv"),
    ]


def test_words_are_those_of_the_slot_whose_value_is_nearest() -> None:
    other = pair(
        "inform(name=x;audio=stereo;audiorange=high)", "SLOT_NAME has SLOT_AUDIO audio and SLOT_AUDIORANGE", "tv"
    )
    (found,) = counterfeit([other], OWN)
    name = found.turn.acts[0].slots[1].name
    assert name in {"memory", "weight"} and f"has SLOT_{name.upper()} {name} and" in " ".join(found.tokens)


def test_what_both_have_stays_and_what_does_not_fit_is_left_out() -> None:
    same = pair("inform(name=x;memory='2 gb')", "SLOT_NAME ￭: SLOT_MEMORY", "tv")
    acts = pair("recommend(name=x)", "take SLOT_NAME", "tv")
    many = pair("inform(name=x;ports=yes;plug=yes)", "SLOT_NAME has ports and a plug", "tv")
    assert counterfeit([same, acts, many], OWN) == [same]
    assert counterfeit([], OWN) == [] and counterfeit([same], []) == []


def test_values_that_a_slot_has_twice_stay_numbered() -> None:
    other = pair("inform(size=small;size=large)", "SLOT_SIZE or SLOT_SIZE#2", "tv")
    (found,) = counterfeit([other], OWN)
    name = found.turn.acts[0].slots[0].name.upper()
    assert found.tokens == (f"SLOT_{name}", "or", f"SLOT_{name}#2")


@pytest.mark.parametrize(("source", "target"), [("tv", "laptop"), ("restaurants", "hotel"), ("hotel", "restaurants")])
def test_counterfeits_of_real_corpora_say_what_their_acts_have(
    source: str, target: str, training_data: Callable[[str], TrainingData]
) -> None:
    others, own = (training_data(name).pairs for name in (source, target))
    found = counterfeit(others, own)
    assert found == counterfeit(others, own)
    assert len(found) > len(others) / 2
    slots, acts = ({name for each in own for name in names(each)} for names in (_slots, _acts))
    for each in found:
        assert _slots(each) <= slots and _acts(each) <= acts
        held = Counter(strip_joiner(token) for token in each.tokens if is_placeholder(token))
        assert set(held) <= {required.placeholder for required in required_slots(each.turn)}
    assert {name for each in others for name in _slots(each)} - slots


def _slots(each: Pair) -> set[str]:
    return {slot.name for _, slot in each.turn.slots()}


def _acts(each: Pair) -> set[str]:
    return {act.act_type for act in each.turn}


def test_a_model_knows_their_words_and_its_templates_are_its_own(
    corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> None:
    alone, pairs = training_data("hotel")
    both = build_preprocessor(corpora("hotel"), [corpora("restaurants")], counterfeited=True)
    names = {slot for trait in both.preprocessor.encoder.features if (slot := trait.partition("|")[2])}
    assert not {"food", "kidsallowed", "goodformeal"} & {name.partition("=")[0] for name in names}
    assert both.preprocessor.templates.sentences == alone.templates.sentences
    assert both.preprocessor.trigger_words == alone.trigger_words
    assert set(alone.vocabulary.tokens) < set(both.preprocessor.vocabulary.tokens)
    assert len(both.pairs) > len(pairs)


def test_counterfeits_are_of_other_corpora() -> None:
    data = {"corpus": {"name": "trails", "counterfeit": True}, "model": {"name": "sclstm"}}
    with pytest.raises(ConfigError, match="counterfeit needs also"):
        read_config(data, (), models)


def test_a_corpus_of_which_nothing_fits_is_a_mistake(corpora: Callable[[str], Corpus]) -> None:
    with pytest.raises(ConfigError, match="no pair of dstc2 has acts and slots like those of trails"):
        build_preprocessor(corpora("trails"), [corpora("dstc2")], counterfeited=True)
