"""Training pairs as arrays, in batches of a few fixed shapes."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.vocabulary import BOS_ID, EOS_ID

Batch = dict[str, NDArray[Any]]
LENGTHS = 4
"""How many lengths `Dataset.in_few_lengths` leaves."""


@dataclass(frozen=True)
class Dataset:
    """All pairs of a split, encoded once.

    Attributes:
        inputs: the input arrays of the model, each (N, ...); see `Preprocessor.arrays`.
        tokens: `<bos>`, words, `<eos>` of each pair, (N, longest).
        lengths: number of predicted tokens of each pair, (N,).
        weights: weight of each pair, (N,).
        widths: lengths to pad batches to, ascending; a batch that exceeds all of them is padded to its `bucket`.
    """

    inputs: Batch
    tokens: NDArray[np.int32]
    lengths: NDArray[np.int32]
    weights: NDArray[np.float32]
    widths: tuple[int, ...] = ()

    @classmethod
    def encode(
        cls, preprocessor: Preprocessor, pairs: Sequence[Pair], names: Sequence[str], repetition: float = 1.0
    ) -> Dataset:
        """Encode pairs, merging those that are identical to the model.

        Args:
            preprocessor: maps tokens and DA vector entries to ids.
            pairs: the pairs.
            names: the model's input arrays.
            repetition: a pair that occurs n times gets the weight n to this power.
        """
        everything = cls._encode_all(preprocessor, pairs, names)
        arrays = (everything.tokens, *everything.inputs.values())
        keys = np.concatenate([array.reshape(len(pairs), -1).astype(np.int32) for array in arrays], axis=1)
        counts = Counter(row.tobytes() for row in keys)
        first = {row.tobytes(): index for index, row in reversed(list(enumerate(keys)))}
        kept = np.array(sorted(first.values()), np.intp)
        weights = np.array([counts[keys[index].tobytes()] ** repetition for index in kept], np.float32)
        inputs = {name: array[kept] for name, array in everything.inputs.items()}
        return cls(inputs, everything.tokens[kept], everything.lengths[kept], weights)

    @classmethod
    def _encode_all(cls, preprocessor: Preprocessor, pairs: Sequence[Pair], names: Sequence[str]) -> Dataset:
        turns, corpora = [pair.turn for pair in pairs], [pair.corpus for pair in pairs]
        inputs: Batch = preprocessor.arrays(turns, names, corpora, [pair.context for pair in pairs])
        rows = [[BOS_ID, *preprocessor.vocabulary.encode(pair.tokens), EOS_ID] for pair in pairs]
        lengths = np.array([len(row) - 1 for row in rows], np.int32)
        tokens = np.zeros((len(rows), lengths.max(initial=1) + 1), np.int32)
        for index, row in enumerate(rows):
            tokens[index, : len(row)] = row
        return cls(inputs, tokens, lengths, np.ones(len(rows), np.float32))

    def __len__(self) -> int:
        return len(self.lengths)

    def in_few_lengths(self) -> Dataset:
        """Return the dataset with at most `LENGTHS` padded lengths, for backends that compile for each length.

        The lengths are quantiles, so that each is used for about as many sentences.
        """
        shares = np.linspace(0.0, 1.0, LENGTHS + 1)[1:]
        longest = np.quantile(self.lengths, shares, method="higher")
        return dataclasses.replace(self, widths=tuple(sorted({bucket(int(length)) for length in longest})))

    def batches(self, size: int, rng: np.random.Generator | None = None) -> Iterator[tuple[Batch, int]]:
        """Yield batches, each with its number of real tokens.

        Sentences of similar length share a batch and are padded to one of a few lengths; the last batch is filled up
        with empty rows. With `rng` the pairs are shuffled, without it they are sorted by length.
        """
        if rng is None:
            order = np.argsort(self.lengths, kind="stable")
        else:
            # Sort with a little noise: similar lengths stay together, but not always the same neighbours.
            noisy = self.lengths + rng.uniform(-1.5, 1.5, len(self))
            order = np.argsort(noisy, kind="stable")
        starts = np.arange(0, len(order), size)
        if rng is not None:
            rng.shuffle(starts)
        for start in starts:
            rows = order[start : start + size]
            yield self._batch(rows, size), int(self.lengths[rows].sum())

    def empty(self, size: int, length: int) -> Batch:
        """Return a batch of nothing but padding; real batches never have a length of 1 or 2."""
        batch: Batch = {name: np.repeat(array[:1], size, axis=0) for name, array in self.inputs.items()}
        zeros = np.zeros((size, length), np.int32)
        return {
            **batch,
            "tokens": zeros,
            "targets": zeros,
            "lengths": zeros[:, 0],
            "weights": np.ones(size, np.float32),
        }

    def _batch(self, rows: NDArray[np.intp], size: int) -> Batch:
        longest = int(self.lengths[rows].max())
        longest = next((width for width in self.widths if width >= longest), bucket(longest))
        empty = size - len(rows)
        rows = np.concatenate([rows, np.zeros(empty, rows.dtype)])
        lengths = self.lengths[rows].copy()
        lengths[size - empty :] = 0
        width = min(longest + 1, self.tokens.shape[1])
        tokens = np.zeros((size, longest + 1), np.int32)
        tokens[:, :width] = self.tokens[rows, :width]
        batch: Batch = {name: array[rows] for name, array in self.inputs.items()}
        return {
            **batch,
            "tokens": tokens[:, :-1],
            "targets": tokens[:, 1:],
            "lengths": lengths,
            "weights": self.weights[rows],
        }


def bucket(length: int) -> int:
    """Return a length rounded up to a multiple of 4 up to 32, then of 16."""
    step = 4 if length <= 32 else 16
    return -(-length // step) * step
