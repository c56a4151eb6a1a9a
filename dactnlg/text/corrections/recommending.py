"""Recommending: praising what a text only describes, "is a nice pub", and suggesting what it says is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dactnlg.text.corrections.phrasing import trimmed
from dactnlg.text.grammar.english import BEING, INDEFINITE, PRAISE, PREPOSITIONS, RELATIVES, SUBJECTS
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiners

_WISHES = (("you", "are", "looking", "for"), ("you", "want"), ("you", "do", "not", "care"))
"""How statements begin that say what a user wants, the last one garbled: "you do not care something in SLOT_A"."""
_TRY, _SOMETHING = ("you", "could", "try"), (["something"], ["a"], ["an"])
_LONGEST = 4
"""The most words of a kind of thing, with its article: "a big cheap pub"."""


def praised(tokens: Tokens, lexicon: Lexicon, praise: str) -> Tokens:
    """Praise the things that a text describes: "SLOT_NAME is a cheap pub" becomes "is a nice cheap pub".

    Args:
        tokens: delexicalised.
        lexicon: of its corpus.
        praise: an adjective.
    """
    places = [*descriptions(strip_joiners(tokens), lexicon)]
    for place in reversed(places):
        tokens = (*tokens[:place], "a", praise, *tokens[place + 1 :])
    return tokens if places else _praised_named(tokens, lexicon, praise)


def suggested(tokens: Tokens) -> Tokens:
    """Suggest what a text says that the user wants: "you are looking for something here" gets "you could try".

    And what it only mentions: "something here and is cheap" becomes "you could try something here that is cheap".
    """
    words = strip_joiners(tokens)
    if words[:1] == _SOMETHING[0]:
        return (*_TRY, *_that_is(tokens))
    wish = next((wish for wish in _WISHES if tuple(words[: len(wish)]) == wish), ())
    return (*_TRY, *tokens[len(wish) :]) if wish and words[len(wish) : len(wish) + 1] in _SOMETHING else tokens


def _that_is(tokens: Tokens) -> Tokens:
    """Make the verb of a sentence that of a relative clause: "something here is cheap" gets "that is cheap"."""
    words = strip_joiners(tokens)
    verb = next((at for at, word in enumerate(words) if word in BEING), 0)
    relative = not verb or not RELATIVES.isdisjoint(words[:verb]) or not SUBJECTS.isdisjoint(words[:verb])
    return tokens if relative else (*trimmed(tokens[:verb]), "that", *tokens[verb:])


def _praised_named(tokens: Tokens, lexicon: Lexicon, praise: str) -> Tokens:
    """Praise named things: "the SLOT_NAME pub has beer and is cheap" becomes "SLOT_NAME is a nice pub that has ..."."""
    words, kinds = strip_joiners(tokens), lexicon.plurals | lexicon.things
    for place in range(len(words) - 3, 0, -1):
        name, kind, verb, behind = words[place - 1 : place + 3]
        if name == lexicon.subject and kind in kinds and verb in lexicon.verbs:
            placed = verb == "is" and behind in PREPOSITIONS
            rest = tokens[place + 2 :] if placed else ("that", *tokens[place + 1 :])
            tokens = (*tokens[:place], "is", "a", praise, tokens[place], *rest)
    return tokens


def descriptions(words: Sequence[str], lexicon: Lexicon) -> Iterator[int]:
    """Yield the indices of the articles of what things are said to be, "is a cheap pub"; not "is a nice pub"."""
    kinds = lexicon.plurals | lexicon.things
    for place in range(1, len(words) - 1):
        if words[place - 1] == "is" and words[place] in INDEFINITE:
            phrase = words[place : place + _LONGEST + 1]
            end = next((at for at, word in enumerate(phrase) if word in kinds), len(phrase))
            other = any(word in lexicon.verbs or word in PRAISE for word in phrase[:end])
            if end < len(phrase) and not other:
                yield place
