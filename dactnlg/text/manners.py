"""Manners: texts that deny or ask where their act does neither, or the other way round.

"There are no such hotels" for an act that denies nothing, "i looked for hotels" for one that does; "you like shooters"
for a recommendation, where people always ask "have you played it?".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from dactnlg.acts import Turn
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import split_sentences
from dactnlg.text.surface import detokenize, strip_joiner
from dactnlg.text.templates import Key, Templates, canonical, kind
from dactnlg.text.trigger_words import is_question_act

LEAST_SHARE = 0.1
"""Share of an act type's texts that deny, without such special values, or ask, from which on that is what it does."""
MOST_SHARE, LEAST_TEXTS = 0.9, 10
"""The same share from which on an act type is not done without it, and how many texts have to show it."""
MARKED, ELSEWHERE, FIRST, FURTHER = 0.5, 0.05, 0.4, 0.05
"""Share of an act type's texts that words mark together, at least; share of other texts that each of them is in, at
most; and shares that the first of them, and each further one, add at least."""
MOST_MARKS = 3
"""Words that mark an act type."""
NEGATIVE = ("=no", "=none", "=dontcare", "=?")
"""Special values that are said with a denial."""
NEGATIONS = frozenset({"no", "not", "none", "nothing", "cannot", "never", "without"})


class Shares(NamedTuple):
    """Shares of the texts for some act types.

    Attributes:
        deny: of those without special values that are said with a denial, those that deny.
        own: the number of these.
        none: those that say that there is none of a kind.
        again: those that deny in several sentences.
        ask: those that ask.
        texts: the number of all.
    """

    deny: float
    own: int
    none: float
    again: float
    ask: float
    texts: int

    @classmethod
    def of(cls, count: Counter[str]) -> Shares:
        """Return the shares that counts come to."""
        own, texts = count["own"], count["texts"]
        none, again, ask = (count[each] / texts for each in ("none", "again", "ask"))
        return cls(count["deny"] / max(own, 1), own, none, again, ask, texts)


NOTHING = Shares(0.0, 0, 0.0, 0.0, 0.0, 0)
"""Of act types that training does not have together."""


