"""TrueSkill and clusters of systems, compared with the library `trueskill`, known orders, and the E2E challenge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from test_system_means import pairs, study

from dactnlg.studies.analysis.comparisons import Comparisons
from dactnlg.studies.analysis.ranking import _rows, rank_systems
from dactnlg.studies.analysis.trueskill import Tournament, TrueSkillSettings
from dactnlg.studies.ratings import Ratings, RatingsError


def test_one_match_equals_the_published_example() -> None:
    # Two new players, with the numbers of Moser's implementation ("Computing your skill", 2010; tests of two players):
    # beta 25/6, tau 25/300 and 10% draws.
    won, lost, drawn = (29.39583202, 7.17147559), (20.60416798, 7.17147559), (25.0, 6.45751966)
    for tie, players in ((False, (won, lost)), (True, (drawn, drawn))):
        found = Tournament(1, 2, TrueSkillSettings(25 / 3, 25 / 6, 0.1))
        found.variance += (25 / 300) ** 2
        found.play(np.array([0]), np.array([1]), np.array([tie]))
        for place, wanted in enumerate(players):
            assert (25 + found.mean[0, place], np.sqrt(found.variance[0, place])) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.needs("trueskill", "pip install 'dactnlg[dev]'")
@pytest.mark.parametrize(
    "settings",
    [TrueSkillSettings(0.5, 0.25, 0.25), TrueSkillSettings(0.5, 5.0, 0.25), TrueSkillSettings(8.0, 4.0, 0.1)],
)
def test_tournaments_equal_those_of_the_library(settings: TrueSkillSettings) -> None:
    import trueskill

    # The library's own normal distribution has seven digits.
    environment = trueskill.TrueSkill(0.0, settings.sigma, settings.beta, 0.0, settings.draw_rate, backend="scipy")
    generator = np.random.default_rng(1)
    runs, systems = 3, 4
    found = Tournament(runs, systems, settings)
    wanted = [[environment.create_rating() for _ in range(systems)] for _ in range(runs)]
    for _ in range(150):
        matches = np.array([generator.choice(systems, 2, replace=False) for _ in range(runs)])
        # The first system loses often, so that skills drift apart.
        matches = np.where(generator.random((runs, 1)) < 0.8, np.sort(matches, axis=1)[:, ::-1], matches)
        ties = generator.random(runs) < 0.3
        found.play(matches[:, 0], matches[:, 1], ties)
        for run, ((winner, loser), tie) in enumerate(zip(matches, ties, strict=True)):
            own = wanted[run]
            own[winner], own[loser] = trueskill.rate_1vs1(own[winner], own[loser], drawn=bool(tie), env=environment)
    assert found.mean == pytest.approx(np.array([[one.mu for one in own] for own in wanted]), abs=1e-9)
    assert found.variance == pytest.approx(np.array([[one.sigma**2 for one in own] for own in wanted]), abs=1e-9)


def test_skills_far_apart_stay_finite() -> None:
    for winner in (0, 1):
        for tie in (False, True):
            found = Tournament(1, 2, TrueSkillSettings(0.5, 0.1, 0.25))
            found.mean[0, 0] = 40.0
            found.play(np.array([winner]), np.array([1 - winner]), np.array([tie]))
            assert np.isfinite(found.mean).all()
            assert (found.variance > 0).all()


def preferring(order: str, seed: int = 1) -> Ratings:
    """Return comparisons that the system further left wins in 90%, or in 50% if both are upper case."""
    generator = np.random.default_rng(seed)
    judgements = []
    for item in range(40):
        for first, second in combinations(order, 2):
            better = 0.5 if first.isupper() and second.isupper() else 0.9
            judgements.append((str(item), f"r{item % 7}", first, second, float(generator.random() < better)))
    return pairs(judgements)


def test_a_known_order_and_its_clusters_are_found() -> None:
    found = rank_systems(preferring("aBCde"), "quality", runs=200)
    assert [set(names) for names in found.clusters] == [{"a"}, {"B", "C"}, {"d"}, {"e"}]
    assert (found.comparisons, found.ties, found.matches) == (400, 0, 400)
    assert {(row.best, row.worst) for row in found.rows if row.system in "BC"} == {(2, 3)}


def test_a_cluster_ends_where_no_range_of_ranks_crosses() -> None:
    # Skills of four systems in two kinds of runs: in the second the first two systems have changed places.
    skills = np.array([[4.0, 3, 2, 1]] * 4 + [[3.0, 4, 2, 1]])
    met = Comparisons(tuple("abcd"), np.array([[0, 1], [2, 3]]), *[np.zeros(2, int)] * 3, "page")
    # The range of 95% needs all of five runs, but not a single one of 200.
    assert [row.cluster for row in _rows(met, skills[[0, 4, 4, 0, 0]])] == [1, 1, 2, 3]
    assert [row.cluster for row in _rows(met, np.vstack([skills[:1]] * 199 + [skills[4:]]))] == [1, 2, 3, 4]


def test_a_ranking_depends_on_the_seed() -> None:
    ratings = preferring("aBCde")
    first = rank_systems(ratings, "quality", runs=20)
    assert rank_systems(ratings, "quality", runs=20) == first
    assert rank_systems(ratings, "quality", runs=20, seed=2) != first


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (study(lambda i, r, s: 3.0), "every comparison is a tie"),
        (study(lambda i, r, s: float(i), systems=1), "no rater has judged two systems on one item"),
        (
            pairs([("1", "x", "a", "b", 1), ("1", "x", "c", "d", 1)]),
            "systems that no comparison joins have no order: c, d and the others",
        ),
    ],
)
def test_a_ranking_that_cannot_be_computed_has_a_reason(ratings: Ratings, reason: str) -> None:
    found = rank_systems(ratings, "quality", runs=10)
    assert (found.rows, found.clusters, found.reason) == ((), (), reason)
    assert found.to_json()["rows"] == []


def test_a_system_without_comparisons_is_left_out_and_noted() -> None:
    rows = [*preferring("abc").rows, {**pairs([("9", "x", "lone", "a", 1)]).rows[0]}]
    found = rank_systems(Ratings(rows), "quality", runs=20)
    assert {row.system for row in found.rows} == set("abc")
    assert found.notes == ("never compared with another, and left out: lone",)
    few = rank_systems(pairs([("1", "x", "a", "b", 1)]), "quality", runs=10)
    assert few.notes == ("1 comparisons of 2 systems are few: ranges are too narrow",)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: rank_systems(preferring("ab"), "beauty"), "no ratings under beauty; criteria: quality"),
        (lambda: rank_systems(preferring("ab"), "quality", runs=1), "1 runs have no range"),
    ],
)
def test_mistakes_of_rankings_are_reported(call: Callable[[], object], told: str) -> None:
    with pytest.raises(RatingsError, match=told):
        call()


def test_the_ranking_of_the_e2e_challenge_is_reproduced(data_dir: Path) -> None:
    # Dušek, Novikova and Rieser 2020: Slug is first in quality, Sheffield's second system in naturalness. In the
    # released ratings TUDA, which was rated apart from the others, shares Slug's first cluster.
    ratings = Ratings.read(data_dir / "ratings" / "e2e2017.csv")
    quality = rank_systems(ratings, "quality", runs=60)
    assert (quality.comparisons, len(quality.rows)) == (29_790, 21)
    assert set(quality.clusters[0]) == {"slug", "tuda"}
    assert set(quality.clusters[-1]) == {"chen", "sheff2"}
    naturalness = rank_systems(ratings, "naturalness", runs=60)
    assert naturalness.comparisons == 42_390
    assert naturalness.rows[0].system == "sheff2"
    assert naturalness.clusters[0][0] == "sheff2"
    assert set(naturalness.clusters[-1]) == {"tr2", "forge3"}
