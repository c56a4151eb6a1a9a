"""Clauses: faults of English sentences that no run of a few words shows, by verbs and by what joins clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from dactnlg.text.grammar.asking import dangles, misasked, mistold, objectless
from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    COORDINATING,
    JOINTS,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    THIRD,
    VERBS,
    listed,
)
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.surface import JOINER, strip_joiner

_SUBORDINATING = frozenset({"if", "since", "because", "when", "while", "although"})
_OTHERS = frozenset({"there", "i", "we", "you"})
"""Subjects of which "has" and "is" are not said."""
_STARTS = frozenset({"it", "they", "their", "its", "there"})
_ABOUT = {("what", "about"), ("how", "about")}
"""Beginnings of questions without a verb."""
_IS = frozenset({"is", "are", "was", "were"})
_NOTHING = frozenset({("there", "is", "no"), ("there", "are", "no")})
"""What is not there cannot be told more of: "there is no pub in the south and it is cheap"."""
_MODALS = listed("do does did can could will would should may might must let have has had n't")
_SINGULAR = frozenset({"is", "has", "does", "was"})
_PLURAL = frozenset({"are", "have", "do", "were"})
_OF_MANY = _PLURAL | {verb.removesuffix("s") for verb in THIRD - {"has"}}
_WRONG = {
    *(("it", verb) for verb in _PLURAL),
    *((word, verb) for word in ("they", "we", "you") for verb in _SINGULAR),
    *(("i", verb) for verb in _SINGULAR - {"was"}),
    *((verb, "none") for verb in ("is", "are")),
}
"""Words that do not stand behind each other, by their number or by what they say."""
LEAST, LEAST_SHARE = 3, 0.2
"""How often a word stands behind a pronoun that may be a verb, at least, and in which share of its places."""
_ROLES = {
    "verb": SUBJECTS | RELATIVES,
    "other": listed("is are was were am be been being has have had it's they're i'm i've you're you've we've a an the"),
}
_NO_VERBS = (
    SUBJECTS
    | JOINTS
    | frozenset({"a", "an", "the", "not", "this", "he", "she", "to", "in", "your", "my", "of", "with", "up", "for"})
)
_CONTRACTED = tuple(f"{subject}'" for subject in (*sorted(SUBJECTS), "that", "what", "who", "he", "she"))
_NEAR = 4
"""Words before "that" among which the noun is that it belongs to."""
_SHORTEST_PLURAL = 5
PLURAL = "-s"
"""The ending of a plural where that stands by itself."""
REPEATED = 3
"""Words of a run that no sentence has twice."""
_CONDITIONS = PREPOSITIONS | {"where", "good"}
"""Words with which conditions begin that are no clauses."""
_BETWEEN = SUBJECTS | {"not", "also", "ever", "really", "never"}
"""What stands between an auxiliary verb and its verb: "do you not have"."""


def learned_verbs(pairs: Mapping[tuple[str, str], int]) -> frozenset[str]:
    """Return the finite verbs of English, as far as pairs of neighbouring words show them, and how often each occurs.

    A verb often stands behind a pronoun; and seldom behind an auxiliary verb, as participles and adverbs do, or an
    article, or before the ending of a plural: "where child -s are allowed".
    """
    counts: dict[str, Counter[str]] = {}
    for (before, word), count in pairs.items():
        role = next((name for name, words in _ROLES.items() if before in words), "")
        counts.setdefault(word, Counter())[role] += count
        if word == PLURAL:
            counts.setdefault(before, Counter())["other"] += count
    return VERBS.union(word for word, roles in counts.items() if word.isalpha() and _is_verb(word, roles))


def _is_verb(word: str, roles: Counter[str]) -> bool:
    often = roles["verb"] >= max(LEAST, LEAST_SHARE * roles.total())
    return word not in _NO_VERBS and not word.endswith("ing") and often and roles["other"] <= roles["verb"] / 5


def finite(words: Sequence[str], verbs: Collection[str]) -> list[int]:
    """Return the places of a sentence's finite verbs; a verb behind an auxiliary one belongs to that."""
    found: list[int] = []
    for place, word in enumerate(words):
        if word in verbs or ("'" in word and (word.startswith(_CONTRACTED) or word.endswith("n't"))):
            start = place
            while start and words[start - 1] in _BETWEEN:
                start -= 1
            modal = start > 0 and (words[start - 1] in _MODALS or words[start - 1].endswith("n't"))
            if not modal and not (place and words[place - 1] == "to"):
                found.append(place)
    if words[0] in SUBJECTS and len(words) > 1 and not words[1].startswith("'"):
        # Whatever stands behind a pronoun that begins a sentence is its verb.
        first = next((place for place in range(1, len(words)) if words[place] not in _BETWEEN), 0)
        found = sorted({*found, first} - {0})
    return found


