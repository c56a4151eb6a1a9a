"""Seams: positions between the modifiers of a noun, across which a text may have unseen runs of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dactnlg.generation.unseen.noun_phrases import BEFORE, BEHIND, THAT, THING, WHERE, WITH, Modifier, NounPhrases
from dactnlg.text.grammar.english import RELATIVES
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiners

Opening = tuple[str, bool, bool]
"""The words before a noun's modifiers, whether the noun is plural, and whether it is "something"."""
ALONE, LED = 1, 2
"""Number of words that open a noun phrase: "any", or "any other" with a word that means nothing by itself."""


def opening(before: Sequence[str], noun: str, *, many: bool, words: int) -> Opening:
    """Return the opening of a noun phrase.

    Args:
        before: the words before the modifiers; only the last `words` of them count.
        noun: the noun.
        many: whether it is plural.
        words: `ALONE` or `LED`.
    """
    # With two words, number does not matter: "no other pub", "no other pubs".
    return " ".join(before[-words:]), many and words == ALONE, noun == THING


class Seams:
    """Finds the seams of noun phrases whose modifiers are placed as in training.

    Args:
        phrases: finds the nouns.
        modifiers: the modifiers in training.
        openings: the openings of such phrases in training; see `opening`.
    """

    def __init__(self, phrases: NounPhrases, modifiers: Iterable[Modifier], openings: Iterable[Opening]) -> None:
        self._phrases, self._openings = phrases, frozenset(openings)
        found: dict[tuple[str, str, bool], set[Tokens]] = {}
        for modifier in modifiers:
            # Modifiers before a noun are matched backwards.
            words = tuple(strip_joiners(modifier.tokens))[:: -1 if modifier.place == BEFORE else 1]
            found.setdefault((words[0], modifier.place, modifier.many), set()).add(words)
        self._known = {key: sorted(each, key=lambda words: (-len(words), words)) for key, each in found.items()}

    def of(self, sentence: Tokens) -> set[int]:
        """Return the positions between the modifiers of a sentence's only noun, and between them and the noun.

        Empty if the sentence has several nouns, or the modifiers are not placed as in training.
        """
        words = strip_joiners(sentence)
        heads = self._phrases.heads(words)
        # Not in the garbled "a pub that is cheap in SLOT_AREA pub".
        if len(heads) != 1:
            return set()
        end, many = self._phrases.end_of(words, heads[0])
        before = set() if words[heads[0]] == THING else self._seams_before(words, heads[0])
        first = min(before, default=heads[0])
        # Not "would you rather walk in SLOT_AREA": before a trail, training would have "a" or "any".
        ways = (opening(words[:first], words[heads[0]], many=many, words=length) for length in (ALONE, LED))
        known = not self._openings.isdisjoint(ways)
        return before | self._seams_behind(words, end, many=many) if known else set()

    def _seams_before(self, words: Sequence[str], at: int) -> set[int]:
        found = set[int]()
        while at and (known := self._longest(BEFORE, words[:at][::-1])):
            found.add(at)
            at -= known
        return found | {at} if found else found

    def _seams_behind(self, words: Sequence[str], at: int, *, many: bool) -> set[int]:
        found, place = set[int](), ""
        while at < len(words):
            ways = [(each, start) for each, start in _joints(words, at, place) if start < len(words)]
            known = [(self._longest(each, words[start:], many=many), each, start) for each, start in ways]
            length, place, start = max(known, default=(0, "", 0))
            if not length:
                break
            found.add(at)
            at = start + length
        return found | {at} if found and not self._phrases.begins([*words, "."][at]) else found

    def _longest(self, place: str, words: Sequence[str], *, many: bool = False) -> int:
        """Return the length of the longest modifier that words begin with; backwards for those before a noun."""
        own = (words[0], place, many and place == THAT)
        return next((len(each) for each in self._known.get(own, ()) if tuple(words[: len(each)]) == each), 0)


def _joints(words: Sequence[str], at: int, place: str) -> Iterator[tuple[str, int]]:
    """Yield the places that a modifier after one in `place` may have, each with the position of its first word."""
    if place in ("", BEHIND):
        yield BEHIND, at
        if words[at] == WITH:
            yield WITH, at + 1
    if place in ("", BEHIND, WITH):
        if words[at] in RELATIVES - {WHERE}:
            yield THAT, at + 1
        yield WHERE, at
    if place in (WITH, THAT) and words[at] in ("and", ","):
        start = at + 2 if words[at : at + 2] == [",", "and"] else at + 1
        yield place, start
        if place == THAT:
            yield WHERE, start
