"""A value belongs to the user: sentences hold it as it was given, and no rule looks inside it."""

from __future__ import annotations

import gc
import re
import tracemalloc
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dactnlg._utils.memory import Memory
from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.card import load_card
from dactnlg.data.pairs import TrainingData
from dactnlg.generation.candidates import Candidate
from dactnlg.text import learned_questions, placeholders, relexicalization
from dactnlg.text import preprocessor as preprocessor_module
from dactnlg.text.placeholders import is_placeholder, placeholder_name
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import JOINER, strip_joiner
from dactnlg.text.values.realization import Value, realize, realize_around
from dactnlg.text.values.spellings import alternatives, in_sentence

CORPORA = ["restaurants", "dstc2", "tv", "viggo"]
_WORDS = "a an A apple -s n't 's -ly , . ? ! i usb indian no kids child family x1 SLOT_NAME SLOT_FOOD %s %(a)s {} \\1"
_CHARS = f"ab -'\"’.,?!%&/_{JOINER}\ue000\ue001\uf8ffßİŉé\u0301\u00a0\u2028"
# Every kind of character, and words that a rule about sentences would look at.
VALUES = (
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
    | st.text(_CHARS, min_size=1, max_size=12)
    | st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=4).map(" ".join)
).filter(lambda value: value.strip() and Slot("x", value).delexicalizable and len(alternatives(value)) == 1)


Learned = Callable[[str], tuple[Preprocessor, list[tuple[str, ...]]]]


@pytest.fixture(scope="module")
def learned(training_data: Callable[[str], TrainingData]) -> Learned:
    """Give a function for a corpus's preprocessor and its distinct training sentences with one to four values."""

    @cache
    def of(name: str) -> tuple[Preprocessor, list[tuple[str, ...]]]:
        preprocessor, pairs = training_data(name)
        return preprocessor, sorted({pair.tokens for pair in pairs if 0 < len(held(pair.tokens)) <= 4})

    return of


def held(tokens: tuple[str, ...]) -> list[str]:
    """Return the placeholders of a sentence; none if one stands twice or is a second one of its slot."""
    found = [strip_joiner(token) for token in tokens if is_placeholder(token)]
    return [] if len(set(found)) < len(found) or "#" in "".join(found) else found


@settings(max_examples=150, deadline=None)
@pytest.mark.parametrize("name", CORPORA)
@given(st.data())
def test_a_value_stands_in_its_sentences_as_it_was_given(name: str, learned: Learned, data: st.DataObject) -> None:
    preprocessor, sentences = learned(name)
    tokens = data.draw(st.sampled_from(sentences))
    names = {placeholder_name(slot): slot for slot in preprocessor.encoder.slot_names}
    slots = [Slot(names[placeholder], data.draw(VALUES)) for placeholder in held(tokens)]
    turn = Turn((DialogueAct("inform", tuple(slots)),))
    candidate = Candidate(preprocessor, preprocessor.request(turn), tokens, None)
    # A value may be a word of the sentence, which then says it twice.
    assert not candidate.values.errors
    for slot in slots:
        # Values of training sentences are written as those write them.
        value = preprocessor.casing.values.get(slot.name, {}).get(slot.value.casefold(), slot.value)
        # Where marks stand apart from words, readers see commas between the words of a value as any others.
        shown = re.sub(r"(?<=\w) (?=[,;] \w)", "", value) if preprocessor.style.spaced else value
        # What a card calls a list reads like one.
        shown = in_sentence(shown) if slot.name in preprocessor.style.listed else shown
        for own, sentence in ((shown, candidate.text), (value, candidate.raw)):
            assert own.casefold() in sentence.casefold(), (own, sentence)
            if not any(char.isalpha() for char in own):
                assert own in sentence
    if not preprocessor.style.proper:
        assert all(slot.value in candidate.raw for slot in slots)


BEFORE = st.sampled_from(["at", "a", "an", "A", "it is", ".", ". a", "(", "' ", "x-", ""])
BEHIND = st.sampled_from(["", ".", ",", "-s", "-ly", "'s", "?", "!", "it"])


