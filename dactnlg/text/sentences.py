"""Sentences: splitting the tokens of a text into them, and joining them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.questions import is_question
from dactnlg.text.surface import JOINER, detokenize, strip_joiner

Tokens = tuple[str, ...]
ENDS = (".", "?", "!")
"""Marks that end sentences."""
_ENDINGS = frozenset(f"{left}{end}{right}" for end in ENDS for left in ("", JOINER) for right in ("", JOINER))
"""The same as tokens, with and without joiners."""
PRONOUN, OWNER = "it", "its"
"""What later sentences call the thing that the first one names."""


def split_sentences(tokens: Iterable[str]) -> list[Tokens]:
    """Return the sentences of a text."""
    text, start, found = tuple(tokens), 0, []
    for end, token in enumerate(text, 1):
        if token in _ENDINGS:
            found.append(text[start:end])
            start = end
    return [*found, text[start:]] if start < len(text) else found


def asking(tokens: Iterable[str]) -> list[bool]:
    """Return, for each sentence of a text, whether it asks, by its words or its mark."""
    return list(map(is_asking, split_sentences(tokens)))


def is_asking(sentence: Sequence[str]) -> bool:
    """Whether a sentence asks, by its words or its mark."""
    return is_question(detokenize(tuple(sentence)))


def join_sentences(tokens: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return tokens with further sentences after them, or before their last one if that is a plain question."""
    if not tokens:
        return list(more)
    statement, question = split_question(tokens)
    if statement and question:
        return [*statement, *more, *_stop(more), *question]
    return append_sentences(tokens, more)


def append_sentences(tokens: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return tokens with further sentences after them."""
    return [*tokens, *(_stop(tokens) if tokens else ()), *more]


def split_question(tokens: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return tokens without their last sentence, and that sentence, if it is a question without placeholders."""
    last = last_sentence(tokens)
    if is_asking(last) and not any(map(is_placeholder, last)):
        return list(tokens[: len(tokens) - len(last)]), list(last)
    return list(tokens), []


def without_apology(tokens: Tokens) -> Tokens:
    """Return a question without a leading "sorry", which is said only once; other texts are returned unchanged."""
    words = [strip_joiner(token) for token in tokens[:2]]
    start = 0 if words[:1] != ["sorry"] else 2 if words[1:] == [","] else 1
    rest = tokens[start:]
    return rest if start and is_asking(rest) else tokens


def last_sentence(tokens: Sequence[str]) -> Sequence[str]:
    """Return the last sentence of a text."""
    # "Lunch? Or dinner?" is one question.
    ends = [at for at, token in enumerate(tokens[:-1]) if strip_joiner(token) in ENDS and tokens[at + 1] != "or"]
    return tokens[ends[-1] + 1 :] if ends else tokens


def _stop(tokens: Sequence[str]) -> list[str]:
    """Return the final mark that the tokens lack, if any."""
    if strip_joiner(tokens[-1]) in ENDS:
        return []
    return ["?"] if is_asking(last_sentence(tokens)) else ["."]
