"""Agreement of raters, compared with R, the krippendorff library and cases worked out by hand."""

from __future__ import annotations

import math
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from study_raters import small_study

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analysis.agreement import PairKappa, exceeding, kappas
from dactnlg.studies.analysis.ambiguous import ambiguous
from dactnlg.studies.analysis.correlation import correlate
from dactnlg.studies.analysis.filtering import RULES, filter_raters
from dactnlg.studies.analysis.human import split_halves
from dactnlg.studies.analysis.judgements import judgements
from dactnlg.studies.analysis.metric_scores import MetricScores
from dactnlg.studies.analysis.permutation import permute_metrics
from dactnlg.studies.analysis.reliability import LEVELS, alpha, reliability
from dactnlg.studies.analysis.williams import compare_metrics
from dactnlg.studies.answers import rating_rows
from dactnlg.studies.ratings import Ratings, RatingsError

X = [1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 1, 2, 3, 5, 5, 4, 4, 3, 1, 2]
Y = [1, 3, 3, 4, 4, 5, 5, 2, 2, 1, 2, 2, 3, 4, 5, 5, 3, 3, 1, 1]
Z = [2, 2, 4, 4, 5, 4, 4, 3, 3, 1, 1, 3, 2, 5, 4, 4, 5, 2, 2, 2]


def table(**raters: list[float | None]) -> Ratings:
    """Return ratings of items with four systems each; one list of values per rater."""
    return Ratings(
        [
            {
                "item": f"i{at // 4}",
                "system": f"s{at % 4}",
                "rater": rater,
                "criterion": "quality",
                "value": float(value),
            }
            for rater, values in raters.items()
            for at, value in enumerate(values)
            if value is not None
        ]
    )


def test_kappa_equals_that_of_psych() -> None:
    # R 4, psych 2.2.9: cohen.kappa(cbind(x, y))$kappa, $weighted.kappa (quadratic), and with
    # w=outer(1:5, 1:5, function(i, j) 1 - abs(i - j) / 4).
    pair = kappas(table(x=X, y=Y)).pairs[0]
    assert pair.plain == pytest.approx(0.4375, abs=1e-12)
    assert pair.quadratic == pytest.approx(0.886075949367089, abs=1e-12)
    assert pair.linear == pytest.approx(0.716981132075472, abs=1e-12)


def test_intraclass_correlations_equal_those_of_psych() -> None:
    # R 4, psych 2.2.9: ICC(cbind(x, y, z), lmer=FALSE)$results.
    found = reliability(table(x=X, y=Y, z=Z)).icc
    values = [0.827768545097447, 0.827429609445958, 0.822573363431151]
    values += [0.935142515787677, 0.934998289428669, 0.932923707117256]
    lower = [0.680514272682200, 0.678260629012761, 0.669552369035978]
    lower += [0.864683665961993, 0.863468504732770, 0.858729014744163]
    upper = [0.920990278447505, 0.921061343361905, 0.918755788215894]
    upper += [0.972199063304354, 0.972225457751407, 0.971367795480055]
    assert [one.value for one in found] == pytest.approx(values, abs=1e-10)
    assert [one.interval[0] for one in found if one.interval] == pytest.approx(lower, abs=1e-10)
    assert [one.interval[1] for one in found if one.interval] == pytest.approx(upper, abs=1e-10)
    p = [7.87652717427651e-13, 3.49204083796156e-12, 3.49204083796156e-12]
    assert [one.p for one in found] == pytest.approx(p + p, rel=1e-6)


def test_alpha_equals_that_of_krippendorffs_example() -> None:
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability": four observers, twelve units.
    rows = {
        "a": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        "b": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        "c": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        "d": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    }
    found = reliability(table(**rows))
    assert [round(one.value or 0, 3) for one in found.alphas] == [0.743, 0.815, 0.849]
    assert found.complete == 8 and "unbalanced" in found.notes[-1]


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_equals_that_of_the_library(level: str) -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        sentence = np.repeat(np.arange(12), generator.integers(2, 5, 12))
        value = generator.choice([1, 2, 4, 4.5, 9], len(sentence))
        rater = np.concatenate([np.arange(count) for count in np.bincount(sentence)])
        rows = [
            {"item": str(s), "system": "a", "rater": str(r), "criterion": "q", "value": float(v)}
            for s, r, v in zip(sentence, rater, value, strict=True)
        ]
        wanted = krippendorff.alpha(
            value_counts=[[np.sum(value[sentence == s] == v) for v in np.unique(value)] for s in range(12)],
            value_domain=np.unique(value),
            level_of_measurement=level,
        )
        assert alpha(judgements(Ratings(rows)), level).value == pytest.approx(wanted, abs=1e-12)  # type: ignore[arg-type]


