"""Phrasing: corrections of English that need no knowledge of verbs: objects, plurals, the order of conditions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
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
from dactnlg.text.grammar.lexicon import PLURALS
from dactnlg.text.grammar.plurals import is_plural, pluralized
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import TAGS
from dactnlg.text.sentences import ENDS, OWNER, PRONOUN, Tokens
from dactnlg.text.surface import JOINER, strip_joiner, strip_joiners

_CONDITIONS = PREPOSITIONS | listed("where good serving offering having")
"""Words that begin conditions: "near the park", "where dogs are allowed", "good for lunch"."""
COMMA, _WITH = f"{JOINER},", "with"
_NO_KIND = SUBJECTS | listed("the of my your our their its this that these those")
"""Words after "all" that name no kind of thing."""
_SUCH_A = ARTICLES | PREPOSITIONS | COORDINATING | listed("about any this certain specific particular what")
"""Words before a "number" of things."""
_SAYING = frozenset({"said", "say", "mentioned", "told"})
_IT_IS = f"{PRONOUN}'s"
_WHICH = frozenset({"what", "which"})
_NO_THING = PREPOSITIONS | RELATIVES | COORDINATING | QUESTION_WORDS | SUBJECTS
_NO_THING |= listed("about of if whether to either too much")
"""Words after "care" that are nothing one can care about."""
_BEHIND_NOUNS = frozenset({"of", "for", "to"})
"""Words after the noun of a subject: "the phone number of the pub is", "the number to ring is"."""
_PLACES = frozenset({"area", "range"})
"""Nouns for what things are in, rather than have."""


def rephrased(sentence: Tokens) -> Tokens:
    """Return a sentence with those faults corrected that its words show, and its clauses as most people put them."""
    return corrected(_pair(_number_of(_near_what(_where(_where_last(sentence))))))


@lru_cache(maxsize=1 << 12)
def corrected(sentence: Tokens) -> Tokens:
    """Return a sentence with those faults corrected that its words show.

    Not corrected is what the authors of some corpora always write: "where dogs are allowed and near here", "near to?".
    """
    for rule in _RULES:
        sentence = rule(sentence)
    return sentence


def end_of(words: Sequence[str]) -> int:
    """Return the index of a sentence's final mark, or of the ", right" before it."""
    end = len(words) - (words[-1] in ENDS)
    end -= words[end - 1] in TAGS
    return end - (words[end - 1] == ",")


def trimmed(tokens: Tokens) -> Tokens:
    """Return tokens without commas and "and" at their end."""
    end = len(tokens)
    while end and strip_joiner(tokens[end - 1]) in (",", "and"):
        end -= 1
    return tokens[:end]


def _with_object(sentence: Tokens) -> Tokens:
    """Insert the object that "find" lacks: "you found to be good" becomes "you found it to be good"."""
    words = strip_joiners(sentence)
    runs = enumerate(zip(words, words[1:], words[2:], strict=False), 2)
    place = next((at for at, run in runs if run[0] in PERSONS and run[1:] == ("found", "to")), 0)
    # "The pub that you found to be good"
    related = place > 3 and words[place - 3] == "that" and _SAYING.isdisjoint(words[max(0, place - 5) : place - 3])
    whole = related or not QUESTION_WORDS.isdisjoint(words)
    return (*sentence[:place], PRONOUN, *sentence[place:]) if place and not whole else sentence


def _asked_once(sentence: Tokens) -> Tokens:
    """Drop the second verb of a question: "what is the area do you prefer?" becomes "what area do you prefer?"."""
    words = strip_joiners(sentence)
    inverted = next((at for at, pair in enumerate(pairwise(words)) if pair == ("do", "you")), 0)
    doubled = words[:3] == ["what", "is", "the"] and JOINTS.isdisjoint(words[1:inverted])
    return (sentence[0], *sentence[3:]) if inverted > 3 and doubled else sentence


