"""Indifference: what does not matter, at the end of a sentence: "if you do not care about the price or whether ...".

Such a clause can follow any sentence, and list further things that do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dactnlg.text.grammar.english import CONJUNCTIONS, PREPOSITIONS, QUESTION_WORDS, SUBJECTS
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, Tokens
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.traits import read_trait

INDIFFERENT = "dontcare"
"""The special value of what does not matter."""
CONDITION = "if"
_CARING = frozenset({"care", "mind"})
"""Verbs that what does not matter follows."""
_NOT = frozenset({"not", "dont", "never"})
_BETWEEN = CONJUNCTIONS | {","}
_PREPOSITIONS = frozenset({"about", "for"})
OPENING = _PREPOSITIONS | frozenset({"if", "whether", "what", "which", "where", "when", "how"})
"""Words that begin things that do not matter; a further thing may omit them: "about the price or rating"."""
_ABOUT = frozenset({"about", "the", "of", "to"})
"""Words after the verb that begin a thing, including slips: "you do not care the area"."""
_RELATIVES = frozenset({"that", "which"})
_PEOPLE = frozenset({"those", "people", "person", "someone", "anyone", "somebody", "customers", "users", "you"})
_CARERS = frozenset({"you", "you're", "they", "who", "i'm"})
_SAYING = frozenset({"confirm", "sure", "said", "say", "mean", "know", "understand"})
"""Verbs after which "that" begins what is said: "can i confirm that you do not care?"."""
_MATTERING = frozenset({"but", "no", "without", "there"})
"""Words that begin what does matter."""
PRONOUNS = frozenset({"it", "its", "they", "their", "them"})
"""Words that refer to what a particular sentence is about, so that the clause does not fit any other."""
_ENDING = dict.fromkeys(CONJUNCTIONS, PREPOSITIONS | SUBJECTS | {"that", "is", "are", "has", "have", "want", "would"})
"""For "or" and "and", the following words that show that no further thing that does not matter follows: "and in the
south"."""
OR_DO_YOU_NOT = ("or", "do", "you", "not")
IF_YOU_DO_NOT_CARE = ("if", "you", "do", "not", "care")
"""How a statement says that something does not matter, if training has no such statement."""
LONGEST_START = 6
"""The most words up to the verb: "if you do not really care"."""


class Indifference(NamedTuple):
    """The end of a sentence that says what does not matter.

    Attributes:
        start: the words up to its verb: "if you do not care".
        things: what does not matter: "about the price", "whether dogs are allowed".
    """

    start: Tokens
    things: tuple[Tokens, ...]

    @property
    def tokens(self) -> Tokens:
        """The clause, with "or" between the things."""
        found = [*self.start, *self.things[0]]
        for before, thing in pairwise(self.things):
            # "... about the price or the rating", but "whether dogs are allowed or if it has internet".
            shared = thing[0] in _PREPOSITIONS and thing[0] == before[0]
            found += ["or", *thing[shared:]]
        return tuple(found)

    @classmethod
    def together(cls, ends: Sequence[Indifference]) -> Indifference:
        """Return one clause for the things of several: "about the price or whether dogs are allowed", in this order."""
        things = dict.fromkeys(thing for each in ends for thing in each.things)
        return cls(ends[0].start, tuple(sorted(things, key=lambda thing: thing[0] not in _PREPOSITIONS)))

    def apart(self) -> list[Tokens]:
        """Return the clause separately for each thing: "if you do not care about the price".

        An alternative is a question, whose words training may not have; then only the things are returned.
        """
        own = () if self.start[:-1] == OR_DO_YOU_NOT else self.start
        return [(*own, *thing) for thing in self.things]


def is_indifferent(printed: str) -> bool:
    """Whether a printed trait of a turn says that a slot does not matter: `inform|food=dontcare`."""
    return read_trait(printed).value == INDIFFERENT


def parted(sentence: Tokens) -> tuple[Tokens, Indifference | None]:
    """Split off the end of a sentence if it says what does not matter and contains no value; None if there is none.

    Of "do you not care about the price?", an alternative by itself, nothing is left.
    """
    # Most sentences have no such end, and thousands are checked.
    if _CARING.isdisjoint(sentence):
        return sentence, None
    words = strip_joiners(sentence)
    place, verb = _alternative(words)
    place, verb = (place, verb) if verb else _condition(words)
    stop = len(words) - (words[-1] in ENDS)
    things = tuple(_things(sentence[verb + 1 : stop])) if verb and _MATTERING.isdisjoint(words[verb:stop]) else ()
    if not things or any(map(is_placeholder, sentence[place:])):
        return sentence, None
    if not place:
        return (), Indifference(("or", *sentence[: verb + 1]), things)
    return (*sentence[:place], *sentence[stop:]), Indifference(sentence[place : verb + 1], things)


