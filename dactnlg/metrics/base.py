"""The contract of a metric: statistics per segment, and scores as a function of summed statistics.

Statistics are short, additive rows of numbers, kept separate from the scores, so that scoring a subset, a bootstrap
resample or a second system costs one sum and no second look at the text.

Shapes: N segments, S statistics per segment, K scores per metric (BLEU has four).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.hashing import SHORT as SHORT
from dactnlg.acts import Turn

Array = NDArray[np.float64]


class Segment(NamedTuple):
    """One hypothesis with its references, as they are scored.

    `turn` is the act, if known; `raw` is the hypothesis as given, if the preset normalised it.
    """

    hypothesis: str
    references: Sequence[str]
    turn: Turn | None = None
    raw: str | None = None

    @property
    def text(self) -> str:
        """The hypothesis as given, before normalisation."""
        return self.hypothesis if self.raw is None else self.raw


class Named(ABC):
    """A family of scores: their names and the settings that define them.

    Attributes:
        names: the scores it computes, such as `BLEU-1` ... `BLEU-4`.
        settings: what distinguishes it from other metrics of the same name (variant, tokeniser, ...); part of the
            signature.
    """

    names: tuple[str, ...]
    settings: dict[str, str]

    def warnings(self) -> list[str]:
        """Return caveats for readers of the scores, one sentence each."""
        return []

    def needs(self) -> str:
        """Return the command that installs what the metric requires; empty if it is installed."""
        return ""

    def signature(self, name: str, preset: str = "") -> str:
        """Return the signature of the score `name`: the settings that must agree for two values to be comparable."""
        parts = [name, *(f"{key}:{value}" for key, value in self.settings.items())]
        return "|".join([*parts, f"preset:{preset}"] if preset else parts)


class Metric(Named):
    """A family whose corpus scores are computed from statistics of segments.

    Attributes:
        needs_corpus: whether `prepare` must see all references before `statistics` is called.
        patient: whether it runs after the other metrics, since what it has started takes a while to be ready.
    """

    needs_corpus: bool = False
    patient: bool = False

    def expect(self, segments: Sequence[Segment]) -> None:
        """See the first segments before any metric runs, so that slow preparations can start early."""

    def prepare(self, references: Iterable[Sequence[str]]) -> None:
        """See all references of the corpus, for metrics that weight n-grams by them (CIDEr, NIST)."""

    @abstractmethod
    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the statistics of each segment, (N, S); a row of zeros for a segment without references."""

    @abstractmethod
    def score(self, sums: Array) -> Array:
        """Return the scores of summed statistics, (..., S) -> (..., K); NaN where undefined."""

    def forget(self) -> None:
        """Free what only `statistics` needs (caches, worker processes); it will not be called again."""

    def segment_scores(self, statistics: Array) -> Array:
        """Return the scores of individual segments, (N, S) -> (N, K)."""
        return self.score(statistics)


class MeansMetric(Metric):
    """A family whose corpus scores are means over segments; S = K + 1: the scores, and 1 where defined."""

    def score(self, sums: Array) -> Array:
        """Return the means, (..., K + 1) -> (..., K); NaN if there are no segments."""
        return mean(sums)


class MeanMetric(MeansMetric):
    """A metric whose corpus score is the mean over segments (ROUGE-L, CIDEr); S = 2: the score, and 1 where defined."""

    @abstractmethod
    def score_segment(self, segment: Segment) -> float:
        """Return the score of one segment that has references."""

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return (score, 1) per segment, (0, 0) for one without references; (N, 2)."""
        rows = [(self.score_segment(segment), 1.0) if segment.references else (0.0, 0.0) for segment in segments]
        return np.asarray(rows, dtype=np.float64).reshape(-1, 2)


class BoundedMetric(Metric):
    """A metric whose run time is quadratic in the length of a line, or worse.

    Pairs of very long lines are left undefined and counted in a warning.

    Attributes:
        limit: the largest product of words in the hypothesis and words in the longest reference.
    """

    limit = 1_000_000
    _left_out = 0

    def fits(self, segment: Segment) -> bool:
        """Whether a segment has references and is within the limit; segments beyond it are counted."""
        longest = max(segment.references, key=len, default="")
        if len(segment.hypothesis) * len(longest) > self.limit:
            words = len(segment.hypothesis.split()) * max(len(reference.split()) for reference in segment.references)
            if words > self.limit:
                self._left_out += 1
                return False
        return bool(segment.references)

    def warnings(self) -> list[str]:
        """Return how many segments were left out."""
        if not self._left_out:
            return []
        what = f"{self._left_out} segments are undefined: words of hypothesis times reference exceed {self.limit:,}"
        return [f"{self.names[0]}: {what}"]


class CorpusMetric(Named):
    """Scores defined for a whole corpus only; segments are added in chunks, and the scores computed at the end."""

    @abstractmethod
    def update(self, segments: Sequence[Segment]) -> None:
        """Add some segments."""

    @abstractmethod
    def scores(self) -> tuple[float, ...]:
        """Return the scores in the order of `names`; NaN where undefined."""


def divide(numerator: Array, denominator: Array) -> Array:
    """Divide element-wise; NaN, without a warning, where the denominator is 0."""
    result: Array = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    np.divide(numerator, denominator, out=result, where=denominator != 0)
    return result


def mean(sums: Array) -> Array:
    """Divide summed scores by the number of segments in the last column, (..., K + 1) -> (..., K)."""
    return divide(sums[..., :-1], sums[..., -1:])


def settings_of(signature: str) -> dict[str, str]:
    """Parse the settings of a signature: `BLEU-4|variant:rnnlg|...` gives `{"variant": "rnnlg", ...}`."""
    return dict(part.partition(":")[::2] for part in signature.split("|")[1:])


def ngrams(tokens: Sequence[str], order: int) -> Iterator[tuple[str, ...]]:
    """Yield the n-grams of one order."""
    return zip(*(tokens[start:] for start in range(order)), strict=False)


def first_ngrams(tokens: list[str]) -> tuple[Sequence[Any], ...]:
    """Return the n-grams of orders 1 to 4; unigrams are plain words, not tuples."""
    # Unrolled, since this dominates the time of scoring a million sentences.
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    pairs, triples = zip(tokens, second, strict=False), zip(tokens, second, third, strict=False)
    return tokens, list(pairs), list(triples), list(zip(tokens, second, third, fourth, strict=False))