class Manners:
    """Tells texts that deny or ask where their act does not, or do not where it does.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _shares(self) -> dict[Key, Shares]:
        """The shares of the texts for each combination of act types."""
        counts: dict[Key, Counter[str]] = {}
        combinations: dict[Key, Counter[str]] = {}
        rows = self._templates.specials
        # Training has many texts, of few words: these are looked at once.
        words = set(chain.from_iterable(text for _, text in rows))
        denying, asking = frozenset(filter(_denying, words)), frozenset(filter(_asking, words))
        for (key, text), values in rows.items():
            count = combinations.get(key)
            if count is None:
                count = combinations[key] = counts.setdefault(_acts(key), Counter())
            count["texts"] += 1
            count["none"] += "no" in text and has_none(text)
            count["ask"] += not asking.isdisjoint(text)
            denied = not denying.isdisjoint(text)
            count["again"] += denied and denies_again(text)
            if not any(map(_has_negative, values)):
                count["own"] += 1
                count["deny"] += denied
        return {acts: Shares.of(count) for acts, count in counts.items()}

    def _of(self, turn: Turn) -> Shares:
        return self._shares.get(_acts(kind(turn)), NOTHING)

    def wrong(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text does another act: says that there is none, or asks, where its act never does, or must.

        Or it says so of two kinds in the place of one: "there is no pub nearby. There is no cheap pub."
        """
        usual = self._of(turn)
        if usual.texts < LEAST_TEXTS:
            stating = all(act.act_type in self._stating for act in turn)
            return stating and (asks(tokens) or is_question(detokenize(list(tokens))))
        if has_none(tokens) and max(usual.deny, usual.none) < LEAST_SHARE:
            return True
        if usual.deny >= MOST_SHARE and usual.own >= LEAST_TEXTS:
            if not denies(tokens) and not _negative(turn):
                return True
            if usual.again < LEAST_SHARE and denies_again(tokens):
                return True
        # People leave out the marks of questions.
        unasked = usual.ask < LEAST_SHARE and not any(map(is_question_act, turn))
        # What is worded as a question has its mark as readers see it.
        return unasked if asks(tokens) else usual.ask >= MOST_SHARE and not is_question(detokenize(list(tokens)))

    @cached_property
    def _stating(self) -> frozenset[str]:
        """The act types that training has in texts that do not ask, by themselves or among others."""
        found = (acts for acts, each in self._shares.items() if each.texts >= LEAST_TEXTS and each.ask < LEAST_SHARE)
        return frozenset(chain.from_iterable(found))

    def unmarked(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text lacks all the words that mark a statement's act type: "only" what is the only match."""
        marks = frozenset[str]() if any(map(is_question_act, turn)) else self._marks.get(_acts(kind(turn)), frozenset())
        return bool(marks) and marks.isdisjoint(map(strip_joiner, tokens))

    @cached_property
    def _marks(self) -> dict[Key, frozenset[str]]:
        """The words that mark the texts of act types, where there are any."""
        texts: dict[Key, list[frozenset[str]]] = {}
        for (key, text), values in self._templates.specials.items():
            # What does not matter has words of its own.
            if not any(map(_has_negative, values)):
                texts.setdefault(_acts(key), []).append(frozenset(map(strip_joiner, text)))
        total = Counter(word for group in texts.values() for text in group for word in text if word.isalpha())
        number = sum(map(len, texts.values()))
        return {acts: _marks(group, total, number) for acts, group in texts.items() if len(group) >= LEAST_TEXTS}

    def doubtful(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text denies something, and neither the turn's values nor its act types do."""
        return denies(tokens) and not _negative(turn) and self._of(turn).deny < LEAST_SHARE


def _marks(texts: Sequence[frozenset[str]], total: Counter[str], number: int) -> frozenset[str]:
    """Return words of which one is in most of some texts, and which the other ones, of a number in all, hardly have."""
    left, found = list(texts), set[str]()
    while left and number > len(texts) and len(found) < MOST_MARKS:
        own = Counter(word for text in left for word in text if word.isalpha())
        counts = Counter(word for text in texts for word in text if word in own)
        rare = [word for word in own if total[word] - counts[word] <= ELSEWHERE * (number - len(texts))]
        best = max(rare, key=lambda word: (own[word], word), default="")
        if not best or own[best] < (FURTHER if found else FIRST) * len(texts):
            break
        found.add(best)
        left = [text for text in left if best not in text]
    return frozenset(found) if len(left) <= (1 - MARKED) * len(texts) else frozenset()


def _negative(turn: Turn) -> bool:
    """Whether a turn has a value that is said with a denial."""
    return any(slot.special and f"={slot.special}" in NEGATIVE for _, slot in turn.slots())


@lru_cache(maxsize=1 << 12)
def _has_negative(values: Key) -> bool:
    """Whether printed special values have one that is said with a denial."""
    return any(canonical(value).endswith(NEGATIVE) for value in values)


def has_none(tokens: Sequence[str]) -> bool:
    """Whether a text says that there is none of a kind: "no SLOT_TYPE"."""
    return any(word == "no" and is_placeholder(behind) for word, behind in pairwise(tokens))


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word that denies."""
    return any(map(_denying, tokens))


def denies_again(tokens: Sequence[str]) -> bool:
    """Whether several sentences of a text deny."""
    return sum(map(denies, split_sentences(tokens))) > 1


def asks(tokens: Iterable[str]) -> bool:
    """Whether a text has the mark of a question."""
    return any(map(_asking, tokens))


def _denying(token: str) -> bool:
    word = strip_joiner(token)
    return word in NEGATIONS or word.endswith("n't")


def _asking(token: str) -> bool:
    return strip_joiner(token) == "?"


def _acts(key: Key) -> Key:
    return tuple(each for each in key if "|" not in each)
