"""Delexicalisation: values leave the sentence and placeholders stay, so that a model learns wording and not names.

`inform(name='red door cafe';food=thai)` with "red door cafe serves thai food" becomes "SLOT_NAME serves SLOT_FOOD
food". Values are found at token boundaries, longest first, regardless of case, in every spelling that `spellings`
knows; special values (yes, no, dontcare, none) stay in the act. Every delexicalisable slot of a turn has a
placeholder of its own: the second `near` is `SLOT_NEAR#2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.spellings import alternatives, plurals, spellings
from dactnlg.surface import JOINER, detokenize, strip_joiner, tokenize

_ARTICLES = frozenset({"a", "an", "the"})
_PLUS = f"{JOINER}+"
_NUMBER_JOINTS = frozenset(f"{JOINER}{mark}{JOINER}" for mark in ".,-:/")

Fillers = dict[str, tuple[str, ...]]
"""What stood, or shall stand, in the place of each placeholder: surface tokens."""


@dataclass(frozen=True, slots=True)
class Required:
    """A slot of a turn with the placeholder that stands for its value.

    Attributes:
        placeholder: `SLOT_FOOD`, or `SLOT_FOOD#2` for the second value of the same slot.
        act_type: the act it stands in.
        slot: the slot.
    """

    placeholder: str
    act_type: str
    slot: Slot


@dataclass(frozen=True, slots=True)
class Delexicalized:
    """A sentence with placeholders.

    Attributes:
        tokens: tokens and placeholders, cased as in the sentence.
        fillers: for each placeholder the surface tokens of its first mention.
        mentions: the surface tokens of every mention in order, so that lexicalising restores the sentence exactly.
        missing: the required slots whose value is not in the sentence.
        ambiguous: the number of mentions that several slots laid claim to.
    """

    tokens: tuple[str, ...]
    fillers: Fillers
    mentions: tuple[tuple[str, ...], ...]
    missing: tuple[Required, ...]
    ambiguous: int = 0

    @property
    def raw(self) -> str:
        """The sentence that the tokens were made from, in raw form."""
        return lexicalize(self.tokens, iter(self.mentions))


def placeholder_name(slot_name: str, ordinal: int = 1) -> str:
    """Return the placeholder of a slot: `customer rating` gives `SLOT_CUSTOMER_RATING`."""
    name = "SLOT_" + re.sub(r"\W+", "_", slot_name).strip("_").upper()
    return name if ordinal == 1 else f"{name}#{ordinal}"


def is_placeholder(token: str) -> bool:
    """Whether a token, joiners aside, is a placeholder."""
    # The first test is quick, and nearly every token fails it.
    return "SLOT_" in token and strip_joiner(token).startswith("SLOT_")


@lru_cache(maxsize=65536)
def required_slots(turn: Turn, silent: frozenset[str] = frozenset()) -> tuple[Required, ...]:
    """Return the slots that a sentence for the turn has to say, each with a placeholder of its own.

    A value repeated within one act counts each time (`?compare` of two things alike); the same slot and value in
    another act is the same thing said once.

    Args:
        turn: the acts.
        silent: "act.slot" combinations that the corpus never says, from its data card.
    """
    required: list[Required] = []
    counts: dict[str, int] = {}
    said: set[tuple[str, str]] = set()
    for act in turn:
        here: set[tuple[str, str]] = set()
        for slot in act.slots:
            if not slot.delexicalizable or slot.value is None or f"{act.act_type}.{slot.name}" in silent:
                continue
            key = (placeholder_name(slot.name), slot.value.casefold())
            here.add(key)
            if key in said:
                continue
            counts[key[0]] = counts.get(key[0], 0) + 1
            required.append(Required(placeholder_name(slot.name, counts[key[0]]), act.act_type, slot))
        said |= here
    return tuple(required)


@lru_cache(maxsize=65536)
def _split(turn: Turn, apart: frozenset[str]) -> Turn:
    acts = []
    for act in turn:
        slots: list[Slot] = []
        for slot in act.slots:
            if slot.name in apart and slot.delexicalizable and slot.value is not None:
                slots += [Slot(slot.name, value) for value in alternatives(slot.value)]
            else:
                slots.append(slot)
        acts.append(DialogueAct(act.act_type, tuple(slots)))
    return Turn(tuple(acts))


def lexicalize(tokens: Sequence[str], fillers: Mapping[str, Sequence[str]] | Iterator[Sequence[str]]) -> str:
    """Put values in the place of placeholders and return the raw sentence.

    Args:
        tokens: tokens with placeholders.
        fillers: the surface tokens for each placeholder, or one filler per mention in order.
    """
    out: list[str] = []
    for token in tokens:
        if not is_placeholder(token):
            out.append(token)
            continue
        name = strip_joiner(token)
        filler = list(fillers.get(name, ()) if isinstance(fillers, Mapping) else next(fillers))
        # The placeholder's own joiners say how the value stands between its neighbours.
        if filler:
            filler[0] = (JOINER if token.startswith(JOINER) else "") + filler[0].lstrip(JOINER)
            filler[-1] = filler[-1].rstrip(JOINER) + (JOINER if token.endswith(JOINER) else "")
        out.extend(filler)
    return detokenize(out)


class Delexicalizer:
    """Finds the values of a turn in a sentence.

    Args:
        aliases: for a slot, other fixed wordings of its values: `{slot: {value: [wording, ...]}}`.
        silent: "act.slot" combinations that the corpus never says.
        apart: slots of which "A or B" is two values, each with a place of its own in the sentence.
    """

    def __init__(
        self,
        aliases: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
        silent: Iterable[str] = (),
        apart: Iterable[str] = (),
    ) -> None:
        self.silent, self.apart = frozenset(silent), frozenset(apart)
        self._aliases = {
            (slot, value.casefold()): tuple(wordings)
            for slot, values in (aliases or {}).items()
            for value, wordings in values.items()
        }
        self._spellings: dict[tuple[str, str], list[tuple[str, ...]]] = {}

    def required(self, turn: Turn) -> tuple[Required, ...]:
        """Return the slots that a sentence for the turn has to say."""
        return required_slots(self.split(turn), self.silent)

    def split(self, turn: Turn) -> Turn:
        """Return the turn with the values of "A or B" as slots of their own, where the sentences take them apart."""
        return _split(turn, self.apart) if self.apart else turn

    def spellings(self, slot: Slot) -> list[tuple[str, ...]]:
        """Return the token sequences (folded, joiners stripped) that express the slot's value, longest first."""
        value = slot.value or ""
        key = (slot.name, value.casefold())
        if key not in self._spellings:
            texts = [value, *self._aliases.get(key, ())]
            found = {spelling for text in texts for spelling in spellings(text)}
            self._spellings[key] = sorted(found, key=lambda s: (-len(s), -sum(map(len, s)), s))
        return self._spellings[key]

    def delexicalize(self, turn: Turn, sentence: str) -> Delexicalized:
        """Replace the values of the turn in a sentence (as the corpus or a model writes it) by placeholders."""
        tokens = tokenize(sentence)
        folded = list(map(_folded, tokens))
        required = self.required(turn)
        spans, ambiguous = self._find(required, tokens, folded)
        out: list[str] = []
        mentions: list[tuple[str, ...]] = []
        fillers: Fillers = {}
        at = 0
        for start, end, stem, placeholder in spans:
            out.extend(tokens[at:start])
            mentions += _lookalikes(tokens[at:start])
            mention = list(tokens[start:end])
            before = JOINER if mention[0].startswith(JOINER) else ""
            after = JOINER if mention[-1].endswith(JOINER) and len(mention[-1]) > 1 else ""
            plural = mention[-1][stem:] if stem else ""
            if plural:
                mention[-1] = mention[-1][:stem]
            mentions.append(tuple(mention))
            fillers.setdefault(placeholder, tuple(mention))
            out.append(before + placeholder + ("" if plural else after))
            if plural:
                out.append(JOINER + plural)
            at = end
        out.extend(tokens[at:])
        mentions += _lookalikes(tokens[at:])
        missing = tuple(item for item in required if item.placeholder not in fillers)
        return Delexicalized(tuple(out), fillers, tuple(mentions), missing, ambiguous)

    def _find(
        self, required: Sequence[Required], tokens: Sequence[str], folded: Sequence[str]
    ) -> tuple[list[tuple[int, int, int, str]], int]:
        """Return spans (start, end, length of a plural's stem or 0, placeholder) in order, and how many had rivals."""
        claims: dict[tuple[int, int, int], list[Required]] = {}
        first: dict[str, list[int]] = {}
        for index, token in enumerate(folded):
            first.setdefault(token, []).append(index)
        for item in required:
            for spelling in self.spellings(item.slot):
                for start in _starts(spelling, first):
                    end = start + len(spelling)
                    stem = _matches(spelling, tokens, folded, start)
                    if stem is not None and not (end - start == 1 and _is_article(item.slot.name, folded, start)):
                        claims.setdefault((start, end, stem), []).append(item)
        taken = [False] * len(tokens)
        chosen: list[tuple[int, int, int]] = []
        # Longest first; over the same tokens the exact value ("red kites") goes before a plural ("Red Kite" + s).
        for span in sorted(claims, key=lambda s: (-(s[1] - s[0]), -sum(map(len, folded[s[0] : s[1]])), s[2] > 0, s[0])):
            if not any(taken[span[0] : span[1]]):
                chosen.append(span)
                taken[span[0] : span[1]] = [True] * (span[1] - span[0])
        contested = 0
        used: dict[str, int] = {}
        spans = []
        for start, end, stem in sorted(chosen):
            items = claims[start, end, stem]
            contested += len(items) > 1
            item = _choose(items, used, folded, start, end)
            used[item.placeholder] = used.get(item.placeholder, 0) + 1
            spans.append((start, end, stem, item.placeholder))
        return spans, contested