def test_undefined_agreement_has_a_reason() -> None:
    tied = kappas(table(x=[3] * 8, y=[3] * 8)).pairs[0]
    assert tied.plain is tied.linear is tied.quadratic is None and "0/0" in tied.reason
    # If only one rater is constant, kappa is defined, and 0.
    assert kappas(table(x=[3] * 8, y=[3, 4] * 4)).pairs[0].plain == 0
    assert "one sentence alone" in kappas(table(x=[3], y=[4, 5])).pairs[0].reason
    apart = kappas(table(x=[3, None], y=[None, 5]))
    assert apart.pairs == () and apart.unshared == 1 and apart.reason
    found = reliability(table(x=[3] * 8, y=[3] * 8))
    assert found.icc == () and "0/0" in found.reason
    assert all(one.value is None and "0/0" in one.reason for one in found.alphas)
    assert "one rater" in reliability(table(x=X)).reason
    assert ambiguous(table(x=X)).reason == "no sentence has two raters"
    with pytest.raises(RatingsError, match="not a finite number"):
        kappas(table(x=[math.nan, 1.0], y=[1.0, 2.0]))
    with pytest.raises(RatingsError, match="one criterion"):
        kappas(Ratings([]))


def test_icc_needs_five_ratings() -> None:
    found = reliability(table(x=[4, 2], y=[3, 5]))
    assert (found.icc, found.complete, found.reason) == ((), 2, "ICC is not computed: 4 ratings, 5 at least")
    assert reliability(table(x=[4, 2, 1], y=[3, 5, 1])).icc


def test_an_interval_of_icc_contains_its_value_or_is_left_out() -> None:
    found = reliability(table(x=[5, 4, 1], y=[3, 4, 1], z=[1, 5, 5]))
    assert [one.form for one in found.icc if one.interval is None] == ["ICC(A,k)"]
    assert all(one.interval[0] <= (one.value or 0) <= one.interval[1] for one in found.icc if one.interval)
    assert found.notes[-1].startswith("no interval of ICC(A,k)")


def test_kappa_of_a_continuous_scale_is_undefined() -> None:
    generator = np.random.default_rng(1)
    x = generator.random(40) * 100
    ratings = table(x=list(x), y=list(np.clip(x + generator.normal(0, 5, 40), 0, 100)))
    found = kappas(ratings)
    assert found.pairs == () and "continuous" in found.reason
    assert [one.level for one in reliability(ratings).alphas] == ["interval"]


def test_unequal_scales_of_two_raters_are_noted() -> None:
    found = kappas(table(x=[1, 2, 3, 4, 5, 1, 2, 3], y=[10, 90, 20, 30, 60, 70, 80, 15]))
    assert "highest value of x is 5, that of y 90" in found.notes[0]
    assert kappas(table(x=X, y=Y)).notes == ()


def test_pairwise_pages_are_one_judgement_each() -> None:
    rows = [
        {"item": "1", "system": system, "rater": rater, "criterion": "q", "value": value, "page": f"{rater}{page}"}
        for rater, wins in (("x", [1, 0, 0.5]), ("y", [1, 0, 1]))
        for page, (system, win) in enumerate(zip("bcd", wins, strict=True))
        for system, value in (("a", float(win)), (system, 1 - float(win)))
    ]
    table_ = judgements(Ratings(rows))
    assert [sentence[2] for sentence in table_.sentences] == ["a > b", "a > c", "a > d"]
    assert kappas(Ratings(rows)).pairs[0].sentences == 3


@pytest.mark.parametrize("design", ["likert", "pairwise"])
def test_a_sentence_of_several_systems_counts_once_in_agreement(design: str) -> None:
    study = small_study(design)
    draw = np.random.default_rng(1)
    given: dict[str, dict[tuple[int, str], float]] = {}
    for page in (page for rater in study.raters for page in rater.pages):
        for criterion in study.criteria:
            values = [float(value) for value in draw.integers(1, 6, len(page.systems))]
            won = float(draw.integers(0, 2))
            values = values if study.scale else [won, 1 - won]
            given.setdefault(page.id, {}).update({(at, criterion.name): value for at, value in enumerate(values)})
    ratings = Ratings(list(rating_rows(study, given))).where(criterion="quality")
    # alpha and gamma have the same sentence; it was judged once.
    if study.scale is None:
        alone = Ratings([row for row in ratings.rows if "." not in row["page"]])
    else:
        alone = Ratings([row for row in ratings.rows if (row["item"], row["system"]) != ("item-1", "secret-gamma")])
    found, wanted = judgements(ratings), judgements(alone)
    assert len(found.value) == len(wanted.value) < len(judgements(ratings, of_pairs=False).value)
    assert sorted(found.value) == sorted(wanted.value)
    assert reliability(ratings).icc == reliability(alone).icc
    assert "count once" in found.notes[-1]