def _to_have(sentence: Tokens) -> Tokens:
    """Ask "what eco rating do you want it to have?" instead of "what eco rating do you want it to be?"."""
    words = strip_joiners(sentence)
    end = end_of(words)
    noun = next((at for at, word in enumerate(words) if at and word in AUXILIARIES), 0)
    # "What color do you want it to be?"
    if words[0] not in QUESTION_WORDS or noun < 3 or words[end - 2 : end] != ["to", "be"]:
        return sentence
    verb = ("be", "in") if words[noun - 1] in _PLACES else ("have",)
    return (*sentence[: end - 1], *verb, *sentence[end:])


def _caring_about(sentence: Tokens) -> Tokens:
    """Insert "about" after "care" where it is missing: "if you do not care the food", "do not care dogs"."""
    words = strip_joiners(sentence)
    for place, (before, word, more) in enumerate(zip(words, words[1:], words[2:], strict=False), 1):
        denied = before in ("not", "dont") or before.endswith("n't")
        if denied and word == "care" and more not in _NO_THING and (more.isalpha() or is_placeholder(more)):
            return (*sentence[: place + 1], "about", *sentence[place + 1 :])
        if denied and word == "care" and more in _WHICH and end_of(words) == place + 3:
            # "You do not care what food?" lacks its verb.
            return (*sentence[: place + 1], "about", "the", *sentence[place + 2 :])
    return sentence


def _where_last(sentence: Tokens) -> Tokens:
    """Move a "where" clause after other conditions: "a pub where dogs go, near here and in the south"."""
    words = strip_joiners(sentence)
    # "... if you do not care about the price" stays at the end.
    end = words.index("if", 1) if "if" in words[1:] else end_of(words)
    opened = (at for at in range(1, end) if words[at] in _CONDITIONS)
    # "... where dogs are allowed in SLOT_A"
    clause = (at for at in range(1, end) if words[at - 1].endswith("ed") and "where" in words[:at])
    more = next((at for at in clause if words[at] in _CONDITIONS), end)
    starts = [at for at in opened if words[at - 1] in (",", "and") or words[at] == "where" or at == more]
    where = [number for number, at in enumerate(starts) if words[at] == "where"]
    if len(where) != 1 or where[0] == len(starts) - 1 or words[0] in QUESTION_WORDS:
        return sentence
    items = [trimmed(sentence[a:b]) for a, b in pairwise([*starts, end])]
    # What is joined differently, "and it serves", is not a list of conditions.
    if any({"and", ",", PRONOUN}.intersection(strip_joiners(item)) for item in items):
        return sentence
    last, head = items.pop(where[0]), trimmed(sentence[: starts[0]])
    others = [token for item in items for token in (COMMA, *item)]
    # What followed without a joint still does.
    others = others if words[starts[0] - 1] in (",", "and") else others[1:]
    return (*head, *others, "and", *last, *sentence[end:])


def _where(sentence: Tokens) -> Tokens:
    """Drop "and" between a single condition and "where": "a pub near here and where dogs are allowed"."""
    words = strip_joiners(sentence)
    joint = next((at for at, pair in enumerate(pairwise(words)) if pair == ("and", "where")), 0)
    listed_before = not (RELATIVES | {",", "and", "or", "about"}).isdisjoint(words[:joint])
    return sentence if not joint or listed_before else (*sentence[:joint], *sentence[joint + 1 :])


def _of_several(sentence: Tokens) -> Tokens:
    """Use the plural for several values: "the phone number is SLOT_PHONE and SLOT_PHONE#2"."""
    words = strip_joiners(sentence)
    for place in range(1, len(words) - 3):
        first, joint, more = words[place + 1 : place + 4]
        listed_too = joint in ("and", ",") and more.startswith(f"{first}#")
        if words[place] == "is" and is_placeholder(first) and listed_too:
            start = next((at + 1 for at in range(place - 1, -1, -1) if words[at] in JOINTS), 0)
            noun = next((at for at in range(start, place) if words[at] in _BEHIND_NOUNS), place) - 1
            # "The closest I have is SLOT_A and SLOT_A#2" has no noun, nor has "the one called", "close to".
            is_noun = words[noun].isalpha() and words[noun - 1] not in SUBJECTS and not words[noun].endswith("ed")
            is_noun &= words[noun + 1] != "to" or words[noun - 1] in ARTICLES
            if noun > start and is_noun and not is_plural(words[noun]):
                return (
                    *sentence[:noun],
                    pluralized(words[noun]),
                    *sentence[noun + 1 : place],
                    "are",
                    *sentence[place + 1 :],
                )
    return sentence


