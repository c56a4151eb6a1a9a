"""Denials: texts that deny, and values that one denies where training never does: "it serves no SLOT_FOOD food"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from dactnlg.text.grammar.english import ARTICLES, BEING, COORDINATING, JOINTS, NEGATIONS, PREPOSITIONS
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, asking, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, act_types

BETWEEN = 2
"""Words between a denial and the value that it denies, at most: "is not in the SLOT_AREA area"."""
LEAST_TEXTS = 20
"""Texts of some act types that have a value, at least, where none of them shows how it is denied."""
_DENYING = frozenset({"not", "never", "cannot"})
_BE = frozenset({"is", "are"})
_AVAILABLE = PREPOSITIONS | ARTICLES | {"available"}
"""Words between a denial and a value with which nothing but the value is denied."""
_BREAKS = COORDINATING | JOINTS | frozenset(ENDS)
_Run = tuple[str, ...]


class Denials:
    """Tells values that a text denies, as training never does for its act types.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _known(self) -> tuple[Counter[tuple[_Run, str]], set[tuple[_Run, _Run]]]:
        """How many texts of some act types have a placeholder, and how they deny any."""
        held, runs = Counter[tuple[_Run, str]](), set[tuple[_Run, _Run]]()
        for key, texts in self._templates.sentences.items():
            acts = act_types(key)
            for text in texts:
                held.update((acts, _plain(token)) for token in text if is_placeholder(token))
                runs.update((acts, run) for _, run in _denied(text))
        return held, runs

    def denied(self, acts: Key, tokens: Sequence[str], *, plainly: bool = False) -> list[str]:
        """Return the placeholders, without numbers, of the values that delexicalised tokens for some act types deny.

        Args:
            acts: the act types.
            tokens: the text.
            plainly: only where nothing else can be denied: "it is not available on SLOT_A", not "allows no dogs in".
        """
        every = _denied(tokens)
        found = [run for before, run in every if not plainly or (_is_plain(run) and _is_of_being(before, run))]
        held, runs = self._known if found else (Counter(), set())
        return [run[-1] for run in found if held[acts, run[-1]] >= LEAST_TEXTS and (acts, run) not in runs]


def _denied(tokens: Sequence[str]) -> Iterator[tuple[str, _Run]]:
    """Yield the word before a denial, and those from it to the value that it denies."""
    words = [_plain(token) for token in tokens]
    for place, token in enumerate(tokens):
        if not is_placeholder(token):
            continue
        for start in range(place - 1, max(-1, place - BETWEEN - 3), -1):
            word, run = words[start], tuple(words[start : place + 1])
            if (word in _DENYING or word.endswith("n't")) and (len(run) <= BETWEEN + 2 or _is_plain(run)):
                yield words[start - 1] if start else "", run
            if word in _BREAKS or is_placeholder(word):
                break


def _is_plain(run: _Run) -> bool:
    """Whether it is a place that words deny: "not available on the SLOT_PLATFORMS", "isn't in SLOT_AREA"."""
    # "It is not a SLOT_TYPE for business" denies what stands behind.
    return not PREPOSITIONS.isdisjoint(run[1:-1]) and _AVAILABLE.issuperset(run[1:-1])


def _is_of_being(before: str, run: _Run) -> bool:
    """Whether it is "is not", or "isn't", that denies."""
    return before in BEING or run[0].removesuffix("n't") in BEING


def _plain(token: str) -> str:
    return strip_joiner(token).partition("#")[0] if is_placeholder(token) else strip_joiner(token).lower()


def has_none(tokens: Sequence[str]) -> bool:
    """Whether a text says that there is none of a kind: "no SLOT_TYPE", "there are not SLOT_TYPE"."""
    if any(word == "no" and is_placeholder(behind) for word, behind in pairwise(tokens)):
        return True
    words = [strip_joiner(token) for token in tokens]
    runs = zip(words, words[1:], words[2:], strict=False)
    return any(first == "there" and verb in _BE and behind == "not" for first, verb, behind in runs)


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word that denies."""
    return any(map(is_denial, tokens))


def denies_again(tokens: Sequence[str]) -> bool:
    """Whether several sentences of a text deny."""
    return sum(map(denies, split_sentences(tokens))) > 1


def told_behind(tokens: Sequence[str]) -> int:
    """Return how many sentences behind one that denies neither deny nor ask."""
    first, *more = split_sentences(tokens) or [()]
    return sum(not denies(each) and not asking(each)[0] for each in more) if denies(first) else 0


def is_denial(token: str) -> bool:
    """Whether a token denies."""
    word = strip_joiner(token)
    return word in NEGATIONS or word.endswith("n't")
