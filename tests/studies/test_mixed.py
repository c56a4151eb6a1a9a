"""Mixed-effects models, the variances of a pilot and the analysis of variance, compared with R: lme4 1.1, car 3.1.

    d <- expand.grid(s=0:3, r=0:5, i=0:9); d <- d[(7*d$i + 5*d$r + 3*d$s) %% 11 != 0, ]
    d$value <- 2 + (d$i*5) %% 7 / 3 + (d$r*3) %% 5 / 2 + d$s / 5 + (13*d$i + 17*d$r + 29*d$s + 7*d$i*d$r*d$s) %% 19 / 9
    for (n in c("s", "r", "i")) d[[n]] <- factor(d[[n]])
    ctl <- lmerControl(optimizer="nloptwrap", optCtrl=list(algorithm="NLOPT_LN_BOBYQA", xtol_abs=1e-14, xtol_rel=1e-14,
                       ftol_abs=1e-14, maxeval=1e5))
    m <- lmer(value ~ 0 + s + (1 | i) + (1 | r), d, control=ctl); fixef(m); vcov(m); VarCorr(m); logLik(m)

lme4's own variances keep eight digits only: two fits that differ by a variance of zero differ by 2e-8.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_system_means import pairs, random, study

from dactnlg.errors import UnknownNameError
from dactnlg.studies.analyse import AnalysisOptions, analyse
from dactnlg.studies.analysis.anova import anova
from dactnlg.studies.analysis.mixed import mixed_model
from dactnlg.studies.analysis.pilot import pilot_variances
from dactnlg.studies.analysis.reml import fit_reml
from dactnlg.studies.analysis.results import holm
from dactnlg.studies.ratings import Ratings, RatingsError


def unbalanced(more: Callable[[int, int, int], float] = lambda i, r, s: 0.0) -> Ratings:
    """The ratings of the R code above."""
    rows = []
    for i in range(10):
        for r in range(6):
            for s in range(4):
                value = 2 + i * 5 % 7 / 3 + r * 3 % 5 / 2 + s / 5 + (13 * i + 17 * r + 29 * s + 7 * i * r * s) % 19 / 9
                row: dict[str, Any] = {"item": str(i), "system": str(s), "rater": str(r), "criterion": "quality"}
                row |= {"value": value + more(i, r, s), "corpus": "one" if i <= 3 else "two"}
                if (7 * i + 5 * r + 3 * s) % 11:
                    rows.append(row)
    return Ratings(rows)


def test_the_mixed_model_equals_that_of_lme4() -> None:
    found = mixed_model(unbalanced(), "quality")
    assert found.ratings == 218 and "p is too small where they do" in found.method and found.sentence_variance == 0.0
    means = {row.system: (row.mean, row.standard_error) for row in found.effects}
    assert means["0"] == pytest.approx((4.85361416382718, 0.394950368695772), abs=1e-6)
    assert means["1"] == pytest.approx((4.96432598878650, 0.394793979979862), abs=1e-6)
    assert means["2"] == pytest.approx((5.15935275678180, 0.394950452737204), abs=1e-6)
    assert means["3"] == pytest.approx((5.32955108970476, 0.394793647452422), abs=1e-6)
    variances = (found.item_variance, found.rater_variance, found.residual_variance)
    assert variances == pytest.approx((0.446587543035465, 0.626116637560396, 0.375871085740319), abs=1e-6)
    assert found.log_likelihood == pytest.approx(-232.04872949712, abs=1e-6)
    # sqrt(V[1,1] + V[2,2] - 2*V[1,2]) with V <- vcov(m)
    (row,) = [row for row in found.contrasts if {row.first, row.second} == {"0", "1"}]
    assert row.standard_error == pytest.approx(0.117674750009818, abs=1e-6)
    assert row.z == pytest.approx(row.difference / row.standard_error)


def test_variances_of_a_pilot_equal_those_of_lme4() -> None:
    # + (3*d$i*d$s) %% 5 / 2 + (2*d$r*d$s + d$r) %% 7 / 4, and (1 | i:s) + (1 | r:s) beside the other effects.
    found = pilot_variances(unbalanced(lambda i, r, s: 3 * i * s % 5 / 2 + (2 * r * s + r) % 7 / 4), "quality")
    # The fifth effect, (1 | i:r), has no variance in these.
    assert found.item_rater == pytest.approx(0.0, abs=1e-9)
    assert found.item_system == pytest.approx(0.263334746394338, abs=1e-6)
    assert found.rater_system == pytest.approx(0.184048797029418, abs=1e-6)
    assert found.item == pytest.approx(0.706657168262365, abs=1e-6)
    assert found.rater == pytest.approx(0.782740561121386, abs=1e-6)
    assert found.residual == pytest.approx(0.401500314204396, abs=1e-6)


def test_a_variance_of_zero_is_found_and_noted() -> None:
    # All raters have the same mean: their deviations cancel in every system and item.
    found = mixed_model(study(lambda i, r, s: i + s + (1 if (r + i + s) % 2 else -1), raters=6), "quality")
    assert found.rater_variance == 0.0
    assert "the variance of raters is 0: they do not differ more than chance" in found.notes


@pytest.mark.needs("statsmodels", "pip install 'dactnlg[studies]'")
def test_the_likelihood_equals_that_of_statsmodels() -> None:
    import pandas as pd
    from statsmodels.regression.mixed_linear_model import MixedLM

    ratings = unbalanced()
    found = mixed_model(ratings, "quality")
    table = pd.DataFrame(ratings.rows)
    kinds = {"item": "0 + C(item)", "rater": "0 + C(rater)"}
    model = MixedLM.from_formula("value ~ 0 + C(system)", table, groups=np.ones(len(table)), vc_formula=kinds)
    wanted = model.fit(reml=True, method=["bfgs"], gtol=1e-9)
    assert found.log_likelihood == pytest.approx(wanted.llf, abs=1e-6)
    assert sorted((found.item_variance, found.rater_variance)) == pytest.approx(sorted(wanted.vcomp), abs=1e-6)


def test_balanced_variances_equal_those_of_anova() -> None:
    # In a balanced design REML gives the estimates of ANOVA: from mean squares of items, raters and residuals.
    y = np.random.default_rng(1).normal(size=(12, 9)) + np.arange(12)[:, None] + 2 * np.arange(9)
    items, raters = np.divmod(np.arange(108), 9)
    found = fit_reml(y.ravel(), np.ones((108, 1)), [items, raters])
    of_items = 9 * y.mean(axis=1).var(ddof=1)
    of_raters = 12 * y.mean(axis=0).var(ddof=1)
    rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
    residual = (rest**2).sum() / (11 * 8)
    assert found.residual == pytest.approx(residual, rel=1e-8)
    assert found.variances == pytest.approx(((of_items - residual) / 9, (of_raters - residual) / 12), rel=1e-8)


@pytest.mark.parametrize("factor", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("shift", [0, 1e5])
def test_the_model_does_not_depend_on_units(factor: float, shift: float) -> None:
    plain = mixed_model(unbalanced(), "quality")
    ratings = Ratings([row | {"value": (row["value"] + shift) * factor} for row in unbalanced().rows])
    found = mixed_model(ratings, "quality")
    assert [row.z for row in found.contrasts] == pytest.approx([row.z for row in plain.contrasts], rel=1e-6)
    assert found.rater_variance == pytest.approx((plain.rater_variance or 0) * factor**2, rel=1e-6)


def test_equal_systems_seldom_differ_though_their_sentences_do() -> None:
    # Raters share a view of each sentence. Without an effect of sentences, some pair differed in 30% of such studies.
    generator = np.random.default_rng(1)
    different = 0
    for _ in range(100):
        sentences, raters = generator.normal(size=(20, 4)) / 2, generator.normal(size=6)
        noise = generator.normal(size=(20, 6, 4))
        ratings = study(lambda i, r, s, a=sentences, b=raters, c=noise: a[i, s] + b[r] + c[i, r, s], 4, 6, 20)
        different += any(row.p_holm < 0.05 for row in mixed_model(ratings, "quality").contrasts)
    assert different <= 12


def test_without_an_effect_of_sentences_a_note_warns() -> None:
    noise = np.random.default_rng(1).normal(size=(260, 5, 4))
    found = mixed_model(study(lambda i, r, s: float(noise[i, r, s] + s), systems=4, items=260), "quality")
    assert (found.sentence_variance, found.effects != ()) == (None, True)
    assert (
        "no effect of sentences, since 1,040 take too long: p is too small if an item favours a system" in found.notes
    )


def test_p_values_are_corrected_by_holm() -> None:
    found = mixed_model(unbalanced(), "quality").contrasts
    assert len(found) == 6
    worst = 0.0
    for place, row in enumerate(sorted(found, key=lambda row: row.p)):
        worst = max(worst, min(1.0, row.p * (6 - place)))
        assert row.p_holm == pytest.approx(worst)


@pytest.mark.needs("statsmodels", "pip install 'dactnlg[studies]'")
def test_holms_correction_equals_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(1).choice([0.001, 0.01, 0.02, 0.02, 0.5, 1.0], 12)
    np.testing.assert_array_equal(holm(p), multipletests(p, method="holm")[1])
    assert len(holm([])) == 0


def test_intervals_of_the_model_contain_the_true_difference() -> None:
    # A difference of .5; the coverage over 400 studies has a standard error of 1.1%.
    generator = np.random.default_rng(1)
    items, raters, systems = np.indices((20, 15, 2)).reshape(3, -1)
    held = 0
    for _ in range(400):
        effects = generator.normal(size=20), generator.normal(size=15), generator.normal(size=600)
        values = effects[0][items] + effects[1][raters] + effects[2] + systems / 2
        found = fit_reml(values, np.eye(2)[systems], [items, raters])
        error = np.sqrt(found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1])
        held += abs(found.fixed[1] - found.fixed[0] - 0.5) < 1.96 * error
    assert 0.92 < held / 400 < 0.98


@pytest.mark.parametrize(
    ("ratings", "told"),
    [
        (study(lambda i, r, s: 3.0), "all values are equal"),
        (study(lambda i, r, s: float(s), items=1, raters=1), "2 ratings of 2 systems leave nothing"),
        (
            study(lambda i, r, s: float((i + r) % 5), items=2, raters=10_000),
            "10,002 levels of items and raters are more than the 1,000 that the model is fitted for",
        ),
        (study(lambda i, r, s: float(s)), "all values of a system are equal"),
        (study(lambda i, r, s: float(s + i + r)), "effects that leave no residual"),
    ],
)
def test_a_model_that_cannot_be_fitted_has_a_reason(ratings: Ratings, told: str) -> None:
    found = mixed_model(ratings, "quality")
    assert (found.effects, found.residual_variance) == ((), None)
    assert told in found.reason
    json.dumps(found.to_json(), allow_nan=False)


def test_effects_that_cannot_be_estimated_are_left_out_and_noted() -> None:
    one_item = mixed_model(random(1, items=1, raters=9), "quality")
    assert (one_item.item_variance, one_item.sentence_variance) == (None, None)
    assert one_item.notes == (
        "there is one item alone: no effect of items",
        "every system has one sentence alone: its effect is part of the system's",
    )
    one_each = [row for row in random(1, raters=8).rows if row["item"][1:] == row["rater"][1:]]
    found = mixed_model(Ratings(one_each), "quality")
    assert found.rater_variance is None
    assert found.notes == (
        "every sentence has one rating alone: its effect is part of the residual",
        "every rater has one item alone and the other way round: one effect for both",
    )
    one_system = mixed_model(random(1, systems=1), "quality")
    assert (len(one_system.effects), one_system.contrasts) == (1, ())


PROPERTIES = {str(s): {"model": "large" if s > 1 else "small", "tuned": "yes" if s % 2 else "no"} for s in range(4)}
# d$model <- factor(as.integer(d$s) > 2); d$tuned <- factor(as.integer(d$s) %% 2)
# d$corpus <- factor(as.integer(d$i) <= 4)
# car::Anova(lm(value ~ model*tuned*corpus, d,
#   contrasts=list(model=contr.sum, tuned=contr.sum, corpus=contr.sum)), type=)
CAR = {
    2: {
        "model": (5.77734511269676, 4.57132792092649, 0.03366675096879267),
        "tuned": (1.83502729275557, 1.45196648900209, 0.22956881928869224),
        "corpus": (9.86409614445711, 7.80497222171517, 0.00569217589838162),
        "model:tuned": (8.04683776323145e-06, 6.36706539503491e-06, 0.99798909183102080),
        "model:corpus": (2.16476357780948e-03, 1.71287053004628e-03, 0.96702682577028409),
        "tuned:corpus": (1.65891577125348, 1.31261813785891, 0.25322508793463799),
        "model:tuned:corpus": (0.142987277667999, 0.113138772566052, 0.73693446340028412),
    },
    3: {
        "model": (5.53133054470686, 4.37666874068549, 0.0376359127241808),
        "tuned": (1.16917899702395, 0.925113610040442, 0.337242055362677),
        "corpus": (9.81352954180926, 7.76496136585640, 0.00581496049270902),
        "model:tuned": (4.90354175815355e-03, 3.87993047208029e-03, 0.950391863125773),
        "model:corpus": (2.38874576513126e-03, 1.89009657535281e-03, 0.965364010417126),
        "tuned:corpus": (1.65891577125348, 1.31261813785891, 0.253225087934638),
        "model:tuned:corpus": (0.142987277667999, 0.113138772566052, 0.736934463400284),
    },
}


@pytest.mark.parametrize("typ", [2, 3])
def test_anova_of_three_factors_equals_that_of_car(typ: Any) -> None:
    found = anova(unbalanced(), ["model", "tuned", "corpus"], PROPERTIES, typ)
    for row in found.rows[:-1]:
        assert (row.sum_of_squares, row.f, row.p) == pytest.approx(CAR[typ][row.term], abs=1e-6), row.term
    assert [row.term for row in found.rows] == [*CAR[typ], "residual"]
    assert (found.rows[-1].sum_of_squares, found.rows[-1].df) == pytest.approx((265.402634563225, 210), abs=1e-6)
    assert not found.balanced
    assert "unbalanced" in found.notes[0]
    assert f"type {'I' * typ} " in found.method
    assert sum(found.cells.values()) == 218


def test_both_types_of_anova_agree_in_balanced_cells() -> None:
    ratings = random(1, systems=4)
    properties = {name: PROPERTIES[str(place)] for place, name in enumerate("abcd")}
    two, three = (anova(ratings, ["model", "tuned"], properties, typ) for typ in (2, 3))
    assert two.balanced
    assert [row.f for row in two.rows[:-1]] == pytest.approx([row.f for row in three.rows[:-1]])


def test_without_a_criterion_anova_analyses_their_sum() -> None:
    ratings = unbalanced()
    fluency = [row | {"criterion": "fluency", "value": 2 * row["value"]} for row in ratings.rows[1:]]
    found = anova(Ratings([*ratings.rows, *fluency]), ["system"])
    wanted = anova(Ratings([row | {"value": 3 * row["value"]} for row in ratings.rows[1:]]), ["system"])
    assert found.criterion == "quality + fluency"
    assert [row.sum_of_squares for row in found.rows] == pytest.approx([row.sum_of_squares for row in wanted.rows])


def test_names_of_factors_and_levels_are_not_parsed_as_a_formula() -> None:
    rows = [row | {"corpus": "a) + np.log(-1" if row["item"] < "5" else "b'\""} for row in unbalanced().rows]
    properties = {str(s): {"x ~ y": "1" if s > 1 else "__import__"} for s in range(4)}
    assert anova(Ratings(rows), ["x ~ y", "corpus"], properties).rows[2].term == "x ~ y:corpus"


@pytest.mark.parametrize(
    ("ratings", "factors", "told"),
    [
        (study(lambda i, r, s: 3.0), ["system"], "all values are equal"),
        (random(1, systems=1), ["system"], "a factor needs two levels: system has a alone"),
        (random(1), ["system", "item", "rater"], "80 observations in 80 cells leave no residual"),
        (random(1, items=90), ["item", "rater", "system"], "900 combinations of levels are more than the 500"),
        (
            Ratings([row for row in random(1).rows if (row["item"], row["system"]) != ("i0", "a")]),
            ["item", "system"],
            "there are no ratings of i0 / a: the interaction has no estimate",
        ),
    ],
)
def test_an_anova_that_cannot_be_computed_has_a_reason(ratings: Ratings, factors: list[str], told: str) -> None:
    found = anova(ratings, factors)
    assert found.rows == ()
    assert told in found.reason
    json.dumps(found.to_json(), allow_nan=False)


def test_pairwise_ratings_have_no_model_or_anova() -> None:
    ratings = pairs([(f"i{i}", f"r{r}", "a", "b", float((3 * i + r) % 4 > 0)) for i in range(6) for r in range(4)])
    more = Ratings([*ratings.rows, *(row | {"criterion": "fluency"} for row in ratings.rows)])
    for found in (mixed_model(ratings, "quality"), anova(ratings, ["system"]), anova(more, ["system"])):
        assert "see wins, losses and ties" in found.reason and found.notes == ()
        json.dumps(found.to_json(), allow_nan=False)
    assert mixed_model(ratings, "quality").contrasts == anova(ratings, ["system"]).rows == ()
    with pytest.raises(RatingsError, match="see wins, losses and ties"):
        pilot_variances(ratings, "quality")
    analysis = analyse(more, AnalysisOptions(normalization="z", runs=2, properties={"a": {"x": "1"}, "b": {"x": "2"}}))
    assert all("see wins" in found.reason for found in (*analysis.models, analysis.anova) if found)
    # Ratings of two systems on one page are not a comparison.
    pages = [row | {"page": f"{row['item']}{row['rater']}"} for row in random(1).rows]
    assert mixed_model(Ratings(pages), "quality") == mixed_model(random(1), "quality")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: anova(random(1), ["colour"]), "unknown factor 'colour'"),
        (lambda: anova(random(1), []), "factors must be named once each"),
        (lambda: anova(random(1), ["system", "system"]), "factors must be named once each"),
        (lambda: anova(random(1), ["model"], {"a": {"model": "x"}}), "no model is given for b"),
        (lambda: anova(random(1), ["system"], typ=1), "type 1 are not known"),  # type: ignore[arg-type]
        (lambda: anova(Ratings([]), ["system"]), "there are no ratings"),
        (lambda: mixed_model(random(1), "beauty"), "no ratings under beauty; criteria: quality"),
        (lambda: pilot_variances(random(1, systems=1), "quality"), "there are 1 systems, 8 items and 5 raters"),
        (lambda: pilot_variances(study(lambda i, r, s: 3.0), "quality"), "all values are equal"),
    ],
)
def test_mistakes_of_models_are_reported(call: Callable[[], object], told: str) -> None:
    with pytest.raises((RatingsError, UnknownNameError), match=told):
        call()
