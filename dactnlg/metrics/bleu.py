"""BLEU-1 to BLEU-4 (Papineni et al. 2002), in the four definitions that published numbers use.

| variant | tokens | reference length | precision of order n | zero matches |
|---|---|---|---|---|
| `nlg-eval` | white space | closest, the shorter of two | (correct + 1e-15) / (guessed + 1e-9) | a tiny number |
| `rnnlg` | white space | closest, the shorter of two | correct / (guessed + 1e-7) + 1e-7 | a tiny number |
| `mteval-13a` | mteval-v13a's | closest, the shorter of two | correct / guessed | 0 |
| `sacrebleu` | the sacrebleu library's 13a | as the library does | as the library does | exponential smoothing |

Segments may have any number of references; their order does not matter. RNNLG's own scorer takes the first of two
equally close reference lengths, so that the order of its files matters; its published numbers do not depend on such a
pair. A mean above 1, which its 1e-7 can cause, is cut to 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from dactnlg.errors import UnknownNameError
from dactnlg.metrics.base import Array, Metric, Segment, first_ngrams
from dactnlg.metrics.tokenizers.fair import standard_tokens
from dactnlg.metrics.tokenizers.words import tokenizer
from dactnlg.text.vocabulary import UNK

ORDER = 4
VARIANTS = ("nlg-eval", "rnnlg", "mteval-13a", "sacrebleu", "fair")
_TOKENIZERS = {"nlg-eval": "space", "rnnlg": "space", "mteval-13a": "13a"}


def create(variant: str, *, lowercase: bool = False) -> Metric:
    """Return BLEU in one of `VARIANTS`; `lowercase` is meant for the variants that tokenise raw text.

    Raises:
        UnknownNameError: no such variant.
    """
    if variant == "sacrebleu":
        return SacreBleu(lowercase=lowercase)
    if variant == "fair":
        return FairBleu()
    if variant not in VARIANTS:
        raise UnknownNameError("BLEU variant", variant, VARIANTS)
    return Bleu(variant, lowercase=lowercase)


class Bleu(Metric):
    """BLEU by one of the three definitions above that are computed here.

    Statistics (S = 10): hypothesis length, reference length, correct n-grams of orders 1..4, guessed ones.
    """

    names = tuple(f"BLEU-{order}" for order in range(1, ORDER + 1))

    def __init__(self, variant: str = "nlg-eval", *, lowercase: bool = False) -> None:
        self.variant = variant
        self.settings = {
            "variant": variant,
            "tok": _TOKENIZERS[variant],
            "case": "lower" if lowercase else "as-is",
            "length": "closest-shorter",
        }
        self._lowercase = lowercase
        self._split = tokenizer(_TOKENIZERS[variant])

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the counts of each segment, (N, 10)."""
        rows = np.zeros((len(segments), 2 + 2 * ORDER))
        # In grouped corpora, segments with the same references are adjacent: count these once.
        known: dict[tuple[str, ...], list[list[str]]] = {}
        grams_of: dict[tuple[str, ...], list[set[Any]]] = {}
        for row, segment in zip(rows, segments, strict=True):
            if not segment.references:
                continue
            key = tuple(segment.references)
            if key not in known:
                if len(known) > 64:
                    known.clear()
                    grams_of.clear()
                known[key] = [self._reference_tokens(reference) for reference in key]
                grams_of[key] = [set(chain(*grams)) for grams in zip(*map(first_ngrams, known[key]), strict=True)]
            row[:] = self._count(self._tokens(segment.hypothesis), known[key], grams_of[key])
        return rows

    def score(self, sums: Array) -> Array:
        """Return BLEU-1..4, (..., 10) -> (..., 4); NaN where both hypotheses and references are empty."""
        length, reference = sums[..., 0], sums[..., 1]
        correct, guessed = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if self.variant == "nlg-eval":
                precisions = (correct + 1e-15) / (guessed + 1e-9)
                ratio = (length + 1e-15) / (reference + 1e-9)
            elif self.variant == "rnnlg":
                precisions = correct / (guessed + 1e-7) + 1e-7
                ratio = length / reference
            else:
                precisions = np.where(guessed > 0, correct / guessed, 0.0)
                ratio = length / reference
            penalty = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
            mean = np.minimum(np.exp(np.cumsum(np.log(precisions), axis=-1) / np.arange(1, ORDER + 1)), 1.0)
        values = penalty[..., None] * mean
        return np.where((length == 0)[..., None], np.where((reference == 0)[..., None], np.nan, 0.0), values)

    def _tokens(self, sentence: str) -> list[str]:
        return self._split(sentence.lower() if self._lowercase else sentence)

    def _reference_tokens(self, sentence: str) -> list[str]:
        return self._tokens(sentence)

    def _count(self, tokens: list[str], references: list[list[str]], grams_of: list[set[Any]]) -> list[int]:
        """Return one row of statistics; `grams_of` holds the n-grams of all references, by order."""
        length = len(tokens)
        closest = min(map(len, references), key=lambda other: (abs(other - length), other))
        matches = []
        for order, (grams, known) in enumerate(zip(first_ngrams(tokens), grams_of, strict=True)):
            different = set(grams)
            matched = len(different & known)
            # Most sentences repeat no n-gram; then comparing sets is enough.
            if matched and len(different) < len(grams):
                matched += _again(grams, [first_ngrams(reference)[order] for reference in references])
            matches.append(matched)
        return [length, closest, *matches, *(max(length - order, 0) for order in range(ORDER))]


