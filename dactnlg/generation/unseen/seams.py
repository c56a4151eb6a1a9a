"""Seams: places between the modifiers of a noun, where a text may have words that training never has together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dactnlg.generation.unseen.noun_phrases import BEFORE, BEHIND, THAT, THING, WHERE, WITH, Modifier, NounPhrases
from dactnlg.text.grammar.english import RELATIVES
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import plain

Opening = tuple[str, bool, bool]
"""What stands before what is said of a noun, whether that is many, and whether it is no noun: "something"."""
ALONE, LED = 1, 2
"""Words that open a noun phrase: "any", or "any other" with a word that says nothing by itself."""


def opening(before: Sequence[str], noun: str, *, many: bool, words: int) -> Opening:
    """Return the last of the words before what is said of a noun, and what the noun is."""
    # "No other pub", "no other pubs"
    return " ".join(before[-words:]), many and words == ALONE, noun == THING


class Seams:
    """Finds noun phrases whose modifiers are put as training puts them.

    Args:
        phrases: knows the nouns.
        modifiers: of training.
        openings: the words before such phrases, each with its noun as far as an article hangs on that: see `opening`.
    """

    def __init__(self, phrases: NounPhrases, modifiers: Iterable[Modifier], openings: Iterable[Opening]) -> None:
        self._phrases, self._openings = phrases, frozenset(openings)
        found: dict[tuple[str, str, bool], set[Tokens]] = {}
        for modifier in modifiers:
            # Those before a noun are looked for backwards.
            words = tuple(plain(modifier.tokens))[:: -1 if modifier.place == BEFORE else 1]
            found.setdefault((words[0], modifier.place, modifier.many), set()).add(words)
        self._known = {key: sorted(each, key=lambda words: (-len(words), words)) for key, each in found.items()}

    def of(self, sentence: Tokens) -> set[int]:
        """Return the places between modifiers of a noun, and between these and it, where they are put as here."""
        words = plain(sentence)
        heads = self._phrases.heads(words)
        # "A pub that is cheap in SLOT_AREA pub"
        if len(heads) != 1:
            return set()
        end, many = self._phrases.end_of(words, heads[0])
        before = set() if words[heads[0]] == THING else self._seams_before(words, heads[0])
        first = min(before, default=heads[0])
        # "Would you rather walk in SLOT_AREA": no trail, for which training would have "a" or "any".
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
        """Return how many words the longest modifier has with which words begin; those before a noun go backwards."""
        own = (words[0], place, many and place == THAT)
        return next((len(each) for each in self._known.get(own, ()) if tuple(words[: len(each)]) == each), 0)


def _joints(words: Sequence[str], at: int, place: str) -> Iterator[tuple[str, int]]:
    """Yield where modifiers may go on behind one in some place, and where their words begin."""
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
