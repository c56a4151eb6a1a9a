"""Denials: texts that deny, and values that a text denies though training never does: "it serves no SLOT_FOOD food"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from dactnlg.text.grammar.english import ARTICLES, BEING, COORDINATING, JOINTS, NEGATIONS, PREPOSITIONS, listed
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import ENDS, asking, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types

BETWEEN, FARTHEST = 2, 5
"""The most words between a denial and the denied value: "is not in the SLOT_AREA area"; and the most including small
words, which otherwise do not count: "is not located in the area of SLOT_AREA"."""
LEAST_TEXTS = 20
"""How many texts must have a value of a slot before it matters that none denies it in some words."""
_DENYING = listed("never cannot no nor neither without lack lacks lacking outside except excluding unavailable stopped")
_FAR = ("far", "from")
_SMALL = ARTICLES | listed("in of at on for to by with")
_NOT_DENYING = listed("only just more less fewer later other doubt question wrong lot rated")
"""Words that show that the value is not denied: "not only SLOT_FOOD food", "no more than SLOT_PRICE", "without a
doubt", "you can not go wrong with SLOT_NAME", "not highly rated SLOT_TYPE"."""
_BE = frozenset({"is", "are"})
_AVAILABLE = PREPOSITIONS | ARTICLES | {"available"}
"""Words between a denial and a value that let only the value be denied."""
_BREAKS = COORDINATING | JOINTS | frozenset(ENDS)
_Run = tuple[str, ...]


class Denials:
    """Finds values that a text denies though training never does so for its act types.

    Args:
        templates: the training texts.
    """

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    @cached_property
    def _known(self) -> tuple[Counter[str], dict[_Run, set[str]]]:
        """How many texts have each placeholder, and the act types of texts with each run of words that denies."""
        held, runs = Counter[str](), dict[_Run, set[str]]()
        for key, texts in self._templates.sentences.items():
            acts = act_types(key)
            for text in texts:
                held.update(_plain(token) for token in text if is_placeholder(token))
                for _, run in _denied(text):
                    runs.setdefault(run, set()).update(acts)
        return held, runs

    def denied(self, acts: Key, tokens: Sequence[str], *, plainly: bool = False) -> list[str]:
        """Return the placeholders, without ordinals, of the values that a delexicalised text denies.

        A denial that training has in the same words for one of the act types is no fault.

        Args:
            acts: the act types.
            tokens: the text.
            plainly: only if nothing else can be denied: "it is not available on SLOT_A", not "allows no dogs in".
        """
        found = [run for before, run in _denied(tokens) if not plainly or _is_plain(before, run)]
        held, runs = self._known if found else (Counter[str](), dict[_Run, set[str]]())
        return [run[-1] for run in found if held[run[-1]] >= LEAST_TEXTS and runs.get(run, set()).isdisjoint(acts)]


def _denied(tokens: Sequence[str]) -> Iterator[tuple[str, _Run]]:
    """Yield each denial: the word before it, and the words from it to the value that it denies."""
    words = [_plain(token) for token in tokens]
    for place, token in enumerate(tokens):
        if not is_placeholder(token):
            continue
        between = 0
        for start in range(place - 1, max(-1, place - FARTHEST - 2), -1):
            word, run = words[start], tuple(words[start : place + 1])
            before = words[start - 1] if start else ""
            # "Not far from SLOT_NEAR" is near it.
            far = run[:2] == _FAR and not _is_not(before)
            denial = far or word in _DENYING or (_is_not(word) and run[1:3] != _FAR)
            # "Why don't you try SLOT_NAME?"
            told = before == "why" or not _NOT_DENYING.isdisjoint(run[2:] if run[1] == "rated" else run)
            if denial and not told:
                yield before, run
            between += word not in _SMALL
            if between > BETWEEN or word in _BREAKS or is_placeholder(word):
                break


def _is_not(word: str) -> bool:
    return word == "not" or word.endswith("n't")


def _is_plain(before: str, run: _Run) -> bool:
    """Whether a denial denies a place: "is not available on the SLOT_PLATFORMS", "isn't in SLOT_AREA"."""
    # "It is not a SLOT_TYPE for business" denies what follows.
    between = run[1:-1]
    being = before in BEING or run[0].removesuffix("n't") in BEING
    return being and not PREPOSITIONS.isdisjoint(between) and _AVAILABLE.issuperset(between)


def _plain(token: str) -> str:
    return without_ordinal(strip_joiner(token)) if is_placeholder(token) else strip_joiner(token).lower()


def denies_value(tokens: Sequence[str]) -> bool:
    """Whether a delexicalised text denies a value."""
    return any(True for _ in _denied(tokens))


def has_none(tokens: Sequence[str]) -> bool:
    """Whether a text says that nothing of a kind exists: "no SLOT_TYPE", "there are not SLOT_TYPE"."""
    if any(word == "no" and is_placeholder(behind) for word, behind in pairwise(tokens)):
        return True
    words = strip_joiners(tokens)
    runs = zip(words, words[1:], words[2:], strict=False)
    return any(first == "there" and verb in _BE and behind == "not" for first, verb, behind in runs)


def denies(tokens: Iterable[str]) -> bool:
    """Whether a text has a word of denial."""
    return any(map(is_denial, tokens))


def denies_again(tokens: Sequence[str]) -> bool:
    """Whether more than one sentence of a text denies."""
    return sum(map(denies, split_sentences(tokens))) > 1


def told_behind(tokens: Sequence[str]) -> int:
    """Return how many sentences neither deny nor ask after a first one that denies; 0 if it does not deny."""
    first, *more = split_sentences(tokens) or [()]
    return sum(not denies(each) and not asking(each)[0] for each in more) if denies(first) else 0


@lru_cache(maxsize=1 << 12)
def is_denial(token: str) -> bool:
    """Whether a token denies."""
    word = strip_joiner(token)
    return word in NEGATIONS or word.endswith("n't")
