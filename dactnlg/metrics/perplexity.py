"""Perplexity that can be compared across vocabularies (Huang et al. 2020, 2.2; after Ahn et al. 2016).

A model with vocabulary F gives all other words the single probability p(<unk>). The fair figure spreads it evenly over
the rare words R, so that a word of R has p(<unk>) / |R|; the original figure uses p(<unk>) itself, and falls as F
shrinks. The end of a sentence counts as a token; padding does not.

Shapes: N sentences or segments, T positions of the longest sentence with its end, S statistics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dactnlg._utils.hashing import SHORT, MultisetHash
from dactnlg.errors import MetricError
from dactnlg.metrics.base import Array, Metric, Segment, divide
from dactnlg.metrics.fair_vocabulary import FairVocabulary
from dactnlg.text.vocabulary import BOS_ID, EOS_ID, PAD_ID, UNK_ID

NAMES = ("perplexity", "perplexity-original")


@dataclass(frozen=True, slots=True)
class Perplexity:
    """Both figures over some sentences; NaN without tokens, infinite if a token has probability 0.

    Attributes:
        fair: with p(<unk>) spread over R.
        original: with p(<unk>) for each word of R.
        tokens: how many tokens were scored, sentence ends included.
        rare: how many of these are words of R.
    """

    fair: float
    original: float
    tokens: int
    rare: int


class PerplexityMeter:
    """Sums a model's log probabilities of the tokens of sentences, batch by batch.

    Args:
        vocabulary: F and R; target ids are those of `vocabulary.whole()`.
    """

    def __init__(self, vocabulary: FairVocabulary) -> None:
        whole = vocabulary.whole()
        self._first_rare, self._size = len(whole) - len(vocabulary.rare), len(whole)
        self._spread = math.log(len(vocabulary.rare)) if vocabulary.rare else 0.0
        self._original, self._tokens, self._rare = 0.0, 0, 0

    def add(self, log_probabilities: ArrayLike, targets: ArrayLike) -> Array:
        """Add a batch, and return the statistics of its sentences, (N, S): see `ModelPerplexity`.

        Args:
            log_probabilities: natural logarithms, for each target as the model sees it, (N, T): that of `<unk>` for a
                word of R. Values at padding are ignored.
            targets: ids of the true tokens, (N, T); the begin token, padding and a literal `<unk>` are not scored.

        Raises:
            MetricError: shapes that differ, an id outside the vocabulary, NaN, or a probability above 1.
        """
        logs, ids = np.asarray(log_probabilities, np.float64), np.asarray(targets)
        if logs.shape != ids.shape or not np.issubdtype(ids.dtype, np.integer):
            raise MetricError(f"log probabilities {logs.shape} and target ids {ids.shape} {ids.dtype} do not fit")
        scored = (ids != PAD_ID) & (ids != BOS_ID) & (ids != UNK_ID)
        real = ids[scored]
        if real.size and not 0 <= real.min() <= real.max() < self._size:
            raise MetricError(f"target ids are {real.min()} to {real.max()}; those of F and R end at {self._size - 1}")
        # A little above 0 is rounding.
        if not np.all(logs[scored] <= 1e-3):
            raise MetricError("log probabilities are at most 0 and never NaN")
        loss = -np.where(scored, np.minimum(logs, 0.0), 0.0).sum(axis=1)
        tokens, rare = scored.sum(axis=1), (scored & (ids >= self._first_rare)).sum(axis=1)
        self._original += float(loss.sum())
        self._tokens += int(tokens.sum())
        self._rare += int(rare.sum())
        return np.stack([loss, rare * self._spread, tokens], axis=1)

    def result(self) -> Perplexity:
        """Return both figures over all batches so far."""
        if not self._tokens:
            return Perplexity(math.nan, math.nan, 0, 0)
        spread = self._rare * self._spread
        fair, original = (_exp(total / self._tokens) for total in (self._original + spread, self._original))
        return Perplexity(fair, original, self._tokens, self._rare)


class ModelPerplexity(Metric):
    """Both figures as a metric, computed from a model's log probabilities of the references.

    Statistics, S = 3: negative log probability with p(<unk>) itself, what spreading it adds, tokens.

    Args:
        rows: the statistics, (N, 3).
    """

    names = NAMES

    def __init__(self, rows: Array) -> None:
        self.settings, self._rows = {}, rows

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the given statistics, (N, 3).

        Raises:
            MetricError: they are of another number of segments.
        """
        if len(segments) != len(self._rows):
            raise MetricError(f"the model has read {len(self._rows)} segments, not {len(segments)}")
        return self._rows

    def score(self, sums: Array) -> Array:
        """Return the fair and the original figure, (..., 3) -> (..., 2)."""
        return combine(sums)


