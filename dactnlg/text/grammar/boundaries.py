"""Boundaries: sentences of a composed text that lack a main clause are joined to the next, run-on ones are split."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from dactnlg.text.grammar.agreement import ALL, plural
from dactnlg.text.grammar.english import COORDINATING, RELATIVES
from dactnlg.text.grammar.indifference import is_condition
from dactnlg.text.grammar.phrasing import COMMA, trimmed
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.sentences import ENDS, PRONOUN, Tokens, is_asking
from dactnlg.text.surface import JOINER, plain

_THEM = ["it"], ["they"]


def divided_anew(sentences: Iterable[Tokens], verbs: Collection[str]) -> Iterator[Tokens]:
    """Yield the sentences of a text with their boundaries corrected.

    Args:
        sentences: of a text, delexicalised.
        verbs: finite verbs.
    """
    return _told_apart(_completed(sentences, verbs), verbs)


def _completed(sentences: Iterable[Tokens], verbs: Collection[str]) -> list[Tokens]:
    """Return sentences, joining those without a main clause to the following one.

    "If you do not care about the price. Do you want a garden?", "all pubs that are cheap. They have a garden."
    """
    found = list[Tokens]()
    for sentence in sentences:
        before, words = plain(found[-1]) if found else [], plain(sentence)
        open_ended = found[-1][: len(before) - (before[-1] in ENDS)] if before else ()
        if before and is_condition(found[-1], verbs):
            found[-1] = (*open_ended, COMMA, *_with_mark(sentence))
        elif before and _tells_which(before, verbs) and words[:1] in _THEM:
            verb = plural(words[1]) if before[0] == "all" else words[1]
            found[-1] = (*open_ended, verb, *sentence[2:])
        else:
            found.append(sentence)
    return found


def _with_mark(sentence: Tokens) -> Tokens:
    """Return a question with a question mark, which it needs after a condition; other sentences unchanged."""
    if not is_asking(sentence) or "?" in plain(sentence):
        return sentence
    return (*sentence[: len(sentence) - (plain(sentence)[-1] in ENDS)], f"{JOINER}?")


def _tells_which(words: Sequence[str], verbs: Collection[str]) -> bool:
    """Whether a sentence only specifies all of some things: "all pubs that are cheap"."""
    before = [words[at - 1] for at in finite(words, verbs)] if words[0] in ALL else []
    return not RELATIVES.isdisjoint(before) and all(word in RELATIVES | COORDINATING for word in before)


def _told_apart(sentences: Iterable[Tokens], verbs: Collection[str]) -> Iterator[Tokens]:
    """Yield sentences, splitting run-on clauses: "it is a pub, where dogs are allowed and it has beer"."""
    for sentence in sentences:
        words = plain(sentence)
        clause = words.index("where") if "where" in words[1:] else len(words)
        joint = next((at for at in range(clause, len(words) - 2) if words[at : at + 2] == ["and", PRONOUN]), 0)
        if joint and words[joint - 1] != "," and words[joint + 2] in verbs and words[-1] != "?":
            stop = sentence[-1] if words[-1] in ENDS else "."
            yield (*trimmed(sentence[:joint]), stop)
            yield sentence[joint + 1 :]
        else:
            yield sentence
