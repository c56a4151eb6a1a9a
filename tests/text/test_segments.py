"""Segments: what each sentence of a text says, how it stands behind others, and which ones say a special value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from dactnlg.acts import Slot, parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData, build_preprocessor
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.segments import Segments, faults
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import tokenize


@pytest.fixture(scope="module")
def preprocessor(training_data: Callable[[str], TrainingData]) -> Preprocessor:
    """The preprocessor of the embedded corpus, which has cues for yes and no."""
    return training_data("trails").preprocessor


@pytest.fixture(scope="module")
def segments(preprocessor: Preprocessor) -> Segments:
    """The segments of the embedded corpus."""
    return Segments(preprocessor)


def test_segments_make_the_text_again(training_data: Callable[[str], TrainingData]) -> None:
    pairs = training_data("trails").pairs
    counts = Counter[int]()
    for pair in pairs:
        parts = split_sentences(pair.tokens)
        assert tuple(token for part in parts for token in part) == pair.tokens
        assert all(parts)
        counts[len(parts)] += 1
    assert counts[1] > 100 and counts[2] > 100 and counts[3] > 10


@pytest.mark.parametrize(
    ("sentence", "said"),
    {
        "SLOT_NAME is in the SLOT_REGION.": ["name=SLOT", "region=SLOT"],
        "you can bring your dog.": ["dogsallowed=yes"],
        "SLOT_NAME does not allow dogs.": ["name=SLOT"],
        "it is SLOT_LENGTH long and you can bring your dog.": ["length=SLOT", "dogsallowed=yes"],
        "have a nice day.": [],
    }.items(),
)
def test_a_segment_says_its_slots(segments: Segments, sentence: str, said: list[str]) -> None:
    turn = parse("inform(name=SLOT;region=SLOT;length=SLOT;dogsallowed=yes)")
    found = segments.said(turn, tuple(tokenize(sentence)))
    assert found is not None and {str(slot) for slot in found} == set(said)


@pytest.mark.parametrize("reads", [False, True], ids=["cues", "reader"])
def test_whether_words_lack_a_special_value_is_what_the_whole_report_says(
    preprocessor: Preprocessor, corpora: Callable[[str], Corpus], *, reads: bool
) -> None:
    corpus = corpora("trails")
    if reads:
        # Not the shared one, to which the reader would stay attached.
        preprocessor = build_preprocessor(corpus).preprocessor
        checker = corpus.card.style().checker()
        reader = learn_reader(list(corpus.pairs("train"))[:400], [], checker)
        preprocessor.attach(FidelityChecker(checker, reader, preprocessor.manners))
    counts = Counter[bool]()
    for turn, sentence in list(corpus.pairs("test"))[:120]:
        special = [slot for _, slot in turn.slots() if slot.special]
        tokens = preprocessor.delexicalizer.delexicalize(turn, sentence).tokens if special else ()
        # Whole sentences, and what is left of them as words are removed from the start.
        for start in range(0, len(tokens), 3):
            for slot in special:
                lacks = preprocessor.lacks(turn, slot, tuple(tokens[start:]))
                assert lacks == (f"{slot.name}={slot.special}" in faults(preprocessor, turn, tuple(tokens[start:])))
                counts[lacks] += 1
    assert min(counts[True], counts[False]) > 50


def test_what_a_segment_says_may_be_unknown(segments: Segments) -> None:
    # A placeholder of a slot that the act does not have, and a special value without cues.
    assert segments.said(parse("inform(name=x)"), tuple(tokenize("it is in the SLOT_REGION."))) is None
    assert segments.said(parse("inform(name=x;season=none)"), tuple(tokenize("SLOT_NAME is fine."))) is None


@pytest.mark.parametrize(
    ("sentence", "continued"),
    [
        ("SLOT_NAME is in the SLOT_REGION.", "it is in the SLOT_REGION."),
        ("the SLOT_NAME has no toilets.", "it has no toilets."),
        ("SLOT_NAME zigzags.", None),  # No text of training has "it zigzags".
        ("SLOT_REGION is fine.", None),  # Texts begin with another slot.
        ("there are no toilets.", None),
        ("SLOT_NAME near SLOT_REGION is fine.", None),  # "Would you like it near the river" is no sentence about it.
        ("SLOT_NAME is near SLOT_NAME.", None),
        ("SLOT_NAME", None),
    ],
)
def test_a_segment_behind_others_begins_with_a_pronoun(
    segments: Segments, sentence: str, continued: str | None
) -> None:
    assert segments.continued(tuple(tokenize(sentence))) == (continued and tuple(tokenize(continued)))


@pytest.mark.parametrize("act", ["inform", "recommend"])
@pytest.mark.parametrize("value", ["dogsallowed=no", "dogsallowed=yes", "toilets=no", "stroller=yes"])
def test_statements_say_their_value_and_nothing_else(
    preprocessor: Preprocessor, segments: Segments, act: str, value: str
) -> None:
    slot = Slot(*value.split("="))
    found = segments.statements(act, slot)
    assert 1 <= len(found) <= 5
    texts = {
        part for group in preprocessor.templates.sentences.values() for text in group for part in split_sentences(text)
    }
    for tokens in found:
        assert faults(preprocessor, parse(f"{act}({value})"), tokens) == ()
        other = Slot(slot.name, {"yes": "no", "no": "yes"}[slot.value or ""])
        assert faults(preprocessor, parse(f"{act}({other})"), tokens) != ()
        assert tokens in texts or tokens[0] == "it"


def test_no_statements_for_what_training_never_said(segments: Segments) -> None:
    assert segments.statements("inform", Slot("dogsallowed", "dontcare")) == []


def test_an_act_type_without_statements_has_those_of_another_one(segments: Segments) -> None:
    no_dogs = Slot("dogsallowed", "no")
    assert segments.statements("recount", no_dogs) == segments.statements("inform", no_dogs) != []
    # A question makes no statement.
    assert segments.statements("?recount", no_dogs) == []


def test_of_a_name_becomes_its(segments: Segments) -> None:
    def about_it(text: str) -> str:
        return " ".join(segments.about_it(tuple(text.split())))

    assert about_it("the length of SLOT_NAME is SLOT_LENGTH .") == "its length is SLOT_LENGTH ."
    assert about_it("i like the length of SLOT_NAME .") == "i like the length of it ."
    assert about_it("the SLOT_LENGTH of SLOT_NAME is fine .") == "the SLOT_LENGTH of it is fine ."
    assert about_it("the length of the SLOT_NAME is SLOT_LENGTH .") == ""