def _condition(words: Sequence[str]) -> tuple[int, int]:
    """Return the indices of an "if" that does not begin the sentence and of the verb of its clause; 0 if none."""
    place = next((at for at in range(1, len(words)) if words[at] == CONDITION), 0)
    verb = denies_caring(words[place : place + LONGEST_START]) if place else 0
    return (place, place + verb) if verb else (0, 0)


def _alternative(words: Sequence[str]) -> tuple[int, int]:
    """Return the indices of an "or do you not care", or "do you not care" at the start, and of its verb; 0 if none."""
    long = len(OR_DO_YOU_NOT)
    if tuple(words[: long - 1]) == OR_DO_YOU_NOT[1:] and not _CARING.isdisjoint(words[long - 1 : long]):
        return 0, long - 1
    verbs = (at for at in range(long + 1, len(words)) if words[at] in _CARING)
    verb = next((at for at in verbs if tuple(words[at - long : at]) == OR_DO_YOU_NOT), 0)
    return (verb - long, verb) if verb else (0, 0)


def _verb(words: Sequence[str]) -> int:
    """Return the index of the verb if a condition says that something does not matter, else 0."""
    return denies_caring(words[:LONGEST_START]) if words[:1] == [CONDITION] else 0


def misattributed(sentence: Tokens) -> bool:
    """Whether a thing does not care, or what matters and what does not are mixed up.

    "Hotels that do not care whether dogs are allowed", "hotels where dogs are allowed and if you do not care about the
    price", "hotels if you do not care about the price, and no dogs", "... in the south"; or about the area of a value;
    or such a condition at both ends, or after another one without a joint.
    """
    if _CARING.isdisjoint(sentence):
        return False
    words = strip_joiners(sentence)
    place, verb = _condition(words)
    if _specific(words) or _impersonal(words):
        return True
    if place and (_verb(words) or words[place - 1] == "and" or not _MATTERING.isdisjoint(words[verb:])):
        return True
    if place and any(map(is_placeholder, words[verb:])):
        return True
    if any(before not in _BETWEEN and _verb(words[at:]) for at, before in enumerate(words[verb:], verb + 1) if place):
        return True
    return any(
        word in _RELATIVES and before not in _PEOPLE | _SAYING and denies_caring(words[place : place + LONGEST_START])
        for place, (before, word) in enumerate(pairwise(words), 1)
    )


def _impersonal(words: Sequence[str]) -> bool:
    """Whether no person is named who does not care: "laptops that are good for business and do not care"."""
    at = denies_caring(words)
    return at > 0 and words[at] == "care" and _CARERS.isdisjoint(words[:at]) and words[at + 1 : at + 2] != ["for"]


def _specific(words: Sequence[str]) -> bool:
    """Whether a value is what people do not care about: "you do not care about the area of SLOT_NEAR"."""
    verb = next((at for at, word in enumerate(words) if word in _CARING), len(words))
    # "If you do not care about the price and in the south, there are pubs" ends only at the comma.
    ending = {} if words[0] == CONDITION else _ENDING
    ends = (at for at in range(verb, len(words)) if words[at] == "," or words[at] in ending.get(words[at - 1], ()))
    end = next(ends, len(words))
    about = not (_ABOUT | QUESTION_WORDS).isdisjoint(words[verb + 1 : verb + 2])
    if not about or not denies_caring(words):
        return False
    return any(map(is_placeholder, words[verb:end]))


def denies_caring(words: Sequence[str]) -> int:
    """Return the index of the verb if words say that nobody cares, else 0."""
    verb = next((at for at, word in enumerate(words) if word in _CARING), 0)
    return verb if any(word in _NOT or word.endswith("n't") for word in words[:verb]) else 0


def _things(tokens: Sequence[str]) -> Iterator[Tokens]:
    """Yield the items between "or", "and" and commas, completed by the opening words that later ones omit."""
    thing: list[str] = []
    opening: list[str] = []
    before = ""
    for token in (*tokens, ","):
        if strip_joiner(token) not in _BETWEEN:
            thing.append(token)
            continue
        if thing:
            # "... and if you do not care about the food"
            again = _verb(strip_joiners(thing)) if before in CONJUNCTIONS else 0
            own = thing[again + 1 :] if again else thing
            thing = []
            # "... or if you do not care" adds no thing.
            if own:
                if own[0] in _PREPOSITIONS or not opening:
                    opening = own[: own[0] in OPENING]
                yield tuple(own if own[0] in OPENING else [*opening, *own])
        before = strip_joiner(token)
