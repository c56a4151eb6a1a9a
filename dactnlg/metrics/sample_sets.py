"""Metrics of a whole set of sentences against another: fluency forwards, diversity backwards (Huang et al. 2020, C.1).

Segments are given chunk by chunk, and the scores asked for at the end. All read text by `standard_tokens`, and none
depends on the order of segments.
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
from dactnlg.text.tokenizers import standard_tokens
from dactnlg.text.vocabulary import UNK


class ReferenceSet(NamedTuple):
    """Sentences as one reference list: their lengths, and how often each n-gram may be matched."""

    lengths: frozenset[int]
    limits: Mapping[Gram, int]

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> ReferenceSet:
        """Count tokenised sentences; an n-gram with `<unk>` cannot be matched."""
        lengths, limits = set(), dict[Gram, int]()
        for tokens in sentences:
            lengths.add(len(tokens))
            for gram, count in count_grams(tokens).items():
                if count > limits.get(gram, 0) and UNK not in gram:
                    limits[gram] = count
        return cls(frozenset(lengths), limits)

    def bleu(self, tokens: Sequence[str]) -> float:
        """Return the sentence BLEU-4 of tokens, 0 where not one word matches."""
        return sentence_bleu(tokens, lambda gram, _: self.limits.get(gram, 0), self.lengths)


class _SetMetric(CorpusMetric):
    """What the metrics below share: hypotheses and references collected as they come."""

    def __init__(self) -> None:
        self._hypotheses: list[str] = []
        self._references: list[str] = []

    def update(self, segments: Sequence[Segment]) -> None:
        """Remember hypotheses and references of some segments."""
        for segment in segments:
            self._hypotheses.append(segment.hypothesis)
            self._references.extend(segment.references)

    def _sampled(self, size: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
        both = (sample(self._hypotheses, size, seed), sample(self._references, size, seed))
        return tuple([standard_tokens(text) for text in texts] for texts in both)  # type: ignore[return-value]


class SetBleu(_SetMetric):
    """Forward, backward and harmonic BLEU (Shi et al. 2018).

    Forward: the mean sentence BLEU-4 of hypotheses against all references as one list (fluency).
    Backward: that of references against all hypotheses (coverage). Undefined without either.

    Args:
        size: sentences of each side at most; drawn by hash, so the draw depends on the seed and not on any order.
        seed: of the draw.
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

    Forward: the model learns the references and reads the hypotheses (fluency). Reverse: it learns the hypotheses and
    reads the references (diversity). Both know the words of the references, the same for all systems, and read every
    other one, `<unk>` too, as one unknown word. Undefined without either side.

    Args:
        size: sentences of each side at most, drawn as `SetBleu` does.
        seed: of the draw.
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
    """Return at most `size` of the sentences, whose choice and order depend on their multiset and the seed alone."""
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
