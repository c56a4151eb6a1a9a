"""Diversity of a system's hypotheses as a whole: distinct-1/2, self-BLEU, mean length, vocabulary, novelty.

These belong to a corpus, not to a segment: they cannot be computed from sums over segments, so they have no intervals.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from dactnlg.metrics.base import CorpusMetric, Segment, ngrams
from dactnlg.metrics.sentence_bleu import SETTINGS, Gram, count_grams, sentence_bleu
from dactnlg.metrics.tokenizers.words import tokenizer

_UNDEFINED = math.nan


class Diversity(CorpusMetric):
    """distinct-1 and distinct-2 (Li et al. 2016: distinct n-grams / n-grams), tokens a sentence, distinct tokens.

    distinct-n is undefined if there are no n-grams. Sentences without tokens count in the mean length.
    """

    names = ("distinct-1", "distinct-2", "mean-length", "vocabulary")

    def __init__(self, tokenization: str = "space") -> None:
        self.settings = {"tok": tokenization}
        self._split = tokenizer(tokenization)
        self._words: set[str] = set()
        self._bigrams: set[tuple[str, ...]] = set()
        self._sentences = self._tokens = self._pairs = 0

    def update(self, segments: Sequence[Segment]) -> None:
        """Count the n-grams of the hypotheses."""
        for segment in segments:
            tokens = self._split(segment.hypothesis)
            self._words.update(tokens)
            self._bigrams.update(ngrams(tokens, 2))
            self._sentences += 1
            self._tokens += len(tokens)
            self._pairs += max(len(tokens) - 1, 0)

    def scores(self) -> tuple[float, ...]:
        """Return distinct-1, distinct-2, mean length and vocabulary."""
        return (
            len(self._words) / self._tokens if self._tokens else _UNDEFINED,
            len(self._bigrams) / self._pairs if self._pairs else _UNDEFINED,
            self._tokens / self._sentences if self._sentences else _UNDEFINED,
            float(len(self._words)) if self._sentences else _UNDEFINED,
        )


class SelfBleu(CorpusMetric):
    """Mean sentence BLEU-4 of each hypothesis against all others (Zhu et al. 2018, section 3.2): 1 if all are alike.

    Exact, over all hypotheses, in linear time: only the two highest counts of each n-gram matter, the second for the
    sentence that has the highest. Undefined for fewer than two hypotheses.
    """

    names = ("self-BLEU",)

    def __init__(self, tokenization: str = "space") -> None:
        self.settings = {"tok": tokenization, **SETTINGS}
        self._split = tokenizer(tokenization)
        self._sentences: Counter[tuple[str, ...]] = Counter()

    def update(self, segments: Sequence[Segment]) -> None:
        """Collect the hypotheses; repeated ones are kept once, with their count."""
        self._sentences.update(tuple(self._split(segment.hypothesis)) for segment in segments)

    def scores(self) -> tuple[float, ...]:
        """Return self-BLEU."""
        total = sum(self._sentences.values())
        if total < 2:
            return (_UNDEFINED,)
        # A repeated sentence is among its own references, so all its n-grams match.
        lengths = Counter[int]()
        highest: dict[Gram, tuple[int, int]] = {}
        for tokens, times in self._sentences.items():
            lengths[len(tokens)] += times
            for gram, count in count_grams(tokens).items():
                first, second = highest.get(gram, (0, 0))
                if count > first:
                    highest[gram] = (count, first)
                elif count > second:
                    highest[gram] = (first, count)
        summed = 0.0
        for tokens, times in self._sentences.items():
            lengths[len(tokens)] -= 1
            others = (length for length, number in lengths.items() if number)
            summed += times * sentence_bleu(tokens, partial(_limit, highest, among_others=times > 1), others)
            lengths[len(tokens)] += 1
        return (summed / total,)


class Novelty(CorpusMetric):
    """Share of the hypotheses that are no sentence of the training data, token by token.

    Undefined without training data, and without hypotheses.

    Args:
        train: the training sentences, normalised like the hypotheses; None if unknown.
        tokenization: the name of the tokeniser.
    """

    names = ("novelty",)

    def __init__(self, train: Iterable[str] | None, tokenization: str = "space") -> None:
        self._split = tokenizer(tokenization)
        self._train = None if train is None else {tuple(self._split(sentence)) for sentence in train}
        self.settings = {"tok": tokenization, "train": "unknown"}
        if self._train is not None:
            text = "\n".join(sorted(map(" ".join, self._train)))
            self.settings["train"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        self._sentences = self._new = 0

    def update(self, segments: Sequence[Segment]) -> None:
        """Count the hypotheses, and those that are new."""
        if self._train is not None:
            self._sentences += len(segments)
            self._new += sum(tuple(self._split(segment.hypothesis)) not in self._train for segment in segments)

    def warnings(self) -> list[str]:
        """Say why the value is undefined, or why everything is new."""
        if self._train is None:
            return ["novelty needs the sentences of the training data: --train FILE"]
        return [] if self._train else ["novelty: the training data have not a single sentence, so all are new"]

    def scores(self) -> tuple[float, ...]:
        """Return the share."""
        return (self._new / self._sentences if self._sentences else _UNDEFINED,)


def _limit(highest: dict[Gram, tuple[int, int]], gram: Gram, count: int, *, among_others: bool) -> int:
    """Return how often an n-gram may be matched; `among_others` is whether the sentence occurs more than once."""
    first, second = highest[gram]
    return first if among_others or count < first else second
