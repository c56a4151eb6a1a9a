"""Asking and telling: ill-formed questions, unfinished sentences, and ill-formed statements."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    CAUSING,
    JOINTS,
    PREPOSITIONS,
    QUESTION_WORDS,
    SUBJECTS,
    listed,
)
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.values.plurals import is_plural

_STATING = frozenset({"it", "it's", "they", "they're", "there"})
"""Subjects that begin no question."""
_NEVER_LAST = ARTICLES | {"and", "or", "but", "while", "although"}
_UNFINISHED = PREPOSITIONS - {"near"} | _NEVER_LAST | listed("of about its their is are does can care located")
_WANTING = frozenset({"like", "rather", "prefer", "have", "want"})
"""Words that end a question only if it asks "what"."""
_THINKING = listed("think thought said guess")
_LIKING = listed("liked loved hated enjoyed disliked found dislike hate")
_LIKING_IT = listed("liking disliking loving hating enjoying")
_FINDING = {(verb, more) for verb in ("find", "found") for more in ("so", "to")}
"""Verbs with what follows their object: "you find it so amazing"."""
_SAYING = listed("said say mentioned told earlier before know think")
"""Words after which "that" begins what is said, known or thought."""
_LIKE = listed("like love enjoy recommend")
"""Verbs that need an object."""
_OPEN_ENDED = listed("would could can do does will are you it like rather prefer to be instead")
"""Words that by themselves make no alternative."""
_BEFORE_CLAUSES = JOINTS | AUXILIARIES | CAUSING | _SAYING
"""Words after which a new clause begins, and not a relative clause of the preceding noun."""
_TELLING = listed("me know knows tell say said sure")
_ASKING = listed("do does did can could will would should may might must is are")
_FINITE = listed("is are was were am do does did can could will would should may might must has")
_OPENING = listed("sorry ok okay so well and or but then , what which where when who how why")
_NOT, _CARING = frozenset({"not", "n't", "don't", "dont"}), listed("you you're they who i'm")
_NEAR = 4
"""How many words after a question word may contain its verb."""


def misasked(words: Sequence[str]) -> bool:
    """Whether a question is ill-formed: "it is cheap?", "what is the food do you like?", "do you can get it?"."""
    pairs = set(pairwise(words))
    doubled = words[0] in QUESTION_WORDS and words[1:2] in (["is"], ["are"]) and JOINTS.isdisjoint(words)
    stated = words[0] in _STATING and words[-1] == "?" and not any(a in _ASKING and b in SUBJECTS for a, b in pairs)
    # "Speaking of games from 2007?"
    unasked = words[0].endswith("ing") and words[-1] == "?" and "," not in words
    thought = not pairs.isdisjoint(("think", verb) for verb in ("do", "does", "did"))
    # "Why do you think these pubs?"
    thought |= (
        words[0] == "why"
        and ("you", "think") in pairs
        and not any(word in _FINITE for word in words[words.index("think") :])
    )
    # "Have a garden or not?"
    unasked |= words[0] == "have" and words[1:2] in (["a"], ["an"]) and "or" in words
    if stated or unasked or thought or (doubled and ("do", "you") in pairs):
        return True
    start = next((place for place, word in enumerate(words) if word not in _OPENING), 0)
    asked = words[start : start + 3]
    if len(asked) < 3 or asked[0] not in _ASKING or asked[1] not in SUBJECTS:
        return False
    # "Where would you like to SLOT_NEAR?"
    nowhere = any(
        pair == ("like", "to") and is_placeholder(more) for pair, more in zip(pairwise(words), words[2:], strict=False)
    )
    if nowhere or (not pairs.isdisjoint(("for", more) for more in ("in", "near")) and QUESTION_WORDS.isdisjoint(words)):
        return True
    if words[start + 2 : start + 4] == ["in", "general"]:
        return False
    # "Can I do anything for you?"
    finite_again = (asked[2] in _FINITE and (asked[0], asked[2]) != ("can", "do")) or asked[2].endswith("n't")
    return finite_again or (asked[0] not in {"is", "are"} and asked[2] in PREPOSITIONS | {"about"})


def mistold(words: Sequence[str]) -> bool:
    """Whether a statement is ill-formed: "nobody knows how long would you like to walk", "i can tell you that are".

    Or contradicts its own denial: "it is not on Steam, but not on Linux".
    """
    if "tell" in words:
        runs = zip(words, words[1:], words[2:], words[3:], strict=False)
        if any(run[:3] == ("tell", "you", "that") and run[3] in _FINITE for run in runs):
            return True
    places = [place for place in range(1, len(words)) if words[place] in QUESTION_WORDS]
    told = [words[place + 1 : place + _NEAR + 1] for place in places if words[place - 1] in _TELLING]
    inverted = any(a in _ASKING and b in SUBJECTS for each in told for a, b in pairwise(each))
    # "You do not care where is the hotel."
    inverted |= any(
        words[place - 1] == "care" and words[place + 1 : place + 2] in (["is"], ["are"]) for place in places
    )
    # "Laptops that are good for business and do not care about the family."
    at = next((place for place, pair in enumerate(pairwise(words)) if pair[1] == "care" and pair[0] in _NOT), 0)
    careless = at > 0 and _CARING.isdisjoint(words[:at]) and words[at + 2 : at + 3] != ["for"]
    but = words.index("but") if "but" in words else 0
    denied_twice = words[but + 1 : but + 2] == ["not"] and "not" in words[:but]
    return (inverted and not is_question(" ".join(words))) or careless or denied_twice


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
    open_ended |= bool(tail) and _OPEN_ENDED.issuperset(tail)
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
    return wanting or open_ended or thinking or cut or unfinished
