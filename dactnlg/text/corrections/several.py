"""Several values instead of one: "the L2 and L5 product families", "Nandos and Cote serve Thai food"."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.text.corrections.agreement import plural
from dactnlg.text.grammar.english import FUNCTION_WORDS, INDEFINITE, PREPOSITIONS, VERBS
from dactnlg.text.grammar.plurals import is_plural, pluralized
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiners

_THE = "the"
_NO_SUBJECT = PREPOSITIONS | {"of"}
"""Words before a value that show that it is not the subject of the next verb: "the phone number of SLOT_NAME is"."""


def made_plural(tokens: Tokens, first: int, last: int, slot_name: str) -> Tokens:
    """Return an English text whose words agree with several values joined by "and".

    Args:
        tokens: delexicalised.
        first: the index of the first value.
        last: the index of the last value.
        slot_name: of these values.
    """
    words = strip_joiners(tokens)
    before, behind = [word for word in words[:first] if word != _THE][-1:], words[last + 1 : last + 2]
    if behind and behind[0] in VERBS and _NO_SUBJECT.isdisjoint(before):
        verb = plural(behind[0])
        return (*tokens[: last + 1], verb, *_things(tokens[last + 2 :], verb))
    if (
        first > 2
        and words[first - 3] in INDEFINITE
        and words[first - 1] == "of"
        and names_slot(words[first - 2], slot_name)
    ):
        # "With a price of 300 and 400 dollars"
        return (*tokens[: first - 3], pluralized(words[first - 2]), *tokens[first - 1 :])
    noun = _last_noun(words, last + 1)
    # "The 40 inch and 32 inch television" is singular; "areas" of two do not become "areases" of three.
    named = words[first - 1 : first] == [_THE] and noun and names_slot(words[noun], slot_name)
    if named and not is_plural(words[noun]):
        return (*tokens[:noun], pluralized(words[noun]), *tokens[noun + 1 :])
    return tokens


def _things(rest: Tokens, verb: str) -> Tokens:
    """Return the words after a verb in the plural: "are a nice place" becomes "are nice places"."""
    words = strip_joiners(rest)
    noun = _last_noun(words, 1) if verb == "are" and words[:1] and words[0] in INDEFINITE else 0
    return (*rest[1:noun], pluralized(words[noun]), *rest[noun + 1 :]) if noun else rest


def _last_noun(words: Sequence[str], start: int) -> int:
    """Return the index of the noun that ends a phrase; 0 if there is none, or if it is a value.

    "Nice place in", "great pub serving", "cheap pub located in".
    """
    end = start
    while end < len(words) and words[end].isalpha() and words[end] not in FUNCTION_WORDS:
        if end > start and words[end].endswith("ing"):
            break
        end += 1
    else:
        if end < len(words) and is_placeholder(words[end]):
            return 0
    while end > start and words[end - 1].endswith("ed"):
        end -= 1
    return end - 1 if end > start else 0
