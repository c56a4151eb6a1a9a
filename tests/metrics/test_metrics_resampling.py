"""Bootstrap and randomisation: against plain loops, against sacreBLEU's own tests, and as properties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dactnlg.errors import MetricError
from dactnlg.evaluation.scoring import TextPair, score_pairs
from dactnlg.metrics import bleu, resampling
from dactnlg.metrics.base import Segment, divide
from dactnlg.metrics.combining import scorer
from dactnlg.metrics.resampling import bootstrap, compare, interval, randomization


def mean(sums: np.ndarray) -> np.ndarray:
    return divide(sums[..., :1], sums[..., 1:])


def values(seed: int, count: int = 300, shift: float = 0.0) -> np.ndarray:
    """Statistics of a mean: a value and a 1 for each segment."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(0.5 + shift, 0.2, count), np.ones(count)])


def sentences(seed: int, faults: float, count: int = 200) -> list[Segment]:
    """Sentences of random words as references, and as hypotheses the same with some words replaced."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        words = rng.choice(list("abcdefghijklmnop"), size=int(rng.integers(5, 15)))
        said = [w if rng.random() > faults else "zzz" for w in words]
        found.append(Segment(" ".join(said), (" ".join(words),)))
    return found


def test_bootstrap_is_the_plain_loop() -> None:
    statistics = bleu.create("mteval-13a").statistics(sentences(1, 0.2, 30))
    score = bleu.create("mteval-13a").score
    fast = bootstrap(score, statistics, resamples=50, seed=3)
    rng = np.random.default_rng(3)
    drawn = rng.integers(30, size=(50, 30))
    slow = []
    for indices in drawn:
        total = np.zeros(10)
        for index in indices:
            total += statistics[index]
        slow.append(score(total))
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


def test_intervals_cover_the_true_value_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(200):
        low, high = interval(bootstrap(mean, values(seed, 60), resamples=300, seed=seed))[0]
        covered += low <= 0.5 <= high
    # The percentile interval of 60 values covers a little less than it says; 5 standard deviations are 6%.
    assert 0.87 < covered / 200 < 0.99


def test_resamples_depend_on_the_seed_alone() -> None:
    statistics = values(1)
    assert (bootstrap(mean, statistics, 20, 5) == bootstrap(mean, statistics, 20, 5)).all()
    assert (bootstrap(mean, statistics, 20, 5) != bootstrap(mean, statistics, 20, 6)).any()
    assert compare(mean, statistics, values(2), 20, 20, 5) == compare(mean, statistics, values(2), 20, 20, 5)


@pytest.mark.parametrize("count", [1, 7, 500])
def test_resamples_do_not_depend_on_the_blocks(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bootstrap(mean, values(1, count), 64), randomization(mean, values(1, count), values(2, count), 64)
    monkeypatch.setattr(resampling, "_CELLS", 16 * count)
    parts = bootstrap(mean, values(1, count), 64), randomization(mean, values(1, count), values(2, count), 64)
    for a, b in zip(whole, parts, strict=True):
        assert a.shape == (64, 1)
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_the_normal_distribution_gives_large_corpora_the_same_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = bleu.create("nlg-eval")
    first, second = (metric.statistics(sentences(1, faults, 2000)) for faults in (0.20, 0.22))
    exact = interval(bootstrap(metric.score, first)), compare(metric.score, first, second)[3]
    monkeypatch.setattr(resampling, "LARGE", 10)
    quick = interval(bootstrap(metric.score, first)), compare(metric.score, first, second)[3]
    width = np.diff(exact[0])
    assert (np.abs(exact[0] - quick[0]) < 0.15 * width).all()
    spread = exact[1].high - exact[1].low
    assert abs(exact[1].low - quick[1].low) < 0.15 * spread
    assert abs(exact[1].high - quick[1].high) < 0.15 * spread
    assert abs(exact[1].p_randomization - quick[1].p_randomization) < 0.03


def test_few_changes_in_a_large_corpus_are_not_significant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two changed segments, swaps leave the difference as it is in two cases of four."""
    monkeypatch.setattr(resampling, "LARGE", 100)
    metric = bleu.create("nlg-eval")
    first = np.tile([5.0, 5, 3, 2, 0, 0, 5, 4, 3, 2], (200, 1))
    second = first.copy()
    second[:2, 4:6] = 1
    assert [item.p_randomization for item in compare(metric.score, first, second)[2:]] == pytest.approx(
        [0.5] * 2, abs=0.02
    )
    assert compare(metric.score, first, first)[3].p_randomization == 1


def test_p_values_of_equal_and_of_different_systems() -> None:
    same = compare(mean, values(1), values(1))[0]
    assert same == (0, 0, 0, 1, 1)
    better = compare(mean, values(1), values(2, shift=0.2))[0]
    assert better.p_bootstrap < 0.01 and better.p_randomization < 0.01
    assert 0.15 < better.low < better.difference < better.high < 0.25
    back = compare(mean, values(2, shift=0.2), values(1))[0]
    assert back.difference == -better.difference
    assert back.low == pytest.approx(-better.high, rel=1e-9)


def test_p_values_are_uniform_where_there_is_no_difference() -> None:
    found = [compare(mean, values(seed, 50), values(1000 + seed, 50), 200, 200, seed)[0] for seed in range(100)]
    for p in ("p_bootstrap", "p_randomization"):
        share = np.mean([getattr(test, p) < 0.2 for test in found])
        assert 0.08 < share < 0.35, p


def test_p_values_of_means_are_those_of_the_paired_z_test() -> None:
    first = values(1, 400)
    second = first + np.column_stack([np.random.default_rng(9).normal(0.012, 0.1, 400), np.zeros(400)])
    change = (second - first)[:, 0]
    z = abs(change.mean()) / (change.std() / np.sqrt(len(change)))
    expected = 2 * (1 - 0.5 * (1 + math.erf(z / math.sqrt(2))))
    found = compare(mean, first, second, 10_000, 10_000)[0]
    assert found.p_bootstrap == pytest.approx(expected, abs=0.01)
    assert found.p_randomization == pytest.approx(expected, abs=0.01)


def test_paired_tests_agree_with_sacrebleus() -> None:
    """Scores are equal, p-values as close as two random samples allow."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    first = sentences(4, 0.2, 120)
    second = [
        Segment(" ".join(w if i % 9 else "q" for i, w in enumerate(s.hypothesis.split(), n)), s.references)
        for n, s in enumerate(first)
    ]
    metric = bleu.create("sacrebleu")
    ours = compare(metric.score, metric.statistics(first), metric.statistics(second))[3]
    systems = [("A", [s.hypothesis for s in first]), ("B", [s.hypothesis for s in second])]
    references = [[s.references[0] for s in first]]
    theirs = {}
    for kind, samples in (("ar", 2000), ("bs", 1000)):
        test = PairedTest(systems, {"BLEU": BLEU(references=references)}, references=None, test_type=kind,
                          n_samples=samples)  # fmt: skip
        theirs[kind] = test()[1]["BLEU"]
    values_ = [result.score / 100 for result in theirs["ar"]]
    assert ours.difference == pytest.approx(values_[1] - values_[0], abs=1e-9)
    assert ours.p_randomization == pytest.approx(theirs["ar"][1].p_value, abs=0.04)
    # Theirs counts one tail of the resamples, ours both.
    assert ours.p_bootstrap == pytest.approx(2 * theirs["bs"][1].p_value, abs=0.06)
    low, high = interval(bootstrap(metric.score, metric.statistics(first)))[3]
    assert (high - low) / 2 == pytest.approx(theirs["bs"][0].ci / 100, rel=0.15)


def test_undefined_scores_have_undefined_intervals_and_bad_arguments_are_refused() -> None:
    nothing = np.zeros((5, 2))
    assert np.isnan(interval(bootstrap(mean, nothing))).all()
    assert np.isnan(compare(mean, nothing, nothing)[0]).all()
    with pytest.raises(MetricError, match="not a single segment"):
        bootstrap(mean, np.zeros((0, 2)))
    with pytest.raises(MetricError, match="at least 1, not 0"):
        bootstrap(mean, values(1), resamples=0)
    with pytest.raises(MetricError, match="same segments: 300 are not 200"):
        compare(mean, values(1), values(1, 200))


def test_scores_of_every_family_can_be_computed_from_signatures_and_statistics() -> None:
    pairs = [TextPair(s.hypothesis, s.references) for s in sentences(2, 0.3, 12)]
    for preset, names in (
        ("nlg-eval", ["BLEU", "NIST", "ROUGE-L", "CIDEr", "chrF", "TER", "SER"]),
        ("single", ["BLEU-4"]),
        ("e2e", ["BLEU-2"]),
        ("rnnlg", ["BLEU"]),
    ):
        result = score_pairs(pairs, names, preset)
        signatures = {score.name: score.signature for score in result.scores.values()}
        for family, rows in result.statistics.items():
            made = scorer(family, signatures, rows.shape[1])
            assert made is not None, family
            again = dict(zip(made[0], made[1](rows.sum(axis=0)), strict=True))
            for name in set(made[0]) & set(result.scores):
                value = result.scores[name].value
                assert again[name] == pytest.approx(np.nan if value is None else value, nan_ok=True), name
    assert scorer("unheard-of", {}, 7) is None
