"""Dangling: sentences that end without what their last word requires."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dactnlg.text.grammar.english import ARTICLES, AUXILIARIES, PREPOSITIONS, QUESTION_WORDS, SUBJECTS, listed
from dactnlg.text.grammar.plurals import is_plural
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question

_NEVER_LAST = ARTICLES | {"and", "or", "but", "while", "although"}
_UNFINISHED = PREPOSITIONS - {"near"} | _NEVER_LAST | listed("of about its their is are does can care located")
_WANTING = frozenset({"like", "rather", "prefer", "have", "want"})
"""Words that end a question only if it asks "what"."""
_THINKING = listed("think thought said guess")
OPEN_ENDED = listed("would could can do does will are you it like rather prefer to be instead")
"""Words that by themselves make no alternative."""
_WHAT_ABOUT = ("what", "is", "it", "about")
_USER, _OBJECTS = frozenset({"you", "your"}), frozenset({"it", "them"})
_NEAR = 4
"""How many words a question may begin with before "find"."""
_RATING = listed("so to not very too just merely")
"""Words before what somebody finds a thing to be."""
_ASKING = listed("do does did can could will would should may might must is are")


def dangles(words: Sequence[str], *, related: bool = False) -> bool:
    """Whether a sentence ends without what its last word requires: "it is good for", "is it cheap or?".

    Args:
        words: of the sentence.
        related: whether it has a contact clause, which may end like this: "the pub you are looking for".
    """
    own = [word for word in words if word.isalnum() or is_placeholder(word)]
    joint, before, last = ["", "", "", *own][-3:]
    # Questions may end with prepositions and verbs: "what are you looking for?".
    never, asking = last in _NEVER_LAST or before in _NEVER_LAST, is_question(" ".join(words))
    open_ended = last in _WANTING or before == "rather" or (joint == "or" and before in _ASKING)
    # "Walk 8 km, or would you like to?"
    tail = own[len(own) - own[::-1].index("or") :] if "or" in own else []
    open_ended |= bool(tail) and OPEN_ENDED.issuperset(tail)
    wanting = open_ended and asking and not related and QUESTION_WORDS.isdisjoint(words)
    # "I think."; but "it is good, i think".
    thinking = before in SUBJECTS and last in _THINKING and len(own) == 2
    # "Does it have to be, or would anything do?", "nobody knows the right season for how"
    cut = any(
        run[:2] == ("to", "be") and run[2] in (",", "or") for run in zip(words, words[1:], words[2:], strict=False)
    )
    cut |= last in QUESTION_WORDS and before in PREPOSITIONS
    # "Are you a fan of pubs that?"
    cut |= last == "that" and (is_plural(before) or is_placeholder(before))
    # "The pub that you are looking for", "it has no views to speak of"; but "a pub that is good for"
    named = related or any(a == "that" and b not in AUXILIARIES for a, b in pairwise(words))
    behind = last in PREPOSITIONS | {"of", "about"} and (named or (joint == "to" != before))
    whole = not QUESTION_WORDS.isdisjoint(words) or (behind and before != "be")
    # "Would you like it to be near?"
    open_ended = asking and last in _UNFINISHED | {"near"} and not whole
    unfinished = last in _UNFINISHED and (never or (not asking and not whole))
    return wanting or open_ended or thinking or cut or unfinished or _without_opinion(own)


def _without_opinion(words: Sequence[str]) -> bool:
    """Whether a question lacks the opinion that it asks about: "what is it about pubs that you can find in town?".

    But "that you like?", "that makes you find them dull?", "why do you find them so dull?".
    """
    for at in range(len(words) - 1):
        before, rest = tuple(words[max(0, at - 2) : at]), words[at + 2 :]
        if tuple(words[at : at + 4]) == _WHAT_ABOUT:
            told = pairwise([*words[at + 4 :], ""])
            if not any(word in _USER and more not in AUXILIARIES for word, more in told):
                return True
        if words[at] == "find" and tuple(words[:2]) == ("do", "you") and at < _NEAR and is_plural(words[-1]):
            # "Do you often find cheap pubs?"
            return True
        if tuple(words[at : at + 2]) == ("you", "find"):
            made, why = before[-1:] == ("makes",), before == ("why", "do")
            return (made and _OBJECTS.issuperset(rest)) or (why and _RATING.isdisjoint(rest))
    return False
