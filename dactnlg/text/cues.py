"""Cues: regular expressions that find a special value, or one of a closed class, in a sentence.

They are matched against the folded sentence: lower case, single spaces between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dactnlg._utils.patterns import Pattern, matches, replaced
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner
from dactnlg.text.values.delexicalization import lexicalize

MASK = "_"
"""What cues see instead of a value: a word without letters."""
WINDOW = 2000
"""Characters of a sentence searched at a time; the cost of a cue may grow with the square of the length."""
_NOT = r"(?:(?<!\bor )\bnot |n't )"
"""What denies the words behind it; not in "whether or not"."""
_WORD = 40
"""Characters of the longest word that is never cut at the edge of a window."""
_VISIBLE = re.compile(r"\S")
_ESCAPE_OR_CLASS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_INNERMOST_GROUP = re.compile(r"\([^()]*\)")
# The start of a pattern: conditions on what precedes, then a letter or a choice of words.
_BEGINNING = re.compile(r"(?:\(\?<[!=][^()|]*\))*(?:([a-z])|\(\?:([a-z][a-z' |-]*)\))(?![?*{])")


def masked(tokens: Sequence[str]) -> str:
    """Return delexicalised tokens as a raw sentence, with `MASK` for each value.

    The words of a name say nothing but the name.
    """
    return lexicalize(tokens, {strip_joiner(token): (MASK,) for token in tokens if is_placeholder(token)})


def spelled(spellings: Iterable[tuple[str, ...]]) -> list[str]:
    """Return patterns that find any of a value's spellings."""
    between = r"\W{0,2}"
    return [rf"(?<!\w){between.join(map(re.escape, words))}(?!\w)" for words in spellings]


def without(cue: Pattern, text: str) -> str:
    """Return a text with the matches of a cue masked: "cheap" for "less than £20" is no other price."""
    return replaced(cue, MASK, text) if len(text) <= WINDOW else text


def combined(cues: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return one pattern for each special value of a slot; with "not" before it, a cue for yes is one for no."""
    found = {value: any_of(patterns) for value, patterns in cues.items()}
    if yes := found.get("yes"):
        found["yes"] = rf"(?<!{_NOT})(?:{yes})"
        if "no" in found:
            found["no"] = rf"{found['no']}|{_NOT}(?:{yes})"
    return found


def blanked(cue: Pattern, text: str) -> str:
    """Return a text with each character but spaces of a cue's matches masked, so that its words keep their places."""
    return replaced(cue, lambda match: _VISIBLE.sub(MASK, match.group()), text) if len(text) <= WINDOW else text


def any_of(patterns: Iterable[str]) -> str:
    """Return one pattern that matches whatever any of several patterns matches."""
    # Patterns that begin at a word boundary share one test for it, so that nothing else is tried inside words.
    bounded, others = [], []
    for pattern in patterns:
        if pattern.startswith(r"\b") and not _has_choice(pattern):
            bounded.append(pattern[2:])
        else:
            others.append(f"(?:{pattern})")
    if not bounded:
        return "|".join(others)
    letters = [_first_letters(pattern) for pattern in bounded]
    # Looking at the first letter rules out most words.
    ahead = f"(?=[{''.join(sorted(set().union(*letters)))}])" if all(letters) else ""
    return "|".join([rf"\b{ahead}(?:{'|'.join(bounded)})", *others])


def _first_letters(pattern: str) -> set[str]:
    """Return the letters that a match of a pattern can begin with; empty if they cannot be determined."""
    if not (found := _BEGINNING.match(pattern)):
        return set()
    first, words = found.groups()
    letters = {word[:1] for word in (first or words).split("|")}
    return letters if all(letter.isascii() and letter.islower() for letter in letters) else set()


def _has_choice(pattern: str) -> bool:
    """Whether a pattern has an alternation (`a|b`) outside groups."""
    bare = _ESCAPE_OR_CLASS.sub("", pattern)
    while bare != (outer := _INNERMOST_GROUP.sub("", bare)):
        bare = outer
    return "|" in bare


def shows(cue: Pattern, text: str) -> bool:
    """Whether a cue matches a folded sentence, or a window of a long one."""
    if len(text) <= WINDOW:
        return matches(cue, text)
    return any(matches(cue, part) for part in _windows(text))


def _windows(text: str) -> Iterator[str]:
    """Yield the windows of a long text, each overlapping the previous one by half; cut at spaces if there are any."""
    for start in range(0, len(text) - WINDOW // 2, WINDOW // 2):
        first = text.rfind(" ", max(start - _WORD, 0), start) + 1 if start else 0
        last = text.find(" ", start + WINDOW, start + WINDOW + _WORD)
        yield text[first or start : last if last >= 0 else start + WINDOW]


def folded(sentence: str) -> str:
    """Return a sentence in lower case, with one space between its words."""
    return " ".join(sentence.lower().split())
