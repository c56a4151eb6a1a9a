"""Patterns of strangers: whatever they are, a search ends soon; those of the shipped cards find what `re` finds."""

from __future__ import annotations

import re
import time
from typing import cast

import pytest

from dactnlg._utils import patterns
from dactnlg._utils.patterns import compile_pattern, matches
from dactnlg._utils.resources import corpus_names
from dactnlg.data.card import load_card
from dactnlg.errors import UserError

ENDLESS = [
    r"(a+)+$",
    r"(a|a)*$",
    r"(a|aa)+$",
    r"(?:(a+)\1)+$",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"([a-z]{1,20})*$",
    r"(?=(a+)+$)",
    r".*.*.*.*.*.*.*=",
    "a?" * 60 + "a" * 60 + "$",
]
REFUSED = [
    ("((a{1000}){1000}){1000}", "repeats too much"),
    ("a{99999999999}", "repeats too much"),
    ("a" * 50_001, "more than 50000"),
    ("(" * 2000 + ")" * 2000, "not a regular expression"),
    ("[", "not a regular expression"),
    (r"\L<names>", "not a regular expression"),
]


@pytest.mark.parametrize("pattern", ENDLESS)
def test_a_search_ends(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.05)
    begun = time.process_time()
    try:
        matches(compile_pattern(pattern), "a" * 300 + "!")
    except UserError as error:
        assert "too slow" in str(error)
    assert time.process_time() - begun < 5


def test_what_is_too_slow_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "SECONDS", 0.05)
    slow, text = compile_pattern("(a|aa)+$"), "a" * 300 + "!"
    for look in (matches, lambda pattern, text: patterns.replaced(pattern, "", text)):
        with pytest.raises(UserError, match=r"text of 301 characters: \(a\|aa\)\+\$"):
            look(slow, text)


def test_a_search_that_other_threads_held_up_is_tried_again() -> None:
    class HeldUp:
        pattern, times = "a", 0

        def _hold_up(self) -> None:
            self.times += 1
            if self.times % 2:
                raise TimeoutError

        def search(self, text: str, timeout: float) -> object:
            self._hold_up()
            return compile_pattern("a").search(text, timeout=timeout)

        def sub(self, other: str, text: str, timeout: float) -> str:
            self._hold_up()
            return compile_pattern("a").sub(other, text, timeout=timeout)

    held_up = cast(patterns.Pattern, HeldUp())
    assert matches(held_up, "a")
    assert not matches(held_up, "b")
    assert patterns.replaced(held_up, "c", "bab") == "bcb"


@pytest.mark.parametrize(("pattern", "message"), REFUSED)
def test_what_cannot_be_compiled_is_refused_at_once(pattern: str, message: str) -> None:
    begun = time.process_time()
    with pytest.raises(ValueError, match=message):
        compile_pattern(pattern)
    assert time.process_time() - begun < 5


def test_the_shipped_cards_find_what_re_finds() -> None:
    cards = [load_card(name) for name in corpus_names()]
    cues = [cue for card in cards for slot in card.slots.values() for listed in slot.cues.values() for cue in listed]
    assert len(cues) > 100
    texts = [
        "it is not a child-friendly place , kids are banned .",
        "red door does not allow children",
        "the user does not care about the price range and any area is fine",
        "there is no internet access and dogs are allowed",
        "it is good for families with young kids , adults only on sundays !",
        *(piece * 60 for piece in ("no ", "kids not ", "food no ", "and or ", "steam, or a ")),
    ]
    for cue in cues:
        for text in texts:
            assert matches(compile_pattern(cue), text) == bool(re.search(cue, text)), (cue, text)
