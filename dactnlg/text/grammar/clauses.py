"""Clauses: faults of English sentences in verbs and in the joining of clauses, which short word runs do not show."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from dactnlg.text.grammar.dangling import dangles
from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    COORDINATING,
    FUNCTION_WORDS,
    GREETINGS,
    INDEFINITE,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATING,
    THIRD,
    VERBS_OF_MANY,
    VERBS_OF_ONE,
    listed,
)
from dactnlg.text.grammar.joints import misjoined, without_apology
from dactnlg.text.grammar.plurals import is_plural
from dactnlg.text.grammar.verbs import MODALS, contacts, finite
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiners

_OTHERS = frozenset({"there", "i", "we", "you"})
"""Subjects that do not take "has" and "is"."""
_ABOUT = {("what", "about"), ("how", "about")}
"""Beginnings of questions without a verb."""
_SINGULAR, _PLURAL = frozenset(VERBS_OF_MANY), frozenset(VERBS_OF_ONE)
_WRONG = {
    *(("it", verb) for verb in _PLURAL),
    *((word, verb) for word in ("they", "we", "you") for verb in _SINGULAR),
    *(("i", verb) for verb in _SINGULAR - {"was"}),
    *((verb, "none") for verb in ("is", "are")),
    *(("of", verb) for verb in ("is", "are", "was", "has")),
    *(("with", verb) for verb in ("is", "has", "comes")),
}
"""Pairs of words that do not follow each other, by number or by meaning."""
_OF_MANY = _PLURAL | {verb.removesuffix("s") for verb in THIRD - {"has"}}
_NEAR = 4
"""How many words before "that" may contain the noun that it refers to."""
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
    words = without_apology(strip_joiners(tokens))
    at, near = finite(words, verbs), contacts(words, verbs)
    main = _main(words, at)
    # "Just ring if you have questions" has a main verb, but not a finite one.
    named = words[0] in PREPOSITIONS | ARTICLES or is_placeholder(words[0])
    opened = words[0] in SUBORDINATING
    needed = 1 + (opened or (named and "if" in words)) + (opened and "if" in words[1:])
    about = tuple(words[:2]) in _ABOUT
    verbless = len(main) < needed and not about and not _greets(words)
    found = 2 * (verbless or _headless(words) or _subjectless(words, at))
    # "Since you like pubs with a garden?" Followed by a question, one that ends with a stop can be mended.
    found += 2 * (verbless and opened and words[-1] == "?")
    found += misjoined(words, at, near, about)
    # "Information for the price none."
    found += 2 * (verbless and "none" in words[-2:])
    found += 3 * sum(_disagree(words, before, place) for before, place in pairwise(at))
    found += 3 * (any(pair in _WRONG for pair in pairwise(words)) or _many_as_one(words, at))
    # "What rating do you do not care about the price?"
    found += 3 * any(run == ("do", "you", "do") for run in word_runs(words, 3))
    found += 2 * (_repeats(words) or dangles(words, related=bool(near)) or _unthought(words, at))
    unsaid = any(words[place - 2] == "how" and words[place] not in AUXILIARIES for place in at if place > 1)
    return found + 2 * unsaid


def misplaced_only(words: Sequence[str]) -> bool:
    """Whether a sentence says that there is the only one: "there is the only pub in the south"."""
    return any(words[at : at + 4] == ["there", "is", "the", "only"] for at in range(len(words)))


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


def _unthought(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a question lacks what is thought: "why do you think these pubs that have beer?"."""
    thought = words.index("think") if words[0] == "why" and "think" in words else len(words)
    return thought < len(words) and not any(thought < place and words[place - 1] not in RELATIVES for place in at)


def _inverted(words: Sequence[str], place: int) -> bool:
    """Whether a verb precedes its subject: "it is small, and do you mind?", "you want a pub, is that right?"."""
    return not (SUBJECTS | {"that"}).isdisjoint(words[place + 1 : place + 2])


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
    return any(map(is_plural, near)) and INDEFINITE.isdisjoint(words)


def _repeats(words: Sequence[str]) -> bool:
    around = zip(words, words[1:], words[2:], strict=False)
    # "Rated SLOT_RATING rated"; but "in SLOT_A in", which other rules are for.
    if any(a == b and is_placeholder(value) and a.isalpha() and a not in FUNCTION_WORDS for a, value, b in around):
        return True
    runs = list(word_runs(words, REPEATED))
    if len(set(runs)) == len(runs):
        return False
    runs = [run for run in runs if not any(map(is_placeholder, run))]
    return len(set(runs)) < len(runs)


def word_runs(words: Sequence[str], order: int) -> Iterator[Tokens]:
    """Return the runs of `order` words."""
    return zip(*(words[start:] for start in range(order)), strict=False)
