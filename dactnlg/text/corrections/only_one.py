"""The only one: correcting sentences about the only thing, or the only things, of a kind."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from dactnlg.text.corrections.agreement import agreeing
from dactnlg.text.corrections.phrasing import trimmed
from dactnlg.text.corrections.recommending import descriptions
from dactnlg.text.grammar.english import BEING, COORDINATING, JOINTS, PREPOSITIONS, RELATIVES, SUBJECTS, listed
from dactnlg.text.grammar.lexicon import PLURALS, Lexicon
from dactnlg.text.grammar.plurals import MANY, pluralized
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, PRONOUN, Tokens
from dactnlg.text.surface import JOINER, strip_joiners

_ARE_ONLY, _NUMBERS = ("are", "the", "only"), listed("two three four few")
_IS = [["is"], ["was"]]


def the_only_ones(sentence: Tokens, lexicon: Lexicon) -> Tokens:
    """Use the plural after "are the only": "SLOT_A and SLOT_A#2 are the only pub that allows dogs"."""
    words = strip_joiners(sentence)
    noun = next((n + 3 for n, run in enumerate(zip(words, words[1:], words[2:], strict=False)) if run == _ARE_ONLY), 0)
    ends = (at for at in range(noun, len(words)) if words[at] in JOINTS | PREPOSITIONS | SUBJECTS | {*ENDS})
    end = next(ends, len(words)) if noun else 0
    last = words[end - 1]
    name = is_placeholder(last) and last not in lexicon.plurals
    if end <= noun or name or last.endswith("s") or last in PLURALS or last in _NUMBERS:
        return sentence
    rest = agreeing(sentence[end:], lexicon.verbs, MANY) if words[end:] else ()
    several = (sentence[end - 1], f"{JOINER}s") if is_placeholder(last) else (pluralized(last),)
    return (*sentence[: end - 1], *several, *rest)


def the_only(tokens: Tokens, lexicon: Lexicon) -> Tokens:
    """Say of the first thing of a text that it is the only one: "SLOT_NAME is a cheap pub" says nothing of others."""
    words = strip_joiners(tokens)
    place = next(descriptions(words, lexicon), 0)
    if not place:
        return tokens
    only = ("only", "one") if words[max(0, place - 2)] == "there" else ("the", "only")
    return (*tokens[:place], *only, *tokens[place + 1 :])


def the_only_that(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Replace "and" with "that" after the only thing: "is the only pub in the south and allows dogs".

    "Is the only pub in the south that allows dogs": there may be others that do not. Not if "that" could refer to
    something that it has: "with a garden that allows dogs".
    """
    words = strip_joiners(sentence)
    start = _only_at(words)
    told = next((at for at in finite(words, verbs) if at > start), 0)
    if not told or words[told - 1] != "and":
        return sentence
    # "With a garden and is cheap": "is" cannot be about the garden.
    joined = (RELATIVES if words[told] in BEING else JOINTS | {"with"}).isdisjoint(words[start : told - 1])
    return (*trimmed(sentence[:told]), "that", *sentence[told:]) if joined else sentence


def so_in_all(sentences: Sequence[Tokens], verbs: Collection[str]) -> list[Tokens]:
    """Join a sentence about the only thing to the one that names it: "is the only pub here. It is cheap."

    "Is the only pub here that is cheap": there may be others that are not.
    """
    found = list[Tokens]()
    for sentence in sentences:
        words, before = strip_joiners(sentence), strip_joiners(found[-1]) if found else []
        start = _only_at(before)
        at = finite(words, verbs)
        shared = all(place == 1 or words[place - 1] in COORDINATING | RELATIVES for place in at)
        # Otherwise "that" could refer to something that it has: "with a garden that allows dogs".
        clear = "with" not in before[start:] or words[1:2] in _IS
        if start < len(before) and words[0] == PRONOUN and at[:1] == [1] and shared and clear:
            joint = "that" if RELATIVES.isdisjoint(before[start:]) else "and"
            sentence = (*found.pop()[: len(before) - (before[-1] in ENDS)], joint, *sentence[1:])
        elif start < len(before) and words[:2] == [PRONOUN, "has"] and at == [1] and _ends_with_one(before, verbs):
            # "Is the only pub with a garden. It has a view": "with a garden and a view".
            sentence = (*found.pop()[: len(before) - (before[-1] in ENDS)], "and", *sentence[2:])
        found.append(sentence)
    return found


def excepted(tokens: Tokens, names: Sequence[str]) -> Tokens:
    """Name the exceptions that a text only hints at: "there is no other pub here" gets "no other pub than SLOT_NAME".

    Args:
        tokens: delexicalised.
        names: the placeholders of the exceptions.
    """
    words = strip_joiners(tokens)
    place = next((at for at, pair in enumerate(pairwise(words)) if pair == ("no", "other")), len(words))
    ends = PREPOSITIONS | RELATIVES | {*ENDS, "serving"}
    end = next((at for at in range(place + 2, len(words)) if words[at] in ends), len(words))
    # "There is no other pub is that you want."
    before = end - (words[end - 1] == "is")
    than = [token for name in names for token in ("and", name)][1:] if end > place + 2 else []
    return (*tokens[:before], "than", *than, *tokens[end:]) if than else tokens


def _ends_with_one(words: Sequence[str], verbs: Collection[str]) -> bool:
    """Whether a sentence ends with "with" and a single thing: "the only pub with a garden"."""
    start = len(words) - words[::-1].index("with") if "with" in words else len(words)
    apart = PREPOSITIONS | COORDINATING | RELATIVES
    return start < len(words) and not any(word in apart or word in verbs for word in words[start:])


def _only_at(words: Sequence[str]) -> int:
    """Return the index of "only" in "is the only"; the number of words if there is none, or if they ask."""
    places = (at for at in range(2, len(words)) if words[at - 2 : at + 1] == ["is", "the", "only"])
    return next(places, len(words)) if words[-1:] != ["?"] else len(words)
