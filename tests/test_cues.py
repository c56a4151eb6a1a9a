"""Cues: what a pattern needs is in everything it matches, so looking first never changes what is found."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.corpora.base import corpus_names, load_card, load_corpus
from dactnlg.cues import Cue, literals


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("kids", ("kids",)),
        (r"\bkids?\b", ("kid",)),
        ("(?:kid|child|children|kids)", ("child", "kid")),
        ("family[ -]friendly", ("friendly",)),
        (r"(?<!no )\bdogs? (are|is) (?:never)+", ("never",)),
        (r"^(?!.*no pets).*\bpets", ("pets",)),
        ("(?=.*steam)x", ("steam",)),
        ("(?>usb|hdmi) ports*", (" port",)),
        ("a(?:bc)?d{2,}", ("a",)),
        # Nothing can be told of these.
        ("(?:kid|[0-9]+)", None),
        ("(?:kids)*", None),
        ("[a-z]+", None),
        ("", None),
        ("(?i)kids", None),
        ("(?i:kids)", None),
        (r"(?!kids)", None),
    ],
)
def test_what_a_pattern_needs(pattern: str, needed: tuple[str, ...] | None) -> None:
    assert literals(pattern) == needed


PARTS = st.sampled_from(["ab", "b", "c", r"\b", "a?", "[bc]", ".", "(?!b)", "(?<!a)", "(?=ab)", "(?i:B)", "$", "^"])
PATTERNS = st.recursive(
    PARTS,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map("".join)
        | st.lists(inner, min_size=1, max_size=3).map(lambda some: f"(?:{'|'.join(some)})")
        | st.builds("(?:{}){}".format, inner, st.sampled_from(["", "*", "+", "?", "{0,2}", "{2}", "+?", "*+"]))
        | inner.map("({})".format)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=3), st.lists(st.text("abcB ", max_size=8), max_size=8))
def test_looking_first_changes_nothing(patterns: list[str], texts: list[str]) -> None:
    cue = Cue(patterns)
    for text in texts:
        assert cue.shows(text) == any(re.search(pattern, text) for pattern in patterns)


def test_looking_first_changes_nothing_for_any_card() -> None:
    rng = random.Random(5)
    cues = [ps for name in corpus_names() for s in load_card(name).slots.values() for ps in s.cues.values()]
    # Words of the cues themselves in heaps, and sentences.
    letters = [re.sub(r"\\.", " ", pattern) for patterns in cues for pattern in patterns]
    words = sorted({word for pattern in letters for word in re.findall(r"[a-z']{2,}", pattern)})
    texts = [" ".join(rng.choices(words, k=rng.randint(1, 8))) for _ in range(250)]
    texts += rng.sample([sentence.lower() for _, sentence in load_corpus("trails").pairs("train")], 100)
    shown = 0
    for patterns in cues:
        cue, whole = Cue(patterns), re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
        for text in texts:
            assert cue.shows(text) == bool(whole.search(text))
            shown += cue.shows(text)
    assert shown > 200  # else the texts would test nothing
