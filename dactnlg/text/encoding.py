"""Acts as arrays: the DA vector and, for the hierarchical model, the entries with the words of their values.

The DA vector (Sharma et al. 2017, section 4.2) is binary over fused act-slot entries: `inform|food`,
`inform|kidsallowed=no`, `request|food=`, `?select|near#2` for a second one. Act types and slots also have entries of
their own (`act:inform`, `slot:food`), so that a combination unseen in training is still encoded as far as its parts
are known.
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
    """What a preprocessor numbers, and how many of each.

    Attributes:
        vocabulary: tokens that a model can generate.
        act: entries of the DA vector.
        words: words of values.
        context: words of preceding user turns; 0 if models do not use them.
    """

    vocabulary: int
    act: int
    words: int
    context: int = 0


def entries(turn: Turn) -> list[tuple[str, str, Slot | None]]:
    """Return the turn as (fused entry, separate entry, slot) triples as written, each act before its slots."""
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
    """Return the names of the non-zero entries of the DA vector."""
    names = {name for fused, alone, _ in entries(turn) for name in (fused, alone)}
    return names | {f"corpus:{corpus}"} if corpus else names


class ActEncoder:
    """Encodes acts as the arrays that models take.

    Args:
        features: the names of the DA vector's entries, in order (from training data only).
        words: the words of values known to the hierarchical model.
        corpus: the corpus whose style to imitate, if a model was trained on several.
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
        """Return the DA vectors, shape (turns, features); entries unseen in training are left out."""
        out = np.zeros((len(turns), len(self.features)), np.float32)
        for row, turn in enumerate(turns):
            corpus = corpora[row] if corpora is not None else self.corpus
            columns = [self._index[name] for name in features(turn, corpus) if name in self._index]
            out[row, columns] = 1.0
        return out

    def sequences(self, turns: Sequence[Turn]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return entries and value words for the hierarchical encoder, padded with 0.

        Returns:
            Indices + 1 of the fused entry and of the separate act type or slot, shape (turns, entries, 2), and word
            ids, shape (turns, entries, words).
        """
        rows = [self._sequence(turn) for turn in turns]
        length, width = padded(map(len, rows)), padded(len(words) for row in rows for _, words in row)
        numbers = np.zeros((len(turns), length, 2), np.int32)
        words = np.zeros((len(turns), length, width), np.int32)
        for i, row in enumerate(rows):
            for j, (pair, ids) in enumerate(row):
                numbers[i, j] = pair
                words[i, j, : len(ids)] = ids
        return numbers, words

    def known(self, turn: Turn) -> list[tuple[tuple[int, int], Slot | None]]:
        """Return the entries of a turn that occur in training, numbered as in `sequences`, each with its slot."""
        numbered = [
            ((self._index.get(fused, -1) + 1, self._index.get(alone, -1) + 1), slot)
            for fused, alone, slot in entries(turn)
        ]
        return [(pair, slot) for pair, slot in numbered if any(pair)]

    def _sequence(self, turn: Turn) -> list[tuple[tuple[int, int], list[int]]]:
        return [(pair, self.words.encode(value_words(slot)) if slot else []) for pair, slot in self.known(turn)]


def padded(lengths: Iterable[int], step: int = 4) -> int:
    """Return the width of an array for rows of some lengths, a multiple of `step`, at least one.

    A few fixed shapes keep the number of compiled functions small.
    """
    return -(-max([1, *lengths]) // step) * step


def value_words(slot: Slot) -> list[str]:
    """Return the lower-cased words of a slot's value; empty if it has none."""
    return [strip_joiner(token).casefold() for token in tokenize(slot.special or slot.value or "")]