def faults(tokens: Sequence[str], verbs: Collection[str]) -> int:
    """Return how many faults a sentence has: no verb, clauses that nothing joins, numbers that disagree, repetition.

    Args:
        tokens: with joiners and placeholders.
        verbs: finite verbs, in lower case.
    """
    words = [strip_joiner(token) for token in tokens]
    at = finite(words, verbs)
    # "Whether it has ports" is no main clause.
    before = dict(zip(at, (0, *at), strict=False))
    main = [
        place
        for place in at
        if not place
        # "Where would you like to go?"
        or (place == 1 and words[0] in RELATIVES and not SUBJECTS.isdisjoint(words[2:3]))
        or (words[place - 1] not in RELATIVES | COORDINATING and "whether" not in words[before[place] : place])
    ]
    # "Just ring if you have questions" has a verb of its own that is no finite one.
    named = words[0] in PREPOSITIONS | ARTICLES or is_placeholder(words[0])
    opened = words[0] in _SUBORDINATING
    needed = 1 + (opened or (named and "if" in words)) + (opened and "if" in words[1:])
    joints = sum(map(_joins, words[1:], [*words[2:], ""])) + (words[0] in _SUBORDINATING)
    about = tuple(words[:2]) in _ABOUT
    verbless = len(main) < needed and not about
    found = 2 * (verbless or _headless(words) or _subjectless(words, at)) + 2 * max(0, len(at) - joints - 1 + about)
    # "Information for the price none."
    found += 2 * (verbless and "none" in words[-2:])
    found += 3 * sum(_disagree(words, before, place) for before, place in pairwise(at))
    found += 3 * (any(pair in _WRONG for pair in pairwise(words)) or _misfits(words, at) or _many_as_one(words, at))
    found += 2 * (_repeats(words) or dangles(words) or misasked(words)) + 2 * _unjoined(words, at)
    found += 2 * (_chained(words) + _or_not(words, verbs))
    unsaid = any(words[place - 2] == "how" and words[place] not in AUXILIARIES for place in at if place > 1)
    return found + 2 * (mistold(words) or unsaid) + _glued(tokens) + _begins_joined(words) + _ends_open(words)


def _begins_joined(words: Sequence[str]) -> bool:
    """Whether a sentence begins as a clause does that goes on: "and it is cheap", "so and you do not mind"."""
    return words[0] in COORDINATING or (words[0] == "so" and not COORDINATING.isdisjoint(words[1:2]))


def _ends_open(words: Sequence[str]) -> bool:
    """Whether a sentence's last word lacks its object: "you said that you liked"; within a sentence it is put in."""
    return objectless(words) >= len(words) - 1 > 0


def _chained(words: Sequence[str]) -> int:
    """Return how many unlike conditions too many "and" joins: "pubs near here and where dogs are and in town"."""
    joined = [word for before, word in pairwise(words) if before == "and"]
    return max(0, sum(word in _CONDITIONS or word.endswith("ing") for word in joined) - 1)


def _or_not(words: Sequence[str], verbs: Collection[str]) -> int:
    """Return how often a second denial lacks its verb: "hotels that do not allow dogs or not accept cards"."""
    runs = zip(words, words[1:], words[2:], strict=False)
    return sum((first, denied) == ("or", "not") and verb in verbs for first, denied, verb in runs)


