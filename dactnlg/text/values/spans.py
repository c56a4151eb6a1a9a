"""Spans: which characters of a sentence a slot's value covers, for displaying or marking them."""

from __future__ import annotations

from typing import NamedTuple

from dactnlg.acts import Turn
from dactnlg.text.surface import JOINER, strip_joiner
from dactnlg.text.values.delexicalization import Delexicalizer


class ValueSpan(NamedTuple):
    """The position of a value in a sentence.

    Attributes:
        start: index of its first character.
        end: index after its last character; the ending of a plural or possessive is not included.
        place: index of its slot among all slots of the turn, as written.
    """

    start: int
    end: int
    place: int


def value_spans(delexicalizer: Delexicalizer, turn: Turn, sentence: str) -> list[ValueSpan]:
    """Return where a sentence expresses the values of a turn, in order; special values (yes, dontcare) have no span.

    >>> from dactnlg.acts import parse
    >>> value_spans(Delexicalizer(), parse("inform(name='Ivy Cutting';dogs=yes;region=fells)"), "Ivy Cutting's fells")
    [ValueSpan(start=0, end=11, place=0), ValueSpan(start=14, end=19, place=2)]

    Args:
        delexicalizer: of the preprocessor, which knows how values are worded.
        turn: the acts.
        sentence: as a reader sees it, or in raw form.
    """
    required = delexicalizer.required(turn)
    tokens = delexicalizer.tokens(required, sentence)
    found, _ = delexicalizer.mentions(required, tokens)
    places = written_places(delexicalizer, turn)
    starts = _starts(tokens, sentence)
    spans = []
    for start, end, stem, placeholder in found:
        last = tokens[end - 1]
        # The stem counts from the token's first character, including its joiner.
        length = stem - (len(last) - len(last.lstrip(JOINER))) if stem else len(strip_joiner(last))
        spans.append(ValueSpan(starts[start], starts[end - 1] + length, places[placeholder]))
    return spans


def _starts(tokens: list[str], sentence: str) -> list[int]:
    """Return the index of each token's first character."""
    # Tokenisation turned the sentence's own joiners into question marks.
    text, at, starts = sentence.replace(JOINER, "?"), 0, []
    for token in tokens:
        word = strip_joiner(token)
        starts.append(text.index(word, at))
        at = starts[-1] + len(word)
    return starts


def written_places(delexicalizer: Delexicalizer, turn: Turn) -> dict[str, int]:
    """Return, for each placeholder of a turn, the index of the slot in which its value is written."""
    # A value "A or B" may be required as two.
    open_ = [(part, at) for at, (_, slot) in enumerate(turn.slots()) for part in delexicalizer.parts(slot)]
    places = {}
    for item in delexicalizer.required(turn):
        found = next(pair for pair in open_ if pair[0] == item.slot)
        open_.remove(found)
        places[item.placeholder] = found[1]
    return places
