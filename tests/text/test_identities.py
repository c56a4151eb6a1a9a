"""What a value is said to be: "a game" is said of the values of one slot, and of another's only by mistake."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import Corpus
from dactnlg.data.pairs import TrainingData
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.text.example import Pair
from dactnlg.text.grammar.identities import LEAST_SEEN, Identities
from dactnlg.text.grammar.manners import Manners
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.style import Style
from dactnlg.text.values.casing import Casing

MANY = 3 * LEAST_SEEN
GAMES = [(f"opine(name=n{n};maker=m{n})", f"SLOT_NAME is a w{n} game . SLOT_MAKER made it .") for n in range(MANY)]
MAKERS = [(f"opine(name=n{n};maker=m{n})", f"SLOT_MAKER is a w{n} studio . i like SLOT_NAME .") for n in range(9)]


def built(pairs: list[tuple[str, str]]) -> Preprocessor:
    rows = [Pair(parse(act), None, tuple(text.split())) for act, text in pairs]
    return Preprocessor.build(rows, None, Casing(), Style(False, True, {}, {}, ()))


@pytest.mark.parametrize(
    ("text", "mistaken"),
    [
        ("SLOT_MAKER is a game .", ["SLOT_MAKER"]),
        ("SLOT_NAME is a good game . SLOT_MAKER was a great game .", ["SLOT_MAKER"]),
        ("i like SLOT_NAME , and SLOT_MAKER is a good game .", ["SLOT_MAKER"]),
        ("the game is from the SLOT_MAKER and is a good game .", []),
        ("the SLOT_MAKER is an old game that i like .", ["SLOT_MAKER"]),
        ("SLOT_NAME is a game . it is a game by SLOT_MAKER .", []),
        ("SLOT_MAKER is a great studio .", []),
        # Nothing is known of what few are said to be.
        ("SLOT_NAME is a great studio .", []),
        ("the game by SLOT_MAKER is a good game .", []),
        ("SLOT_MAKER has a good game .", []),
        ("SLOT_MAKER is a place its name is a good game .", []),
        ("SLOT_MAKER is", []),
        ("SLOT_MAKER", []),
    ],
)
def test_a_value_is_no_game_where_training_never_says_so(text: str, mistaken: list[str]) -> None:
    templates = built(GAMES + MAKERS).templates
    assert Identities(templates).mistaken(text.split()) == mistaken


def test_a_slip_of_training_is_still_a_mistake() -> None:
    slip = [("opine(maker=x)", "SLOT_MAKER is a game .")]
    text = ["SLOT_MAKER", "is", "a", "game", "."]
    assert Identities(built(GAMES).templates).mistaken(text) == ["SLOT_MAKER"]
    # One in sixty texts is a slip, one in thirty need not be; few texts show nothing.
    assert Identities(built(GAMES + slip).templates).mistaken(text) == ["SLOT_MAKER"]
    assert Identities(built(GAMES[:30] + slip).templates).mistaken(text) == []
    assert Identities(built(GAMES[: LEAST_SEEN - 1]).templates).mistaken(text) == []


def test_a_check_and_a_generator_say_that_it_is_missing() -> None:
    preprocessor = built(GAMES + MAKERS)
    turn, text = parse("opine(name=n1;maker=m1)"), "SLOT_NAME is a good game . SLOT_MAKER is a good game ."
    assert preprocessor.unsaid(turn, text.split()) == ["maker=m1"]
    checker = FidelityChecker(preprocessor.checker, None, Manners(preprocessor.templates))
    assert checker.check(turn, "n1 is a good game. m1 is a good game.").missing == ("maker=m1",)
    assert checker.check(turn, "n1 is a good game. m1 is a great studio.").missing == ()


@pytest.mark.parametrize("name", ["viggo", "hotel", "tv"])
def test_people_hardly_ever_take_a_value_for_something_else(
    name: str, corpora: Callable[[str], Corpus], training_data: Callable[[str], TrainingData]
) -> None:
    preprocessor, _ = training_data(name)
    known, alarms, count = Identities(preprocessor.templates), 0, 0
    for turn, sentence in corpora(name).pairs("test"):
        tokens = preprocessor.delexicalizer.delexicalize(preprocessor.delexicalizer.prepared(turn), sentence).tokens
        alarms += bool(known.mistaken([token if "SLOT_" in token else token.lower() for token in tokens]))
        count += 1
    # Two of tv's are people's own mistakes.
    assert alarms <= 0.002 * count
