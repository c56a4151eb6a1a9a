"""Mentions: where the values of a turn occur in a sentence, and which slots they belong to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from dactnlg._utils.memory import remembered
from dactnlg.acts import Slot
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.nearness import Nearness, related
from dactnlg.text.placeholders import Required
from dactnlg.text.surface import JOINER
from dactnlg.text.values.counts import Doubt, doubt_of_count
from dactnlg.text.values.spellings import fold, inflected

_PLUS = f"{JOINER}+"
_NUMBER_JOINTS = frozenset(f"{JOINER}{mark}{JOINER}" for mark in ".,-:/")
_MINUS = frozenset(f"{mark}{JOINER}" for mark in "-−")
"""A sign before a number; between two numbers it has joiners on both sides."""

Span = tuple[int, int, int]
"""Index of the first token, index after the last, and length of the last one without its ending, or 0."""
Spellings = Callable[[Slot], Iterable[tuple[str, ...]]]
"""The token sequences (folded, joiners stripped) that express a slot's value."""


class Mention(NamedTuple):
    """A value in a sentence.

    Attributes:
        start: index of the first token.
        end: index after the last token.
        stem: length of the last token without the ending of a plural or possessive ("KLM's"); 0 if it has none.
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
    ordinary: Collection[tuple[str, str]],
    loose: Spellings,
) -> tuple[list[Mention], int]:
    """Return the mentions of required slots in order, and how many of them could belong to several slots.

    Longer mentions win over shorter ones that overlap. A mention that fits several slots goes to the slot with fewer
    mentions so far, then to the one whose name is nearest.

    Args:
        required: the slots.
        tokens: the sentence.
        spellings: gives the token sequences that express a slot's value.
        ordinary: slots with (folded) values that are also ordinary words: of several mentions, only the one nearest to
            a word of the slot's name is the value.
        loose: gives further token sequences, of ordinary words ("one" for 1). They count if a word of the slot's name
            follows; otherwise only once, for a value without other mentions, and only where they can be a number.
    """
    folded = list(map(_folded, tokens))
    claimants = _claimants(required)
    claims = _claims(claimants, tokens, folded, spellings)
    contested = 0
    found: list[Mention] = []
    near = Nearness(folded)

    def plain(slot: Slot) -> bool:
        return (slot.name, slot.folded) in ordinary

    def doubt(span: Span) -> int:
        # Words that may not be the value, or may be that of several slots, are tried later, the farther they are from
        # the slot's name: in "Ark is near Ark" the second one is `near`.
        contested = len(claims[span]) > 1
        slots = [claimant.slot for claimant in claims[span] if contested or plain(claimant.slot)]
        return min((near.distance(slot.name, span[0], span[1]) for slot in slots), default=0)

    for span in sorted(_longest_first(claims, folded), key=lambda span: (doubt(span), span)):
        start, end, stem = span
        # Among slots with the same value: the one with fewer mentions, then the one whose name is nearest.
        claimant, *others = claims[span]
        if others:
            claimant = min(claims[span], key=lambda each: (each.rounds, near.distance(each.slot.name, start, end)))
        contested += bool(others) or len(claimant.placeholders) > 1
        if not (claimant.rounds and plain(claimant.slot)):
            found.append(Mention(start, end, stem, claimant.next_placeholder()))
    if any(loose(claimant.slot) for claimant in claimants):
        found += _loose_mentions(_claims(claimants, tokens, folded, loose), folded, found, near)
    return sorted(found), contested


def _loose_mentions(
    claims: Mapping[Span, list[_Claimant]], folded: Sequence[str], found: Iterable[Mention], near: Nearness
) -> list[Mention]:
    """Return the mentions among spans of ordinary words, given the certain mentions."""
    if not claims:
        return []
    taken = {at for mention in found for at in range(mention.start, mention.end)}
    names = {claimant.slot.name for claimants in claims.values() for claimant in claimants}
    ranked: list[tuple[Doubt, int, Span, _Claimant]] = []
    for span, claimants in claims.items():
        for claimant in claimants:
            name = claimant.slot.name
            doubt = doubt_of_count(folded, span[0], span[1], name, names - {name}, near) if not span[2] else None
            if doubt is not None:
                ranked.append((doubt, len(ranked), span, claimant))
    more = []
    for doubt, _, (start, end, stem), claimant in sorted(ranked, key=lambda item: item[:2]):
        if not (claimant.rounds and doubt.unnamed) and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            more.append(Mention(start, end, stem, claimant.next_placeholder()))
    return more


class _Claimant:
    """A slot of a turn with its placeholders; if the turn repeats it, there are several, used in rotation."""

    def __init__(self, slot: Slot) -> None:
        self.slot, self.placeholders, self._mentions = slot, list[str](), 0

    @property
    def rounds(self) -> int:
        """How many mentions the next placeholder already has."""
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
    # Over the same tokens, the value "red kites" takes precedence over "Red Kite" + s.
    for span in sorted(claims, key=lambda s: (-(s[1] - s[0]), letters[s[0]] - letters[s[1]], s[2] > 0, s[0])):
        # Those taken are no shorter, so one that overlaps this span covers its first or last token.
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
            # All words but the last; one string compares faster than many.
            head = "".join([f"{word}\n" for word in spelling[:-1]])
            for start in _starts(spelling, first):
                end = start + len(spelling)
                stem = _matches(spelling, tokens, folded, start) if text.startswith(head, places[start]) else None
                if stem is not None and not (end - start == 1 and _is_article(name, folded, start)):
                    claims.setdefault((start, end, stem), []).append(claimant)
    return claims


@remembered
def _folded(token: str) -> str:
    return fold(token)


def _is_article(slot_name: str, folded: Sequence[str], start: int) -> bool:
    """Whether an "a" is an article; in "an a eco rating" and "its eco rating is a" it is a value."""
    if folded[start] not in ARTICLES:
        return False
    name = slot_name.casefold()
    after = folded[start + 1] if start + 1 < len(folded) else ""
    before = folded[start - 1] if start else ""
    subject = folded[start - 2] if start > 1 and before in ("is", "of") else before
    named = any(related(token, name[:4], name) for token in (subject, after) if token)
    return not (named or before in ARTICLES or not after[:1].isalnum())


def _starts(spelling: tuple[str, ...], first: Mapping[str, list[int]]) -> list[int]:
    starts = first.get(spelling[0], [])
    # One-word values are also found in the plural and with "'s": "televisions" for television.
    if len(spelling) == 1:
        return [*starts, *(start for form in inflected(spelling[0]) for start in first.get(form, []))]
    return starts


def _matches(spelling: tuple[str, ...], tokens: Sequence[str], folded: Sequence[str], start: int) -> int | None:
    """Match a spelling at `start`, where all its words but the last are known to match.

    Returns 0, or the length of the stem if the last token is a plural or possessive; None if there is no match.
    """
    end = start + len(spelling)
    if end > len(folded) or _is_part(tokens, start, end) or _ends_sentence(spelling, tokens, end):
        return None
    last = folded[end - 1]
    if last == spelling[-1]:
        return 0
    if last in inflected(spelling[-1]):
        # From the right: "Weiß" gets longer when folded.
        return len(tokens[end - 1].rstrip(JOINER)) - (len(last) - len(spelling[-1]))
    return None


def _is_part(tokens: Sequence[str], start: int, end: int) -> bool:
    """Whether a span is only part of a number, range or grade: the 1 of "1.5", the £20 of "£20-25", the a of "a+".

    Also the sign or the number of "-1", or one of the numbers of "3-1".
    """
    if start and tokens[start][0].isdigit() and tokens[start - 1] in _MINUS:
        return True
    if start and tokens[start].lstrip(JOINER) in _MINUS and tokens[start].startswith(JOINER):
        return True
    if end < len(tokens) and (tokens[end] == _PLUS or (tokens[end - 1].isdigit() and _is_half_of_day(tokens, end))):
        return True
    return _joins_digits(tokens, start - 1) or _joins_digits(tokens, end)


def _joins_digits(tokens: Sequence[str], at: int) -> bool:
    if not 0 < at < len(tokens) - 1 or tokens[at] not in _NUMBER_JOINTS:
        return False
    return tokens[at - 1][-1].isdigit() and tokens[at + 1][0].isdigit()


def _is_half_of_day(tokens: Sequence[str], at: int) -> bool:
    """Whether "pm" or "p.m." follows: the 2 of "2 pm" is no number by itself."""
    if _folded(tokens[at]) in ("am", "pm"):
        return True
    return _folded(tokens[at]) in ("a", "p") and tuple(map(_folded, tokens[at + 1 : at + 3])) == (".", "m")


def _ends_sentence(spelling: tuple[str, ...], tokens: Sequence[str], end: int) -> bool:
    """Whether the final stop of an "a.m." also ends the sentence."""
    return spelling[-2:] == ("m", ".") and (end == len(tokens) or tokens[end][:1].isupper())
