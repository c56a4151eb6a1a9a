"""Denials: texts that deny, and values that one denies where training never does: "it serves no SLOT_FOOD food"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from dactnlg.text.grammar.english import ARTICLES, BEING, COORDINATING, JOINTS, NEGATIONS, PREPOSITIONS, listed
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, asking, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Key, Templates, act_types

BETWEEN, FARTHEST = 2, 5
"""Words between a denial and the value that it denies, at most: "is not in the SLOT_AREA area"; and with small words,
which do not count: "is not located in the area of SLOT_AREA"."""
LEAST_TEXTS = 20
"""Texts that have a value of a slot, at least, where none shows how it is denied."""
_DENYING = listed(
    "not never cannot no nor neither without lack lacks lacking outside except excluding unavailable stopped"
)
_FAR = ("far", "from")
_SMALL = ARTICLES | listed("in of at on for to by with")
_NOT_DENYING = listed("only just more less fewer later other doubt question wrong lot rated")
"""Words with which the value is not denied: "not only SLOT_FOOD food", "no more than SLOT_PRICE", "without a doubt",
"you can not go wrong with SLOT_NAME", "not highly rated SLOT_TYPE"."""
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
    def _known(self) -> tuple[Counter[str], dict[_Run, set[str]]]:
        """How many texts have a placeholder, and the act types of those that deny one in some words."""
        held, runs = Counter[str](), dict[_Run, set[str]]()
        for key, texts in self._templates.sentences.items():
            acts = act_types(key)
            for text in texts:
                held.update(_plain(token) for token in text if is_placeholder(token))
                for _, run in _denied(text):
                    runs.setdefault(run, set()).update(acts)
        return held, runs

    def denied(self, acts: Key, tokens: Sequence[str], *, plainly: bool = False) -> list[str]:
        """Return the placeholders, without numbers, of the values that delexicalised tokens for some act types deny.

        What a text for one of these types denies in the same words is no fault.

        Args:
            acts: the act types.
            tokens: the text.
            plainly: only where nothing else can be denied: "it is not available on SLOT_A", not "allows no dogs in".
        """
        found = [run for before, run in _denied(tokens) if not plainly or _is_plain(before, run)]
        held, runs = self._known if found else (Counter[str](), dict[_Run, set[str]]())
        return [run[-1] for run in found if held[run[-1]] >= LEAST_TEXTS and runs.get(run, set()).isdisjoint(acts)]


def _denied(tokens: Sequence[str]) -> Iterator[tuple[str, _Run]]:
    """Yield the word before a denial, and those from it to the value that it denies."""
    words = [_plain(token) for token in tokens]
    for place, token in enumerate(tokens):
        if not is_placeholder(token):
            continue
        between = 0
        for start in range(place - 1, max(-1, place - FARTHEST - 2), -1):
            word, run = words[start], tuple(words[start : place + 1])
            denial = word in _DENYING or word.endswith("n't") or run[:2] == _FAR
            # "Why don't you try SLOT_NAME?"
            before = words[start - 1] if start else ""
            if denial and _NOT_DENYING.isdisjoint(run) and before != "why":
                yield before, run
            between += word not in _SMALL
            if between > BETWEEN or word in _BREAKS or is_placeholder(word):
                break


def _is_plain(before: str, run: _Run) -> bool:
    """Whether it is a place that words deny: "is not available on the SLOT_PLATFORMS", "isn't in SLOT_AREA"."""
    # "It is not a SLOT_TYPE for business" denies what stands behind.
    between = run[1:-1]
    being = before in BEING or run[0].removesuffix("n't") in BEING
    return being and not PREPOSITIONS.isdisjoint(between) and _AVAILABLE.issuperset(between)


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
