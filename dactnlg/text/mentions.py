"""Mentions: where the values of a turn stand in a sentence, and which slots they belong to."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from dactnlg._utils.memory import remembered
from dactnlg.acts import Slot
from dactnlg.text.placeholders import Required
from dactnlg.text.spellings import plurals
from dactnlg.text.surface import JOINER, strip_joiner

_ARTICLES = frozenset({"a", "an", "the"})
_PLUS = f"{JOINER}+"
_NUMBER_JOINTS = frozenset(f"{JOINER}{mark}{JOINER}" for mark in ".,-:/")

Span = tuple[int, int, int]
"""Index of the first token, of the token after the last, and length of the last one without its plural ending, or 0."""
Spellings = Callable[[Slot], Iterable[tuple[str, ...]]]
"""The token sequences (folded, joiners stripped) that express a slot's value."""


class Mention(NamedTuple):
    """A value in a sentence.

    Attributes:
        start: index of the first token.
        end: index of the token after the last.
        stem: length of the last token without its plural ending; 0 if it is no plural.
        placeholder: of the slot that the value belongs to.
    """

    start: int
    end: int
    stem: int
    placeholder: str


def find_mentions(
    required: Sequence[Required],
    tokens: Sequence[str],
    spellings: Spellings,
    ordinary: Collection[tuple[str, str]] = (),
) -> tuple[list[Mention], int]:
    """Return the mentions of required slots in order, and how many of them could belong to several slots.

    Longer mentions win over shorter ones that overlap. A mention that fits several slots goes to the slot with fewer
    mentions so far, then to the one whose name stands nearest.

    Args:
        required: the slots.
        tokens: the sentence.
        spellings: gives the token sequences that express a slot's value.
        ordinary: slots with (folded) values that are also ordinary words: of several mentions only the one nearest to
            a word of the slot's name is the value.
    """
    folded = list(map(_folded, tokens))
    claims = _claims(_claimants(required), tokens, folded, spellings)
    contested = 0
    found: list[Mention] = []
    near = _Nearness(folded)

    def plain(slot: Slot) -> bool:
        return (slot.name, (slot.value or "").casefold()) in ordinary

    def doubt(span: Span) -> int:
        # A word that may not be the value at all comes later, the farther it stands from the slot's name.
        slots = [claimant.slot for claimant in claims[span] if plain(claimant.slot)]
        return min((near.distance(slot.name, span[0], span[1]) for slot in slots), default=0)

    for span in sorted(_longest_first(claims, folded), key=lambda span: (doubt(span), span)):
        start, end, stem = span
        # Between slots with the same value: the one with fewer mentions, then the one whose name stands nearest.
        ranks = [(each.rounds, near.distance(each.slot.name, start, end)) for each in claims[span]]
        claimant = claims[span][ranks.index(min(ranks))]
        contested += len(ranks) > 1 or len(claimant.placeholders) > 1
        if not (claimant.rounds and plain(claimant.slot)):
            found.append(Mention(start, end, stem, claimant.next_placeholder()))
    return sorted(found), contested


class _Claimant:
    """A slot of a turn with its placeholders, several where the turn says it several times; they take turns."""

    def __init__(self, slot: Slot) -> None:
        self.slot, self.placeholders, self._mentions = slot, list[str](), 0

    @property
    def rounds(self) -> int:
        """How many mentions the next placeholder has already."""
        return self._mentions // len(self.placeholders)

    def next_placeholder(self) -> str:
        """Return the placeholder of the next mention."""
        self._mentions += 1
        return self.placeholders[(self._mentions - 1) % len(self.placeholders)]


def _claimants(required: Sequence[Required]) -> list[_Claimant]:
    found: dict[Slot, _Claimant] = {}
    for item in required:
        found.setdefault(item.slot, _Claimant(item.slot)).placeholders.append(item.placeholder)
    return list(found.values())


def _longest_first(claims: Iterable[Span], folded: Sequence[str]) -> list[Span]:
    """Choose spans that do not overlap: the longest first, and an exact value before the plural of another."""
    taken = [False] * len(folded)
    chosen: list[Span] = []
    letters = list(accumulate(map(len, folded), initial=0))
    # Over the same tokens the value "red kites" goes before "Red Kite" + s.
    for span in sorted(claims, key=lambda s: (-(s[1] - s[0]), letters[s[0]] - letters[s[1]], s[2] > 0, s[0])):
        # Those taken are no shorter, so that one that overlaps has the first or the last token.
        if not (taken[span[0]] or taken[span[1] - 1]):
            chosen.append(span)
            taken[span[0] : span[1]] = [True] * (span[1] - span[0])
    return chosen