def combine(sums: Array) -> Array:
    """Return the fair and the original figure of summed statistics, (..., 3) -> (..., 2); NaN if undefined."""
    both = np.stack([sums[..., 0] + sums[..., 1], sums[..., 0]], axis=-1)
    with np.errstate(over="ignore"):
        found = np.exp(divide(both, sums[..., 2:]))
    return np.where(np.isfinite(found), found, np.nan)


def encode(sentences: Iterable[Sequence[str]], vocabulary: FairVocabulary) -> NDArray[np.int64]:
    """Encode sentences as target ids for `PerplexityMeter.add`, each with its end, padded, (N, T)."""
    whole = vocabulary.whole()
    rows = [[*whole.encode(tokens), EOS_ID] for tokens in sentences]
    ids = np.full((len(rows), max(map(len, rows), default=0)), PAD_ID, np.int64)
    for row, found in zip(ids, rows, strict=True):
        row[: len(found)] = found
    return ids


def model_targets(targets: NDArray[np.int64], vocabulary: FairVocabulary) -> NDArray[np.int64]:
    """Return target ids as the model sees them, with `<unk>` for each word of R; same shape."""
    return np.where(targets >= len(vocabulary.whole()) - len(vocabulary.rare), UNK_ID, targets)


def spread(probabilities: Array, vocabulary: FairVocabulary) -> Array:
    """Turn a distribution over `model_vocabulary()` into one over `whole()`, (..., V) -> (..., V + |R|).

    The mass of `<unk>` goes to R; without rare words it stays.
    """
    rare = len(vocabulary.rare)
    if not rare:
        return probabilities
    share = np.repeat(probabilities[..., UNK_ID : UNK_ID + 1] / rare, rare, axis=-1)
    whole = np.concatenate([probabilities, share], axis=-1)
    whole[..., UNK_ID] = 0.0
    return whole


def signatures(tokenizer: str, vocabulary: FairVocabulary, preset: str = "fair") -> dict[str, str]:
    """Return the signatures of both figures; that of the original one also names F, on which it depends."""
    common = f"tok:{tokenizer}|eos:counted"
    union = vocabulary.union_digest()[:SHORT]
    frequent = vocabulary.frequent_digest()[:SHORT]
    return {
        NAMES[0]: f"{NAMES[0]}|{common}|unk:spread|vocabulary:{union}|preset:{preset}",
        NAMES[1]: f"{NAMES[1]}|{common}|unk:one-token|vocabulary:{union}|frequent:{frequent}|preset:{preset}",
    }


def hashes(
    pairs: Iterable[tuple[str, Sequence[str]]], tokenizer: str, vocabulary: FairVocabulary, preset: str = "fair"
) -> dict[str, str]:
    """Return the hashes of both figures over (act, tokenised reference) pairs."""
    references = MultisetHash([act, list(tokens)] for act, tokens in pairs)
    contexts = {
        NAMES[0]: [vocabulary.union_digest()],
        NAMES[1]: [vocabulary.union_digest(), vocabulary.frequent_digest()],
    }
    found = signatures(tokenizer, vocabulary, preset)
    return {name: references.hexdigest(found[name], contexts[name]) for name in NAMES}


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf
