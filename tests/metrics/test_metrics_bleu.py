"""BLEU in its variants, its tokeniser, and the hash of references."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dactnlg.acts import parse
from dactnlg.errors import UnknownNameError
from dactnlg.metrics import bleu
from dactnlg.metrics.base import Segment
from dactnlg.metrics.reference_hash import ReferenceHash
from dactnlg.metrics.tokenizers.words import split_13a

WORDS = st.lists(st.sampled_from("a b c d".split()), max_size=7).map(" ".join)  # noqa: SIM905
SEGMENTS = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=4)), min_size=1, max_size=6)


def segments(rows: Sequence[tuple[str, Sequence[str]]]) -> list[Segment]:
    return [Segment(hypothesis, references) for hypothesis, references in rows]


def corpus_score(variant: str, rows: Sequence[tuple[str, Sequence[str]]]) -> np.ndarray:
    metric = bleu.create(variant)
    return metric.score(metric.statistics(segments(rows)).sum(axis=0))


def plain_bleu(rows: Sequence[tuple[str, Sequence[str]]], order: int, small: float, tiny: float) -> float:
    """Corpus BLEU straight from Papineni et al. 2002, sections 2.1 and 2.2, n-gram by n-gram."""
    matched, guessed, length, reference_length = [0] * order, [0] * order, 0, 0
    for hypothesis, references in rows:
        words = hypothesis.split()
        lengths = sorted(len(r.split()) for r in references)
        length += len(words)
        reference_length += min(lengths, key=lambda n: abs(n - len(words)))
        for n in range(1, order + 1):
            counts = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            guessed[n - 1] += sum(counts.values())
            for gram, count in counts.items():
                best = max(
                    sum(tuple(r[i : i + n]) == gram for i in range(len(r)))
                    for r in (reference.split() for reference in references)
                )
                matched[n - 1] += min(count, best)
    product = math.prod((m + tiny) / (g + small) for m, g in zip(matched, guessed, strict=True))
    ratio = (length + tiny) / (reference_length + small)
    return product ** (1 / order) * (math.exp(1 - 1 / ratio) if ratio < 1 else 1)


@settings(deadline=None)
@given(SEGMENTS.filter(lambda rows: any(h for h, _ in rows)))
def test_nlg_eval_variant_equals_a_plain_implementation(rows: list[tuple[str, list[str]]]) -> None:
    ours = corpus_score("nlg-eval", rows)
    for order in range(1, 5):
        assert ours[order - 1] == pytest.approx(plain_bleu(rows, order, 1e-9, 1e-15), rel=1e-6, abs=1e-12)


@settings(deadline=None)
@given(SEGMENTS)
def test_identical_hypotheses_score_one_and_nothing_exceeds_it(rows: list[tuple[str, list[str]]]) -> None:
    for variant in bleu.VARIANTS:
        scores = corpus_score(variant, rows)
        assert np.all(np.isnan(scores) | ((scores >= 0) & (scores <= 1 + 1e-6)))
    long = [(refs[-1] + " a b c d", [*refs, refs[-1] + " a b c d"]) for _, refs in rows]
    for variant in bleu.VARIANTS:
        assert corpus_score(variant, long) == pytest.approx(np.ones(4), abs=1e-6)


@settings(deadline=None)
@given(SEGMENTS)
def test_statistics_of_a_segment_do_not_depend_on_the_others(rows: list[tuple[str, list[str]]]) -> None:
    metric = bleu.create("nlg-eval")
    together = metric.statistics(segments(rows))
    apart = np.concatenate([metric.statistics(segments([row])) for row in rows])
    assert np.array_equal(together, apart)


@settings(deadline=None)
@given(SEGMENTS.filter(lambda rows: any(h for h, _ in rows)))
def test_sacrebleu_variant_is_the_library(rows: list[tuple[str, list[str]]]) -> None:
    from sacrebleu.metrics.bleu import BLEU

    width = max(len(references) for _, references in rows)
    streams = [[refs[i] if i < len(refs) else None for _, refs in rows] for i in range(width)]
    expected = BLEU().corpus_score([h for h, _ in rows], streams).score / 100
    assert corpus_score("sacrebleu", rows)[3] == pytest.approx(expected, abs=1e-9)


def test_bleu_of_one_pair_is_nlg_evals(oracle_dir: Path) -> None:
    """nlg-eval 2.3 (oracles/calibration.json); test_metrics_suite.py compares 1,181 segments."""
    case = json.loads((oracle_dir / "calibration.json").read_text())["nlg-eval, tiny"]
    scores = corpus_score("nlg-eval", [(case["hypothesis"], case["references"])])
    assert scores[:3] == pytest.approx([case[f"BLEU-{n}"] for n in (1, 2, 3)], abs=1e-6), (
        "the oracle is cut, not rounded"
    )
    assert scores[3] == pytest.approx(case["BLEU-4"], rel=1e-4)


@pytest.mark.parametrize("variant", bleu.VARIANTS)
def test_extremes_are_finite_or_undefined(variant: str) -> None:
    metric = bleu.create(variant)
    rows = metric.statistics(
        segments([("", ["a b"]), ("a", ["a"]), ("a b", []), ("a " * 10_000, ["a b"]), ("x", ["a b", "c d e", "f"])])
    )
    scores = metric.segment_scores(rows)
    assert np.all(scores[0] == 0)
    assert np.all(np.isnan(scores[2])), "no reference: undefined, not 0"
    assert np.all(np.isfinite(scores[[1, 3, 4]]))
    assert np.all(np.isfinite(metric.score(rows.sum(axis=0))))
    assert np.all(np.isnan(metric.score(rows[2])))


@pytest.mark.parametrize("variant", ["nlg-eval", "rnnlg", "mteval-13a"])
def test_of_two_equally_close_reference_lengths_the_shorter_counts(variant: str) -> None:
    rows = bleu.create(variant).statistics(segments([("a b c", ["a b c d", "a b"])]))
    assert rows[0, 1] == 2


@pytest.mark.parametrize("variant", bleu.VARIANTS)
def test_the_order_of_references_changes_nothing(variant: str) -> None:
    references = ["a b c d", "a b", "c b a", "a", "b a c d e"]
    orders = [references, references[::-1], sorted(references), sorted(references, key=len)]
    metric = bleu.create(variant)
    rows = metric.statistics(segments([("a b c", order) for order in orders]))
    assert (rows == rows[0]).all()


@pytest.mark.parametrize("variant", bleu.VARIANTS)
def test_no_bleu_is_above_1(variant: str) -> None:
    metric = bleu.create(variant)
    rows = metric.statistics(segments([("a b c d e " * n, ["a b c d e " * n]) for n in (1, 2, 1000)]))
    assert metric.segment_scores(rows) == pytest.approx(1, abs=1e-6)
    assert metric.segment_scores(rows).max() <= 1 >= metric.score(rows.sum(axis=0)).max()


def test_unknown_variant_names_the_valid_ones() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'nlg-eval'"):
        bleu.create("nlgeval")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_13a_tokens_are_sacrebleus(text: str) -> None:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    assert split_13a(text) == Tokenizer13a()(text).split()


def test_a_hash_is_that_of_a_multiset_of_pairs() -> None:
    first, second = parse("inform(name=a)"), parse("inform(name=b)")

    def digest(*pairs: tuple[object, list[str]], signature: str = "BLEU-4") -> str:
        state = ReferenceHash()
        for turn, references in pairs:
            state.update(references, turn)  # type: ignore[arg-type]
        return state.hexdigest(signature)

    one = digest((first, ["x", "y"]), (second, ["z"]))
    assert one == digest((second, ["z"]), (first, ["y", "x"])), "order is no difference"
    assert one != digest((first, ["z"]), (second, ["x", "y"])), "references swapped between two acts"
    assert one != digest((first, ["x", "y"]), (second, ["z"]), (second, ["z"])), "a pair said twice"
    assert one != digest((first, ["x", "y"]))
    assert one != digest((first, ["x", "y"]), (second, ["z"]), signature="BLEU-2")
    assert digest((first, ["x"]), (first, ["x"])) != digest(), "a pair given twice does not cancel out"
    assert len(one) == 64
