"""Metrics of a whole set of sentences against another: fluency forwards, diversity backwards (Huang et al. 2020, C.1).

Segments are added in chunks, and the scores computed at the end. All tokenise with `standard_tokens`; none depends on
the order of segments.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dactnlg.metrics.base import CorpusMetric, Segment
from dactnlg.metrics.kneser_ney import ORDER as LANGUAGE_MODEL_ORDER
from dactnlg.metrics.kneser_ney import KneserNey
from dactnlg.metrics.sentence_bleu import SETTINGS, Gram, count_grams, sentence_bleu
from dactnlg.metrics.tokenizers.fair import standard_tokens
from dactnlg.text.vocabulary import UNK


class ReferenceSet(NamedTuple):
    """Sentences as one set of references: their lengths, and how often each n-gram may be matched."""

    lengths: frozenset[int]
    limits: Mapping[Gram, int]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> ReferenceSet:
        """Build it from tokenised sentences; n-grams with `<unk>` never match."""
        lengths, limits = set(), dict[Gram, int]()
        for tokens in sentences:
            lengths.add(len(tokens))
            for gram, count in count_grams(tokens).items():
                if count > limits.get(gram, 0) and UNK not in gram:
                    limits[gram] = count
        return cls(frozenset(lengths), limits)

    def bleu(self, tokens: Sequence[str]) -> float:
        """Return the sentence BLEU-4 of tokens; 0 if no word matches."""
        return sentence_bleu(tokens, lambda gram, _: self.limits.get(gram, 0), self.lengths)


class _SetMetric(CorpusMetric):
    """Base of the metrics below: collects hypotheses and references."""

    def __init__(self) -> None:
        self._hypotheses: list[str] = []
        self._references: list[str] = []

    def update(self, segments: Sequence[Segment]) -> None:
        """Collect the hypotheses and references of some segments."""
        for segment in segments:
            self._hypotheses.append(segment.hypothesis)
            self._references.extend(segment.references)

    def _sampled(self, size: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
        both = (sample(self._hypotheses, size, seed), sample(self._references, size, seed))
        return tuple([standard_tokens(text) for text in texts] for texts in both)  # type: ignore[return-value]


class SetBleu(_SetMetric):
    """Forward, backward and harmonic BLEU (Shi et al. 2018).

    Forward: the mean sentence BLEU-4 of hypotheses against all references together (fluency).
    Backward: that of references against all hypotheses (coverage). Undefined if either side is empty.

    Args:
        size: the most sentences of each side; drawn by hash, so the sample depends on the seed and not on any order.
        seed: the seed of the sample.
    """

    names = ("forward-BLEU", "backward-BLEU", "harmonic-BLEU")

    def __init__(self, size: int = 1000, seed: int = 0) -> None:
        super().__init__()
        self._size, self._seed = size, seed
        self.settings = {"tok": "standard-13a", **SETTINGS, "unk": "never-matches"}
        self.settings |= {"sample": str(size), "seed": str(seed)}

    def scores(self) -> tuple[float, ...]:
        """Return forward, backward and harmonic BLEU."""
        hypotheses, references = self._sampled(self._size, self._seed)
        if not hypotheses or not references:
            return (math.nan,) * 3
        forward, backward = _mean_bleu(hypotheses, references), _mean_bleu(references, hypotheses)
        harmonic = 2 * forward * backward / (forward + backward) if forward + backward else 0.0
        return forward, backward, harmonic


class SetPerplexity(_SetMetric):
    """Forward and reverse perplexity (Zhao et al. 2018) under a 5-gram Kneser-Ney model.

    Forward: trained on the references, evaluated on the hypotheses (fluency). Reverse: trained on the hypotheses,
    evaluated on the references (diversity). The vocabulary of both is that of the references, the same for all systems;
    every other word, `<unk>` included, is one unknown word. Undefined if either side is empty.

    Args:
        size: the most sentences of each side, sampled as for `SetBleu`.
        seed: the seed of the sample.
    """

    names = ("forward-perplexity", "reverse-perplexity")

    def __init__(self, size: int = 10_000, seed: int = 0) -> None:
        super().__init__()
        self._size, self._seed = size, seed
        self.settings = {"tok": "standard-13a", "lm": f"{LANGUAGE_MODEL_ORDER}-gram-modified-kneser-ney"}
        self.settings |= {"sample": str(size), "seed": str(seed)}

    def scores(self) -> tuple[float, ...]:
        """Return forward and reverse perplexity."""
        hypotheses, references = self._sampled(self._size, self._seed)
        if not hypotheses or not references:
            return (math.nan,) * 2
        words = {word for tokens in references for word in tokens} - {UNK}
        forward = KneserNey(references, words).perplexity(hypotheses)
        return forward, KneserNey(hypotheses, words).perplexity(references)


def sample(sentences: Sequence[str], size: int, seed: int) -> list[str]:
    """Return at most `size` sentences; choice and order depend only on the multiset of sentences and the seed."""
    seen: Counter[str] = Counter()
    keyed = []
    for sentence in sentences:
        seen[sentence] += 1
        text = f"{seed}\0{seen[sentence]}\0{sentence}".encode("utf-8", "surrogatepass")
        keyed.append((hashlib.sha256(text).digest(), sentence))
    return [sentence for _, sentence in sorted(keyed)[:size]]


def _mean_bleu(sentences: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    against = ReferenceSet.of(references)
    return math.fsum(map(against.bleu, sentences)) / len(sentences)
