"""Long sentences and values take time in proportion to their length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dactnlg.acts import DialogueAct, Slot, Turn, parse
from dactnlg.data.card import load_card
from dactnlg.text.cues import WINDOW, _windows
from dactnlg.text.questions import is_question
from dactnlg.text.slots import SlotChecker
from dactnlg.text.surface import tokenize
from dactnlg.text.values.capitals import title
from dactnlg.text.values.realization import Value, realize
from dactnlg.text.values.spellings import spellings

RESTAURANTS, E2E = (load_card(name).style().checker() for name in ("restaurants", "e2e"))


def check(act: str | Turn, text: str, checker: SlotChecker = RESTAURANTS) -> object:
    return checker.check(parse(act) if isinstance(act, str) else act, text)


def turn(*values: str) -> Turn:
    return Turn((DialogueAct("inform", tuple(Slot("name", value) for value in values)),))


# Searches, comparisons and repairs that go word by word; the first once took a minute for 20,000 words.
CASES: dict[str, Callable[[int], object]] = {
    "values everywhere": lambda n: check("inform(name=b;food=word)", "b word " * n),
    "one value, several slots": lambda n: check("inform(name=b;food=b;area=b)", "b word " * n),
    "ordinary words": lambda n: check("name[x], customer rating[low], priceRange[high]", "x low high price " * n, E2E),
    "one slot many times": lambda n: check(turn(*["v"] * (n // 4)), "v " * n),
    "a long value": lambda n: check(turn("b " * (n // 4) + "b"), "b " * n),
    "a cue in the making": lambda n: check("inform(food=dontcare;pricerange=dontcare)", "whether not care " * (n // 8)),
    "spaces in a value": lambda n: list(spellings("a" + " " * 4 * n + "b")),
    "no tag": lambda n: is_question("it " + "you " * n + "are right"),
    "a name": lambda n: Value.of("x", title("inn at the " * n)),
    "morphemes": lambda n: realize("kid -s " * n),
    "marks": lambda n: realize(",;" * n + "x " + '. "' * n),
    "apostrophes": lambda n: tokenize("a'" * n + "1"),
}


@pytest.mark.parametrize("name", list(CASES))
def test_time_grows_with_the_length(name: str) -> None:
    # In proportion: 16 times; in squares: 256 times. A busy machine may slow one call down, hardly each of three.
    growth: list[tuple[float, float]] = []
    while not any(long < max(80 * short, 0.5) for short, long in growth):
        assert len(growth) < 3, growth
        growth.append((_seconds(name, 2_000), _seconds(name, 32_000)))


def _seconds(name: str, words: int) -> float:
    started = time.process_time()
    CASES[name](words)
    return time.process_time() - started


def test_a_cue_is_found_wherever_it_stands_in_a_long_sentence() -> None:
    turn, cue = parse("inform(name=x;kidsallowed=no)"), "no kids"
    for before in (0, 10, WINDOW - 5, WINDOW, WINDOW + 3, 5 * WINDOW):
        filler = ("word " * before)[:before]
        text = f"{filler} {cue} {'more ' * 900}"
        assert not RESTAURANTS.check_cues(turn, text).missing
    assert RESTAURANTS.check_cues(turn, "word " * 5000).missing


@pytest.mark.parametrize("text", ["a" * 7 * WINDOW, "word " * WINDOW, "x" * WINDOW + " " + "y" * WINDOW])
def test_windows_cover_a_text_and_are_few(text: str) -> None:
    found = list(_windows(text))
    assert text.startswith(found[0]) and text.endswith(found[-1])
    assert max(map(len, found)) < 1.1 * WINDOW and len(found) <= 1 + 2 * len(text) // WINDOW
    # Every stretch of a quarter of a window stands whole in one.
    for start in range(0, len(text), WINDOW // 8):
        assert any(text[start : start + WINDOW // 4] in window for window in found)