@lru_cache(maxsize=1 << 16)
def _folded(token: str) -> str:
    return strip_joiner(token).casefold()


def _lookalikes(tokens: Sequence[str]) -> list[tuple[str, ...]]:
    """Return words of a sentence that read like placeholders, each as a mention of itself."""
    return [(token,) for token in tokens if is_placeholder(token)]


def _choose(items: list[Required], used: dict[str, int], folded: Sequence[str], start: int, end: int) -> Required:
    """Decide between slots with the same value: the one said least so far, then the one whose name stands nearest."""
    if len(items) == 1:
        return items[0]

    def distance(item: Required) -> int:
        stems = [word[:4] for word in re.split(r"\W+|_", item.slot.name.casefold()) if len(word) > 2]
        near = [
            min(abs(i - start), abs(i - end + 1))
            for i, token in enumerate(folded)
            if not start <= i < end and any(_related(token, stem, item.slot.name.casefold()) for stem in stems)
        ]
        return min(near, default=len(folded))

    return min(items, key=lambda item: (used.get(item.placeholder, 0), distance(item)))


def _related(token: str, stem: str, slot_name: str) -> bool:
    # "battery" and "rating" both point at the slot `batteryrating`.
    return (
        token.startswith(stem)
        or (len(token) > 2 and slot_name.startswith(token))
        or (len(token) > 3 and token in slot_name)
    )


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
