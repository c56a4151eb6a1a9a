"""Clauses: faults of English sentences in verbs and in the joining of clauses, which short word runs do not show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from dactnlg.text.grammar.asking import dangles, misasked, mistold
from dactnlg.text.grammar.denials import denies
from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    BEING,
    COORDINATING,
    GREETINGS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATING,
    THIRD,
    listed,
)
from dactnlg.text.grammar.joints import misjoined, without_apology
from dactnlg.text.grammar.lexicon import PLURAL
from dactnlg.text.grammar.verbs import MODALS, contacts, finite
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import JOINER, strip_joiner
from dactnlg.text.values.plurals import is_plural

_OTHERS = frozenset({"there", "i", "we", "you"})
"""Subjects that do not take "has" and "is"."""
_ABOUT = {("what", "about"), ("how", "about")}
"""Beginnings of questions without a verb."""
_NOTHING = frozenset({("there", "is", "no"), ("there", "are", "no")})
"""Beginnings that leave nothing to tell more about: "there is no pub in the south and it is cheap"."""
_SINGULAR = frozenset({"is", "has", "does", "was"})
_PLURAL = frozenset({"are", "have", "do", "were"})
_OF_MANY = _PLURAL | {verb.removesuffix("s") for verb in THIRD - {"has"}}
_WRONG = {
    *(("it", verb) for verb in _PLURAL),
    *((word, verb) for word in ("they", "we", "you") for verb in _SINGULAR),
    *(("i", verb) for verb in _SINGULAR - {"was"}),
    *((verb, "none") for verb in ("is", "are")),
    *(("of", verb) for verb in ("is", "are", "was", "has")),
}
"""Pairs of words that do not follow each other, by number or by meaning."""
_NONE = frozenset({"any", "no"})
_NEAR = 4
"""How many words before "that" may contain the noun that it refers to."""
_ASKING = frozenset({"have", "do", "does", "did", "are", "would", "can", "could"})
_S = f"{JOINER}s"
REPEATED = 3
"""The length in words of a run that no sentence has twice."""
_BEHIND_GREETINGS = listed(", . ! and you to for")
_IMPERATIVES = listed("try check take choose ring call look ask enjoy")
"""Imperatives that may begin a sentence, or follow a comma."""


def faults(tokens: Sequence[str], verbs: Collection[str]) -> int:
    """Return the weighted faults of a sentence: no verb, unjoined clauses, disagreement in number, repetition.

    Args:
        tokens: with joiners and placeholders.
        verbs: finite verbs, in lower case.
    """
    words = without_apology([strip_joiner(token) for token in tokens])
    at, near = finite(words, verbs), contacts(words, verbs)
    main = _main(words, at)
    # "Just ring if you have questions" has a main verb, but not a finite one.
    named = words[0] in PREPOSITIONS | ARTICLES or is_placeholder(words[0])
    opened = words[0] in SUBORDINATING
    needed = 1 + (opened or (named and "if" in words)) + (opened and "if" in words[1:])
    about = tuple(words[:2]) in _ABOUT
    verbless = len(main) < needed and not about and not _greets(words)
    found = 2 * (verbless or _headless(words) or _subjectless(words, at))
    found += misjoined(words, at, verbs, near, about)
    # "Information for the price none."
    found += 2 * (verbless and "none" in words[-2:])
    found += 3 * sum(_disagree(words, before, place) for before, place in pairwise(at))
    found += 3 * (any(pair in _WRONG for pair in pairwise(words)) or _misfits(words, at) or _many_as_one(words, at))
    found += 3 * _told_of_none(words, at)
    found += 2 * (_repeats(words) or dangles(words, related=bool(near)) or misasked(words) or _unasked(words, at))
    unsaid = any(words[place - 2] == "how" and words[place] not in AUXILIARIES for place in at if place > 1)
    return found + 2 * (mistold(words) or unsaid)


def _greets(words: Sequence[str]) -> bool:
    """Whether a sentence is a greeting, which needs no verb: "goodbye!", "thank you", "hello, and enjoy it"."""
    return words[0] in GREETINGS and (len(words) == 1 or words[1] in _BEHIND_GREETINGS)


def _main(words: Sequence[str], at: Sequence[int]) -> list[int]:
    """Return the indices of the verbs of main clauses: not those of "whether it has ports", "that has ports"."""
    before, found = dict(zip(at, (0, *at), strict=False)), list[int]()
    for place in at:
        last = words[place - 1] if place else ""
        # "Where would you like to go?", "that seems cheap"
        opening = place == 1 and (last == "that" or (last in RELATIVES and not SUBJECTS.isdisjoint(words[2:3])))
        # "SLOT_NAME, a cheap pub, is here"
        named = words[0] not in SUBORDINATING | PREPOSITIONS
        apart = last == "," and not found and "," in words[: place - 1] and named
        # "If you like beer, have you tried SLOT_NAME?"
        apart |= last == "," and ("'" in words[place] or _inverted(words, place))
        own = last not in RELATIVES | COORDINATING and "whether" not in words[before[place] : place]
        if not place or opening or apart or own:
            found.append(place)
    starts = (place for place, word in enumerate(words) if not place or words[place - 1] == ",")
    return [*found, *(place for place in starts if words[place] in _IMPERATIVES)]


def _unasked(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a clause that asks ends like a statement: "speaking of pubs, have you tried SLOT_NAME."."""
    asking = (words[place - 1] == "," for place in at if words[place] in _ASKING and _inverted(words, place))
    return words[-1] == "." and any(asking)


def _headless(words: Sequence[str]) -> bool:
    """Whether a sentence begins with the verb of a statement: "has 4 ports", "is in the south", "can be done"."""
    return (
        words[0] in THIRD
        or (words[0] in MODALS and words[1:2] == ["be"])
        or (words[0] in _SINGULAR | _PLURAL and len(words) > 1 and words[1] in PREPOSITIONS)
    )


