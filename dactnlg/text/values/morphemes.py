"""Morphemes: endings that corpora write separately (`kid -s`, `moderate -ly`), joined to their words."""

from __future__ import annotations

import re

from dactnlg.text.grammar.plurals import pluralized, singular
from dactnlg.text.surface import MORPHEME

_ENDING = re.compile(rf"{MORPHEME.pattern}|'(?:s|m|re|ve|ll|d)|n't")


def join_morphemes(text: str) -> str:
    """Return a text with endings joined to the preceding words; after a value they stay separate."""
    joined: list[str] = []
    for word in text.split(" "):
        if not joined or not _ENDING.fullmatch(word):
            joined.append(word)
        elif word[0] != "-":
            joined[-1] += word
        elif joined[-1][-1:].isalnum():
            joined[-1] = _attached(joined[-1], word[1:])
        else:
            # After a value, it is attached when the value is filled in.
            joined.append(word)
    return " ".join(joined)


def _attached(stem: str, suffix: str) -> str:
    if suffix == "s":
        return pluralized(stem)
    if suffix == "ly" and stem.endswith("le"):
        return stem[:-1] + "y"
    if suffix in ("er", "est"):
        if re.search(r"[^aeiou]y$", stem):
            stem = stem[:-1] + "i"
        elif re.fullmatch(r"[^aeiou]+[aeiou][^aeiouwxy]", stem):  # big, bigger
            stem += stem[-1]
        return stem.removesuffix("e") + suffix
    return stem + suffix


def ending_of(value: str, ending: str) -> str:
    """Return what a morpheme adds to a value, which is kept: "es" for box, but not the "ies" of families.

    A value that is already plural or possessive ("hotels", "Mario's") gets nothing.
    """
    stem = value.rpartition(" ")[2]
    if ending == "s" and singular(stem.lower()) != stem.lower():
        return ""
    whole = _attached(stem, ending) if stem[-1:].isalnum() else ""
    return whole[len(stem) :] if whole.startswith(stem) else ending
