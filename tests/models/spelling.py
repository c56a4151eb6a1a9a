"""A task that no model can do without reading the act: to spell the values of its slots."""

from __future__ import annotations

import numpy as np
from small_models import Batch

from dactnlg.text.encoding import Sizes

SLOTS, LETTERS = 5, 5
SPELLING = Sizes(4 + SLOTS + LETTERS, SLOTS, 4 + LETTERS)


def spelling(count: int, seed: int) -> Batch:
    """Return acts of some slots in any order, each with a value of two letters; a sentence spells slots and values."""
    rng = np.random.default_rng(seed)
    batch: Batch = {"act": np.zeros((count, SLOTS), np.float32), "entries": np.zeros((count, 4, 2), np.int32)}
    batch |= {"words": np.zeros((count, 4, 2), np.int32), "lengths": np.zeros(count, np.int32)}
    tokens = np.zeros((count, 12), np.int32)
    for row in range(count):
        slots = rng.permutation(SLOTS)[: rng.integers(1, 4)]
        letters = np.sort(rng.integers(0, LETTERS, (len(slots), 2)), axis=1)
        batch["act"][row, slots] = 1
        batch["entries"][row, : len(slots)] = slots[:, None] + 1
        batch["words"][row, : len(slots)] = letters + 4
        words = [(4 + slots[i], *(4 + SLOTS + letters[i])) for i in np.argsort(slots)]
        sentence = [1, *np.ravel(words), 2]
        tokens[row, : len(sentence)] = sentence
        batch["lengths"][row] = len(sentence) - 1
    ones = np.ones(count, np.float32)
    return {**batch, "tokens": tokens[:, :-1], "targets": tokens[:, 1:], "weights": ones}
