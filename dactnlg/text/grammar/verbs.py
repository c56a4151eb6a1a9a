"""Verbs: which words of training are finite verbs of English, and where they occur in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from dactnlg.text.grammar.english import (
    ADVERBS,
    ARTICLES,
    AUXILIARIES,
    CAUSING,
    COORDINATING,
    JOINTS,
    PERSONS,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVES,
    SUBJECTS,
    VERBS,
    listed,
)
from dactnlg.text.grammar.lexicon import PLURAL

LEAST, LEAST_SHARE = 3, 0.2
"""How often a verb must follow a pronoun, and the least share of its occurrences that do."""
_ROLES = {
    "verb": SUBJECTS | RELATIVES,
    "other": listed("is are was were am be been being has have had it's they're i'm i've you're you've we've a an the"),
}
_NO_VERBS = (
    SUBJECTS
    | JOINTS
    | ADVERBS
    | frozenset({"a", "an", "the", "not", "this", "he", "she", "to", "in", "your", "my", "of", "with", "up", "for"})
    | listed("about either even one right well questions please familiar easy hungry")
)
MODALS = listed("do does did can could will would should may might must let have has had n't")
_CONTRACTED = tuple(f"{subject}'" for subject in (*sorted(SUBJECTS), "that", "what", "who", "he", "she"))
_CONTRACTED_MODALS = ("'ll", "'d", "'ve")
_ASKING = frozenset({"do", "does", "did"})
_IN_GENERAL = ("in", "general")
_NO_NOUN = JOINTS | PREPOSITIONS | SUBJECTS | AUXILIARIES | COORDINATING | ADVERBS
"""Words after which no contact clause about a thing begins."""
_BEFORE_NOUNS = PREPOSITIONS | ARTICLES | listed("your my our their its this")
_INDIFFERENT = listed("care mind matter")
_NEAR = 4
"""How many words after a clause's subject may contain its verb."""


def learned_verbs(pairs: Mapping[tuple[str, str], int], subject: str = "") -> frozenset[str]:
    """Return the finite verbs of English, as far as the counts of neighbouring words reveal them.

    A verb often follows a pronoun or a name. It seldom follows an auxiliary, as participles and adverbs do, or an
    article, and seldom precedes a plural ending: "where child -s are allowed".

    Args:
        pairs: counts of word pairs in training, in lower case.
        subject: the placeholder that names what its texts are about.
    """
    counts: dict[str, Counter[str]] = {}
    for (before, word), count in pairs.items():
        named = bool(subject) and before == subject and word.endswith("s")
        role = "verb" if named else next((name for name, words in _ROLES.items() if before in words), "")
        counts.setdefault(word, Counter())[role] += count
        if word == PLURAL:
            counts.setdefault(before, Counter())["other"] += count
    return VERBS.union(word for word, roles in counts.items() if word.isalpha() and _is_verb(word, roles))


def _is_verb(word: str, roles: Counter[str]) -> bool:
    often = roles["verb"] >= max(LEAST, LEAST_SHARE * roles.total())
    formed = word not in _NO_VERBS and not word.endswith(("ing", "ly"))
    return formed and often and roles["other"] <= roles["verb"] / 5


def finite(words: Sequence[str], verbs: Collection[str]) -> list[int]:
    """Return the indices of a sentence's finite verbs; a verb after an auxiliary belongs to that."""
    found = list[int]()
    for place, word in enumerate(words):
        if (word in verbs or _is_contracted(word)) and not _other(words, place) and not _belongs(words, place):
            # "Does a pub need a garden?" has one verb.
            asked = found and words[found[-1]] in _ASKING and (not found[-1] or words[found[-1] - 1] in QUESTION_WORDS)
            if not (asked and word not in AUXILIARIES and JOINTS.isdisjoint(words[found[-1] : place])):
                found.append(place)
    if words[0] in SUBJECTS - {"there"} and len(words) > 1 and not words[1].startswith("'"):
        # Whatever follows a pronoun that begins a sentence is its verb.
        more = (place for place in range(1, len(words)) if words[place] not in SUBJECTS and not _aside(words[place]))
        first = next(more, 0)
        found = sorted({*found, first} - {0})
    return found


def _is_contracted(word: str) -> bool:
    return "'" in word and (word.startswith(_CONTRACTED) or word.endswith("n't"))


def _aside(word: str) -> bool:
    """Whether a word may come between a verb and its complement: "do you usually like", "it really has"."""
    return word in ADVERBS or word.endswith("ly")


def _other(words: Sequence[str], place: int) -> bool:
    """Whether a possible verb is not a verb there: "SLOT_NAME 's garden", "pubs like SLOT_NAME"."""
    before, after = words[place - 1] if place else "", words[place + 1] if place + 1 < len(words) else ""
    if words[place] == "'s":
        return after not in ARTICLES | PREPOSITIONS | ADVERBS and not after.endswith(("ed", "ing"))
    if words[place] == "like":
        return before not in SUBJECTS and not _aside(before)
    # "It fits your needs", "what do you have in mind?"
    return before in _BEFORE_NOUNS and words[place] not in AUXILIARIES


def _belongs(words: Sequence[str], place: int) -> bool:
    """Whether a verb is part of another one: "do you usually like", "you would have", "want to see"."""
    start = place
    while start and (words[start - 1] in SUBJECTS or _aside(words[start - 1])):
        start -= 1
    if tuple(words[max(0, start - 2) : start]) == _IN_GENERAL:
        # "Do you in general like": skip both words, and the subject before them.
        start -= 3
    before = words[start - 1] if start > 0 else ""
    modal = before in MODALS or before.endswith(("n't", *_CONTRACTED_MODALS))
    # "What makes you like it?"
    modal |= before in CAUSING and start < place
    return modal or words[place - 1 : place] == ["to"]


def contacts(words: Sequence[str], verbs: Collection[str]) -> list[int]:
    """Return the indices of contact clauses, those without "that": "the games you like", "any food they offer"."""
    return [place for place in range(1, len(words) - 1) if _begins_contact(words, place, verbs)]


def _begins_contact(words: Sequence[str], place: int, verbs: Collection[str]) -> bool:
    subject, before = words[place].partition("'")[0], words[place - 1]
    if subject not in PERSONS or before in _NO_NOUN or before in verbs or before.endswith("n't"):
        return False
    verb = words[place] if "'" in words[place] else next((word for word in words[place + 1 :] if not _aside(word)), "")
    # "There are pubs you do not care about the price."
    return (verb in verbs or "'" in verb) and _INDIFFERENT.isdisjoint(words[place + 1 : place + _NEAR])
