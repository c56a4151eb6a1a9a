"""Afterthoughts: statements behind a question that should be part of it: "do you mean the PC game? It is on Steam."."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dactnlg.text.grammar.agreement import plural
from dactnlg.text.grammar.clauses import PLURAL
from dactnlg.text.grammar.english import RELATIVES
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.mending import COMMA, end_of, trimmed
from dactnlg.text.questions import is_question
from dactnlg.text.sentences import PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import detokenize, plain, strip_joiner


def asked_in_one(tokens: Tokens, lexicon: Lexicon) -> Tokens:
    """Return a question with what stands behind it as a part of it: "do you mean the game for PC? It is on Steam.".

    Args:
        tokens: a text whose last question statements about "it" stand behind; other ones stay as they are.
        lexicon: of its corpus.
    """
    nouns = lexicon.things
    sentences = split_sentences(tokens)
    last = max((place for place, each in enumerate(sentences) if is_question(detokenize(each))), default=-1)
    more = [*filter(None, map(_predicate, sentences[last + 1 :]))]
    noun = _last_of(plain(sentences[last]), nouns) if more and last >= 0 else -1
    if noun < 0 or len(more) < len(sentences) - last - 1:
        return tokens
    question = sentences[last]
    words = plain(question)
    many = words[noun : noun + 2][-1] == PLURAL or words[noun] not in nouns
    # "... that you find so good" stays at the end.
    yours = (at for at in range(noun + 1, len(words)) if words[at] in RELATIVES and words[at + 1 : at + 2] == ["you"])
    stop = next(yours, end_of(words))
    head = trimmed(question[:stop])
    told = [(plural(verb) if many else verb, *rest) for verb, *rest in more]
    if not RELATIVES.isdisjoint(words[noun:stop]):
        told[0] = (("and",) if len(told) == 1 else (COMMA,)) + told[0]
    else:
        told[0] = ((COMMA, "which") if strip_joiner(head[-1]) == lexicon.subject else ("that",)) + told[0]
    joints = [(), *[(COMMA,)] * (len(told) - 2), ("and",)]
    made = (token for joint, each in zip(joints, told, strict=False) for token in (*joint, *each))
    return (*(token for each in sentences[:last] for token in each), *head, *made, *question[stop:])


def _predicate(sentence: Tokens) -> Tokens:
    """Return what a statement says of "it"; nothing where it is about something else."""
    words, rest = plain(sentence), sentence[1 : end_of(plain(sentence))]
    if words[0] == f"{PRONOUN}'s":
        return ("is", *rest)
    return rest if words[0] == PRONOUN else ()


def _last_of(words: Sequence[str], nouns: Collection[str]) -> int:
    """Return the last place of one of some nouns, or of their plurals, -1 for none."""
    return max((at for at, word in enumerate(words) if word in nouns or word.removesuffix("s") in nouns), default=-1)
