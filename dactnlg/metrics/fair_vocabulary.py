"""Vocabularies of fair evaluation (Huang et al. 2020, section 2.1): F, the frequent tokens, and R, the rare ones.

A model knows F; metrics count F and R. Models with different F are comparable if their unions of F and R are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dactnlg._utils.hashing import digest
from dactnlg.errors import MetricError
from dactnlg.text.vocabulary import BOS, EOS, PAD, UNK, Vocabulary

SPECIAL = frozenset({PAD, BOS, EOS, UNK})


@dataclass(frozen=True)
class FairVocabulary:
    """The vocabularies F and R, which are disjoint.

    Attributes:
        frequent: F, training tokens that occur at least `min_count` times, by training count, total count and token.
        rare: R, all other tokens of train, valid and test, in the same order.
        min_count: the smallest count of a frequent token, T_min in the paper.
        counts: token -> occurrences in all splits together.
        sentences: the number of sentences in all splits together.
    """

    frequent: tuple[str, ...]
    rare: tuple[str, ...]
    min_count: int
    counts: dict[str, int]
    sentences: int

    @classmethod
    def build(
        cls, train: Iterable[Sequence[str]], others: Iterable[Sequence[str]] = (), min_count: int = 1
    ) -> FairVocabulary:
        """Return F and R of tokenised data; a literal `<unk>` in the data belongs to neither.

        Args:
            train: tokenised training sentences; F is taken from these alone.
            others: tokenised sentences of the other splits.
            min_count: T_min.

        Raises:
            MetricError: `min_count` is below 1.
        """
        if min_count < 1:
            raise MetricError(f"the smallest count of a frequent token is at least 1, not {min_count}")
        training, total, sentences = Counter[str](), Counter[str](), 0
        for tokens in train:
            training.update(tokens)
            sentences += 1
        total.update(training)
        for tokens in others:
            total.update(tokens)
            sentences += 1
        ordered = sorted(set(total) - SPECIAL, key=lambda token: (-training[token], -total[token], token))
        # Training counts fall along the order, so F is its beginning.
        size = sum(training[token] >= min_count for token in ordered)
        return cls(tuple(ordered[:size]), tuple(ordered[size:]), min_count, dict(total), sentences)

    def model_vocabulary(self) -> Vocabulary:
        """Return the vocabulary of a model: F; every other token is `<unk>`."""
        return Vocabulary(self.frequent)

    def whole(self) -> Vocabulary:
        """Return the vocabulary of metrics: special tokens, F, R; the ids of F are those of `model_vocabulary`."""
        return Vocabulary((*self.frequent, *self.rare))

    def digest(self) -> str:
        """Return the vocabulary hash, of F and R with their counts.

        The counts are included because in the paper's Fig. 4 the hash changes with every sample removed, even if its
        words remain elsewhere.
        """
        parts = [sorted((token, self.counts[token]) for token in tokens) for tokens in (self.frequent, self.rare)]
        return digest(["vocabulary", *parts, self.sentences])

    def union_digest(self) -> str:
        """Return the hash of F and R as one set, on which fair metrics depend."""
        return digest(["F with R", sorted((*self.frequent, *self.rare))])

    def frequent_digest(self) -> str:
        """Return the hash of F as a set, on which the original perplexity depends."""
        return digest(["F", sorted(self.frequent)])