def _subjectless(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a verb lacks a subject: "there is a pub and has good food", "near the station serves good food"."""
    # "It rewards you with a view and has toilets": the subject is not what follows the verb.
    subjects = (place for place, word in enumerate(words) if word.partition("'")[0] in _OTHERS)
    start = next((place for place in subjects if "'" in words[place] or words[place + 1 : place + 2] != ["with"]), None)
    if start is not None and (not at or start <= at[0] or start - 1 == at[0]):
        places = [
            place
            for place in at
            if words[place - 1] in COORDINATING and words[place] in _SINGULAR | THIRD and not _inverted(words, place)
        ]
        # "You will find it in the south and has a garden" has no subject for its garden; "it is near and has" has.
        own = [place for place, word in enumerate(words) if word in RELATIVES or (word == "it" and place + 1 in at)]
        return any(not any(start < each < place for each in own) for place in places)
    first = at[0] if at else 0
    # "With a garden, a view, has beer"
    bare = words[first - 1 : first] == [","] or "," not in words[:first]
    return words[0] in PREPOSITIONS | {"located"} and words[first] in THIRD and bare


def _disagree(words: Sequence[str], before: int, place: int) -> bool:
    """Whether two coordinated verbs differ in number: "hotels that do not allow dogs and has"."""
    if words[place - 1] not in COORDINATING:
        return False
    first, second = words[before], words[place]
    if _inverted(words, place):
        return False
    return (first in _SINGULAR and second in _PLURAL) or (first in _OF_MANY and second in _SINGULAR)


def _inverted(words: Sequence[str], place: int) -> bool:
    """Whether a verb precedes its subject: "it is small, and do you mind?", "you want a pub, is that right?"."""
    return not (SUBJECTS | {"that"}).isdisjoint(words[place + 1 : place + 2])


def _misfits(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a verb does not fit: "the area and the price is", "there are looking", "there is no pub and it is"."""
    first = at[0] if at else 0
    several = "and" in words[:first] and words[first] in _SINGULAR and words[0] not in PREPOSITIONS | SUBORDINATING
    runs_of_three = [*zip(words, words[1:], words[2:], strict=False)]
    many = words[:2] == ["there", "are"] or not _NOTHING.isdisjoint(runs_of_three)
    return several or any(
        (before == "there" and word in _SINGULAR | _PLURAL and verb.endswith("ing"))
        # "The only trail in the south is that is open."
        or (before in BEING and word == "that" and verb in BEING)
        or (many and (before, word) == ("and", "it"))
        for before, word, verb in runs_of_three
    )


def _told_of_none(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether more is told of what does not exist: "i can't find any pubs, and dogs are allowed", "any, but nothing".

    "There are no pubs, but SLOT_NAME is a cafe" is about another thing.
    """
    none = next((place for place, word in enumerate(words) if word in _NONE and denies(words[: place + 1])), len(words))
    for place in range(none, len(words) - 2):
        joint, word = words[place + 1], words[place + 2]
        if words[place] == "," and joint in COORDINATING:
            verb = next((each for each in at if each > place), 0)
            clause = words[place + 2 : verb]
            told = joint == "and" and words[verb] in BEING and 0 < len(clause) < _NEAR and clause[0] not in RELATIVES
            if word == "nothing" or (told and not denies(words[place:]) and not any(map(is_placeholder, clause))):
                return True
    return False


def _many_as_one(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a clause about several things has a singular verb: "games that was released", "pubs that stay and is"."""
    for place in at:
        if words[place] in _SINGULAR | THIRD and words[place - 1] in RELATIVES | COORDINATING - {","}:
            start = next((n for n in range(place - 1, 0, -1) if words[n] in RELATIVES), 0)
            many = start and (is_plural(words[start - 1]) or _many_before(words[:start]))
            if many and SUBJECTS.isdisjoint(words[start:place]):
                return True
    return False


def _many_before(words: Sequence[str]) -> bool:
    """Whether a plural occurs in the last few words: "games developed by SLOT_DEVELOPER".

    After "there are", anywhere: "there are hotels in the SLOT_AREA area".
    """
    near = words if words[:2] == ["there", "are"] else words[-_NEAR:]
    return any(map(is_plural, near)) and {"a", "an"}.isdisjoint(words)


def _repeats(words: Sequence[str]) -> bool:
    runs = list(word_runs(words, REPEATED))
    if len(set(runs)) == len(runs):
        return False
    runs = [run for run in runs if not any(map(is_placeholder, run))]
    return len(set(runs)) < len(runs)


def word_runs(words: Sequence[str], order: int) -> Iterator[Tokens]:
    """Return the runs of `order` words."""
    return zip(*(words[start:] for start in range(order)), strict=False)


def glued(tokens: Sequence[str], plurals: Collection[str]) -> int:
    """Return how many placeholders have letters attached to them: "SLOT_PRICERANGEly" suits few values.

    Args:
        tokens: with joiners and placeholders.
        plurals: the placeholders that often have a plural ending.
    """
    return sum(
        (is_placeholder(token) and _attached(more, token.endswith(JOINER)) and not (more == _S and token in plurals))
        or (is_placeholder(more) and token.endswith(JOINER) and token.strip(JOINER).isalpha())
        for token, more in pairwise(tokens)
    )


def _attached(word: str, joined: bool) -> bool:  # noqa: FBT001  (private)
    """Whether a word is an ending of the preceding one; plural endings are later fitted to the value."""
    return word != PLURAL and (joined or word[0] in JOINER + "-") and word.strip(JOINER + "-").isalpha()