def test_a_sentence_of_several_systems_counts_once_in_correlations_over_sentences() -> None:
    draw = np.random.default_rng(1)
    texts = {(item, system): item if system in "ab" else item + system for item in "123456789" for system in "abcd"}
    values = {text: draw.integers(1, 6, 4) for text in texts.values()}
    ratings = Ratings(
        [
            {"item": item, "system": system, "rater": f"r{rater}", "criterion": "q", "value": float(value)}
            | {"page": f"r{rater}-{item}", "output": text}
            for (item, system), text in texts.items()
            for rater, value in enumerate(values[text])
        ]
    )
    alone = ratings.without("system", "b")
    metrics = {name: {text: draw.normal() for text in values} for name in "mn"}
    scores = MetricScores({m: {("", *key): of[text] for key, text in texts.items()} for m, of in metrics.items()})
    found, wanted = correlate(ratings, scores), correlate(alone, scores)
    assert found.rows == wanted.rows and found.rows[0].sentences == 27 and "count once" in found.notes[-1]
    assert compare_metrics(ratings, scores).rows == compare_metrics(alone, scores).rows
    assert permute_metrics(ratings, scores).rows == permute_metrics(alone, scores).rows
    assert split_halves(ratings).rows == split_halves(alone).rows
    # Both systems are there among systems.
    assert correlate(ratings, scores, level="system").rows[0].systems == 4
    # A file of scores may have a value for one of the two systems only.
    del scores.values["m"]["", "1", "a"]  # type: ignore[attr-defined]
    assert correlate(ratings, scores).rows[0].spearman.value == wanted.rows[0].spearman.value


def test_equal_sentences_with_different_judgements_stay_apart() -> None:
    rows = [
        {"item": "i", "system": system, "rater": rater, "criterion": "q", "value": value, "page": "p", "output": "Yes."}
        for system, values in (("a", [1.0, 2.0, 3.0]), ("b", [1.0, 2.0, 3.0]), ("c", [1.0, 2.0, 4.0]))
        for rater, value in zip("xyz", values, strict=True)
    ]
    assert [sentence[2] for sentence in judgements(Ratings(rows)).sentences] == ["a", "c"]
    unknown = [row | {"output": ""} for row in rows]
    assert len(judgements(Ratings(unknown)).sentences) == 3


def test_pairs_of_raters_above_a_threshold_are_counted() -> None:
    found = exceeding(kappas(table(x=X, y=Y, z=Z)), thresholds=(0.1, 0.4))
    assert [(one.pairs, one.of) for one in found] == [(2, 3), (1, 3)]


def test_raters_that_the_filter_keeps_agree() -> None:
    generator = np.random.default_rng(5)
    truth = generator.integers(1, 6, 60)
    raters = {}
    for place in range(12):
        noise = generator.integers(1, 6, 60)
        raters[f"r{place}"] = list(np.where(generator.random(60) < place / 14, noise, truth))
    for rule in ("lowest-mean", "most-pairs"):
        found = filter_raters(table(**raters), 0.2, rule)
        assert (
            found.after[1].share == 1 and 0 < len(found.left) < 8 and found.ratings.names("rater") == list(found.kept)
        )
        # The filter stops at once: the rater who left last disagrees with somebody who stayed.
        last = found.left[-1].rater
        whole = {frozenset((pair.first, pair.second)): pair.plain for pair in kappas(table(**raters)).pairs}
        assert all((whole[frozenset(pair)] or 0) > 0.2 for pair in combinations(found.kept, 2))
        assert any((whole[frozenset((last, rater))] or 0) <= 0.2 for rater in found.kept)
    simple = filter_raters(table(**raters), 0.2, "mean-below")
    assert {one.rater for one in simple.left} <= {f"r{place}" for place in range(6, 12)}
    lonely = filter_raters(table(**raters, last=[3.0]), 0.2)
    assert "last" in lonely.kept and "stay: last" in lonely.notes[-1]
    assert RULES[simple.rule] in simple.method and "ratings" not in simple.to_json()
    with pytest.raises(UnknownNameError, match="lowest-mean"):
        filter_raters(table(x=X), rule="lowest")


def test_pairs_of_many_raters_are_sampled() -> None:
    generator = np.random.default_rng(2)
    rows = [
        {"item": str(item), "system": "a", "rater": f"r{rater}", "criterion": "q", "value": float(value)}
        for rater in range(1200)
        for item, value in zip(generator.choice(400, 3, replace=False), generator.integers(1, 6, 3), strict=True)
    ]
    found = kappas(Ratings(rows), most=500)
    assert len(found.pairs) == 500 and found.unshared is None and "500 that share" in found.notes[-1]
    assert all(isinstance(pair, PairKappa) and pair.sentences for pair in found.pairs)
    assert "nobody was left out" in filter_raters(Ratings(rows)).reason


def test_ambiguous_items_come_first() -> None:
    found = ambiguous(table(x=[1, 1, 3, 3, 1, 1, 1, 1], y=[5, 1, 3, 3, 1, 1, 2, 2]))
    assert [one.item for one in found.items] == ["i0", "i1"] and found.sentences[0].system == "s0"
    assert found.items[0].deviation == pytest.approx(math.sqrt(8 / 4)) and found.sentences[0].highest == 5
