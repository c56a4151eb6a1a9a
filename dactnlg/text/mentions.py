"""Mentions: where the values of a turn stand in a sentence, and which slots they belong to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from dactnlg.acts import Slot
from dactnlg.text.placeholders import Required
from dactnlg.text.spellings import plurals
from dactnlg.text.surface import JOINER, strip_joiner

_ARTICLES = frozenset({"a", "an", "the"})
_PLUS = f"{JOINER}+"
_NUMBER_JOINTS = frozenset(f"{JOINER}{mark}{JOINER}" for mark in ".,-:/")

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
    claims = _claims(required, tokens, folded, spellings)
    contested = 0
    found: dict[str, list[Mention]] = {}

    def rank(item: Required, start: int, end: int) -> tuple[int, int]:
        # Between slots with the same value: the one with fewer mentions, then the one whose name stands nearest.
        return len(found.get(item.placeholder, ())), _distance(item.slot.name, folded, start, end)

    def plain(item: Required) -> bool:
        return (item.slot.name, (item.slot.value or "").casefold()) in ordinary

    def doubt(span: tuple[int, int, int]) -> int:
        # A word that may not be the value at all comes later, the farther it stands from the slot's name.
        items = [item for item in claims[span] if plain(item)]
        return min((_distance(item.slot.name, folded, span[0], span[1]) for item in items), default=0)

    for span in sorted(_longest_first(claims, folded), key=lambda span: (doubt(span), span)):
        start, end, stem = span
        items = claims[span]
        contested += len(items) > 1
        item = min(items, key=lambda item: rank(item, start, end))
        mentions = found.setdefault(item.placeholder, [])
        if not (mentions and plain(item)):
            mentions.append(Mention(start, end, stem, item.placeholder))
    return sorted(mention for mentions in found.values() for mention in mentions), contested


def _longest_first(claims: Iterable[tuple[int, int, int]], folded: Sequence[str]) -> list[tuple[int, int, int]]:
    """Choose spans that do not overlap: the longest first, and an exact value before the plural of another."""
    taken = [False] * len(folded)
    chosen: list[tuple[int, int, int]] = []
    # Over the same tokens the value "red kites" goes before "Red Kite" + s.
    for span in sorted(claims, key=lambda s: (-(s[1] - s[0]), -sum(map(len, folded[s[0] : s[1]])), s[2] > 0, s[0])):
        if not any(taken[span[0] : span[1]]):
            chosen.append(span)
            taken[span[0] : span[1]] = [True] * (span[1] - span[0])
    return chosen


def _claims(
    required: Sequence[Required], tokens: Sequence[str], folded: Sequence[str], spellings: Spellings
) -> dict[tuple[int, int, int], list[Required]]:
    """Return the spans (start, end, stem) that may be values, each with the slots that it may belong to."""
    claims: dict[tuple[int, int, int], list[Required]] = {}
    first: dict[str, list[int]] = {}
    for index, token in enumerate(folded):
        first.setdefault(token, []).append(index)
    for item in required:
        for spelling in spellings(item.slot):
            for start in _starts(spelling, first):
                end = start + len(spelling)
                stem = _matches(spelling, tokens, folded, start)
                if stem is not None and not (end - start == 1 and _is_article(item.slot.name, folded, start)):
                    claims.setdefault((start, end, stem), []).append(item)
    return claims


@lru_cache(maxsize=1 << 16)
def _folded(token: str) -> str:
    return strip_joiner(token).casefold()


def _distance(slot_name: str, folded: Sequence[str], start: int, end: int) -> int:
    """Return the number of tokens between a span and the nearest word of a slot's name."""
    stems = [word[:4] for word in re.split(r"\W+|_", slot_name.casefold()) if len(word) > 2]
    near = [
        min(abs(i - start), abs(i - end + 1))
        for i, token in enumerate(folded)
        if not start <= i < end and any(_related(token, stem, slot_name.casefold()) for stem in stems)
    ]
    return min(near, default=len(folded))


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
    """Return 0 if the spelling stands at `start`, the stem's length in the last token if in the plural, else None."""
    end = start + len(spelling)
    if end > len(folded) or tuple(folded[start : end - 1]) != spelling[:-1] or _is_part(tokens, start, end):
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
