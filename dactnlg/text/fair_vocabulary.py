"""The frequent vocabulary F that models see, and R, the rare rest that metrics see too (Huang et al. 2020, 2.1).

Two models whose F differ can be compared by metrics that look at F with R, as long as that union is the same.
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
    """F and R, which share no token.

    Attributes:
        frequent: F, training tokens that occur at least `min_count` times, by falling count, then by token.
        rare: R, all other tokens of train, valid and test, in the same order.
        min_count: the smallest count of a frequent token, T_min in the paper.
        counts: of every token in all splits together.
        sentences: sentences in all splits together.
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
        """Count tokens and split them; a literal `<unk>` in the data is no token of either part.

        Args:
            train: tokenised training sentences: F comes from them alone.
            others: those of the other splits.
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
        """Return what a model sees: F, every other token being `<unk>`."""
        return Vocabulary(self.frequent)

    def whole(self) -> Vocabulary:
        """Return what metrics see: the special tokens, then F, then R; ids of F agree with `model_vocabulary`."""
        return Vocabulary((*self.frequent, *self.rare))

    def digest(self) -> str:
        """Return the vocabulary hash: F and R with their counts.

        With counts, because the paper's Fig. 4 has the code move with every sample removed, even one whose words
        remain elsewhere.
        """
        parts = [sorted((token, self.counts[token]) for token in tokens) for tokens in (self.frequent, self.rare)]
        return digest(["vocabulary", *parts, self.sentences])

    def union_digest(self) -> str:
        """Return the hash of F with R as one set: what fair metrics depend on."""
        return digest(["F with R", sorted((*self.frequent, *self.rare))])

    def frequent_digest(self) -> str:
        """Return the hash of F as a set: what the original perplexity depends on."""
        return digest(["F", sorted(self.frequent)])
