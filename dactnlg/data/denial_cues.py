"""Denial cues: a sentence that denies the topic of a yes/no slot says no: "has no USB ports", "dogs are not allowed".

The topic is what the sentences that say yes have in common: "USB", "dogs". Any other sentence with it says yes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from dactnlg._utils.patterns import compile_pattern, matches
from dactnlg.text.cues import any_of

PHRASES = {
    "not": (
        r"\b(?:no[tn]?|never|cannot|without|neither|nor|lack\w*)\b(?! only)|n['’]t\b|(?:is|are|does?|has|have|can)nt\b"
    ),
    "clause": (
        r"\band (?:also )?(?:is|are|has|have|does|can|it|there|they|you|offers|serves|comes|includes|allows|accepts)\b"
    ),
    "other": r"\b(?:but|(?:al)?though|however|which|that|where|while|except|if|whether|care)\b|(?&clause)",
    "denial": r"(?&not)(?:(?!(?&other))[^.;?!]){0,30}",
    "denial_after": (
        r"(?:(?! (?:but|and|or|with)\b) [\w-]+){0,2}? ?(?:\b(?:not|cannot|unavailable|free|isnt)\b|n['’]t\b)"
    ),
}
"""Phrases for a card: English words that deny what follows, up to 30 characters away and in the same clause, and words
that deny what precedes. Each may refer to those before it."""
LIKELY, PRESUMED = 0.75, 2
"""Minimum share of sentences that say no among those that deny a topic; so many more are presumed to say no."""


def phrase_pattern(phrase: str) -> str:
    """Return a pattern that finds a phrase, whose words may be separated by hyphens."""
    return rf"\b{_spaced(phrase)}\b"


def topic_pattern(words: Sequence[str]) -> str:
    """Return a pattern that finds any word of a topic."""
    found = "|".join(map(_spaced, words))
    return rf"\b(?:{found})\b" if len(words) > 1 else rf"\b{found}\b"


def denial_cues(topic: str) -> tuple[str, str]:
    """Return the cues, which refer to `PHRASES`, for sentences that deny a topic, given by its pattern."""
    return f"(?&denial){topic}", f"{topic}(?&denial_after)"


def mostly(found: AbstractSet[int], wanted: AbstractSet[int]) -> bool:
    """Return whether the sentences that a cue finds mostly say what it indicates; true if there are none."""
    return len(found & wanted) + PRESUMED >= LIKELY * (len(found) + PRESUMED)


def denying(sentences: Sequence[str]) -> set[int]:
    """Return the indices of sentences with a word that denies."""
    return matching(["(?&denial)"], sentences)


def matching(cues: Sequence[str], sentences: Sequence[str], no: Sequence[str] = ()) -> set[int]:
    """Return the indices of sentences that one of several cues finds.

    Args:
        cues: which may refer to `PHRASES`, and to the cues of no.
        sentences: folded, with masked values.
        no: the cues of no.
    """
    if not cues:
        return set()
    pattern = any_of(cues)
    for name, phrase in reversed({**PHRASES, "no": any_of(no)}.items()):
        pattern = pattern.replace(f"(?&{name})", f"(?:{phrase})")
    compiled = compile_pattern(pattern)
    return {index for index, sentence in enumerate(sentences) if matches(compiled, sentence)}


def _spaced(phrase: str) -> str:
    return "[ -]".join(map(re.escape, phrase.split()))
