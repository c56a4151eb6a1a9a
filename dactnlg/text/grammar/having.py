"""Having: values that a thing has rather than is, "it has a SLOT_COLOR", and the nouns that they need for that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dactnlg.text.grammar.english import INDEFINITE
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import ENDS, PRONOUN, Tokens
from dactnlg.text.surface import strip_joiner, strip_joiners

LEAST, OFTENER = 20, 2
"""The fewest occurrences; and how many times as often a thing has a value as it is the value, for it to be held."""
_SUBJECTS, _HAVING = frozenset({PRONOUN, "and", "that"}), frozenset({"has", "have", "with", "features"})
_ENDING: tuple[list[str], ...] = ([], *([word] for word in sorted({"", "and", "or", ",", *ENDS})))


def held_values(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the placeholders of what a thing mostly has, "has a SLOT_COLOR", though people also say "is SLOT_COLOR".

    Args:
        sentences: of training, delexicalised, without joiners.
    """
    found: dict[str, Counter[str]] = {}
    for sentence in sentences:
        for at, told in _told_of_things(sentence):
            found.setdefault(without_ordinal(sentence[at]), Counter())[told] += 1
    return frozenset(name for name, told in found.items() if told["a"] >= LEAST and told["a"] > OFTENER * told["is"])


def as_held(sentence: Tokens, held: Collection[str]) -> Tokens:
    """Return a sentence in which a thing has, not is, such a value: "it is cheap and is SLOT_COLOR" gets "has a"."""
    for at, told in _told_of_things(strip_joiners(sentence)):
        if told == "is" and without_ordinal(strip_joiner(sentence[at])) in held:
            return (*sentence[: at - 1], "has", "a", *sentence[at:])
    return sentence


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


def as_values_of(sentence: Tokens, nouns: Mapping[str, str]) -> Tokens:
    """Return a sentence with the nouns that values lack: "has a SLOT_COLOR" becomes "has a color of SLOT_COLOR".

    Args:
        sentence: in English.
        nouns: by placeholder, for values that are not nouns, "black", or several, "a black bezel, silver stand".
    """
    places = [at for at, told in _told_of_things(strip_joiners(sentence)) if told == "a"]
    for at in reversed(places):
        name = strip_joiner(sentence[at])
        if name in nouns:
            sentence = (*sentence[: at - 1], "a", nouns[name], "of", *sentence[at:])
    return sentence


def _told_of_things(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the indices of values that end a phrase, with "is" if a thing is said to be one, "a" if it has one."""
    for at in range(2, len(words)):
        if is_placeholder(words[at]) and words[at + 1 : at + 2] in _ENDING:
            before, last = words[at - 2 : at]
            if last == "is" and (before in _SUBJECTS or is_placeholder(before)):
                yield at, "is"
            elif last in INDEFINITE and before in _HAVING:
                yield at, "a"