def _claims(
    claimants: Sequence[_Claimant], tokens: Sequence[str], folded: Sequence[str], spellings: Spellings
) -> dict[Span, list[_Claimant]]:
    """Return the spans that may be values, each with the slots that it may belong to."""
    text = "".join([f"{token}\n" for token in folded])
    places = list(accumulate((len(token) + 1 for token in folded), initial=0))
    claims: dict[Span, list[_Claimant]] = {}
    first: dict[str, list[int]] = {}
    for index, token in enumerate(folded):
        first.setdefault(token, []).append(index)
    for claimant in claimants:
        name = claimant.slot.name
        for spelling in spellings(claimant.slot):
            # All words but the last; one string is compared faster than many.
            head = "".join([f"{word}\n" for word in spelling[:-1]])
            for start in _starts(spelling, first):
                end = start + len(spelling)
                stem = _matches(spelling, tokens, folded, start) if text.startswith(head, places[start]) else None
                if stem is not None and not (end - start == 1 and _is_article(name, folded, start)):
                    claims.setdefault((start, end, stem), []).append(claimant)
    return claims


@remembered
def _folded(token: str) -> str:
    return strip_joiner(token).casefold()


class _Nearness:
    """How far from the words of slots' names the spans of a sentence are; each name is looked for once."""

    def __init__(self, folded: Sequence[str]) -> None:
        self._folded = folded
        self._places: dict[str, list[int]] = {}

    def distance(self, slot_name: str, start: int, end: int) -> int:
        """Return the number of tokens between a span and the nearest word of a slot's name outside of it."""
        if slot_name not in self._places:
            name = slot_name.casefold()
            stems, tokens = _stems(name), self._folded
            self._places[slot_name] = [i for i, t in enumerate(tokens) if any(_related(t, s, name) for s in stems)]
        places = self._places[slot_name]
        before, after = bisect_left(places, start), bisect_left(places, end)
        near = [start - place for place in places[max(before - 1, 0) : before]]
        near += [place - end + 1 for place in places[after : after + 1]]
        return min(near, default=len(self._folded))


def _related(token: str, stem: str, slot_name: str) -> bool:
    # "battery" and "rating" both indicate the slot `batteryrating`.
    return (
        token.startswith(stem)
        or (len(token) > 2 and slot_name.startswith(token))
        or (len(token) > 3 and token in slot_name)
    )


def names_slot(word: str, slot_name: str) -> bool:
    """Whether a folded word is one of a slot's name: "price" and "range" of `pricerange`."""
    name = slot_name.casefold()
    return (len(word) > 3 and word in name) or any(word.startswith(stem) for stem in _stems(name))


def _stems(slot_name: str) -> list[str]:
    return [word[:4] for word in re.split(r"\W+|_", slot_name) if len(word) > 2]


def _is_article(slot_name: str, folded: Sequence[str], start: int) -> bool:
    """Whether an "a" is an article rather than a value, as it is in "an a eco rating" and "its eco rating is a"."""
    if folded[start] not in _ARTICLES:
        return False
    name = slot_name.casefold()
    after = folded[start + 1] if start + 1 < len(folded) else ""
    before = folded[start - 1] if start else ""
    subject = folded[start - 2] if start > 1 and before in ("is", "of") else before
    named = any(_related(token, name[:4], name) for token in (subject, after) if token)
    return not (named or before in _ARTICLES or not after[:1].isalnum())


def _starts(spelling: tuple[str, ...], first: Mapping[str, list[int]]) -> list[int]:
    starts = first.get(spelling[0], [])
    # One-word values are also found in the plural: "televisions" for television.
    if len(spelling) == 1:
        return [*starts, *(start for plural in plurals(spelling[0]) for start in first.get(plural, []))]
    return starts


def _matches(spelling: tuple[str, ...], tokens: Sequence[str], folded: Sequence[str], start: int) -> int | None:
    """Return how a spelling stands at `start`, where all its words but the last are known to stand.

    0, or the length of the stem in the last token if that is a plural; None if it does not stand there.
    """
    end = start + len(spelling)
    if end > len(folded) or _is_part(tokens, start, end):
        return None
    last = folded[end - 1]
    if last == spelling[-1]:
        return 0
    if last in plurals(spelling[-1]):
        whole = tokens[end - 1]
        return len(whole) - len(whole.lstrip(JOINER)) + len(spelling[-1])
    return None


def _is_part(tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether a span is only a part of a number, range or grade: the 1 of "1.5", the £20 of "£20-25", the a of "a+"."""
    if end < len(tokens) and tokens[end] == _PLUS:
        return True
    return _joins_digits(tokens, start - 1) or _joins_digits(tokens, end)


def _joins_digits(tokens: Sequence[str], at: int) -> bool:
    if not 0 < at < len(tokens) - 1 or tokens[at] not in _NUMBER_JOINTS:
        return False
    return tokens[at - 1][-1].isdigit() and tokens[at + 1][0].isdigit()