def _unjoined(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a statement's last verb stands behind a comma, and no "and" comes: "it is in the south, has a garden"."""
    last = at[-1] if len(at) > 1 else 0
    joined = words[last - 1] != "," or COORDINATING & {*words[last:]} - {","}
    return not joined and not is_question(" ".join(words))


def _headless(words: Sequence[str]) -> bool:
    """Whether a sentence begins with the verb of a statement: "has 4 ports", "is in the south", "can be done"."""
    return (
        words[0] in THIRD
        or (words[0] in _MODALS and words[1:2] == ["be"])
        or (words[0] in _SINGULAR | _PLURAL and len(words) > 1 and words[1] in PREPOSITIONS)
    )


def _joins(word: str, more: str) -> bool:
    return word in JOINTS and (word, more) != ("sorry", "but")


def _subjectless(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a verb lacks a subject: "there is a pub and has good food", "near the station serves good food"."""
    start = next((place for place, word in enumerate(words) if word.partition("'")[0] in _OTHERS), None)
    if start is not None and (not at or start <= at[0] or start - 1 == at[0]):
        places = [place for place in at if words[place - 1] in COORDINATING and words[place] in _SINGULAR | THIRD]
        # "You will find it in the south and has a garden" has no subject for its garden; "it is near and has" has.
        own = [place for place, word in enumerate(words) if word in RELATIVES or (word == "it" and place + 1 in at)]
        return any(not any(start < each < place for each in own) for place in places)
    first = at[0] if at else 0
    return words[0] in PREPOSITIONS | {"located"} and words[first] in THIRD and "," not in words[:first]


def splices(tokens: Sequence[str]) -> int:
    """Return how many clauses of a sentence nothing but a comma joins: "it is a nice place, it is cheap"."""
    words = [strip_joiner(token) for token in tokens]
    if words[0] in _SUBORDINATING:
        return 0
    return sum(before == "," and word in _STARTS for before, word in pairwise(words))


def _disagree(words: Sequence[str], before: int, place: int) -> bool:
    """Whether two verbs that "and" joins differ in number: "hotels that do not allow dogs and has"."""
    if words[place - 1] not in COORDINATING:
        return False
    first, second = words[before], words[place]
    if SUBJECTS & {*words[place + 1 : place + 2]}:
        # A question: "it is small, and do you mind?".
        return False
    return (first in _SINGULAR and second in _PLURAL) or (first in _OF_MANY and second in _SINGULAR)


def _misfits(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a verb does not fit: "the area and the price is", "there are looking", "there is no pub and it is"."""
    first = at[0] if at else 0
    several = "and" in words[:first] and words[first] in _SINGULAR and words[0] not in PREPOSITIONS | _SUBORDINATING
    runs_of_three = [*zip(words, words[1:], words[2:], strict=False)]
    many = words[:2] == ["there", "are"] or not _NOTHING.isdisjoint(runs_of_three)
    return several or any(
        (before == "there" and word in _SINGULAR | _PLURAL and verb.endswith("ing"))
        # "The only trail in the south is that is open."
        or (before in _IS and word == "that" and verb in _IS)
        or (many and (before, word) == ("and", "it"))
        for before, word, verb in runs_of_three
    )


def _many_as_one(words: Sequence[str], at: Sequence[int]) -> bool:
    """Whether a clause about several things has a verb for one: "games that was released", "pubs that stay and is"."""
    for place in at:
        if words[place] in _SINGULAR | THIRD and words[place - 1] in RELATIVES | COORDINATING - {","}:
            start = next((n for n in range(place - 1, 0, -1) if words[n] in RELATIVES), 0)
            many = start and (_plural(words[start - 1]) or _many_before(words[:start]))
            if many and SUBJECTS.isdisjoint(words[start:place]):
                return True
    return False


def _many_before(words: Sequence[str]) -> bool:
    """Whether words end with several things and a little more: "games developed by SLOT_DEVELOPER".

    Of what there are, however much is told: "there are hotels in the SLOT_AREA area".
    """
    near = words if words[:2] == ["there", "are"] else words[-_NEAR:]
    return any(map(_plural, near)) and {"a", "an"}.isdisjoint(words)


def _plural(word: str) -> bool:
    """Whether a word is most likely several things, whose verb is a plural too."""
    long = len(word) >= _SHORTEST_PLURAL and word.isalpha()
    return word == PLURAL or (long and word[-1] == "s" and word[-2] not in "su")


def _repeats(words: Sequence[str]) -> bool:
    runs = list(_runs(words))
    if len(set(runs)) == len(runs):
        return False
    runs = [run for run in runs if not any(map(is_placeholder, run))]
    return len(set(runs)) < len(runs)


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    yield from zip(*(words[start:] for start in range(REPEATED)), strict=False)


def _glued(tokens: Sequence[str]) -> int:
    """Return how many placeholders have letters attached to them: "SLOT_PRICERANGEly" is good for few values."""
    return sum(
        (is_placeholder(token) and _attached(more, token.endswith(JOINER)))
        or (is_placeholder(more) and token.endswith(JOINER) and token.strip(JOINER).isalpha())
        for token, more in pairwise(tokens)
    )


def _attached(word: str, joined: bool) -> bool:  # noqa: FBT001  (private)
    """Whether a word is the end of the one before it; a plural's "-s" is made to fit its value."""
    return word != PLURAL and (joined or word[0] in JOINER + "-") and word.strip(JOINER + "-").isalpha()
