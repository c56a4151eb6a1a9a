"""Predicates: what training says about each subject: "the phone number is" a number, but not "located near" it.

And governors: the verbs and prepositions that it has before each value: "in the SLOT_AREA", but not "serving" it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

from dactnlg.text.grammar.copulas import noun_phrase_head
from dactnlg.text.grammar.english import ARTICLES, COORDINATING, JOINTS, PREPOSITIONS, RELATIVES, VERBS_OF_ONE
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.placeholders import is_placeholder, values_alike

LEAST_SEEN = 20
"""How often training must say something of any subject before its absence for one subject is a fault."""
MOST_SHARE = 0.02
"""The largest share of these occurrences that may be mistakes."""
_WISHES = frozenset({"like", "want", "prefer"})
"""Verbs after which anything may be named: "would you like SLOT_FOOD food?"."""
_ING = 5
"""The longest words in -ing that are no participles: "king", "thing"."""
_PREPOSITIONS = PREPOSITIONS | {"of"}
_ASKING = frozenset({"what", "which", "who", "where", "how", "do", "does", "did", "would", "could", "can", "may"}) | {
    *("shall", "should", "is", "are", "was", "were", "will", "have", "has")
}
_ANY = frozenset({"it", "they", "there", "this", "that"})
"""Subjects of which almost anything is said."""


Predicate = tuple[str, str]
"""A verb and the word after it; for a phrase with an article, also the verb and the noun."""


class Predicates:
    """Counts what training says of each subject.

    Args:
        sentences: of training, delexicalised, without joiners.
        verbs: finite verbs, in lower case.
    """

    def __init__(self, sentences: Iterable[Sequence[str]], verbs: Collection[str]) -> None:
        self._verbs = verbs
        clauses = [clause for sentence in (sentences if verbs else ()) for clause in self._clauses(sentence)]
        self._pairs = Counter((subject, each) for subject, predicates in clauses for each in predicates)
        self._said = Counter(each for _, predicates in clauses for each in predicates)

    def faults(self, sentence: Sequence[str]) -> int:
        """Return how often a sentence says of a subject what training says only of others."""
        return sum(self._strange(*clause) for clause in self._clauses(sentence)) if self._verbs else 0

    def _strange(self, subject: str, predicates: Iterable[Predicate]) -> bool:
        often = ((self._pairs[subject, each], self._said[each]) for each in predicates if subject not in _ANY)
        return any(said >= LEAST_SEEN and of_it <= MOST_SHARE * said for of_it, said in often)

    def _clauses(self, sentence: Sequence[str]) -> Iterator[tuple[str, set[Predicate]]]:
        """Yield the last word of each clause's subject, shared by coordinated verbs, and what is said of it."""
        words = values_alike(sentence)
        if words[0] in _ASKING:
            return
        subject, start = "", 0
        for place in finite(words, self._verbs):
            before = words[place - 1] if place else ""
            if before in RELATIVES:
                subject = ""
            elif before not in COORDINATING or not subject:
                subject = _head(words[start:place])
            if subject:
                yield subject, _predicates(words, place)
            start = place + 1


class Governors:
    """Learns which verbs and prepositions training has before each placeholder, with any other words between.

    Args:
        sentences: of training, delexicalised, without joiners.
        verbs: finite verbs, in lower case.
    """

    def __init__(self, sentences: Iterable[Sequence[str]], verbs: Collection[str]) -> None:
        self._words = PREPOSITIONS | _WISHES | {*verbs} if verbs else frozenset[str]()
        self._pairs = Counter(pair for sentence in (sentences if verbs else ()) for pair in self._governed(sentence))
        self._uses = Counter[str]()
        for (_, name), count in self._pairs.items():
            self._uses[name] += count

    def faults(self, sentence: Sequence[str]) -> int:
        """Return how many values follow a verb or a preposition that training never has before them."""
        pairs = self._governed(sentence) if self._words else ()
        often = (pair for pair in pairs if self._uses[pair[1]] >= LEAST_SEEN and pair[0] not in _WISHES)
        return sum(pair not in self._pairs for pair in often)

    def _governed(self, sentence: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each placeholder with the last verb or preposition before it; verbs agree with other things."""
        governor = ""
        for word in values_alike(sentence):
            if is_placeholder(word):
                yield governor, word
            elif word in self._words or (word.endswith("ing") and len(word) > _ING):
                governor = VERBS_OF_ONE.get(word, word).removesuffix("s")


def _head(words: Sequence[str]) -> str:
    """Return the last word of the first noun phrase after the last joint in the words before a verb."""
    start = next((place + 1 for place in reversed(range(len(words))) if words[place] in JOINTS), 0)
    own = words[start:]
    end = next((place for place, word in enumerate(own) if place and word in _PREPOSITIONS), len(own))
    return own[end - 1] if own else ""


def _predicates(words: Sequence[str], place: int) -> set[Predicate]:
    more = words[place + 1] if place + 1 < len(words) else ""
    noun = noun_phrase_head(words, place + 1) if more in ARTICLES else more
    return {(words[place], more), (words[place], noun)}
