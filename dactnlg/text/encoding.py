"""Acts as arrays: the DA vector, and for the hierarchical model the entries with the words of their values.

The DA vector (Sharma et al. 2017, section 4.2) is binary over fused act-slot entries: `inform|food`,
`inform|kidsallowed=no`, `request|food=`, `?select|near#2` for a second one. Beside the fused entries stand the act
types and the slots by themselves (`act:inform`, `slot:food`), so that a combination that training never had is still
encoded as far as its parts are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.acts import Slot, Turn
from dactnlg.text.surface import strip_joiner, tokenize
from dactnlg.text.vocabulary import Vocabulary

Arrays = dict[str, NDArray[Any]]


class Sizes(NamedTuple):
    """Of what a preprocessor numbers.

    Attributes:
        vocabulary: tokens that a model can generate.
        act: entries of the DA vector.
        words: words of values.
        context: words of what users say before; 0 where models do not look at it.
    """

    vocabulary: int
    act: int
    words: int
    context: int = 0


def entries(turn: Turn) -> list[tuple[str, str, Slot | None]]:
    """Return the turn as (fused entry, entry by itself, slot) triples in the order written; an act comes first."""
    found: list[tuple[str, str, Slot | None]] = []
    counts: dict[str, int] = {}
    for act in turn:
        found.append((f"act:{act.act_type}", f"act:{act.act_type}", None))
        for slot in act.slots:
            tag = slot.name
            if slot.special is not None:
                tag += f"={slot.special}"
            elif not slot.delexicalizable:
                tag += "="
            key = f"{act.act_type}|{tag}"
            counts[key] = counts.get(key, 0) + 1
            ordinal = "" if counts[key] == 1 else f"#{counts[key]}"
            found.append((key + ordinal, f"slot:{tag}", slot))
    return found


def features(turn: Turn, corpus: str | None = None) -> set[str]:
    """Return the names of the DA vector's non-zero entries."""
    names = {name for fused, alone, _ in entries(turn) for name in (fused, alone)}
    return names | {f"corpus:{corpus}"} if corpus else names


class ActEncoder:
    """Turns acts into the arrays that models take.

    Args:
        features: the names of the DA vector's entries, in order (from training data only).
        words: the words of values that the hierarchical model knows.
        corpus: the corpus whose manner shall be spoken, where a model was trained on several.
    """

    def __init__(self, features: Sequence[str], words: Vocabulary, corpus: str | None = None) -> None:
        self.features = list(features)
        self.words = words
        self.corpus = corpus
        self._index = {name: index for index, name in enumerate(self.features)}

    @classmethod
    def build(cls, turns: Iterable[tuple[Turn, str | None]], corpus: str | None = None) -> ActEncoder:
        """Collect entries and value words from training turns, each with the name of its corpus (None if only one)."""
        names: set[str] = set()
        values: list[list[str]] = []
        for turn, name in dict.fromkeys(turns):
            names |= features(turn, name)
            values += [value_words(slot) for _, slot in turn.slots()]
        return cls(sorted(names), Vocabulary.build(values), corpus)

    @cached_property
    def act_types(self) -> set[str]:
        """The act types that the encoder knows."""
        return {name.removeprefix("act:") for name in self.features if name.startswith("act:")}

    @cached_property
    def slot_names(self) -> set[str]:
        """The slots that the encoder knows."""
        return {name.removeprefix("slot:").split("=")[0] for name in self.features if name.startswith("slot:")}

    def vectors(self, turns: Sequence[Turn], corpora: Sequence[str | None] | None = None) -> NDArray[np.float32]:
        """Return the DA vectors, shape (turns, features); entries that training never had are left out."""
        out = np.zeros((len(turns), len(self.features)), np.float32)
        for row, turn in enumerate(turns):
            corpus = corpora[row] if corpora is not None else self.corpus
            columns = [self._index[name] for name in features(turn, corpus) if name in self._index]
            out[row, columns] = 1.0
        return out

    def sequences(self, turns: Sequence[Turn]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return entries and value words for the hierarchical encoder, 0 where there is none.

        Returns:
            Numbers + 1 of the fused entry and of the act type or slot by itself, shape (turns, entries, 2), and word
            numbers, shape (turns, entries, words).
        """
        rows = [self._sequence(turn) for turn in turns]
        length = max((len(row) for row in rows), default=1)
        width = max((len(words) for row in rows for _, words in row), default=1)
        # A few fixed shapes keep compiled functions few.
        length, width = -(-max(length, 1) // 4) * 4, -(-max(width, 1) // 4) * 4
        numbers = np.zeros((len(turns), length, 2), np.int32)
        words = np.zeros((len(turns), length, width), np.int32)
        for i, row in enumerate(rows):
            for j, (pair, ids) in enumerate(row):
                numbers[i, j] = pair
                words[i, j, : len(ids)] = ids
        return numbers, words

    def known(self, turn: Turn) -> list[tuple[tuple[int, int], Slot | None]]:
        """Return the entries of a turn that training had too, as `sequences` numbers them, each with its slot."""
        numbered = [
            ((self._index.get(fused, -1) + 1, self._index.get(alone, -1) + 1), slot)
            for fused, alone, slot in entries(turn)
        ]
        return [(pair, slot) for pair, slot in numbered if any(pair)]

    def _sequence(self, turn: Turn) -> list[tuple[tuple[int, int], list[int]]]:
        return [(pair, self.words.encode(value_words(slot)) if slot else []) for pair, slot in self.known(turn)]


def value_words(slot: Slot) -> list[str]:
    """Return the lower-cased words of a slot's value, none where it has no value."""
    return [strip_joiner(token).casefold() for token in tokenize(slot.special or slot.value or "")]