def _with_once(sentence: Tokens) -> Tokens:
    """Replace a second "with" with "and": "a pub with a garden with a view"."""
    words = strip_joiners(sentence)
    first, second, *more = [*(at for at, word in enumerate(words) if word == _WITH), 0, 0][:3]
    between = words[first + 1 : second]
    # "With a price range of less than £20"
    more_than_one = not between or not (VERBS | _NO_THING - {"of"}).isdisjoint(between)
    if more_than_one or more[0] or between[0] not in ARTICLES or ARTICLES.isdisjoint(words[second + 1 : second + 2]):
        return sentence
    return (*sentence[:second], "and", *sentence[second + 1 :])


def _in_all(sentence: Tokens) -> Tokens:
    """Use the plural after "in all": "pubs in all price range" becomes "pubs in all price ranges"."""
    return _plural_after(sentence, ("in", "all"), 2)


def _number_of(sentence: Tokens) -> Tokens:
    """Use the plural after "number of": "any number of HDMI port"; not after "phone number of"."""
    words = strip_joiners(sentence)
    named = any(pair[1] == "number" and pair[0] not in _SUCH_A for pair in pairwise(("the", *words)))
    return sentence if named else _plural_after(sentence, ("number", "of"), 1)


def _plural_after(sentence: Tokens, opening: tuple[str, str], least: int) -> Tokens:
    """Use the plural for a noun phrase of at least so many words after two words."""
    words = strip_joiners(sentence)
    start = next((at for at, pair in enumerate(pairwise(words), 2) if pair == opening), len(words))
    ends = JOINTS | _CONDITIONS | AUXILIARIES | {"of"}
    end = next((at for at in range(start, len(words)) if words[at] in ends or not words[at].isalpha()), len(words))
    plural = end > start and (words[end - 1].endswith("s") or "".join(words[end : end + 1]) in PLURALS)
    if end - start < least or plural or words[start] in _NO_KIND:
        return sentence
    return (*sentence[: end - 1], pluralized(words[end - 1]), *sentence[end:])


def _pair(sentence: Tokens) -> Tokens:
    """Drop the comma between two things: "it is available on Steam, and Mac"."""
    words = strip_joiners(sentence)
    end = end_of(words)
    two = words[end - 3 : end - 1] == [",", "and"] and words[end - 5 : end - 4] and words[end - 5] in PREPOSITIONS
    return (*sentence[: end - 3], *sentence[end - 2 :]) if two and words.count(",") == 1 else sentence


def _near_what(sentence: Tokens) -> Tokens:
    """Ask "what would you like it to be near?" instead of "where would you like it to be near to?"."""
    words = strip_joiners(sentence)
    for place, (word, more, after) in enumerate(zip(words, words[1:], [*words[2:], "?"], strict=False), 1):
        if (word, more) == ("near", "to") and after in (*ENDS, *COORDINATING) and "where" in words[:place]:
            start = place - 1 - words[:place][::-1].index("where")
            return (*sentence[:start], "what", *sentence[start + 1 : place], *sentence[place + 1 :])
    return sentence


def _with_owner(sentence: Tokens) -> Tokens:
    """Use "its" before a noun that has a verb of its own: "it's price is 9 euros"."""
    words = strip_joiners(sentence)
    place = words.index(_IT_IS) if _IT_IS in words else len(words)
    verb = next((at for at in range(place + 2, len(words)) if words[at] in ("is", "are")), place)
    noun = all(
        word == "-" or (word.isalpha() and word not in JOINTS | PREPOSITIONS) for word in words[place + 1 : verb]
    )
    return (*sentence[:place], OWNER, *sentence[place + 1 :]) if place < verb and noun else sentence


_RULES = (
    _with_object,
    _asked_once,
    _to_have,
    _caring_about,
    _of_several,
    _in_all,
    _with_once,
    _with_owner,
)