@settings(max_examples=300, deadline=None)
@given(VALUES, VALUES, BEFORE, BEHIND)
@example("a apple,", "child -s", "a", "-s")
@example(f"x{JOINER}y", "\ue000", "a", ".")
def test_only_what_is_around_values_is_mended(first: str, second: str, before: str, behind: str) -> None:
    values = [Value.of(each, each) for each in (first, second)]
    text = realize_around([f"{before} ", f" {behind} and ", f" {behind}"]).filled(values)
    start = text.casefold().index(first.casefold())
    assert second.casefold() in text.casefold()[start + len(first.casefold()) :]
    # A value stays as given, but for a capital at the start of a sentence.
    assert first in text or values[0].start in text
    assert second in text or values[1].start in text
    changed = [(a, b) for a, b in zip(first, values[0].start, strict=True) if a != b]
    assert len(changed) <= 1 and all(a.upper() == b for a, b in changed)


@pytest.mark.parametrize(
    ("parts", "values", "text"),
    [
        (["it is a ", " ."], ["apple"], "It is an apple."),
        (["it is an ", " ."], ["a apple"], "It is an a apple."),
        (["an ", " is near"], ["user"], "A user is near."),
        (["a ", " is near"], ["'hour'"], "A 'hour' is near."),
        (["", " serves ", " food ."], ["red door", "thai"], "Red door serves thai food."),
        (["", " is a phone . ", " too"], ["iPhone", "eBay"], "iPhone is a phone. eBay too."),
        (["it is at ", " ."], ["1 main st."], "It is at 1 main st."),
        (["it is at ", " . it is big"], ["1 main st."], "It is at 1 main st. It is big."),
        (["", " is a game"], ["guess who?"], "Guess who? is a game."),
        (["you could play ", ""], ["guess who?"], "You could play guess who?"),
        (["it is ", " , and ", ", or so"], ["a,", "b;"], "It is a, and b; or so."),
        (["it is ", " ."], ["foo,"], "It is foo,."),
        (["5 ", " -s ."], ["bar 24"], "5 bar 24s."),
        (["5 ", " -s ."], ["big hotels"], "5 big hotels."),
        (["5 ", "s ."], ["hotels"], "5 hotels."),
        (["5 ", "s ."], ["glass"], "5 glasses."),
        (["5 ", "s here ."], ["children"], "5 children here."),
        (["5 ", "sets ."], ["hotels"], "5 hotelssets."),
        (["it is ", "'s game ."], ["St. John's"], "It is St. John's game."),
        (["it is ", " 's game ."], ["Square"], "It is Square's game."),
        (["it has ", " -s ."], ["box"], "It has boxes."),
        (["it has ", " -s and ", " -s"], ["child", "family"], "It has children and familys."),
        (["it is ", " -ly priced"], ["simple"], "It is simplely priced."),
        (["", " 's kid -s do n't"], ["child -s"], "Child -s's kids don't."),
        (["", " is ", ""], ["-s", "n't"], "-s is n't."),
        (["does ", "?"], ["it"], "Does it?"),
        (["is ", " open"], ["what"], "Is what open?"),
        (["", " is open"], ["what"], "What is open."),
        (['he said "', '"'], ["go."], 'He said "go."'),
        (["sorry would you like ", " right"], ["sorry i dont"], "Sorry, would you like sorry i dont, right?"),
        (["it is on ", " , on ", ""], ["43 High Street", "High Street"], "It is at 43 High Street, on High Street."),
        (["it is on ", ""], ["3 May"], "It is on 3 May."),
        (["\ue000 is \ue001 ", ""], ["\ue002"], "\ue000 is \ue001 \ue002."),
    ],
)
def test_a_sentence_is_mended_around_its_values(parts: list[str], values: list[str], text: str) -> None:
    assert realize_around(parts).filled([Value.of(value, value) for value in values]) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("you dont care and cant say , thats all", "You don't care and can't say, that's all."),
        ("im sure theyre near", "I'm sure they're near."),
        ("its patent aint there", "Its patent aint there."),
        ("sorry there is no pub", "Sorry, there is no pub."),
        ("sorry but there is no pub", "Sorry but there is no pub."),
        ("i am sorry there is no pub , near soma", "I am sorry there is no pub near soma."),
        ("there is no pub , but a bar", "There is no pub, but a bar."),
        ("you want a cheap pub right", "You want a cheap pub, right?"),
        ("you want a cheap pub , right ?", "You want a cheap pub, right?"),
        ("is that right ?", "Is that right?"),
        ("x is a nice place it serves tea", "X is a nice place. It serves tea."),
        ("x is a nice place , it serves tea and it is big", "X is a nice place. It serves tea and it is big."),
        ("x is a nice big place their phone number is 5", "X is a nice big place. Its phone number is 5."),
        ("x is a nice place and it serves tea", "X is a nice place and it serves tea."),
        ("x is a pub , where dogs are and their number is 5", "X is a pub, where dogs are. Its number is 5."),
        ("x is a nice place their phone numbers are 5 and 6", "X is a nice place. Its phone numbers are 5 and 6."),
        ("it serves tea and their phone number is 5", "It serves tea and its phone number is 5."),
        ("x serves tea and their phone number is 5", "X serves tea and their phone number is 5."),
        ("x is there , where dogs are allowed and cats", "X is there, where dogs are allowed and cats."),
        ("i know you like tea , have you had it ?", "I know you like tea. Have you had it?"),
        ("since you like tea , have you had it ?", "Since you like tea, have you had it?"),
        ("is it a place it likes ?", "Is it a place it likes?"),
        ("a pub in any area is that right ?", "A pub in any area, is that right?"),
        ("you are right", "You are right."),
        ("turn right , you see it", "Turn right, you see it."),
        ("the pub is all right . do you want it ?", "The pub is all right. Do you want it?"),
    ],
)
def test_marks_that_corpora_leave_out_are_put_in(raw: str, text: str) -> None:
    assert realize(raw) == text
    assert realize(text) == text


