"""Marks: words that set texts for an act type apart from those that inform: "only", "recommend", "nice"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from dactnlg.acts import Turn
from dactnlg.acts.act_types import INFORM, recommends
from dactnlg.text.grammar.english import EVERY, EXCEPTING, ONLY, PRAISE
from dactnlg.text.sentences import asking, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types, canonical, kind

LEAST_TEXTS = 10
"""The fewest texts of an act type that can show what marks it."""
TIMES, LEAST_SHARE, LEAST_COUNT, MARKED = 5, 0.03, 3, 0.4
"""How many times as often as others the texts of an act type have one of its marks; the least share and number of its
texts that have a mark; and the least share that has any."""
_OF_EVERY = EVERY | {"any", "none", "no"}
"""Words that say something of everything, or deny it; an act type most of whose texts have one of `EVERY` is not
expressed without one. "No" must come first: "no pub is dear", not "pubs with no view"."""
OTHER, MOST_OTHERS = "other", 0.1
"""The word for what is excepted, and the largest share of an act type's examples with it if it excepts nothing."""
NEGATIVE = frozenset({"no", "none", "dontcare", "?"})
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
        """Return the words that mark the only act of a turn; empty for questions, or if no words mark it."""
        asks = any(act.is_question for act in turn)
        return frozenset() if asks else self._known.get(act_types(kind(turn)), frozenset())

    def only_one(self, act_types: Iterable[str]) -> bool:
        """Whether the only act type presents something as the only one of its kind."""
        return "only" in self._known.get(tuple(act_types), ())

    def lacking(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text has none of the words that mark an act of its turn; never for questions."""
        words = frozenset(map(strip_joiner, tokens))
        marks = (self._known.get((act.act_type,)) for act in turn if not act.is_question)
        inside = {"no"} if tokens and strip_joiner(tokens[0]) != "no" else set[str]()
        return any(own and own.isdisjoint(words - inside if own is _OF_EVERY else words) for own in marks)

    def praise(self, turn: Turn, tokens: Sequence[str]) -> str:
        """Return the mildest praise that marks a turn that only recommends, if a text lacks its marks; otherwise "".

        Other acts that may praise, such as opinions, need not.
        """
        marks = self.of(turn) if len(turn.acts) == 1 and recommends(turn.acts[0].act_type) else ()
        praise = next((word for word in PRAISE if word in marks), "")
        return praise if praise and self.lacking(turn, tokens) else ""

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

    def excepts_unusually(self, turn: Turn, tokens: Sequence[str]) -> bool:
        """Whether a text says "no other pub" although its act types hardly ever except anything."""
        return OTHER in tokens and self._excepting.get(act_types(kind(turn)), 1.0) < MOST_OTHERS

    @cached_property
    def _excepting(self) -> dict[Key, float]:
        """For each combination of act types with enough texts, the share of its examples that say "other"."""
        texts: dict[Key, list[tuple[float, bool]]] = {}
        for key, weights in self._templates.sentences.items():
            texts.setdefault(act_types(key), []).extend((weight, OTHER in own) for own, weight in weights.items())
        return {
            acts: sum(weight for weight, other in own if other) / sum(weight for weight, _ in own)
            for acts, own in texts.items()
            if len(own) >= LEAST_TEXTS
        }

    @cached_property
    def _known(self) -> dict[Key, frozenset[str]]:
        """The words that mark the texts of each act type that has such words."""
        texts: dict[Key, list[frozenset[str]]] = {}
        for (key, text), values in self._templates.specials.items():
            # Negative values have words of their own.
            if not any(map(has_negative, values)):
                words = frozenset(word for word in map(strip_joiner, text) if word.isalpha())
                texts.setdefault(act_types(key), []).append(words)
        # What marks set the others apart from: informing; without it, what is most common.
        usual = max(texts, key=lambda acts: (acts == (INFORM,), len(texts[acts])), default=())
        stated = texts.pop(usual, [])
        known = {acts: group for acts, group in texts.items() if len(acts) == 1 and len(group) >= LEAST_TEXTS}
        return {acts: _marks(group, stated) for acts, group in known.items()}


def _marks(texts: Sequence[frozenset[str]], others: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the words that `texts` have far more often than others, none if few of them have one."""
    own, further = (Counter(word for text in group for word in text) for group in (texts, others))
    least = {word: max(LEAST_SHARE, TIMES * (further[word] + 1) / len(others)) * len(texts) for word in own}
    marks = {word for word, count in own.items() if count >= max(LEAST_COUNT, least[word])}
    of_all = marks & EVERY
    if of_all and 2 * sum(not of_all.isdisjoint(text) for text in texts) >= len(texts):
        # "Here are cheap pubs" does not say that all are.
        return _OF_EVERY
    marked = sum(not marks.isdisjoint(text) for text in texts)
    return frozenset(marks) if marked >= MARKED * len(texts) else frozenset()


def excepts(tokens: Sequence[str]) -> bool:
    """Whether a text says that there is no other: "no pub but the Mill", not "sorry but there is none"."""
    words = strip_joiners(tokens)
    but = any(word == "but" and before not in _NO_EXCEPTION for before, word in pairwise(words))
    return but or not (ONLY | EXCEPTING).isdisjoint(words)


@lru_cache(maxsize=1 << 12)
def has_negative(values: Key) -> bool:
    """Whether any of these printed special values is expressed by a denial."""
    return any(canonical(value).value in NEGATIVE for value in values)
