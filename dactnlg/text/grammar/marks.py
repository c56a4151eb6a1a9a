"""Marks: words that texts for an act type hardly ever lack, and others hardly ever have: "only" for an only match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from dactnlg.acts import Turn
from dactnlg.text.grammar.english import EXCEPTING, ONLY
from dactnlg.text.sentences import asking, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, act_types, canonical, kind

LEAST_TEXTS = 10
"""The fewest texts of an act type that can show what marks it."""
MARKED, ELSEWHERE, FIRST, FURTHER = 0.5, 0.05, 0.4, 0.05
"""The least share of an act type's texts that have one of its marks; the largest share of other texts that have any
one of them; and the least shares that the first mark, and each further one, must add."""
MOST_MARKS = 3
"""The most words that mark an act type."""
NEGATIVE = ("=no", "=none", "=dontcare", "=?")
"""Special values that are expressed by a denial."""
_NO_EXCEPTION = frozenset({",", ".", "sorry", "regret", "apologize"})
"""Words after which "but" begins a clause."""


class Marks:
    """Finds texts that lack the words that mark their act.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def of(self, turn: Turn) -> frozenset[str]:
        """Return the words of which a text for a turn must have one; empty for questions, or if no words mark it."""
        asks = any(act.is_question for act in turn)
        return frozenset() if asks else self._known.get(act_types(kind(turn)), frozenset())

    def any_of(self, act_types: Iterable[str]) -> bool:
        """Whether there are words that mark texts for these act types together."""
        return bool(self._known.get(tuple(sorted(act_types))))

    def lacking(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text lacks all the words that mark its act types; never for questions."""
        marks = self.of(turn)
        return bool(marks) and marks.isdisjoint(map(strip_joiner, tokens))

    def not_only(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text mentions an only match like any other, as people sometimes do.

        Only for turns with exactly one statement, whatever they ask.
        """
        stated = [act.act_type for act in turn if not act.is_question]
        if len(stated) != 1 or "only" not in self._known.get((stated[0],), ()):
            return False
        if len(turn.acts) > 1:
            # "Is there anything else?" does not count.
            own = zip(split_sentences(tokens), asking(tokens), strict=True)
            tokens = [token for sentence, asked in own if not asked for token in sentence]
        return "nothing" not in tokens and not excepts(tokens)

    @cached_property
    def _known(self) -> dict[Key, frozenset[str]]:
        """The words that mark the texts of each combination of act types that has such words."""
        texts: dict[Key, list[frozenset[str]]] = {}
        if len(set(map(act_types, self._templates.sentences))) == 1:
            # There are no others to compare with.
            return {}
        for (key, text), values in self._templates.specials.items():
            # Negative values have words of their own.
            if not any(map(has_negative, values)):
                texts.setdefault(act_types(key), []).append(frozenset(map(strip_joiner, text)))
        total = Counter(word for group in texts.values() for text in group for word in text if word.isalpha())
        number = sum(map(len, texts.values()))
        return {acts: _marks(group, total, number) for acts, group in texts.items() if len(group) >= LEAST_TEXTS}


def _marks(texts: Sequence[frozenset[str]], total: Counter[str], number: int) -> frozenset[str]:
    """Return words of which most of `texts` have one and others hardly any; `total`, `number`: counts of all texts."""
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


def excepts(tokens: Sequence[str]) -> bool:
    """Whether a text says that there is no other: "no pub but the Mill", not "sorry but there is none"."""
    words = [strip_joiner(token) for token in tokens]
    but = any(word == "but" and before not in _NO_EXCEPTION for before, word in pairwise(words))
    return but or not (ONLY | EXCEPTING).isdisjoint(words)


@lru_cache(maxsize=1 << 12)
def has_negative(values: Key) -> bool:
    """Whether any of these printed special values is expressed by a denial."""
    return any(canonical(value).endswith(NEGATIVE) for value in values)