@given(
    st.lists(st.sampled_from(["a", "an", "A", "it", ".", "?", ",", "-s", "'s", "is", "thai"])).map(" ".join),
    st.none() | st.booleans(),
)
def test_a_sentence_without_values_is_realized(raw: str, question: bool | None) -> None:
    assert realize_around([raw], question=question).filled([]) == realize(raw, question=question)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("black bezel , silver stand", "black bezel and silver stand"),
        ("matt & glossy finish , chassis , black keys", "matt & glossy finish, chassis, and black keys"),
        ("red , and blue", "red, and blue"),
        ("red , blue or green", "red, blue or green"),
        ("1,000", "1,000"),
        ("black", "black"),
    ],
)
def test_a_list_reads_like_one_and_is_known_as_its_value(learned: Learned, value: str, text: str) -> None:
    preprocessor, _ = learned("tv")
    turn = Turn((DialogueAct("inform", (Slot("color", value),)),))
    candidate = Candidate(preprocessor, preprocessor.request(turn), ("it", "has", "a", "SLOT_COLOR", "."), None)
    assert candidate.text == f"It has a {text}."
    # Metrics compare the corpus's own form, and either is the value.
    assert candidate.raw == f"it has a {value} ."
    for sentence in (candidate.text, candidate.raw):
        assert not preprocessor.checker.delexicalizer.delexicalize(turn, sentence).missing
    other = DialogueAct("inform", (Slot("accessories", "a , b"),))
    mention = Candidate(preprocessor, preprocessor.request(Turn((other,))), ("with", "SLOT_ACCESSORIES"), None)
    assert mention.text == "With a, b."


def test_the_words_of_a_value_are_no_cue() -> None:
    checker = load_card("restaurants").style().checker()
    street = parse("inform(address='1 no kids street';kidsallowed=no)")
    assert checker.check(street, "it is at 1 no kids street").missing == ("kidsallowed=no",)
    assert checker.check(street, "it is at 1 no kids street and does not allow kid -s").ok
    assert checker.check(parse("inform(area='no kids')"), "it is in the no kids area").ok
    assert checker.check_cues(parse("inform(area='no kids')"), "it is in no kids").extra == ()
    assert checker.check(parse("inform(area='no kids')"), "no kids in no kids").extra == ("area='no kids'",)
    assert checker.check(parse("inform(area='noma')"), "no kids in noma").extra == ("kidsallowed=no",)


