"""Nouns of values: "it has a color of SLOT_COLOR" where the value itself is no noun."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import ENDS, Tokens
from dactnlg.text.surface import plain, strip_joiner
from dactnlg.text.values.nearness import names_slot

LEAST = 20
"""The fewest occurrences of a noun before a value."""
_HAVING, _INDEFINITE = frozenset({"has", "have", "with", "features"}), ("a", "an")
_ENDING: tuple[list[str], ...] = ([], *([word] for word in sorted({"", "and", "or", ",", *ENDS})))


def value_nouns(sentences: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the nouns used for values, by the value's placeholder: "a color of SLOT_COLOR".

    Args:
        sentences: of training, delexicalised, without joiners.
    """
    found: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for at in range(2, len(sentence)):
            name, noun = without_ordinal(sentence[at]), sentence[at - 2]
            if (
                sentence[at - 1] == "of"
                and is_placeholder(name)
                and names_slot(noun, name.removeprefix("SLOT_").lower())
            ):
                found.setdefault(name, Counter())[noun] += 1
    return {name: nouns.most_common(1)[0][0] for name, nouns in found.items() if nouns.total() >= LEAST}


def with_value_nouns(sentence: Tokens, nouns: Mapping[str, str]) -> Tokens:
    """Return a sentence with the nouns that values lack: "has a SLOT_COLOR" becomes "has a color of SLOT_COLOR".

    Args:
        sentence: in English.
        nouns: by placeholder, for values that are not nouns, "black", or several, "a black bezel, silver stand".
    """
    for at in reversed([*_held(plain(sentence))]):
        name = strip_joiner(sentence[at])
        if name in nouns:
            sentence = (*sentence[: at - 1], "a", nouns[name], "of", *sentence[at:])
    return sentence


def _held(words: Sequence[str]) -> Iterator[int]:
    """Yield the indices of values that a thing has and that end a phrase: "has a SLOT_COLOR and"."""
    for at in range(2, len(words)):
        ends = is_placeholder(words[at]) and words[at + 1 : at + 2] in _ENDING
        if ends and words[at - 1] in _INDEFINITE and words[at - 2] in _HAVING:
            yield at
