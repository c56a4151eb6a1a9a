"""Kinds: sentences about all things of a kind: "speaking of pubs", "do you like cheap pubs?", "have you tried any?"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from dactnlg.text.corrections.agreement import agreeing, plural
from dactnlg.text.corrections.phrasing import trimmed
from dactnlg.text.grammar.english import (
    COORDINATING,
    FUNCTION_WORDS,
    INDEFINITE,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    VERBS,
)
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.plurals import MANY, pluralized
from dactnlg.text.sentences import PRONOUN, Tokens, is_asking
from dactnlg.text.surface import strip_joiners

_LIKING = frozenset({"like", "love", "enjoy"})
_BEFORE_ONE = FUNCTION_WORDS | {"another", "one"}
"""Words that no noun for things in general has before it: "I like this pub", "would you like to try a pub?"."""
_BEHIND = PREPOSITIONS | RELATIVES | COORDINATING | VERBS | {"if"}
"""Words after such a noun; others continue it: "pub food"."""


def spoken_of(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Relate a verb to what an opening mentions: "speaking of pubs in the south and has beer, ..." gets "that have"."""
    words = strip_joiners(sentence)
    if words[:2] != ["speaking", "of"]:
        return sentence
    pairs = enumerate(pairwise(words))
    joint = next((at for at, (word, verb) in pairs if word == "and" and verb in verbs and plural(verb) != verb), 0)
    if not joint or not SUBJECTS.isdisjoint(words[:joint]):
        return sentence
    related = not RELATIVES.isdisjoint(words[:joint])
    told = agreeing(sentence[joint:], verbs, MANY)
    return (*trimmed(sentence[:joint]), "and" if related else "that", *told[1:])


def liked(sentence: Tokens, lexicon: Lexicon) -> Tokens:
    """Use the plural for what is liked in general: "do you like SLOT_SIZE pub that has beer?"; not "like a pub"."""
    words = strip_joiners(sentence)
    for place, word in enumerate(words):
        things = (at for at in range(place + 1, len(words)) if words[at] in lexicon.things)
        noun = next(things, 0) if word in _LIKING else 0
        behind, rest = words[place + 1 : noun], sentence[noun + 1 :]
        follows = [*words[noun + 1 :], ""][0]
        ends = follows in _BEHIND or not follows.isalpha() or follows.endswith("ed")
        if behind and ends and _BEFORE_ONE.isdisjoint(behind) and not any(each in lexicon.verbs for each in behind):
            rest = agreeing(rest, lexicon.verbs, MANY) if rest else ()
            return (*sentence[:noun], pluralized(words[noun]), *rest)
    return sentence


def told_of_kinds(sentence: Tokens, kinds: Collection[str], verbs: Collection[str]) -> Tokens:
    """Return a sentence with "they" for things of a kind: "I like pubs in the south, but it is not cheap".

    With "that" instead of "and it": "I like pubs in the south and it is cheap" becomes "... that are cheap".

    Args:
        sentence: in English, without the name of a thing.
        kinds: plural nouns for things.
        verbs: finite verbs.
    """
    words = strip_joiners(sentence)
    place = next((at for at in range(2, len(words) - 1) if words[at] == PRONOUN and words[at - 1] in COORDINATING), 0)
    # "... and it is a cheap one" speaks of one; a question may get "that are cheap" instead.
    one = words[place + 1 : place + 2] == ["is"] and not INDEFINITE.isdisjoint(words[place + 2 : place + 3])
    kind = next((at for at in range(place) if words[at] in kinds), place)
    if kind == place or one or is_asking(sentence):
        return sentence
    told = agreeing(sentence[place:], verbs, MANY)
    related = words[place - 1] == "and" and RELATIVES.isdisjoint(words[kind:place])
    return (*trimmed(sentence[:place]), "that", *told[1:]) if related else (*sentence[:place], *told)


def referring(sentences: Sequence[Tokens], lexicon: Lexicon) -> Sequence[Tokens]:
    """Replace "it" where a text mentions only several things: "speaking of pubs, have you tried it?" gets "any"."""
    words = [word for sentence in sentences for word in strip_joiners(sentence)]
    kinds = {pluralized(thing) for thing in lexicon.things}
    named = next((word for word in words if word in lexicon.things | kinds), "")
    if lexicon.subject in words or named not in kinds or words.count(PRONOUN) != 1:
        return sentences
    return [(*own[:-2], "any", own[-1]) if _ends_with_it(strip_joiners(own)) else own for own in sentences]


def _ends_with_it(words: Sequence[str]) -> bool:
    """Whether a question ends with "it", but not "the number for it"."""
    return words[-2:] == [PRONOUN, "?"] and PREPOSITIONS.isdisjoint(words[-3:-2])
