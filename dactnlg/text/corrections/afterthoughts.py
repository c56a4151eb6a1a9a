"""Afterthoughts: statements after a question that should be part of it: "do you mean the PC game? It is on Steam."."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dactnlg.text.corrections.agreement import agreeing, plural
from dactnlg.text.corrections.phrasing import COMMA, end_of, trimmed
from dactnlg.text.grammar.english import INDEFINITE, PREPOSITIONS, RELATIVES
from dactnlg.text.grammar.lexicon import PLURAL, Lexicon
from dactnlg.text.grammar.plurals import MANY, pluralized, singular
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import detokenize, strip_joiner, strip_joiners

_SOMETHING = "something"
"""What is asked about without a name for it: "do you want something in the cheap price range?"."""


def asked_in_one(tokens: Tokens, lexicon: Lexicon) -> Tokens:
    """Return a question with the statements after it made part of it: "do you mean the game for PC? It is on Steam.".

    Args:
        tokens: a text; unchanged unless its last question is followed only by statements about "it".
        lexicon: of its corpus.
    """
    sentences = split_sentences(tokens)
    told = [_predicate(each) for each in sentences]
    asked = [not own and is_question(detokenize(each)) for own, each in zip(told, sentences, strict=True)]
    last = max((place for place, each in enumerate(asked) if each), default=-1)
    if last < 0 or not all(told[last + 1 :]) or _exemplified(strip_joiners(sentences[last]), lexicon.subject):
        return tokens
    question, inside = _apart(sentences[last], lexicon)
    more = [*dict.fromkeys([*inside, *told[last + 1 :]])]
    noun = _last_of(strip_joiners(question), lexicon)
    if noun < 0:
        return tokens
    whole = _joined(question, noun, more, lexicon) if more else question
    if _is_plural(strip_joiners(question), noun, lexicon):
        whole = (*whole[:noun], *agreeing(whole[noun:], lexicon.verbs, MANY))
    return (*(token for each in sentences[:last] for token in each), *whole)


def _exemplified(words: Sequence[str], subject: str) -> bool:
    """Whether a question names an example, of which more can be told: "do you like games such as SLOT_NAME?"."""
    return any(before in ("as", "like") and word == subject for before, word in pairwise(words))


def _joined(question: Tokens, noun: int, more: Sequence[Tokens], lexicon: Lexicon) -> Tokens:
    """Return a question with more predicates attached to one of its nouns."""
    words = strip_joiners(question)
    many = _is_plural(words, noun, lexicon)
    told = [_of_many(each, lexicon) if many else each for each in more]
    told = [("that", *each) if each[0] == "you" else each for each in told]
    # "... that you find so good" stays at the end, but "that you can play on Steam and that you can play on Mac".
    yours = (at for at in range(noun + 1, len(words)) if words[at] in RELATIVES and words[at + 1 : at + 2] == ["you"])
    last = next(yours, end_of(words))
    stop = end_of(words) if any(each[0] == "that" for each in told) else last
    head = trimmed(question[:stop])
    if not RELATIVES.isdisjoint(words[noun:stop]):
        told[0] = (("and",) if len(told) == 1 else (COMMA,)) + told[0]
    elif told[0][0] != "that":
        told[0] = ((COMMA, "which") if strip_joiner(head[-1]) == lexicon.subject else ("that",)) + told[0]
    joints = [(), *[(COMMA,)] * (len(told) - 2), ("and",)]
    made = (token for joint, each in zip(joints, told, strict=False) for token in (*joint, *each))
    return (*head, *made, *question[stop:])


def _predicate(sentence: Tokens) -> Tokens:
    """Return what a statement says about "it"; empty if it is about something else."""
    words = strip_joiners(sentence)
    rest = sentence[1 : end_of(words)] if words else ()
    if words[:2] == ["you", "can"] and not (PREPOSITIONS | {PRONOUN}).isdisjoint(words[3:4]):
        # "You can play it on Mac", but not "you can call SLOT_PHONE".
        return ("you", *(token for token, word in zip(rest, words[1:], strict=False) if word != PRONOUN))
    if words[:1] == [f"{PRONOUN}'s"]:
        return ("is", *rest)
    return rest if words[:1] == [PRONOUN] else ()


def _apart(question: Tokens, lexicon: Lexicon) -> tuple[Tokens, list[Tokens]]:
    """Split a question from the statements about "it" at its end: "do you like games, and it is new?"."""
    words, found = strip_joiners(question), list[Tokens]()
    noun, stop = _last_of(words, lexicon), end_of(words)
    for at in range(stop - 3, noun, -1) if noun >= 0 else ():
        own = _predicate(question[at + 1 : stop])
        if words[at] in ("and", "but") and own and strip_joiner(own[0]) in lexicon.verbs:
            found.insert(0, own)
            stop = at
    return (*trimmed(question[:stop]), *question[end_of(words) :]) if found else question, found


def _of_many(predicate: Tokens, lexicon: Lexicon) -> Tokens:
    """Return a predicate in the plural: "are old games" for "is an old game"."""
    verb, *rest = predicate
    if strip_joiners(rest[:1]) and strip_joiners(rest[:1])[0] in INDEFINITE:
        noun = next((at for at, word in enumerate(rest) if word in lexicon.things), 0)
        if noun:
            rest = [*rest[1:noun], pluralized(rest[noun]), *rest[noun + 1 :]]
    return (plural(verb), *rest)


def _is_thing(word: str, lexicon: Lexicon) -> bool:
    return word == _SOMETHING or word in lexicon.things or singular(word, lexicon.things) in lexicon.things


def _is_plural(words: Sequence[str], noun: int, lexicon: Lexicon) -> bool:
    return words[noun : noun + 2][-1] == PLURAL or words[noun] not in lexicon.things | {lexicon.subject, _SOMETHING}


def _last_of(words: Sequence[str], lexicon: Lexicon) -> int:
    """Return the last index of a noun for what the corpus is about, or of a name that ends the question; -1 if none."""
    noun = max((at for at, word in enumerate(words) if _is_thing(word, lexicon)), default=-1)
    end = end_of(words) - 1
    return end if noun < 0 and lexicon.subject and words[end] == lexicon.subject else noun