class FairBleu(Bleu):
    """BLEU that does not depend on a system's tokeniser or vocabulary (Huang et al. 2020, 2.2, Fig. 1b).

    BLEU-1..4 on text that is detokenised and tokenised again uniformly, where n-grams with `<unk>` never match.

    Like any wrong word, `<unk>` counts in lengths and among the guesses. Reference length and zero matches are as in
    `nlg-eval`.
    """

    def __init__(self) -> None:
        super().__init__("nlg-eval")
        self.settings = {**self.settings, "variant": "fair", "tok": "standard-13a", "unk": "never-matches"}
        self._split = standard_tokens

    def _reference_tokens(self, sentence: str) -> list[str]:
        # Hypotheses have no empty tokens, so n-grams with one never match, and lengths are unchanged.
        return ["" if token == UNK else token for token in self._tokens(sentence)]


class SacreBleu(Metric):
    """BLEU by the sacrebleu library with its default settings (Post 2018); the same ten statistics as `Bleu`."""

    names = Bleu.names

    def __init__(self, *, lowercase: bool = False) -> None:
        # Imported late: it takes a tenth of a second.
        import sacrebleu
        from sacrebleu.metrics.bleu import BLEU

        self._library: Any = BLEU(lowercase=lowercase, effective_order=True)
        self.settings = {
            "variant": "sacrebleu",
            "tok": "13a",
            "case": "lower" if lowercase else "as-is",
            "smooth": "exp",
            "version": sacrebleu.__version__,
        }

    def statistics(self, segments: Sequence[Segment]) -> Array:
        """Return the library's counts of each segment, (N, 10)."""
        rows = np.zeros((len(segments), 2 + 2 * ORDER))
        for row, segment in zip(rows, segments, strict=True):
            if segment.references:
                found = self._library.sentence_score(segment.hypothesis, list(segment.references))
                row[:] = [found.sys_len, found.ref_len, *found.counts, *found.totals]
        return rows

    def score(self, sums: Array) -> Array:
        """Return BLEU-1..4, (..., 10) -> (..., 4)."""
        return self._scores(sums, effective_order=False)

    def segment_scores(self, statistics: Array) -> Array:
        """Return sentence BLEU without the orders longer than the hypothesis, as the library advises."""
        return self._scores(statistics, effective_order=True)

    def _scores(self, sums: Array, *, effective_order: bool) -> Array:
        flat = sums.reshape(-1, 2 + 2 * ORDER)
        values = np.full((len(flat), ORDER), np.nan)
        for row, out in zip(flat, values, strict=True):
            if not row[:2].any():
                continue
            counts = [int(count) for count in row]
            for order in range(1, ORDER + 1):
                correct, guessed = counts[2 : 2 + order], counts[2 + ORDER : 2 + ORDER + order]
                found = self._library.compute_bleu(
                    correct, guessed, *counts[:2], "exp", None, effective_order, max_ngram_order=order
                )
                out[order - 1] = min(found.score / 100, 1.0)
        return values.reshape(*sums.shape[:-1], ORDER)


def _again(grams: Sequence[Any], references: list[Sequence[Any]]) -> int:
    """Return the number of matches of repeated n-grams beyond the first match of each."""
    repeated = {gram: count for gram, count in Counter(grams).items() if count > 1}
    limits = dict.fromkeys(repeated, 0)
    for reference in references:
        for gram, count in Counter(gram for gram in reference if gram in repeated).items():
            limits[gram] = max(limits[gram], count)
    return sum(min(repeated[gram], limit) - 1 for gram, limit in limits.items() if limit)