def test_the_words_of_a_value_are_no_cue_in_what_is_generated(learned: Learned) -> None:
    preprocessor, _ = learned("restaurants")
    turn = parse("inform(name=chow;address='1 no kids street';kidsallowed=no)")
    tokens = ("SLOT_NAME", "is", "at", "SLOT_ADDRESS")
    assert Candidate(preprocessor, preprocessor.request(turn), tokens, None).report.missing == ("kidsallowed=no",)
    turn = parse("inform(name=chow;area='no kids')")
    assert Candidate(preprocessor, preprocessor.request(turn), ("SLOT_NAME", "in", "SLOT_AREA"), None).report.ok


@pytest.mark.parametrize(
    ("name", "act", "sentence", "missing"),
    [
        ("dstc2", "request(pricerange;food)", "what kind of food would you like", ("pricerange",)),
        (
            "dstc2",
            "request(pricerange;food)",
            "would you like something in the cheap , moderate , or expensive price range",
            ("food",),
        ),
        ("dstc2", "request(pricerange;food)", "what kind of food and what price range would you like", ()),
        ("restaurants", "?request(pricerange;food)", "what type of food would you like", ("pricerange",)),
        ("restaurants", "?request(area;near)", "what area would you like", ("near",)),
        ("restaurants", "?request(area;near)", "where are you near", ("area",)),
        ("restaurants", "?request(area)", "where would you like to go", ()),
        ("restaurants", "?request(name;food)", "what food would you like", ("name",)),
        ("restaurants", "?request(name;food)", "what food and name would you like", ()),
    ],
)
def test_every_question_of_an_act_is_asked_or_missing(
    name: str, act: str, sentence: str, missing: tuple[str, ...], learned: Learned
) -> None:
    preprocessor, _ = learned(name)
    candidate = Candidate(preprocessor, preprocessor.request(parse(act)), tuple(sentence.split()), None, ask=True)
    assert candidate.report.missing == missing
    # A question that training has in words is put behind the sentence.
    assert set(candidate.unasked) == {f"{act.partition('(')[0]}({slot})" for slot in missing} - {"?request(name)"}
    assert all(map(preprocessor.questions.wordings, candidate.unasked))


def test_values_are_filled_into_what_users_read(learned: Learned) -> None:
    preprocessor, _ = learned("restaurants")
    turn = parse("inform(name='a apple, n\\'t -s';food='x￭y')")
    candidate = Candidate(preprocessor, preprocessor.request(turn), ("SLOT_NAME", "has", "a", "SLOT_FOOD", "-s"), None)
    assert candidate.text == "A Apple, N't -S has an x￭ys."
    assert candidate.raw == "a apple, n't -s has a x￭y -s"


def test_what_is_remembered_of_acts_is_bounded(learned: Learned, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 100_000
    for name in ("ACTS", "TEMPLATES"):
        monkeypatch.setattr(preprocessor_module, name, limit)
    monkeypatch.setattr(learned_questions, "REMEMBERED", (1 << 20, limit))
    monkeypatch.setattr(relexicalization, "VALUES", limit)
    monkeypatch.setattr(placeholders, "_known", Memory(1 << 20, limit))
    known, sentences = learned("restaurants")
    small = Preprocessor(
        known.vocabulary, known.encoder, known.casing, known.templates, known.style, known.trigger_words
    )

    def taken(numbers: range) -> int:
        """Return the bytes that are held after so many acts, each of its own kind and with its own value."""
        tracemalloc.start()
        for number in numbers:
            slots = [Slot("name", f"{'long ' * 20}{number}")]
            slots += [Slot(["food", "area", "near"][bit % 3], "x") for bit in range(14) if number >> bit & 1]
            request = small.request(Turn((DialogueAct("inform", tuple(slots)),)))
            small.text_of(request, small.template(request.act, sentences[number % len(sentences)]))
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return held

    assert taken(range(2000)) < 4 * limit
    assert small._acts.held + small._made.held + small._relexicalizer._values.held < 3 * limit
